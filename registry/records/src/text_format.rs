//! Text format of a CSV file: declared, or recognised from the beginning of the file.

use crate::words::words;
use encoding_rs::{Encoding as Code, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{self, Cursor, Read};

/// Text format of a CSV file. A property that is not declared is recognised from the beginning of the file:
///
/// - gzip by its first bytes;
/// - the encoding by a byte order mark, or by whether the bytes are valid UTF-8;
/// - the delimiter by the header;
/// - a decimal comma by the numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextFormat {
    /// Separator of columns.
    pub delimiter: Option<Delimiter>,
    /// Decimal separator of numbers.
    pub decimal: Option<Decimal>,
    /// Character encoding.
    pub encoding: Option<Encoding>,
}

impl TextFormat {
    /// Format that [`csv::Writer`](crate::csv::Writer) writes. It suits the reading of files that are known
    /// to be written by this writer.
    pub const WRITTEN: Self = Self {
        delimiter: Some(Delimiter::Comma),
        decimal: Some(Decimal::Point),
        encoding: Some(Encoding::Utf8),
    };
}

words!(
    /// Separator of the columns of a row.
    Delimiter, "delimiter":
    /// A comma.
    Comma = "comma" | ",",
    /// A semicolon.
    Semicolon = "semicolon" | ";",
    /// A tab.
    Tab = "tab" | "\t" | "\\t",
    /// A vertical bar.
    Bar = "bar" | "|" | "pipe"
);

words!(
    /// Decimal separator of a number.
    Decimal, "decimal separator":
    /// A point: `1.5`.
    Point = "point" | "." | "dot",
    /// A comma: `1,5`. Points between groups of three digits then separate thousands: `1.234,5`.
    Comma = "comma" | ","
);

words!(
    /// Character encoding of a text.
    Encoding, "encoding":
    /// UTF-8, with or without a byte order mark.
    Utf8 = "utf-8" | "utf8",
    /// UTF-16, little-endian unless a byte order mark declares big-endian order.
    Utf16 = "utf-16" | "utf16" | "utf-16le",
    /// Latin-1, read as its superset Windows-1252.
    Latin1 = "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" | "cp1252"
);

impl Delimiter {
    const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Bar];

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Bar => b'|',
        }
    }

    /// Most frequent delimiter of the header, outside quotation marks; the comma if the header has no
    /// delimiter.
    fn from_header(text: &str) -> Self {
        let mut counts = [0usize; 4];
        let (mut is_quoted, mut has_begun) = (false, false);
        for character in text.chars() {
            match character {
                '"' => is_quoted = !is_quoted,
                '\n' | '\r' if !is_quoted && has_begun => break,
                '\n' | '\r' => continue,
                _ if is_quoted => {}
                other => {
                    if let Some(at) = Self::ALL.iter().position(|one| char::from(one.byte()) == other) {
                        counts[at] += 1;
                    }
                }
            }
            has_begun = true;
        }
        // The first of the most frequent delimiters wins.
        let most = counts.iter().max().copied().unwrap_or(0);
        Self::ALL[counts.iter().position(|count| *count == most).unwrap_or(0)]
    }
}

impl Decimal {
    /// Recognises the decimal separator from the numbers at the beginning of a file.
    ///
    /// The result is a comma if some number has a comma that cannot separate thousands and no number has a
    /// decimal point. If every comma could separate thousands, the result is a comma only if the delimiter is
    /// not a comma.
    fn from_rows(text: &str, delimiter: Delimiter) -> Self {
        let mut rows =
            csv::ReaderBuilder::new().flexible(true).delimiter(delimiter.byte()).from_reader(text.as_bytes());
        let (mut maybe, mut surely) = (false, false);
        // The last row may be incomplete.
        let mut rows: Vec<csv::StringRecord> = rows.records().map_while(Result::ok).collect();
        rows.pop_if(|_| text.len() >= SAMPLE);
        for cell in rows.iter().flatten().map(str::trim) {
            match Separated::from_cell(cell) {
                Some(Separated::Point) => return Self::Point,
                Some(Separated::Comma) => surely = true,
                Some(Separated::Thousands) => maybe = true,
                None => {}
            }
        }
        match surely || (maybe && delimiter != Delimiter::Comma) {
            true => Self::Comma,
            false => Self::Point,
        }
    }
}

/// Possible meaning of the separator in a number.
#[derive(Debug, PartialEq)]
enum Separated {
    /// A decimal point.
    Point,
    /// A decimal comma.
    Comma,
    /// A comma that may be a decimal comma or separate thousands.
    Thousands,
}

impl Separated {
    fn from_cell(cell: &str) -> Option<Self> {
        let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let groups = |whole: &str, rest: &str| {
            let mut parts = rest.split(['.', ',']);
            (1..=3).contains(&whole.len()) && !whole.starts_with('0') && parts.all(|part| part.len() == 3)
        };
        let at = digits.find([',', '.'])?;
        let (whole, rest) = (&digits[..at], &digits[at + 1..]);
        if !(is_digits(whole) && rest.split(['.', ',']).all(is_digits)) {
            return None;
        }
        match (digits.as_bytes()[at], rest.contains([',', '.'])) {
            (b'.', false) if groups(whole, rest) => None,
            (b'.', false) => Some(Self::Point),
            (b',', false) if groups(whole, rest) => Some(Self::Thousands),
            (b',', false) => Some(Self::Comma),
            // This arm matches 1.234,5, and the next arm matches 1,234.5.
            (b'.', true) => rest.contains(',').then_some(Self::Comma),
            (_, _) => rest.contains('.').then_some(Self::Point),
        }
    }
}

/// Rewrites a number with a decimal comma: replaces the comma by a decimal point, and removes separators of
/// thousands. Returns any other text unchanged.
pub(crate) fn with_point(cell: &str) -> Cow<'_, str> {
    let trimmed = cell.trim();
    let (number, exponent) = trimmed.find(['e', 'E']).map_or((trimmed, ""), |at| trimmed.split_at(at));
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = digits.split_once(',').unwrap_or((digits, ""));
    let mut groups = whole.split('.');
    let first = groups.next().unwrap_or_default();
    let is_grouped = groups.clone().count() > 0;
    let fits = is_digits(first)
        && is_digits(decimals)
        && (!is_grouped || (1..=3).contains(&first.len()))
        && groups.all(|group| group.len() == 3 && is_digits(group))
        && !(whole.is_empty() && decimals.is_empty());
    match fits && (is_grouped || digits.contains(',')) {
        true => {
            let sign = &number[..number.len() - digits.len()];
            let whole = whole.replace('.', "");
            let point = if decimals.is_empty() { "" } else { "." };
            format!("{sign}{whole}{point}{decimals}{exponent}").into()
        }
        false => cell.into(),
    }
}

impl Encoding {
    fn code(self) -> &'static Code {
        match self {
            Self::Utf8 => UTF_8,
            Self::Utf16 => UTF_16LE,
            Self::Latin1 => WINDOWS_1252,
        }
    }

    /// Recognises UTF-16 by a byte order mark, or by zero bytes next to the first characters. Other text is
    /// UTF-8 if its bytes are valid UTF-8, and Latin-1 if they are not.
    fn from_bytes(bytes: &[u8]) -> (Self, &'static Code) {
        match bytes {
            [0xff, 0xfe, ..] => return (Self::Utf16, UTF_16LE),
            [0xfe, 0xff, ..] => return (Self::Utf16, UTF_16BE),
            [1..=255, 0, 1..=255, 0, ..] => return (Self::Utf16, UTF_16LE),
            [0, 1..=255, 0, 1..=255, ..] => return (Self::Utf16, UTF_16BE),
            _ => {}
        }
        match std::str::from_utf8(bytes) {
            // The sample may end in the middle of a character.
            Err(error) if error.error_len().is_some() || bytes.len() < SAMPLE => (Self::Latin1, WINDOWS_1252),
            _ => (Self::Utf8, UTF_8),
        }
    }
}

/// Number of bytes at the beginning of a file that are inspected.
const SAMPLE: usize = 1 << 16;

/// A text of known format.
pub(crate) struct Recognised<'r> {
    /// The text as UTF-8.
    pub(crate) input: Box<dyn Read + Send + 'r>,
    pub(crate) delimiter: Delimiter,
    pub(crate) decimal: Decimal,
    /// Descriptions of the recognised properties that differ from comma-separated UTF-8 with decimal points,
    /// for display.
    pub(crate) remarks: Vec<&'static str>,
}

impl TextFormat {
    /// Recognises the properties of the format that are not declared.
    ///
    /// # Errors
    /// An I/O error if the beginning of `input` cannot be read.
    pub(crate) fn recognise<'r>(&self, input: impl Read + Send + 'r) -> io::Result<Recognised<'r>> {
        let mut remarks = vec![];
        let (start, input) = beginning(input, 2)?;
        let input: Box<dyn Read + Send + 'r> = match start[..] {
            [0x1f, 0x8b] => {
                remarks.push("packed by gzip");
                Box::new(MultiGzDecoder::new(input))
            }
            _ => Box::new(input),
        };
        let (sample, input) = beginning(input, SAMPLE)?;
        if let Some(kind) = other_format(&sample) {
            let problem = format!("it is {kind}, not CSV or Parquet; export it as CSV");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let (encoding, code) = match self.encoding {
            Some(encoding) => (encoding, encoding.code()),
            None => Encoding::from_bytes(&sample),
        };
        let (sample, input): (_, Box<dyn Read + Send + 'r>) = match encoding {
            Encoding::Utf8 => (sample, Box::new(input)),
            Encoding::Utf16 | Encoding::Latin1 => {
                let decoded =
                    DecodeReaderBytesBuilder::new().encoding(Some(code)).bom_override(true).build(input);
                let (sample, input) = beginning(decoded, SAMPLE)?;
                (sample, Box::new(input))
            }
        };
        match (self.encoding, encoding) {
            (None, Encoding::Latin1) => remarks.push("encoded in Latin-1"),
            (None, Encoding::Utf16) => remarks.push("encoded in UTF-16"),
            _ => {}
        }
        let text = String::from_utf8_lossy(&sample);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if let Some(line) = text.lines().next().filter(|line| line.to_ascii_lowercase().starts_with("sep=")) {
            let problem = format!(
                "its first line is {}, which only Excel reads; delete this line",
                scumble_core::shown(line)
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let delimiter = self.delimiter.unwrap_or_else(|| Delimiter::from_header(text));
        match (self.delimiter, delimiter) {
            (None, Delimiter::Semicolon) => remarks.push("columns separated by semicolons"),
            (None, Delimiter::Tab) => remarks.push("columns separated by tabs"),
            (None, Delimiter::Bar) => remarks.push("columns separated by vertical bars"),
            _ => {}
        }
        let decimal = self.decimal.unwrap_or_else(|| Decimal::from_rows(text, delimiter));
        if self.decimal.is_none() && decimal == Decimal::Comma {
            remarks.push("decimal commas");
        }
        Ok(Recognised { input, delimiter, decimal, remarks })
    }
}

/// Format of a file that is not CSV, from its first bytes; `None` if it may be CSV.
fn other_format(start: &[u8]) -> Option<&'static str> {
    const FORMATS: [(&[u8], &str); 8] = [
        (b"PK\x03\x04", "a zip archive or a spreadsheet (xlsx, ods)"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook (xls)"),
        (b"ARROW1", "a Feather file"),
        (b"FEA1", "a Feather file"),
        (b"\xfd7zXZ", "packed by xz"),
        (b"BZh", "packed by bzip2"),
        (b"\x28\xb5\x2f\xfd", "packed by zstd"),
        (b"SQLite format 3", "an SQLite database"),
    ];
    let found = FORMATS.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, kind)| *kind);
    let text = start.trim_ascii_start();
    let is_json = || {
        let after = text.get(1..).unwrap_or_default().trim_ascii_start();
        matches!((text.first(), after.first()), (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{' | b'[')))
    };
    found.or_else(|| is_json().then_some("JSON"))
}

/// Reader that returns the inspected bytes again, and then the rest.
type Again<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// Returns the first bytes, at most `most`, and a reader that returns them again, and then the rest.
fn beginning<R: Read>(mut input: R, most: usize) -> io::Result<(Vec<u8>, Again<R>)> {
    let mut bytes = vec![];
    input.by_ref().take(most as u64).read_to_end(&mut bytes)?;
    Ok((bytes.clone(), Cursor::new(bytes).chain(input)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_what_their_separator_is() {
        for (cell, expected) in [
            ("1,5", Some(Separated::Comma)),
            ("-0,998", Some(Separated::Comma)),
            ("1234,567", Some(Separated::Comma)),
            ("1.234,5", Some(Separated::Comma)),
            ("1,234", Some(Separated::Thousands)),
            ("1.5", Some(Separated::Point)),
            ("0.998", Some(Separated::Point)),
            ("1,234.5", Some(Separated::Point)),
            ("1.234", None),
            ("1,2,3", None),
            ("Rome, Italy", None),
            ("12", None),
            (",", None),
            ("31.12.2020", None),
        ] {
            assert_eq!(Separated::from_cell(cell), expected, "{cell}");
        }
    }

    #[test]
    fn a_decimal_comma_becomes_a_point_and_other_text_stays() {
        for (cell, expected) in [
            ("1,5", "1.5"),
            (" -0,25 ", "-0.25"),
            ("1.234,5", "1234.5"),
            ("1.234.567", "1234567"),
            ("2,5e-3", "2.5e-3"),
            (",5", ".5"),
            ("5,", "5"),
            ("1.23", "1.23"),
            ("12", "12"),
            ("a,b", "a,b"),
            ("1,2,3", "1,2,3"),
            ("", ""),
            (",", ","),
            ("31.12.2020", "31.12.2020"),
        ] {
            assert_eq!(with_point(cell), expected, "{cell}");
        }
    }

    #[test]
    fn a_delimiter_is_the_most_frequent_of_the_header() {
        for (text, expected) in [
            ("a,b\n1;2;3;4,5", Delimiter::Comma),
            ("a;b, c;d\n", Delimiter::Semicolon),
            ("\n\"a,b,c\"\td\n", Delimiter::Tab),
            ("a|b|c", Delimiter::Bar),
            ("alone\n1;2", Delimiter::Comma),
            ("", Delimiter::Comma),
        ] {
            assert_eq!(Delimiter::from_header(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_said_is_not_guessed() {
        for name in ["tab", ";", "COMMA", "pipe"] {
            assert!(name.parse::<Delimiter>().is_ok(), "{name}");
        }
        assert_eq!(
            "ebcdic".parse::<Encoding>().unwrap_err(),
            "\"ebcdic\" is not a valid encoding; valid are utf-8, utf-16, latin-1"
        );
    }

    /// A file of another format is refused with the name of the format, and so is a first line for Excel.
    #[test]
    fn other_formats_are_named() {
        let refusal =
            |bytes: &[u8]| TextFormat::default().recognise(bytes).err().map(|error| error.to_string());
        for (bytes, expected) in [
            (&b"PK\x03\x04\x14\0"[..], "a zip archive or a spreadsheet (xlsx, ods)"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook (xls)"),
            (b"ARROW1\0\0", "a Feather file"),
            (b"{\"week\": 20, \"arrest\": 1}\n", "JSON"),
            (b" [ {\"week\": 20}]", "JSON"),
            (b"[[1, 2], [3, 4]]", "JSON"),
        ] {
            let expected = format!("it is {expected}, not CSV or Parquet; export it as CSV");
            assert_eq!(refusal(bytes).as_deref(), Some(&*expected));
        }
        let line = refusal(b"\xef\xbb\xbfsep=;\r\na;b\r\n1;2\r\n").unwrap();
        assert_eq!(line, "its first line is sep=;, which only Excel reads; delete this line");
        for csv in [&b"a,b\n1,2\n"[..], b"{id},b\n1,2\n", b"[a],[b]\n1,2\n", b"PK,b\n1,2\n"] {
            assert_eq!(refusal(csv), None, "{}", String::from_utf8_lossy(csv));
        }
    }
}
