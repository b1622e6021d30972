//! CSV reader and writer. The reader recognises the text format, and reads a few rows at a time.

use crate::number::{Decimal, with_point};
use crate::pieces::{Piece, Pieces};
use crate::text_format::{Recognised, TextFormat};
use crate::{
    Block, Cell, Decoded, Decoder, Encoder, Error, Loaded, OutOfBounds, RawRows, ReadRows, Reader, Result,
    Schema, WriteRows, cell::digits, open_to_read,
};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads CSV by `schema`, with `target` as the column to learn. `source` names the input in errors. Values
/// outside the bounds are clipped.
///
/// # Errors
/// Same errors as [`Rows::new`], [`Reader::new`] and [`Reader::read_all`].
pub fn read(input: impl Read + Send, source: &str, schema: &Schema, target: Option<&str>) -> Result<Loaded> {
    Reader::new(Rows::new(input, source)?, schema, target, OutOfBounds::Clip)?.read_all()
}

/// CSV with a header, read a few rows at a time in bounded memory.
///
/// In a file of one column, a blank line is a row with an empty cell, also at the end of the file. Dropping
/// such rows would disclose who had an empty cell. In a file of several columns, a row of empty cells
/// contains commas, so a blank line is not a row.
///
/// A row ends at a line's end outside quotation marks, or at the end of the file. A row of more than 16 MiB
/// is an error, and so is a quotation mark that is never closed.
pub struct Rows<'r> {
    pieces: Pieces<Box<dyn Read + Send + 'r>>,
    written: Written,
    /// Remarks about the recognised format.
    remarks: Vec<&'static str>,
    bytes: Arc<AtomicU64>,
    header: Vec<String>,
    source: String,
    /// Number of rows returned so far.
    rows: usize,
    /// Error in the row that follows the last returned row. The next call returns it.
    held: Option<Error>,
}

/// Delimiter between cells, and decimal separator of numbers.
#[derive(Debug, Clone, Copy)]
struct Written {
    delimiter: u8,
    decimal: Decimal,
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, header, rows, .. } = self;
        formatter
            .debug_struct("Rows")
            .field("source", source)
            .field("header", header)
            .field("rows", rows)
            .finish()
    }
}

impl Rows<'static> {
    /// Opens `file` and recognises its format.
    ///
    /// # Errors
    /// Same errors as [`open_to_read`] and [`new`](Self::new).
    pub fn open(file: &Path) -> Result<Self> {
        Self::new(open_to_read(file)?, &file.display().to_string())
    }
}

impl<'r> Rows<'r> {
    /// Reads the header of `input` and recognises the format. `source` names the input in errors.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for malformed CSV; [`Error::Empty`](scumble_core::Error::Empty) for empty input.
    pub fn new(input: impl Read + Send + 'r, source: &str) -> Result<Self> {
        Self::written(input, source, &TextFormat::default())
    }

    /// Reads the header of `input`. `format` declares the known properties of its text format, and all others
    /// are recognised.
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new).
    pub fn written(input: impl Read + Send + 'r, source: &str, format: &TextFormat) -> Result<Self> {
        let failed = |error: io::Error| Error::Unreadable { file: source.into(), problem: error.to_string() };
        let bytes = Arc::new(AtomicU64::new(0));
        let counted = Counted { input, bytes: bytes.clone() };
        let Recognised { input, delimiter, decimal, remarks } = format.recognise(counted).map_err(failed)?;
        let written = Written { delimiter: delimiter.byte(), decimal };
        let mut pieces = Pieces::new(input, written.delimiter).map_err(failed)?;
        let Some(piece) = pieces.next(1).map_err(failed)? else { return Err(Error::empty(source)) };
        let mut header = csv::StringRecord::new();
        written.reader(&piece).read_record(&mut header).map_err(|error| unreadable(source, 0, &error))?;
        let header: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        pieces.is_of_one_column = header.len() == 1;
        Ok(Self { pieces, written, remarks, bytes, header, source: source.into(), rows: 0, held: None })
    }

    /// Returns at most `most` rows: the rows of `piece`, whose first row has the number `first`, and the
    /// following rows of the file.
    fn rows_from(
        &mut self,
        mut piece: Piece,
        mut first: usize,
        encoder: &Encoder,
        most: usize,
    ) -> Result<Option<RawRows>> {
        let mut rows = RawRows::starting_at(first);
        loop {
            let read = self.written.read(&piece, first, encoder, &mut rows);
            let next = read.and_then(|()| match piece.is_cut_short {
                true => self.next_piece(most - rows.len(encoder)),
                false => Ok(None),
            });
            match next {
                Ok(Some(next)) => (piece, first) = next,
                read => return rows.finished(read.map(|_| ()), encoder, &mut self.held),
            }
        }
    }

    /// Returns the text of the next rows, and the number of the first row, counted from 1.
    fn next_piece(&mut self, most: usize) -> Result<Option<(Piece, usize)>> {
        if let Some(error) = self.held.take() {
            return Err(error);
        }
        let failed =
            |error: io::Error| Error::Unreadable { file: self.source.clone(), problem: error.to_string() };
        let piece = self.pieces.next(most).map_err(failed)?;
        Ok(piece.map(|piece| {
            let first = self.rows + 1;
            self.rows += piece.rows;
            (piece, first)
        }))
    }
}

impl Written {
    fn reader(self, piece: &Piece) -> csv::Reader<&[u8]> {
        // The parser accepts rows of any number of cells, so that this crate can return its own error, which
        // names the row.
        let mut reader = csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true).delimiter(self.delimiter).from_reader(&piece.text)
    }

    /// Reads the cells of a piece whose first row has the number `first`. Stops at the first faulty row and
    /// returns its error.
    fn cells(self, piece: &Piece, first: usize, encoder: &Encoder) -> (RawRows, Option<Error>) {
        let mut rows = RawRows::starting_at(first);
        rows.reserve(piece.rows * encoder.width(), piece.text.len());
        let wrong = self.read(piece, first, encoder, &mut rows).err();
        (rows, wrong)
    }

    /// Appends the cells of a piece whose first row has the number `first`.
    ///
    /// # Errors
    /// The error of the first faulty row. The rows before it are kept.
    fn read(self, piece: &Piece, first: usize, encoder: &Encoder, rows: &mut RawRows) -> Result<()> {
        let (mut reader, mut record) = (self.reader(piece), csv::StringRecord::new());
        for row in first..first + piece.rows {
            let is_cut = piece.is_unclosed && row + 1 == first + piece.rows;
            let read = self.read_row(&mut reader, &mut record, row, is_cut, encoder, rows);
            read.inspect_err(|_error| rows.drop_unfinished(encoder))?;
        }
        Ok(())
    }

    /// Appends the cells of the next row.
    fn read_row(
        self,
        reader: &mut csv::Reader<&[u8]>,
        record: &mut csv::StringRecord,
        row: usize,
        is_cut: bool,
        encoder: &Encoder,
        rows: &mut RawRows,
    ) -> Result<()> {
        reader.read_record(record).map_err(|error| unreadable(encoder.source(), row, &error))?;
        if is_cut {
            return Err(Error::Unreadable {
                file: encoder.source().into(),
                problem: format!(
                    "the file ends in the middle of row {row}: a quotation mark is never closed"
                ),
            });
        }
        encoder.check_row_length(row, record.len())?;
        for (at, place) in encoder.places().enumerate() {
            let cell = &record[place];
            match self.decimal {
                Decimal::Point => rows.push(encoder, Cell::Text(cell))?,
                Decimal::Comma => rows.push(encoder, Cell::Text(&with_point(cell, encoder.unit(at))))?,
            }
        }
        Ok(())
    }
}

impl ReadRows for Rows<'_> {
    fn source(&self) -> &str {
        &self.source
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>> {
        let piece = self.next_piece(most)?;
        piece.map_or(Ok(None), |(piece, first)| self.rows_from(piece, first, encoder, most))
    }

    fn next_block(&mut self, encoder: &Encoder, most: usize) -> Result<Option<Block>> {
        let Some((piece, first)) = self.next_piece(most)? else { return Ok(None) };
        if piece.is_cut_short {
            // Long rows are parsed immediately, so that memory keeps only the cells that `encoder` reads.
            return Ok(self.rows_from(piece, first, encoder, most)?.map(Block::from_rows));
        }
        let written = self.written;
        let bytes = piece.text.len();
        Ok(Some(Block::read_later(bytes, move |encoder| written.cells(&piece, first, encoder))))
    }

    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn recognised(&self) -> Option<String> {
        let (last, first) = self.remarks.split_last()?;
        let first = first.join(", ");
        Some(if first.is_empty() { (*last).to_owned() } else { format!("{first} and {last}") })
    }
}

/// Writer of released records as CSV with a header.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header of the records that `decoder` decodes.
    ///
    /// # Errors
    /// [`Error::Write`] if `output` fails.
    pub fn new(mut output: W, decoder: &Decoder) -> Result<Self> {
        let failed = |error| Error::from_write(io::Error::other(error));
        let mut header = csv::Writer::from_writer(vec![]);
        header.write_record(decoder.header()).map_err(failed)?;
        let header = header.into_inner().map_err(|error| Error::from_write(error.into_error()))?;
        output.write_all(&header).map_err(Error::from_write)?;
        Ok(Self { output })
    }
}

impl<W: Write> WriteRows for Writer<W> {
    type Block = Vec<u8>;

    fn maker(&self) -> fn(&Decoded) -> Result<Vec<u8>> {
        block
    }

    fn write(&mut self, block: Vec<u8>) -> Result<()> {
        self.output.write_all(&block).map_err(Error::from_write)
    }

    fn finish(mut self) -> Result<()> {
        self.output.flush().map_err(Error::from_write)
    }
}

/// Formats released rows as lines of CSV.
///
/// # Errors
/// Same errors as [`Decoded::each`].
pub fn block(rows: &Decoded) -> Result<Vec<u8>> {
    let mut buffer = zmij::Buffer::new();
    let take = |text: &mut Vec<u8>, column: usize, cell: Cell| {
        if column > 0 {
            text.push(b',');
        }
        match cell {
            // Digits never need quotation marks.
            Cell::Number(number) => text.extend_from_slice(digits(number, &mut buffer).as_bytes()),
            cell => push_field(&cell.text(), text),
        }
        Ok(())
    };
    let end = |text: &mut Vec<u8>| {
        // Readers of CSV may skip an empty line.
        if text.last().is_none_or(|last| *last == b'\n') {
            text.extend_from_slice(b"\"\"");
        }
        text.push(b'\n');
    };
    let mut text = Vec::with_capacity(20 * rows.values());
    rows.each(&mut text, take, end)?;
    Ok(text)
}

/// Appends a cell, in quotation marks if needed.
fn push_field(cell: &str, text: &mut Vec<u8>) {
    if !cell.contains(['"', ',', '\r', '\n']) {
        return text.extend_from_slice(cell.as_bytes());
    }
    text.push(b'"');
    text.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
    text.push(b'"');
}

/// Error of the parser in row `row` of a file. The header is row 0.
fn unreadable(source: &str, row: usize, error: &csv::Error) -> Error {
    let problem = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => {
            let row = if row > 0 { format!("row {row}: ") } else { String::new() };
            format!(
                "{row}it is not UTF-8, unlike the text before it; if the file is in Latin-1, \
                 give --encoding latin-1"
            )
        }
        _ => error.to_string(),
    };
    Error::Unreadable { file: source.into(), problem }
}

/// Reader that counts the bytes read from a file.
struct Counted<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clips, Delimiter, Encoding};
    use proptest::prelude::*;

    fn schema() -> Schema {
        let text = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n";
        Schema::from_toml(text, "schema.toml").unwrap()
    }

    fn reader(bytes: &[u8], out_of_bounds: OutOfBounds) -> Reader<'_> {
        Reader::new(Rows::new(bytes, "data.csv").unwrap(), &schema(), None, out_of_bounds).unwrap()
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
        for text in [
            "size\n1\n2",
            "size\n1\n2\n",
            "size\r\n1\r\n2\r\n",
            "\nsize\n1\n2\n",
            "size\n\"1\"\n\"2\"",
            "size,id\n1,\n\n2,b\n\n",
        ] {
            let loaded = read(text.as_bytes(), "data.csv", &schema(), None).unwrap();
            assert_eq!(*loaded.table.records(), ndarray::array![[0.5], [1.0]], "{text:?}");
        }
    }

    /// A comma that the format declares as decimal does not separate the cells of a file of one column.
    #[test]
    fn one_column_may_have_decimal_commas() {
        let format = TextFormat { decimal: Some(Decimal::Comma), ..TextFormat::default() };
        let rows = Rows::written(&b"size\n1,5\n\"0,5\"\n\n2\n"[..], "data.csv", &format).unwrap();
        assert_eq!(rows.recognised(), None);
        let text = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\nmissing = 0\n";
        let schema = Schema::from_toml(text, "schema.toml").unwrap();
        let loaded = Reader::new(rows, &schema, None, OutOfBounds::Reject).unwrap().read_all().unwrap();
        assert_eq!(*loaded.table.records(), ndarray::array![[0.75], [0.25], [0.0], [1.0]]);
    }

    #[test]
    fn a_blank_line_of_one_column_is_a_row_with_an_empty_cell() {
        let text = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\nmissing = 2.0\n";
        let missing = Schema::from_toml(text, "schema.toml").unwrap();
        for (text, records) in [
            ("size\n1\n\n0\n", vec![0.5, 1.0, 0.0]),
            ("size\r\n1\r\n\r\n0", vec![0.5, 1.0, 0.0]),
            ("size\r1\r\r0\r", vec![0.5, 1.0, 0.0]),
            ("\u{feff}\"size\"\n\n1\n\n\n", vec![1.0, 0.5, 1.0, 1.0]),
            ("size\n\n", vec![1.0]),
        ] {
            let loaded = read(text.as_bytes(), "data.csv", &missing, None).unwrap();
            assert_eq!(loaded.table.records().column(0).to_vec(), records, "{text:?}");
        }
        for text in [&b"size\n1\n\n2\n"[..], b"size\n1\n\n", b"size\r\n1\r\n\r\n"] {
            assert_eq!(
                message(text),
                "data.csv, row 2, column \"size\": \"\" is not a number; a number between 0 and 2 is needed"
            );
        }
    }

    /// Cells of a file of one column, each with its text in the file.
    fn cells() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
        let cells = [
            ("", ""),
            ("", "\"\""),
            ("", " "),
            ("a", "a"),
            ("a", "\"a\""),
            ("a\n\nb", "\"a\n\nb\""),
            ("a\r\n\r\n\"", "\"a\r\n\r\n\"\"\""),
            ("a\"\"b", "a\"\"b"),
            ("ab", "\"a\"b"),
            (",", "\",\""),
        ];
        prop::collection::vec(prop::sample::select(cells.to_vec()), 1..40)
    }

    /// Reader that returns a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = self.1.min(buffer.len());
            self.0.read(&mut buffer[..some])
        }
    }

    proptest! {
        #[test]
        fn a_file_of_one_column_has_a_row_for_each_cell_whatever_it_holds(
            cells in cells(), line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            header in prop::sample::select(vec!["x", "\"x\"", "\n\nx", "\"x,\n\""]), some in 1usize..20,
        ) {
            let lines = [header].into_iter().chain(cells.iter().map(|(_, written)| *written));
            let text: String = lines.map(|line| format!("{line}{line_end}")).collect();
            let mut rows = Rows::new(Dripping(text.as_bytes(), some), "data.csv").unwrap();
            let encoder = Encoder::for_any_cells(rows.header(), &[0], "data.csv").unwrap();
            let mut read = vec![];
            while let Some(some) = rows.next_rows(&encoder, 7).unwrap() {
                read.extend(some.cells().map(|cell| cell.text().into_owned()));
            }
            prop_assert_eq!(read, cells.iter().map(|(cell, _)| *cell).collect::<Vec<_>>());
        }

        #[test]
        fn a_row_is_written_as_the_csv_crate_writes_it(
            levels in prop::collection::hash_set("[a\",; é]{0,4}", 2..5)
                .prop_filter("trimmed", |levels| levels.iter().all(|level| level.trim() == level)),
            numbers in prop::collection::vec(-1e3..1e3f64, 0..3),
        ) {
            let levels: Vec<String> = levels.into_iter().collect();
            let mut text = format!("[[column]]\nname = \"level\"\nkind = \"category\"\nlevels = \
                {levels:?}\n");
            for at in 0..numbers.len() {
                text += &format!("[[column]]\nname = \"x{at}\"\nkind = \"real\"\nlower = 0\nupper = 1\n");
            }
            let schema = Schema::from_toml(&text, "schema.toml").unwrap();
            let decoder = schema.decoder(&schema.domain(None).unwrap().layout(), None);
            let mut expected = csv::Writer::from_writer(vec![]);
            let mut records = vec![];
            for class in 0..levels.len() {
                records.extend((0..levels.len()).map(|at| if at == class { 1.0 } else { 0.0 }));
                records.extend(&numbers);
                let row = std::iter::once(levels[class].clone()).chain(numbers.iter().map(f64::to_string));
                expected.write_record(row).unwrap();
            }
            let written = block(&Decoded::new(&decoder, &records)).unwrap();
            prop_assert_eq!(String::from_utf8(written), String::from_utf8(expected.into_inner().unwrap()));
        }

        #[test]
        fn what_is_released_of_one_column_is_read_back_row_by_row(
            classes in prop::collection::vec(0usize..3, 1..30),
        ) {
            let text = "[[column]]\nname = \"said\"\nkind = \"category\"\nlevels = [\"\", \"yes\", \"no\"]\n";
            let schema = Schema::from_toml(text, "schema.toml").unwrap();
            let decoder = schema.decoder(&schema.domain(None).unwrap().layout(), None);
            let one_hot = |class: &usize| [0, 1, 2].map(|at| if at == *class { 1.0 } else { 0.0 });
            let records: Vec<f64> = classes.iter().flat_map(one_hot).collect();
            let mut file = vec![];
            let mut writer = Writer::new(&mut file, &decoder).unwrap();
            writer.write(block(&Decoded::new(&decoder, &records)).unwrap()).unwrap();
            writer.finish().unwrap();
            let table = read(&file[..], "released.csv", &schema, None).unwrap().table;
            prop_assert_eq!(table.records().iter().copied().collect::<Vec<_>>(), records);
        }
    }

    /// Returns the encoded records of a file and the recognised format.
    fn recognised(bytes: &[u8], schema: &str) -> (Vec<f64>, Option<String>) {
        let schema = Schema::from_toml(schema, "schema.toml").unwrap();
        let rows = Rows::new(bytes, "data.csv").unwrap();
        let recognised = rows.recognised();
        let loaded = Reader::new(rows, &schema, None, OutOfBounds::Reject).unwrap().read_all().unwrap();
        (loaded.table.records().iter().copied().collect(), recognised)
    }

    #[test]
    fn a_file_is_read_however_it_is_written_and_says_how() {
        let schema = "[[column]]\nname = \"größe\"\nkind = \"real\"\nlower = 0\nupper = 2\n[[column]]\nname \
            = \"am\"\nkind = \"date\"\nlower = \"2020-01-01\"\nupper = \"2020-01-11\"\nformat = \"%d.%m.%Y\"";
        let text = "größe;am\r\n0,5;02.01.2020\r\n1,0;11.01.2020\r\n";
        let records = vec![0.25, 0.1, 0.5, 1.0];
        let latin: Vec<u8> = text.chars().map(|one| u8::try_from(u32::from(one)).unwrap()).collect();
        let wide = |first: u16| [first].into_iter().chain(text.encode_utf16());
        let little: Vec<u8> = wide(0xfeff).flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = wide(0xfeff).flat_map(u16::to_be_bytes).collect();
        let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        packed.write_all(&latin).unwrap();
        let (columns, commas) = ("columns separated by semicolons", "decimal commas");
        for (bytes, expected) in [
            (text.as_bytes().to_vec(), format!("{columns} and {commas}")),
            (latin, format!("encoded in Latin-1, {columns} and {commas}")),
            (little, format!("encoded in UTF-16, {columns} and {commas}")),
            (big, format!("encoded in UTF-16, {columns} and {commas}")),
            (text.replace(';', "\t").into(), format!("columns separated by tabs and {commas}")),
            (packed.finish().unwrap(), format!("packed by gzip, encoded in Latin-1, {columns} and {commas}")),
        ] {
            assert_eq!(recognised(&bytes, schema), (records.clone(), Some(expected)));
        }
        let number = "[[column]]\nname = \"x\"\nkind = \"real\"\nlower = 0\nupper = 2";
        assert_eq!(
            recognised(b"x,y\n\"0,5\",a\n\"1,5\",b\n", number),
            (vec![0.25, 0.75], Some(commas.into()))
        );
        assert_eq!(recognised(b"x,y\n0.5,\"1,5\"\n", number), (vec![0.25], None));
    }

    #[test]
    fn what_is_said_of_a_file_is_not_recognised_from_it() {
        let format = TextFormat { delimiter: Some(Delimiter::Comma), ..TextFormat::default() };
        let rows = Rows::written(&b"a;b,c\n"[..], "data.csv", &format).unwrap();
        assert_eq!((rows.header(), rows.recognised()), (&["a;b".to_owned(), "c".into()][..], None));
        let format = TextFormat { encoding: Some(Encoding::Latin1), ..TextFormat::default() };
        let rows = Rows::written(&b"\xe9t\xe9\n"[..], "data.csv", &format).unwrap();
        assert_eq!(rows.header(), ["été"]);
    }

    #[test]
    fn records_never_vanish_in_a_cell_that_nobody_reads() {
        assert!(message(b"size,notes\n1,a\n2,\"b\n1,c\n2,d\n").contains("middle of row 2"));
        let long = format!("size,notes\n1,\"{}", "x".repeat(17 << 20));
        assert!(message(long.as_bytes()).contains("longer than 16 MiB"));
        // An error in an earlier row is reported first.
        let long = format!("size,notes\nx,\n1,\"{}", "x".repeat(17 << 20));
        assert!(message(long.as_bytes()).contains("row 1, column \"size\""));
    }

    #[test]
    fn wanted_cells_of_long_rows_are_kept() {
        let notes = "y".repeat(1 << 16);
        let mut text = "notes,size\n".to_owned();
        (0..200).for_each(|at| text += &format!("{notes},{}\n", at % 3));
        let mut rows = reader(text.as_bytes(), OutOfBounds::Clip);
        let first = rows.next_rows(150).unwrap().unwrap();
        assert_eq!(first.len(rows.encoder()), 150);
        assert!(first.bytes() < 10_000, "{}", first.bytes());
        let loaded = read(text.as_bytes(), "data.csv", &schema(), None).unwrap();
        let sizes: Vec<f64> = (0..200).map(|at| f64::from(at % 3) / 2.0).collect();
        assert_eq!(loaded.table.records().column(0).to_vec(), sizes);
    }

    #[test]
    fn rows_come_some_at_a_time() {
        let text = b"id,size\na,0\nb,1\nc,2\nd,3\ne,4\n";
        let mut reader = reader(&text[..], OutOfBounds::Keep);
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
        let reader = |text: &'static str| reader(text.as_bytes(), OutOfBounds::Clip);
        let (loaded, cells) =
            reader("when,size\n b ,1\n\na,2\n\"c\",0\n").read_all_with_column("when").unwrap();
        assert_eq!(*loaded.table.records(), ndarray::array![[0.5], [1.0], [0.0]]);
        assert_eq!(cells, ["b", "a", "c"]);
        let missing = reader("when,size\nb,1\n").read_all_with_column("wenn").unwrap_err().to_string();
        assert_eq!(missing, "data.csv: there is no column \"wenn\"; did you mean \"when\"?");
        let short = reader("when,size\nb,1\n2\n").read_all_with_column("when").unwrap_err().to_string();
        assert_eq!(short, "data.csv, row 2: the row has 1 cells, and the header has 2");
    }

    #[test]
    fn a_strict_reader_refuses_what_lies_outside() {
        let mut reader = reader(&b"size\n1\n2.1\n"[..], OutOfBounds::Reject);
        let rows = reader.next_rows(9).unwrap().unwrap();
        let error = rows.encode(reader.encoder(), &mut vec![], &mut Clips::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "data.csv, row 2, column \"size\": \"2.1\" lies outside the bounds; a number between 0 and 2 is \
             needed"
        );
    }

    #[test]
    fn bad_files_get_one_line() {
        assert_eq!(message(b"size\n"), "data.csv holds no records");
        assert_eq!(message(b""), "data.csv holds no records");
        assert!(message(b"size,size\n1,2\n").contains("twice"));
        assert!(message(b"size\n1\n1,2\n").contains("row 2: the row has 2 cells"));
        let late = [b"size,notes\n".to_vec(), b"1,a\n".repeat(1 << 15), b"1,\xff\n".to_vec()].concat();
        assert!(message(&late).contains("row 32769: it is not UTF-8"));
        assert!(message(b"size\n\"1\n").contains("ends in the middle of row 1: a quotation mark"));
        let missing = Rows::open(Path::new("no/such.csv")).unwrap_err();
        assert!(missing.to_string().starts_with("no/such.csv: "), "{missing}");
    }
}
