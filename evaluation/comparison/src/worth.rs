//! Worth of a release: the number of records in the clear from which a model learns as much as from the
//! release.
//!
//! A *learning curve* is the mean score of a model by the number n of its training records in the clear. It
//! is measured at several sizes n, and made monotone by least squares. Between two sizes it is linear in the
//! logarithm of n. Between n = 0, with the baseline's score, and the first size it is linear in n. The
//! inverse of the curve converts a score to a number of records.

use super::Metric;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

/// Number of bootstrap draws of the trials.
const DRAWS: usize = 1000;
/// Probability outside an interval on either side.
const TAIL: f64 = 0.025;

/// Number of records in the clear from which the same model learns as much as from a release, with a 95 %
/// interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// Number of records.
    pub records: f64,
    /// Lower end of the interval, by bootstrap over trials.
    pub lower: f64,
    /// Upper end of the interval.
    pub upper: f64,
    /// Upper bound on the worth of a release by any mechanism with the same guarantee, if a theorem gives
    /// one: see [`at_most`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Number of records that a trial releases.
    #[serde(skip)]
    pub(super) all: f64,
}

impl Worth {
    /// This worth of a release of `records` records.
    pub(super) fn of(self, records: f64) -> Self {
        Self { all: records, ..self }
    }
}

/// Text for people, in whole records. A number is displayed as `all` if a trial does not release more
/// records.
impl std::fmt::Display for Worth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [records, lower, upper] = [self.records, self.lower, self.upper]
            .map(|records| if records >= self.all { "all".to_owned() } else { format!("{records:.0}") });
        write!(formatter, "{records} ({lower}–{upper})")
    }
}

/// Upper bound on the worth of `records` records under (ε, 0) local differential privacy of each record.
///
/// The bound concerns the information about any parameter of the records' distribution. A channel with (ε, 0)
/// local differential privacy retains at most a fraction tanh²(ε/2) of its input's χ²-divergence, relative
/// entropy and Fisher information.
///
/// Source: Asoodeh and Zhang, Contraction of locally differentially private mechanisms, 2022.
pub fn at_most(records: usize, epsilon: f64) -> f64 {
    records as f64 * (epsilon / 2.0).tanh().powi(2)
}

/// Mean scores of a model by its number of training records, and the conversion of scores to records.
#[derive(Debug, Clone)]
pub struct LearningCurve {
    sizes: Vec<f64>,
    /// Lists with one score per trial: first the list of the baseline, and then one list for each size. The
    /// scores are multiplied by `sign`, so that a larger value is better.
    scores: Vec<Vec<f64>>,
    /// 1, or −1 if a smaller value of the metric is better.
    sign: f64,
    /// Learning curve of all trials.
    curve: Curve,
    /// Bootstrap draws: the indices of the drawn trials, and the learning curve of these trials.
    drawn: Vec<(Vec<usize>, Curve)>,
}

/// Curve through the mean scores of some trials.
#[derive(Debug, Clone, Default)]
struct Curve {
    /// Monotone mean scores: first the baseline's, for no records, and then one for each size.
    values: Vec<f64>,
    /// Mean score at the largest size, before the values are made monotone. A score that reaches this mean is
    /// worth the largest size, even if a smaller size had a better score by chance.
    all: f64,
}

impl LearningCurve {
    /// Learning curve of a metric. `points` lists sizes in ascending order, each with its scores in all
    /// trials.
    ///
    /// `baseline` has the scores without any record. The result is `None` without a size or a trial, or with
    /// a non-finite score.
    pub fn new(metric: Metric, baseline: &[f64], points: &[(usize, &[f64])], seed: u64) -> Option<Self> {
        let sign = if metric.less_is_better() { -1.0 } else { 1.0 };
        let all = std::iter::once(baseline).chain(points.iter().map(|(_, scores)| *scores));
        let scores: Vec<Vec<f64>> =
            all.map(|scores| scores.iter().map(|score| sign * score).collect()).collect();
        let trials = baseline.len();
        let is_whole =
            |scores: &Vec<f64>| scores.len() == trials && scores.iter().all(|score| score.is_finite());
        if points.is_empty() || trials == 0 || !scores.iter().all(is_whole) {
            return None;
        }
        let sizes = points.iter().map(|(size, _)| *size as f64).collect();
        let mut made = Self { sizes, scores, sign, curve: Curve::default(), drawn: vec![] };
        let every: Vec<usize> = (0..trials).collect();
        made.curve = made.through(&every);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let draws = if trials > 1 { DRAWS } else { 0 };
        made.drawn = (0..draws)
            .map(|_| {
                let drawn: Vec<usize> = (0..trials).map(|_| rng.gen_range(0..trials)).collect();
                let curve = made.through(&drawn);
                (drawn, curve)
            })
            .collect();
        Some(made)
    }

    /// Monotone curve of some trials.
    fn through(&self, trials: &[usize]) -> Curve {
        let means: Vec<f64> = self.scores.iter().map(|scores| mean_of(scores, trials)).collect();
        Curve { values: monotone(&means), all: means[means.len() - 1] }
    }

    /// Worth of a release on which a model has these `scores`, one per trial. For one trial the interval is
    /// from zero to the largest number of records on the curve. The result is `None` for a non-finite score
    /// or if the number of scores differs from the number of trials.
    pub fn worth(&self, scores: &[f64]) -> Option<Worth> {
        if scores.len() != self.scores[0].len() || scores.iter().any(|score| !score.is_finite()) {
            return None;
        }
        let scores: Vec<f64> = scores.iter().map(|score| self.sign * score).collect();
        let every: Vec<usize> = (0..scores.len()).collect();
        let records = self.records(&self.curve, mean_of(&scores, &every));
        let mut drawn: Vec<f64> =
            self.drawn.iter().map(|(trials, curve)| self.records(curve, mean_of(&scores, trials))).collect();
        let all = self.sizes[self.sizes.len() - 1];
        let (lower, upper) = interval(&mut drawn).unwrap_or((0.0, all));
        Some(Worth { records, lower: lower.min(records), upper: upper.max(records), at_most: None, all })
    }

    /// Difference between the worth of `scores` and the worth of `baseline`, which both have one score per
    /// trial.
    pub fn added(&self, scores: &[f64], baseline: &[f64]) -> Option<Worth> {
        let [more, less] = [self.worth(scores)?, self.worth(baseline)?];
        let [scores, baseline]: [Vec<f64>; 2] =
            [scores, baseline].map(|scores| scores.iter().map(|score| self.sign * score).collect());
        let mut drawn: Vec<f64> = self
            .drawn
            .iter()
            .map(|(trials, curve)| {
                let [more, less] =
                    [&scores, &baseline].map(|values| self.records(curve, mean_of(values, trials)));
                more - less
            })
            .collect();
        let records = more.records - less.records;
        let all = self.sizes[self.sizes.len() - 1];
        let (lower, upper) = interval(&mut drawn).unwrap_or((-all, all));
        Some(Worth { records, lower: lower.min(records), upper: upper.max(records), at_most: None, all })
    }

    /// Largest number of records at which the learning curve is at most `score`. It is the largest size if
    /// `score` is as good as the mean score at this size.
    fn records(&self, curve: &Curve, score: f64) -> f64 {
        let Curve { values: curve, all } = curve;
        if score >= *all {
            return self.sizes[self.sizes.len() - 1];
        }
        let Some(at) = curve.iter().rposition(|value| *value <= score) else { return 0.0 };
        match (self.sizes.get(at), at.checked_sub(1)) {
            // The score is as good as at the largest size.
            (None, _) => self.sizes[at - 1],
            (Some(next), None) => between(score, curve[0], curve[1]) * next,
            (Some(next), Some(before)) => {
                let size = self.sizes[before];
                size * (next / size).powf(between(score, curve[at], curve[at + 1]))
            }
        }
    }
}

/// Interval with 95 % of the draws; `None` for no draws.
fn interval(drawn: &mut [f64]) -> Option<(f64, f64)> {
    drawn.sort_by(f64::total_cmp);
    let last = drawn.len().checked_sub(1)? as f64;
    let [lower, upper] = [TAIL, 1.0 - TAIL].map(|p| drawn[(last * p).round() as usize]);
    Some((lower, upper))
}

/// Relative position of `score` between `low` and `high`, from 0 to 1.
fn between(score: f64, low: f64, high: f64) -> f64 {
    ((score - low) / (high - low)).clamp(0.0, 1.0)
}

fn mean_of(scores: &[f64], trials: &[usize]) -> f64 {
    trials.iter().map(|&trial| scores[trial]).sum::<f64>() / trials.len() as f64
}

/// Least-squares fit of non-decreasing values (pool adjacent violators).
fn monotone(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = vec![];
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(before, count)) = pools.last().filter(|(before, _)| *before > pool.0) {
            let sum = before * count as f64 + pool.0 * pool.1 as f64;
            pool = (sum / (count + pool.1) as f64, count + pool.1);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(value, count)| std::iter::repeat_n(value, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::Rng;
    use rand_distr::{Distribution, StandardNormal};

    const SIZES: [usize; 5] = [20, 40, 80, 160, 320];

    /// Mean score of a model: 0.9 − 1/√(records + 4), which is 0.4 without records.
    fn truth(records: f64) -> f64 {
        0.9 - 1.0 / (records + 4.0).sqrt()
    }

    fn scores_of(mean: f64, sd: f64, trials: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
        let normal = |rng: &mut ChaCha20Rng| -> f64 { StandardNormal.sample(rng) };
        (0..trials).map(|_| mean + sd * normal(rng)).collect()
    }

    fn curve(sd: f64, trials: usize, rng: &mut ChaCha20Rng) -> LearningCurve {
        let baseline = vec![truth(0.0); trials];
        let points = SIZES.map(|size| (size, scores_of(truth(size as f64), sd, trials, rng)));
        let points: Vec<(usize, &[f64])> = points.iter().map(|(size, scores)| (*size, &scores[..])).collect();
        LearningCurve::new(Metric::Accuracy, &baseline, &points, 1).unwrap()
    }

    #[test]
    fn sizes_are_worth_themselves_and_all_records_all_of_them() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let curve = curve(0.0, 3, &mut rng);
        for size in SIZES {
            let worth = curve.worth(&[truth(size as f64); 3]).unwrap();
            assert!((worth.records / size as f64 - 1.0).abs() < 1e-9, "{size}: {worth:?}");
            assert_eq!((worth.lower, worth.upper), (worth.records, worth.records));
        }
        assert_eq!(curve.worth(&[0.89; 3]).unwrap().records, 320.0);
        assert_eq!(curve.worth(&[0.3; 3]).unwrap().records, 0.0);
        assert_eq!(curve.worth(&[truth(0.0); 3]).unwrap().records, 0.0);
        assert_eq!(curve.worth(&[f64::NAN; 3]), None);
        assert_eq!(curve.worth(&[0.5; 2]), None);
        // A smaller size with a better score by chance does not lower the worth of the largest size's score.
        let lucky = [(20, &[0.5; 2][..]), (40, &[0.7; 2][..]), (80, &[0.6; 2][..])];
        let lucky = LearningCurve::new(Metric::Accuracy, &[0.4; 2], &lucky, 1).unwrap();
        assert_eq!(lucky.worth(&[0.6; 2]).unwrap().records, 80.0);
        assert!(lucky.worth(&[0.59; 2]).unwrap().records < 40.0);
        // On a flat curve, the score of the curve is worth all records, and a score below the curve is worth
        // none.
        let flat = [(20, &[0.5; 2][..]), (40, &[0.5; 2][..])];
        let flat = LearningCurve::new(Metric::Accuracy, &[0.5; 2], &flat, 1).unwrap();
        assert_eq!(flat.worth(&[0.5; 2]).unwrap().records, 40.0);
        assert_eq!(flat.worth(&[0.49; 2]).unwrap().records, 0.0);
        // For a metric of errors, a smaller value is worth more.
        let errors = [(20, &[3.0; 2][..]), (80, &[1.0; 2][..])];
        let errors = LearningCurve::new(Metric::Rmse, &[5.0; 2], &errors, 1).unwrap();
        let worth = |error: f64| errors.worth(&[error; 2]).unwrap().records;
        assert_eq!((worth(4.0), worth(0.5)), (10.0, 80.0));
        assert!((worth(2.0) - 40.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_better_score_is_worth_no_less(
            seed in 0u64..1000, better in 0.0..0.2f64, score in 0.2..0.9f64,
        ) {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let curve = curve(0.05, 5, &mut rng);
            let [low, high] = [score, score + better].map(|score| curve.worth(&[score; 5]).unwrap().records);
            prop_assert!(low <= high);
            prop_assert!((0.0..=320.0).contains(&low));
        }

        #[test]
        fn pools_rise_and_keep_the_sum(values in prop::collection::vec(-5.0..5.0f64, 1..12)) {
            let risen = monotone(&values);
            prop_assert!(risen.is_sorted());
            prop_assert!((risen.iter().sum::<f64>() - values.iter().sum::<f64>()).abs() < 1e-9);
            prop_assert_eq!(monotone(&risen), risen);
        }
    }

    /// 300 comparisons of 50 trials each. The score is worth 100 records on the curve that is linear in log n
    /// between its sizes n.
    ///
    /// If the coverage probability of the intervals is 95 %, then 267 to 299 of them cover 100 records,
    /// except in fewer than one run in a thousand.
    #[test]
    fn intervals_cover_what_is_true() {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let share = (100f64 / 80.0).log2();
        let mean = truth(80.0) + share * (truth(160.0) - truth(80.0));
        let covered = (0..300)
            .filter(|_| {
                let curve = curve(0.03, 50, &mut rng);
                let worth = curve.worth(&scores_of(mean, 0.03, 50, &mut rng)).unwrap();
                worth.lower <= 100.0 && 100.0 <= worth.upper && worth.lower < worth.upper
            })
            .count();
        assert!((267..=299).contains(&covered), "{covered}");
    }

    /// Fisher information of a binary parameter before and after a random channel whose rows for the two
    /// inputs differ by a factor of at most e^ε.
    #[test]
    fn no_channel_leaves_more_information_than_the_theorem_says() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        for epsilon in [0.1f64, 0.5, 1.0, 3.0] {
            let mut largest: f64 = 0.0;
            for _ in 0..20_000 {
                let p: f64 = rng.gen_range(0.02..0.98);
                // Pairs of outputs with opposite privacy losses, and one output without information.
                let pairs: Vec<(f64, f64)> = (0..rng.gen_range(1..4))
                    .map(|_| (rng.r#gen(), rng.gen_range(-epsilon..=epsilon)))
                    .collect();
                let nothing: f64 = rng.gen_range(0.0..0.5);
                let cells = pairs.iter().flat_map(|(weight, loss)| {
                    let [low, high] = [weight * (-loss / 2.0).exp(), weight * (loss / 2.0).exp()];
                    [(low, high), (high, low)]
                });
                let cells: Vec<(f64, f64)> = cells.chain([(nothing, nothing)]).collect();
                let sum: f64 = cells.iter().map(|(a, _)| a).sum();
                let distributions = cells.iter().map(|(a, b)| (a / sum, b / sum));
                let after: f64 = distributions.map(|(a, b)| (b - a).powi(2) / (p * b + (1.0 - p) * a)).sum();
                largest = largest.max(after * p * (1.0 - p));
            }
            let bound = at_most(1, epsilon);
            assert!(largest <= bound * (1.0 + 1e-9), "{epsilon}: {largest} and {bound}");
            assert!(largest > 0.9 * bound, "{epsilon}: {largest} and {bound}");
        }
    }
}
