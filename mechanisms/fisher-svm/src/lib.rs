//! Noise that is best by Fisher information, after Farokhi, *Privacy-preserving public release of datasets for support vector
//! machine classification*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `fisher-bounded` | noise of least Fisher information that leaves every released feature within bounds (Theorem 2.6) |
//! | `fisher-correlated` | Gaussian noise on all records together that a linear support vector machine does not see (Theorem 2.10) |
//! | `fisher-gaussian` | Gaussian noise on every feature, of least Fisher information for its size (Theorem 2.4) |
//!
//! The paper's Laplace noise, of equal Fisher information, is `laplace` with its parameter `information`.

mod bounded;
mod bounded_noise;
mod claims;
mod correlated;
mod correlated_noise;
mod gaussian;
mod weights;

pub use bounded::{FISHER_BOUNDED, FisherBounded, Reach};
pub use correlated::{FISHER_CORRELATED, FisherCorrelated};
pub use correlated_noise::CorrelatedNoise;
pub use gaussian::{FISHER_GAUSSIAN, FisherGaussian};
pub use weights::Weights;

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
