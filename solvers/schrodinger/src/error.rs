//! What can go wrong when a ground state is looked for.

/// The result of looking for a ground state.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when a ground state is looked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    #[error("{name} must be {range}, and {value} is not")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// What it was.
        value: f64,
    },
    /// Bounds between which there is nothing, or no finite interval.
    #[error(
        "from {lower} to {upper} is no interval: both bounds must be finite, and the lower one below the upper"
    )]
    Interval {
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// A potential that is no finite number somewhere.
    #[error("the potential must be finite, and at {place} it is {value}")]
    Potential {
        /// Where.
        place: f64,
        /// What it is there.
        value: f64,
    },
    /// Parts that do not fit together.
    #[error("{0}")]
    Shape(String),
    /// A Π that is no matrix of weights.
    #[error("the matrix of weights must be symmetric and positive definite, and it is not")]
    NotPositiveDefinite,
    /// Resolutions that do not agree.
    #[error(
        "mu is known to {error:e} alone where a relative {tolerance:e} is asked for, and no finer resolution fits"
    )]
    NotConverged {
        /// By how much the last two differ; infinite where there was one only.
        error: f64,
        /// The relative difference that was asked for.
        tolerance: f64,
    },
    /// Parameters that are right each by itself, and whose ground state does not fit into floats.
    #[error("{quantity} of this ground state leaves the floats")]
    Range {
        /// What leaves them.
        quantity: &'static str,
    },
    /// What argmin's loop says.
    #[error("the solver's loop stopped: {0}")]
    Loop(String),
}
