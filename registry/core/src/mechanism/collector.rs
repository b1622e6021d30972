//! Collection of records from reports.

use super::{Key, Release, ValuesIn};
use crate::{Noise, Result, Stream, Table};

/// Collector of the reports of many people. A report answers one question and says little about a person.
/// Many reports together show the joint distribution of the columns. Collection is post-processing, so it
/// does not weaken any claim.
pub trait Collector {
    /// Draws `records` records in the domain's own columns. Their distribution is the one that `reports`
    /// (n × the layout's width) estimate. No record belongs to a person.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for reports that the mechanism does not make, naming the row.
    fn collect(&self, reports: &Table, records: usize, stream: &mut Stream) -> Result<Table>;

    /// Encoding of whole values in the collected records.
    fn values_in(&self) -> ValuesIn;

    /// Information in each report by itself, as numbers that an adversary can learn from (n × m). A report is
    /// one person's.
    ///
    /// # Errors
    /// Same errors as [`collect`](Self::collect).
    fn adversary_view(&self, reports: &Table) -> Result<Table>;
}

impl Release {
    /// Collector that turns this release into records; `None` unless the release consists of reports.
    pub fn collector(&self) -> Option<&dyn Collector> {
        match &self.key {
            Key::Design(mechanism) => mechanism.collector(),
            Key::None | Key::Secret(_) | Key::Model(_) => None,
        }
    }

    /// Same release with `records` records collected from its reports; `None` if the release consists of
    /// records.
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
        }))
    }
}
