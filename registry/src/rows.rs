//! Rows of a file before they are encoded: the seam between a format and what its cells mean.

use crate::{Clips, Decoder, Encoder, Error, Result};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;

/// What stands in one cell, whatever the format of its file.
///
/// | cell | in a column of numbers | in a category |
/// |---|---|---|
/// | text | the number that it writes | the level that it is |
/// | a number | itself | its shortest decimal digits, as text |
/// | a whole number | the nearest of 64 bits | its digits, as text |
/// | a flag | 0 or 1 | `false` or `true`, as text |
/// | nothing | what is missing, or as empty text | what is missing, or as empty text |
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing: a null. In CSV there is none, and an empty cell is empty text.
    Null,
    /// Text. Blanks around it mean nothing.
    Text(&'a str),
    /// A number, finite or not.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// Yes or no.
    Flag(bool),
}

impl<'a> Cell<'a> {
    /// As text: what a level is compared with, and what an error shows.
    ///
    /// ```
    /// use scumble_registry::Cell;
    ///
    /// let cells = [Cell::Text("red"), Cell::Number(2.0), Cell::Whole(-7), Cell::Flag(true), Cell::Null];
    /// assert_eq!(cells.map(|cell| cell.text().into_owned()), ["red", "2", "-7", "true", ""]);
    /// ```
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Null => "".into(),
            Self::Text(text) => text.into(),
            Self::Number(number) => digits(number, &mut zmij::Buffer::new()).into_owned().into(),
            Self::Whole(number) => number.to_string().into(),
            Self::Flag(flag) => if flag { "true" } else { "false" }.into(),
        }
    }

    /// As a number, finite or not, if it is one.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Null => None,
            Self::Text(text) => text.parse().ok(),
            Self::Number(number) => Some(number),
            Self::Whole(number) => Some(number as f64),
            Self::Flag(flag) => Some(f64::from(flag)),
        }
    }
}

/// The shortest decimal digits that are read back as this number, without an exponent: as many as the standard library shows, and the same but
/// where two are equally near.
pub(crate) fn digits(number: f64, buffer: &mut zmij::Buffer) -> Cow<'_, str> {
    // Within these its digits have no exponent.
    if !(1e-5..1e15).contains(&number.abs()) && number != 0.0 {
        return number.to_string().into();
    }
    let digits = buffer.format_finite(number);
    digits.strip_suffix(".0").unwrap_or(digits).into()
}

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

    /// About how many of the file's bytes were read, for whoever waits.
    fn bytes(&self) -> u64;
}

/// Opens `file` to be read.
///
/// # Errors
/// [`Error::Io`] where it cannot be opened, or is a folder.
pub fn open_to_read(file: &Path) -> Result<File> {
    let failed = |source| Error::Io { file: file.into(), source };
    let opened = File::open(file).map_err(failed)?;
    // A folder opens, and only reading it fails, with a sentence that no parser should wrap.
    if opened.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    Ok(opened)
}

/// Where released records go: a table in a file.
pub trait WriteRows {
    /// Some rows as they will stand in the file, which several cores make at once.
    type Block: Send;

    /// What is written of these flat records, one after the other.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    fn block(decoder: &Decoder, records: &[f64]) -> Result<Self::Block>;

    /// Appends a block.
    ///
    /// # Errors
    /// [`Error::Write`].
    fn write(&mut self, block: Self::Block) -> Result<()>;

    /// Writes what is left to write: without it the file is none.
    ///
    /// # Errors
    /// [`Error::Write`].
    fn finish(self) -> Result<()>;
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

    fn bytes(&self) -> u64 {
        (**self).bytes()
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
                let (row, at) = (self.cells.len() / encoder.width(), self.cells.len() % encoder.width());
                encoder.check_length(self.first_row + row, at, text)?;
                self.text += text;
                Kept::Text { end: self.text.len() }
            }
            Cell::Number(number) => Kept::Number(number),
            Cell::Whole(number) => Kept::Whole(number),
            Cell::Flag(flag) => Kept::Flag(flag),
        });
        Ok(())
    }

    /// The rows that were finished before `error`, which is `held` until they are through: one of them may be wrong too.
    ///
    /// # Errors
    /// `error`, where there are none.
    pub fn before(
        mut self,
        error: Error,
        encoder: &Encoder,
        held: &mut Option<Error>,
    ) -> Result<Option<Self>> {
        self.cells.truncate(self.len(encoder) * encoder.width());
        let end = self.cells.iter().rev().find_map(|kept| match kept {
            Kept::Text { end } => Some(*end),
            _ => None,
        });
        self.text.truncate(end.unwrap_or(0));
        if self.is_empty() {
            return Err(error);
        }
        *held = Some(error);
        Ok(Some(self))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_read_back_and_as_few_as_the_standard_librarys(
            bits: u64, small in -1e3..1e3f64, steps in -1_000_000_000_000i64..1_000_000_000_000, exponent in 0..60,
        ) {
            // Any number at all, one of everyday's size, and some on lattices, as releases are: there two may be equally near.
            let lattice = steps as f64 / f64::from(exponent).exp2();
            for number in [f64::from_bits(bits), small, lattice, steps as f64] {
                let mut buffer = zmij::Buffer::new();
                let found = digits(number, &mut buffer);
                prop_assert_eq!(found.len(), number.to_string().len(), "{} and {}", found, number);
                let read: f64 = found.parse().unwrap();
                prop_assert!(read.to_bits() == number.to_bits() || number.is_nan(), "{} and {}", found, number);
            }
        }
    }

    #[test]
    fn digits_at_the_ends_are_those_of_the_standard_library() {
        let near = |number: f64| [number.next_down(), number, number.next_up()];
        let numbers = [0.0, -0.0, 1.0, 1e-5, 1e15, 1e16, 1e-300, f64::MIN_POSITIVE, f64::MAX, 123_456.0];
        for number in numbers.into_iter().flat_map(near).flat_map(|number| [number, -number]) {
            assert_eq!(digits(number, &mut zmij::Buffer::new()), number.to_string());
        }
    }
}
