//! Files of records: what people have, and how it becomes a table and a released file.
//!
//! A [`Schema`] says what is publicly known of the columns. By it an [`Encoder`] makes numbers of cells, and a [`Decoder`] cells of numbers.
//! Files are read and written by rows of cells ([`ReadRows`], [`WriteRows`]), whatever their format; [`csv`] is here, Parquet in
//! `scumble-parquet`. [`stream`] releases a file in bounded memory.

mod cell;
pub mod csv;
mod decoder;
mod draft;
mod encoder;
mod error;
mod held;
mod input;
mod kind;
mod learning;
mod pieces;
mod reader;
mod records;
mod rows;
mod schema;
pub mod stream;
mod text_file;
mod text_format;
mod words;
mod write_rows;
pub mod written;

pub use cell::Cell;
pub use decoder::{DESIGN, Decoded, Decoder, Values};
pub use draft::draft;
pub use encoder::{Clipped, Clips, Encoder, OutOfBounds};
pub use error::{Error, Result};
pub use held::{Held, Stored, Zone};
pub use input::Input;
pub use kind::Kind;
pub use learning::Learning;
pub use reader::{Loaded, Reader, read_matrix, read_numbers};
pub use records::Records;
pub use rows::{Block, RawRows, ReadRows};
pub use schema::{Column, Missing, Schema};
pub use text_file::{open_to_read, read_text};
pub use text_format::{Decimal, Delimiter, Encoding, TextFormat};
pub use write_rows::WriteRows;

/// The README's examples run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
