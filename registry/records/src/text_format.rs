//! Text format of a CSV file: declared, or recognised from the beginning of the file.

use crate::number::{Decimal, Separated};
use crate::words::words;
use encoding_rs::{Encoding as Code, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
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

    /// Most frequent delimiter of the header, outside quotation marks; `None` if the header has no delimiter.
    fn from_header(text: &str) -> Option<Self> {
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
        let most = counts.iter().max().copied().filter(|most| *most > 0)?;
        counts.iter().position(|count| *count == most).map(|at| Self::ALL[at])
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
        if let Some((format, remedy)) = other_format(&sample) {
            let problem = format!("it is {format}, not CSV or Parquet; {remedy}");
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
        let found = Delimiter::from_header(text);
        // In a file of one column, a comma is decimal if the format declares it.
        let alone =
            if self.decimal == Some(Decimal::Comma) { Delimiter::Semicolon } else { Delimiter::Comma };
        let delimiter = self.delimiter.or(found).unwrap_or(alone);
        match (self.delimiter.or(found.is_none().then_some(alone)), delimiter) {
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

/// Format of a file that is not CSV, from its first bytes, and the remedy; `None` if it may be CSV.
fn other_format(start: &[u8]) -> Option<(&'static str, &'static str)> {
    const EXPORT: &str = "export it as CSV";
    const UNPACK: &str = "unpack it, or pack it by gzip";
    const FORMATS: [(&[u8], &str, &str); 20] = [
        (
            b"PK\x03\x04",
            "a zip archive or a spreadsheet (xlsx, ods)",
            "unpack the archive, or export the sheet as CSV",
        ),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook (xls)", EXPORT),
        (b"ARROW1", "a Feather file", "write it as Parquet or CSV"),
        (b"FEA1", "a Feather file", "write it as Parquet or CSV"),
        (b"Obj\x01", "an Avro file", "write it as Parquet or CSV"),
        (b"\x89HDF", "an HDF5 file", EXPORT),
        (b"\xfd7zXZ", "packed by xz", UNPACK),
        (b"BZh", "packed by bzip2", UNPACK),
        (b"\x28\xb5\x2f\xfd", "packed by zstd", UNPACK),
        (b"7z\xbc\xaf", "packed by 7-Zip", UNPACK),
        (b"SQLite format 3", "an SQLite database", EXPORT),
        (b"$FL2", "an SPSS file", EXPORT),
        (b"<stata_dta>", "a Stata file", EXPORT),
        (b"RDX2\n", "an R workspace", EXPORT),
        (b"RDX3\n", "an R workspace", EXPORT),
        (b"X\n\0\0", "an R object (rds)", EXPORT),
        (b"%PDF-", "a PDF document", "ask for the data as CSV"),
        (b"<?xml", "XML", EXPORT),
        (b"<!DOCTYPE", "a web page", "download the data as CSV"),
        (b"<html", "a web page", "download the data as CSV"),
    ];
    let found = FORMATS.iter().find(|(magic, ..)| start.starts_with(magic));
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let after = text.get(1..).unwrap_or_default().trim_ascii_start();
    let json = match (text.first(), after.first(), line.last()) {
        (Some(b'{'), Some(b'"'), Some(b'}')) => Some("JSON or JSON lines"),
        (Some(b'{'), Some(b'"'), _) | (Some(b'['), Some(b'{' | b'['), _) => Some("JSON"),
        _ => None,
    };
    let is_tar = start.get(257..262) == Some(b"ustar");
    found
        .map(|(_, format, remedy)| (*format, *remedy))
        .or_else(|| json.map(|format| (format, "convert it to CSV or Parquet")))
        .or_else(|| is_tar.then_some(("a tar archive", "unpack it")))
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
    fn a_delimiter_is_the_most_frequent_of_the_header() {
        for (text, expected) in [
            ("a,b\n1;2;3;4,5", Some(Delimiter::Comma)),
            ("a;b, c;d\n", Some(Delimiter::Semicolon)),
            ("\n\"a,b,c\"\td\n", Some(Delimiter::Tab)),
            ("a|b|c", Some(Delimiter::Bar)),
            ("alone\n1;2", None),
            ("", None),
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
        let mut archive = vec![b'a'; 512];
        archive[257..262].copy_from_slice(b"ustar");
        for (bytes, expected) in [
            (
                &b"PK\x03\x04\x14\0"[..],
                "a zip archive or a spreadsheet (xlsx, ods), not CSV or Parquet; unpack the archive, or \
                 export the sheet as CSV",
            ),
            (
                b"\xd0\xcf\x11\xe0\xa1\xb1",
                "an old Excel workbook (xls), not CSV or Parquet; export it as CSV",
            ),
            (b"ARROW1\0\0", "a Feather file, not CSV or Parquet; write it as Parquet or CSV"),
            (b"BZh91AY", "packed by bzip2, not CSV or Parquet; unpack it, or pack it by gzip"),
            (&archive, "a tar archive, not CSV or Parquet; unpack it"),
            (
                b"{\"week\": 20, \"arrest\": 1}\n{\"week\": 21}\n",
                "JSON or JSON lines, not CSV or Parquet; convert it to CSV or Parquet",
            ),
            (
                b"\xef\xbb\xbf{\n  \"week\": [20]\n}\n",
                "JSON, not CSV or Parquet; convert it to CSV or Parquet",
            ),
            (b" [ {\"week\": 20}]", "JSON, not CSV or Parquet; convert it to CSV or Parquet"),
            (b"[[1, 2], [3, 4]]", "JSON, not CSV or Parquet; convert it to CSV or Parquet"),
        ] {
            assert_eq!(refusal(bytes), Some(format!("it is {expected}")));
        }
        let line = refusal(b"\xef\xbb\xbfsep=;\r\na;b\r\n1;2\r\n").unwrap();
        assert_eq!(line, "its first line is sep=;, which only Excel reads; delete this line");
        for csv in [&b"a,b\n1,2\n"[..], b"{id},b\n1,2\n", b"[a],[b]\n1,2\n", b"PK,b\n1,2\n"] {
            assert_eq!(refusal(csv), None, "{}", String::from_utf8_lossy(csv));
        }
    }
}
