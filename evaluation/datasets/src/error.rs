//! Errors of data sets, in messages of one line.

use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a data set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no data set has.
    #[error("there is no data set {name:?}{}; there are {known}", did_you_mean(nearest))]
    Unknown {
        /// The requested name.
        name: String,
        /// The nearest known name.
        nearest: Option<String>,
        /// All names, separated by commas.
        known: String,
    },
    /// A missing file.
    #[error(
        "{}: no such file, nor one with the ending .gz or .xz; set the environment variable SCUMBLE_DATA \
         to the folder of the data sets",
        file.display()
    )]
    Missing {
        /// The path of the file, without the ending of a packed file.
        file: PathBuf,
    },
    /// A file of images or labels that is not in the expected format.
    #[error("{file}: {problem}")]
    Format {
        /// The file.
        file: String,
        /// The problem, and the expected value.
        problem: String,
    },
    /// Any other error of a file, its rows or its cells.
    #[error(transparent)]
    Records(#[from] scumble_records::Error),
}

impl From<scumble_core::Error> for Error {
    fn from(error: scumble_core::Error) -> Self {
        Self::Records(error.into())
    }
}

impl Error {
    pub(crate) fn format(file: &str, problem: impl Into<String>) -> Self {
        Self::Format { file: file.into(), problem: problem.into() }
    }

    /// Error of a cell that is not `expected`, such as "a number".
    pub(crate) fn cell(file: &str, row: usize, column: &str, cell: &str, expected: &str) -> Self {
        let value: String = cell.chars().filter(|c| !c.is_control()).take(60).collect();
        let problem = format!("is not {expected}");
        let (file, column) = (file.into(), column.into());
        Self::Records(scumble_records::Error::Cell { file, row, column, value, problem })
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default()
}
