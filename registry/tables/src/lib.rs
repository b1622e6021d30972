//! Noisy tables of counts, and estimates from them with intervals that count their noise.
//!
//! A curator counts people by the levels of a few columns, and adds noise of a known standard deviation to
//! each count. [`NoisyTables`] is such a file. An estimate from the tables has an interval of the stated
//! coverage. An estimate from rows that were drawn from the tables has none: a row does not show the noise.
//!
//! ```
//! use scumble_tables::{Level, NoisyTable, NoisyTables, Settings, TableColumn};
//!
//! let column = |name: &str, levels| TableColumn { name: name.into(), unit: String::new(), levels };
//! let range = |from, to| Level::Range { from, to };
//! let label = |label: &str| Level::Labels(vec![label.into()]);
//! let tables = NoisyTables::new(
//!     Some(100),
//!     vec![NoisyTable {
//!         columns: vec![
//!             column("age", vec![range(0.0, 50.0), range(50.0, 100.0)]),
//!             column("smokes", vec![label("no"), label("yes")]),
//!         ],
//!         counts: vec![41.0, 12.0, 19.0, 30.0],
//!         deviation: 2.0,
//!         share: 1.0,
//!         repeats_groups: false,
//!     }],
//! )?;
//! let smokers = tables.counted(&["smokes"])?.share(0, 1, None, Settings::default())?;
//! assert!((smokers.value - 0.41).abs() < 1e-12 && smokers.lower < 0.40 && smokers.upper > 0.42);
//! # Ok::<(), scumble_tables::Error>(())
//! ```

mod counted;
mod error;
mod interval;
mod question;
mod tables;

pub use counted::{Counted, Settings};
pub use error::{Error, Result};
pub use question::{Answers, Line, Question};
pub use tables::{Level, NoisyTable, NoisyTables, TableColumn};

/// Runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
