//! Tests for authors of mechanisms: a conformance suite for plugins, and faulty variants of a mechanism that
//! an audit must catch.
//!
//! Each takes one line in the tests of a mechanism's crate:
//!
//! ```
//! # use scumble_classic::{LAPLACE, Laplace};
//! # use scumble_core::{Domain, LocalMechanism, RecordDomain, TargetDomain};
//! # use std::sync::Arc;
//! use scumble_adversary::{caught, check};
//! use scumble_testing::{Fault, Faulty, conformance};
//!
//! conformance::check(&LAPLACE).unwrap();
//! check(&LAPLACE).unwrap();
//! let people = RecordDomain::new(vec!["height".into()], Domain::unit_box(1), TargetDomain::None)?;
//! let laplace: Arc<dyn LocalMechanism> = Arc::new(Laplace::new(people, 1.0)?);
//! let sentence = caught(Faulty::new(&laplace, Fault::Bare(0))).unwrap();
//! # assert!(!sentence.is_empty());
//! # Ok::<(), scumble_core::Error>(())
//! ```

pub mod conformance;
mod faulty;
mod fixtures;
mod skip;

pub use faulty::{Fault, Faulty};
pub use fixtures::{
    colours_and_sizes, local, numbers, peak_memory, records, refuses_changes, release_of_statistics,
};
pub use skip::{missing, skipped};
