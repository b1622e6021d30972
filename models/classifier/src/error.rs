//! What can go wrong when a classifier is fitted.

/// The result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when a classifier is fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Hyper-parameters of the network out of their range, or a training that left the finite numbers.
    #[error(transparent)]
    Network(#[from] scumble_neural::Error),
    /// Hyper-parameters out of their range, records or labels that are none, one class only; standardisation, flipped labels.
    #[error(transparent)]
    Linear(#[from] scumble_linear::Error),
    /// What linfa's traits may say.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}
