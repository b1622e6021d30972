//! Standardisation of features to mean 0 and standard deviation 1, as learned from training records.

use crate::{Error, Result};
use ndarray::{Array1, Array2, ArrayBase, Axis, Data, Ix2};
use scumble_linalg::vectorised;

/// Mean and standard deviation of each column. A constant column is only centred.
#[derive(Debug, Clone)]
pub struct Standardizer {
    offsets: Array1<f64>,
    scales: Array1<f64>,
}

impl Standardizer {
    /// Computes the mean and standard deviation of each column of `records` (n × d).
    ///
    /// # Errors
    /// [`Error::NoRecords`] if `records` is empty.
    pub fn fit(records: &ArrayBase<impl Data<Elem = f64>, Ix2>) -> Result<Self> {
        let offsets = records.mean_axis(Axis(0)).ok_or(Error::NoRecords)?;
        let scale = |deviation: f64| if deviation <= f64::EPSILON { 1.0 } else { 1.0 / deviation };
        Ok(Self { offsets, scales: records.std_axis(Axis(0), 0.0).mapv(scale) })
    }

    /// Identity transformation of `columns` columns.
    pub(crate) fn identity(columns: usize) -> Self {
        Self { offsets: Array1::zeros(columns), scales: Array1::ones(columns) }
    }

    /// Factor that multiplies each centred column (d values).
    pub fn scales(&self) -> &Array1<f64> {
        &self.scales
    }

    /// Offset subtracted from each column before scaling (d values).
    pub fn offsets(&self) -> &Array1<f64> {
        &self.offsets
    }

    /// Converts weights (d × K) and intercepts (K) of standardised features to those of features in their own
    /// units.
    pub(crate) fn undone(
        &self,
        weights: &Array2<f64>,
        intercepts: &Array1<f64>,
    ) -> (Array2<f64>, Array1<f64>) {
        let scales = self.scales();
        let origin = self.apply(&Array2::zeros((1, scales.len())));
        let own = weights * &scales.view().insert_axis(Axis(1));
        (own, intercepts + &origin.row(0).dot(weights))
    }

    /// Standardises `records` (n × d).
    pub fn apply(&self, records: &ArrayBase<impl Data<Elem = f64>, Ix2>) -> Array2<f64> {
        let scales = self.offsets().iter().zip(self.scales());
        let scales: Vec<(f64, f64)> = scales.map(|(offset, scale)| (*offset, *scale)).collect();
        // Works row by row, because consecutive values of a column are far apart in memory.
        let mut standardized = Array2::zeros(records.dim());
        vectorised(|| {
            for (record, mut row) in records.outer_iter().zip(standardized.outer_iter_mut()) {
                let values = row.iter_mut().zip(record).zip(&scales);
                values.for_each(|((place, x), (offset, scale))| *place = (x - offset) * scale);
            }
        });
        standardized
    }
}
