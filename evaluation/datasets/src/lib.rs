//! Public data sets for comparisons of mechanisms. Each is an encoded table: numbers are scaled by public
//! bounds, and a category has one column per level.
//!
//! The data are not part of the crate. They are in a [`folder`], and a [`Source`] reads a data set from it.
//! The data sets of the crate `linfa-datasets` are built in.
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
//! Bounds, levels and replacements of missing values are in `schemas/`, each with its reason. They come from
//! public knowledge of such data, never from the smallest and largest value of a file. The module of each
//! data set lists the columns that are left out, and other choices.
//!
//! # Files and sources
//!
//! Paths are relative to the [`folder`]. Each file is plain, or packed as `.gz` or `.xz`.
//!
//! - `adult`: `adult/adult.data` and `adult/adult.test` (UCI, Becker and Kohavi 1996).
//! - `cifar10`: `cifar10/data_batch_1.bin` (to `_5`, as far as available) and `cifar10/test_batch.bin` or
//!   `cifar10/test_batch_first1017.bin` (Krizhevsky 2009, binary version).
//! - `college`, `credit-card`, `doctor-visits`, `hmda`, `letters`, `pima`, `satellite`, `spam`, `votes`,
//!   `wages`: CSV files in `more/`, with the values of R packages. `schemas/` names the authors.
//! - `diabetes`: built in, from `linfa-datasets` (Efron, Hastie, Johnstone and Tibshirani 2004).
//! - `household`: `household/household_power_consumption_aggre_clean.csv` with the columns `datetime` and
//!   `Power` (UCI, Hebrail and Berard 2012, hourly means).
//! - `iris`: built in, from `linfa-datasets` (UCI, Fisher 1936).
//! - `lending-club`, `lending-club-default`: `lending_club/loans_2007_2011.csv` (LendingClub's LoanStats3a).
//! - `mnist`: `mnist/{train,t10k}-images-idx3-ubyte` and `mnist/{train,t10k}-labels-idx1-ubyte` (LeCun,
//!   Cortes and Burges 1998).
//! - `tree`, `xor`: generated, with a fixed seed.
//! - `valuation`: `valuation/valuation.csv` (UCI, Yeh 2018).
//! - `wdbc`: `wdbc/wdbc.csv` with the columns `ID`, `Cancer` and `Feature 1` to `Feature 30` (UCI, Wolberg,
//!   Mangasarian and Street 1995).
//! - `wine`: built in, from `linfa-datasets` (UCI, Cortez et al. 2009).
//!
//! # Sources of the bounds
//!
//! - `adult`: the survey's own top codes (age 90, capital gain 99,999), and tax law.
//! - `cifar10`, `mnist`: a byte, 0 to 255. The domain is the unit box.
//! - `college`, `credit-card`, `doctor-visits`, `hmda`, `pima`, `wages`: the questions and codes of the
//!   surveys, and the meaning of each column.
//! - `diabetes`: 4.2 standard deviations of each measurement. The published file is already scaled by the
//!   sample's own standard deviations.
//! - `household`: a subscribed power of 9 kVA, and the yearly use of a house heated by electricity.
//! - `iris`: floras, which describe the species.
//! - `lending-club`, `lending-club-default`: the platform's published rules and rate tables, credit scoring,
//!   and the time for which a bureau keeps a record.
//! - `letters`, `satellite`: the ranges that the authors state, 0 to 15 and a byte.
//! - `spam`: frequencies of words in running text, in percent.
//! - `valuation`: the location of the district, the life of a house in tax law, an hour's walk, and the price
//!   of a luxury flat.
//! - `wdbc`: the geometric definition of each property of a nucleus's outline, and the usual size of a
//!   standard error. A few standard errors are larger, and are clipped.
//! - `wine`: wine law and oenology.

mod adult;
mod built_in;
pub mod cifar;
mod csv_file;
mod data_set;
mod encoded;
mod error;
mod generated;
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

pub use data_set::{DataSet, Input, PeopleRecords, SchemaAt};
pub use error::{Error, Result};
pub use images::Images;
pub use packed::PackedTable;
pub use source::{Source, folder, source, sources};
pub use stored::read_text;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
