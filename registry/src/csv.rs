//! Reading CSV by a schema: whole, or some rows at a time.

use crate::encoder::place_of;
use crate::{Clipped, Clips, Encoder, Error, OutOfBounds, RecordDomain, Result, Schema, Table};
use ndarray::Array2;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

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

/// Reads `file` by `schema`, with `target` as what is to be learned. Values outside the bounds are clipped.
///
/// # Errors
/// As [`Reader`].
pub fn read_file(file: &Path, schema: &Schema, target: Option<&str>) -> Result<Loaded> {
    Reader::open(file, schema, target, OutOfBounds::Clip)?.read_all()
}

/// Reads CSV by `schema`; `source` names it in errors. Values outside the bounds are clipped.
///
/// # Errors
/// As [`Reader`].
pub fn read(input: impl Read, source: &str, schema: &Schema, target: Option<&str>) -> Result<Loaded> {
    Reader::new(input, source, schema, target, OutOfBounds::Clip)?.read_all()
}

/// Reads the matrix in `file` (m × d): CSV of finite numbers, with a header that names the d `columns` in any order.
///
/// # Errors
/// As [`Reader`].
pub fn read_matrix(file: &Path, columns: &[String]) -> Result<Array2<f64>> {
    let numbers = Schema::of_numbers(columns)?;
    Ok(Reader::open(file, &numbers, None, OutOfBounds::Keep)?.read_all()?.table.records().clone())
}

/// CSV with a header, some rows at a time and in bounded memory. Blank lines are no rows.
///
/// A row ends where the file does, or at a line's end outside quotation marks. A row of more than 16 MiB, or a quotation
/// mark that is never closed, is an error and not a very large cell.
#[derive(Debug)]
pub struct Reader<R> {
    reader: csv::Reader<Rows<R>>,
    header: csv::StringRecord,
    record: csv::StringRecord,
    source: String,
    encoder: Encoder,
    row: usize,
    /// What is wrong with the row after those that were given out last.
    held: Option<Error>,
}

/// Rows of text that are not encoded yet: only the cells that the schema names.
#[derive(Debug)]
pub struct RawRows {
    first_row: usize,
    text: String,
    /// Where each cell ends.
    ends: Vec<usize>,
}

impl Reader<File> {
    /// Opens `file`.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be opened, else as [`new`](Self::new).
    pub fn open(
        file: &Path,
        schema: &Schema,
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
    ) -> Result<Self> {
        let failed = |source| Error::Io { file: file.into(), source };
        let opened = File::open(file).map_err(failed)?;
        // A folder opens, and only reading it fails, with a sentence that no parser should wrap.
        if opened.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Self::new(opened, &file.display().to_string(), schema, target, out_of_bounds)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of `input`; `source` names it in errors.
    ///
    /// # Errors
    /// [`Error::Csv`] for what is no CSV, [`Error::MissingColumn`] and [`Error::DuplicateColumn`].
    pub fn new(
        input: R,
        source: &str,
        schema: &Schema,
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
    ) -> Result<Self> {
        // A row of another length is ours to name, so the parser lets it pass.
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(Rows::of(input));
        let header = reader.headers().map_err(|error| unreadable(source, &error))?.clone();
        reader.get_mut().begin_row();
        if header.len() == 1 && header[0] == *END {
            return Err(Error::Empty { place: source.into() });
        }
        let names: Vec<&str> = header.iter().map(str::trim).collect();
        if let [only] = names[..]
            && let Some(separator) = only.chars().find(|c| [';', '\t', '|'].contains(c))
        {
            return Err(Error::Csv {
                file: source.into(),
                problem: format!("its columns seem to be separated by {separator:?}, and commas are read"),
            });
        }
        let encoder = schema.encoder(&names, target, out_of_bounds, source)?;
        Ok(Self {
            reader,
            header,
            record: csv::StringRecord::new(),
            source: source.into(),
            encoder,
            row: 0,
            held: None,
        })
    }

    /// What encodes the rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// How many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.reader.position().byte()
    }

    /// The next `most` rows, or as many as there are; none at the end.
    ///
    /// # Errors
    /// [`Error::Csv`], [`Error::RowLength`], or [`Error::Cell`] for a cell longer than any that is right.
    pub fn next_rows(&mut self, most: usize) -> Result<Option<RawRows>> {
        if let Some(error) = self.held.take() {
            return Err(error);
        }
        let mut rows = RawRows { first_row: self.row + 1, text: String::new(), ends: vec![] };
        for _ in 0..most {
            match self.read_row(&mut rows) {
                Ok(true) => {}
                Ok(false) => break,
                // The rows before it come first: one of them may be wrong too.
                Err(error) if rows.ends.is_empty() => return Err(error),
                Err(error) => {
                    self.held = Some(error);
                    break;
                }
            }
        }
        Ok((!rows.ends.is_empty()).then_some(rows))
    }

    /// Appends the next row's cells, if there is one.
    fn read_row(&mut self, rows: &mut RawRows) -> Result<bool> {
        if !self.read_record()? {
            return Ok(false);
        }
        for cell in self.encoder.pick(self.row, self.record.iter())? {
            rows.text += cell;
            rows.ends.push(rows.text.len());
        }
        Ok(true)
    }

    /// Whether there was another row.
    fn read_record(&mut self) -> Result<bool> {
        let read = self.reader.read_record(&mut self.record);
        self.reader.get_mut().begin_row();
        if !read.map_err(|error| unreadable(&self.source, &error))? {
            return Ok(false);
        }
        self.row += 1;
        if self.record.len() == 1 && self.record[0] == *END {
            // Nothing comes after it, or it is the file's own.
            return match self.reader.read_record(&mut self.record) {
                Ok(false) => Ok(false),
                _ => Err(Error::Csv {
                    file: self.source.clone(),
                    problem: format!("row {} is no text", self.row),
                }),
            };
        }
        if self.record.iter().next_back().is_some_and(|cell| cell.contains(END)) {
            return Err(Error::Csv {
                file: self.source.clone(),
                problem: format!(
                    "the file ends in the middle of row {}: a quotation mark is never closed",
                    self.row
                ),
            });
        }
        Ok(true)
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// As [`next_rows`](Self::next_rows), [`Error::Cell`] for any other cell that does not fit, and [`Error::Empty`].
    pub fn read_all(mut self) -> Result<Loaded> {
        let mut flat = vec![];
        let mut clips = Clips::default();
        while let Some(rows) = self.next_rows(1024)? {
            rows.encode(&self.encoder, &mut flat, &mut clips)?;
        }
        self.loaded(flat, &clips)
    }

    /// All rows that are left, and beside them the cells of one `column`, of which the schema need not know: one a record, trimmed.
    ///
    /// # Errors
    /// As [`read_all`](Self::read_all), [`Error::MissingColumn`] and [`Error::DuplicateColumn`].
    pub fn read_all_beside(mut self, column: &str) -> Result<(Loaded, Vec<String>)> {
        let header: Vec<&str> = self.header.iter().map(str::trim).collect();
        let place = place_of(column, &header, &self.source)?;
        let mut flat = vec![];
        let mut clips = Clips::default();
        let mut cells = vec![];
        while let Some(rows) = self.next_rows(1)? {
            rows.encode(&self.encoder, &mut flat, &mut clips)?;
            // The row that was read last.
            cells.push(self.record.get(place).unwrap_or_default().trim().to_owned());
        }
        Ok((self.loaded(flat, &clips)?, cells))
    }

    fn loaded(&self, flat: Vec<f64>, clips: &Clips) -> Result<Loaded> {
        Ok(Loaded {
            table: self.encoder.table(flat)?,
            domain: self.encoder.domain().clone(),
            clipped: self.encoder.clipped(clips),
        })
    }
}

impl RawRows {
    /// How many there are.
    pub fn len(&self, encoder: &Encoder) -> usize {
        self.ends.len() / encoder.width()
    }

    /// The size of their text.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Appends their flat records.
    ///
    /// # Errors
    /// [`Error::Cell`], for the first row that is wrong.
    pub fn encode(&self, encoder: &Encoder, records: &mut Vec<f64>, clips: &mut Clips) -> Result<()> {
        let mut start = 0;
        for (at, ends) in self.ends.chunks(encoder.width()).enumerate() {
            let cells = ends.iter().map(|&end| {
                let cell = &self.text[start..end];
                start = end;
                cell
            });
            encoder.encode_picked(self.first_row + at, cells, records, clips)?;
        }
        Ok(())
    }
}

fn unreadable(source: &str, error: &csv::Error) -> Error {
    Error::Csv { file: source.into(), problem: error.to_string() }
}

/// What is read after the last byte of a file, as a row of its own: one that is swallowed lies in quotation marks that
/// were never closed.
const AFTER_THE_FILE: &str = "\n\u{0}\u{0}end of file\u{0}\u{0}\n";
const END: &str = "\u{0}\u{0}end of file\u{0}\u{0}";

/// A file, the row that ends it, and how much of it one row may take.
#[derive(Debug)]
struct Rows<R> {
    input: io::Chain<R, &'static [u8]>,
    left: usize,
}

impl<R: Read> Rows<R> {
    const LONGEST: usize = 16 << 20;

    fn of(input: R) -> Self {
        Self { input: input.chain(AFTER_THE_FILE.as_bytes()), left: Self::LONGEST }
    }

    fn begin_row(&mut self) {
        self.left = Self::LONGEST;
    }
}

impl<R: Read> Read for Rows<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(
                "a row is longer than 16 MiB; perhaps a quotation mark is never closed",
            ));
        }
        let read = self.input.read(buffer)?;
        self.left = self.left.saturating_sub(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let text = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n";
        Schema::from_toml(text, "schema.toml").unwrap()
    }

    fn message(bytes: &[u8]) -> String {
        let message = read(bytes, "data.csv", &schema(), None).unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn a_file_is_read_by_its_header() {
        let loaded = read(&b"id,size\na,1\nb,3\n"[..], "data.csv", &schema(), None).unwrap();
        assert_eq!(*loaded.table.records(), ndarray::array![[0.5], [1.0]]);
        assert_eq!(loaded.clipped[0].cells, 1);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        assert!(read(&b"\xef\xbb\xbfsize\n1\n"[..], "data.csv", &schema(), None).is_ok());
    }

    #[test]
    fn how_a_file_ends_changes_nothing() {
        for text in
            ["size\n1\n2", "size\n1\n2\n", "size\r\n1\r\n2\r\n", "size\n1\n\n2\n\n", "size\n\"1\"\n\"2\""]
        {
            let loaded = read(text.as_bytes(), "data.csv", &schema(), None).unwrap();
            assert_eq!(*loaded.table.records(), ndarray::array![[0.5], [1.0]], "{text:?}");
        }
    }

    #[test]
    fn records_never_vanish_in_a_cell_that_nobody_reads() {
        assert!(message(b"size,notes\n1,a\n2,\"b\n1,c\n2,d\n").contains("middle of row 2"));
        let long = format!("size,notes\n1,\"{}", "x".repeat(17 << 20));
        assert!(message(long.as_bytes()).contains("longer than 16 MiB"));
    }

    #[test]
    fn rows_come_some_at_a_time() {
        let text = b"id,size\na,0\nb,1\nc,2\nd,3\ne,4\n";
        let mut reader = Reader::new(&text[..], "data.csv", &schema(), None, OutOfBounds::Keep).unwrap();
        let (mut records, mut clips) = (vec![], Clips::default());
        let mut sizes = vec![];
        while let Some(rows) = reader.next_rows(2).unwrap() {
            sizes.push(rows.len(reader.encoder()));
            rows.encode(reader.encoder(), &mut records, &mut clips).unwrap();
        }
        assert_eq!(sizes, [2, 2, 1]);
        assert_eq!(records, [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert!(reader.encoder().clipped(&clips).is_empty());
    }

    #[test]
    fn a_column_beside_the_schema_comes_one_cell_a_record() {
        let reader = |text: &'static str| {
            Reader::new(text.as_bytes(), "data.csv", &schema(), None, OutOfBounds::Clip).unwrap()
        };
        let (loaded, cells) = reader("when,size\n b ,1\n\na,2\n\"c\",0\n").read_all_beside("when").unwrap();
        assert_eq!(*loaded.table.records(), ndarray::array![[0.5], [1.0], [0.0]]);
        assert_eq!(cells, ["b", "a", "c"]);
        let missing = reader("when,size\nb,1\n").read_all_beside("wenn").unwrap_err().to_string();
        assert_eq!(missing, "data.csv: there is no column \"wenn\"; did you mean \"when\"?");
        let short = reader("when,size\nb,1\n2\n").read_all_beside("when").unwrap_err().to_string();
        assert_eq!(short, "data.csv, row 2: it has 1 cells where the header has 2");
    }

    #[test]
    fn a_strict_reader_refuses_what_lies_outside() {
        let mut reader =
            Reader::new(&b"size\n1\n2.1\n"[..], "data.csv", &schema(), None, OutOfBounds::Reject).unwrap();
        let rows = reader.next_rows(9).unwrap().unwrap();
        let error = rows.encode(reader.encoder(), &mut vec![], &mut Clips::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "data.csv, row 2, column \"size\": \"2.1\" lies outside the bounds; a number between 0 and 2 is needed"
        );
    }

    #[test]
    fn bad_files_get_one_line() {
        assert_eq!(message(b"size\n"), "data.csv holds no records");
        assert_eq!(message(b""), "data.csv holds no records");
        assert!(message(b"size,size\n1,2\n").contains("twice"));
        assert!(message(b"id;size\n1;2\n").contains("separated by ';'"));
        assert!(message(b"size\n1\n1,2\n").contains("row 2: it has 2 cells"));
        assert!(message(b"size\n\xff\xfe\n").contains("UTF-8"));
        assert!(message(b"size\n\"1\n").contains("ends in the middle of row 1: a quotation mark"));
        let missing = read_file(Path::new("no/such.csv"), &schema(), None).unwrap_err();
        assert!(missing.to_string().starts_with("no/such.csv: "), "{missing}");
    }
}
