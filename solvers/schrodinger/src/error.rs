//! Errors of the search for a ground state.

/// The result of the search for a ground state.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the search for a ground state.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    #[error("{name} must be {range}, and {value} is not")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The required range.
        range: &'static str,
        /// The given value.
        value: f64,
    },
    /// Bounds that are not finite, or enclose no interval.
    #[error(
        "from {lower} to {upper} is not an interval: both bounds must be finite, and the lower one below the \
         upper"
    )]
    Interval {
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// A potential that is not finite at some point.
    #[error("the potential must be finite, and at {place} it is {value}")]
    Potential {
        /// The point at which the potential is not finite.
        place: f64,
        /// The potential at this point.
        value: f64,
    },
    /// Arguments of incompatible shapes.
    #[error("{0}")]
    Shape(String),
    /// A weight matrix Π that is not symmetric and positive definite.
    #[error("the matrix of weights must be symmetric and positive definite, and it is not")]
    NotPositiveDefinite,
    /// The least energy μ was not found to the required accuracy. Either two computations with different
    /// numbers of states per axis do not agree in μ, or the residual of the eigenvalue iteration is too
    /// large.
    #[error("the error of mu is {error:e}, a relative {tolerance:e} is needed, and no finer resolution fits")]
    NotConverged {
        /// The difference of μ between the last two computations (infinite if there was only one), or the
        /// relative residual of the eigenvalue iteration.
        error: f64,
        /// The requested difference relative to max(1, μ), or the largest accepted relative residual.
        tolerance: f64,
    },
    /// Parameters that are valid individually, but whose ground state is outside the range of floats.
    #[error("{quantity} of this ground state is outside the range of floats")]
    Range {
        /// The quantity out of range.
        quantity: &'static str,
    },
    /// An error of argmin's solver loop.
    #[error("the solver's loop stopped: {0}")]
    Loop(String),
}
