//! Releases of Arrow tables in memory, the format of Python, Spark, Dask and Polars.
//!
//! [`release`] draws noise in blocks of records, as `scumble release` does for a file. [`release_keyed`]
//! derives the noise of a record from a secret key, the record's id and its values. A record gets the same
//! noise in every batch and in every run of a task, so a distributed engine may repeat any task.
//!
//! ```
//! use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
//! use scumble_arrow::{joined, release_keyed};
//! use scumble_classic::PIECEWISE;
//! use scumble_core::{Brief, Budget};
//! use scumble_noise::NoiseKey;
//! use scumble_custody::ShippedDesign;
//! use scumble_records::{OutOfBounds, Schema, Values};
//! use std::sync::Arc;
//!
//! let schema = Schema::from_toml(
//!     "[[column]]\nname = \"hours\"\nkind = \"real\"\nlower = 0.0\nupper = 24.0\n",
//!     "sleep",
//! )?;
//! let brief = Brief::new(schema.domain(None)?, Budget::pure(1.0)?);
//! let design = ShippedDesign::for_records(PIECEWISE.design(&Default::default(), &brief)?, schema, None)?;
//!
//! let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
//! let hours: ArrayRef = Arc::new(Float64Array::from(vec![7.5, 6.0, 8.0]));
//! let night = RecordBatch::try_from_iter([("person", ids), ("hours", hours)])?;
//!
//! let key = NoiseKey::from_os()?;
//! let release = |batch: &RecordBatch| {
//!     let batches = std::slice::from_ref(batch);
//!     let (bounds, values) = (OutOfBounds::Clip, Values::Settled);
//!     let (released, _clipped) =
//!         release_keyed(&design, batches, Some("person"), &key, bounds, values, |_| ())?;
//!     joined(&released)
//! };
//! let whole = release(&night)?;
//! let last = release(&night.slice(2, 1))?;
//! assert_eq!(last, whole.slice(2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An engine writes errors to logs on machines that do not belong to the data owner.
//! [`Error::without_value`](scumble_records::Error::without_value) removes the value from an error, so that
//! it names only the row and the column.

mod release;
mod rows;
mod values;
mod writer;

pub use release::{
    check, collect, joined, people, read, reader, release, release_keyed, released_schema, view,
};
pub use rows::Rows;
pub use writer::{Writer, schema};

/// Runs the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
