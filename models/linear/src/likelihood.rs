//! Likelihood of labels under a linear layer, whose softmax gives class probabilities, and the search for the
//! maximum of the likelihood.

use crate::layer::{Layer, to_probabilities};
use crate::{Error, Result, Standardizer};
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use faer::{Accum, MatMut, MatRef};
use ndarray::{Array1, Array2, ArrayView2, Axis, CowArray, Ix2, concatenate, s};
use rayon::prelude::*;
use scumble_linalg::{multiply, vectorised};
use std::cell::RefCell;

/// Objective −Σ log P(ỹᵢ | xᵢ) + ½·`l2_penalty`·‖W‖² over weights W (d features × K classes) of standardised
/// features and unpenalised intercepts, for records xᵢ with labels ỹᵢ. The labels are the true classes, or
/// flipped classes.
///
/// The records are standardised one block at a time. One pass over the records gives both the objective and
/// its gradient.
pub(crate) struct Likelihood<'a> {
    /// Records (n × d) before standardisation, in row-major order.
    records: CowArray<'a, f64, Ix2>,
    /// Offset subtracted from each column, and factor that multiplies the difference (d values each).
    offsets: Vec<f64>,
    scales: Vec<f64>,
    /// Labels (n), from 0 to K − 1.
    labels: &'a [usize],
    /// Number of classes, K.
    classes: usize,
    /// Flip probabilities (K × K), if labels were flipped: \[y, ỹ\] is the probability that class y is seen
    /// as ỹ.
    flip: Option<&'a Array2<f64>>,
    l2_penalty: f64,
}

/// Mean loss over the records, with its gradient. With the loss summed over n records, the first descent step
/// would be n times too long.
#[derive(Debug, Clone)]
struct Slope {
    loss: f64,
    /// Gradient ((d + 1) × K), in row-major order, the intercepts last.
    gradient: Array1<f64>,
}

/// Number of records standardised and multiplied at once. Such a block stays in a core's cache between the
/// product for the scores and the product for the gradient.
const BLOCK: usize = 128;

/// Largest number of parts into which a sum over records is divided. The division does not depend on the
/// number of threads, so the sum does not depend on it either.
const MOST_PARTS: usize = 16;

impl<'a> Likelihood<'a> {
    /// Creates the objective for `records` (n × d) and `labels` (n), which are indices below `classes`.
    pub(crate) fn new(
        records: ArrayView2<'a, f64>,
        standardizer: &Standardizer,
        labels: &'a [usize],
        classes: usize,
        l2_penalty: f64,
    ) -> Self {
        let records = match records.is_standard_layout() {
            true => records.into(),
            false => records.as_standard_layout().into_owned().into(),
        };
        let [offsets, scales] = [standardizer.offsets(), standardizer.scales()].map(Array1::to_vec);
        Self { records, offsets, scales, labels, classes, flip: None, l2_penalty }
    }

    /// Returns the same objective for labels that were flipped by the matrix `flip` (K × K).
    pub(crate) fn flipped_by(self, flip: &'a Array2<f64>) -> Self {
        Self { flip: Some(flip), ..self }
    }

    /// Searches for the maximum of the likelihood, from `start` (a layer of K classes). The search stops
    /// where the gradient's norm is at most `gradient_tolerance`, or after `max_iterations` iterations.
    ///
    /// # Errors
    /// [`Error::Search`] if the search fails or is interrupted.
    pub(crate) fn climb(&self, start: Layer, max_iterations: u64, gradient_tolerance: f64) -> Result<Layer> {
        let failed = |error: argmin::core::Error| Error::Search(error.to_string());
        let (width, classes) = start.weights.dim();
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10)
            .with_tolerance_grad(gradient_tolerance / self.labels.len() as f64)
            .map_err(failed)?;
        let from = concatenate![Axis(0), start.weights, start.intercepts.clone().insert_axis(Axis(0))];
        let from = Array1::from_iter(from);
        let run = Executor::new(Remembered { likelihood: self, last: RefCell::default() }, solver)
            .configure(|state| state.param(from).max_iters(max_iterations))
            .timer(false)
            .run()
            .map_err(failed)?;
        let found = run.state.get_best_param().ok_or_else(|| Error::Search("it found nothing".into()))?;
        let found = found.to_shape((width + 1, classes)).map_err(|error| Error::Search(error.to_string()))?;
        Ok(Layer {
            weights: found.slice(s![..width, ..]).to_owned(),
            intercepts: found.row(width).to_owned(),
            classes: start.classes,
        })
    }

    /// Computes the mean loss and its gradient at the weights and intercepts `at` ((d + 1) × K, in row-major
    /// order).
    fn slope(&self, at: &Array1<f64>) -> Slope {
        let n = self.labels.len();
        let rows = n.div_ceil((n / (4 * BLOCK)).clamp(1, MOST_PARTS)).max(1);
        let parts: Vec<(f64, Vec<f64>)> = (0..n.div_ceil(rows))
            .into_par_iter()
            .map(|part| self.sum(part * rows..((part + 1) * rows).min(n), at))
            .collect();
        let mut slope = Slope { loss: 0.0, gradient: Array1::zeros(at.len()) };
        for (loss, gradient) in parts {
            slope.loss += loss;
            slope.gradient.iter_mut().zip(gradient).for_each(|(sum, part)| *sum += part);
        }
        let weights = at.slice(s![..at.len() - self.classes]);
        slope.loss = (slope.loss + self.l2_penalty * weights.dot(&weights) / 2.0) / n as f64;
        slope.gradient.slice_mut(s![..weights.len()]).scaled_add(self.l2_penalty, &weights);
        slope.gradient /= n as f64;
        slope
    }

    /// Computes the sum of the losses of the records in `rows`, and its gradient, at the weights and
    /// intercepts `at`.
    fn sum(&self, rows: std::ops::Range<usize>, at: &Array1<f64>) -> (f64, Vec<f64>) {
        let (width, classes) = (self.records.ncols() + 1, self.classes);
        let at = at.to_vec();
        let layer = MatRef::from_row_major_slice(&at, width, classes);
        let (mut loss, mut gradient) = (0.0, vec![0.0; at.len()]);
        let mut block = vec![1.0; BLOCK * width];
        let mut scores = vec![0.0; BLOCK * classes];
        for start in rows.clone().step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(rows.end);
            let count = rows.len();
            let block_rows = self.records.slice(s![rows.clone(), ..]);
            let records = block_rows
                .to_slice()
                .expect("rows that lie one after the other")
                .chunks_exact((width - 1).max(1));
            vectorised(|| {
                for (record, place) in records.zip(block.chunks_exact_mut(width)) {
                    let scales = self.offsets.iter().zip(&self.scales);
                    for ((place, x), (offset, scale)) in place.iter_mut().zip(record).zip(scales) {
                        *place = (x - offset) * scale;
                    }
                }
            });
            let (block, scores) = (&block[..count * width], &mut scores[..count * classes]);
            let records = MatRef::from_row_major_slice(block, count, width);
            multiply(
                MatMut::from_row_major_slice_mut(scores, count, classes),
                Accum::Replace,
                records,
                layer,
            );
            for (row, scores) in rows.zip(scores.chunks_exact_mut(classes)) {
                loss += self.to_residuals(self.labels[row], scores);
            }
            multiply(
                MatMut::from_row_major_slice_mut(&mut gradient, width, classes),
                Accum::Add,
                records.transpose(),
                MatRef::from_row_major_slice(scores, count, classes),
            );
        }
        (loss, gradient)
    }

    /// Replaces the K scores of a record by the derivatives of its loss with respect to them, and returns the
    /// loss. The derivative for class y is P(y | x) − P(y | x, ỹ), where ỹ is the observed `label`.
    fn to_residuals(&self, label: usize, scores: &mut [f64]) -> f64 {
        let label_score = scores[label];
        let ln_sum = to_probabilities(scores.into());
        match self.flip {
            None => {
                scores[label] -= 1.0;
                ln_sum - label_score
            }
            Some(flip) => {
                let chances = flip.column(label);
                let seen: f64 = scores.iter().zip(chances).map(|(p, chance)| p * chance).sum();
                let seen = seen.max(f64::MIN_POSITIVE);
                scores.iter_mut().zip(chances).for_each(|(p, chance)| *p -= *p * chance / seen);
                -seen.ln()
            }
        }
    }
}

/// Objective for the solvers of the crate argmin that keeps the last point's result. Computing the objective
/// and its gradient at one point then takes a single pass over the records.
struct Remembered<'a, 'b> {
    likelihood: &'a Likelihood<'b>,
    last: RefCell<Option<(Array1<f64>, Slope)>>,
}

impl Remembered<'_, '_> {
    fn at(&self, point: &Array1<f64>) -> Slope {
        let mut last = self.last.borrow_mut();
        if let Some((cached, slope)) = &*last
            && cached == point
        {
            return slope.clone();
        }
        let slope = self.likelihood.slope(point);
        *last = Some((point.clone(), slope.clone()));
        slope
    }
}

impl CostFunction for Remembered<'_, '_> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, point: &Array1<f64>) -> std::result::Result<f64, argmin::core::Error> {
        scumble_interrupt::check()?;
        Ok(self.at(point).loss)
    }
}

impl Gradient for Remembered<'_, '_> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    fn gradient(&self, point: &Array1<f64>) -> std::result::Result<Array1<f64>, argmin::core::Error> {
        Ok(self.at(point).gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let flip = Array2::from_shape_fn((3, 3), |(y, seen)| if y == seen { 0.6 } else { 0.2 });
        // More than one block, with a last block that is not full.
        let records = Array2::from_shape_fn((700, 2), |(row, at)| ((row * 31 + at * 17) as f64).sin());
        let labels: Vec<usize> = (0..700).map(|row| row % 3).collect();
        let standardizer = Standardizer::fit(&records).unwrap();
        let at = Array1::from_shape_fn(9, |i| (i as f64 * 0.37).sin());
        let plain = || Likelihood::new(records.view(), &standardizer, &labels, 3, 0.7);
        for likelihood in [plain(), plain().flipped_by(&flip)] {
            let gradient = likelihood.slope(&at).gradient;
            for i in 0..9 {
                let loss = |by: f64| {
                    let mut moved = at.clone();
                    moved[i] += by;
                    likelihood.slope(&moved).loss
                };
                let slope = (loss(1e-5) - loss(-1e-5)) / 2e-5;
                assert!((slope - gradient[i]).abs() < 1e-9, "{i}: {slope} and {}", gradient[i]);
            }
        }
    }
}
