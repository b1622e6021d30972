//! What can go wrong when a programme is solved.

/// The result of solving.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when a programme is solved.
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
    /// Parts that do not fit together.
    #[error("{0}")]
    Shape(String),
    /// A record that holds a NaN or an infinity.
    #[error("record {record}, counted from 0, holds a value that is no finite number")]
    NonFinite {
        /// Which.
        record: usize,
    },
    /// An eigenvalue that is none of a Gram matrix.
    #[error("eigenvalue {index}, counted from 0, must be finite and not negative, and {value} is not")]
    Eigenvalue {
        /// Which.
        index: usize,
        /// What it was.
        value: f64,
    },
    /// More components than there are, or none.
    #[error(
        "the latent dimension must be from 1 to the number of eigenvalues, {most}, and {latent_dim} is not"
    )]
    LatentDim {
        /// How many were asked for.
        latent_dim: usize,
        /// How many there are.
        most: usize,
    },
    /// The optimum was not reached.
    #[error(
        "after {iterations} iterations the objective is known to a relative {gap:e} alone, where {tolerance:e} is asked for"
    )]
    NotConverged {
        /// How many iterations it ran.
        iterations: u64,
        /// The relative duality gap that is left.
        gap: f64,
        /// The one that was asked for.
        tolerance: f64,
    },
    /// A machine that does not meet its conditions as nearly as it should.
    #[error("no machine was found to a KKT residual of {residual:e}, the best has {found:.1e}")]
    Residual {
        /// The least that was found.
        found: f64,
        /// The one that was asked for.
        residual: f64,
    },
    /// What argmin's loop says.
    #[error("the solver's loop stopped: {0}")]
    Loop(String),
}

/// # Errors
/// [`Error::Parameter`] unless `value` is finite and not negative.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<f64> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::Parameter { name, range: "finite and not negative", value })
}
