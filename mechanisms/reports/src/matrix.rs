//! Symmetric matrices: what of them is asked for here, by `faer`.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::Array2;

/// Eigenvectors, one a column, and eigenvalues, the largest first. None where they were not found.
pub(crate) fn eigen(symmetric: &Array2<f64>) -> Option<(Array2<f64>, Vec<f64>)> {
    let found = mat(symmetric).self_adjoint_eigen(Side::Lower).ok()?;
    let n = symmetric.nrows();
    // faer's are in rising order.
    let vectors = Array2::from_shape_fn((n, n), |(row, column)| found.U()[(row, n - 1 - column)]);
    Some((vectors, (0..n).rev().map(|at| found.S()[at]).collect()))
}

/// X with `positive`·X = `right`; none where `positive` is not positive definite.
pub(crate) fn solve(positive: &Array2<f64>, right: &Array2<f64>) -> Option<Array2<f64>> {
    let solved = mat(positive).llt(Side::Lower).ok()?.solve(mat(right));
    Some(Array2::from_shape_fn(right.dim(), |(row, column)| solved[(row, column)]))
}

/// ln det; none where the matrix is not positive definite.
pub(crate) fn ln_determinant(positive: &Array2<f64>) -> Option<f64> {
    let factor = mat(positive).llt(Side::Lower).ok()?;
    Some(2.0 * (0..positive.nrows()).map(|at| factor.L()[(at, at)].ln()).sum::<f64>())
}

fn mat(values: &Array2<f64>) -> Mat<f64> {
    Mat::from_fn(values.nrows(), values.ncols(), |row, column| values[[row, column]])
}
