//! Errors of the solvers.

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// An invalid programme, or a solution that was not reached.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    #[error("{name} must be {range}, and {value} is not")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The valid range.
        range: &'static str,
        /// The given value.
        value: f64,
    },
    /// Arguments whose shapes do not fit together.
    #[error("{0}")]
    Shape(String),
    /// A record with a NaN or an infinity.
    #[error("record {record}, counted from 0, holds a value that is not a finite number")]
    NonFinite {
        /// The record's index, counted from 0.
        record: usize,
    },
    /// An eigenvalue that is negative or not finite, which no Gram matrix has.
    #[error("eigenvalue {index}, counted from 0, must be finite and not negative, and {value} is not")]
    Eigenvalue {
        /// The eigenvalue's index, counted from 0.
        index: usize,
        /// The given value.
        value: f64,
    },
    /// A latent dimension (the largest allowed number of components with positive power) of zero, or above
    /// the number of eigenvalues.
    #[error(
        "the latent dimension must be from 1 to the number of eigenvalues, {most}, and {latent_dim} is not"
    )]
    LatentDim {
        /// The requested number of components.
        latent_dim: usize,
        /// The number of eigenvalues.
        most: usize,
    },
    /// The solver did not reach the optimum.
    #[error(
        "after {iterations} iterations the relative error of the objective is {gap:e}, and {tolerance:e} is \
         needed"
    )]
    NotConverged {
        /// The number of iterations.
        iterations: u64,
        /// The relative duality gap reached.
        gap: f64,
        /// The requested relative gap.
        tolerance: f64,
    },
    /// The best soft-margin machine found has a larger KKT residual (violation of the optimality conditions)
    /// than requested.
    #[error("no machine with a KKT residual of at most {residual:e} was found; the best has {found:.1e}")]
    Residual {
        /// The smallest residual found.
        found: f64,
        /// The requested residual.
        residual: f64,
    },
    /// An error from argmin's solver loop.
    #[error("the solver's loop stopped: {0}")]
    Loop(String),
}

/// Checks that each of `signs` is 1 or −1.
///
/// # Errors
/// [`Error::Parameter`] for another value.
pub(crate) fn check_signs(signs: &[f64]) -> Result<()> {
    match signs.iter().find(|sign| sign.abs() != 1.0) {
        Some(&value) => Err(Error::Parameter { name: "a sign", range: "1 or -1", value }),
        None => Ok(()),
    }
}

/// Checks that `value` is finite and positive, and returns it.
///
/// # Errors
/// [`Error::Parameter`] unless `value` is finite and positive.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::Parameter { name, range: "finite and positive", value })
}

/// Checks that `value` is finite and not negative, and returns it.
///
/// # Errors
/// [`Error::Parameter`] unless `value` is finite and not negative.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<f64> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(Error::Parameter { name, range: "finite and not negative", value })
}
