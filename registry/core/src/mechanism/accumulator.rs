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
use serde_json::Value;
use std::fmt;

/// Streaming accumulator of a curator's mechanism. It sees each record once.
/// [`CuratorMechanism::start`](super::CuratorMechanism::start) makes it.
pub trait Accumulator: Send {
    /// Adds `records` in flat form (features, then target), one after the other.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn add(&mut self, records: &[f64]) -> Result<()>;

    /// Adds `records` like [`add`](Self::add), of people who may have several. `shares` has the share of each
    /// record in its person's weight, in units of 1/[`PARTS`](crate::PARTS). The shares of a person's records
    /// have the sum [`PARTS`](crate::PARTS), and the records of a person may come in any order and in several
    /// calls. All records of a person together must change the release no more than one record with all of
    /// the weight.
    ///
    /// # Errors
    /// By default, [`Error::NotApplicable`](crate::Error::NotApplicable): the mechanism takes one record of
    /// each person. An override has the errors of [`add`](Self::add).
    fn add_shares(&mut self, _records: &[f64], _shares: &[u16]) -> Result<()> {
        Err(Error::not_applicable("the mechanism", "it takes one record of each person"))
    }

    /// Makes the tables of the period after those of `earlier`, from all added records (see
    /// [`CuratorMechanism::horizon`](super::CuratorMechanism::horizon)). `earlier` is the state that the
    /// release of the period before returned; `None` for the first period.
    ///
    /// # Errors
    /// By default, [`Error::NotApplicable`](crate::Error::NotApplicable): the mechanism has no horizon. An
    /// override has the errors of [`release`](Self::release), and [`Error::State`](crate::Error::State) for
    /// the state of another design, or of the last period.
    fn release_period(
        self: Box<Self>,
        _earlier: Option<&Value>,
        _randomness: &mut Randomness,
    ) -> Result<PeriodTables> {
        Err(Error::not_applicable("the mechanism", "it has no horizon of several periods"))
    }

    /// Makes the release from all added records.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome>;
}

/// Noisy tables of a period of a [horizon](super::CuratorMechanism::horizon).
#[derive(Debug)]
pub struct PeriodTables {
    /// Guarantee of all periods together.
    pub guarantee: Guarantee,
    /// Tables of all periods so far.
    pub totals: Vec<CountedTable>,
    /// Tables of this period alone.
    pub alone: Vec<CountedTable>,
    /// State that the next period needs. It holds exact counts, and must be kept secret.
    pub state: Value,
}

/// Output of a curator.
#[derive(Debug)]
pub enum Outcome {
    /// All rows at once, with the [`Key`] of the release.
    Rows(Release),
    /// Records that are drawn block by block.
    Synthetic(Drawing),
    /// Noisy tables, in [`Release::noisy_tables`]. The rows of the release are their counts, one after the
    /// other.
    Tables(Release),
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
    /// Guarantee of the release.
    pub fn guarantee(&self) -> &Guarantee {
        match self {
            Self::Synthetic(drawing) => &drawing.guarantee,
            Self::Rows(release) | Self::Tables(release) | Self::Model(release) => &release.guarantee,
        }
    }

    /// Same output, with the guarantee for people of whom several records may count (see
    /// [`Guarantee::of_people`]).
    #[must_use]
    pub fn of_people(mut self, records_per_person: Option<u16>) -> Self {
        let guarantee = match &mut self {
            Self::Synthetic(drawing) => &mut drawing.guarantee,
            Self::Rows(release) | Self::Tables(release) | Self::Model(release) => &mut release.guarantee,
        };
        *guarantee = std::mem::take(guarantee).of_people(records_per_person);
        self
    }

    /// Whole release, with all its rows in memory.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if the drawn records take more than
    /// [`MOST_BYTES`](size::MOST_BYTES). Also the errors of [`Drawing::block`].
    pub fn release(self) -> Result<Release> {
        match self {
            Self::Synthetic(drawing) => drawing.release(),
            Self::Rows(release) | Self::Tables(release) | Self::Model(release) => Ok(release),
        }
    }
}

/// Passes the records of `table` to `add` in flat form (features, then target), block by block. `add` also
/// receives their [shares](Table::shares) if people have several records.
///
/// # Errors
/// Errors of [`Layout::check`] for `table`, and errors of `add`. Records may have shares.
pub fn in_blocks(
    layout: &Layout,
    table: &Table,
    mut add: impl FnMut(&[f64], Option<&[u16]>) -> Result<()>,
) -> Result<()> {
    layout.check_values(table)?;
    let block_size = records_of_block(layout);
    for start in (0..table.len()).step_by(block_size) {
        let rows = start..table.len().min(start + block_size);
        add(&layout.flat(table, rows.clone()), table.shares().map(|shares| &shares[rows]))?;
    }
    Ok(())
}

/// Adds the records of `table` to `accumulator`, block by block.
///
/// # Errors
/// Same errors as [`in_blocks`], and the errors of `accumulator`.
pub fn accumulate(layout: &Layout, table: &Table, accumulator: &mut dyn Accumulator) -> Result<()> {
    in_blocks(layout, table, |records, shares| match shares {
        Some(shares) => accumulator.add_shares(records, shares),
        None => accumulator.add(records),
    })
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
