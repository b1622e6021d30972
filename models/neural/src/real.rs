//! Number types of networks.

use faer::traits::ComplexField;
use num_traits::{Float, NumAssign};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::{Debug, Display};
use std::iter::Sum;

/// A number type of networks: `f32`, for speed, or `f64`, for checks.
pub trait Real:
    sealed::Sealed
    + Float
    + NumAssign
    + ComplexField
    + Sum
    + Into<f64>
    + Debug
    + Display
    + Send
    + Sync
    + Serialize
    + DeserializeOwned
    + 'static
{
    /// Returns the number nearest to `value`.
    fn nearest(value: f64) -> Self;
}

impl Real for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
