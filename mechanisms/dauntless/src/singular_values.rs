//! The thin singular value decomposition of records, without singular values of zero.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{self, ComputeSvdVectors::Thin};
use faer::{Mat, MatRef, Par};
use ndarray::{Array1, Array2};
use scumble_core::{Error, Result};

/// Singular values of at most this fraction of the largest singular value count as rounding errors, and are
/// dropped.
const RANK_TOLERANCE: f64 = 1e-10;

/// Decomposition X = U·Σ·Vᵀ of records X (n × d) of rank r.
pub(crate) struct SingularValues {
    /// U (n × r), whose columns are the left singular vectors.
    pub(crate) left: Array2<f64>,
    /// Singular values, the diagonal of Σ, in descending order (r values).
    pub(crate) values: Array1<f64>,
    /// V (d × r), whose columns are the right singular vectors.
    pub(crate) right: Array2<f64>,
}

impl SingularValues {
    /// Decomposes `records` (n × d). The result is the same for any number of threads.
    ///
    /// # Errors
    /// [`Error::NotApplicable`], in the name of `mechanism`, if all records are zero or the decomposition
    /// fails.
    pub(crate) fn new(records: &Array2<f64>, mechanism: &str) -> Result<Self> {
        let refuse = |reason: &str| Error::not_applicable(mechanism, reason);
        let (n, d) = records.dim();
        let size = n.min(d);
        let flat: Vec<f64> = records.iter().copied().collect();
        let (mut left, mut right, mut values) = (Mat::zeros(n, size), Mat::zeros(d, size), Diag::zeros(size));
        let scratch = svd::svd_scratch::<f64>(n, d, Thin, Thin, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        svd::svd(
            MatRef::from_row_major_slice(&flat, n, d),
            values.as_mut(),
            Some(left.as_mut()),
            Some(right.as_mut()),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| refuse("the singular value decomposition of these records failed"))?;
        let values = Array1::from_shape_fn(size, |at| values[at]);
        let least = RANK_TOLERANCE * values.first().copied().unwrap_or(0.0);
        let rank = values.iter().take_while(|value| **value > least).count();
        if rank == 0 {
            return Err(refuse("every record is zero, so the column space is empty"));
        }
        let first =
            |vectors: &Mat<f64>, rows| Array2::from_shape_fn((rows, rank), |(row, at)| vectors[(row, at)]);
        Ok(Self {
            left: first(&left, n),
            values: values.slice(ndarray::s![..rank]).to_owned(),
            right: first(&right, d),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn it_multiplies_back_to_the_records_in_their_rank() {
        // The third column is the sum of the others, so the rank is two, tall or wide.
        let tall = array![[1.0, 2.0, 3.0], [0.5, -1.0, -0.5], [4.0, 0.0, 4.0], [0.1, 0.2, 0.3]];
        for records in [tall.clone(), tall.t().to_owned()] {
            let SingularValues { left, values, right } =
                SingularValues::new(&records, "a mechanism").unwrap();
            assert_eq!(values.len(), 2);
            let back = (&left * &values).dot(&right.t());
            assert!((back - &records).iter().all(|x| x.abs() < 1e-13));
            let gram = left.t().dot(&left) - Array2::<f64>::eye(2);
            assert!(gram.iter().all(|x| x.abs() < 1e-14), "{gram}");
        }
        let zero = SingularValues::new(&Array2::zeros((3, 2)), "a mechanism").err().unwrap();
        assert_eq!(
            zero.to_string(),
            "a mechanism does not apply: every record is zero, so the column space \
                                      is empty"
        );
    }
}
