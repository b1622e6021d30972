//! What can go wrong, in sentences that name the file, the row, the column and the value.

use crate::number::short;
use crate::{Unit, sum_up};
use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with data, schemas, designs and mechanisms.
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
    /// A file that stands where a new one should be.
    #[error("{} is {what}", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
        /// What it is, and what becomes of it.
        what: &'static str,
    },
    /// Output that could not be written.
    #[error("the output cannot be written: {source}")]
    Write {
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A key that answers no more.
    #[error(
        "the release promised an answer to {most} records at most, {answered} were answered, and {asked} more are asked for"
    )]
    Spent {
        /// How many it answers in all.
        most: u64,
        /// How many it has answered.
        answered: u64,
        /// How many are asked for.
        asked: u64,
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
        /// What stands in the cell, cut to a line.
        value: String,
        /// What is wrong with it, and what would be right.
        problem: String,
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
    /// A column whose name stands twice.
    #[error("{file}: the column {column:?} stands there twice")]
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
    /// No records where some are needed.
    #[error("{place} holds no records")]
    Empty {
        /// The file or table.
        place: String,
    },
    /// Columns, records and targets that do not fit together.
    #[error("{problem}")]
    Shape {
        /// What does not fit what.
        problem: String,
    },
    /// A NaN or an infinity where a number is needed.
    #[error("row {row}, column {column:?}: {value} is no finite number")]
    NonFinite {
        /// The record, counted from 1.
        row: usize,
        /// The column's name.
        column: String,
        /// The value.
        value: f64,
    },
    /// Bounds, radii or levels that make no domain.
    #[error("a domain needs {needs}, and was given {given}")]
    Domain {
        /// What is needed.
        needs: &'static str,
        /// What was given.
        given: String,
    },
    /// A privacy parameter outside its range.
    #[error("{name} must be {range}, and {} is not", short(*value))]
    Budget {
        /// `epsilon`, `delta` or a share.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// What it was.
        value: f64,
    },
    /// A name that no plugin has.
    #[error("there is no mechanism {name:?}{}", did_you_mean(nearest))]
    UnknownPlugin {
        /// The name asked for.
        name: String,
        /// The nearest name that is there.
        nearest: Option<String>,
    },
    /// Two plugins of one name.
    #[error("two plugins are named {name:?}; rename one, or leave one crate out")]
    DuplicatePlugin {
        /// The name.
        name: String,
    },
    /// A parameter that a plugin does not have.
    #[error("the mechanism {plugin:?} has no parameter {name:?}{}", did_you_mean(nearest))]
    UnknownParameter {
        /// The plugin.
        plugin: String,
        /// The parameter asked for.
        name: String,
        /// The nearest name that is there.
        nearest: Option<String>,
    },
    /// A parameter with a value that it cannot take.
    #[error("the parameters of {plugin:?}: {problem}")]
    Parameter {
        /// The plugin.
        plugin: String,
        /// What is wrong.
        problem: String,
    },
    /// A parameter, or a number in a saved design, that asks for more than there is room or time for.
    #[error(
        "the parameters of {plugin:?}: {parameter} asks for {asked} {what}, and at most {most} are allowed"
    )]
    TooLarge {
        /// The plugin.
        plugin: String,
        /// What asks for it.
        parameter: String,
        /// How much.
        asked: u128,
        /// How much is allowed.
        most: u64,
        /// Of what.
        what: &'static str,
    },
    /// A mechanism that has nothing to do on such data: no mistake, but no design either.
    #[error("{mechanism} does not apply: {reason}")]
    NotApplicable {
        /// The mechanism.
        mechanism: String,
        /// Why.
        reason: String,
    },
    /// A saved design that cannot be used.
    #[error("{file}: the design cannot be loaded: {problem}")]
    Design {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A saved key that cannot be used.
    #[error("{file}: the key cannot be used: {problem}")]
    Key {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Training that led nowhere.
    #[error(
        "the training of {mechanism:?} left the finite numbers in epoch {epoch}: a smaller learning rate may help"
    )]
    Diverged {
        /// The mechanism.
        mechanism: String,
        /// In which epoch, counted from 1.
        epoch: usize,
    },
    /// A mechanism whose design cannot be written.
    #[error("the design of {plugin:?} cannot be saved: {problem}")]
    Unsaveable {
        /// The plugin.
        plugin: String,
        /// Why.
        problem: String,
    },
    /// A design that would publish something about private volunteers.
    #[error(
        "private volunteers were at hand when {plugin:?} designed it, and it claims no central differential privacy for \
         them: such a design must not be saved"
    )]
    PrivateVolunteers {
        /// The plugin.
        plugin: String,
    },
    /// A δ for volunteers that publishing one of their records would keep.
    #[error(
        "delta, of all that was learned from the volunteers, must be below one in their number, 1/{volunteers}, and {delta:e} is not: to publish \
         the record of one of them would keep it"
    )]
    DeltaOfVolunteers {
        /// δ, of all parts of the design together.
        delta: f64,
        /// How many volunteers there are.
        volunteers: usize,
    },
    /// A ledger that cannot be used.
    #[error("the ledger {}: {problem}", file.display())]
    Ledger {
        /// The ledger's file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A charge that an account cannot bear.
    #[error(
        "{dataset:?} has too little left for {unit}: ε = {} and δ = {} were spent of ε = {} and δ = {}, and ε = {} and δ = {} \
         were asked for{}",
        short(spent.0), short(spent.1), short(total.0), short(total.1), short(asked.0), short(asked.1),
        by_a_hair(&[spent.0, asked.0], total.0)
    )]
    Overdrawn {
        /// The data set.
        dataset: String,
        /// The unit whose account it is.
        unit: Unit,
        /// The charge (ε, δ).
        asked: (f64, f64),
        /// What was spent before.
        spent: (f64, f64),
        /// What may be spent.
        total: (f64, f64),
    },
    /// A sampler that refused its parameters.
    #[error(transparent)]
    Sampling(#[from] scumble_sampling::Error),
    /// An operating system without entropy.
    #[error("the operating system gave no random bits: {problem}")]
    Entropy {
        /// What it said.
        problem: String,
    },
}

impl Error {
    pub(crate) fn from_write(source: std::io::Error) -> Self {
        Self::Write { source }
    }

    /// The shape error with this text.
    pub fn shape(problem: impl Into<String>) -> Self {
        Self::Shape { problem: problem.into() }
    }

    /// The error that says that `mechanism` does not apply.
    pub fn not_applicable(mechanism: &str, reason: impl Into<String>) -> Self {
        Self::NotApplicable { mechanism: mechanism.into(), reason: reason.into() }
    }
}

/// At most `longest` characters of `text`, in one line.
pub(crate) fn abridged(text: &str, longest: usize) -> String {
    let line: String = text.chars().take(longest + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What is said where decimal numbers would have fitted: 0.1 three times, as binary numbers, is more than 0.3.
fn by_a_hair(parts: &[f64], total: f64) -> &'static str {
    let excess = sum_up(parts.iter().copied()) - total;
    if excess > 0.0 && excess < 1e-9 * total {
        return "; as binary numbers they exceed it by a hair, so a hair less fits";
    }
    ""
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

/// The name among `names` that a hand may have meant by `wanted`.
pub fn nearest_name<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}
