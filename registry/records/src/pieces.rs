//! CSV text cut into pieces of whole rows, so that any core can parse the cells.

use std::io::{self, Read};

/// Reader that cuts CSV text into pieces of a requested number of rows. It counts rows as a CSV parser does.
/// A row ends at a line's end outside quotation marks, or at the end of the text.
#[derive(Debug)]
pub(crate) struct Pieces<R> {
    input: R,
    delimiter: u8,
    /// True if a blank line counts as a row with an empty cell, as in text of one column.
    pub(crate) is_of_one_column: bool,
    /// Bytes that were read and are not yet discarded. The bytes before `next` were already returned.
    buffer: Vec<u8>,
    next: usize,
    is_at_end: bool,
    /// Error in the row that follows the last returned row. The next call returns it.
    held: Option<io::Error>,
}

/// Whole rows without a byte order mark. Blank lines are removed unless they count as rows.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub(crate) text: Vec<u8>,
    pub(crate) rows: usize,
    /// True if the text ends inside quotation marks, within the last row.
    pub(crate) is_unclosed: bool,
    /// True if long rows limited the piece to fewer rows than requested.
    pub(crate) is_cut_short: bool,
}

/// Parser state before the next byte of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    CellStart,
    Cell,
    Quotes,
    /// After a quotation mark inside a quoted cell. It is the closing mark, or the first mark of an escaped
    /// pair.
    AfterQuote,
}

/// Result of a search for the end of a row.
enum Row {
    /// The row ends after this number of bytes, including the line's end.
    Ends(usize),
    /// The row continues beyond the bytes read. After them, the parser is in this state.
    Goes(Place),
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<R: Read> Pieces<R> {
    /// Upper bound on the size of a row, in bytes.
    const LONGEST: usize = 16 << 20;

    /// Size of a piece, in bytes, from which the piece takes no further row.
    const MOST: usize = 4 << 20;

    /// Number of bytes per read.
    const READ: usize = 1 << 18;

    /// Reads the beginning of `input` and skips a byte order mark.
    ///
    /// # Errors
    /// An I/O error if the beginning cannot be read.
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

    /// Returns the next `most` rows. Returns fewer at the end of the text or if the rows are long, and `None`
    /// after the last row.
    ///
    /// # Errors
    /// An I/O error if the input cannot be read or a row is longer than 16 MiB. Rows before the error are
    /// returned first.
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

    /// Returns the start and length of the next row or blank line within the buffer. The flag is true if the
    /// row ends outside quotation marks.
    fn next_row(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        let (mut scanned, mut place) = (0, Place::CellStart);
        loop {
            let unread = &self.buffer[self.next..];
            match goes_on(unread, scanned, place, self.delimiter) {
                // The line feed after a carriage return may not be read yet.
                Row::Ends(length)
                    if unread[length - 1] != b'\r' || length < unread.len() || self.is_at_end =>
                {
                    let length = length
                        + usize::from(unread[length - 1] == b'\r' && unread.get(length) == Some(&b'\n'));
                    let start = self.next;
                    self.next += length;
                    return Ok(Some((start, length, true)));
                }
                // Scan the carriage return again together with the next bytes.
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

    /// Discards the returned bytes and reads more.
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

/// Returns whether a line consists only of its line end.
fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r" | b"\r\n")
}

/// Finds the end of the first row in `text`. The first `scanned` bytes belong to that row. After them, the
/// parser is in state `place`.
fn goes_on(text: &[u8], scanned: usize, mut place: Place, delimiter: u8) -> Row {
    let mut at = scanned;
    // Most rows have no quotation mark and end with a line feed.
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

    /// Reader that returns a few bytes at a time.
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
        /// Checks that a parser finds the counted rows in each piece, and that the pieces together hold the
        /// rows of the whole text.
        #[test]
        fn pieces_hold_the_rows_of_the_whole_text(
            parts in prop::collection::vec(
                prop::sample::select(vec!["a", "\"", ",", "\n", "\r", "\r\n", " ", "\"\"", "bc"]),
                0..60,
            ),
            some in 1usize..12,
            most in 1usize..5,
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
