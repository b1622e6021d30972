//! Networks trained under central differential privacy.

mod clipping;
mod cost;
mod error;
mod noise;
mod rows;
mod sensitivity;
mod training;

pub use cost::Spent;
pub use error::{Error, Result};
pub use scumble_accounting::Neighbours;
pub use scumble_accounting::calibrate::Target;
pub use training::{NoiseKind, PrivateTraining, Step};
