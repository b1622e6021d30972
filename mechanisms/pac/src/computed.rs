//! Interface that the computation of every statistic implements.

use scumble_core::{Key, Result, Streams, Table};
use std::fmt::Debug;

/// Index of the random stream from which released rows are drawn. The candidate halves and the noise are
/// drawn from the streams with smaller indices.
pub(crate) const ROWS: u64 = 2;

/// Function that maps row indices of a table to the values of a statistic of these rows.
/// [`Computed::on_rows`] creates it. It returns the same number of values for every half.
pub(crate) type RowValues<'t> = Box<dyn Fn(&[usize]) -> Result<Vec<f64>> + Send + Sync + 't>;

/// Computation of a statistic for the records of a domain.
pub(crate) trait Computed: Debug + Send + Sync {
    /// Returns the function that computes the statistic of some rows of `table`. The function may depend on
    /// all records of `table`, because the adversary is assumed to know all of them.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`](scumble_core::Layout::check).
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>>;

    /// Turns noisy values into a release: a table of `records` records, or a table of a model's coefficients.
    /// `scales` contains the standard deviation of the noise on each value.
    ///
    /// # Errors
    /// Returns an error for a wrong number of values.
    fn released(
        &self,
        noisy: &[f64],
        scales: &[f64],
        records: usize,
        streams: &Streams,
    ) -> Result<(Table, Key)>;

    /// Same as [`Release::counted_tables`](scumble_core::Release::counted_tables).
    fn counted_tables(&self) -> Vec<Vec<usize>> {
        vec![]
    }

    /// Name of the model family, such as "ridge", if the release is a model.
    fn family(&self) -> Option<&'static str> {
        None
    }
}
