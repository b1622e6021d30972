//! What can stop a comparison.

use crate::store;
use scumble_classifier as classifier;
use scumble_datasets as datasets;
use scumble_linear as linear;
use scumble_svm as svm;

/// What can stop a comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Design or release.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
    /// A file of records, or its schema.
    #[error(transparent)]
    Records(#[from] scumble_records::Error),
    /// A data set that cannot be loaded.
    #[error(transparent)]
    DataSet(#[from] datasets::Error),
    /// A linear model that could not be fitted.
    #[error(transparent)]
    Linear(#[from] linear::Error),
    /// A support vector machine that could not be fitted.
    #[error(transparent)]
    Machine(#[from] svm::Error),
    /// A network that could not be fitted.
    #[error(transparent)]
    Network(#[from] classifier::Error),
    /// Data on which nothing can be compared.
    #[error("{0}")]
    Data(String),
    /// A model that could not learn from a release.
    #[error("{model} on {mechanism}, trial {trial}: {source}")]
    Trial {
        /// The model.
        model: String,
        /// The mechanism and its budget.
        mechanism: String,
        /// Which trial, counted from 1.
        trial: usize,
        /// Why.
        source: Box<Error>,
    },
    /// A mechanism that was asked for by its name and does not apply.
    #[error("{mechanism} is left out: {reason}")]
    LeftOut {
        /// The mechanism.
        mechanism: String,
        /// Why it does not apply, with the column where one is the reason.
        reason: String,
        /// Whether it learns from volunteers' records, and there were none.
        lacks_volunteers: bool,
    },
    /// A store of finished trials that cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// An experiment's file that cannot be used.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it, with the line or the key.
        problem: String,
    },
}

/// The result of comparing.
pub type Result<T, E = Error> = std::result::Result<T, E>;
