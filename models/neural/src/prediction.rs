//! Predictions of a network.

use crate::{Network, Pass, Real, Result};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

/// Maximum number of records predicted at a time.
const MOST_AT_A_TIME: usize = 1024;
/// Maximum number of values in one array of a pass, if it has more than one record.
const MOST_VALUES: usize = 1 << 24;

impl<T: Real> Network<T> {
    /// Returns the number of records to predict at a time.
    pub(crate) fn at_a_time(&self) -> usize {
        let most = self.architecture().places().map(|place| place.values()).max().unwrap_or(1);
        (MOST_VALUES / most.max(1)).clamp(1, MOST_AT_A_TIME)
    }

    /// Computes the outputs (n × outputs) for `records` (n × inputs).
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) unless `records` has one column per input.
    pub fn predict(&self, records: ArrayView2<T>) -> Result<Array2<T>> {
        let mut outputs = Array2::zeros((records.nrows(), self.architecture().outputs()));
        let mut pass = Pass::default();
        let at_a_time = self.at_a_time();
        let parts = records.axis_chunks_iter(Axis(0), at_a_time);
        for (records, mut output) in parts.zip(outputs.axis_chunks_iter_mut(Axis(0), at_a_time)) {
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
