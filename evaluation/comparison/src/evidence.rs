//! Significance tests between a predictor of a release and a reference, on the same test records.
//!
//! The mean gain of a mechanism over T trials varies for two reasons. First, other test records would give
//! other scores. A test record may be in several trials, so this variance does not shrink as 1/T. Second,
//! each trial has its own noise and training records. The test estimates both variances. The first follows
//! from the [influences](super::influence) of the test records, summed over trials. The second is the
//! variance between the trials' gains that the choice of test records does not explain.

use super::Metric;
use super::influence::GROUPS;
use super::scored::Scored;
use super::spread::mean_and_sd;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Largest probability that a mechanism is named at one budget, for one goal, if none is better than the
/// reference.
pub(super) const LEVEL: f64 = 0.01;

/// Probability that a bound of [`most`] is below the largest true gain.
const MISSED: f64 = 0.05;

/// Smallest number of trials from which the variance between trials is reliable enough to give the test more
/// than T − 1 degrees of freedom.
pub(super) const ENOUGH_TRIALS: usize = 10;

/// Scores of one predictor, and the influences of the test records on them.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    /// Score of each trial.
    pub(super) scores: Vec<f64>,
    /// Influence of each group of test records on the score of each trial. A trial without influences has an
    /// empty vector.
    pub(super) influences: Vec<Vec<f32>>,
}

impl Sample {
    /// Scores of `trials` by one metric.
    pub(super) fn new(metric: Metric, trials: &[&Scored]) -> Self {
        Self {
            scores: trials.iter().map(|scored| scored.score(metric)).collect(),
            influences: trials.iter().map(|scored| scored.influences(metric)).collect(),
        }
    }
}

/// Mean gain in score of a predictor over a reference, positive if the predictor is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gain {
    pub(super) mean: f64,
    /// Standard error of the mean.
    pub(super) standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub(super) degrees: f64,
}

impl Gain {
    /// Estimates the gain of a predictor over a reference, from `scores` and `influences` of the same trials,
    /// each of the predictor and then of the reference. `tested` is the number of records that are test
    /// records in one trial or more.
    ///
    /// The result is `None` for a single trial, a score that is not finite, or missing influences.
    pub(super) fn new(
        metric: Metric,
        scores: [&[f64]; 2],
        influences: [&[Vec<f32>]; 2],
        tested: usize,
    ) -> Option<Self> {
        let sign = if metric.less_is_better() { -1.0 } else { 1.0 };
        let pairs = scores[0].iter().zip(scores[1]);
        let gains: Vec<f64> = pairs.map(|(score, other)| sign * (score - other)).collect();
        let (mean, sd) = mean_and_sd(&gains);
        let is_complete =
            |of: &[Vec<f32>]| of.len() == gains.len() && of.iter().all(|sums| sums.len() == GROUPS);
        if !(sd.is_finite() && influences.into_iter().all(is_complete)) {
            return None;
        }
        let trials = gains.len() as f64;
        // Variance by the choice of test records (`choice`), and the part of the variance between trials that
        // this choice explains (`explained`).
        let (mut choice, mut explained) = (0.0, 0.0);
        for group in 0..GROUPS {
            let pairs = influences[0].iter().zip(influences[1]);
            let differences: Vec<f64> =
                pairs.map(|(own, other)| f64::from(own[group]) - f64::from(other[group])).collect();
            let (mean, sd) = mean_and_sd(&differences);
            choice += mean * mean;
            explained += sd * sd;
        }
        // Under the null hypothesis the gain is zero, so a record's deviation includes the mean gain.
        choice += mean * mean / tested as f64;
        let between = sd * sd;
        let variance = choice + (between - explained).max(0.0) / trials;
        let degrees = match gains.len() {
            few if few < ENOUGH_TRIALS => trials - 1.0,
            // Satterthwaite's formula.
            _ => {
                let from_trials = (between.max(explained) / trials).powi(2) / (trials - 1.0);
                let from_records = choice * choice / (tested.clamp(2, GROUPS) as f64 - 1.0);
                variance * variance / (from_trials + from_records)
            }
        };
        Some(Self { mean, standard_error: variance.sqrt(), degrees })
    }

    /// One-sided p-value of the hypothesis that the predictor is not better than the reference.
    pub(super) fn p_value(&self) -> f64 {
        if self.mean <= 0.0 {
            // With a gain of zero, the standard error may be zero too.
            return 1.0 - 0.5 * f64::from(u8::from(self.mean == 0.0));
        }
        let t = self.mean / self.standard_error;
        StudentsT::new(0.0, 1.0, self.degrees).map_or(1.0, |distribution| distribution.sf(t))
    }
}

/// Upper bound on the true gains of several predictors over a reference. The bounds of all hold together
/// with a probability of 95 % (Bonferroni). `estimates` has the mean gain of each, its standard error and its
/// degrees of freedom. The result is `None` without an estimate.
pub(super) fn most(estimates: &[[f64; 3]]) -> Option<f64> {
    let level = MISSED / estimates.len() as f64;
    let bound = |&[gain, standard_error, degrees]: &[f64; 3]| {
        let quantile = StudentsT::new(0.0, 1.0, degrees)
            .map_or(f64::NAN, |distribution| distribution.inverse_cdf(1.0 - level));
        gain + quantile * standard_error
    };
    estimates.iter().map(bound).filter(|bound| bound.is_finite()).reduce(f64::max)
}

/// Largest of `p_values` that is significant if the probability of any type I error may be `level` (Holm
/// 1979); `None` if none is significant.
pub(super) fn largest_significant(mut p_values: Vec<f64>, level: f64) -> Option<f64> {
    p_values.sort_by(f64::total_cmp);
    let count = p_values.len();
    let significant =
        p_values.into_iter().enumerate().take_while(|(at, p_value)| *p_value <= level / (count - at) as f64);
    significant.last().map(|(_, p_value)| p_value)
}

#[cfg(test)]
mod tests {
    use super::super::influence::grouped;
    use super::super::prediction::Predicted;
    use super::super::split::interleave;
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::Array1;
    use rand::seq::SliceRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;
    use rayon::prelude::*;
    use scumble_core::Target;
    use statrs::distribution::Normal;

    const METRIC: Metric = Metric::Accuracy;
    /// Number of mechanisms in a simulated question.
    const MECHANISMS: usize = 12;

    /// Simulated comparison of mechanisms on records of two classes.
    #[derive(Clone, Copy)]
    struct Simulation {
        /// Number of records. Each trial draws its test records from them.
        records: usize,
        test_records: usize,
        trials: usize,
        /// Share of the first class, which the baseline predicts.
        majority: f64,
        /// Standard deviation of a mechanism's accuracy between trials, caused by its noise.
        noise: f64,
        /// Share of the variance of a prediction that is the record's own, in all trials.
        consistent: f64,
    }

    impl Simulation {
        /// Estimated gains of the mechanisms if `gains` has the true gain of each.
        fn gains(&self, gains: &[f64], rng: &mut ChaCha20Rng) -> Vec<Option<Gain>> {
            let truth: Array1<usize> = (0..self.records)
                .map(|row| usize::from(row as f64 >= self.majority * self.records as f64))
                .collect();
            let mut rows: Vec<usize> = (0..self.records).collect();
            let tests: Vec<Vec<usize>> = (0..self.trials)
                .map(|_| {
                    rows.shuffle(rng);
                    // Test records have the class shares of all records, as in a comparison's default split.
                    interleave(&mut rows, &truth, 0.5);
                    rows[..self.test_records].to_vec()
                })
                .collect();
            let tested: std::collections::BTreeSet<usize> = tests.iter().flatten().copied().collect();
            let sample = |predicted: &mut dyn FnMut(&[usize]) -> Array1<usize>| {
                let mut sample = Sample::default();
                for test in &tests {
                    let predicted = Predicted::from_target(Target::Class(predicted(test)));
                    let truth = Target::Class(test.iter().map(|&row| truth[row]).collect());
                    sample.scores.push(METRIC.score(&predicted, &truth, 1.0).unwrap());
                    let influences = METRIC.influence(&predicted, &truth, 1.0).unwrap();
                    sample.influences.push(grouped(test, &influences));
                }
                sample
            };
            let baseline = sample(&mut |test| Array1::zeros(test.len()));
            let normal = Normal::standard();
            gains
                .iter()
                .map(|true_gain| {
                    let own: Vec<f64> = (0..self.records).map(|_| standard(rng)).collect();
                    let sample = sample(&mut |test| {
                        let accuracy = self.majority + true_gain + self.noise * standard(rng);
                        let threshold = normal.inverse_cdf(accuracy.clamp(0.001, 0.999));
                        let right = test.iter().map(|&row| {
                            let fresh = (1.0 - self.consistent).sqrt() * standard(rng);
                            self.consistent.sqrt() * own[row] + fresh < threshold
                        });
                        let right: Vec<bool> = right.collect();
                        let pairs = test.iter().zip(right);
                        pairs.map(|(&row, right)| if right { truth[row] } else { 1 - truth[row] }).collect()
                    });
                    gain(METRIC, &sample, &baseline, tested.len())
                })
                .collect()
        }

        /// Indices of the mechanisms with evidence if `gains` has the true gain of each.
        fn named(&self, gains: &[f64], rng: &mut ChaCha20Rng) -> Vec<usize> {
            let found = self.gains(gains, rng);
            let p_values: Vec<f64> =
                found.into_iter().map(|gain| gain.map_or(1.0, |gain| gain.p_value())).collect();
            match largest_significant(p_values.clone(), LEVEL) {
                Some(largest) => (0..gains.len()).filter(|&at| p_values[at] <= largest).collect(),
                None => vec![],
            }
        }

        /// Share of `runs` in which `is_found` holds for the named mechanisms.
        fn share(&self, gains: &[f64], runs: u64, is_found: impl Fn(&[usize]) -> bool + Sync) -> f64 {
            let found = (0..runs).into_par_iter().filter(|&run| {
                let mut rng = ChaCha20Rng::seed_from_u64(run);
                is_found(&self.named(gains, &mut rng))
            });
            found.count() as f64 / runs as f64
        }
    }

    fn gain(metric: Metric, predictor: &Sample, reference: &Sample, tested: usize) -> Option<Gain> {
        let influences = [&predictor.influences[..], &reference.influences];
        Gain::new(metric, [&predictor.scores, &reference.scores], influences, tested)
    }

    fn standard(rng: &mut impl Rng) -> f64 {
        rng.sample(rand_distr::StandardNormal)
    }

    const USUAL: Simulation = Simulation {
        records: 1200,
        test_records: 300,
        trials: 10,
        majority: 0.5,
        noise: 0.0,
        consistent: 0.3,
    };

    /// With ten trials of 300 test records and twelve mechanisms, a true gain of 10 points is named in at
    /// least 95 % of runs, and one of 5 points in at least 60 %.
    #[test]
    fn a_true_gain_is_named() {
        for simulation in [USUAL, Simulation { majority: 0.65, ..USUAL }] {
            let share = |gain: f64| {
                let mut gains = [0.0; MECHANISMS];
                gains[3] = gain;
                simulation.share(&gains, 200, |named| named.contains(&3))
            };
            let (large, small) = (share(0.10), share(0.05));
            assert!(large >= 0.95 && small >= 0.6, "{large} {small}");
        }
    }

    /// The bound on the gains of twelve mechanisms is below the largest true gain in at most 5 % of runs: at
    /// most 35 of 400, which a true rate of 5 % exceeds once in a thousand. On average it is less than 12
    /// points above the largest gain.
    #[test]
    fn gains_are_below_their_bound() {
        let cases = [
            (USUAL, [0.0; MECHANISMS]),
            (Simulation { noise: 0.03, ..USUAL }, [-0.05; MECHANISMS]),
            (Simulation { trials: 30, ..USUAL }, std::array::from_fn(|at| 0.003 * at as f64 - 0.03)),
        ];
        for (at, (simulation, gains)) in cases.into_iter().enumerate() {
            let largest = gains.iter().copied().fold(f64::MIN, f64::max);
            let excess = (0..400u64).into_par_iter().map(|run| {
                let found = simulation.gains(&gains, &mut ChaCha20Rng::seed_from_u64(1000 + run));
                let found = found.into_iter().flatten();
                let estimates: Vec<[f64; 3]> =
                    found.map(|gain| [gain.mean, gain.standard_error, gain.degrees]).collect();
                most(&estimates).unwrap() - largest
            });
            let excess: Vec<f64> = excess.collect();
            let missed = excess.iter().filter(|excess| **excess < 0.0).count();
            let mean = mean_and_sd(&excess).0;
            assert!(missed <= 35 && mean < 0.12, "case {at}: {missed}, {mean}");
        }
        assert_eq!(most(&[]), None);
    }

    /// If no mechanism is better than the baseline, one is named in at most 1 % of runs: at most 13 of 500
    /// runs, which a true rate of 1 % exceeds once in a thousand. This holds for any number of trials, for
    /// noise that makes some releases better and others worse, for records that are always predicted right or
    /// wrong, and for few records.
    #[test]
    fn without_a_gain_nothing_is_named() {
        let small = Simulation { records: 60, test_records: 20, ..USUAL };
        let cases = [
            USUAL,
            Simulation { noise: 0.1, ..USUAL },
            Simulation { noise: 0.02, consistent: 0.9, ..USUAL },
            Simulation { trials: 2, noise: 0.1, ..USUAL },
            Simulation { trials: 5, noise: 0.03, ..USUAL },
            small,
            Simulation { records: 20, noise: 0.1, ..small },
        ];
        for (at, case) in cases.iter().enumerate() {
            let share = case.share(&[0.0; MECHANISMS], 500, |named| !named.is_empty());
            assert!(share <= 13.0 / 500.0, "case {at}: {share}");
        }
    }

    /// Trials that share no test record and have no noise of their own. The p-value is that of a t-test
    /// over the trials if their gains vary more than the test records explain.
    #[test]
    fn independent_trials_give_the_paired_t_test() {
        // Gains of 1, 2 and 3: t = 2√3. With two degrees of freedom, the probability of a larger t is
        // (1 − t/√(2 + t²))/2.
        let tail = |t: f64| 0.5 * (1.0 - t / (2.0 + t * t).sqrt());
        let sample =
            |scores: [f64; 3]| Sample { scores: scores.to_vec(), influences: vec![vec![0.0; GROUPS]; 3] };
        let (predictor, reference) = (sample([2.0, 4.0, 6.0]), sample([1.0, 2.0, 3.0]));
        let p_value = |metric| gain(metric, &predictor, &reference, usize::MAX).unwrap().p_value();
        assert_relative_eq!(p_value(Metric::Accuracy), tail(2.0 * 3f64.sqrt()), epsilon = 1e-9);
        assert!(p_value(Metric::Rmse) > 0.5);
        assert_eq!(gain(METRIC, &sample([1.0; 3]), &sample([1.0; 3]), 9).unwrap().p_value(), 0.5);
        assert!(gain(METRIC, &sample([1.0, f64::NAN, 1.0]), &reference, 9).is_none());
        let empty = Sample { influences: vec![vec![]; 3], ..predictor.clone() };
        assert!(gain(METRIC, &empty, &reference, 9).is_none());
    }

    /// Perfect predictions of n test records, against a baseline that is right about half, are at most √n
    /// standard errors better.
    #[test]
    fn few_test_records_are_no_strong_evidence() {
        let truth: Array1<usize> = vec![0, 0, 1, 1].into();
        let sample = |predicted: Array1<usize>| {
            let (predicted, truth) =
                (Predicted::from_target(Target::Class(predicted)), Target::Class(truth.clone()));
            let influences = grouped(&[0, 1, 2, 3], &METRIC.influence(&predicted, &truth, 1.0).unwrap());
            Sample {
                scores: vec![METRIC.score(&predicted, &truth, 1.0).unwrap(); 20],
                influences: vec![influences; 20],
            }
        };
        let gain = gain(METRIC, &sample(truth.clone()), &sample(Array1::zeros(4)), 4).unwrap();
        assert!(gain.mean == 0.5 && gain.standard_error >= 0.25, "{gain:?}");
        assert!(gain.p_value() > LEVEL, "{gain:?}");
    }

    #[test]
    fn holm_compares_the_smallest_p_value_with_the_strictest_level() {
        let largest = |p_values: &[f64]| largest_significant(p_values.to_vec(), 0.03);
        assert_eq!(largest(&[0.9, 0.01, 0.014]), Some(0.014));
        assert_eq!(largest(&[0.9, 0.011, 0.011]), None);
        assert_eq!(largest(&[0.03]), Some(0.03));
        assert_eq!(largest(&[]), None);
    }
}
