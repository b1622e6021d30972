//! Releasing a file in bounded memory, on all cores, with the same output whatever their number.

use crate::local::{BLOCK, release_block};
use crate::{
    Clipped, Clips, Decoder, Error, Layout, LocalMechanism, Noise, RecordDomain, Records, Release, Result,
    Streams, Target, TargetLayout, csv,
};
use rayon::prelude::*;
use std::io::{Read, Write};

/// How a streamed release went. It is about the data: for their owner alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Streamed {
    /// How many records were released.
    pub records: u64,
    /// What was clipped to the public bounds.
    pub clipped: Vec<Clipped>,
}

/// Releases all that `reader` reads by `mechanism`, and writes it as CSV: what [`local::release`](crate::local::release)
/// gives for the whole table and the same `streams`.
///
/// `on_progress` hears now and then how many bytes were read; an error from it stops the release.
///
/// # Errors
/// What is wrong with the first bad row; [`Error::Empty`] where there is none; [`Error::Write`] where `output` fails; what
/// `on_progress` says.
pub fn release<R: Read + Send>(
    mechanism: &dyn LocalMechanism,
    reader: &mut csv::Reader<R>,
    decoder: &Decoder,
    streams: &Streams,
    output: &mut dyn Write,
    mut on_progress: impl FnMut(u64) -> Result<()>,
) -> Result<Streamed> {
    let encoder = reader.encoder().clone();
    let width = mechanism.layout().width().max(1);
    let release = |number: u64, rows: &csv::RawRows| {
        let (mut records, mut clips) = (vec![], Clips::default());
        rows.encode(&encoder, &mut records, &mut clips)?;
        let released = release_block(mechanism, &records, streams, number)?;
        let text = as_csv(released.chunks(width).map(|record| decoder.decode(record)))?;
        Ok((text, rows.len(&encoder), clips))
    };
    output.write_all(&as_csv([Ok(decoder.header().to_vec())])?).map_err(Error::from_write)?;
    let mut streamed = Streamed { records: 0, clipped: vec![] };
    let mut all_clips = Clips::default();
    in_batches(reader, release, |(text, records, clips), bytes| {
        output.write_all(&text).map_err(Error::from_write)?;
        streamed.records += records as u64;
        all_clips.add(&clips);
        on_progress(bytes)
    })?;
    streamed.clipped = encoder.clipped(&all_clips);
    Ok(streamed)
}

/// Writes what was released of records of `domain` as CSV, in the form of a streamed release, and returns the law of what is
/// read back from it.
///
/// # Errors
/// [`Error::Shape`] for a table that no mechanism releases, [`Error::Write`] where `output` fails.
pub fn write(
    released: &Release,
    domain: &RecordDomain,
    records: &Records,
    output: &mut dyn Write,
) -> Result<Noise> {
    let table = &released.table;
    let target = match table.target() {
        Target::None => TargetLayout::None,
        Target::Class(_) => domain.layout().target, // classes keep their number
        Target::Real(_) => TargetLayout::Real,
        Target::Vector(values) => TargetLayout::Vector { width: values.ncols() },
    };
    let layout = Layout { columns: table.columns().to_vec(), target };
    layout.check(table)?;
    let decoder = records.schema.decoder(&layout, records.target.as_deref());
    let rows = (0..table.len()).map(|row| decoder.decode(&layout.flatten(table, row)));
    let text = as_csv([Ok(decoder.header().to_vec())].into_iter().chain(rows))?;
    output.write_all(&text).map_err(Error::from_write)?;
    Ok(decoder.noise(&released.noise))
}

/// Reads all of it and releases nothing: whether [`release`] would fail for what it reads.
///
/// # Errors
/// As [`release`], but for writing.
pub fn check<R: Read + Send>(
    reader: &mut csv::Reader<R>,
    mut on_progress: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let encoder = reader.encoder().clone();
    let check = |_number, rows: &csv::RawRows| rows.encode(&encoder, &mut vec![], &mut Clips::default());
    in_batches(reader, check, |(), bytes| on_progress(bytes))
}

/// Text of a batch; while one is released, which takes some four times its size, the next is read.
const MOST_BYTES: usize = 8 << 20;

/// Maps blocks of rows by their numbers on all cores while the next ones are read, and takes the results in order.
///
/// # Errors
/// The first in that order, whether a block could not be read, mapped or taken; [`Error::Empty`] where there is none.
fn in_batches<R: Read + Send, T: Send>(
    reader: &mut csv::Reader<R>,
    map: impl Fn(u64, &csv::RawRows) -> Result<T> + Sync,
    mut take: impl FnMut(T, u64) -> Result<()>,
) -> Result<()> {
    let most_blocks = 4 * rayon::current_num_threads();
    let no_records = reader.encoder().no_records();
    // A block that cannot be read ends its batch, and is an error when its turn comes.
    let mut read = || -> (Vec<Result<csv::RawRows>>, u64) {
        let (mut batch, mut bytes) = (vec![], 0);
        while batch.len() < most_blocks
            && bytes < MOST_BYTES
            && let Some(rows) = reader.next_rows(BLOCK).transpose()
        {
            bytes += rows.as_ref().map_or(MOST_BYTES, csv::RawRows::bytes);
            batch.push(rows);
        }
        (batch, reader.bytes())
    };
    let mut number = 0;
    let mut next = read();
    if next.0.is_empty() {
        return Err(no_records);
    }
    while !next.0.is_empty() {
        let (batch, bytes) = next;
        let numbered: Vec<(u64, Result<csv::RawRows>)> = (number..).zip(batch).collect();
        number += numbered.len() as u64;
        let work = || {
            let mapped =
                numbered.into_par_iter().map(|(number, rows)| rows.and_then(|rows| map(number, &rows)));
            mapped.collect::<Vec<_>>()
        };
        let (done, following) = rayon::join(work, &mut read);
        for result in done {
            take(result?, bytes)?;
        }
        next = following;
    }
    Ok(())
}

fn as_csv(rows: impl IntoIterator<Item = Result<Vec<String>>>) -> Result<Vec<u8>> {
    let mut writer = ::csv::Writer::from_writer(vec![]);
    for row in rows {
        writer.write_record(&row?).map_err(|error| Error::from_write(std::io::Error::other(error)))?;
    }
    writer.into_inner().map_err(|error| Error::from_write(error.into_error()))
}
