//! Statistics over repeated trials.

use scumble_comparison::mean_and_sd;

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    pub value: f64,
    /// Standard error of the mean, not the standard deviation of a trial.
    pub error: f64,
}

impl Mean {
    /// Mean of two or more values.
    pub fn from_values(values: &[f64]) -> Self {
        let (value, deviation) = mean_and_sd(values);
        Self { value, error: deviation / (values.len() as f64).sqrt() }
    }

    /// Mean of the pairwise differences `first` − `second`.
    pub fn from_differences(first: &[f64], second: &[f64]) -> Self {
        Self::from_values(&first.iter().zip(second).map(|(a, b)| a - b).collect::<Vec<_>>())
    }

    /// Mean divided by its standard error; 0 for a mean of exactly zero.
    pub fn in_errors(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { self.value / self.error }
    }
}

/// The median: the middle value, or the mean of the two middle values. `NaN` for no values.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_the_error_of_a_mean() {
        let mean = Mean::from_values(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean.value, 2.5);
        // The standard deviation is √(5/3).
        assert!((mean.error - (5.0f64 / 12.0).sqrt()).abs() < 1e-15);
        assert_eq!(Mean::from_differences(&[2.0, 3.0], &[1.0, 2.0]).in_errors(), f64::INFINITY);
        assert_eq!(Mean::from_differences(&[2.0, 3.0], &[2.0, 3.0]).in_errors(), 0.0);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])), (2.0, 2.5));
        assert!(median(&[]).is_nan());
    }
}
