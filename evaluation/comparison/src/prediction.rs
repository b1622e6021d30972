//! Predictions of a model: targets of records, and scores of classes.

use ndarray::{Array1, Array2, Axis, s};
use scumble_core::{ReleasedModel, Result, Table, Target};
use std::collections::BTreeSet;

/// Predictions of a model for n records.
#[derive(Debug, Clone)]
pub(super) struct Predicted {
    pub(super) target: Target,
    /// Class scores; `None` if the model has none.
    pub(super) scores: Option<ClassScores>,
}

/// Class scores of n records. A larger score favours the class more.
#[derive(Debug, Clone)]
pub(super) struct ClassScores {
    /// Indices of the K classes that the model can predict.
    pub(super) classes: Vec<usize>,
    /// Scores (n records × K classes).
    pub(super) values: Array2<f64>,
}

impl Predicted {
    /// Predictions of a released model for `records`.
    ///
    /// # Errors
    /// Same errors as [`ReleasedModel::predict`].
    pub(super) fn by(model: &dyn ReleasedModel, records: &Table) -> Result<Self> {
        let target = model.predict(records)?;
        let scores = match target {
            Target::Class(_) => {
                let values = model.scores(records)?;
                Some(ClassScores { classes: (0..values.ncols()).collect(), values })
            }
            _ => None,
        };
        Ok(Self { target, scores })
    }

    /// Predictions without scores.
    pub(super) fn from_target(target: Target) -> Self {
        Self { target, scores: None }
    }

    /// Joins the predictions of `parts`. Each part has the indices of its records in the result, and the
    /// predictions for them. If all parts have class scores, the result has scores of every class that any
    /// part scores, with the score 0 for a class that the record's part does not score.
    pub(super) fn joined(parts: &[(Vec<usize>, Self)]) -> Self {
        let records = parts.iter().map(|(rows, _)| rows.len()).sum();
        let classes: BTreeSet<usize> = parts
            .iter()
            .filter_map(|(_, prediction)| prediction.scores.as_ref())
            .flat_map(|scores| scores.classes.iter().copied())
            .collect();
        let classes: Vec<usize> = classes.into_iter().collect();
        let mut values = Array2::zeros((records, classes.len()));
        let mut predicted_classes = Array1::zeros(records);
        let mut numbers = Array1::zeros(records);
        for (rows, prediction) in parts {
            for (at, &row) in rows.iter().enumerate() {
                match &prediction.target {
                    Target::Class(classes) => predicted_classes[row] = classes[at],
                    Target::Real(values) => numbers[row] = values[at],
                    _ => {}
                }
                for (class, column) in classes.iter().zip(0..) {
                    let scores = prediction.scores.as_ref();
                    let class_scores = scores.and_then(|scores| {
                        Some((scores, scores.classes.iter().position(|known| known == class)?))
                    });
                    if let Some((scores, place)) = class_scores {
                        values[[row, column]] = scores.values[[at, place]];
                    }
                }
            }
        }
        let are_numbers = parts.iter().any(|(_, prediction)| matches!(prediction.target, Target::Real(_)));
        let has_scores = parts.iter().all(|(_, prediction)| prediction.scores.is_some());
        Self {
            target: if are_numbers { Target::Real(numbers) } else { Target::Class(predicted_classes) },
            scores: has_scores.then_some(ClassScores { classes, values }),
        }
    }

    /// Predictions for all records but the first `count`.
    pub(super) fn without_first(&self, count: usize) -> Self {
        let scores = self.scores.as_ref().map(|scores| ClassScores {
            classes: scores.classes.clone(),
            values: scores.values.slice(s![count.min(scores.values.nrows()).., ..]).to_owned(),
        });
        Self { target: without_first(&self.target, count), scores }
    }
}

/// All targets but the first `count`.
fn without_first(targets: &Target, count: usize) -> Target {
    match targets {
        Target::None => Target::None,
        Target::Class(classes) => Target::Class(classes.iter().skip(count).copied().collect()),
        Target::Real(values) => Target::Real(values.iter().skip(count).copied().collect()),
        Target::Vector(values) => {
            Target::Vector(values.select(Axis(0), &(count..values.nrows()).collect::<Vec<_>>()))
        }
    }
}

impl ClassScores {
    /// Equal scores for all records, for a model whose training records have only the class `class`.
    pub(super) fn for_one_class(class: usize, records: usize) -> Self {
        Self { classes: vec![class], values: Array2::zeros((records, 1)) }
    }

    /// Scores of one class; zero for all records if the model does not know the class.
    pub(super) fn for_class(&self, class: usize) -> Array1<f64> {
        match self.classes.iter().position(|other| *other == class) {
            Some(at) => self.values.column(at).to_owned(),
            None => Array1::zeros(self.values.nrows()),
        }
    }
}

/// Mean of the values; NaN if there are no values.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean area under the ROC curve over all classes that occur in `truth`, each against the rest.
///
/// If the scores of two classes differ only in sign, the areas of both classes are equal. The result is NaN
/// if only one class occurs, or if a score is NaN.
pub(super) fn auc(scores: &ClassScores, truth: &Array1<usize>) -> f64 {
    let classes: BTreeSet<usize> = truth.iter().copied().collect();
    match classes.len() {
        0 | 1 => f64::NAN,
        _ => mean(classes.into_iter().map(|class| {
            area(&scores.for_class(class), &truth.iter().map(|&label| label == class).collect::<Vec<bool>>())
        })),
    }
}

/// Probability that a random record of a class has a larger score than a random other record; a tie counts
/// half (Mann and Whitney 1947). `within` marks the records of the class.
fn area(scores: &Array1<f64>, within: &[bool]) -> f64 {
    let members = within.iter().filter(|within| **within).count() as f64;
    let all_pairs = members * (within.len() as f64 - members);
    // Every pair is counted for both of its records.
    pairs_in_order(scores, within).map_or(f64::NAN, |pairs| pairs.iter().sum::<f64>() / (2.0 * all_pairs))
}

/// Number of pairs in order that contain a record, for each record. A pair has a record of the class, which
/// `within` marks, and a record outside the class. It is in order if the record of the class has the larger
/// score, and a tie counts half. The result is `None` if a score is NaN.
pub(super) fn pairs_in_order(scores: &Array1<f64>, within: &[bool]) -> Option<Vec<f64>> {
    if scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let mut ranked: Vec<usize> = (0..within.len()).collect();
    ranked.sort_by(|&one, &other| scores[one].total_cmp(&scores[other]));
    let members = within.iter().filter(|within| **within).count() as f64;
    let mut pairs = vec![0.0; within.len()];
    let (mut members_below, mut others_below) = (0.0, 0.0);
    for tied in ranked.chunk_by(|&one, &other| scores[one] == scores[other]) {
        let tied_members = tied.iter().filter(|&&record| within[record]).count() as f64;
        let tied_others = tied.len() as f64 - tied_members;
        for &record in tied {
            pairs[record] = match within[record] {
                true => others_below + 0.5 * tied_others,
                false => members - members_below - 0.5 * tied_members,
            };
        }
        members_below += tied_members;
        others_below += tied_others;
    }
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    fn two_classes(scores: &[f64]) -> ClassScores {
        let values = Array2::from_shape_fn((scores.len(), 2), |(row, class)| match class {
            0 => -scores[row],
            _ => scores[row],
        });
        ClassScores { classes: vec![0, 1], values }
    }

    /// A pair has one record of the class and one other record. Of 2 × 3 pairs, four are in order, one is a
    /// tie, and one is in the reverse order.
    #[test]
    fn the_area_of_two_classes_is_the_share_of_pairs_in_order() {
        let truth = array![1, 1, 0, 0, 0];
        let scores = two_classes(&[0.9, 0.4, 0.1, 0.4, 0.7]);
        assert_abs_diff_eq!(auc(&scores, &truth), 4.5 / 6.0, epsilon = 1e-12);
        assert_eq!(auc(&two_classes(&[2.0, 1.0, 0.0, 0.0, 0.0]), &truth), 1.0);
        assert_eq!(auc(&two_classes(&[0.0, 0.0, 1.0, 1.0, 1.0]), &truth), 0.0);
        assert_eq!(auc(&two_classes(&[3.0; 5]), &truth), 0.5);
        assert_eq!(auc(&two_classes(&[-0.0, 0.0, 0.0, -0.0, 0.0]), &truth), 0.5);
    }

    /// The record of class 0 has a larger score for class 0 than both other records. The record of class 1
    /// has a larger score for class 1 than one of the two other records. The model has no scores for class 2.
    #[test]
    fn the_area_of_more_classes_is_the_mean_of_each_against_the_rest() {
        let truth = array![0, 1, 2];
        let values = array![[0.9, 0.1], [0.2, 0.3], [0.1, 0.6]];
        let scores = ClassScores { classes: vec![0, 1], values };
        assert_abs_diff_eq!(auc(&scores, &truth), (1.0 + 0.5 + 0.5) / 3.0, epsilon = 1e-12);
    }

    #[test]
    fn there_is_no_area_where_one_class_occurs_or_a_score_is_none() {
        assert!(auc(&two_classes(&[0.1, 0.2]), &array![1, 1]).is_nan());
        assert!(auc(&two_classes(&[0.1, f64::NAN]), &array![0, 1]).is_nan());
    }

    #[test]
    fn targets_and_scores_lose_the_same_records() {
        let prediction =
            Predicted { target: Target::Class(array![1, 0, 1]), scores: Some(two_classes(&[1.0, 2.0, 3.0])) };
        let rest = prediction.without_first(2);
        assert_eq!(rest.target, Target::Class(array![1]));
        assert_eq!(rest.scores.unwrap().values, array![[-3.0, 3.0]]);
    }
}
