//! Files of records as Parquet, beside CSV.
//!
//! [`open`] opens either, by what it holds; [`Writer`] writes a release as Parquet.
//!
//! ```
//! use scumble_parquet::{Writer, open};
//! use scumble_records::{OutOfBounds, Reader, Schema, TextFormat, csv, stream};
//!
//! let schema = Schema::from_toml("[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n", "a schema")?;
//! let table = csv::read(&b"size\n0.5\n1\n"[..], "some CSV", &schema, None)?.table;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("sizes.parquet");
//! let file = std::fs::File::create(&path).unwrap();
//! let decoder = schema.decoder(&schema.domain(None)?.layout(), None);
//! stream::write(&table, &decoder, Writer::new(file, &decoder)?)?;
//!
//! let again = Reader::new(open(&path, &TextFormat::default())?, &schema, None, OutOfBounds::Reject)?.read_all()?.table;
//! assert_eq!(again, table);
//! # Ok::<(), scumble_records::Error>(())
//! ```
//!
//! # What is read
//!
//! Each value becomes a [`Cell`](scumble_records::Cell), and what that means in a column of numbers or in a category is the
//! schema's business, as it is for CSV.
//!
//! | in the file | the cell |
//! |---|---|
//! | `DOUBLE`, `FLOAT` | the number, exactly |
//! | `INT32`, `INT64`, with or without a sign, of any width | the whole number |
//! | `DECIMAL` of up to 38 digits | text with all its digits: `12.50` |
//! | `BOOLEAN` | the flag |
//! | strings, also of a dictionary; bytes that are UTF-8 | the text |
//! | `DATE`, `TIMESTAMP` | text: `2011-12-01`, `2011-12-01T09:30:00` in UTC |
//! | a null, of whatever type | nothing |
//!
//! Lists, groups and other types are an error where the schema names such a column, and nothing else is read. Pages may be in
//! either version, packed by Snappy, gzip, Zstandard, Brotli or LZ4 (raw), and encoded plainly, by a dictionary, or as
//! differences of whole numbers.
//!
//! # Bounds
//!
//! Of each wanted column one page with its dictionary is in memory, and no page that takes more than 64 MiB is read, whatever
//! it was packed to. Row groups whose columns have more or fewer rows than the footer says are an error.

mod column;
mod file_writer;
mod footer;
mod pages;
mod rows;
mod unpack;
mod writer;
mod zones;

pub use file_writer::{FileBlock, FileWriter};
pub use rows::Rows;
pub use writer::{Block, Writer};

use scumble_records::{Error, ReadRows, Result, TextFormat, csv, open_to_read};
use std::io::Read;
use std::path::Path;

/// Opens a file of records: Parquet, if it begins as such, else CSV, written as `format` says and else as is recognised. Its name does
/// not matter, but a file that is named as Parquet is not taken for CSV. `-` is standard input, where CSV is read.
///
/// # Errors
/// [`Error::Io`] where it cannot be opened; [`Error::Unreadable`] for what begins as Parquet and is none.
pub fn open(file: &Path, format: &TextFormat) -> Result<Box<dyn ReadRows>> {
    if is_standard(file) {
        return Ok(Box::new(csv::Rows::written(std::io::stdin(), "standard input", format)?));
    }
    let source = file.display().to_string();
    let refuse = |problem: &str| Err(Error::Unreadable { file: source.clone(), problem: problem.into() });
    let failed = |source| Error::Io { file: file.into(), source };
    let mut opened = open_to_read(file)?;
    let mut magic = vec![];
    opened.by_ref().take(4).read_to_end(&mut magic).map_err(failed)?;
    match &magic[..] {
        b"PAR1" if opened.metadata().map_err(failed)?.is_file() => Ok(Box::new(Rows::new(opened, &source)?)),
        b"PAR1" => refuse("it is Parquet, which is read from its end, and this is no plain file"),
        b"PARE" => refuse("it is encrypted Parquet, which is not read"),
        _ if is_named_as_parquet(file) => {
            refuse("it is named as Parquet and does not begin as such; if it is CSV, name it so")
        }
        _ => Ok(Box::new(csv::Rows::written(std::io::Cursor::new(magic).chain(opened), &source, format)?)),
    }
}

/// Whether a file is standard input or output: `-`.
pub fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Whether the name of a file ends with `.parquet`.
pub fn is_named_as_parquet(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// The README's examples run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
