//! Linear scores of classes, and the class probabilities that follow from the scores.

use ndarray::{Array1, Array2, ArrayBase, ArrayViewMut1, Data, Ix2};

/// Linear layer with one score per class.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// Weights (d features × K classes).
    pub(crate) weights: Array2<f64>,
    /// Intercepts (one per class).
    pub(crate) intercepts: Array1<f64>,
    /// Classes (K), ascending.
    pub(crate) classes: Vec<usize>,
}

impl Layer {
    pub(crate) fn zeros(width: usize, classes: Vec<usize>) -> Self {
        Self {
            weights: Array2::zeros((width, classes.len())),
            intercepts: Array1::zeros(classes.len()),
            classes,
        }
    }

    /// Extends the layer to the classes 0 to `classes` − 1. Classes that it lacks get zero weights and
    /// intercepts.
    pub(crate) fn among(&self, classes: usize) -> Self {
        let mut all = Self::zeros(self.weights.nrows(), (0..classes).collect());
        for (at, &class) in self.classes.iter().enumerate() {
            all.weights.column_mut(class).assign(&self.weights.column(at));
            all.intercepts[class] = self.intercepts[at];
        }
        all
    }

    /// Computes P(class | record) (n × K) for standardised `records` (n × d).
    pub(crate) fn probabilities(&self, records: &ArrayBase<impl Data<Elem = f64>, Ix2>) -> Array2<f64> {
        let mut scores = records.dot(&self.weights) + &self.intercepts;
        for row in scores.outer_iter_mut() {
            to_probabilities(row);
        }
        scores
    }
}

/// Replaces scores by their softmax, and returns the logarithm of the sum of their exponentials.
pub(crate) fn to_probabilities(mut scores: ArrayViewMut1<f64>) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for score in &mut scores {
        *score = (*score - largest).exp();
        sum += *score;
    }
    scores /= sum;
    largest + sum.ln()
}
