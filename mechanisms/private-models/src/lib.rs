//! Models in place of records. A trusted curator releases a linear model, or records with the moments from
//! which it can be learned, under central differential privacy.
//!
//! | mechanism | release |
//! |---|---|
//! | [`NoisyMoments`] | random records with the noisy second moments of all records and their target |
//! | [`PrivateLogistic`] | a logistic regression |
//! | [`PrivateRidge`] | a ridge regression |
//!
//! Curator mechanisms in other crates use some parts of this crate: records as vectors ([`Encoding`]),
//! released linear models ([`Coefficients`]), and random rows with given moments ([`Population`]).

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
