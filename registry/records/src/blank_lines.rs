//! Blank lines of CSV with one column, which a parser takes for no rows.

use std::io::{self, Read};

/// CSV in which a blank line becomes a quoted empty cell, if the header has one column; else unchanged.
#[derive(Debug)]
pub(crate) struct BlankLines<R> {
    input: R,
    delimiter: u8,
    place: Place,
    columns: Columns,
    /// How many bytes of a byte order mark were seen; none after the first byte that is not of it.
    marks: Option<usize>,
    /// What is to be given out, and how much of it was.
    made: Vec<u8>,
    given: usize,
}

/// What is known of the header.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Columns {
    /// It has not begun, or not ended: one so far.
    OneSoFar,
    One,
    Several,
}

/// Where the next byte stands, as the parser sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    LineStart,
    /// Behind a carriage return, whose line feed may follow.
    AfterReturn,
    CellStart,
    Cell,
    Quotes,
    /// Behind a quotation mark in quotation marks: the last one, or the first of two.
    AfterQuote,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: Read> BlankLines<R> {
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            delimiter,
            place: Place::LineStart,
            columns: Columns::OneSoFar,
            marks: Some(0),
            made: vec![],
            given: 0,
        }
    }

    /// Whether the header, which was read, has one column.
    pub(crate) fn is_of_one_column(&self) -> bool {
        self.columns != Columns::Several
    }

    fn take(&mut self, byte: u8) {
        self.made.push(byte);
        if let Some(marks) = self.marks {
            self.marks = (BYTE_ORDER_MARK.get(marks) == Some(&byte)).then_some(marks + 1);
            if self.marks.is_some() {
                return;
            }
        }
        let is_in_line = !matches!(self.place, Place::LineStart | Place::AfterReturn);
        let is_line_end = matches!(byte, b'\n' | b'\r') && self.place != Place::Quotes;
        let ends_return = self.place == Place::AfterReturn && byte == b'\n';
        match self.columns {
            Columns::OneSoFar if is_line_end && is_in_line => self.columns = Columns::One,
            Columns::OneSoFar if byte == self.delimiter && self.place != Place::Quotes => {
                self.columns = Columns::Several
            }
            Columns::One if is_line_end && !is_in_line && !ends_return => {
                let line_end = self.made.len() - 1;
                self.made.splice(line_end..line_end, *b"\"\"");
            }
            _ => {}
        }
        self.place = match (self.place, byte) {
            (Place::Quotes, b'"') => Place::AfterQuote,
            (Place::Quotes, _) | (Place::AfterQuote, b'"') => Place::Quotes,
            (_, b'\n') => Place::LineStart,
            (_, b'\r') => Place::AfterReturn,
            (_, byte) if byte == self.delimiter => Place::CellStart,
            (Place::LineStart | Place::AfterReturn | Place::CellStart, b'"') => Place::Quotes,
            _ => Place::Cell,
        };
    }
}

impl<R: Read> Read for BlankLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.made.len() {
            let read = self.input.read(buffer)?;
            if self.columns == Columns::Several {
                return Ok(read);
            }
            self.given = 0;
            self.made.clear();
            buffer[..read].iter().for_each(|&byte| self.take(byte));
        }
        let given = (&self.made[self.given..]).read(buffer)?;
        self.given += given;
        Ok(given)
    }
}
