//! Rows of a file before encoding: the interface between file formats, which provide cells, and the encoder,
//! which interprets them. A *flat* record lists the coordinates of an encoded row.

use crate::encoder::LONGEST_NUMBER;
use crate::{Cell, Clips, Encoder, Error, Held, Result};
use std::borrow::Cow;

/// A table in a file: named columns and rows of cells, read a few at a time in bounded memory. An [`Encoder`]
/// interprets the cells.
pub trait ReadRows: Send {
    /// Name of the file in errors.
    fn source(&self) -> &str;

    /// Names of the columns, without surrounding blanks.
    fn header(&self) -> &[String];

    /// Returns the next `most` rows, or fewer at the end of the file. Returns `None` after the last row. A
    /// row holds the cells that `encoder` reads, one for each index in [`Encoder::places`]. Every call must
    /// pass the same encoder.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a malformed file; [`Error::RowLength`] for a row with too few or too many
    /// cells; same errors as [`RawRows::push`].
    fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>>;

    /// Returns the next rows like [`next_rows`](Self::next_rows), but may leave their cells to be parsed
    /// later, on another core.
    ///
    /// # Errors
    /// Same errors as [`next_rows`](Self::next_rows), except for errors in cells that are parsed later.
    fn next_block(&mut self, encoder: &Encoder, most: usize) -> Result<Option<Block>> {
        Ok(self.next_rows(encoder, most)?.map(Block::from_rows))
    }

    /// Approximate number of bytes read from the file, to report progress.
    fn bytes(&self) -> u64;

    /// Description of the recognised text format if it is not comma-separated UTF-8 with decimal points. An
    /// example is "columns separated by semicolons and decimal commas".
    fn recognised(&self) -> Option<String> {
        None
    }

    /// Digest of the design (the mechanism with its parameters) by which the file was released, if the file
    /// carries the digest.
    fn design(&self) -> Option<&str> {
        None
    }

    /// Storage type of the column at this index of the header. `None` for a text file, and for an unsupported
    /// type.
    fn held(&self, _place: usize) -> Option<Held> {
        None
    }

    /// Unsupported content of the column at this index of the header, for example `lists or groups`. `None`
    /// for a column that can be read.
    fn unsupported(&self, _place: usize) -> Option<String> {
        None
    }
}

impl<R: ReadRows + ?Sized> ReadRows for Box<R> {
    fn source(&self) -> &str {
        (**self).source()
    }

    fn header(&self) -> &[String] {
        (**self).header()
    }

    fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>> {
        (**self).next_rows(encoder, most)
    }

    fn next_block(&mut self, encoder: &Encoder, most: usize) -> Result<Option<Block>> {
        (**self).next_block(encoder, most)
    }

    fn unsupported(&self, place: usize) -> Option<String> {
        (**self).unsupported(place)
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn recognised(&self) -> Option<String> {
        (**self).recognised()
    }

    fn design(&self) -> Option<&str> {
        (**self).design()
    }

    fn held(&self, place: usize) -> Option<Held> {
        (**self).held(place)
    }
}

/// Rows up to the first faulty row, and that row's error.
type RowsRead = (RawRows, Option<Error>);

/// Some rows of a file, whose cells may not be parsed yet.
pub struct Block {
    bytes: usize,
    cells: Box<dyn FnOnce(&Encoder) -> RowsRead + Send>,
}

impl Block {
    /// Wraps rows whose cells are already parsed.
    pub fn from_rows(rows: RawRows) -> Self {
        Self::read_later(rows.bytes(), |_encoder| (rows, None))
    }

    /// Wraps rows of `bytes` bytes that `cells` parses later. `cells` returns the rows up to the first faulty
    /// row, and that row's error.
    pub fn read_later(
        bytes: usize,
        cells: impl FnOnce(&Encoder) -> (RawRows, Option<Error>) + Send + 'static,
    ) -> Self {
        Self { bytes, cells: Box::new(cells) }
    }

    /// Returns the block whose parsed rows are changed by `change`.
    pub(crate) fn changed(self, change: impl FnOnce(&mut RawRows, &Encoder) + Send + 'static) -> Self {
        let (bytes, read) = (self.bytes, self.cells);
        let cells = move |encoder: &Encoder| {
            let (mut rows, wrong) = read(encoder);
            change(&mut rows, encoder);
            (rows, wrong)
        };
        Self { bytes, cells: Box::new(cells) }
    }

    /// Memory used by the rows, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Parses the rows and returns the result of `map`.
    ///
    /// # Errors
    /// An error of `map`, which concerns the rows before the first faulty row; if `map` succeeds, the error
    /// of the first faulty row.
    pub(crate) fn map<T>(self, encoder: &Encoder, map: impl FnOnce(&RawRows) -> Result<T>) -> Result<T> {
        let (rows, wrong) = (self.cells)(encoder);
        let mapped = map(&rows)?;
        wrong.map_or(Ok(mapped), Err)
    }
}

/// Rows that are not encoded yet, with only the cells that an encoder reads.
#[derive(Debug)]
pub struct RawRows {
    first_row: usize,
    text: String,
    cells: Vec<Kept>,
    /// Numbers of the rows that are left after others were removed; empty before.
    numbers: Vec<usize>,
}

/// A cell in [`RawRows`], which stores the texts of all cells in one string.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Null,
    /// Text from the end of the preceding text up to `end`.
    Text {
        end: usize,
    },
    Number(f64),
    Whole(i64),
    Flag(bool),
}

/// Cuts `text` to at most `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

impl RawRows {
    /// Returns an empty collection whose first row will be data row `first_row` of the file, counted from 1.
    pub fn starting_at(first_row: usize) -> Self {
        Self { first_row, text: String::new(), cells: vec![], numbers: vec![] }
    }

    /// Appends the next cell. Cells come row by row, and within a row in the order of [`Encoder::places`].
    ///
    /// # Errors
    /// [`Error::Cell`] for text longer than any valid cell.
    pub fn push(&mut self, encoder: &Encoder, cell: Cell) -> Result<()> {
        if let Cell::Text(text) = cell {
            let text = text.trim();
            let text = encoder.longest_look().map_or(text, |most| cut(text, most));
            // No column refuses a text of at most `LONGEST_NUMBER` bytes for its length.
            if text.len() > LONGEST_NUMBER {
                let (row, at) = (self.cells.len() / encoder.width(), self.cells.len() % encoder.width());
                encoder.check_length(self.first_row + row, at, text)?;
            }
            self.keep(Cell::Text(text));
        } else {
            self.keep(cell);
        }
        Ok(())
    }

    fn keep(&mut self, cell: Cell) {
        self.cells.push(match cell {
            Cell::Null => Kept::Null,
            Cell::Text(text) => {
                self.text += text;
                Kept::Text { end: self.text.len() }
            }
            Cell::Number(number) => Kept::Number(number),
            Cell::Whole(number) => Kept::Whole(number),
            Cell::Flag(flag) => Kept::Flag(flag),
            Cell::Date { .. } => {
                self.text += &cell.text();
                Kept::Text { end: self.text.len() }
            }
        });
    }

    /// Reserves memory for more `cells` and more `bytes` of text.
    pub(crate) fn reserve(&mut self, cells: usize, bytes: usize) {
        self.cells.reserve(cells);
        self.text.reserve(bytes);
    }

    /// Discards the cells of an incomplete last row.
    pub(crate) fn drop_unfinished(&mut self, encoder: &Encoder) {
        self.cells.truncate(self.len(encoder) * encoder.width());
        let end = self.cells.iter().rev().find_map(|kept| match kept {
            Kept::Text { end } => Some(*end),
            _ => None,
        });
        self.text.truncate(end.unwrap_or(0));
    }

    /// Returns the complete rows, or `None` if there are none. If `read` is an error, it is stored in `held`
    /// until these rows are processed, because one of them may be faulty too.
    ///
    /// # Errors
    /// `read`, if it is an error and no row is complete.
    pub fn finished(
        mut self,
        read: Result<()>,
        encoder: &Encoder,
        held: &mut Option<Error>,
    ) -> Result<Option<Self>> {
        if let Err(error) = read {
            self.drop_unfinished(encoder);
            if self.is_empty() {
                return Err(error);
            }
            *held = Some(error);
        }
        Ok((!self.is_empty()).then_some(self))
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Number of rows.
    pub fn len(&self, encoder: &Encoder) -> usize {
        self.cells.len() / encoder.width()
    }

    /// Memory used by the rows, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.cells.len() * size_of::<Kept>()
    }

    /// Appends the flat records of the rows to `records`, and counts clipped cells in `clips`.
    ///
    /// # Errors
    /// [`Error::Cell`] for the first faulty row.
    pub fn encode(&self, encoder: &Encoder, records: &mut Vec<f64>, clips: &mut Clips) -> Result<()> {
        let mut cells = self.cells();
        for row in 0..self.len(encoder) {
            encoder.encode_picked(
                self.row_number(row),
                cells.by_ref().take(encoder.width()),
                records,
                clips,
            )?;
        }
        Ok(())
    }

    /// Number of the row at index `at` in the file, counted from 1.
    pub(crate) fn row_number(&self, at: usize) -> usize {
        self.numbers.get(at).copied().unwrap_or(self.first_row + at)
    }

    /// Removes all rows but those for which `is_kept` returns true. It receives the number of a row in the
    /// file, counted from 1, and the row's cells.
    pub(crate) fn retain(&mut self, encoder: &Encoder, is_kept: impl Fn(usize, &[Cell]) -> bool) {
        let cells: Vec<Cell> = self.cells().collect();
        let kept: Vec<usize> = (0..self.len(encoder))
            .filter(|row| is_kept(self.row_number(*row), &cells[row * encoder.width()..][..encoder.width()]))
            .collect();
        if kept.len() == self.len(encoder) {
            return;
        }
        let mut rows = Self::starting_at(self.first_row);
        for &row in &kept {
            for cell in &cells[row * encoder.width()..][..encoder.width()] {
                rows.keep(*cell);
            }
            rows.numbers.push(self.row_number(row));
        }
        *self = rows;
    }

    /// Ids of the rows: the cells of the id column, or the row numbers, counted from 1, if there is no id
    /// column. [`Reader::with_ids`](crate::Reader::with_ids) selects the id column.
    ///
    /// # Errors
    /// [`Error::Cell`] for a row without an id.
    pub fn ids(&self, encoder: &Encoder) -> Result<Vec<Cow<'_, str>>> {
        let rows = (0..self.len(encoder)).map(|row| self.row_number(row));
        let Some(column) = encoder.extra_column() else {
            return Ok(rows.map(|row| row.to_string().into()).collect());
        };
        let ids = rows.zip(self.extra_cells(encoder)).map(|(row, cell)| match cell.text() {
            id if id.is_empty() => Err(Error::Cell {
                file: encoder.source().into(),
                row,
                column: column.into(),
                value: String::new(),
                problem: "is not an id; each record needs its own id".into(),
            }),
            id => Ok(id),
        });
        ids.collect()
    }

    /// Cells of the column that is read but not encoded.
    pub(crate) fn extra_cells(&self, encoder: &Encoder) -> impl Iterator<Item = Cell<'_>> {
        self.cells().skip(encoder.width() - 1).step_by(encoder.width())
    }

    /// Cells, row by row.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let mut start = 0;
        self.cells.iter().map(move |kept| match *kept {
            Kept::Null => Cell::Null,
            Kept::Text { end } => {
                let text = &self.text[start..end];
                start = end;
                Cell::Text(text)
            }
            Kept::Number(number) => Cell::Number(number),
            Kept::Whole(number) => Cell::Whole(number),
            Kept::Flag(flag) => Cell::Flag(flag),
        })
    }
}

impl Encoder {
    /// Encodes one row into a flat record. `row` is the number of the data row, counted from 1, for errors.
    /// `cells` come in the order of the header.
    ///
    /// # Errors
    /// [`Error::RowLength`] if the row and the header differ in their number of cells; [`Error::Cell`] for a
    /// cell that does not fit its column.
    pub fn encode<'a>(
        &self,
        row: usize,
        cells: impl IntoIterator<Item = &'a str>,
        clips: &mut Clips,
    ) -> Result<Vec<f64>> {
        let cells: Vec<&str> = cells.into_iter().collect();
        self.check_row_length(row, cells.len())?;
        let mut rows = RawRows::starting_at(row);
        for place in self.places() {
            rows.push(self, Cell::Text(cells[place]))?;
        }
        let mut record = Vec::with_capacity(self.domain().flat().dim());
        rows.encode(self, &mut record, clips)?;
        Ok(record)
    }
}
