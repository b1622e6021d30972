//! Files of records and their schemas: encoding of rows as numbers, and decoding of released records.
//!
//! A *cell* is the value of one column in one row. An encoded record has one or more *coordinates* per
//! column. A *flat* record lists these coordinates, with the target (the column to learn) last. A *release*
//! is the output of a privacy mechanism for all records. A *design* is the mechanism with its parameters.
//!
//! A [`Schema`] declares what is publicly known of the columns. With it, an [`Encoder`] maps cells to
//! numbers, and a [`Decoder`] maps numbers back to cells. [`ReadRows`] and [`WriteRows`] read and write rows
//! of cells, independent of the file format. CSV is in [`csv`], Parquet in `scumble-parquet`. [`stream`]
//! releases a file in bounded memory.

mod cell;
mod check;
mod choosing;
mod counted;
pub mod csv;
mod decoder;
mod draft;
mod encoder;
mod error;
mod held;
mod input;
mod kept;
mod kind;
mod learning;
mod number;
mod people;
mod person;
mod pieces;
mod reader;
mod records;
mod rows;
mod scale;
mod schema;
mod sentinel;
pub mod stream;
mod tail;
mod text_file;
mod text_format;
mod words;
mod write_rows;
pub mod written;

pub use cell::Cell;
pub use check::{Checked, Misfit, Misfits, check};
pub use choosing::Chosen;
pub use counted::CountedValues;
pub use decoder::{DESIGN, Decoded, Decoder, Values};
pub use draft::{NO_TEXT, draft, remarks};
pub use encoder::{Clipped, Clips, Encoder, OutOfBounds};
pub use error::{Error, Result};
pub use held::{Held, Stored, Zone};
pub use input::Input;
pub use kind::Kind;
pub use learning::Learning;
pub use number::Decimal;
pub use people::People;
pub use person::{PersonColumn, identifies_people};
pub use reader::{Loaded, Reader, read_matrix, read_numbers};
pub use records::Records;
pub use rows::{Block, RawRows, ReadRows};
pub use scale::{Apart, ScaleShape};
pub use schema::{Column, Missing, Schema};
pub use text_file::{open_to_read, read_text};
pub use text_format::{Delimiter, Encoding, TextFormat};
pub use write_rows::WriteRows;

/// Runs the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
