//! Collection of records from reports. A *report* is a person's randomised answer to one question about their
//! record.

use super::{Key, Release, ValuesIn};
use crate::{Noise, Result, Stream, Table};

/// Collector, which draws synthetic records from the reports of many people. One report says little about a
/// person, but many reports estimate the joint distribution of the columns. Collection is post-processing, so
/// it does not weaken any claim.
pub trait Collector {
    /// Draws `records` records in the domain's own columns, from the distribution that `reports` (one row per
    /// person) estimate. No record belongs to a person.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if a row is not a possible report of the mechanism. The error
    /// names the row.
    fn collect(&self, reports: &Table, records: usize, stream: &mut Stream) -> Result<Table>;

    /// Encoding of whole values (integers, days, ranks) in the columns of the collected records.
    fn values_in(&self) -> ValuesIn;

    /// Table of n rows, one per report, and m columns. Row i expresses all information that report i contains
    /// about its sender as m numbers, on which an adversary can train a model.
    ///
    /// # Errors
    /// Same errors as [`collect`](Self::collect).
    fn adversary_view(&self, reports: &Table) -> Result<Table>;
}

impl Release {
    /// Collector that draws records from this release; `None` unless the release consists of reports.
    pub fn collector(&self) -> Option<&dyn Collector> {
        match &self.key {
            Key::Design(mechanism) => mechanism.collector(),
            Key::None | Key::Secret(_) | Key::Model(_) => None,
        }
    }

    /// Same release with `records` records collected from its reports; `None` if the release does not consist
    /// of reports.
    ///
    /// # Errors
    /// Same errors as [`Collector::collect`].
    pub fn collected(&self, records: usize, stream: &mut Stream) -> Result<Option<Self>> {
        let Key::Design(mechanism) = &self.key else {
            return Ok(None);
        };
        let Some(collector) = mechanism.collector() else {
            return Ok(None);
        };
        let table = collector.collect(&self.table, records, stream)?;
        let layout = mechanism.domain().layout();
        Ok(Some(Self {
            table,
            noise: Noise::unknown(&layout),
            guarantee: self.guarantee.clone(),
            key: self.key.clone(),
            counted_tables: vec![],
        }))
    }
}
