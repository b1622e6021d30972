//! Estimates with their confidence intervals.

use crate::{Error, Result};

/// A number with its confidence interval. An unbiased estimate may lie outside what is possible, as a frequency below
/// zero; so may the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error, from sampling the people and from the noise together.
    pub standard_error: f64,
    /// The lower end of the interval.
    pub lower: f64,
    /// The upper end of the interval.
    pub upper: f64,
}

impl Estimate {
    /// `value`, and so many standard errors (`quantile`) about it.
    pub fn about(value: f64, standard_error: f64, quantile: f64) -> Self {
        let half = quantile * standard_error;
        Self { value, standard_error, lower: value - half, upper: value + half }
    }

    /// The same in another unit: `offset` + `scale`·x. From a column encoded by public bounds to its own unit, these are its
    /// lower bound and the width between its bounds.
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

/// # Errors
/// [`Error::Budget`] unless 0 < `confidence` < 1.
pub fn check_confidence(confidence: f64) -> Result<()> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    Err(Error::Budget { name: "the confidence", range: "strictly between zero and one", value: confidence })
}
