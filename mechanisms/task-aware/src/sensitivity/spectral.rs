//! A proven bound on the largest singular value.

use ndarray::{Array2, ArrayView2};

/// Matrices that are larger on both sides are bounded by their Frobenius norm.
const MOST: usize = 1000;
/// Each halves the logarithm of what the bound is too large by: by at most m^(1/512) in the end, where a Frobenius norm can be by √m.
const SQUARINGS: i32 = 7;

/// No singular value of `matrix` (k × m) is larger.
///
/// σ² = λ is the largest eigenvalue of the smaller Gram matrix G, of m rows, and λ ≤ ‖G^p‖_F^(1/p), here for p = 2^7. With γ = ku/(1 − ku),
/// G itself errs by γ‖A‖_F² ≤ γmλ in norm, and a product of floats by γ‖·‖_F² ≤ γmλ² of its factor's λ. A share e of λ in a factor is one of
/// 2e + mγ in its square, and e/p in the root; in the end it is less than 2mγ. Twice that is added, and more.
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
