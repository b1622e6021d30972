//! Records from reports.

use super::{Key, Release, ValuesIn};
use crate::{Noise, Result, Stream, Table};

/// What a mechanism does with the reports of many people: an answer to one question says little of a person, and many together say how the
/// columns of their records go together. All of it is post-processing, which no claim weighs.
pub trait Collector {
    /// So many records in the domain's own columns, drawn from the distribution that `reports` (n × the layout's width) estimate: none of them is
    /// anybody's.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for reports that the mechanism does not make, naming the row.
    fn collect(&self, reports: &Table, records: usize, stream: &mut Stream) -> Result<Table>;

    /// Encoding of whole values in the collected records.
    fn values_in(&self) -> ValuesIn;

    /// What each report says by itself, in numbers that an adversary can learn from (n × m): a report is one person's.
    ///
    /// # Errors
    /// As [`collect`](Self::collect).
    fn told(&self, reports: &Table) -> Result<Table>;
}

impl Release {
    /// What turns this release into records, where it is one of reports.
    pub fn collector(&self) -> Option<&dyn Collector> {
        match &self.key {
            Key::Design(mechanism) => mechanism.collector(),
            Key::None | Key::Secret(_) | Key::Model(_) => None,
        }
    }

    /// The same release with so many records that are collected from its reports; none where records are what was released.
    ///
    /// # Errors
    /// As [`Collector::collect`].
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
