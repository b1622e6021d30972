//! What can go wrong when a linear model is fitted.

use ndarray::{ArrayBase, Data, Ix2};

/// The result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when a linear model is fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A hyper-parameter outside its range.
    #[error("{name} must be {range}, and {value} is not")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// What it was.
        value: f64,
    },
    /// Labels of one class only.
    #[error("all {records} records are of one class, and a classifier needs two")]
    OneClass {
        /// How many there are.
        records: usize,
    },
    /// Records and targets of which there are not as many.
    #[error("there are {targets} targets for {records} records")]
    Lengths {
        /// How many targets.
        targets: usize,
        /// How many records.
        records: usize,
    },
    /// A record or its target that is no finite number.
    #[error("record {record}, counted from 0, holds a value that is no finite number")]
    NonFinite {
        /// Which.
        record: usize,
    },
    /// What is known of the noise does not fit the records, or is no such thing.
    #[error("{0}")]
    Noise(String),
    /// The search for the largest likelihood failed.
    #[error("the search for the largest likelihood stopped: {0}")]
    Search(String),
    /// No records to learn from.
    #[error("there are no records to learn from")]
    NoRecords,
    /// What linfa's traits may say.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

/// # Errors
/// [`Error::Parameter`] unless `value` is finite and not negative.
pub fn check_not_negative(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, range: "finite and not negative", value })
}

/// # Errors
/// [`Error::Parameter`] unless `value` is finite and positive.
pub fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::Parameter { name, range: "finite and positive", value })
}

/// # Errors
/// [`Error::Lengths`] unless there is a target a record, [`Error::NonFinite`] unless all of them (n × d and n) are finite.
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
