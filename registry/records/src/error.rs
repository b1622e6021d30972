//! Errors about files of records and their schemas. Each error names the file, and the row, column and value
//! if it concerns a cell.

use scumble_core::nearest_name;
use scumble_core::text::did_you_mean;
use std::path::PathBuf;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Errors about files of records and their schemas.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be opened, read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Output that cannot be written.
    #[error("the output cannot be written: {source}")]
    Write {
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Work that was interrupted before its end.
    #[error("interrupted")]
    Interrupted,
    /// A file that is malformed or holds unsupported content.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file.
        file: String,
        /// Description of the problem, in one line.
        problem: String,
    },
    /// A cell that does not fit its column.
    #[error("{file}, row {row}, column {column:?}: {value:?} {problem}")]
    Cell {
        /// The file.
        file: String,
        /// Data row, counted from 1 below the header. A blank line counts if the file has one column.
        row: usize,
        /// Name of the column.
        column: String,
        /// Value of the cell, cut to one line.
        value: String,
        /// Description of the problem, and of the expected value.
        problem: String,
    },
    /// A record with the id of another record.
    #[error(
        "{file}, row {row}, column {column:?}: {id:?} is the id of two records; each record needs its own id"
    )]
    RepeatedId {
        /// The file.
        file: String,
        /// Data row of the record that repeats the id, counted from 1 below the header.
        row: usize,
        /// Name of the id column.
        column: String,
        /// The id, cut to one line.
        id: String,
    },
    /// A row with too few or too many cells.
    #[error("{file}, row {row}: the row has {found} cells, and the header has {expected}")]
    RowLength {
        /// The file.
        file: String,
        /// Data row, counted from 1 below the header. A blank line counts if the file has one column.
        row: usize,
        /// Number of cells in the row.
        found: usize,
        /// Number of cells in the header.
        expected: usize,
    },
    /// A column that the header or the schema lacks.
    #[error("{file}: there is no column {column:?}{}", existing(column, columns))]
    MissingColumn {
        /// File that lacks the column.
        file: String,
        /// Name of the column.
        column: String,
        /// Existing names.
        columns: Vec<String>,
    },
    /// A date column that holds instants of an unknown time zone.
    #[error(
        "{file}: column {column:?} holds instants without a known time zone, so their days cannot be \
         decided; store dates, local times, or instants with a zone"
    )]
    UndecidedDays {
        /// The file.
        file: String,
        /// Name of the column.
        column: String,
    },
    /// A column name that occurs twice.
    #[error("{file}: the column {column:?} occurs twice")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// Name of the column.
        column: String,
    },
    /// A schema that is not valid TOML or is incomplete or inconsistent.
    #[error("{file}: {problem}")]
    Schema {
        /// File of the schema.
        file: String,
        /// Description of the problem, in one line.
        problem: String,
    },
    /// An error of `scumble-core`: the input does not form a table, a domain or a release.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
}

/// Description of the problem in an error that does not show the value of the cell.
const HIDDEN: &str = "the value, which is not shown here, does not fit the column";

impl Error {
    /// Error about a column of `file` whose content, for example `lists or groups`, is not supported.
    pub fn unsupported(file: &str, column: &str, content: &str) -> Self {
        let problem = format!(
            "column {column:?} holds {content}, which are not supported; use numbers, text, booleans or dates"
        );
        Self::Unreadable { file: file.into(), problem }
    }

    /// Returns the error without the value of the cell or the id. It is for logs on a machine that does not
    /// belong to the owner of the records.
    ///
    /// ```
    /// use scumble_records::{Error, Schema, csv};
    ///
    /// let schema = Schema::from_toml(
    ///     "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n",
    ///     "a schema",
    /// )?;
    /// let error = csv::read(&b"size\nsecret\n"[..], "data.csv", &schema, None)
    ///     .unwrap_err()
    ///     .without_value()
    ///     .to_string();
    /// assert!(
    ///     error.starts_with("data.csv, row 1, column \"size\":") && !error.contains("secret"),
    ///     "{error}"
    /// );
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
                    "the id, which is not shown here, repeats that of an earlier record; each record needs \
                     its own id"
                        .into(),
            },
            other => other,
        }
    }

    /// Error about a file without records.
    pub(crate) fn empty(place: impl Into<String>) -> Self {
        scumble_core::Error::Empty { place: place.into() }.into()
    }

    pub(crate) fn from_write(source: std::io::Error) -> Self {
        Self::Write { source }
    }
}
/// Number of existing columns that an error lists.
const LISTED: usize = 10;

/// Nearest existing column, or else the existing columns.
fn existing(column: &str, columns: &[String]) -> String {
    let nearest = nearest_name(column, columns.iter().map(String::as_str));
    if nearest.is_some() {
        return did_you_mean(&nearest);
    }
    let listed: Vec<String> = columns.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more =
        if columns.len() > LISTED { format!(" and {} more", columns.len() - LISTED) } else { String::new() };
    match listed.is_empty() {
        true => String::new(),
        false => format!("; there are {}{more}", listed.join(", ")),
    }
}
