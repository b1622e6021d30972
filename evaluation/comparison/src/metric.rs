//! Metrics: what a prediction on clean test records is worth, and what an adversary learns of those that were released.

use ndarray::Array1;
use scumble_core::{Target, TargetDomain, nearest_name};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// A metric, of classes or of numbers that a model predicts, or of what an adversary learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
#[non_exhaustive]
pub enum Metric {
    /// The share of right answers.
    Accuracy,
    /// The mean over the classes of the share that is recognised.
    BalancedAccuracy,
    /// The mean over the classes of F₁, the harmonic mean of precision and recall.
    MacroF1,
    /// The root of the mean squared error, in the target's unit.
    Rmse,
    /// The mean absolute error, in the target's unit.
    Mae,
    /// R², the share of the test targets' variance that is explained; below zero where their mean does better.
    R2,
    /// The share of the features' variance that an adversary recovers of records that she does not know
    /// ([`Learned::recovered`](scumble_adversary::Learned)).
    Recovered,
    /// How much better than a coin she tells which of two records a released one was made of
    /// ([`Learned::advantage`](scumble_adversary::Learned)).
    Advantage,
    /// How much better than a coin the audit tells, of all records that there could be, the two apart that are easiest to
    /// ([`Finding::advantage`](scumble_adversary::Finding::advantage)): a lower bound, once for all trials. No number where differential privacy of
    /// whole records is not claimed, or with a δ and no curve.
    Audited,
    /// The mean squared error of the release as an unbiased guess of the features, as a share of their variance: more than 1 where it says
    /// less than their mean does. No number where the release is no such guess.
    UnbiasedError,
}

impl Metric {
    /// All of them; the first that fits a target is its default.
    pub const ALL: [Self; 10] = [
        Self::Accuracy,
        Self::BalancedAccuracy,
        Self::MacroF1,
        Self::Rmse,
        Self::Mae,
        Self::R2,
        Self::Recovered,
        Self::Advantage,
        Self::Audited,
        Self::UnbiasedError,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::MacroF1 => "macro-f1",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
            Self::R2 => "r2",
            Self::Recovered => "recovered",
            Self::Advantage => "advantage",
            Self::Audited => "audited",
            Self::UnbiasedError => "unbiased-error",
        }
    }

    /// What is shown of it, in words, with its unit where it has one of its own.
    pub fn title(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy (%)",
            Self::BalancedAccuracy => "balanced accuracy (%)",
            Self::MacroF1 => "macro F₁ (%)",
            Self::Rmse => "root mean squared error",
            Self::Mae => "mean absolute error",
            Self::R2 => "R²",
            Self::Recovered => "variance recovered (%)",
            Self::Advantage => "advantage in telling records apart (%)",
            Self::Audited => "advantage in telling the two easiest records apart (%)",
            Self::UnbiasedError => "unbiased error (shares of the variance)",
        }
    }

    /// Whether less of it is better.
    pub fn less_is_better(self) -> bool {
        matches!(self, Self::Rmse | Self::Mae | Self::Recovered | Self::Advantage | Self::Audited)
    }

    /// Whether it is of what an adversary learns, and not of what a model predicts.
    pub fn is_of_adversary(self) -> bool {
        self.is_of_audit() || matches!(self, Self::Recovered | Self::Advantage | Self::UnbiasedError)
    }

    /// Whether it is of what an adversary who knows some records learns of the others.
    pub(super) fn is_of_acquaintance(self) -> bool {
        self.is_of_adversary() && !self.is_of_audit()
    }

    /// Whether it is of what the audit shows of a design, whatever the records are.
    pub fn is_of_audit(self) -> bool {
        self == Self::Audited
    }

    /// The better of two scores first; what is no number last.
    pub fn best_first(self, a: f64, b: f64) -> Ordering {
        match (a.is_nan(), b.is_nan()) {
            (false, false) if self.less_is_better() => a.total_cmp(&b),
            (false, false) => b.total_cmp(&a),
            (a, b) => a.cmp(&b),
        }
    }

    /// Whether it is shown in per cent.
    pub fn is_share(self) -> bool {
        self.is_of_classes() || matches!(self, Self::Recovered | Self::Advantage | Self::Audited)
    }

    fn is_of_classes(self) -> bool {
        matches!(self, Self::Accuracy | Self::BalancedAccuracy | Self::MacroF1)
    }

    /// Whether it scores such targets: what an adversary learns, it scores of all.
    pub fn fits(self, target: &TargetDomain) -> bool {
        self.is_of_adversary() || self.is_of_classes() == matches!(target, TargetDomain::Class { .. })
    }

    /// Those that score such targets.
    pub fn fitting(target: &TargetDomain) -> impl Iterator<Item = Self> + '_ {
        Self::ALL.into_iter().filter(|metric| metric.fits(target))
    }

    /// For people: in per cent, or in the target's unit.
    pub fn shown(self, value: f64) -> String {
        match self {
            _ if value.is_nan() => "–".into(),
            // What is rounded to nothing has no sign.
            _ if self.is_share() => format!("{:.1}", 100.0 * value).replace("-0.0", "0.0"),
            Self::UnbiasedError if value >= 100.0 => format!("{value:.0}"),
            Self::R2 | Self::UnbiasedError if value.abs() < 1e3 => format!("{value:.3}"),
            _ if value == 0.0 || (1e-3..1e9).contains(&value.abs()) => format!("{value:.4}"),
            _ => format!("{value:.3e}"),
        }
    }

    /// The score of predictions (n) against the truth (n), where `width` target units are one unit of it. None where it is a
    /// metric of something else, or the two are not of one kind.
    pub(super) fn score(self, predicted: &Target, truth: &Target, width: f64) -> Option<f64> {
        match (predicted, truth) {
            (Target::Class(predicted), Target::Class(truth)) => match self {
                Self::Accuracy => Some(accuracy(predicted, truth)),
                Self::BalancedAccuracy => Some(balanced_accuracy(predicted, truth)),
                Self::MacroF1 => Some(macro_f1(predicted, truth)),
                _ => None,
            },
            (Target::Real(predicted), Target::Real(truth)) => match self {
                Self::Rmse => Some(rmse(predicted, truth) * width),
                Self::Mae => Some(mae(predicted, truth) * width),
                Self::R2 => Some(r2(predicted, truth)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl From<Metric> for &'static str {
    fn from(metric: Metric) -> Self {
        metric.name()
    }
}

impl TryFrom<String> for Metric {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let names = || Self::ALL.into_iter().map(Self::name);
        let found = Self::ALL.into_iter().find(|metric| metric.name() == name);
        found.ok_or_else(|| match nearest_name(&name, names()) {
            Some(nearest) => format!("there is no metric {name:?}; did you mean {nearest:?}?"),
            None => {
                format!("there is no metric {name:?}; there are {}", names().collect::<Vec<_>>().join(", "))
            }
        })
    }
}

fn accuracy(predicted: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let hits = predicted.iter().zip(truth).filter(|(p, t)| p == t).count();
    hits as f64 / truth.len() as f64
}

/// How often a class was predicted, was true, and was both.
#[derive(Default)]
struct Counts {
    predicted: usize,
    true_: usize,
    both: usize,
}

fn counts(predicted: &Array1<usize>, truth: &Array1<usize>) -> BTreeMap<usize, Counts> {
    let mut counts = BTreeMap::<usize, Counts>::new();
    for (&predicted, &truth) in predicted.iter().zip(truth) {
        counts.entry(predicted).or_default().predicted += 1;
        counts.entry(truth).or_default().true_ += 1;
        if predicted == truth {
            counts.entry(truth).or_default().both += 1;
        }
    }
    counts
}

/// The mean recall over the classes that occur among the truths.
fn balanced_accuracy(predicted: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let counts = counts(predicted, truth);
    let recalls = counts.values().filter(|class| class.true_ > 0);
    mean(recalls.map(|class| class.both as f64 / class.true_ as f64))
}

/// The mean F₁ = 2·both/(predicted + true) over the classes that occur among the truths or the predictions.
fn macro_f1(predicted: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let counts = counts(predicted, truth);
    mean(counts.values().map(|class| 2.0 * class.both as f64 / (class.predicted + class.true_) as f64))
}

fn rmse(predicted: &Array1<f64>, truth: &Array1<f64>) -> f64 {
    let squares = (predicted - truth).mapv(|error| error * error);
    (squares.sum() / truth.len() as f64).sqrt()
}

fn mae(predicted: &Array1<f64>, truth: &Array1<f64>) -> f64 {
    (predicted - truth).mapv(f64::abs).sum() / truth.len() as f64
}

/// 1 − Σ(y − ŷ)²/Σ(y − ȳ)²; no number where all truths are equal.
fn r2(predicted: &Array1<f64>, truth: &Array1<f64>) -> f64 {
    let mean = truth.sum() / truth.len() as f64;
    let squares = |errors: Array1<f64>| errors.mapv(|error| error * error).sum();
    let total = squares(truth - mean);
    if total == 0.0 { f64::NAN } else { 1.0 - squares(truth - predicted) / total }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    /// Class 0 is true three times and met twice, 1 once and met, 2 never and predicted once.
    #[test]
    fn metrics_of_classes_are_those_counted_by_hand() {
        let (predicted, truth) = (array![0, 0, 2, 1], array![0, 0, 0, 1]);
        assert_abs_diff_eq!(accuracy(&predicted, &truth), 3.0 / 4.0, epsilon = 1e-12);
        assert_abs_diff_eq!(balanced_accuracy(&predicted, &truth), (2.0 / 3.0 + 1.0) / 2.0, epsilon = 1e-12);
        // F₁ is 2·2/(2 + 3), 2·1/(1 + 1) and 0.
        assert_abs_diff_eq!(macro_f1(&predicted, &truth), (0.8 + 1.0 + 0.0) / 3.0, epsilon = 1e-12);
    }

    #[test]
    fn metrics_of_numbers_are_those_counted_by_hand() {
        let (predicted, truth) = (array![1.0, 2.0, 5.0], array![1.0, 3.0, 8.0]);
        assert_abs_diff_eq!(rmse(&predicted, &truth), (10.0_f64 / 3.0).sqrt(), epsilon = 1e-12);
        assert_abs_diff_eq!(mae(&predicted, &truth), 4.0 / 3.0, epsilon = 1e-12);
        // The truths' mean is 4, and their squared deviations 9 + 1 + 16.
        assert_abs_diff_eq!(r2(&predicted, &truth), 1.0 - 10.0 / 26.0, epsilon = 1e-12);
        assert!(r2(&predicted, &array![2.0, 2.0, 2.0]).is_nan());
    }

    #[test]
    fn errors_are_in_the_unit_of_the_target_and_shares_have_none() {
        let (predicted, truth) = (Target::Real(array![0.5, 0.5]), Target::Real(array![0.25, 0.75]));
        let score = |metric: Metric| metric.score(&predicted, &truth, 80.0);
        assert_eq!([Metric::Rmse, Metric::Mae, Metric::R2].map(score), [Some(20.0), Some(20.0), Some(0.0)]);
        assert_eq!(score(Metric::Accuracy), None);
        assert_eq!(Metric::Accuracy.score(&predicted, &Target::Class(array![0, 1]), 1.0), None);
    }

    #[test]
    fn the_better_score_comes_first_and_what_is_no_number_last() {
        for (metric, best_first) in
            [(Metric::Accuracy, [0.9, 0.2, f64::NAN]), (Metric::Mae, [0.2, 0.9, f64::NAN])]
        {
            let mut scores = [f64::NAN, 0.2, 0.9];
            scores.sort_by(|a, b| metric.best_first(*a, *b));
            assert_eq!(format!("{scores:?}"), format!("{best_first:?}"));
        }
    }

    #[test]
    fn a_metric_is_read_by_its_name_and_a_mistyped_one_gets_the_nearest() {
        for metric in Metric::ALL {
            assert_eq!(Metric::try_from(metric.name().to_owned()), Ok(metric));
        }
        let mistyped = Metric::try_from("acuracy".to_owned()).unwrap_err();
        assert_eq!(mistyped, "there is no metric \"acuracy\"; did you mean \"accuracy\"?");
    }
}
