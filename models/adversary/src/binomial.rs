//! What counts say of a probability.

use statrs::distribution::{Beta, ContinuousCDF};

/// Clopper and Pearson's lower bound on the probability of what happened `count` times in `trials`: it lies above the truth
/// with probability `alarm` at most.
pub(crate) fn at_least(count: usize, trials: usize, alarm: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let law = Beta::new(count as f64, (trials.saturating_sub(count) + 1) as f64);
    law.map_or(0.0, |law| law.inverse_cdf(alarm))
}

/// The upper bound.
pub(crate) fn at_most(count: usize, trials: usize, alarm: f64) -> f64 {
    1.0 - at_least(trials.saturating_sub(count), trials, alarm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Binomial(n, p) ≥ count), summed.
    fn tail(count: usize, n: usize, p: f64) -> f64 {
        let mut mass = (1.0 - p).powi(n as i32);
        let mut below = 0.0;
        for k in 0..count {
            below += mass;
            mass *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        1.0 - below
    }

    #[test]
    fn at_the_bound_the_count_is_as_rare_as_the_alarm() {
        for (count, n, alarm) in [(1, 10, 0.01), (7, 20, 1e-3), (90, 100, 0.05), (100, 100, 1e-4)] {
            let p = at_least(count, n, alarm);
            assert!((tail(count, n, p) / alarm - 1.0).abs() < 1e-3, "{count} of {n}: {p}");
            assert_eq!(at_most(n - count, n, alarm), 1.0 - p);
        }
        assert_eq!((at_least(0, 10, 0.1), at_most(10, 10, 0.1)), (0.0, 1.0));
    }
}
