//! What can go wrong in private training.

use scumble_accounting::Neighbours;

/// The result of what can go wrong in private training.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong in private training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A hyper-parameter out of its range.
    #[error("{name} must be {range}, and is {value}")]
    HyperParameter {
        /// Its name.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
    /// Fewer records than make a step.
    #[error("{expected_batch} records are expected in a step, and there are {records} in all")]
    TooFewRecords {
        /// How many a step expects.
        expected_batch: usize,
        /// How many there are.
        records: usize,
    },
    /// Networks without any parameter.
    #[error("there are no parameters to train")]
    NoParameters,
    /// A target that one step is too much for.
    #[error(
        "not one step meets ε = {epsilon} at δ = {delta} ({neighbours}): at the noise multiplier {noise_multiplier} one step costs ε = {one_step}; one step needs a noise multiplier of {needed}, or fewer records in a step"
    )]
    NoStep {
        /// The target's ε, in nats.
        epsilon: f64,
        /// The target's δ.
        delta: f64,
        /// The target's neighbours.
        neighbours: Neighbours,
        /// That of the training.
        noise_multiplier: f64,
        /// ε of one step, in nats.
        one_step: f64,
        /// With how much noise one step meets the target; infinite where no noise is enough.
        needed: f64,
    },
    /// A δ so small that samples which are too large would count.
    #[error("δ is {delta}, and must be {least} at least for {steps} steps at ε = {epsilon}")]
    Delta {
        /// What was asked for.
        delta: f64,
        /// The least.
        least: f64,
        /// How many steps.
        steps: u64,
        /// ε, in nats.
        epsilon: f64,
    },
    /// A machine whose products of matrices make of a record what depends on the others.
    #[error(
        "on this machine what a record does to a gradient depends on the records beside it, so no bound on it can be claimed"
    )]
    RowsAreUnlike,
    /// What is wrong with a network, or with its records.
    #[error(transparent)]
    Network(#[from] scumble_neural::Error),
    /// What is wrong with a question to the accountant.
    #[error(transparent)]
    Accounting(#[from] scumble_accounting::Error),
    /// What is wrong with a distribution.
    #[error(transparent)]
    Sampling(#[from] scumble_sampling::Error),
}
