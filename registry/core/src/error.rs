//! Errors, in sentences that name the file, the row, the column and the value.

use crate::number::short;
use crate::text::did_you_mean;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Display;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of data, schemas, designs and mechanisms.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Secret key that would map more records to the space of its release than it may.
    #[error(
        "the release answers at most {most} records: {answered} were answered, and {asked} more are requested"
    )]
    Spent {
        /// Maximum number of records that the key may map.
        most: u64,
        /// Number of records that the key has mapped so far.
        answered: u64,
        /// Number of further records requested.
        asked: u64,
    },
    /// No records where some are needed.
    #[error("{place} holds no records")]
    Empty {
        /// File or table.
        place: String,
    },
    /// Columns, records and targets that do not fit together.
    #[error("{problem}")]
    Shape {
        /// Mismatch, in words.
        problem: String,
    },
    /// A NaN or an infinity where a number is needed.
    #[error("row {row}, column {column:?}: {value} is not a finite number")]
    NonFinite {
        /// Record, counted from 1.
        row: usize,
        /// Column name.
        column: String,
        /// Value.
        value: f64,
    },
    /// Bounds, radii or levels that do not make a domain.
    #[error("a domain needs {needs}; it was given {given}")]
    Domain {
        /// Requirement.
        needs: &'static str,
        /// Value given.
        given: String,
    },
    /// A privacy parameter outside its range.
    #[error("{name} must be {range}, and {} is not", short(*value))]
    Budget {
        /// Name of the parameter, for example `epsilon` or `delta`.
        name: &'static str,
        /// Required range.
        range: &'static str,
        /// Value given.
        value: f64,
    },
    /// Name that no plugin has.
    #[error("there is no mechanism {name:?}{}", did_you_mean(nearest))]
    UnknownPlugin {
        /// Name requested.
        name: String,
        /// Nearest available name.
        nearest: Option<String>,
    },
    /// Two plugins with the same name.
    #[error("two plugins are named {name:?}; rename one, or leave one crate out")]
    DuplicatePlugin {
        /// Name of both.
        name: String,
    },
    /// Parameter that a plugin does not have.
    #[error("the mechanism {plugin:?} has no parameter {name:?}{}", did_you_mean(nearest))]
    UnknownParameter {
        /// Plugin.
        plugin: String,
        /// Parameter requested.
        name: String,
        /// Nearest available name.
        nearest: Option<String>,
    },
    /// Parameter with a value that it cannot take.
    #[error("the parameters of {plugin:?}: {problem}")]
    Parameter {
        /// Plugin.
        plugin: String,
        /// Problem, in words.
        problem: String,
    },
    /// Parameter, or number in a saved design, that asks for more memory or time than is allowed.
    #[error(
        "the parameters of {plugin:?}: {parameter} asks for {asked} {what}, and at most {most} are allowed"
    )]
    TooLarge {
        /// Plugin.
        plugin: String,
        /// Name of the parameter or number.
        parameter: String,
        /// Amount requested. Boxed, so that other errors stay small.
        asked: Box<u128>,
        /// Amount allowed.
        most: u64,
        /// Unit of the amounts.
        what: &'static str,
    },
    /// Mechanism that does not apply to the given data or task. The request is not a mistake, but no design
    /// exists for it.
    #[error("{mechanism} does not apply: {reason}")]
    NotApplicable {
        /// Mechanism.
        mechanism: String,
        /// Reason.
        reason: String,
    },
    /// Training that diverged.
    #[error(
        "the training of {mechanism:?} diverged to non-finite numbers in epoch {epoch}; a smaller learning \
         rate may help"
    )]
    Diverged {
        /// Mechanism.
        mechanism: String,
        /// Epoch of divergence, counted from 1.
        epoch: usize,
    },
    /// Design that would publish information about volunteers who are guaranteed privacy.
    #[error(
        "{plugin:?} had records of private volunteers, but its design claims no central differential privacy \
         for them; such a design must not be saved"
    )]
    PrivateVolunteers {
        /// Plugin.
        plugin: String,
    },
    /// δ for volunteers that is so large that it permits publishing one of their records.
    #[error(
        "delta for the volunteers must be below one over their number, 1/{volunteers}, and {delta:e} is not: \
         a larger delta permits publishing one volunteer's record"
    )]
    DeltaOfVolunteers {
        /// δ of the claim for the volunteers.
        delta: f64,
        /// Number of volunteers.
        volunteers: usize,
    },
    /// Saved state from which no mechanism, or no key of the mechanism, can be built.
    #[error("{problem}")]
    State {
        /// Problem, in words.
        problem: String,
    },
    /// Sampler that refused its parameters.
    #[error(transparent)]
    Sampling(#[from] scumble_sampling::Error),
    /// Work that was interrupted.
    #[error("interrupted")]
    Interrupted(#[from] scumble_interrupt::Interrupted),
    /// Temporary file that cannot be written or read.
    #[error("the temporary file of encoded records failed: {0}")]
    TemporaryFile(#[source] std::io::Error),
    /// Operating system without entropy.
    #[error("the operating system gave no random bits: {problem}")]
    Entropy {
        /// Message of the operating system.
        problem: String,
    },
}

impl Error {
    /// Shape error with this text.
    pub fn shape(problem: impl Into<String>) -> Self {
        Self::Shape { problem: problem.into() }
    }

    /// Error for a parameter of `plugin` with a wrong value.
    pub fn parameter(plugin: &str, problem: impl ToString) -> Self {
        Self::Parameter { plugin: plugin.into(), problem: problem.to_string() }
    }

    /// Returns `value`, the value of the parameter `name` of `plugin`, if `fits` is true.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `fits` is false. The error says that the value must be `range`.
    pub fn check<V: Display>(plugin: &str, name: &str, value: V, range: &str, fits: bool) -> Result<V> {
        match fits {
            true => Ok(value),
            false => Err(Self::parameter(plugin, format!("{name} must be {range}, and {value} is not"))),
        }
    }

    /// Error for a `mechanism` that does not apply.
    pub fn not_applicable(mechanism: &str, reason: impl Into<String>) -> Self {
        Self::NotApplicable { mechanism: mechanism.into(), reason: reason.into() }
    }

    /// Error for a mechanism that is asked for a model but releases records.
    pub fn no_model() -> Self {
        Self::not_applicable("a model", "the mechanism releases records")
    }

    /// Error for a saved state, with this text.
    pub fn state(problem: impl ToString) -> Self {
        Self::State { problem: problem.to_string() }
    }

    /// Reads a value from a saved state.
    ///
    /// # Errors
    /// [`Error::State`] if `state` is not the saved form of a `T`.
    pub fn read_state<T: DeserializeOwned>(state: &Value) -> Result<T> {
        T::deserialize(state).map_err(Self::state)
    }
}
