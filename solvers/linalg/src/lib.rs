//! Matrix products, eigenvectors and Cholesky factors through faer, and loops compiled for the machine's
//! vector units.
//!
//! ```
//! use faer::{Accum, MatMut, MatRef};
//!
//! let (left, right) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
//! let mut product = [0.0; 2];
//! scumble_linalg::multiply(
//!     MatMut::from_row_major_slice_mut(&mut product, 2, 1),
//!     Accum::Replace,
//!     MatRef::from_row_major_slice(&left, 2, 2),
//!     MatRef::from_row_major_slice(&right, 2, 1),
//! );
//! assert_eq!(product, [17.0, 39.0]);
//! ```

mod symmetric;

pub use symmetric::{Eigen, ln_determinant, solve};

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

/// Sets `product` (m × n) to `left` (m × k) times `right` (k × n), or adds it to `product`, as `accum` says.
/// Uses one thread.
///
/// # Panics
/// If the shapes do not fit.
pub fn multiply<T: ComplexField>(
    product: MatMut<'_, T>,
    accum: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
) {
    settled(|| matmul(product, accum, left, right, T::one_impl(), Par::Seq));
}

/// Sets the lower triangle of `product` (d × d) to the lower triangle of rowsᵀ·rows, for n `rows` of d
/// values. Uses one thread.
///
/// # Panics
/// If the shapes do not fit.
pub fn gram(product: MatMut<'_, f64>, rows: MatRef<'_, f64>) {
    let rectangle = BlockStructure::Rectangular;
    settled(|| {
        triangular::matmul(
            product,
            BlockStructure::TriangularLower,
            Accum::Replace,
            rows.transpose(),
            rectangle,
            rows,
            rectangle,
            1.0,
            Par::Seq,
        );
    });
}

/// Runs `work` and then clears the upper halves of the vector registers.
///
/// The kernels of faer leave these halves filled, and each later scalar operation would have to preserve
/// them. Use it for work that consists mostly of faer calls.
pub fn settled<R>(work: impl FnOnce() -> R) -> R {
    let result = work();
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        simd.avx._mm256_zeroupper();
    }
    result
}

/// Runs `work`, compiled for the widest vector units of this machine.
///
/// No operation is fused or reordered, so the results are bit-identical on every machine.
#[inline(always)]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gram_matrix_is_the_product_of_its_rows() {
        let rows: Vec<f64> = (0..35).map(|at| f64::from(at * at % 11) - 4.0).collect();
        let rows = MatRef::from_row_major_slice(&rows, 7, 5);
        let (mut gram_of, mut product) = ([0.0; 25], [0.0; 25]);
        gram(MatMut::from_column_major_slice_mut(&mut gram_of, 5, 5), rows);
        let whole = MatMut::from_column_major_slice_mut(&mut product, 5, 5);
        multiply(whole, Accum::Replace, rows.transpose(), rows);
        for column in 0..5 {
            for row in 0..5 {
                let expected = if row < column { 0.0 } else { product[column * 5 + row] };
                assert_eq!(gram_of[column * 5 + row], expected, "row {row}, column {column}");
            }
        }
    }

    #[test]
    fn what_is_multiplied_is_added_where_that_is_asked() {
        let ones = [1.0f32; 6];
        let mut product = [10.0f32; 4];
        multiply(
            MatMut::from_row_major_slice_mut(&mut product, 2, 2),
            Accum::Add,
            MatRef::from_row_major_slice(&ones, 2, 3),
            MatRef::from_row_major_slice(&ones, 3, 2),
        );
        assert_eq!(product, [13.0; 4]);
        assert_eq!(vectorised(|| product.iter().sum::<f32>()), 52.0);
    }
}
