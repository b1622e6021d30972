//! Models in place of records. A trusted curator releases a linear model, or records with the moments from
//! which it can be learned, under central differential privacy.
//!
//! | mechanism | release |
//! |---|---|
//! | [`NoisyMoments`] | random records with the noisy second moments of all records and their target |
//! | [`GradientModel`] | a logistic regression, or an additive model |
//! | [`PrivateRidge`] | a ridge regression |
//!
//! Curator mechanisms in other crates use some parts of this crate: records as vectors ([`Encoding`]),
//! released linear models ([`Coefficients`]), and random rows with given moments ([`Population`]).

mod additive;
mod basis;
mod coefficients;
mod descent;
mod encoding;
mod gradient_model;
mod lesson;
mod logistic;
mod moment_tables;
mod moments;
mod noise;
mod ridge;
mod rows;
mod schedule;
mod shapes;

pub use additive::PRIVATE_ADDITIVE;
pub use coefficients::Coefficients;
pub use encoding::Encoding;
pub use gradient_model::GradientModel;
pub use logistic::PRIVATE_LOGISTIC;
pub use moments::{NOISY_MOMENTS, NoisyMoments};
pub use ridge::{PRIVATE_RIDGE, PrivateRidge};
pub use rows::Population;
