//! Rotation and stretch of a representation, so that noise is widest along directions to which a task
//! responds least. A task sees a direction if the singular value of its Jacobian along it is above a
//! hundredth of the largest one.

use crate::Result;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use scumble_core::Error;
use scumble_linalg::Eigen;

/// Factor on the variance of noise along directions that the task does not see (λ_N of the published code).
const UNSEEN: f64 = 1000.0;

/// Threshold on the singular value of a direction that the task sees, as a share of the largest one.
const SEEN: f64 = 0.01;

/// The map z ↦ (z − μ)U/√λ of a representation z, and its inverse, with the mean μ of public representations,
/// the singular vectors U of the task's Jacobian, and the stretches 1/√λ.
pub(super) struct Reshaping {
    mean: Array1<f64>,
    /// Number of directions that the task sees. They are the first directions.
    seen: usize,
    into: Array2<f64>,
    out: Array2<f64>,
}

impl Reshaping {
    /// Reshaping for a task with this Jacobian, from public representations. Both have D columns, one for
    /// each coordinate of a representation. The stretch along the i-th singular vector of the Jacobian,
    /// 1/√λᵢ, is proportional to sᵢ^(2/3), with sᵢ its singular value. This choice minimises Σ sᵢ²λᵢ for a
    /// given sum of stretches. Along directions that the task does not see, the stretch is 1/√1000. All
    /// stretches sum to D.
    pub fn new(jacobian: ArrayView2<f64>, public: ArrayView2<f64>) -> Result<Self> {
        let dim = jacobian.ncols();
        let entry = |(row, column)| jacobian.column(row).dot(&jacobian.column(column));
        let gram = Array2::from_shape_fn((dim, dim), entry);
        let failed = || Error::shape("the singular values of the task's Jacobian cannot be computed");
        let found = Eigen::new(&gram).ok_or_else(failed)?.falling();
        let turn = found.vectors();
        let singular: Vec<f64> = found.values().iter().map(|value| value.max(0.0).sqrt()).collect();
        let seen = singular.iter().filter(|value| **value > SEEN * singular[0]).count();
        let powers: Vec<f64> = singular[..seen].iter().map(|value| value.powf(2.0 / 3.0)).collect();
        let left = dim as f64 - (dim - seen) as f64 / UNSEEN.sqrt();
        let stretch = Array1::from_shape_fn(dim, |at| match powers.get(at) {
            Some(power) => left * power / powers.iter().sum::<f64>(),
            None => 1.0 / UNSEEN.sqrt(),
        });
        Ok(Self {
            mean: public.mean_axis(Axis(0)).unwrap_or_default(),
            seen,
            into: turn * &stretch,
            out: (turn / &stretch).reversed_axes(),
        })
    }

    /// Rotates and stretches representations, one in each row.
    pub fn before(&self, representations: ArrayView2<f64>) -> Array2<f64> {
        (&representations - &self.mean).dot(&self.into)
    }

    /// Maps a release back as [`Reshaping::after`] does. Coordinates along directions that the task does not
    /// see are set to their mean. This is post-processing.
    pub fn after_without_unseen(&self, mut released: Array2<f64>) -> Array2<f64> {
        released.slice_mut(s![.., self.seen..]).fill(0.0);
        self.after(released.view())
    }

    /// Share of the variance of representations, one in each row, along directions that the task sees.
    pub fn seen(&self, representations: ArrayView2<f64>) -> f64 {
        let stretches = self.into.map_axis(Axis(0), |column| column.dot(&column).sqrt());
        // Division by the stretches restores the representation's own units.
        let turned = self.before(representations) / &stretches;
        let along: Array1<f64> = turned.var_axis(Axis(0), 0.0);
        along.slice(s![..self.seen]).sum() / along.sum()
    }

    /// Maps released representations back: the inverse of [`Reshaping::before`].
    pub fn after(&self, released: ArrayView2<f64>) -> Array2<f64> {
        released.dot(&self.out) + &self.mean
    }
}

/// Laplace noise scale of the paper's coordinate-wise variant along each coordinate, times ε. The variant
/// claims (ε, 0) with these scales, which suit representations in a box. In each coordinate, the box holds
/// the nine tenths of the public representations nearest to zero. The variant moves no representation into
/// the box.
pub(super) fn coordinate_wise(public: ArrayView2<f64>) -> Array1<f64> {
    let widths = public.axis_iter(Axis(1)).map(|column| 2.0 * quantile(column.iter().map(|x| x.abs())));
    let widths: Array1<f64> = widths.collect();
    let sum: f64 = widths.iter().map(|width| width.powf(2.0 / 3.0)).sum();
    widths.mapv(|width| width.cbrt() * sum)
}

/// Radius that contains nine tenths of the values.
pub(super) fn quantile(values: impl Iterator<Item = f64>) -> f64 {
    const SHARE: f64 = 0.9;
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get((SHARE * sorted.len() as f64) as usize).copied().unwrap_or(0.0)
}

/// Largest privacy loss (log odds) of coordinate-wise noise between two of the `representations`, one in each
/// row, divided by ε.
pub(super) fn largest_loss(scales: &Array1<f64>, representations: ArrayView2<f64>) -> f64 {
    let mut largest: f64 = 0.0;
    for one in 0..representations.nrows() {
        let first = representations.row(one);
        for second in representations.slice(s![..one, ..]).outer_iter() {
            let losses = first.iter().zip(second).zip(scales).map(|((a, b), scale)| (a - b).abs() / scale);
            largest = largest.max(losses.sum());
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn what_is_reshaped_comes_back_and_stretches_sum_to_the_dimensions() {
        let jacobian = array![[3.0, 0.0, 4.0], [0.0, 1.0, 0.0]];
        let public = array![[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]];
        let reshaping = Reshaping::new(jacobian.view(), public.view()).unwrap();
        let reshaped = reshaping.before(public.view());
        let back = reshaping.after(reshaped.view());
        assert!((&back - &public).iter().all(|x| x.abs() < 1e-12), "{back}");
        // The singular values are 5 and 1, and the task does not see one direction.
        let stretch = reshaping.into.map_axis(Axis(0), |column| column.dot(&column).sqrt());
        assert!((stretch.sum() - 3.0).abs() < 1e-12, "{stretch}");
        assert!((stretch[0] / stretch[1] - 5f64.powf(2.0 / 3.0)).abs() < 1e-12, "{stretch}");
        assert!((stretch[2] - 1000f64.powf(-0.5)).abs() < 1e-12, "{stretch}");
        // Along (4, 0, −3)/5, which the task does not see, all records equal the mean. The directions that
        // the task sees are unchanged.
        let seen = reshaping.after_without_unseen(reshaped);
        let unseen = array![0.8, 0.0, -0.6];
        assert!((&seen - &array![2.0, 2.0, 2.0]).dot(&unseen).iter().all(|x| x.abs() < 1e-12), "{seen}");
        assert!((&seen - &public).dot(&jacobian.t()).iter().all(|x| x.abs() < 1e-12), "{seen}");
    }

    /// The privacy loss is at most ε if all representations are in the box. A representation outside has a
    /// larger loss.
    #[test]
    fn coordinate_wise_noise_keeps_its_claim_within_the_box_that_nobody_is_moved_into() {
        let public = Array2::from_shape_fn((100, 2), |(row, column)| {
            let side = if row % 2 == 0 { 1.0 } else { -1.0 };
            side * if column == 0 { 1.0 } else { 5.0 }
        });
        let scales = coordinate_wise(public.view());
        assert!((largest_loss(&scales, public.view()) - 1.0).abs() < 1e-12);
        let far = array![[1.0, 5.0], [-10.0, -5.0]];
        assert!(largest_loss(&scales, far.view()) > 2.0);
    }
}
