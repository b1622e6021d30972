//! Reader of a file's records by a schema, all at once or a few rows at a time.

use crate::kept::{Keep, KeptRows};
use crate::people::People;
use crate::{Clipped, Clips, Encoder, Held, Input, OutOfBounds, RawRows, ReadRows, Result, Schema};
use ndarray::Array2;
use scumble_core::local::BLOCK;
use scumble_core::{RecordDomain, Table};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// Upper bound on the total size of the blocks of rows that are processed at the same time, in bytes before
/// encoding. Their results may need about four times as much memory.
const MOST_BYTES: usize = 8 << 20;

/// Records of a file, their domain, and the clipped cells.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The encoded records.
    pub table: Table,
    /// Domain of the encoded records.
    pub domain: RecordDomain,
    /// Number of clipped cells per column. It is computed without noise, and is for the owner of the records
    /// only.
    pub clipped: Vec<Clipped>,
    /// Number of rows that were dropped because their target is missing. It is for the owner of the records
    /// only.
    pub dropped: usize,
}

/// Reader of records by a schema, a few rows at a time, in bounded memory and for any file format.
///
/// ```
/// use scumble_records::{Clips, OutOfBounds, Reader, Schema, csv};
///
/// let schema = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n";
/// let schema = Schema::from_toml(schema, "schema.toml")?;
/// let file = csv::Rows::new(&b"id,size\na,1\nb,2\n"[..], "data.csv")?;
/// let mut reader = Reader::new(file, &schema, None, OutOfBounds::Clip)?;
/// let mut records = vec![];
/// while let Some(rows) = reader.next_rows(1)? {
///     rows.encode(reader.encoder(), &mut records, &mut Clips::default())?;
/// }
/// assert_eq!(records, [0.5, 1.0]);
/// # Ok::<(), scumble_records::Error>(())
/// ```
pub struct Reader<'r> {
    rows: Box<dyn ReadRows + 'r>,
    encoder: Encoder,
    dropped: Arc<AtomicUsize>,
    people: Option<Arc<People>>,
}

/// Storage type of each column that `encoder` reads; `None` for a text file.
fn held(rows: &(impl ReadRows + ?Sized), encoder: &Encoder) -> Vec<Option<Held>> {
    encoder.places().map(|place| rows.held(place)).collect()
}

impl<'r> Reader<'r> {
    /// Creates a reader that encodes the cells of `rows` by `schema`, with `target` as the column to learn.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) if the file lacks a column of the schema, or the
    /// schema lacks the target; [`Error::DuplicateColumn`](crate::Error::DuplicateColumn) if the header
    /// contains a column of the schema twice; [`Error::UndecidedDays`](crate::Error::UndecidedDays) for a
    /// date column that is stored as instants without a known time zone.
    pub fn new(
        rows: impl ReadRows + 'r,
        schema: &Schema,
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
    ) -> Result<Self> {
        let encoder = schema.encoder(&header(&rows), target, out_of_bounds, rows.source())?;
        let held = held(&rows, &encoder);
        let encoder = encoder.for_stored(&held)?;
        Ok(Self { encoder, rows: Box::new(rows), dropped: Arc::default(), people: None })
    }

    /// Returns the reader without the rows whose target is missing. An empty cell or null is missing, or the
    /// texts in [`missing_cells`](crate::Column::missing_cells). These rows are not checked.
    ///
    /// No guarantee covers the number of rows that are left, or who they are.
    #[must_use]
    pub fn without_missing_targets(self) -> Self {
        let dropped = self.dropped.clone();
        self.keeping(Arc::new(move |rows: &mut RawRows, encoder: &Encoder| {
            let before = rows.len(encoder);
            rows.retain(encoder, |_, cells| !encoder.is_target_missing(cells));
            dropped.fetch_add(before - rows.len(encoder), Ordering::Relaxed);
        }))
    }

    /// Returns the reader of only the records that count, of the `people` of the same file. With `None`, all
    /// records count.
    #[must_use]
    pub fn of_people(self, people: Option<Arc<People>>) -> Self {
        let Some(people) = people else { return self };
        let chosen = people.clone();
        let keep = move |rows: &mut RawRows, encoder: &Encoder| {
            rows.retain(encoder, |number, _| chosen.share(number) > 0);
        };
        Self { people: Some(people), ..self.keeping(Arc::new(keep)) }
    }

    /// Shares of `rows` in the weights of their people; `None` if each record is a person's only one.
    pub(crate) fn shares(people: Option<&People>, rows: &RawRows, encoder: &Encoder) -> Option<Vec<u16>> {
        let people = people.filter(|people| people.has_several())?;
        Some((0..rows.len(encoder)).map(|at| people.share(rows.row_number(at))).collect())
    }

    /// People whose records are read, if people may have several.
    pub(crate) fn people(&self) -> Option<Arc<People>> {
        self.people.clone()
    }

    fn keeping(self, keep: Arc<Keep>) -> Self {
        Self { rows: Box::new(KeptRows { rows: self.rows, keep }), ..self }
    }

    /// Encoder of the rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Columns that the reader takes from the file, with their storage types.
    pub fn input(&self) -> Input {
        Input { encoder: self.encoder.clone(), held: held(&*self.rows, &self.encoder) }
    }

    /// Approximate number of bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// Returns the next `most` rows, or fewer at the end of the file. Returns `None` after the last row.
    ///
    /// # Errors
    /// Same errors as [`ReadRows::next_rows`].
    pub fn next_rows(&mut self, most: usize) -> Result<Option<RawRows>> {
        self.rows.next_rows(&self.encoder, most)
    }

    /// Reads all remaining rows.
    ///
    /// # Errors
    /// Same errors as [`next_rows`](Self::next_rows); [`Error::Cell`](crate::Error::Cell) for a cell that
    /// does not fit its column; [`Error::Empty`](scumble_core::Error::Empty) if there are no rows.
    pub fn read_all(self) -> Result<Loaded> {
        Ok(self.read(false)?.0)
    }

    /// Reads the remaining rows and keeps some of them. `place(i)` returns the index of row `i` (counted from
    /// 0) among the kept records, or `None` to drop the row. The row replaces a record that is already kept
    /// at this index. If there is no such record, the row is appended.
    ///
    /// Memory holds only the kept records. The second returned value is the number of rows read.
    ///
    /// # Errors
    /// Same errors as [`read_all`](Self::read_all).
    pub fn read_some(
        mut self,
        mut place: impl FnMut(usize) -> Option<usize> + Send,
    ) -> Result<(Loaded, usize)> {
        let (mut flat, mut clips, mut count) = (vec![], Clips::default(), 0);
        let encoder = self.encoder.clone();
        let encode = |_number, rows: &RawRows| {
            let (mut flat, mut clips) = (vec![], Clips::default());
            rows.encode(&encoder, &mut flat, &mut clips)?;
            Ok((flat, clips, rows.len(&encoder)))
        };
        self.in_blocks(encode, |(records, clipped, rows), _bytes| {
            clips.add(&clipped);
            for row in records.chunks((records.len() / rows.max(1)).max(1)) {
                let place = place(count).map(|place| place * row.len());
                count += 1;
                match place.and_then(|from| flat.get_mut(from..from + row.len())) {
                    Some(slot) => slot.copy_from_slice(row),
                    None if place.is_some() => flat.extend(row),
                    None => {}
                }
            }
            Ok(())
        })?;
        Ok((self.loaded(flat, &clips)?, count))
    }

    /// Reads all remaining rows, with the cells of `column` as text, one per record. The schema need not
    /// contain `column`.
    ///
    /// # Errors
    /// Same errors as [`read_all`](Self::read_all); [`Error::MissingColumn`](crate::Error::MissingColumn) if
    /// the file lacks `column`; [`Error::DuplicateColumn`](crate::Error::DuplicateColumn) if its header
    /// contains `column` twice.
    pub fn read_all_with_column(self, column: &str) -> Result<(Loaded, Vec<String>)> {
        self.with_ids(column)?.read(true)
    }

    /// Returns the reader with the cells of `column` as the [ids](RawRows::ids) of the records. The schema
    /// need not contain `column`.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) if the file lacks `column`;
    /// [`Error::DuplicateColumn`](crate::Error::DuplicateColumn) if its header contains `column` twice.
    pub fn with_ids(self, column: &str) -> Result<Self> {
        let encoder = self.encoder.with_extra_column(column, &header(&self.rows))?;
        Ok(Self { encoder, ..self })
    }

    /// Builds the result from `flat`, the concatenated encoded records.
    fn loaded(&self, flat: Vec<f64>, clips: &Clips) -> Result<Loaded> {
        let (domain, clipped) = (self.encoder.domain().clone(), self.encoder.clipped(clips));
        let dropped = self.dropped.load(Ordering::Relaxed);
        Ok(Loaded { table: self.encoder.table(flat)?, domain, clipped, dropped })
    }

    /// Reads all remaining rows. With `has_extra`, also returns the text of the column that is read but not
    /// encoded.
    fn read(mut self, has_extra: bool) -> Result<(Loaded, Vec<String>)> {
        let (mut flat, mut clips, mut extra) = (vec![], Clips::default(), vec![]);
        let encoder = self.encoder.clone();
        let encode = |_number, rows: &RawRows| {
            let (mut flat, mut clips, mut extra) = (vec![], Clips::default(), vec![]);
            rows.encode(&encoder, &mut flat, &mut clips)?;
            if has_extra {
                extra.extend(rows.extra_cells(&encoder).map(|cell| cell.text().into_owned()));
            }
            Ok((flat, clips, extra))
        };
        self.in_blocks(encode, |(records, clipped, cells), _bytes| {
            flat.extend(records);
            clips.add(&clipped);
            extra.extend(cells);
            Ok(())
        })?;
        Ok((self.loaded(flat, &clips)?, extra))
    }

    /// Applies `map` to numbered blocks of rows on all cores, while the next blocks are read. `take` receives
    /// each result in the order of the blocks, with the number of bytes read up to that block.
    ///
    /// # Errors
    /// The first error of reading, `map` or `take`, in the order of the blocks;
    /// [`Error::Empty`](scumble_core::Error::Empty) if there are no rows.
    pub(crate) fn in_blocks<T: Send>(
        &mut self,
        map: impl Fn(u64, &RawRows) -> Result<T> + Sync,
        mut take: impl FnMut(T, u64) -> Result<()> + Send,
    ) -> Result<()> {
        let Self { rows, encoder, .. } = self;
        let (map, encoder) = (&map, &*encoder);
        let most_blocks = 4 * rayon::current_num_threads();
        let mut take_first = |ahead: &mut VecDeque<Ahead<T>>| match ahead.pop_front() {
            Some(first) => first.mapped().map_or(Ok(()), |mapped| take(mapped?, first.read)),
            None => Ok(()),
        };
        rayon::scope_fifo(|scope| {
            let mut ahead = VecDeque::new();
            let mut wrong = None;
            for number in 0.. {
                scumble_core::interrupt::check().map_err(|_| crate::Error::Interrupted)?;
                let block = match rows.next_block(encoder, BLOCK) {
                    Ok(Some(block)) => block,
                    Ok(None) if number == 0 => return Err(encoder.no_records()),
                    end => {
                        wrong = end.err();
                        break;
                    }
                };
                let (sender, receiver) = mpsc::channel();
                ahead.push_back(Ahead { bytes: block.bytes(), read: rows.bytes(), receiver });
                scope.spawn_fifo(move |_scope| {
                    // The receiver is gone if an earlier block failed.
                    let _ = sender.send(block.map(encoder, |rows| map(number, rows)));
                });
                while ahead.len() >= most_blocks
                    || ahead.iter().map(|block| block.bytes).sum::<usize>() > MOST_BYTES
                {
                    take_first(&mut ahead)?;
                }
            }
            // An error in a row is returned after all earlier rows are processed.
            while !ahead.is_empty() {
                take_first(&mut ahead)?;
            }
            wrong.map_or(Ok(()), Err)
        })
    }
}

/// A block to which `map` is being applied.
struct Ahead<T> {
    /// Size of the block before encoding, in bytes.
    bytes: usize,
    /// Number of bytes of the file read up to this block.
    read: u64,
    receiver: mpsc::Receiver<Result<T>>,
}

impl<T> Ahead<T> {
    /// Waits for the result, and processes other blocks meanwhile. Returns `None` if `map` panicked. The
    /// thread scope then propagates the panic.
    fn mapped(&self) -> Option<Result<T>> {
        loop {
            match self.receiver.try_recv() {
                Ok(mapped) => return Some(mapped),
                Err(mpsc::TryRecvError::Disconnected) => return None,
                Err(mpsc::TryRecvError::Empty) => {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::thread::yield_now();
                    }
                }
            }
        }
    }
}

/// Reads a matrix from a file of finite numbers, with one row per row of the file and one column per name in
/// `columns`. The header of the file may list `columns` in any order.
///
/// # Errors
/// [`Error::Schema`](crate::Error::Schema) if `columns` is empty or contains a name twice; same errors as
/// [`Reader::new`] and [`Reader::read_all`].
pub fn read_matrix(rows: impl ReadRows, columns: &[String]) -> Result<Array2<f64>> {
    Ok(read_numbers(rows, columns)?.records().clone())
}

/// Reads a file of finite numbers as a table of `columns` without a target. The header of the file may list
/// `columns` in any order.
///
/// # Errors
/// [`Error::Schema`](crate::Error::Schema) if `columns` is empty or contains a name twice; same errors as
/// [`Reader::new`] and [`Reader::read_all`].
pub fn read_numbers(rows: impl ReadRows, columns: &[String]) -> Result<Table> {
    let numbers = Schema::from_numeric_columns(columns)?;
    Ok(Reader::new(rows, &numbers, None, OutOfBounds::Keep)?.read_all()?.table)
}

fn header(rows: &impl ReadRows) -> Vec<&str> {
    rows.header().iter().map(String::as_str).collect()
}
