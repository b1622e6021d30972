//! Symmetric matrices: eigendecompositions, and solutions of linear systems and determinants by Cholesky
//! factors.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::{Array1, Array2, Axis, s};

/// Eigendecomposition of a symmetric matrix (n × n).
///
/// ```
/// use ndarray::array;
/// use scumble_linalg::Eigen;
///
/// let found = Eigen::new(&array![[2.0, 1.0], [1.0, 2.0]]).unwrap();
/// assert!((found.values()[0] - 1.0).abs() < 1e-15 && (found.values()[1] - 3.0).abs() < 1e-15);
/// assert!((found.map(f64::recip).dot(&array![3.0, 3.0]) - 1.0).iter().all(|x| x.abs() < 1e-15));
/// ```
#[derive(Debug, Clone)]
pub struct Eigen {
    /// The eigenvectors, one per column (n × n).
    vectors: Array2<f64>,
    values: Array1<f64>,
}

impl Eigen {
    /// Decomposes `symmetric` with eigenvalues in ascending order. Reads only the lower triangle.
    ///
    /// Returns `None` if the matrix is not finite or not square, or if the eigenvalues were not found.
    pub fn new(symmetric: &Array2<f64>) -> Option<Self> {
        let n = symmetric.nrows();
        if symmetric.iter().any(|x| !x.is_finite()) || symmetric.ncols() != n {
            return None;
        }
        if n == 0 {
            return Some(Self { vectors: Array2::zeros((0, 0)), values: Array1::zeros(0) });
        }
        let found = mat(symmetric).self_adjoint_eigen(Side::Lower).ok()?;
        Some(Self {
            vectors: Array2::from_shape_fn((n, n), |(i, j)| found.U()[(i, j)]),
            values: (0..n).map(|at| found.S()[at]).collect(),
        })
    }

    /// Reverses the decomposition to descending order of eigenvalues.
    #[must_use]
    pub fn falling(self) -> Self {
        let falling = |vectors: Array2<f64>| vectors.slice(s![.., ..;-1]).as_standard_layout().into_owned();
        Self { vectors: falling(self.vectors), values: self.values.slice(s![..;-1]).to_owned() }
    }

    /// The eigenvectors, one per column (n × n).
    pub fn vectors(&self) -> &Array2<f64> {
        &self.vectors
    }

    /// The eigenvalues (n), in the order of the eigenvectors.
    pub fn values(&self) -> &Array1<f64> {
        &self.values
    }

    /// The smallest eigenvalue, or zero for an empty matrix.
    pub fn least(&self) -> f64 {
        let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        if self.values.is_empty() { 0.0 } else { least }
    }

    /// The matrix (n × n) with each eigenvalue replaced by its image under `function`.
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Array2<f64> {
        let scaled = &self.vectors * &self.values.mapv(function).insert_axis(Axis(0));
        scaled.dot(&self.vectors.t())
    }
}

/// Solution X (n × m) of `positive`·X = `right`, with one column for each of the m columns of `right`. `None`
/// if `positive` (n × n) is not positive definite.
pub fn solve(positive: &Array2<f64>, right: &Array2<f64>) -> Option<Array2<f64>> {
    let solved = mat(positive).llt(Side::Lower).ok()?.solve(mat(right));
    Some(Array2::from_shape_fn(right.dim(), |(row, column)| solved[(row, column)]))
}

/// Natural logarithm of the determinant of `positive` (n × n), or `None` if the matrix is not positive
/// definite.
pub fn ln_determinant(positive: &Array2<f64>) -> Option<f64> {
    let factor = mat(positive).llt(Side::Lower).ok()?;
    Some(2.0 * (0..positive.nrows()).map(|at| factor.L()[(at, at)].ln()).sum::<f64>())
}

fn mat(values: &Array2<f64>) -> Mat<f64> {
    Mat::from_fn(values.nrows(), values.ncols(), |row, column| values[[row, column]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn eigenvectors_make_the_matrix_again_in_either_order() {
        let matrix = array![[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 1.0]];
        let rising = Eigen::new(&matrix).unwrap();
        let falling = rising.clone().falling();
        assert!(rising.values().windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
        assert_eq!(rising.least(), falling.least());
        for found in [rising, falling] {
            let off = found.map(|value| value) - &matrix;
            assert!(off.iter().all(|x| x.abs() < 1e-14), "{off}");
        }
    }

    #[test]
    fn what_is_no_symmetric_or_positive_matrix_has_none() {
        assert!(Eigen::new(&array![[f64::NAN]]).is_none() && Eigen::new(&Array2::zeros((2, 3))).is_none());
        assert_eq!(Eigen::new(&Array2::zeros((0, 0))).unwrap().least(), 0.0);
        let indefinite = array![[1.0, 2.0], [2.0, 1.0]];
        assert!(solve(&indefinite, &array![[1.0], [1.0]]).is_none() && ln_determinant(&indefinite).is_none());
    }

    #[test]
    fn a_positive_matrix_is_solved_and_has_its_determinant() {
        let matrix = array![[4.0, 2.0], [2.0, 3.0]];
        let solved = solve(&matrix, &array![[8.0], [7.0]]).unwrap();
        assert!((solved - array![[1.25], [1.5]]).iter().all(|x| x.abs() < 1e-15));
        assert!((ln_determinant(&matrix).unwrap() - 8f64.ln()).abs() < 1e-15);
    }
}
