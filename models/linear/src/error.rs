//! Errors of fitting a linear model.

use ndarray::{ArrayBase, Data, Ix2};

/// Result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of fitting a linear model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A hyper-parameter is outside its range.
    #[error("{name} must be {range}, and {value} is not")]
    Parameter {
        /// Name of the hyper-parameter.
        name: &'static str,
        /// Permitted range.
        range: &'static str,
        /// Value that was given.
        value: f64,
    },
    /// All labels are of one class.
    #[error("all {records} records are of one class, and a classifier needs two")]
    OneClass {
        /// Number of records.
        records: usize,
    },
    /// The number of targets differs from the number of records.
    #[error("there are {targets} targets for {records} records")]
    Lengths {
        /// Number of targets.
        targets: usize,
        /// Number of records.
        records: usize,
    },
    /// A record or its target contains a value that is not finite.
    #[error("record {record}, counted from 0, holds a value that is not a finite number")]
    NonFinite {
        /// Row of the record, counted from 0.
        record: usize,
    },
    /// The description of the noise is invalid or does not fit the records.
    #[error("{0}")]
    Noise(String),
    /// The search for the maximum of the likelihood failed.
    #[error("the search for the largest likelihood stopped: {0}")]
    Search(String),
    /// The training set is empty.
    #[error("there are no records to learn from")]
    NoRecords,
    /// Error of linfa's traits.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

/// Checks that `value` is finite and not negative.
///
/// # Errors
/// [`Error::Parameter`] if `value` is negative or not finite.
pub fn check_not_negative(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, range: "finite and not negative", value })
}

/// Checks that `value` is finite and positive.
///
/// # Errors
/// [`Error::Parameter`] if `value` is zero, negative or not finite.
pub fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, range: "finite and positive", value })
}

/// Checks `records` (n × d) and their `targets` (n).
///
/// # Errors
/// [`Error::Lengths`] unless each record has one target, [`Error::NonFinite`] unless all values are finite.
pub fn check_records(
    records: &ArrayBase<impl Data<Elem = f64>, Ix2>,
    targets: impl ExactSizeIterator<Item = f64>,
) -> Result<()> {
    if records.nrows() != targets.len() {
        return Err(Error::Lengths { targets: targets.len(), records: records.nrows() });
    }
    let mut rows = records.outer_iter().zip(targets);
    match rows.position(|(row, target)| !target.is_finite() || row.iter().any(|x| !x.is_finite())) {
        Some(record) => Err(Error::NonFinite { record }),
        None => Ok(()),
    }
}
