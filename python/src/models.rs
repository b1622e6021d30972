//! Noise-aware models, as weights and intercepts.

use crate::errors::Failed;
use crate::interrupt::interruptible;
use linfa::ParamGuard;
use linfa::prelude::*;
use ndarray::{Array1, Array2};
use pyo3::prelude::*;
use scumble::linear::{LogisticParams, RidgeParams};

/// Numbers as bytes in native order, in rows of `columns` numbers.
#[derive(FromPyObject)]
pub(crate) struct Matrix {
    #[pyo3(item)]
    bytes: Vec<u8>,
    #[pyo3(item)]
    columns: usize,
}

impl Matrix {
    fn read(&self) -> Result<Array2<f64>, Failed> {
        let numbers = self
            .bytes
            .chunks_exact(8)
            .map(|bytes| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        let numbers: Vec<f64> = numbers.map(f64::from_bits).collect();
        let rows = numbers.len() / self.columns.max(1);
        Array2::from_shape_vec((rows, self.columns), numbers)
            .map_err(|error| Failed::input(error.to_string()))
    }
}

/// Fits a multinomial logistic regression. Returns weights (d × K, row by row) and intercepts (K). d is the
/// number of columns of `records`, and the classes 0 to K − 1 are those in the data or in `label_flip`.
#[pyfunction]
pub(crate) fn fit_logistic(
    py: Python,
    records: Matrix,
    classes: Vec<usize>,
    label_flip: Option<Matrix>,
    l2_penalty: f64,
    max_iterations: u64,
) -> Result<(Vec<f64>, Vec<f64>), Failed> {
    let records = records.read()?;
    let mut params = LogisticParams::default().l2_penalty(l2_penalty).max_iterations(max_iterations);
    if let Some(flip) = label_flip {
        params = params.label_flip(flip.read()?);
    }
    interruptible(py, || {
        let params = params.check().map_err(refused)?;
        let model = params.fit(&Dataset::new(records, Array1::from(classes))).map_err(refused)?;
        let (weights, intercepts) = model.coefficients();
        Ok((weights.iter().copied().collect(), intercepts.to_vec()))
    })
}

/// Fits a ridge regression. Returns one weight for each column of `records`, and the intercept.
#[pyfunction]
pub(crate) fn fit_ridge(
    py: Python,
    records: Matrix,
    targets: Vec<f64>,
    noise_covariance: Option<Matrix>,
    l2_penalty: f64,
) -> Result<(Vec<f64>, f64), Failed> {
    let records = records.read()?;
    let mut params = RidgeParams::default().l2_penalty(l2_penalty);
    if let Some(covariance) = noise_covariance {
        params = params.noise_covariance(covariance.read()?);
    }
    interruptible(py, || {
        let params = params.check().map_err(refused)?;
        let model = params.fit(&Dataset::new(records, Array1::from(targets))).map_err(refused)?;
        let (weights, intercept) = model.coefficients();
        Ok((weights.to_vec(), intercept))
    })
}

fn refused(error: impl std::fmt::Display) -> Failed {
    Failed::input(error.to_string())
}
