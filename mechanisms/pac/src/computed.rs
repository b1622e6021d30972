//! What a statistic is.

use scumble_core::{Key, Result, Streams, Table};
use std::fmt::Debug;

/// The stream that released rows are drawn from; sets and noise have those before it.
pub(crate) const ROWS: u64 = 2;

/// The values that any half of the rows gives, always as many; what a [`Computed`] makes of a table.
pub(crate) type OfRows<'t> = Box<dyn Fn(&[usize]) -> Result<Vec<f64>> + Send + Sync + 't>;

/// A statistic of records of a domain.
pub(crate) trait Computed: Debug + Send + Sync {
    /// What computes it of some rows of `table`. It may depend on all records: an adversary is taken to know them.
    ///
    /// # Errors
    /// As [`Layout::check`](scumble_core::Layout::check).
    fn of<'t>(&'t self, table: &Table) -> Result<OfRows<'t>>;

    /// What is released for noisy values and the σ of the noise on each: a table of so many records, or of a model's coefficients.
    ///
    /// # Errors
    /// For values of another number.
    fn released(
        &self,
        noisy: &[f64],
        scales: &[f64],
        records: usize,
        streams: &Streams,
    ) -> Result<(Table, Key)>;

    /// The family of models that a release is one of.
    fn family(&self) -> Option<&'static str> {
        None
    }
}
