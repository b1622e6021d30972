//! Metrics of predictions on held-out test records, of an adversary's results, and of the distance of a
//! released table.

use super::prediction::{Predicted, auc, mean};
use ndarray::Array1;
use scumble_core::{Target, TargetDomain, nearest_name};
use scumble_datasets::DataSet;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// Metric of predicted classes or numbers, of an adversary's results, or of a released table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
#[non_exhaustive]
pub enum Metric {
    /// Share of right predictions.
    Accuracy,
    /// Mean recall over the classes.
    BalancedAccuracy,
    /// Mean over the classes of F₁, the harmonic mean of precision and recall.
    MacroF1,
    /// Area under the ROC curve of a class against all other classes, as the mean over the classes.
    ///
    /// The area is the probability that a record of the class scores higher for this class than a record
    /// outside it; a tie counts half. The value is NaN if a model has no class scores. It is also NaN if the
    /// release has a key that decodes predictions, and decoding changes at least one of them.
    Auc,
    /// Root of the mean squared error, in the target's unit.
    Rmse,
    /// Mean absolute error, in the target's unit.
    Mae,
    /// R², the explained share of the test targets' variance. It is below zero if the mean of the test
    /// targets predicts better than the model does.
    R2,
    /// Reconstruction R²: the share of the features' variance that an adversary explains for records that it
    /// does not know ([`Learned::recovered`](scumble_adversary::Learned)). If released rows mix these records
    /// with public ones, the adversary knows the public parts
    /// ([`mixtures_recovered`](scumble_adversary::mixtures_recovered)).
    Recovered,
    /// Distinguishing advantage of an adversary that decides which of two records a released row belongs to
    /// ([`Learned::advantage`](scumble_adversary::Learned)).
    Advantage,
    /// Audited lower bound on the distinguishing advantage between the worst pair of all possible records
    /// ([`Finding::advantage`](scumble_adversary::Finding::advantage)). The audit runs once for all trials.
    ///
    /// The value is NaN without a claim of local differential privacy of whole records, and for a claim with
    /// a δ and no privacy profile.
    Audited,
    /// Normalised MSE of the release: its mean squared error as an unbiased estimate of the features, divided
    /// by the variance of the features.
    ///
    /// A value above 1 means that the release estimates the features worse than their mean does. The value is
    /// NaN if the release is no unbiased estimate of the features.
    UnbiasedError,
    /// Membership advantage of an adversary that infers whether a record was used. It knows all other
    /// records, and the noisy statistics of a curator's release
    /// ([`membership`](scumble_adversary::membership())).
    ///
    /// For a release from a random half of the records, the adversary knows all records, and infers whether a
    /// record is in this half. The value is NaN if the mechanism has no noisy statistics.
    Membership,
    /// Total variation distance between the distributions of one column in the released table and in the
    /// training records. It is the mean over all columns and the target.
    ///
    /// Numbers are counted in 16 bins of equal width between their public bounds. The value is NaN if the
    /// release has other columns than the training records.
    OneWayDistance,
    /// Total variation distance between the joint distributions of two columns in the released table and in
    /// the training records. It is the mean over all pairs of columns, or over 1,000 random pairs if there
    /// are more than 45 columns, including the target.
    TwoWayDistance,
    /// Mean absolute difference between the answers of the released table and of the training records to
    /// 1,000 random queries. Each query asks for the share of records that meet two or three conditions.
    WorkloadError,
}

/// Object that a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Classes that a model predicts.
    Classes,
    /// Numbers that a model predicts.
    Numbers,
    /// Results of an adversary that knows some records, and reconstructs the others.
    Acquaintance,
    /// Inferences of whether a record was used, by an adversary that knows all other records.
    Membership,
    /// Audited lower bound.
    Audit,
    /// Released table.
    Table,
}

/// Largest share of the most frequent class at which accuracy is the default metric. Above it, the
/// majority-class baseline has a high accuracy, and balanced accuracy is the default.
const UNEQUAL: f64 = 2.0 / 3.0;

/// Name, title and subject of each metric, in the order of the enum.
const TABLE: [(Metric, &str, &str, Subject); 15] = {
    use Metric::*;
    [
        (Accuracy, "accuracy", "accuracy (%)", Subject::Classes),
        (BalancedAccuracy, "balanced-accuracy", "balanced accuracy (%)", Subject::Classes),
        (MacroF1, "macro-f1", "macro F₁ (%)", Subject::Classes),
        (Auc, "auc", "area under the ROC curve (%)", Subject::Classes),
        (Rmse, "rmse", "root mean squared error", Subject::Numbers),
        (Mae, "mae", "mean absolute error", Subject::Numbers),
        (R2, "r2", "R²", Subject::Numbers),
        (Recovered, "recovered", "reconstruction R² (%)", Subject::Acquaintance),
        (Advantage, "advantage", "distinguishing advantage (%)", Subject::Acquaintance),
        (Audited, "audited", "audited distinguishing advantage (%)", Subject::Audit),
        (UnbiasedError, "unbiased-error", "normalised MSE of the release", Subject::Acquaintance),
        (Membership, "membership", "membership advantage (%)", Subject::Membership),
        (OneWayDistance, "one-way-distance", "total variation distance of one column (%)", Subject::Table),
        (TwoWayDistance, "two-way-distance", "total variation distance of two columns (%)", Subject::Table),
        (WorkloadError, "workload-error", "error of random queries (% of the records)", Subject::Table),
    ]
};

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 15] = {
        let mut all = [Self::Accuracy; 15];
        let mut at = 0;
        while at < all.len() {
            all[at] = TABLE[at].0;
            assert!(all[at] as usize == at, "the table is not in the order of the enum");
            at += 1;
        }
        all
    };

    /// Name of the metric in settings.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Title in tables and charts. It includes `%` if the metric is displayed in per cent.
    pub fn title(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// Returns true if a smaller value is better.
    pub fn less_is_better(self) -> bool {
        matches!(self, Self::Rmse | Self::Mae)
            || (self.is_of_adversary() && self != Self::UnbiasedError)
            || self.is_of_table()
    }

    /// Object that the metric measures.
    pub(super) fn subject(self) -> Subject {
        TABLE[self as usize].3
    }

    /// Returns true for a metric of a model's predictions.
    pub fn is_of_model(self) -> bool {
        matches!(self.subject(), Subject::Classes | Subject::Numbers)
    }

    /// Returns true for a metric of an adversary's results.
    pub fn is_of_adversary(self) -> bool {
        matches!(self.subject(), Subject::Acquaintance | Subject::Membership | Subject::Audit)
    }

    /// Returns true for the audited lower bound of a design, which does not depend on the records.
    pub fn is_of_audit(self) -> bool {
        self.subject() == Subject::Audit
    }

    /// Returns true for a metric of the released table, which does not depend on a model.
    pub fn is_of_table(self) -> bool {
        self.subject() == Subject::Table
    }

    /// Metrics that measure the object `subject`.
    pub(super) fn for_subject(subject: Subject) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |metric| metric.subject() == subject)
    }

    /// Order of two scores: the better one first, NaN last.
    pub fn best_first(self, a: f64, b: f64) -> Ordering {
        match (a.is_nan(), b.is_nan()) {
            (false, false) if self.less_is_better() => a.total_cmp(&b),
            (false, false) => b.total_cmp(&a),
            (a, b) => a.cmp(&b),
        }
    }

    /// Returns true if the metric is displayed in per cent.
    pub fn is_share(self) -> bool {
        match self.subject() {
            Subject::Numbers => false,
            Subject::Acquaintance => self != Self::UnbiasedError,
            _ => true,
        }
    }

    /// Returns true if the metric applies to this kind of target. Metrics of adversaries and tables apply to
    /// every kind.
    pub fn fits(self, target: &TargetDomain) -> bool {
        match self.subject() {
            Subject::Classes => matches!(target, TargetDomain::Class { .. }),
            Subject::Numbers => !matches!(target, TargetDomain::Class { .. }),
            _ => true,
        }
    }

    /// Default metric of a model: root mean squared error for a number, and accuracy for a class.
    ///
    /// The default is balanced accuracy if more than two thirds of the records are of one class.
    pub fn default_for(data: &DataSet) -> Self {
        match data.table.target() {
            Target::Class(classes) if largest_share(classes) > UNEQUAL => Self::BalancedAccuracy,
            Target::Class(_) => Self::Accuracy,
            _ => Self::Rmse,
        }
    }

    /// Metrics in `asked`. If none of them scores a model's predictions, the default metric of models comes
    /// first.
    pub fn with_default(asked: &[Self], data: &DataSet) -> Vec<Self> {
        let missing = (!asked.iter().any(|metric| metric.is_of_model())).then(|| Self::default_for(data));
        missing.into_iter().chain(asked.iter().copied()).collect()
    }

    /// Metrics that apply to this kind of target.
    pub fn fitting(target: &TargetDomain) -> impl Iterator<Item = Self> + '_ {
        Self::ALL.into_iter().filter(|metric| metric.fits(target))
    }

    /// Text of a value for people: in per cent, or in the target's unit.
    pub fn shown(self, value: f64) -> String {
        match self {
            _ if value.is_nan() => "–".into(),
            Self::WorkloadError => format!("{:.2}", 100.0 * value),
            // A value that is rounded to zero has no sign.
            _ if self.is_share() => format!("{:.1}", 100.0 * value).replace("-0.0", "0.0"),
            Self::UnbiasedError if value >= 100.0 => format!("{value:.0}"),
            Self::R2 | Self::UnbiasedError if value.abs() < 1e3 => format!("{value:.3}"),
            _ if value == 0.0 || (1e-3..1e9).contains(&value.abs()) => format!("{value:.4}"),
            _ => format!("{value:.3e}"),
        }
    }

    /// Text of a difference of two scores, in percentage points if the scores are in per cent.
    pub fn shown_difference(self, value: f64) -> String {
        let unit = if self.is_share() { " points" } else { "" };
        format!("{}{unit}", self.shown(value))
    }

    /// Score of `prediction` against `truth`, both for the same records. `width` is the difference of a
    /// numeric target's bounds, which converts an error of encoded targets to the target's unit. The result
    /// is `None` if `prediction` and `truth` have different kinds of target, or if the metric does not apply
    /// to this kind.
    pub(super) fn score(self, prediction: &Predicted, truth: &Target, width: f64) -> Option<f64> {
        match (&prediction.target, truth) {
            (Target::Class(predicted), Target::Class(truth)) => match self {
                Self::Accuracy => Some(accuracy(predicted, truth)),
                Self::BalancedAccuracy => Some(balanced_accuracy(predicted, truth)),
                Self::MacroF1 => Some(macro_f1(predicted, truth)),
                Self::Auc => Some(prediction.scores.as_ref().map_or(f64::NAN, |scores| auc(scores, truth))),
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

/// Share of the most frequent class.
fn largest_share(classes: &Array1<usize>) -> f64 {
    let largest = counts(classes, classes).values().map(|class| class.both).max();
    largest.unwrap_or(0) as f64 / classes.len().max(1) as f64
}

fn accuracy(predicted: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let hits = predicted.iter().zip(truth).filter(|(p, t)| p == t).count();
    hits as f64 / truth.len() as f64
}

/// Numbers of records for which a class was predicted, was true, and was both.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) predicted: usize,
    pub(super) true_: usize,
    pub(super) both: usize,
}

pub(super) fn counts(predicted: &Array1<usize>, truth: &Array1<usize>) -> BTreeMap<usize, Counts> {
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

/// Mean recall over the classes that occur in `truth`.
fn balanced_accuracy(predicted: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let counts = counts(predicted, truth);
    let recalls = counts.values().filter(|class| class.true_ > 0);
    mean(recalls.map(|class| class.both as f64 / class.true_ as f64))
}

/// Mean F₁ = 2·both/(predicted + true), with the numbers of [`Counts`], over the classes that occur in
/// `truth` or `predicted`.
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

/// R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)² of predicted values ŷ and true values y with mean ȳ; NaN if all true values
/// are equal.
fn r2(predicted: &Array1<f64>, truth: &Array1<f64>) -> f64 {
    let mean = truth.sum() / truth.len() as f64;
    let squares = |errors: Array1<f64>| errors.mapv(|error| error * error).sum();
    let total = squares(truth - mean);
    if total == 0.0 { f64::NAN } else { 1.0 - squares(truth - predicted) / total }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    /// Class 0 is true three times and predicted right twice. Class 1 is true once and predicted right. Class
    /// 2 is never true and predicted once.
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
        // The true values have mean 4, and squared deviations 9 + 1 + 16.
        assert_abs_diff_eq!(r2(&predicted, &truth), 1.0 - 10.0 / 26.0, epsilon = 1e-12);
        assert!(r2(&predicted, &array![2.0, 2.0, 2.0]).is_nan());
    }

    #[test]
    fn errors_are_in_the_unit_of_the_target_and_shares_have_none() {
        let (predicted, truth) =
            (Predicted::from_target(Target::Real(array![0.5, 0.5])), Target::Real(array![0.25, 0.75]));
        let score = |metric: Metric| metric.score(&predicted, &truth, 80.0);
        assert_eq!([Metric::Rmse, Metric::Mae, Metric::R2].map(score), [Some(20.0), Some(20.0), Some(0.0)]);
        assert_eq!(score(Metric::Accuracy), None);
        assert_eq!(Metric::Accuracy.score(&predicted, &Target::Class(array![0, 1]), 1.0), None);
    }

    #[test]
    fn balanced_accuracy_is_the_default_where_one_class_has_more_than_two_thirds() {
        let wine = DataSet::wine().unwrap();
        assert_eq!(Metric::default_for(&wine), Metric::Accuracy);
        let Target::Class(classes) = wine.table.target() else { panic!("wines have classes") };
        let default_metric = |count: usize| {
            let rows_of = |class: usize| {
                classes.iter().enumerate().filter(move |(_, label)| **label == class).map(|(row, _)| row)
            };
            let rows: Vec<usize> = rows_of(0).take(count).chain(rows_of(1).take(50)).collect();
            Metric::default_for(&wine.with_table("some".into(), wine.table.select(&rows).unwrap()))
        };
        assert_eq!([100, 101].map(default_metric), [Metric::Accuracy, Metric::BalancedAccuracy]);
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
