//! Noise that is best by Fisher information, after Farokhi, *Privacy-preserving public release of datasets for support vector
//! machine classification*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `fisher-correlated` | Gaussian noise on all records together, such that a linear support vector machine stays as it is |

mod correlated;
mod correlated_noise;
mod vacuous;

pub use correlated::{FISHER_CORRELATED, FisherCorrelated};
pub use correlated_noise::CorrelatedNoise;

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
