//! Collection of records from reports. A *report* is a person's randomised answer to one question about their
//! record.

use super::accumulator::Draw;
use super::{Key, LocalMechanism, Release, ValuesIn};
use crate::{Noise, Result, Stream, Table, size};

/// Collector, which draws synthetic records from the reports of many people. One report says little about a
/// person, but many reports estimate the joint distribution of the columns. Collection is post-processing, so
/// it does not weaken any claim.
pub trait Collector: LocalMechanism {
    /// Starts a collection, to which reports are added in any number of tables.
    fn start(&self) -> Box<dyn Collection + '_>;

    /// Encoding of whole values (integers, days, ranks) in the columns of the collected records.
    fn values_in(&self) -> ValuesIn;

    /// Tables whose relations the collected records keep, by the indices of their columns among the features
    /// and the target. Other relations may be lost, and a column in no table has random values. Empty, the
    /// default, if the records are drawn in another way.
    fn counted_tables(&self) -> Vec<Vec<usize>> {
        vec![]
    }

    /// Table of n rows, one per report, and m columns. Row i expresses all information that report i contains
    /// about its sender as m numbers, on which an adversary can train a model.
    ///
    /// # Errors
    /// Same errors as [`Collection::add`].
    fn adversary_view(&self, reports: &Table) -> Result<Table>;

    /// Draws `records` records in the domain's own columns, from the distribution that `reports` (one row per
    /// person) estimate. No record belongs to a person.
    ///
    /// # Errors
    /// Same errors as [`Collection::add`] and [`Collection::finish`], and
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the records take more than
    /// [`MOST_BYTES`](size::MOST_BYTES).
    fn collect(&self, reports: &Table, records: usize, stream: &mut Stream) -> Result<Table> {
        let layout = self.domain().layout();
        size::check_held("a collector", "records", &[records, layout.width()], size_of::<f64>())?;
        let mut collection = self.start();
        collection.add(reports)?;
        layout.table_of(collection.finish()?(records, stream)?)
    }
}

/// Sum of the reports of many people. Its size does not grow with their number.
pub trait Collection: Send {
    /// Adds reports, one row per person.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if a row is not a possible report of the mechanism. The error
    /// names the row, counted over all added reports.
    fn add(&mut self, reports: &Table) -> Result<()>;

    /// Returns a function that draws flat records in the domain's own columns, from the distribution that the
    /// reports estimate.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the reports do not determine a distribution.
    fn finish(self: Box<Self>) -> Result<Box<Draw>>;
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
            noisy_tables: vec![],
        }))
    }
}
