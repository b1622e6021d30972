//! Errors of sensitivity computations.

use ndarray::ArrayView2;

/// Result of a sensitivity computation.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a sensitivity computation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A NaN or an infinity.
    #[error("{matrix}, row {row}, column {column}, both counted from 0: {value} is not a finite number")]
    NonFinite {
        /// Name of the matrix: the map or the points.
        matrix: &'static str,
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// Value found.
        value: f64,
    },
    /// An invalid width or radius.
    #[error("set {set}, counted from 0: its {name} must be finite and not negative, and {value} is not")]
    Size {
        /// Index of the set in the product of sets, counted from 0.
        set: usize,
        /// Name of the size: width or radius.
        name: &'static str,
        /// Value found.
        value: f64,
    },
    /// Shapes that do not fit together.
    #[error("{0}")]
    Shape(String),
    /// Too many latents to enumerate their signs.
    #[error("bounds for all signs of {latents} latents are too many; at most {most} latents are allowed")]
    Latents {
        /// Number of latents.
        latents: usize,
        /// Maximum number of latents.
        most: usize,
    },
    /// Finite numbers whose sum may overflow.
    #[error("the distances overflow: measure in larger units")]
    Overflow,
}

/// Checks that all values are finite.
///
/// # Errors
/// [`Error::NonFinite`] for the first value that is not finite.
pub(crate) fn check_finite(matrix: &'static str, values: ArrayView2<f64>) -> Result<()> {
    match values.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), value)) => Err(Error::NonFinite { matrix, row, column, value: *value }),
        None => Ok(()),
    }
}
