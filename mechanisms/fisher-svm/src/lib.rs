//! Noise that is best by Fisher information, after Farokhi, *Privacy-preserving public release of datasets for support vector
//! machine classification*.

mod correlated;
mod correlated_noise;
mod vacuous;

pub use correlated::{FISHER_CORRELATED, FisherCorrelated};
pub use correlated_noise::CorrelatedNoise;
