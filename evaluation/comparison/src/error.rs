//! Errors of a comparison.

use crate::store;
use scumble_classifier as classifier;
use scumble_datasets as datasets;
use scumble_linear as linear;
use scumble_svm as svm;

/// Error of a comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A design or a release failed.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
    /// A file of records or its schema is invalid.
    #[error(transparent)]
    Records(#[from] scumble_records::Error),
    /// A data set cannot be loaded.
    #[error(transparent)]
    DataSet(#[from] datasets::Error),
    /// A linear model could not be fitted.
    #[error(transparent)]
    Linear(#[from] linear::Error),
    /// A support vector machine could not be fitted.
    #[error(transparent)]
    Machine(#[from] svm::Error),
    /// A network could not be fitted.
    #[error(transparent)]
    Network(#[from] classifier::Error),
    /// The data or settings do not allow a comparison.
    #[error("{0}")]
    Data(String),
    /// A model could not learn from a release.
    #[error("{model} on {mechanism}, trial {trial}: {source}")]
    Trial {
        /// Model.
        model: String,
        /// Mechanism and its budget.
        mechanism: String,
        /// Number of the trial, counted from 1.
        trial: usize,
        /// Cause.
        source: Box<Error>,
    },
    /// A mechanism that was requested by name does not apply to the data.
    #[error("{mechanism} is left out: {reason}")]
    LeftOut {
        /// Mechanism.
        mechanism: String,
        /// Reason why the mechanism does not apply, with the name of the column if a column is the reason.
        reason: String,
        /// True if the mechanism learns from volunteers' records, and there were no volunteers.
        lacks_volunteers: bool,
    },
    /// A store of finished trials cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An experiment's file cannot be used.
    #[error("{file}: {problem}")]
    File {
        /// File name.
        file: String,
        /// Problem, with its line or key.
        problem: String,
    },
}

/// Result of a comparison.
pub type Result<T, E = Error> = std::result::Result<T, E>;
