//! Predictions of a network.

use crate::{Network, Pass, Real, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Number of records predicted at a time.
pub(crate) const AT_A_TIME: usize = 1024;

impl<T: Real> Network<T> {
    /// Computes the outputs (n × outputs) for `records` (n × inputs).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) unless `records` has one column per input.
    pub fn predict(&self, records: ArrayView2<T>) -> Result<Array2<T>> {
        let mut outputs = Array2::zeros((records.nrows(), self.architecture().outputs()));
        let mut pass = Pass::default();
        let parts = records.axis_chunks_iter(Axis(0), AT_A_TIME);
        for (records, mut output) in parts.zip(outputs.axis_chunks_iter_mut(Axis(0), AT_A_TIME)) {
            output.assign(&self.forward(records, &mut pass)?);
        }
        Ok(outputs)
    }

    /// Returns the number of the class with the largest output, counted from 0, for each of n `records` (n ×
    /// inputs). Ties go to the first class.
    ///
    /// # Errors
    /// Same errors as [`predict`](Self::predict).
    pub fn classify(&self, records: ArrayView2<T>) -> Result<Array1<usize>> {
        let largest = |row: ArrayView1<T>| {
            (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best })
        };
        Ok(self.predict(records)?.outer_iter().map(largest).collect())
    }
}
