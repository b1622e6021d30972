//! Interface that every statistic implements.

use scumble_core::{Key, Result, Streams, Table};
use std::fmt::Debug;

/// Stream that released rows are drawn from. Sets and noise use the streams before it.
pub(crate) const ROWS: u64 = 2;

/// Function from rows to the values of a statistic. A [`Computed`] makes it of a table; every half gives the
/// same number of values.
pub(crate) type RowValues<'t> = Box<dyn Fn(&[usize]) -> Result<Vec<f64>> + Send + Sync + 't>;

/// A statistic of records of a domain.
pub(crate) trait Computed: Debug + Send + Sync {
    /// Returns the function that computes the statistic of some rows of `table`. It may depend on all
    /// records, because the adversary is assumed to know them.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`](scumble_core::Layout::check).
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>>;

    /// Turns noisy values into a release: a table of `records` records, or of a model's coefficients.
    /// `scales` holds the σ of the noise on each value.
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

    /// Family of models to which the release belongs, if it is a model.
    fn family(&self) -> Option<&'static str> {
        None
    }
}
