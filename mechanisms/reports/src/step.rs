//! A step of a model in few directions, by the mean of many people's gradients.

use crate::label_model::{LabelModel, Taught};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use scumble_core::{Error, Result};
use scumble_linalg::{Eigen, solve};
use serde::{Deserialize, Serialize};

/// Shares of the volunteers whose gradients are not clipped: of these that is taken which is expected to gain most.
const NOT_CLIPPED: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Gradients of a record's loss in Z directions, and what their mean says of how far the model should go along each.
///
/// The directions are those in which the loss is curved most, as long as makes the curvature of each 1 (*whitened*): volunteers know the model as well along
/// each, and a unit of noise costs as much.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// K(d + 1) × Z, level by level.
    directions: Array2<f64>,
    /// The norm at which a gradient is clipped.
    clipping_norm: f64,
    /// The variance of how far the model is off along each direction, by volunteers' records alone (Z).
    prior: Vec<f64>,
    /// How the mean of clipped gradients changes by the model's step (Z × Z), were the model's own probabilities those of labels.
    jacobian: Array2<f64>,
    /// The mean of clipped gradients were the model right (Z). Not zero, for clipping takes more of some labels than of others.
    reference: Vec<f64>,
    /// The covariance of the reference (Z × Z): volunteers are a sample.
    mismatch: Array2<f64>,
}

impl Step {
    /// The step of which most is expected, among those of as many directions as `dimensions` says. The variance of a mean of gradients in each direction,
    /// in squares of the clipping norm, is `variance` of their number.
    pub(crate) fn learn(
        plugin: &str,
        taught: &Taught,
        features: ArrayView2<f64>,
        labels: &[usize],
        dimensions: &[usize],
        variance: impl Fn(usize) -> Result<f64>,
    ) -> Result<Self> {
        let failed = || {
            Error::not_applicable(
                plugin,
                "the curvature of volunteers' loss has no directions that were found",
            )
        };
        let found = Eigen::of(&taught.curvature).ok_or_else(failed)?.falling();
        let (vectors, values) = (found.vectors(), found.values());
        let curved = values.iter().take_while(|value| **value > 1e-6 * values[0]).count();
        let n = features.nrows() as f64;
        let standardized = taught.model.standardized(features);
        let probabilities = taught.model.probabilities(&standardized);
        let mut best: Option<(f64, Self)> = None;
        let mut tried = 0;
        for dimensions in dimensions.iter().map(|wanted| (*wanted).min(curved)) {
            if dimensions == 0 || dimensions == tried {
                continue;
            }
            tried = dimensions;
            let mut directions = vectors.slice(s![.., ..dimensions]).to_owned();
            for (mut direction, value) in directions.axis_iter_mut(Axis(1)).zip(values) {
                direction /= value.sqrt();
            }
            let gradients = Gradients {
                directions: &directions,
                standardized: &standardized,
                probabilities: &probabilities,
            };
            let mut norms: Vec<f64> =
                labels.iter().enumerate().map(|(row, &level)| norm(gradients.of(row).row(level))).collect();
            norms.sort_by(f64::total_cmp);
            let variance = variance(dimensions)?;
            for share in NOT_CLIPPED {
                scumble_core::interrupt::check()?;
                let clipping_norm = norms[((share * n) as usize).min(norms.len() - 1)];
                if clipping_norm <= 0.0 {
                    continue;
                }
                let (jacobian, reference, mismatch) = gradients.expected(clipping_norm);
                let prior = values.iter().take(dimensions).map(|h| h / (h * n + taught.precision)).collect();
                let step = Self {
                    directions: directions.clone(),
                    clipping_norm,
                    prior,
                    jacobian,
                    reference,
                    mismatch,
                };
                let gain = step.expected_gain(variance).ok_or_else(failed)?;
                if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                    best = Some((gain, step));
                }
            }
        }
        best.map(|(_, step)| step).ok_or_else(failed)
    }

    /// Z.
    pub(crate) fn dimensions(&self) -> usize {
        self.prior.len()
    }

    /// That it is one of a model of so many coefficients.
    pub(crate) fn check(&self, coefficients: usize) -> Result<()> {
        let z = self.dimensions();
        let values =
            self.directions.iter().chain(&self.jacobian).chain(&self.mismatch).chain(&self.reference);
        let fits = z > 0
            && self.directions.dim() == (coefficients, z)
            && self.jacobian.dim() == (z, z)
            && self.mismatch.dim() == (z, z)
            && self.reference.len() == z
            && self.clipping_norm > 0.0
            && self.clipping_norm < 1e150
            && self.prior.iter().all(|v| *v > 0.0 && v.is_finite())
            && values.into_iter().all(|x| x.is_finite() && x.abs() < 1e150);
        if fits { Ok(()) } else { Err(Error::shape("the step is not one of such a model")) }
    }

    /// The gradient (Z) of a record's loss by the steps, clipped, in clipping norms: of the unit ball.
    pub(crate) fn gradient(
        &self,
        model: &LabelModel,
        features: ArrayView1<f64>,
        label: usize,
    ) -> Array1<f64> {
        let standardized = model.standardized(features.insert_axis(Axis(0)));
        let probabilities = model.probabilities(&standardized);
        let gradients = Gradients {
            directions: &self.directions,
            standardized: &standardized,
            probabilities: &probabilities,
        };
        let gradient = gradients.of(0).row(label).to_owned();
        if gradient.iter().any(|x| !x.is_finite()) {
            // Of a saved model of absurd size: whether there is an error would tell of the record.
            return Array1::zeros(self.dimensions());
        }
        let longest = norm(gradient.view()).max(self.clipping_norm);
        gradient / longest
    }

    /// How far the coefficients (K(d + 1)) should go against the gradient, by the mean of gradients (Z, in clipping norms) and its variance in each direction: the
    /// posterior mean of a normal step, given what is observed of it.
    pub(crate) fn taken(&self, mean: ArrayView1<f64>, variance: f64) -> Option<Array1<f64>> {
        let weighed = solve(&self.covariance(variance), &self.jacobian_by_prior())?;
        let observed = &mean * self.clipping_norm - Array1::from(self.reference.clone());
        Some(self.directions.dot(&weighed.t().dot(&observed)))
    }

    /// By how much the variance of the step shrinks where it is taken, summed over directions.
    fn expected_gain(&self, variance: f64) -> Option<f64> {
        let explained = self.jacobian_by_prior();
        let weighed = solve(&self.covariance(variance), &explained)?;
        Some((&weighed * &explained).sum())
    }

    /// J P.
    fn jacobian_by_prior(&self) -> Array2<f64> {
        &self.jacobian * &Array1::from(self.prior.clone())
    }

    /// The covariance of the mean of gradients: J P Jᵀ, and its noise.
    fn covariance(&self, variance: f64) -> Array2<f64> {
        let noise = Array2::from_diag_elem(self.dimensions(), variance * self.clipping_norm.powi(2));
        self.jacobian_by_prior().dot(&self.jacobian.t()) + &self.mismatch + noise
    }
}

/// Gradients of records (n) in directions.
struct Gradients<'a> {
    directions: &'a Array2<f64>,
    /// n × (d + 1).
    standardized: &'a Array2<f64>,
    /// n × K.
    probabilities: &'a Array2<f64>,
}

impl Gradients<'_> {
    /// Those of one record (K × Z), for each level that its label might have: Σₗ pₗ bₗ − bₖ, where bₖ is what the directions have of level k's coefficients.
    fn of(&self, row: usize) -> Array2<f64> {
        let (z, probabilities) = (self.standardized.row(row), self.probabilities.row(row));
        let width = z.len();
        let mut by_level = Array2::zeros((probabilities.len(), self.directions.ncols()));
        for (level, mut b) in by_level.outer_iter_mut().enumerate() {
            b.assign(&z.dot(&self.directions.slice(s![level * width..(level + 1) * width, ..])));
        }
        let mean = probabilities.dot(&by_level);
        mean - by_level
    }

    /// Were the model right: how the mean of clipped gradients changes by a step, the mean itself, and its covariance.
    fn expected(&self, clipping_norm: f64) -> (Array2<f64>, Vec<f64>, Array2<f64>) {
        let (n, z) = (self.standardized.nrows(), self.directions.ncols());
        let mut jacobian = Array2::zeros((z, z));
        let mut means = Array2::zeros((n, z));
        for row in 0..n {
            let gradients = self.of(row);
            let mut weighed = gradients.clone();
            for (mut gradient, p) in weighed.outer_iter_mut().zip(self.probabilities.row(row)) {
                gradient *= p * (clipping_norm / norm(gradient.view()).max(clipping_norm));
            }
            means.row_mut(row).assign(&weighed.sum_axis(Axis(0)));
            jacobian += &weighed.t().dot(&gradients);
        }
        let reference = means.sum_axis(Axis(0)) / n as f64;
        let off = means - &reference;
        (jacobian / n as f64, reference.to_vec(), off.t().dot(&off) / (n * n) as f64)
    }
}

fn norm(vector: ArrayView1<f64>) -> f64 {
    vector.dot(&vector).sqrt()
}
