//! Errors of tables and of estimates.

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// A file that holds no noisy tables, or an estimate that these tables do not give.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Contents that are no noisy tables.
    #[error("it holds no noisy tables: {problem}")]
    Format {
        /// The fault, in words.
        problem: String,
    },
    /// A column that no table has.
    #[error("no table counts the column {column:?}; the counted columns are {counted}")]
    Column {
        /// The column asked for.
        column: String,
        /// The columns of the tables, in words.
        counted: String,
    },
    /// Columns that no table counts together.
    #[error("no table counts {columns} together, so nothing is known of their relation")]
    Together {
        /// The columns, in words.
        columns: String,
    },
    /// A level that a column does not have.
    #[error("the column {column:?} has no level {level:?} of its own; its levels are {levels}")]
    Level {
        /// The column.
        column: String,
        /// The level asked for.
        level: String,
        /// The levels of the column, in words.
        levels: String,
    },
    /// A statistic of ordered numbers, for a column without such levels.
    #[error("the levels of {column:?} are no ranges of numbers, so it has no {statistic}")]
    NoNumbers {
        /// The column.
        column: String,
        /// The statistic asked for.
        statistic: &'static str,
    },
    /// A group of people that cannot be told from an empty group.
    #[error("the noise hides the number of people {of}: it may be zero, and no interval is bounded")]
    Hidden {
        /// The people, in words.
        of: String,
    },
    /// A probability outside its range.
    #[error("{name} must lie strictly between 0 and 1, and {value} does not")]
    Probability {
        /// Name of the number.
        name: &'static str,
        /// The value given.
        value: f64,
    },
}
