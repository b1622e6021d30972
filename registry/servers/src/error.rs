//! Errors of reports, servers and shares.

use crate::Tally;
use thiserror::Error;

/// Result with the error of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of a report, a server or a share.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Error of the mechanism.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
    /// Error of a saved design or another file of it.
    #[error(transparent)]
    Custody(#[from] scumble_custody::Error),
    /// Design of a mechanism for other parties than two servers.
    #[error("the mechanism {plugin} is not for two servers; two-server-marginals is")]
    NotShared {
        /// Name of the mechanism.
        plugin: String,
    },
    /// File that is not what it should be.
    #[error("{file}: {problem}")]
    File {
        /// File, or what else holds the text.
        file: String,
        /// Problem, as a sentence about the file.
        problem: String,
    },
    /// File that cannot be read or written.
    #[error("{file}: {source}")]
    Io {
        /// File.
        file: String,
        /// Cause.
        source: std::io::Error,
    },
    /// Batch without a report that passes.
    #[error("there is nothing to add up: {tally}")]
    NoReports {
        /// Reports that were refused.
        tally: Tally,
    },
    /// Shares of two servers that do not belong together.
    #[error("the two shares do not belong together: {problem}")]
    Apart {
        /// Difference of the shares.
        problem: &'static str,
    },
}

impl Error {
    pub(crate) fn file(file: &str, problem: impl Into<String>) -> Self {
        Self::File { file: file.into(), problem: problem.into() }
    }

    /// Makes an error of a problem with `file`.
    pub(crate) fn of_file(file: &str) -> impl Fn(String) -> Self {
        move |problem| Self::file(file, problem)
    }

    /// Makes an error of a failure to read or write `file`.
    pub(crate) fn of_io(file: &str) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Io { file: file.into(), source }
    }
}
