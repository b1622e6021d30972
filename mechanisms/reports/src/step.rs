//! Step of a model of the label along Z directions, computed from the mean of many people's reported
//! gradients. The label has K levels, and the records have d features.

use crate::label_model::{LabelModel, Taught};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use scumble_core::{Error, Result};
use scumble_linalg::{Eigen, solve};
use serde::{Deserialize, Serialize};

/// Candidate fractions of volunteers whose gradients are not clipped. The fraction with the largest expected
/// reduction of the model's error is used.
const NOT_CLIPPED: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// Projection of gradients of the loss onto Z directions, and the step of the model that the mean of the
/// projected gradients determines. The model is a [`LabelModel`] for a label of K levels and records of d
/// features.
///
/// The directions are those in which the loss has the largest curvature, scaled to curvature 1 (*whitened*).
/// The volunteers' records therefore determine the model about equally well along each direction. The same
/// noise in any direction reduces the accuracy by about the same amount.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// Directions in the space of coefficients (K(d + 1) × Z). The d + 1 rows of each level are adjacent.
    directions: Array2<f64>,
    /// Norm at which a gradient is clipped.
    clipping_norm: f64,
    /// Variance, along each of the Z directions, of the error of the model that was learned from the
    /// volunteers' records.
    prior: Vec<f64>,
    /// Derivative of the mean of clipped gradients with respect to the step (Z × Z), expected under the
    /// model's own label probabilities.
    jacobian: Array2<f64>,
    /// Expected mean of clipped gradients (Z) if the model's label probabilities are right. It is not zero,
    /// because clipping affects some labels more than others.
    reference: Vec<f64>,
    /// Covariance of the sampling error of `reference` (Z × Z): the volunteers are only a sample of the
    /// population.
    mismatch: Array2<f64>,
}

impl Step {
    /// Learns the step with the largest expected reduction of the model's error. Candidates are the numbers
    /// of directions in `dimensions`.
    ///
    /// `variance(z)` is the variance of the reported mean gradient along each of z directions, in units of
    /// the squared clipping norm.
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
                "the directions of the curvature of volunteers' loss were not found",
            )
        };
        let found = Eigen::new(&taught.curvature).ok_or_else(failed)?.falling();
        let (vectors, values) = (found.vectors(), found.values());
        let curved = values.iter().take_while(|value| **value > 1e-6 * values[0]).count();
        let n = features.nrows() as f64;
        let standardized = taught.model.standardized(features);
        let probabilities = taught.model.probabilities(&standardized);
        let mut best: Option<(f64, Self)> = None;
        let mut tried = 0;
        for dimensions in dimensions.iter().map(|requested| (*requested).min(curved)) {
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
            let mut norms: Vec<f64> = labels
                .iter()
                .enumerate()
                .map(|(row, &level)| norm(gradients.by_level(row).row(level)))
                .collect();
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

    /// Number of directions, Z.
    pub(crate) fn dimensions(&self) -> usize {
        self.prior.len()
    }

    /// Checks that the step fits a model with `coefficients` coefficients.
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
        if fits { Ok(()) } else { Err(Error::shape("the step does not fit the model")) }
    }

    /// Returns the clipped gradient (Z) of a record's loss along the directions, in units of the clipping
    /// norm.
    ///
    /// The result is in the unit ball.
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
        let gradient = gradients.by_level(0).row(label).to_owned();
        if gradient.iter().any(|x| !x.is_finite()) {
            // A saved model with extremely large coefficients can overflow. An error here would depend on the
            // record, so the gradient is zero.
            return Array1::zeros(self.dimensions());
        }
        let longest = norm(gradient.view()).max(self.clipping_norm);
        gradient / longest
    }

    /// Returns the step to subtract from the model's K(d + 1) coefficients, for K levels of the label and d
    /// features.
    ///
    /// `mean` is the mean of the reported gradients along the Z directions, in units of the clipping norm.
    /// `variance` is the variance of `mean` along each direction. The prior of the step is normal, and the
    /// result is the posterior mean of the step given `mean`. The result is `None` if the linear equations
    /// have no solution.
    pub(crate) fn posterior(&self, mean: ArrayView1<f64>, variance: f64) -> Option<Array1<f64>> {
        let weighed = solve(&self.covariance(variance), &self.jacobian_by_prior())?;
        let observed = &mean * self.clipping_norm - Array1::from(self.reference.clone());
        Some(self.directions.dot(&weighed.t().dot(&observed)))
    }

    /// Expected reduction of the variance of the model's error, summed over directions.
    fn expected_gain(&self, variance: f64) -> Option<f64> {
        let explained = self.jacobian_by_prior();
        let weighed = solve(&self.covariance(variance), &explained)?;
        Some((&weighed * &explained).sum())
    }

    /// Product J P of the matrix J = `jacobian` and the diagonal matrix P of `prior`.
    fn jacobian_by_prior(&self) -> Array2<f64> {
        &self.jacobian * &Array1::from(self.prior.clone())
    }

    /// Covariance of the mean of gradients: J P Jᵀ plus `mismatch` plus the covariance of the noise, with J =
    /// `jacobian` and the diagonal matrix P of `prior`. `variance` is the variance of the noise along each
    /// direction, in units of the squared clipping norm.
    fn covariance(&self, variance: f64) -> Array2<f64> {
        let noise = Array2::from_diag_elem(self.dimensions(), variance * self.clipping_norm.powi(2));
        self.jacobian_by_prior().dot(&self.jacobian.t()) + &self.mismatch + noise
    }
}

/// Data from which the gradients of n records along the Z directions are computed.
struct Gradients<'a> {
    directions: &'a Array2<f64>,
    /// Standardised features, n × (d + 1).
    standardized: &'a Array2<f64>,
    /// Label probabilities, n × K.
    probabilities: &'a Array2<f64>,
}

impl Gradients<'_> {
    /// Returns the gradients of the loss at one record (K × Z), one for each of the K possible levels k of
    /// the label: Σₗ pₗ bₗ − bₖ. Here pₗ is the model's probability of level l.
    ///
    /// bₖ (Z) is the product of the record's standardised features and the block of `directions` for the
    /// coefficients of level k.
    fn by_level(&self, row: usize) -> Array2<f64> {
        let (z, probabilities) = (self.standardized.row(row), self.probabilities.row(row));
        let width = z.len();
        let mut by_level = Array2::zeros((probabilities.len(), self.directions.ncols()));
        for (level, mut b) in by_level.outer_iter_mut().enumerate() {
            b.assign(&z.dot(&self.directions.slice(s![level * width..(level + 1) * width, ..])));
        }
        let mean = probabilities.dot(&by_level);
        mean - by_level
    }

    /// Returns the derivative of the mean of clipped gradients with respect to a step, the mean itself, and
    /// its covariance.
    ///
    /// The derivative and the mean are expectations under the model's own label probabilities. The covariance
    /// is due to the variation between the n records, which are a sample of the population.
    fn expected(&self, clipping_norm: f64) -> (Array2<f64>, Vec<f64>, Array2<f64>) {
        let (n, z) = (self.standardized.nrows(), self.directions.ncols());
        let mut jacobian = Array2::zeros((z, z));
        let mut means = Array2::zeros((n, z));
        for row in 0..n {
            let gradients = self.by_level(row);
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
