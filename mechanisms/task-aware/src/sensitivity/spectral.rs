//! A proven bound on the largest singular value.

use ndarray::{Array2, ArrayView2};

/// Maximum of the smaller dimension of a matrix for the bound by powers of its Gram matrix. For larger
/// matrices, the bound is the Frobenius norm.
const MOST: usize = 1000;
/// Number of squarings of the Gram matrix. Each squaring halves the logarithm of the factor by which the
/// bound exceeds the largest singular value. In the end, the factor is at most m^(1/512), where m is the
/// smaller dimension. For the Frobenius norm, the factor is up to √m.
const SQUARINGS: i32 = 7;

/// Computes an upper bound on the singular values of `matrix`, called A. Its larger dimension is k, and its
/// smaller one is m.
///
/// The square of the largest singular value is λ, the largest eigenvalue of the smaller Gram matrix G (m ×
/// m). It satisfies λ ≤ ‖G^p‖_F^(1/p), here for p = 2^7. With the unit roundoff u and γ = ku/(1 − ku), the
/// computed G has an error of at most γ‖A‖_F² ≤ γmλ in norm. The computed square of a power of G with largest
/// eigenvalue λ′ has an error of at most γmλ′². A relative error e of λ′ becomes 2e + mγ in the square, and
/// e/p in the root. The total is below 2mγ. The function adds more than twice this error.
pub(crate) fn norm_bound(matrix: ArrayView2<f64>) -> f64 {
    let unit = matrix.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if unit == 0.0 {
        return 0.0;
    }
    let matrix = matrix.mapv(|x| x / unit);
    let (smaller, larger) = (matrix.nrows().min(matrix.ncols()), matrix.nrows().max(matrix.ncols()));
    let share = 4.0 * smaller as f64 * (larger + 16) as f64 * f64::EPSILON;
    if smaller > MOST {
        return unit * frobenius(&matrix) * (1.0 + share);
    }
    let gram = if matrix.nrows() == smaller { matrix.dot(&matrix.t()) } else { matrix.t().dot(&matrix) };
    let mut eigenvalue = 1.0;
    let mut power = gram;
    for squaring in 0..=SQUARINGS {
        let norm = frobenius(&power);
        eigenvalue *= norm.powf(0.5f64.powi(squaring));
        power /= norm;
        power = power.dot(&power);
    }
    unit * eigenvalue.sqrt() * (1.0 + share)
}

fn frobenius(matrix: &Array2<f64>) -> f64 {
    matrix.iter().map(|x| x * x).sum::<f64>().sqrt()
}
