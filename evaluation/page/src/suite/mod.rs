//! Tasks on public data that compare mechanisms of every trust model in the same way. A paper can
//! compare the results of its own mechanism with those of the mechanisms in the resulting tables.
//!
//! ```
//! use scumble_page::suite::{Form, Results, tasks, task};
//!
//! # use scumble_private_models as _;
//! let registry = scumble_core::Registry::installed()?;
//! assert!(tasks().iter().any(|task| task.name == "wine"));
//! let iris = task("iris")?;
//! let mut comparison = iris.comparison(&registry, Form::Quick, &[])?;
//! comparison.trials = 2; // a table needs ten
//! comparison.candidates.retain(|candidate| candidate.plugin.name == "private-logistic");
//! let outcome = comparison.run(|_| (), || ())?;
//! let mut results = Results::new(Form::Quick);
//! results.add(iris, &comparison, outcome);
//! assert!(results.to_markdown("scumble suite iris --quick").contains("| iris | "));
//! # Ok::<(), scumble_comparison::Error>(())
//! ```

mod kept;
mod page;
mod results;
mod standing;
mod table;
mod tabular;
mod task;

pub use results::{Finished, Missing, Results};
pub use task::{Form, Task, task, tasks};

/// Runs the example of `SUITE.md`.
#[cfg(doctest)]
#[doc = include_str!("../../SUITE.md")]
mod readme {}
