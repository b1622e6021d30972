//! A proven bound on the largest singular value.

use ndarray::{Array2, ArrayView2};

/// Size of both sides of a matrix beyond which the bound is the Frobenius norm.
const MOST: usize = 1000;
/// Number of squarings. Each halves the logarithm of the bound's excess factor: finally at most m^(1/512),
/// compared with √m for a Frobenius norm.
const SQUARINGS: i32 = 7;

/// Computes an upper bound on the singular values of `matrix` (k × m).
///
/// σ² = λ is the largest eigenvalue of the smaller Gram matrix G, with m rows, and λ ≤ ‖G^p‖_F^(1/p), here
/// for p = 2^7. With γ = ku/(1 − ku), G itself has an error of γ‖A‖_F² ≤ γmλ in norm. A product of floats has
/// an error of γ‖·‖_F² ≤ γmλ² for its factor's λ. A relative error e of λ in a factor becomes 2e + mγ in its
/// square, and e/p in the root. The total is below 2mγ. The function adds more than twice this error.
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
