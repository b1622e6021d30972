//! Checks of the parameters of `vlm`.

use crate::NAME;
use scumble_core::{Error, Result};

/// Returns [`Error::Parameter`] with the message `problem`.
pub(crate) fn refuse<T>(problem: impl ToString) -> Result<T> {
    Err(Error::parameter(NAME, problem))
}

/// Checks that a number is finite and above zero.
pub(crate) fn positive(name: &str, value: f64) -> Result<f64> {
    Error::check(NAME, name, value, "finite and above zero", value.is_finite() && value > 0.0)
}

/// Checks that a count is at least one.
pub(crate) fn some(name: &str, count: usize) -> Result<usize> {
    Error::check(NAME, name, count, "one or more", count > 0)
}
