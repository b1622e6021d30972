//! Products of row-major matrices.

use crate::Real;
use faer::{Accum, MatMut, MatRef};
use ndarray::ArrayView2;

/// Smallest number of multiplications for which a matrix product is split into two halves, for two threads.
const SPLIT: usize = 1 << 22;

/// Returns `values` as a row-major matrix of `columns` columns.
///
/// # Panics
/// If `values` is not a whole number of rows. Only a bug in this crate can cause this.
pub(crate) fn matrix<T>(values: &[T], columns: usize) -> MatRef<'_, T> {
    MatRef::from_row_major_slice(values, values.len() / columns, columns)
}

/// Returns `values` as a mutable row-major matrix; see [`matrix`].
///
/// # Panics
/// Same as [`matrix`].
pub(crate) fn matrix_mut<T>(values: &mut [T], columns: usize) -> MatMut<'_, T> {
    MatMut::from_row_major_slice_mut(values, values.len() / columns, columns)
}

/// Returns `values` as a row-major `ndarray` view of `columns` columns.
///
/// # Panics
/// Same as [`matrix`].
pub(crate) fn view<T>(values: &[T], columns: usize) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((values.len() / columns, columns), values).expect("a whole number of rows")
}

/// Sets `product` (m × n) to `left` (m × k) times `right` (k × n).
///
/// Only the size of the product determines how it is split, and no single sum is split. The result is
/// therefore the same to the last bit for any number of threads.
///
/// # Panics
/// If the shapes do not fit. Only a bug in this crate can cause this.
pub(crate) fn multiply<T: Real>(left: MatRef<'_, T>, right: MatRef<'_, T>, product: MatMut<'_, T>) {
    let (rows, columns) = (product.nrows(), product.ncols());
    if rows * columns * left.ncols() < SPLIT {
        return scumble_linalg::multiply(product, Accum::Replace, left, right);
    }
    if rows > columns {
        let (upper, lower) = product.split_at_row_mut(rows / 2);
        let (left_upper, left_lower) = left.split_at_row(rows / 2);
        rayon::join(|| multiply(left_upper, right, upper), || multiply(left_lower, right, lower));
    } else {
        let (first, second) = product.split_at_col_mut(columns / 2);
        let (right_first, right_second) = right.split_at_col(columns / 2);
        rayon::join(|| multiply(left, right_first, first), || multiply(left, right_second, second));
    }
}
