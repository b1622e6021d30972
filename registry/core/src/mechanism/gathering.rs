//! A curator's release of records that come in blocks and leave in blocks, in memory that does not grow with their number.

use super::{Key, Release};
use crate::{Guarantee, Layout, Noise, Randomness, Result, Stream, Streams};
use rayon::prelude::*;
use std::fmt;

/// What a curator keeps of the records, each of which it sees once: by [`CuratorMechanism::gathering`](super::CuratorMechanism::gathering).
pub trait Gathering: Send {
    /// Takes these flat records too, one after the other.
    ///
    /// # Errors
    /// As [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn add(&mut self, records: &[f64]) -> Result<()>;

    /// Releases what was gathered.
    ///
    /// # Errors
    /// As [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Drawing>;
}

/// What the values of a block take: 64 MiB.
const MOST_VALUES: usize = 1 << 23;
/// The most records of a block.
const MOST_RECORDS: usize = 1 << 16;

/// Draws so many flat records, one after the other.
type Draw = dyn Fn(usize, &mut Stream) -> Result<Vec<f64>> + Send + Sync;

/// A release whose records are drawn block by block, each block whenever it is asked for and always the same. It has no key.
pub struct Drawing {
    /// What the release guarantees.
    pub guarantee: Guarantee,
    /// The distribution of the released records given those that came in.
    pub noise: Noise,
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
    /// So many records of a shape, drawn by `draw`; of the `streams` it takes those from 1 on.
    pub fn new(
        (guarantee, noise): (Guarantee, Noise),
        layout: Layout,
        records: usize,
        streams: Streams,
        draw: impl Fn(usize, &mut Stream) -> Result<Vec<f64>> + Send + Sync + 'static,
    ) -> Self {
        Self { guarantee, noise, layout, records, streams, draw: Box::new(draw) }
    }

    /// The shape of its records.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many records it has.
    pub fn records(&self) -> usize {
        self.records
    }

    /// The records of a block, but for the last one.
    fn of_block(&self) -> usize {
        (MOST_VALUES / self.layout.width().max(1)).clamp(1, MOST_RECORDS)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.records.div_ceil(self.of_block())
    }

    /// The flat records of block `number`, one after the other.
    ///
    /// # Errors
    /// As [`Gathering::release`].
    pub fn block(&self, number: usize) -> Result<Vec<f64>> {
        let most = self.of_block();
        let records = self.records.saturating_sub(number.saturating_mul(most)).min(most);
        (self.draw)(records, &mut self.streams.stream(number as u64 + 1))
    }

    /// All of its records at once.
    ///
    /// # Errors
    /// As [`block`](Self::block).
    pub fn release(self) -> Result<Release> {
        let blocks: Vec<Vec<f64>> =
            (0..self.blocks()).into_par_iter().map(|number| self.block(number)).collect::<Result<_>>()?;
        let table = self.layout.table_of(blocks.concat())?;
        Ok(Release { table, guarantee: self.guarantee, noise: self.noise, key: Key::None })
    }
}
