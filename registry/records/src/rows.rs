//! Rows of a file before they are encoded: the seam between a format and what its cells mean.

use crate::encoder::LONGEST_NUMBER;
use crate::{Cell, Clips, Encoder, Error, Held, Result};
use std::borrow::Cow;

/// A table in a file: named columns, and rows of cells, some at a time and in bounded memory. What the cells mean is an
/// [`Encoder`]'s.
pub trait ReadRows: Send {
    /// What errors call the file.
    fn source(&self) -> &str;

    /// The names of its columns, without blanks around them.
    fn header(&self) -> &[String];

    /// The next `most` rows, or as many as there are; none at the end. Of each it has the cells that `encoder` wants, one for
    /// each of its [`places`](Encoder::places), and the same encoder is given each time.
    ///
    /// # Errors
    /// [`Error::Unreadable`] and [`Error::RowLength`] for a file that is not of its
    /// format, and as [`RawRows::push`].
    fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>>;

    /// The same, with cells that may be read later, on another core.
    ///
    /// # Errors
    /// As [`next_rows`](Self::next_rows), but for what is wrong with cells that are read later.
    fn next_block(&mut self, encoder: &Encoder, most: usize) -> Result<Option<Block>> {
        Ok(self.next_rows(encoder, most)?.map(Block::of))
    }

    /// About how many of the file's bytes were read, for whoever waits.
    fn bytes(&self) -> u64;

    /// What was recognised of how the file is written, where that is not the usual form: "columns separated by semicolons and
    /// decimal commas".
    fn recognised(&self) -> Option<String> {
        None
    }

    /// The digest of the design by which the file was released, where it carries one.
    fn design(&self) -> Option<&str> {
        None
    }

    /// The storage type of the column at this place of the header. `None` for text, and for types that are not read.
    fn held(&self, _place: usize) -> Option<Held> {
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

/// Rows up to the first that is wrong, and what is wrong with it.
type RowsRead = (RawRows, Option<Error>);

/// Some rows of a file, whose cells may still have to be read.
pub struct Block {
    bytes: usize,
    cells: Box<dyn FnOnce(&Encoder) -> RowsRead + Send>,
}

impl Block {
    /// Rows whose cells were read.
    pub fn of(rows: RawRows) -> Self {
        Self::read_later(rows.bytes(), |_encoder| (rows, None))
    }

    /// Rows that take so much memory, in bytes, and whose cells `cells` reads: up to the first row that is wrong, with what is wrong with it.
    pub fn read_later(
        bytes: usize,
        cells: impl FnOnce(&Encoder) -> (RawRows, Option<Error>) + Send + 'static,
    ) -> Self {
        Self { bytes, cells: Box::new(cells) }
    }

    /// The memory that they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What `map` makes of the rows.
    ///
    /// # Errors
    /// What is wrong with the first row that is wrong: one before that which could not be read may be, too.
    pub(crate) fn map<T>(self, encoder: &Encoder, map: impl FnOnce(&RawRows) -> Result<T>) -> Result<T> {
        let (rows, wrong) = (self.cells)(encoder);
        let mapped = map(&rows)?;
        wrong.map_or(Ok(mapped), Err)
    }
}

/// Rows that are not encoded yet: only the cells that an encoder wants.
#[derive(Debug)]
pub struct RawRows {
    first_row: usize,
    text: String,
    cells: Vec<Kept>,
}

/// A cell, its text elsewhere.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Null,
    /// From the end of the text before it to here.
    Text {
        end: usize,
    },
    Number(f64),
    Whole(i64),
    Flag(bool),
}

/// The first bytes of a text, `most` at most.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

impl RawRows {
    /// No rows yet; the first will be data row `first_row` of the file, counted from 1.
    pub fn starting_at(first_row: usize) -> Self {
        Self { first_row, text: String::new(), cells: vec![] }
    }

    /// Appends the next cell: row by row, in each in the order of the encoder's places.
    ///
    /// # Errors
    /// [`Error::Cell`] for text longer than any that is right.
    pub fn push(&mut self, encoder: &Encoder, cell: Cell) -> Result<()> {
        self.cells.push(match cell {
            Cell::Null => Kept::Null,
            Cell::Text(text) => {
                let text = text.trim();
                let text = encoder.longest_look().map_or(text, |most| cut(text, most));
                // What is no longer than a number may be is too long for no column.
                if text.len() > LONGEST_NUMBER {
                    let (row, at) = (self.cells.len() / encoder.width(), self.cells.len() % encoder.width());
                    encoder.check_length(self.first_row + row, at, text)?;
                }
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
        Ok(())
    }

    /// Makes room for so many cells more, and so many bytes of text.
    pub(crate) fn reserve(&mut self, cells: usize, bytes: usize) {
        self.cells.reserve(cells);
        self.text.reserve(bytes);
    }

    /// Forgets the cells of a row of which some are missing.
    pub(crate) fn drop_unfinished(&mut self, encoder: &Encoder) {
        self.cells.truncate(self.len(encoder) * encoder.width());
        let end = self.cells.iter().rev().find_map(|kept| match kept {
            Kept::Text { end } => Some(*end),
            _ => None,
        });
        self.text.truncate(end.unwrap_or(0));
    }

    /// The finished rows, if there are any. An error of `read` is `held` until they are through: one of them may
    /// be wrong too.
    ///
    /// # Errors
    /// That of `read`, where no row was finished.
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many there are.
    pub fn len(&self, encoder: &Encoder) -> usize {
        self.cells.len() / encoder.width()
    }

    /// The memory that they take, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.cells.len() * size_of::<Kept>()
    }

    /// Appends their flat records.
    ///
    /// # Errors
    /// [`Error::Cell`], for the first row that is wrong.
    pub fn encode(&self, encoder: &Encoder, records: &mut Vec<f64>, clips: &mut Clips) -> Result<()> {
        let mut cells = self.cells();
        for row in 0..self.len(encoder) {
            encoder.encode_picked(
                self.first_row + row,
                cells.by_ref().take(encoder.width()),
                records,
                clips,
            )?;
        }
        Ok(())
    }

    /// The number of the first row, counted from 1.
    pub(crate) fn first_row(&self) -> usize {
        self.first_row
    }

    /// The ids of the rows: the cells of the column beside the record, or, where there is none, the numbers of the rows, counted from 1.
    ///
    /// # Errors
    /// [`Error::Cell`] for a row without an id.
    pub fn ids(&self, encoder: &Encoder) -> Result<Vec<Cow<'_, str>>> {
        let rows = self.first_row..self.first_row + self.len(encoder);
        let Some(column) = encoder.beside_column() else {
            return Ok(rows.map(|row| row.to_string().into()).collect());
        };
        let ids = rows.zip(self.beside(encoder)).map(|(row, cell)| match cell.text() {
            id if id.is_empty() => Err(Error::Cell {
                file: encoder.source().into(),
                row,
                column: column.into(),
                value: String::new(),
                problem: "is no id; each record needs one of its own".into(),
            }),
            id => Ok(id),
        });
        ids.collect()
    }

    /// The cells of the column beside the record.
    pub(crate) fn beside(&self, encoder: &Encoder) -> impl Iterator<Item = Cell<'_>> {
        self.cells().skip(encoder.width() - 1).step_by(encoder.width())
    }

    /// The cells, row by row.
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
    /// The flat record for data row `row` (counted from 1, for errors), whose cells are in the order of the header.
    ///
    /// # Errors
    /// [`Error::RowLength`] or [`Error::Cell`], with the file, the row, the column and the value.
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
