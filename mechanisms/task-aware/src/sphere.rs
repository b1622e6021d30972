//! The loss of Theorem 1 (Cheng, Tang and Chinchali) for records on a sphere.

use crate::linear::Whitened;
use crate::sample::Sample;
use ndarray::Array2;
use scumble_core::{Error, Result};
use scumble_kkt::Waterfilling;

const NAME: &str = "task-aware-linear";

/// The least loss L(r) of linear encoders with Laplace noise and linear decoders, if the whitened records are
/// a sphere of radius r (equation 12 of Cheng, Tang and Chinchali).
///
/// Let the boundary of the convex hull of any whitened records lie between the spheres of radius r_min and
/// r_max about their mean. By Theorem 1, the least loss for these records is at least L(r_min) and at most
/// L(r_max). It is also at least L(1) (see [`least`](Self::least)).
///
/// ```
/// use ndarray::array;
/// use scumble_task_aware::{Sample, SphereLoss};
///
/// // The corners of a square are whitened already: r_max = √2.
/// let sample = Sample::new(array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].view())?;
/// let loss = SphereLoss::new(&sample, &array![[1.0, 0.0]])?;
/// assert!((loss.outer_radius() - 2f64.sqrt()).abs() < 1e-9);
/// // L is c/(1 + c) with c = 8·r²/ε².
/// assert!((loss.at(2f64.sqrt(), 4.0)? - 0.5).abs() < 1e-9);
/// assert!((loss.least(4.0)? - 1.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SphereLoss {
    whitened: Array2<f64>,
    eigenvalues: Vec<f64>,
    outer_radius: f64,
}

impl SphereLoss {
    /// Creates the loss for the records of `sample` (n features) and the matrix `task` (m × n).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the task ignores every direction in which records vary, or if numbers
    /// overflow.
    pub fn new(sample: &Sample, task: &Array2<f64>) -> Result<Self> {
        let task = Whitened::new(NAME, sample, task)?;
        let (_, inverse) = sample.whitening();
        Ok(Self {
            whitened: (sample.records() - sample.mean()).dot(&inverse.t()),
            outer_radius: task.radius(sample),
            eigenvalues: task.eigenvalues.to_vec(),
        })
    }

    /// Returns the whitened records less their mean (N × r, for covariances of rank r).
    pub fn whitened(&self) -> &Array2<f64> {
        &self.whitened
    }

    /// Returns the smallest r_max: the largest norm of a whitened record.
    pub fn outer_radius(&self) -> f64 {
        self.outer_radius
    }

    /// Returns L(1) at `epsilon`, at most the least loss of linear encoders with Laplace noise and linear
    /// decoders, for any records (errata T7). Clipped latents may have a smaller loss.
    ///
    /// Whitened records have variance 1 in every direction. Their range is therefore at least 2 in every
    /// direction (Popoviciu's inequality), as for a ball of radius 1. The proof that the loss is at least
    /// L(r_min) uses only that this range is at least 2·r_min.
    ///
    /// # Errors
    /// Same errors as [`at`](Self::at).
    pub fn least(&self, epsilon: f64) -> Result<f64> {
        self.at(1.0, epsilon)
    }

    /// Returns L(r) for the radius r at `epsilon`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if numbers overflow.
    pub fn at(&self, radius: f64, epsilon: f64) -> Result<f64> {
        let ratio = radius / epsilon;
        let filled = Waterfilling::new(&self.eigenvalues, (8.0 * ratio * ratio).min(1e300));
        Ok(filled.map_err(|problem| Error::not_applicable(NAME, problem.to_string()))?.loss())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_loss_grows_with_the_radius_and_falls_with_the_budget() {
        let records = Array2::from_shape_fn((60, 3), |(row, column)| ((row * 7 + column * 11) as f64).sin());
        let sample = Sample::new(records.view()).unwrap();
        let loss = SphereLoss::new(&sample, &array![[1.0, 0.5, 0.0], [0.0, 1.0, 2.0]]).unwrap();
        let at = |radius: f64, epsilon: f64| loss.at(radius, epsilon).unwrap();
        assert!(0.0 < at(1.0, 3.0) && at(1.0, 3.0) < at(loss.outer_radius(), 3.0));
        assert!(at(1.0, 3.0) > at(1.0, 4.0));
        // Sines of one frequency span two directions.
        assert_eq!(loss.whitened().dim(), (60, 2));
    }
}
