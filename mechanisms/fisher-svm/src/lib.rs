//! Mechanisms that add noise of least Fisher information to features, after Farokhi, *Privacy-preserving
//! public release of datasets for support vector machine classification*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `fisher-bounded` | noise of least Fisher information that keeps features within bounds (Theorem 2.6) |
//! | `fisher-correlated` | Gaussian noise that preserves convex linear models (after Theorem 2.10) |
//! | `fisher-gaussian` | Gaussian noise of least Fisher information for its size on features (Theorem 2.4) |
//!
//! The paper's Laplace noise of equal Fisher information is the plugin `laplace` with the parameter
//! `information`.

mod bounded;
mod bounded_noise;
mod claims;
mod correlated;
mod correlated_noise;
mod gaussian;
mod kept;
mod weights;

pub use bounded::{FISHER_BOUNDED, FisherBounded, Reach};
pub use correlated::{FISHER_CORRELATED, FisherCorrelated};
pub use correlated_noise::CorrelatedNoise;
pub use gaussian::{FISHER_GAUSSIAN, FisherGaussian};
pub use kept::KeptModel;
pub use weights::Weights;

/// The README, whose example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
