//! The public data sets on which mechanisms are compared, as encoded tables with public bounds.
//!
//! The data themselves are not here: they lie in a [`folder`], and a [`Source`] reads one of them from there. Those that come with linfa
//! are built in.
//!
//! ```
//! use scumble_datasets::{folder, source};
//!
//! let wine = source("wine")?.load(&folder())?;
//! assert_eq!((wine.table.len(), wine.table.columns().len()), (1599, 11));
//! assert_eq!(wine.target, "quality");
//!
//! let error = source("wines").unwrap_err().to_string();
//! assert!(error.starts_with("there is no data set \"wines\" (did you mean \"wine\"?); there are adult, "));
//! # Ok::<(), scumble_datasets::Error>(())
//! ```
//!
//! Bounds, levels and what stands for a missing value are in `schemas/`, each with its reason: they come from what is known
//! of such data in public, never from the smallest and largest value of a file. The crate's README has a table of all that was
//! decided.

mod adult;
mod built_in;
pub mod cifar;
mod csv_file;
mod data_set;
mod encoded;
mod error;
pub mod household;
pub mod idx;
mod images;
pub mod lending_club;
mod mnist;
mod packed;
mod source;
mod stored;
pub mod valuation;
pub mod wdbc;
mod when;

pub use data_set::{DataSet, Input, SchemaAt};
pub use error::{Error, Result};
pub use images::Images;
pub use packed::PackedTable;
pub use source::{Source, folder, source, sources};

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
