//! CSV text cut into pieces of whole rows, so that their cells can be read elsewhere, on any core.

use std::io::{self, Read};

/// CSV text, in pieces of so many rows, as a parser counts them: a row ends where the text does, or at a line's end outside quotation marks.
#[derive(Debug)]
pub(crate) struct Pieces<R> {
    input: R,
    delimiter: u8,
    /// A blank line is a row with an empty cell, as in text of one column.
    pub(crate) is_of_one_column: bool,
    /// What was read, of which what lies before `next` was given out.
    buffer: Vec<u8>,
    next: usize,
    is_at_end: bool,
    /// What is wrong with the row after those that were given out last.
    held: Option<io::Error>,
}

/// Whole rows, without a byte order mark, and without blank lines where these are no rows.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) text: Vec<u8>,
    pub(crate) rows: usize,
    /// The text ends in the middle of the last row, within quotation marks.
    pub(crate) is_unclosed: bool,
    /// It has fewer rows than were asked for, because they are long.
    pub(crate) is_cut_short: bool,
}

/// Where the next byte of a row stands, as a parser sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    CellStart,
    Cell,
    Quotes,
    /// Behind a quotation mark in quotation marks: the last one, or the first of two.
    AfterQuote,
}

/// How a row goes on.
enum Row {
    /// So many bytes, the line's end among them.
    Ends(usize),
    /// Beyond what was read, whose end is such a place of it.
    Goes(Place),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: Read> Pieces<R> {
    /// Bytes of a row at most.
    const LONGEST: usize = 16 << 20;

    /// Bytes of a piece, but for its last row.
    const MOST: usize = 4 << 20;

    /// Bytes that are read at once.
    const READ: usize = 1 << 18;

    /// # Errors
    /// Where the beginning cannot be read.
    pub(crate) fn new(input: R, delimiter: u8) -> io::Result<Self> {
        let mut pieces = Self {
            input,
            delimiter,
            is_of_one_column: false,
            buffer: vec![],
            next: 0,
            is_at_end: false,
            held: None,
        };
        while pieces.buffer.len() < BYTE_ORDER_MARK.len() && !pieces.is_at_end {
            pieces.read_more()?;
        }
        if pieces.buffer.starts_with(BYTE_ORDER_MARK) {
            pieces.next = BYTE_ORDER_MARK.len();
        }
        Ok(pieces)
    }

    /// The next `most` rows, or as many as there are, or as are not too long together; none at the end.
    ///
    /// # Errors
    /// Where the input cannot be read, or a row is longer than 16 MiB; rows before that are given out first.
    pub(crate) fn next(&mut self, most: usize) -> io::Result<Option<Piece>> {
        if let Some(error) = self.held.take() {
            return Err(error);
        }
        let mut piece = Piece::default();
        while piece.rows < most {
            if piece.text.len() >= Self::MOST {
                piece.is_cut_short = true;
                break;
            }
            let (start, length, is_closed) = match self.next_row() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) if piece.rows > 0 => {
                    self.held = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            };
            let row = &self.buffer[start..start + length];
            if is_blank(row) {
                if self.is_of_one_column {
                    piece.text.extend_from_slice(b"\"\"\n");
                    piece.rows += 1;
                }
                continue;
            }
            piece.text.extend_from_slice(row);
            piece.rows += 1;
            piece.is_unclosed = !is_closed;
        }
        Ok((piece.rows > 0).then_some(piece))
    }

    /// Where the next line begins in what was read, how long it is, and whether it ends outside quotation marks.
    fn next_row(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        let (mut scanned, mut place) = (0, Place::CellStart);
        loop {
            let unread = &self.buffer[self.next..];
            match goes_on(unread, scanned, place, self.delimiter) {
                // The line feed behind a carriage return may be still to come.
                Row::Ends(length)
                    if unread[length - 1] != b'\r' || length < unread.len() || self.is_at_end =>
                {
                    let length = length
                        + usize::from(unread[length - 1] == b'\r' && unread.get(length) == Some(&b'\n'));
                    let start = self.next;
                    self.next += length;
                    return Ok(Some((start, length, true)));
                }
                // Seen again with what comes behind it.
                Row::Ends(length) => (scanned, place) = (length - 1, Place::Cell),
                Row::Goes(at) => (scanned, place) = (unread.len(), at),
            }
            if self.is_at_end {
                let (start, length) = (self.next, unread.len());
                self.next += length;
                return Ok((length > 0).then_some((start, length, place != Place::Quotes)));
            }
            if scanned >= Self::LONGEST {
                return Err(io::Error::other(
                    "a row is longer than 16 MiB; perhaps a quotation mark is never closed",
                ));
            }
            self.read_more()?;
        }
    }

    /// Reads on, and forgets what was given out.
    fn read_more(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + Self::READ, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(filled + read.as_ref().map_or(0, |read| *read));
        self.is_at_end = read? == 0;
        Ok(())
    }
}

/// Whether a line is nothing but its end.
fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r" | b"\r\n")
}

/// Where the line in `text` ends, of which `scanned` bytes are known to be of it and bring it to `place`.
fn goes_on(text: &[u8], scanned: usize, mut place: Place, delimiter: u8) -> Row {
    let mut at = scanned;
    // Most rows have no quotation mark, and a line feed ends them.
    if place != Place::Quotes && place != Place::AfterQuote {
        let end = memchr::memchr2(b'\n', b'\r', &text[at..]).map(|found| at + found);
        let line = &text[at..end.unwrap_or(text.len())];
        if memchr::memchr(b'"', line).is_none() {
            return match end {
                Some(end) => Row::Ends(end + 1),
                None => Row::Goes(match line.last() {
                    None => place,
                    Some(last) if *last == delimiter => Place::CellStart,
                    Some(_) => Place::Cell,
                }),
            };
        }
    }
    while let Some(&byte) = text.get(at) {
        at += 1;
        place = match (place, byte) {
            (Place::Quotes, b'"') => Place::AfterQuote,
            (Place::Quotes, _) | (Place::AfterQuote, b'"') => Place::Quotes,
            (_, b'\n' | b'\r') => return Row::Ends(at),
            (_, byte) if byte == delimiter => Place::CellStart,
            (Place::CellStart, b'"') => Place::Quotes,
            _ => Place::Cell,
        };
    }
    Row::Goes(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is given out some bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = self.1.min(buffer.len());
            self.0.read(&mut buffer[..some])
        }
    }

    fn records(text: &[u8]) -> Vec<csv::ByteRecord> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        reader.byte_records().map(Result::unwrap).collect()
    }

    proptest! {
        /// A piece holds the rows that a parser finds in it, all pieces together those of the whole text.
        #[test]
        fn pieces_hold_the_rows_of_the_whole_text(
            parts in prop::collection::vec(prop::sample::select(vec!["a", "\"", ",", "\n", "\r", "\r\n", " ", "\"\"", "bc"]), 0..60),
            some in 1usize..12, most in 1usize..5,
        ) {
            let text = parts.concat().into_bytes();
            let mut pieces = Pieces::new(Dripping(&text, some), b',').unwrap();
            let (mut found, mut is_unclosed) = (vec![], false);
            while let Some(piece) = pieces.next(most).unwrap() {
                prop_assert!(!is_unclosed && piece.rows <= most);
                let own = records(&piece.text);
                prop_assert_eq!(own.len(), piece.rows, "{:?}", String::from_utf8_lossy(&piece.text));
                found.extend(own);
                is_unclosed = piece.is_unclosed;
            }
            let fields = |records: &[csv::ByteRecord]| -> Vec<Vec<Vec<u8>>> {
                records.iter().map(|record| record.iter().map(<[u8]>::to_vec).collect()).collect()
            };
            prop_assert_eq!(fields(&found), fields(&records(&text)));
        }
    }
}
