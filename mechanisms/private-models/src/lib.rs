//! Models instead of data: curators who release a model, or the moments that a linear one is learned from, under central differential privacy.
//!
//! | mechanism | what leaves |
//! |---|---|
//! | [`NoisyMoments`] | records by chance that have the noisy second moments of all records and their target |
//! | [`PrivateLogistic`] | a logistic regression |
//! | [`PrivateRidge`] | a ridge regression |
//!
//! What they are made of serves curators of other crates too: records as vectors ([`Encoding`]), linear models that are released ([`Coefficients`]), rows that have given moments ([`Population`]).

mod coefficients;
mod descent;
mod encoding;
mod logistic;
mod moments;
mod noise;
mod ridge;
mod rows;

pub use coefficients::Coefficients;
pub use encoding::Encoding;
pub use logistic::{PRIVATE_LOGISTIC, PrivateLogistic};
pub use moments::{NOISY_MOMENTS, NoisyMoments};
pub use ridge::{PRIVATE_RIDGE, PrivateRidge};
pub use rows::Population;

/// The README's examples run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
