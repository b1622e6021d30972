//! What can go wrong with files of records and their schemas, in sentences that name the file, the row, the column and the value.

use scumble_core::text::did_you_mean;
use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with files of records and their schemas.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be opened, read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Output that could not be written.
    #[error("the output cannot be written: {source}")]
    Write {
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Work that somebody stopped.
    #[error("interrupted")]
    Interrupted,
    /// A file that is not of its format, or holds what is not read.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong with it, in one line.
        problem: String,
    },
    /// A cell that does not fit its column.
    #[error("{file}, row {row}, column {column:?}: {value:?} {problem}")]
    Cell {
        /// The file.
        file: String,
        /// The data row, counted from 1 below the header; a blank line counts where the file has one column.
        row: usize,
        /// The column's name.
        column: String,
        /// What the cell holds, cut to a line.
        value: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// A record with the id of another one.
    #[error(
        "{file}, row {row}, column {column:?}: {id:?} is the id of two records; each needs one of its own"
    )]
    RepeatedId {
        /// The file.
        file: String,
        /// The data row of the second one, counted from 1 below the header.
        row: usize,
        /// The column of ids.
        column: String,
        /// The id, cut to a line.
        id: String,
    },
    /// A row with too few or too many cells.
    #[error("{file}, row {row}: it has {found} cells where the header has {expected}")]
    RowLength {
        /// The file.
        file: String,
        /// The data row, counted from 1 below the header; a blank line counts where the file has one column.
        row: usize,
        /// Cells in the row.
        found: usize,
        /// Cells in the header.
        expected: usize,
    },
    /// A column that the header or the schema lacks.
    #[error("{file}: there is no column {column:?}{}", did_you_mean(nearest))]
    MissingColumn {
        /// The file that lacks it.
        file: String,
        /// The column's name.
        column: String,
        /// The nearest name that is there.
        nearest: Option<String>,
    },
    /// A column of days that holds instants of an unknown time zone.
    #[error(
        "{file}: column {column:?} holds instants without a known time zone, so their days cannot be decided; store dates, local \
         times, or instants with a zone"
    )]
    UndecidedDays {
        /// The file.
        file: String,
        /// The column's name.
        column: String,
    },
    /// A column whose name occurs twice.
    #[error("{file}: the column {column:?} occurs twice")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The column's name.
        column: String,
    },
    /// A schema that is no TOML, or that lacks something.
    #[error("{file}: {problem}")]
    Schema {
        /// The schema's file.
        file: String,
        /// What is wrong with it, in one line.
        problem: String,
    },
    /// What is read makes no table, no domain or no release.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
}

/// What is said of a cell that does not show.
const HIDDEN: &str = "the value, which is not shown here, does not fit the column";

impl Error {
    /// The same without what a cell holds: for the log of a machine that is not the owner's.
    ///
    /// ```
    /// use scumble_records::{Error, Schema, csv};
    ///
    /// let schema = Schema::from_toml("[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n", "a schema")?;
    /// let error = csv::read(&b"size\nsecret\n"[..], "data.csv", &schema, None).unwrap_err().without_value().to_string();
    /// assert!(error.starts_with("data.csv, row 1, column \"size\":") && !error.contains("secret"), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn without_value(self) -> Self {
        match self {
            Self::Cell { file, row, column, .. } => Self::Unreadable {
                file: format!("{file}, row {row}, column {column:?}"),
                problem: HIDDEN.into(),
            },
            Self::RepeatedId { file, row, column, .. } => Self::Unreadable {
                file: format!("{file}, row {row}, column {column:?}"),
                problem:
                    "the id, which is not shown here, is that of a record before; each needs one of its own"
                        .into(),
            },
            other => other,
        }
    }

    /// The error that says that a file holds no records.
    pub(crate) fn empty(place: impl Into<String>) -> Self {
        scumble_core::Error::Empty { place: place.into() }.into()
    }

    pub(crate) fn from_write(source: std::io::Error) -> Self {
        Self::Write { source }
    }
}
