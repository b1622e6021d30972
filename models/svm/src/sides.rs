//! Assignment of classes to the positive and negative sides of machines. Two classes have one machine; more
//! classes have one machine each, against all other classes.

use crate::Result;
use ndarray::{Array1, Array2, Axis};
use scumble_linear::Error;
use std::collections::BTreeSet;

/// Classes that occur, two or more, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Sides(Vec<usize>);

impl Sides {
    /// Collects the distinct `classes`.
    ///
    /// # Errors
    /// [`Error::OneClass`](scumble_linear::Error::OneClass) for fewer than two classes.
    pub(crate) fn from_classes(classes: &Array1<usize>) -> Result<Self> {
        let distinct: Vec<usize> = classes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        match distinct.len() {
            0 | 1 => Err(Error::OneClass { records: classes.len() }.into()),
            _ => Ok(Self(distinct)),
        }
    }

    /// Returns the class on the positive side of each machine.
    pub(crate) fn positive(&self) -> &[usize] {
        match &self.0[..] {
            [_, second] => std::slice::from_ref(second),
            all => all,
        }
    }

    /// Returns all classes, ascending.
    pub(crate) fn all(&self) -> &[usize] {
        &self.0
    }

    /// Computes the score of each class (n × K) from the scores of the machines (n × machines). With two
    /// classes, the second gets the machine's score and the first its negative.
    pub(crate) fn class_scores(&self, scores: Array2<f64>) -> Array2<f64> {
        match self.0.len() {
            2 => Array2::from_shape_fn((scores.nrows(), 2), |(row, class)| match class {
                0 => -scores[[row, 0]],
                _ => scores[[row, 0]],
            }),
            _ => scores,
        }
    }

    /// Returns the class of each row of `scores` (n × machines). With two classes, the sign of the machine's
    /// score determines the class. With more classes, it is the class with the largest score.
    pub(crate) fn decide(&self, scores: &Array2<f64>) -> Array1<usize> {
        scores.map_axis(Axis(1), |row| match &self.0[..] {
            [first, second] => {
                if row[0] > 0.0 {
                    *second
                } else {
                    *first
                }
            }
            all => all[(1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best })],
        })
    }
}

/// Implements classes, decision values and predictions for a model with `sides` and `scores`.
macro_rules! decides {
    ($model:ident) => {
        impl $model {
            /// Classes of the machine (K), ascending.
            pub fn classes(&self) -> &[usize] {
                self.sides.all()
            }

            /// Decision values of each record (n × K), one per class: a larger value favours the class more.
            pub fn decision_values(&self, records: &Array2<f64>) -> Array2<f64> {
                self.sides.class_scores(self.scores(records))
            }
        }

        impl linfa::traits::PredictInplace<Array2<f64>, Array1<usize>> for $model {
            /// Predicts the class of each record (n × d).
            ///
            /// Panics if `records` has another number of columns than the training records, as usual in
            /// linfa.
            fn predict_inplace(&self, records: &Array2<f64>, classes: &mut Array1<usize>) {
                *classes = self.sides.decide(&self.scores(records));
            }

            fn default_target(&self, records: &Array2<f64>) -> Array1<usize> {
                Array1::zeros(records.nrows())
            }
        }
    };
}
pub(crate) use decides;
