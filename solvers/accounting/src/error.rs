//! Errors of privacy accounting.

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// An invalid argument, or a target that cannot be met.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument outside its valid range.
    #[error("{name} is {value}, and must be {range}")]
    OutOfRange {
        /// The argument's name.
        name: &'static str,
        /// The valid range.
        range: &'static str,
        /// The given value.
        value: f64,
    },
    /// No value in the searched range meets the target.
    #[error("no {name} within {range} meets the target")]
    Unreachable {
        /// The name of the searched quantity.
        name: &'static str,
        /// The searched range.
        range: &'static str,
    },
}

pub(crate) fn check(name: &'static str, value: f64, range: &'static str, holds: bool) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::OutOfRange { name, range, value }) }
}

pub(crate) fn check_delta(delta: f64) -> Result<()> {
    check("delta", delta, "strictly between zero and one", delta > 0.0 && delta < 1.0)
}

pub(crate) fn check_epsilon(epsilon: f64) -> Result<()> {
    check("epsilon", epsilon, "zero or more, and finite", epsilon >= 0.0 && epsilon.is_finite())
}

/// Checks an ε that may be infinite, which means no privacy.
pub(crate) fn check_privacy(epsilon: f64) -> Result<()> {
    check("epsilon", epsilon, "zero or more", epsilon >= 0.0)
}
