//! What can go wrong, in sentences that name the file, the row, the column and the value.

use crate::number::short;
use crate::text::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Display;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with data, schemas, designs and mechanisms.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A key that answers no more.
    #[error(
        "the release answers {most} records at most, {answered} were answered, and {asked} more are asked for"
    )]
    Spent {
        /// How many it answers in all.
        most: u64,
        /// How many it has answered.
        answered: u64,
        /// How many are asked for.
        asked: u64,
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
        /// How much; apart, since it is the one number that needs so much room.
        asked: Box<u128>,
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
    /// A saved state that makes no mechanism, or no key of it.
    #[error("{problem}")]
    State {
        /// What is wrong.
        problem: String,
    },
    /// A sampler that refused its parameters.
    #[error(transparent)]
    Sampling(#[from] scumble_sampling::Error),
    /// Work that was asked to stop.
    #[error("interrupted")]
    Interrupted(#[from] scumble_interrupt::Interrupted),
    /// A temporary file that cannot be written or read.
    #[error("the temporary file of encoded records failed: {0}")]
    TemporaryFile(#[source] std::io::Error),
    /// An operating system without entropy.
    #[error("the operating system gave no random bits: {problem}")]
    Entropy {
        /// What it said.
        problem: String,
    },
}

impl Error {
    /// The shape error with this text.
    pub fn shape(problem: impl Into<String>) -> Self {
        Self::Shape { problem: problem.into() }
    }

    /// The error that says that a parameter of `plugin` has a wrong value.
    pub fn parameter(plugin: &str, problem: impl ToString) -> Self {
        Self::Parameter { plugin: plugin.into(), problem: problem.to_string() }
    }

    /// Returns `value`, a parameter of `plugin`, if it `fits`. The error says that it must be `range`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it does not fit.
    pub fn check<V: Display>(plugin: &str, name: &str, value: V, range: &str, fits: bool) -> Result<V> {
        match fits {
            true => Ok(value),
            false => Err(Self::parameter(plugin, format!("{name} must be {range}, and {value} is not"))),
        }
    }

    /// The error that says that `mechanism` does not apply.
    pub fn not_applicable(mechanism: &str, reason: impl Into<String>) -> Self {
        Self::NotApplicable { mechanism: mechanism.into(), reason: reason.into() }
    }

    /// The error of a mechanism whose release is asked for a model, and consists of records.
    pub fn no_model() -> Self {
        Self::not_applicable("a model", "the mechanism releases records")
    }

    /// The error of a saved state with this text.
    pub fn state(problem: impl ToString) -> Self {
        Self::State { problem: problem.to_string() }
    }

    /// Reads a value from a saved state.
    ///
    /// # Errors
    /// [`Error::State`] for one that it does not make.
    pub fn read_state<T: DeserializeOwned>(state: &Value) -> Result<T> {
        T::deserialize(state).map_err(Self::state)
    }
}
