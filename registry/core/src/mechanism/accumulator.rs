//! Releases by a curator, whose input records arrive in blocks and whose output records leave in blocks. A
//! curator is trusted with all records. If a curator needs only sufficient statistics, memory use is
//! independent of the number of records.

use super::{Key, Release};
use crate::levels::CountedTable;
use crate::{
    Error, Guarantee, Layout, Noise, Randomness, RecordDomain, Result, Stream, Streams, Table, interrupt,
    size,
};
use rayon::prelude::*;
use std::fmt;

/// Streaming accumulator of a curator's mechanism. It sees each record once.
/// [`CuratorMechanism::start`](super::CuratorMechanism::start) makes it.
pub trait Accumulator: Send {
    /// Adds `records` in flat form (features, then target), one after the other.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn add(&mut self, records: &[f64]) -> Result<()>;

    /// Makes the release from all added records.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome>;
}

/// Output of a curator.
#[derive(Debug)]
pub enum Outcome {
    /// All rows at once, with the [`Key`] of the release.
    Rows(Release),
    /// Records that are drawn block by block.
    Synthetic(Drawing),
    /// Model, with its coefficients as a table.
    Model(Release),
}

impl From<Release> for Outcome {
    fn from(release: Release) -> Self {
        match release.key {
            Key::Model(_) => Self::Model(release),
            Key::None | Key::Design(_) | Key::Secret(_) => Self::Rows(release),
        }
    }
}

/// Accumulator that keeps all records, for a curator that needs them at once. `release` receives all records
/// as one table.
pub fn collected<'c>(
    domain: &RecordDomain,
    release: impl FnOnce(&Table, &mut Randomness) -> Result<Release> + Send + 'c,
) -> Box<dyn Accumulator + 'c> {
    Box::new(Collected { layout: domain.layout(), flat: vec![], release })
}

struct Collected<F> {
    layout: Layout,
    flat: Vec<f64>,
    release: F,
}

impl<F: FnOnce(&Table, &mut Randomness) -> Result<Release> + Send> Accumulator for Collected<F> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        let width = self.layout.width().max(1);
        if !records.len().is_multiple_of(width) {
            return Err(Error::shape(format!(
                "{} values do not make records of {width} values each",
                records.len()
            )));
        }
        self.flat.extend_from_slice(records);
        Ok(())
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let Self { layout, flat, release } = *self;
        let table = layout.table_of(flat)?;
        layout.check(&table)?;
        Ok(release(&table, randomness)?.into())
    }
}

impl Outcome {
    /// Whole release, with all its rows in memory.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the drawn records take more than
    /// [`MOST_BYTES`](size::MOST_BYTES). Also the errors of [`Drawing::block`].
    pub fn release(self) -> Result<Release> {
        match self {
            Self::Synthetic(drawing) => drawing.release(),
            Self::Rows(release) | Self::Model(release) => Ok(release),
        }
    }
}

/// Passes the records of `table` to `add` in flat form (features, then target), block by block.
///
/// # Errors
/// Errors of [`Layout::check`] for `table`, and errors of `add`.
pub fn in_blocks(layout: &Layout, table: &Table, mut add: impl FnMut(&[f64]) -> Result<()>) -> Result<()> {
    layout.check(table)?;
    let block_size = records_of_block(layout);
    for start in (0..table.len()).step_by(block_size) {
        add(&layout.flat(table, start..table.len().min(start + block_size)))?;
    }
    Ok(())
}

/// Maximum number of values of a block, 64 MiB in all.
const MOST_VALUES: usize = 1 << 23;
/// Maximum number of records of a block.
const MOST_RECORDS: usize = 1 << 14;

/// Number of records of this `layout` in each block but the last.
fn records_of_block(layout: &Layout) -> usize {
    (MOST_VALUES / layout.width().max(1)).clamp(1, MOST_RECORDS)
}

/// Function that draws the given number of flat records, one after the other.
pub type Draw = dyn Fn(usize, &mut Stream) -> Result<Vec<f64>> + Send + Sync;

/// Release of synthetic records that are drawn block by block. A block may be drawn at any time, and again
/// with the same result. The release has no [`Key`].
pub struct Drawing {
    /// Guarantee of the release.
    pub guarantee: Guarantee,
    /// Distribution of the released records given the input records.
    pub noise: Noise,
    /// Same as [`Release::counted_tables`].
    pub counted_tables: Vec<Vec<usize>>,
    /// Same as [`Release::noisy_tables`].
    pub noisy_tables: Vec<CountedTable>,
    layout: Layout,
    records: usize,
    streams: Streams,
    draw: Box<Draw>,
}

impl fmt::Debug for Drawing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Drawing").field("records", &self.records).finish_non_exhaustive()
    }
}

impl Drawing {
    /// Creates a release of `records` records with this `layout`, drawn by `draw`. Block b, counted from 0,
    /// uses stream b + 1 of `streams`.
    pub fn new(
        (guarantee, noise): (Guarantee, Noise),
        layout: Layout,
        records: usize,
        streams: Streams,
        draw: impl Fn(usize, &mut Stream) -> Result<Vec<f64>> + Send + Sync + 'static,
    ) -> Self {
        let (counted_tables, noisy_tables, draw) = (vec![], vec![], Box::new(draw));
        Self { guarantee, noise, counted_tables, noisy_tables, layout, records, streams, draw }
    }

    /// Same release, with the columns of the tables from which its records are drawn, and with these tables.
    #[must_use]
    pub fn with_tables(self, counted_tables: Vec<Vec<usize>>, noisy_tables: Vec<CountedTable>) -> Self {
        Self { counted_tables, noisy_tables, ..self }
    }

    /// Shape of the records.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.records.div_ceil(records_of_block(&self.layout))
    }

    /// Records of block `number`, counted from 0, in flat form (features, then target), one after the other.
    ///
    /// # Errors
    /// Same errors as [`Accumulator::release`].
    pub fn block(&self, number: usize) -> Result<Vec<f64>> {
        interrupt::check()?;
        let most = records_of_block(&self.layout);
        let records = self.records.saturating_sub(number.saturating_mul(most)).min(most);
        (self.draw)(records, &mut self.streams.stream(number as u64 + 1))
    }

    /// All records at once.
    ///
    /// # Errors
    /// Same errors as [`block`](Self::block), and [`Error::TooLarge`](crate::Error::TooLarge) if the records
    /// take more than [`MOST_BYTES`](size::MOST_BYTES).
    fn release(self) -> Result<Release> {
        let values = [self.records, self.layout.width()];
        size::check_held("a curator", "the number of records", &values, size_of::<f64>())?;
        let blocks: Vec<Vec<f64>> =
            (0..self.blocks()).into_par_iter().map(|number| self.block(number)).collect::<Result<_>>()?;
        let table = self.layout.table_of(blocks.concat())?;
        let Self { guarantee, noise, counted_tables, noisy_tables, .. } = self;
        Ok(Release { table, guarantee, noise, key: Key::None, counted_tables, noisy_tables })
    }
}
