//! What can go wrong when a sensitivity is asked for.

use ndarray::ArrayView2;

/// The result of asking for a sensitivity.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when a sensitivity is asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A NaN or an infinity.
    #[error("{of}, row {row}, column {column}, both counted from 0: {value} is no finite number")]
    NonFinite {
        /// Of the map, or of the points.
        of: &'static str,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The value there.
        value: f64,
    },
    /// A width or radius that is none.
    #[error("set {set}, counted from 0: its {name} must be finite and not negative, and {value} is not")]
    Size {
        /// Which of the sets.
        set: usize,
        /// Its width or its radius.
        name: &'static str,
        /// What it was.
        value: f64,
    },
    /// Parts that do not fit together.
    #[error("{0}")]
    Shape(String),
    /// More latents than have their signs enumerated.
    #[error("bounds for all signs of {latents} latents are too many; {most} are the most")]
    Latents {
        /// How many there are.
        latents: usize,
        /// How many there may be.
        most: usize,
    },
    /// Numbers that are right each by itself, and whose sum is none.
    #[error("the distances leave the floats: measure in larger units")]
    Overflow,
}

/// # Errors
/// [`Error::NonFinite`] for the first value that is no finite number.
pub(crate) fn check_finite(of: &'static str, values: ArrayView2<f64>) -> Result<()> {
    match values.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), value)) => Err(Error::NonFinite { of, row, column, value: *value }),
        None => Ok(()),
    }
}
