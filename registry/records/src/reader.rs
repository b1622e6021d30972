//! A file's records by a schema: whole, or some rows at a time.

use crate::{Clipped, Clips, Encoder, Held, Input, OutOfBounds, RawRows, ReadRows, Result, Schema};
use ndarray::Array2;
use scumble_core::local::BLOCK;
use scumble_core::{RecordDomain, Table};
use std::collections::VecDeque;
use std::sync::mpsc;

/// What the cells of blocks take that are mapped at a time, at most; what is made of them may take some four times as much.
const MOST_BYTES: usize = 8 << 20;

/// A file's records, where they lie by its schema, and what was clipped to get them there.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The encoded records.
    pub table: Table,
    /// Where they lie.
    pub domain: RecordDomain,
    /// What was clipped. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
}

impl Loaded {
    /// What `flat` holds of encoded records, one after the other.
    fn new(encoder: &Encoder, flat: Vec<f64>, clips: &Clips) -> Result<Self> {
        let (domain, clipped) = (encoder.domain().clone(), encoder.clipped(clips));
        Ok(Self { table: encoder.table(flat)?, domain, clipped })
    }
}

/// Records of a file by a schema, some rows at a time and in bounded memory, whatever the file's format.
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
}

/// Storage types of the cells that `encoder` wants; `None` in a text file.
fn held(rows: &(impl ReadRows + ?Sized), encoder: &Encoder) -> Vec<Option<Held>> {
    encoder.places().map(|place| rows.held(place)).collect()
}

impl<'r> Reader<'r> {
    /// Reads `rows` by `schema`, with `target` as what is to be learned.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) and [`Error::DuplicateColumn`](crate::Error::DuplicateColumn).
    pub fn new(
        rows: impl ReadRows + 'r,
        schema: &Schema,
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
    ) -> Result<Self> {
        let encoder = schema.encoder(&header(&rows), target, out_of_bounds, rows.source())?;
        let held = held(&rows, &encoder);
        Ok(Self { encoder: encoder.of_stored(&held)?, rows: Box::new(rows) })
    }

    /// What encodes the rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The columns that are read.
    pub fn input(&self) -> Input {
        Input { encoder: self.encoder.clone(), held: held(&*self.rows, &self.encoder) }
    }

    /// About how many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// The next `most` rows, or as many as there are; none at the end.
    ///
    /// # Errors
    /// As [`ReadRows::next_rows`].
    pub fn next_rows(&mut self, most: usize) -> Result<Option<RawRows>> {
        self.rows.next_rows(&self.encoder, most)
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// As [`next_rows`](Self::next_rows), [`Error::Cell`](crate::Error::Cell) for any other cell that does not fit, and
    /// [`Error::Empty`](scumble_core::Error::Empty).
    pub fn read_all(self) -> Result<Loaded> {
        Ok(self.read(false)?.0)
    }

    /// Those of the rows that are left which are kept: `place` hears of each, counted from 0, and says its place from then on, where it replaces what was there,
    /// or behind all others; `None` for one that is not kept. No more is held than is kept, and how many rows there were is said beside it.
    ///
    /// # Errors
    /// As [`read_all`](Self::read_all).
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
        self.in_blocks(encode, |(of_block, clipped, rows), _bytes| {
            clips.add(&clipped);
            for row in of_block.chunks((of_block.len() / rows.max(1)).max(1)) {
                let place = place(count).map(|place| place * row.len());
                count += 1;
                match place.and_then(|from| flat.get_mut(from..from + row.len())) {
                    Some(there) => there.copy_from_slice(row),
                    None if place.is_some() => flat.extend(row),
                    None => {}
                }
            }
            Ok(())
        })?;
        Ok((Loaded::new(&encoder, flat, &clips)?, count))
    }

    /// All rows that are left, and beside them the cells of one `column`, of which the schema need not know: one a record, as text.
    ///
    /// # Errors
    /// As [`read_all`](Self::read_all), [`Error::MissingColumn`](crate::Error::MissingColumn) and
    /// [`Error::DuplicateColumn`](crate::Error::DuplicateColumn).
    pub fn read_all_beside(self, column: &str) -> Result<(Loaded, Vec<String>)> {
        self.beside(column)?.read(true)
    }

    /// The same rows with the cells of one `column` beside the records, of which the schema need not know: their [ids](RawRows::ids).
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) and [`Error::DuplicateColumn`](crate::Error::DuplicateColumn).
    pub fn beside(self, column: &str) -> Result<Self> {
        let encoder = self.encoder.beside(column, &header(&self.rows))?;
        Ok(Self { encoder, ..self })
    }

    /// All rows that are left, and the last cell of each, if that is beside the record.
    fn read(mut self, is_beside: bool) -> Result<(Loaded, Vec<String>)> {
        let (mut flat, mut clips, mut beside) = (vec![], Clips::default(), vec![]);
        let encoder = self.encoder.clone();
        let encode = |_number, rows: &RawRows| {
            let (mut flat, mut clips, mut beside) = (vec![], Clips::default(), vec![]);
            rows.encode(&encoder, &mut flat, &mut clips)?;
            if is_beside {
                beside.extend(rows.beside(&encoder).map(|cell| cell.text().into_owned()));
            }
            Ok((flat, clips, beside))
        };
        self.in_blocks(encode, |(of_block, clipped, cells), _bytes| {
            flat.extend(of_block);
            clips.add(&clipped);
            beside.extend(cells);
            Ok(())
        })?;
        Ok((Loaded::new(&encoder, flat, &clips)?, beside))
    }

    /// Maps blocks of rows by their numbers on all cores, while the next are read, and what was mapped before is taken, in order.
    ///
    /// # Errors
    /// The first in that order, whether a block could not be read, mapped or taken; [`Error::Empty`](scumble_core::Error::Empty) where there is none.
    pub(crate) fn in_blocks<T: Send>(
        &mut self,
        map: impl Fn(u64, &RawRows) -> Result<T> + Sync,
        mut take: impl FnMut(T, u64) -> Result<()> + Send,
    ) -> Result<()> {
        let Self { rows, encoder } = self;
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
                    // Nobody waits for it where a block before it was wrong.
                    let _ = sender.send(block.map(encoder, |rows| map(number, rows)));
                });
                while ahead.len() >= most_blocks
                    || ahead.iter().map(|block| block.bytes).sum::<usize>() > MOST_BYTES
                {
                    take_first(&mut ahead)?;
                }
            }
            // What is wrong with a row comes after all rows before it.
            while !ahead.is_empty() {
                take_first(&mut ahead)?;
            }
            wrong.map_or(Ok(()), Err)
        })
    }
}

/// A block that is being mapped.
struct Ahead<T> {
    /// The memory that it took before.
    bytes: usize,
    /// How much of the file was read up to it.
    read: u64,
    receiver: mpsc::Receiver<Result<T>>,
}

impl<T> Ahead<T> {
    /// What was made of it, once it is there: until then others are mapped. None after a panic, which the scope passes on.
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

/// Reads the matrix (m × d) in a file of finite numbers, whose header names the d `columns` in any order.
///
/// # Errors
/// As [`Reader`].
pub fn read_matrix(rows: impl ReadRows, columns: &[String]) -> Result<Array2<f64>> {
    Ok(read_numbers(rows, columns)?.records().clone())
}

/// Reads a file of finite numbers, whose header names the `columns` in any order, as a table of these columns without a target.
///
/// # Errors
/// As [`Reader`].
pub fn read_numbers(rows: impl ReadRows, columns: &[String]) -> Result<Table> {
    let numbers = Schema::of_numbers(columns)?;
    Ok(Reader::new(rows, &numbers, None, OutOfBounds::Keep)?.read_all()?.table)
}

fn header(rows: &impl ReadRows) -> Vec<&str> {
    rows.header().iter().map(String::as_str).collect()
}
