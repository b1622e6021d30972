//! Release of a file in bounded memory on all cores. The output does not depend on the number of cores.
//!
//! A *release* is the output of a privacy mechanism for all records. A *view* is its noise-free counterpart,
//! without a guarantee. A *curator* is trusted with all records, and its mechanism may use them together. A
//! *flat* record lists the coordinates of an encoded record.

use crate::decoder::InputBlock;
use crate::{
    Clipped, Clips, Decoded, Decoder, Encoder, Error, OutOfBounds, RawRows, ReadRows, Reader, Result, Schema,
    WriteRows,
};
use rayon::prelude::*;
use scumble_core::local::{BLOCK, release_block, view_block};
use scumble_core::text::abridged;
use scumble_core::{
    Accumulator, Collector, Drawing, Layout, LocalMechanism, Noise, Outcome, Randomness, RecordDomain,
    Streams, Table, Target, TargetLayout, interrupt,
};
use scumble_noise::{Fingerprint, NoiseKey, RecordDigest, id_digest};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;

/// Summary of a streamed release or view. It is computed without noise, and is for the owner of the records
/// only.
#[derive(Debug, Clone, PartialEq)]
pub struct Streamed {
    /// Number of records written.
    pub records: u64,
    /// Number of cells clipped to the public bounds, per column.
    pub clipped: Vec<Clipped>,
}

/// Releases all records of `reader` by `mechanism` and writes them to `output`. The result equals
/// [`release_local`](scumble_core::release_local) on the whole table with the same `streams`.
///
/// From time to time, `on_progress` receives the number of bytes read so far. An error of `on_progress` stops
/// the release.
///
/// # Errors
/// The error of the first faulty row; [`Error::Empty`](scumble_core::Error::Empty) if there are no rows;
/// [`Error::Write`] if `output` fails; any error of `on_progress`.
pub fn release<W: WriteRows + Send>(
    mechanism: &dyn LocalMechanism,
    reader: &mut Reader,
    decoder: &Decoder,
    streams: &Streams,
    output: W,
    on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Streamed> {
    let release = |number: u64, _rows: &RawRows, records: &[f64]| {
        Ok((release_block(mechanism, records, streams, number)?, ()))
    };
    rewrite(reader, decoder, release, |()| (), output, on_progress)
}

/// Releases all records with noise that `key`, the record and its [id](RawRows::ids) determine. A record then
/// gets the same released values in any order of the records and in every repetition of the release. Call
/// [`check_ids`] first.
///
/// `on_records` receives the digests of the released records, block by block. Before anybody sees the output,
/// the caller must compare them with the digests from [`check_ids`], because the source may have changed
/// between the check and the release.
///
/// # Errors
/// Same errors as [`release`]; [`Error::Cell`] for a record without an id.
pub fn release_keyed<W: WriteRows + Send>(
    mechanism: &dyn LocalMechanism,
    reader: &mut Reader,
    decoder: &Decoder,
    key: &NoiseKey,
    output: W,
    mut on_records: impl FnMut(&[RecordDigest]) + Send,
    on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Streamed> {
    let encoder = reader.encoder().clone();
    let release = |_number: u64, rows: &RawRows, records: &[f64]| {
        let ids = rows.ids(&encoder)?;
        let released = scumble_noise::release_keyed(mechanism, records, &ids, key)?;
        Ok((released, digests(&encoder, &ids, records)))
    };
    rewrite(reader, decoder, release, |digests: Vec<_>| on_records(&digests), output, on_progress)
}

/// Digest of each flat record with its id.
fn digests(encoder: &Encoder, ids: &[Cow<str>], records: &[f64]) -> Vec<RecordDigest> {
    let width = encoder.domain().flat().dim().max(1);
    ids.iter().zip(records.chunks(width)).map(|(id, record)| RecordDigest::new(id, record)).collect()
}

/// Writes the records of `reader` without noise, mapped to the output space of `mechanism`. The result equals
/// [`local::view`](scumble_core::local::view) on the whole table. No guarantee covers it.
///
/// # Errors
/// Same errors as [`release`].
pub fn view<W: WriteRows + Send>(
    mechanism: &dyn LocalMechanism,
    reader: &mut Reader,
    decoder: &Decoder,
    output: W,
    on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Streamed> {
    let view = |_number: u64, _rows: &RawRows, records: &[f64]| Ok((view_block(mechanism, records)?, ()));
    rewrite(reader, decoder, view, |()| (), output, on_progress)
}

/// Writes the result of `map` for each block of flat records.
///
/// # Errors
/// Same errors as [`release`].
pub fn map<W: WriteRows + Send>(
    reader: &mut Reader,
    decoder: &Decoder,
    map: impl Fn(&[f64]) -> Result<Vec<f64>> + Sync,
    output: W,
    on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Streamed> {
    rewrite(reader, decoder, |_number, _rows, records| Ok((map(records)?, ())), |()| (), output, on_progress)
}

/// Writes the records that `map` returns for each block, in the order of the blocks. `map` receives the
/// number of the block, its rows and its flat records. `on_extra` receives the second element of the pair
/// that `map` returns.
fn rewrite<W: WriteRows + Send, B: Send>(
    reader: &mut Reader,
    decoder: &Decoder,
    map: impl Fn(u64, &RawRows, &[f64]) -> Result<(Vec<f64>, B)> + Sync,
    mut on_extra: impl FnMut(B) + Send,
    mut output: W,
    mut on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Streamed> {
    let (encoder, make) = (reader.encoder().clone(), output.maker());
    let map = |number: u64, rows: &RawRows| {
        let (mut records, mut clips) = (vec![], Clips::default());
        rows.encode(&encoder, &mut records, &mut clips)?;
        let (released, extra) = map(number, rows, &records)?;
        let input = InputBlock { encoder: &encoder, rows, records: &records };
        let block = make(&Decoded::with_input(decoder, &released, input))?;
        Ok((block, extra, rows.len(&encoder), clips))
    };
    let mut streamed = Streamed { records: 0, clipped: vec![] };
    let mut all_clips = Clips::default();
    reader.in_blocks(map, |(block, extra, records, clips), bytes| {
        output.write(block)?;
        on_extra(extra);
        streamed.records += records as u64;
        all_clips.add(&clips);
        on_progress(bytes)
    })?;
    output.finish()?;
    streamed.clipped = encoder.clipped(&all_clips);
    Ok(streamed)
}

/// Layout of the table `released`, which was released from records of `domain`.
pub fn layout(released: &Table, domain: &RecordDomain) -> Layout {
    let target = match released.target() {
        Target::None => TargetLayout::None,
        Target::Class(_) => domain.layout().target, // classes keep the number of levels in the domain
        Target::Real(_) => TargetLayout::Real,
        Target::Vector(values) => TargetLayout::Vector { width: values.ncols() },
    };
    Layout { columns: released.columns().to_vec(), target }
}

/// Writes a released table to `output`, decoded by `decoder`.
///
/// # Errors
/// [`Error::Shape`](scumble_core::Error::Shape) if the table does not match the decoder; [`Error::Write`] if
/// `output` fails.
pub fn write<W: WriteRows>(released: &Table, decoder: &Decoder, mut output: W) -> Result<()> {
    let layout = decoder.layout();
    layout.check(released)?;
    let make = output.maker();
    for first in (0..released.len()).step_by(BLOCK) {
        interrupt::check().map_err(|_| Error::Interrupted)?;
        let rows = first..(first + BLOCK).min(released.len());
        let records: Vec<f64> = rows.flat_map(|row| layout.flatten(released, row)).collect();
        output.write(make(&Decoded::new(decoder, &records))?)?;
    }
    output.finish()
}

/// Passes all records of `reader` to `take`, many at a time in flat form, in bounded memory. `take` also
/// receives their [shares](Table::shares) if people have several records. `on_progress` is called as in
/// [`release`].
///
/// # Errors
/// Same errors as [`release`], except for writing; any error of `take`.
pub fn for_each(
    reader: &mut Reader,
    mut take: impl FnMut(&[f64], &[u16]) -> Result<()> + Send,
    mut on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Streamed> {
    let (encoder, people) = (reader.encoder().clone(), reader.people());
    let encode = |_number, rows: &RawRows| {
        let (mut records, mut clips) = (vec![], Clips::default());
        rows.encode(&encoder, &mut records, &mut clips)?;
        let shares = Reader::shares(people.as_deref(), rows, &encoder);
        Ok((records, rows.len(&encoder) as u64, shares, clips))
    };
    let (mut waiting, mut waiting_shares, mut clips) = (vec![], vec![], Clips::default());
    let mut count = 0;
    reader.in_blocks(encode, |(records, rows, shares, clipped), bytes| {
        count += rows;
        waiting.extend(records);
        waiting_shares.extend(shares.into_iter().flatten());
        clips.add(&clipped);
        if waiting.len() >= MOST_VALUES {
            take(&waiting, &waiting_shares)?;
            waiting.clear();
            waiting_shares.clear();
        }
        on_progress(bytes)
    })?;
    take(&waiting, &waiting_shares)?;
    Ok(Streamed { records: count, clipped: encoder.clipped(&clips) })
}

/// State that a curator's mechanism has accumulated from records, and the clipped cells.
pub struct Accumulated<'c> {
    accumulator: Box<dyn Accumulator + 'c>,
    /// Number of records.
    pub records: u64,
    /// Number of cells clipped to the public bounds, per column. It is computed without noise, and is for the
    /// owner of the records only.
    pub clipped: Vec<Clipped>,
}

/// Number of values that are passed on at a time. They take 8 MiB of memory.
const MOST_VALUES: usize = 1 << 20;

impl<'c> Accumulated<'c> {
    /// Passes all records of `reader` to the accumulator of a curator's mechanism, in bounded memory.
    /// `on_progress` is called as in [`release`].
    ///
    /// # Errors
    /// Same errors as [`release`], except for writing; any error of `accumulator`.
    pub fn read(
        mut accumulator: Box<dyn Accumulator + 'c>,
        reader: &mut Reader,
        on_progress: impl FnMut(u64) -> Result<()> + Send,
    ) -> Result<Self> {
        let add = |records: &[f64], shares: &[u16]| {
            Ok(match shares {
                [] => accumulator.add(records),
                shares => accumulator.add_shares(records, shares),
            }?)
        };
        let Streamed { records, clipped } = for_each(reader, add, on_progress)?;
        Ok(Self { accumulator, records, clipped })
    }

    /// The accumulated state.
    pub fn into_accumulator(self) -> Box<dyn Accumulator + 'c> {
        self.accumulator
    }

    /// Makes the release from the accumulated state.
    ///
    /// # Errors
    /// Same errors as [`Accumulator::release`].
    pub fn release(self, randomness: &mut Randomness) -> Result<Outcome> {
        Ok(self.accumulator.release(randomness)?)
    }
}

/// Collects the reports in `rows`. Returns the synthetic records, and the number of reports. There are
/// `records` records, or as many as reports if it is `None`. Memory does not grow with the number of reports.
///
/// `on_progress` receives the number of bytes read. An error of `on_progress` stops the reading.
///
/// # Errors
/// Same errors as [`Reader::new`] and [`Collection::add`](scumble_core::Collection::add);
/// [`Error::Empty`](scumble_core::Error::Empty) if there are no reports or `records` is 0; any error of
/// `on_progress`.
pub fn collect(
    collector: &dyn Collector,
    rows: impl ReadRows,
    records: Option<usize>,
    streams: Streams,
    mut on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<(Drawing, usize)> {
    let (file, reports) = (rows.source().to_owned(), collector.layout());
    let mut reader =
        Reader::new(rows, &Schema::from_numeric_columns(&reports.columns)?, None, OutOfBounds::Keep)?;
    let encoder = reader.encoder().clone();
    let encode = |_number, rows: &RawRows| {
        let mut values = vec![];
        rows.encode(&encoder, &mut values, &mut Clips::default())?;
        Ok(values)
    };
    let (mut collection, mut count) = (collector.start(), 0);
    reader.in_blocks(encode, |values, bytes| {
        let table = reports.table_of(values)?;
        count += table.len();
        collection.add(&table).map_err(|error| match error {
            scumble_core::Error::Interrupted(_) => Error::Interrupted,
            error => Error::Unreadable { file: file.clone(), problem: error.to_string() },
        })?;
        on_progress(bytes)
    })?;
    let (guarantee, layout) = (collector.guarantee(), collector.domain().layout());
    let noise = Noise::unknown(&layout);
    let draw = collection.finish()?;
    let records = records.unwrap_or(count);
    if records == 0 {
        return Err(scumble_core::Error::Empty { place: "the collection".into() }.into());
    }
    Ok((Drawing::new((guarantee, noise), layout, records, streams, draw), count))
}

/// Draws the records of a release block by block on all cores, and writes them to `output`, decoded by
/// `decoder`. `on_progress` receives the number of records written. An error of `on_progress` stops the
/// writing.
///
/// # Errors
/// [`Error::Write`] if `output` fails; any error of `drawing` or `on_progress`.
pub fn write_drawn<W: WriteRows>(
    drawing: &Drawing,
    decoder: &Decoder,
    mut output: W,
    mut on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<()> {
    let (width, make) = (decoder.layout().width().max(1), output.maker());
    let mut written = 0;
    let at_once = rayon::current_num_threads();
    for first in (0..drawing.blocks()).step_by(at_once) {
        let block = |number: usize| {
            let records = drawing.block(number)?;
            Ok((make(&Decoded::new(decoder, &records))?, records.len() / width))
        };
        let numbers = first..drawing.blocks().min(first.saturating_add(at_once));
        let blocks: Vec<(W::Block, usize)> = numbers.into_par_iter().map(block).collect::<Result<_>>()?;
        for (block, records) in blocks {
            output.write(block)?;
            written += records as u64;
        }
        on_progress(written)?;
    }
    output.finish()
}

/// Reads all records and releases nothing, to check that [`release`] would not fail for them.
///
/// # Errors
/// Same errors as [`release`], except for writing.
pub fn check(reader: &mut Reader, mut on_progress: impl FnMut(u64) -> Result<()> + Send) -> Result<()> {
    let encoder = reader.encoder().clone();
    let check = |_number, rows: &RawRows| rows.encode(&encoder, &mut vec![], &mut Clips::default());
    reader.in_blocks(check, |(), bytes| on_progress(bytes))
}

/// Fingerprint of records, and the number of cells that a release would clip. Both are computed without
/// noise, and are for the owner of the records only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checked {
    /// Fingerprint that identifies the records.
    pub fingerprint: Fingerprint,
    /// Number of cells that a release clips to the public bounds, per column.
    pub clipped: Vec<Clipped>,
}

impl Checked {
    /// Adds the records of another part of the same table.
    pub fn merge(&mut self, other: Self) {
        self.fingerprint.merge(&other.fingerprint);
        for clipped in other.clipped {
            match self.clipped.iter_mut().find(|own| own.column == clipped.column) {
                Some(own) => own.cells += clipped.cells,
                None => self.clipped.push(clipped),
            }
        }
    }
}

/// Checks the records of a [keyed](release_keyed) release: each record needs an id of its own. Returns the
/// fingerprint of the records.
///
/// `on_records` receives the digests of ids and records, block by block. The check needs about 32 bytes of
/// memory per id if a column holds the ids. If row numbers are the ids, they are unique, and `on_records`
/// receives no digests of ids.
///
/// # Errors
/// Same errors as [`check`]; [`Error::Cell`] for the first record without an id; [`Error::RepeatedId`] for a
/// record with the id of an earlier record.
pub fn check_ids(
    reader: &mut Reader,
    mut on_records: impl FnMut(&[[u8; 16]], &[RecordDigest]) + Send,
    mut on_progress: impl FnMut(u64) -> Result<()> + Send,
) -> Result<Checked> {
    let encoder = reader.encoder().clone();
    let check = |_number, rows: &RawRows| {
        let (mut records, mut clips, ids) = (vec![], Clips::default(), rows.ids(&encoder)?);
        rows.encode(&encoder, &mut records, &mut clips)?;
        let digests = digests(&encoder, &ids, &records);
        let named = if encoder.extra_column().is_some() { ids } else { vec![] };
        let hashed: Vec<_> = named.iter().map(|id| id_digest(id)).collect();
        let named: Vec<_> = named.into_iter().map(Cow::into_owned).collect();
        let numbers: Vec<usize> = (0..hashed.len()).map(|row| rows.row_number(row)).collect();
        Ok((digests, clips, hashed, named, numbers))
    };
    let (mut fingerprint, mut clips, mut seen) = (Fingerprint::default(), Clips::default(), HashSet::new());
    reader.in_blocks(check, |(digests, clipped, hashed, named, numbers), bytes| {
        digests.iter().for_each(|record| fingerprint.add(record));
        clips.add(&clipped);
        if let Some(at) = hashed.iter().position(|hash| !seen.insert(*hash)) {
            return Err(Error::RepeatedId {
                file: encoder.source().into(),
                row: numbers.get(at).copied().unwrap_or_default(),
                column: encoder.extra_column().unwrap_or_default().into(),
                id: abridged(named.get(at).map_or("", String::as_str), 60),
            });
        }
        on_records(&hashed, &digests);
        on_progress(bytes)
    })?;
    Ok(Checked { fingerprint, clipped: encoder.clipped(&clips) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::InputBlock;
    use crate::schema::tests::schema;
    use crate::{Cell, OutOfBounds, csv};

    /// Cells of `records` that are claimed to be the unchanged rows "12.50,yes" and "20,no".
    fn came_as(records: &[[f64; 3]]) -> Result<Vec<String>> {
        let columns = schema().columns_named(&["size", "good"])?;
        let rows = csv::Rows::new("size,good\n12.50,yes\n20,no\n".as_bytes(), "data.csv")?;
        let mut reader = Reader::new(rows, &columns, None, OutOfBounds::Clip)?;
        let (input, encoder) = (reader.input(), reader.encoder().clone());
        let decoder =
            columns.decoder(&encoder.domain().layout(), None).with_input(&input, &[true; 3], &[true; 3]);
        let rows = reader.next_rows(2)?.unwrap();
        let mut before = vec![];
        rows.encode(&encoder, &mut before, &mut Clips::default())?;
        let input_block = InputBlock { encoder: &encoder, rows: &rows, records: &before };
        let mut cells = vec![];
        let take = |cells: &mut Vec<String>, _, cell: Cell| {
            cells.push(cell.text().into_owned());
            Ok(())
        };
        Decoded::with_input(&decoder, records.as_flattened(), input_block).each(&mut cells, take, |_| ())?;
        Ok(cells)
    }

    #[test]
    fn a_mechanism_that_changes_what_it_says_to_leave_unchanged_releases_nothing() {
        let unchanged = [[0.25, 0.0, 1.0], [1.0, 1.0, 0.0]];
        assert_eq!(came_as(&unchanged).unwrap(), ["12.50", "yes", "20", "no"]);
        for (row, place, name) in [(0, 0, "size"), (1, 0, "size"), (0, 1, "good"), (1, 2, "good")] {
            let mut changed = unchanged;
            changed[row][place] = changed[row][place].next_up();
            let refused = came_as(&changed).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("column {name:?} stays unchanged, and changed it")),
                "{refused}"
            );
        }
    }
}
