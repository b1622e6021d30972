//! Errors of fitting a classifier.

/// Result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of fitting a classifier.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Hyper-parameters of the network outside their range, or a training that overflowed.
    #[error(transparent)]
    Network(#[from] scumble_neural::Error),
    /// Hyper-parameters outside their range, invalid records or labels, a single class, invalid
    /// standardisation, or invalid flipped labels.
    #[error(transparent)]
    Linear(#[from] scumble_linear::Error),
    /// An error of linfa's traits.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}
