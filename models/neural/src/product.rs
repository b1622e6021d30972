//! Products of matrices, and loops on the machine's vector units.

use crate::Real;
use gemm::Parallelism;
use ndarray::{ArrayView2, ArrayViewMut2};

/// `values` as a matrix of `columns` columns, row after row.
///
/// # Panics
/// Where `values` are no whole number of rows: a fault of this crate's, never of its caller's.
pub(crate) fn matrix<T>(values: &[T], columns: usize) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((values.len() / columns, columns), values).expect("a whole number of rows")
}

/// As [`matrix`], to be written.
///
/// # Panics
/// As [`matrix`].
pub(crate) fn matrix_mut<T>(values: &mut [T], columns: usize) -> ArrayViewMut2<'_, T> {
    ArrayViewMut2::from_shape((values.len() / columns, columns), values).expect("a whole number of rows")
}

/// Sets `product` (m × n) to `left` (m × k) times `right` (k × n).
///
/// `gemm` takes all threads of the current pool from 48·48·256 multiplications on. They share the rows and columns of the product,
/// never a sum, so its bits do not depend on their number.
///
/// # Panics
/// Where the shapes do not fit: a fault of this crate's, never of its caller's.
#[allow(unsafe_code)]
pub(crate) fn multiply<T: Real>(left: ArrayView2<T>, right: ArrayView2<T>, mut product: ArrayViewMut2<T>) {
    let (rows, depth) = left.dim();
    let columns = right.ncols();
    assert_eq!(right.nrows(), depth, "factors that do not fit");
    assert_eq!(product.dim(), (rows, columns), "a product of another shape");
    // SAFETY: dimensions, pointers and strides are those of views, whose lengths were just seen to agree; the product is borrowed
    // mutably, so it overlaps with neither factor. `Real` is sealed for f32 and f64, which gemm takes. What was in the product is not read.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            depth,
            product.as_mut_ptr(),
            product.strides()[1],
            product.strides()[0],
            false,
            left.as_ptr(),
            left.strides()[1],
            left.strides()[0],
            right.as_ptr(),
            right.strides()[1],
            right.strides()[0],
            T::zero(),
            T::one(),
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}

/// Runs `work` compiled for the widest vector units that this machine has. Nothing is fused or reordered, so its bits are the same
/// on every machine.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
