//! Estimates with their confidence intervals.

use crate::{Error, Result};

/// Number with its confidence interval. An unbiased estimate, and its interval, may lie outside the possible
/// range, for example a frequency below zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Estimated value.
    pub value: f64,
    /// Standard error, from sampling the people and from the noise together.
    pub standard_error: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
}

impl Estimate {
    /// Estimate `value`, with an interval of `quantile` standard errors to each side.
    pub fn about(value: f64, standard_error: f64, quantile: f64) -> Self {
        let half = quantile * standard_error;
        Self { value, standard_error, lower: value - half, upper: value + half }
    }

    /// Same estimate in another unit, where x becomes `offset` + `scale`·x. For a column encoded by public
    /// bounds, `offset` is its lower bound and `scale` is the width between its bounds.
    pub fn in_unit(self, offset: f64, scale: f64) -> Self {
        let (one, other) = (offset + scale * self.lower, offset + scale * self.upper);
        Self {
            value: offset + scale * self.value,
            standard_error: scale.abs() * self.standard_error,
            lower: one.min(other),
            upper: one.max(other),
        }
    }
}

/// Checks the level of a confidence interval.
///
/// # Errors
/// [`Error::Budget`] unless 0 < `confidence` < 1.
pub fn check_confidence(confidence: f64) -> Result<()> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(Error::Budget { name: "the confidence", range: "strictly between zero and one", value: confidence })
}
