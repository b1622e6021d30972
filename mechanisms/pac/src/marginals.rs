//! Tables of counts.

use crate::computed::{Computed, ROWS, RowValues};
use scumble_core::{Key, Result, Streams, Table};
use scumble_marginals::{Coded, Tables};

/// Statistic of tables of counts. The counts in one half of the records are scaled up to estimate the counts
/// in all records.
impl Computed for Tables {
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>> {
        let (coded, records): (Coded, f64) = (self.coded(table)?, table.len() as f64);
        Ok(Box::new(move |rows| {
            let share = records / rows.len() as f64;
            Ok(self.counts(&coded, rows)?.into_iter().map(|count| count as f64 * share).collect())
        }))
    }

    fn released(
        &self,
        noisy: &[f64],
        scales: &[f64],
        records: usize,
        streams: &Streams,
    ) -> Result<(Table, Key)> {
        let variances: Vec<f64> = scales.iter().map(|scale| scale * scale).collect();
        Ok((self.records(noisy, &variances, records, &mut streams.stream(ROWS))?, Key::None))
    }

    fn counted_tables(&self) -> Vec<Vec<usize>> {
        self.cliques().to_vec()
    }
}
