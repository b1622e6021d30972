//! Parquet files of records. Without the feature `parquet`, files are CSV only.
//!
//! [`open`] opens a Parquet or CSV file, recognised by its content. [`Writer`] writes a release, the output
//! of a privacy mechanism, as Parquet.
//!
//! ```
//! # #[cfg(feature = "parquet")]
//! # {
//! use scumble_parquet::{Writer, open};
//! use scumble_records::{OutOfBounds, Reader, Schema, TextFormat, csv, stream};
//!
//! let schema = Schema::from_toml(
//!     "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n",
//!     "a schema",
//! )?;
//! let table = csv::read(&b"size\n0.5\n1\n"[..], "some CSV", &schema, None)?.table;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("sizes.parquet");
//! let file = std::fs::File::create(&path).unwrap();
//! let decoder = schema.decoder(&schema.domain(None)?.layout(), None);
//! stream::write(&table, &decoder, Writer::new(file, &decoder)?)?;
//!
//! let again = Reader::new(open(&path, &TextFormat::default())?, &schema, None, OutOfBounds::Reject)?
//!     .read_all()?
//!     .table;
//! assert_eq!(again, table);
//! # }
//! # Ok::<(), scumble_records::Error>(())
//! ```
//!
//! # Supported types
//!
//! Each value becomes a [`Cell`](scumble_records::Cell). The schema decides the meaning of the cell in a
//! numeric column or a category, as for CSV.
//!
//! | in the file | the cell |
//! |---|---|
//! | `DOUBLE`, `FLOAT` | the number, exactly |
//! | `INT32`, `INT64`, signed or unsigned, of any width | the whole number |
//! | `DECIMAL` of up to 38 digits | text with all its digits: `12.50` |
//! | `BOOLEAN` | the flag |
//! | strings, with or without a dictionary; bytes that are UTF-8 | the text |
//! | `DATE` | text: `2011-12-01` |
//! | `TIMESTAMP` | text on the clock of its zone, or UTC if unknown: `2011-12-01T09:30:00` |
//! | a null of any type | null |
//!
//! A column of lists, groups or another type is an error if the schema names it. If not, the column is
//! ignored. Pages may have version 1 or 2 of their format. They may be compressed by Snappy, gzip, Zstandard,
//! Brotli or LZ4 (raw). Their values may be plain, encoded by a dictionary, or encoded as differences of
//! whole numbers.
//!
//! # Limits
//!
//! For each column that is read, memory holds one page with its dictionary. A page of more than 64 MiB in
//! memory is an error, however small its compressed form is. Row groups whose columns have more or fewer rows
//! than the footer states are an error.

#[cfg(feature = "parquet")]
mod column;
mod file_writer;
#[cfg(feature = "parquet")]
mod footer;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(feature = "parquet")]
mod unpack;
#[cfg(feature = "parquet")]
mod writer;
#[cfg(feature = "parquet")]
mod zones;

pub use file_writer::{FileBlock, FileWriter};
#[cfg(feature = "parquet")]
pub use rows::Rows;
#[cfg(feature = "parquet")]
pub use writer::{Block, Writer};

use scumble_records::{Error, ReadRows, Result, TextFormat, csv, open_to_read};
use std::io::Read;
use std::path::Path;

/// Opens a file of records: Parquet if its content begins as Parquet, otherwise CSV. `format` declares
/// properties of the CSV format, and all others are recognised. The file name does not matter, except that a
/// file named as Parquet is never read as CSV. `-` is standard input, which must be CSV.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened; [`Error::Unreadable`] if it is malformed, if its name ends
/// with `.parquet` and its content is not Parquet, or if it is Parquet and the feature `parquet` is missing.
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
        #[cfg(not(feature = "parquet"))]
        b"PAR1" => refuse(MISSING),
        #[cfg(feature = "parquet")]
        b"PAR1" if opened.metadata().map_err(failed)?.is_file() => Ok(Box::new(Rows::new(opened, &source)?)),
        #[cfg(feature = "parquet")]
        b"PAR1" => refuse("it is Parquet, which can be read only from a plain file"),
        b"PARE" => refuse("it is encrypted Parquet, which is not supported"),
        _ if is_named_as_parquet(file) => {
            refuse("its name ends with .parquet, but its content is not Parquet; if it is CSV, rename it")
        }
        _ => Ok(Box::new(csv::Rows::written(std::io::Cursor::new(magic).chain(opened), &source, format)?)),
    }
}

/// Problem of a Parquet file in a build without Parquet.
const MISSING: &str =
    "this build reads and writes CSV only; use CSV, or build with the feature parquet for Parquet";

/// Checks that this build can write the format that the name of a file selects.
///
/// # Errors
/// [`Error::Unreadable`] for the name of a Parquet file, if the feature `parquet` is missing.
pub fn check_format(file: &Path) -> Result<()> {
    match cfg!(feature = "parquet") || !is_named_as_parquet(file) {
        true => Ok(()),
        false => Err(Error::Unreadable { file: file.display().to_string(), problem: MISSING.into() }),
    }
}

/// Returns whether a file is standard input or output: `-`.
pub fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Returns whether the name of a file ends with `.parquet`.
pub fn is_named_as_parquet(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Runs the README's examples.
#[cfg(all(doctest, feature = "parquet"))]
#[doc = include_str!("../README.md")]
mod readme {}
