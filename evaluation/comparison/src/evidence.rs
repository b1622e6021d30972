//! Significance tests between scores of the same trials.

use super::Metric;
use super::spread::mean_and_sd;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Largest probability of a type I error in all recommendations together.
pub(super) const LEVEL: f64 = 0.01;

/// One-sided p-value of the hypothesis that `scores` have no better mean than `baseline` in the same trials.
///
/// The test is the corrected resampled t-test of Nadeau and Bengio (2003). Its variance accounts for records
/// that the splits of different trials share. `shared` is the ratio of test to training records for random
/// splits, and zero if all trials have the same split. The result is 1 for a single trial or a non-finite
/// score.
pub fn p_value(metric: Metric, scores: &[f64], baseline: &[f64], shared: f64) -> f64 {
    let sign = if metric.less_is_better() { -1.0 } else { 1.0 };
    let ahead: Vec<f64> = scores.iter().zip(baseline).map(|(score, other)| sign * (score - other)).collect();
    let trials = ahead.len();
    let (mean, sd) = mean_and_sd(&ahead);
    if trials < 2 || scores.len() != baseline.len() || !mean.is_finite() || !sd.is_finite() {
        return 1.0;
    }
    if sd == 0.0 {
        return if mean > 0.0 { 0.0 } else { 1.0 };
    }
    let t = mean / (sd * (1.0 / trials as f64 + shared).sqrt());
    StudentsT::new(0.0, 1.0, (trials - 1) as f64).map_or(1.0, |distribution| distribution.sf(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn it_is_the_paired_test_of_student_and_less_where_splits_share_records() {
        // Differences of 1, 2 and 3: t = 2√3. With two degrees of freedom, the probability of a larger t is
        // (1 − t/√(2 + t²))/2.
        let (scores, baseline) = ([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]);
        let tail = |t: f64| 0.5 * (1.0 - t / (2.0 + t * t).sqrt());
        let p = |metric, shared| p_value(metric, &scores, &baseline, shared);
        assert_relative_eq!(p(Metric::Accuracy, 0.0), tail(2.0 * 3f64.sqrt()), epsilon = 1e-9);
        assert_relative_eq!(
            p(Metric::Accuracy, 0.25),
            tail(2.0 / (1.0 / 3.0 + 0.25f64).sqrt()),
            epsilon = 1e-9
        );
        assert_relative_eq!(p(Metric::Rmse, 0.0), 1.0 - tail(2.0 * 3f64.sqrt()), epsilon = 1e-9);
        assert_eq!(p_value(Metric::Accuracy, &[1.0], &[0.0], 0.0), 1.0);
        assert_eq!(p_value(Metric::Accuracy, &[1.0, f64::NAN], &[0.0; 2], 0.0), 1.0);
        assert_eq!(p_value(Metric::Accuracy, &[1.0; 2], &[0.0; 2], 0.0), 0.0);
        assert_eq!(p_value(Metric::Accuracy, &[0.0; 2], &[0.0; 2], 0.0), 1.0);
    }

    /// For random scores in independent trials, at most 37 of 2,000 p-values are below 1 %, except in one run
    /// in ten thousand.
    #[test]
    fn noise_is_better_as_rarely_as_it_is_said() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let mut coins = || -> Vec<f64> { (0..20).map(|_| rng.gen_range(0.0..1.0)).collect() };
        let found = (0..2000).filter(|_| p_value(Metric::Accuracy, &coins(), &coins(), 0.0) < LEVEL).count();
        assert!((5..=37).contains(&found), "{found}");
    }
}
