//! Symmetric matrices: what of them is asked for here, by `faer`.

use faer::{Mat, Side};
use ndarray::{Array1, Array2, Axis};

/// A symmetric matrix by its eigenvectors.
pub struct Eigen {
    /// One a column.
    vectors: Array2<f64>,
    /// In rising order.
    values: Array1<f64>,
}

impl Eigen {
    /// None where the matrix is not finite or not square, or they were not found.
    pub fn of(symmetric: &Array2<f64>) -> Option<Self> {
        let n = symmetric.nrows();
        if symmetric.iter().any(|x| !x.is_finite()) || symmetric.ncols() != n {
            return None;
        }
        if n == 0 {
            return Some(Self { vectors: Array2::zeros((0, 0)), values: Array1::zeros(0) });
        }
        let found = Mat::from_fn(n, n, |i, j| symmetric[[i, j]]).self_adjoint_eigen(Side::Lower).ok()?;
        Some(Self {
            vectors: Array2::from_shape_fn((n, n), |(i, j)| found.U()[(i, j)]),
            values: (0..n).map(|at| found.S()[at]).collect(),
        })
    }

    /// The eigenvectors, one a column.
    pub fn vectors(&self) -> &Array2<f64> {
        &self.vectors
    }

    /// The eigenvalues, in rising order.
    pub fn values(&self) -> &Array1<f64> {
        &self.values
    }

    /// The smallest eigenvalue; zero where there is none.
    pub fn least(&self) -> f64 {
        self.values.first().copied().unwrap_or(0.0)
    }

    /// The matrix with `of` each eigenvalue in its place.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> Array2<f64> {
        let scaled = &self.vectors * &self.values.mapv(of).insert_axis(Axis(0));
        scaled.dot(&self.vectors.t())
    }
}
