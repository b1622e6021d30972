//! Models instead of data: curators who release a model, or the moments that a linear one is learned from, under central differential privacy.
//!
//! | mechanism | what leaves |
//! |---|---|
//! | [`NoisyMoments`] | records by chance that have the noisy second moments of all records and their target |

mod encoding;
mod matrix;
mod moments;
mod noise;
mod rows;

pub use moments::{NOISY_MOMENTS, NoisyMoments};

/// The README's examples run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
