//! Checks of parameters.

use crate::NAME;
use scumble_core::{Error, Result};

/// An error of a parameter.
pub(crate) fn refuse<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Parameter { plugin: NAME.into(), problem: problem.into() })
}

/// That a number is finite and above zero.
pub(crate) fn positive(name: &str, value: f64) -> Result<f64> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    refuse(format!("{name} must be finite and above zero, and {value} is not"))
}

/// That a count is one or more.
pub(crate) fn some(name: &str, count: usize) -> Result<usize> {
    if count > 0 { Ok(count) } else { refuse(format!("{name} must be one or more, and 0 is not")) }
}
