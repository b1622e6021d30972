//! Releasing a file in bounded memory, on all cores, with the same output whatever their number.

use crate::Result;
use crate::{Clipped, Clips, Decoder, RawRows, Reader, Records, WriteRows};
use rayon::prelude::*;
use scumble_core::local::{BLOCK, release_block, view_block};
use scumble_core::{
    Drawing, Gathering, Layout, LocalMechanism, Randomness, RecordDomain, Streams, Table, Target,
    TargetLayout,
};

/// How a streamed release or view went. It is about the data: for their owner alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Streamed {
    /// How many records were written.
    pub records: u64,
    /// What was clipped to the public bounds.
    pub clipped: Vec<Clipped>,
}

/// Releases all that `reader` reads by `mechanism`, and writes it to `output`: what [`release_local`](scumble_core::release_local)
/// gives for the whole table and the same `streams`.
///
/// `on_progress` hears now and then how many bytes were read; an error from it stops the release.
///
/// # Errors
/// What is wrong with the first bad row; [`Error::Empty`](scumble_core::Error::Empty) where there is none;
/// [`Error::Write`](crate::Error::Write) where `output` fails; what `on_progress` says.
pub fn release<W: WriteRows>(
    mechanism: &dyn LocalMechanism,
    reader: &mut Reader,
    decoder: &Decoder,
    streams: &Streams,
    output: W,
    on_progress: impl FnMut(u64) -> Result<()>,
) -> Result<Streamed> {
    let release = |number: u64, records: &[f64]| Ok(release_block(mechanism, records, streams, number)?);
    rewrite(reader, decoder, release, output, on_progress)
}

/// Writes where all that `reader` reads lies in the space of what `mechanism` releases, without noise: what
/// [`local::view`](scumble_core::local::view) gives for the whole table. No guarantee covers it.
///
/// # Errors
/// As [`release`].
pub fn view<W: WriteRows>(
    mechanism: &dyn LocalMechanism,
    reader: &mut Reader,
    decoder: &Decoder,
    output: W,
    on_progress: impl FnMut(u64) -> Result<()>,
) -> Result<Streamed> {
    rewrite(reader, decoder, |_number, records| Ok(view_block(mechanism, records)?), output, on_progress)
}

/// Writes what `map` makes of each block of flat records and its number, in their order.
fn rewrite<W: WriteRows>(
    reader: &mut Reader,
    decoder: &Decoder,
    map: impl Fn(u64, &[f64]) -> Result<Vec<f64>> + Sync,
    mut output: W,
    mut on_progress: impl FnMut(u64) -> Result<()>,
) -> Result<Streamed> {
    let encoder = reader.encoder().clone();
    let map = |number: u64, rows: &RawRows| {
        let (mut records, mut clips) = (vec![], Clips::default());
        rows.encode(&encoder, &mut records, &mut clips)?;
        Ok((W::block(decoder, &map(number, &records)?)?, rows.len(&encoder), clips))
    };
    let mut streamed = Streamed { records: 0, clipped: vec![] };
    let mut all_clips = Clips::default();
    reader.in_batches(map, |(block, records, clips), bytes| {
        output.write(block)?;
        streamed.records += records as u64;
        all_clips.add(&clips);
        on_progress(bytes)
    })?;
    output.finish()?;
    streamed.clipped = encoder.clipped(&all_clips);
    Ok(streamed)
}

/// What turns a table that was released of records of `domain` into rows of a file, in the form of a streamed release.
pub fn decoder(released: &Table, domain: &RecordDomain, records: &Records) -> Decoder {
    let target = match released.target() {
        Target::None => TargetLayout::None,
        Target::Class(_) => domain.layout().target, // classes keep their number
        Target::Real(_) => TargetLayout::Real,
        Target::Vector(values) => TargetLayout::Vector { width: values.ncols() },
    };
    let layout = Layout { columns: released.columns().to_vec(), target };
    records.schema.decoder(&layout, records.target.as_deref())
}

/// Writes a released table by its `decoder` to `output`.
///
/// # Errors
/// [`Error::Shape`](scumble_core::Error::Shape) for a table that is not the decoder's, [`Error::Write`](crate::Error::Write) where
/// `output` fails.
pub fn write<W: WriteRows>(released: &Table, decoder: &Decoder, mut output: W) -> Result<()> {
    let layout = decoder.layout();
    layout.check(released)?;
    for first in (0..released.len()).step_by(BLOCK) {
        let rows = first..(first + BLOCK).min(released.len());
        let records: Vec<f64> = rows.flat_map(|row| layout.flatten(released, row)).collect();
        output.write(W::block(decoder, &records)?)?;
    }
    output.finish()
}

/// What a curator keeps of records, and what was clipped to get them.
pub struct Gathered<'c> {
    gathering: Box<dyn Gathering + 'c>,
    /// What was clipped to the public bounds. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
}

/// The values that are given to a curator at once: 32 MiB.
const MOST_VALUES: usize = 1 << 22;

impl<'c> Gathered<'c> {
    /// Gives all that `reader` reads to a curator, in bounded memory. `on_progress` hears as in [`release`].
    ///
    /// # Errors
    /// As [`release`], but for writing.
    pub fn read(
        mut gathering: Box<dyn Gathering + 'c>,
        reader: &mut Reader,
        mut on_progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<Self> {
        let encoder = reader.encoder().clone();
        let encode = |_number, rows: &RawRows| {
            let (mut records, mut clips) = (vec![], Clips::default());
            rows.encode(&encoder, &mut records, &mut clips)?;
            Ok((records, clips))
        };
        let (mut waiting, mut clips) = (vec![], Clips::default());
        reader.in_batches(encode, |(records, clipped), bytes| {
            waiting.extend(records);
            clips.add(&clipped);
            if waiting.len() >= MOST_VALUES {
                gathering.add(&waiting)?;
                waiting.clear();
            }
            on_progress(bytes)
        })?;
        gathering.add(&waiting)?;
        Ok(Self { gathering, clipped: encoder.clipped(&clips) })
    }

    /// Releases them.
    ///
    /// # Errors
    /// As [`Gathering::release`].
    pub fn release(self, randomness: &mut Randomness) -> Result<Drawing> {
        Ok(self.gathering.release(randomness)?)
    }
}

/// Writes the records of a release, once they are drawn, by its `decoder` to `output`, on all cores. `on_progress` hears how many were written; an error from it
/// stops the writing.
///
/// # Errors
/// [`Error::Write`](crate::Error::Write) where `output` fails; what `on_progress` says.
pub fn write_drawn<W: WriteRows>(
    drawing: &Drawing,
    decoder: &Decoder,
    mut output: W,
    mut on_progress: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let numbers: Vec<usize> = (0..drawing.blocks()).collect();
    let width = decoder.layout().width().max(1);
    let mut written = 0;
    for numbers in numbers.chunks(rayon::current_num_threads()) {
        let block = |number: &usize| {
            let records = drawing.block(*number)?;
            Ok((W::block(decoder, &records)?, records.len() / width))
        };
        let blocks: Vec<(W::Block, usize)> = numbers.par_iter().map(block).collect::<Result<_>>()?;
        for (block, records) in blocks {
            output.write(block)?;
            written += records as u64;
        }
        on_progress(written)?;
    }
    output.finish()
}

/// Reads all of it and releases nothing: whether [`release`] would fail for what it reads.
///
/// # Errors
/// As [`release`], but for writing.
pub fn check(reader: &mut Reader, mut on_progress: impl FnMut(u64) -> Result<()>) -> Result<()> {
    let encoder = reader.encoder().clone();
    let check = |_number, rows: &RawRows| rows.encode(&encoder, &mut vec![], &mut Clips::default());
    reader.in_batches(check, |(), bytes| on_progress(bytes))
}
