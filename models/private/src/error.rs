//! Errors of private training.

use scumble_accounting::Neighbours;

/// Result of private training.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of private training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A hyper-parameter outside its range.
    #[error("{name} must be {range}, and is {value}")]
    HyperParameter {
        /// Name of the hyper-parameter.
        name: &'static str,
        /// Permitted range.
        range: &'static str,
        /// Value that was given.
        value: f64,
    },
    /// Fewer records than the expected number in a step.
    #[error("{expected_batch} records are expected in a step, and there are {records} in all")]
    TooFewRecords {
        /// Expected number of records in a step.
        expected_batch: usize,
        /// Number of records.
        records: usize,
    },
    /// Networks without any parameter.
    #[error("there are no parameters to train")]
    NoParameters,
    /// A target (ε, δ) that a single step exceeds.
    #[error(
        "not one step meets ε = {epsilon} at δ = {delta} ({neighbours}): at the noise multiplier \
         {noise_multiplier} one step costs ε = {one_step}; one step needs a noise multiplier of {needed}, or \
         fewer records in a step"
    )]
    NoStep {
        /// ε of the target, in nats.
        epsilon: f64,
        /// δ of the target.
        delta: f64,
        /// Neighbouring relation of the target.
        neighbours: Neighbours,
        /// Noise multiplier of the training.
        noise_multiplier: f64,
        /// ε of one step, in nats.
        one_step: f64,
        /// Noise multiplier at which one step meets the target; infinite if no noise suffices.
        needed: f64,
    },
    /// A δ that is too small: its reserved fraction does not cover the probability of samples with more
    /// records than the capacity of a step.
    #[error("δ is {delta}, and must be at least {least} for {steps} steps at ε = {epsilon}")]
    Delta {
        /// Requested δ.
        delta: f64,
        /// Smallest permitted δ.
        least: f64,
        /// Number of steps.
        steps: u64,
        /// ε, in nats.
        epsilon: f64,
    },
    /// A machine whose matrix products make a record's result depend on the other records.
    #[error(
        "on this machine, a record's gradient depends on the other records in the computation, so no bound \
         on its effect can be claimed"
    )]
    RowsAreUnlike,
    /// An error of a network or its records.
    #[error(transparent)]
    Network(#[from] scumble_neural::Error),
    /// An error of the accountant.
    #[error(transparent)]
    Accounting(#[from] scumble_accounting::Error),
    /// An error of a sampling distribution.
    #[error(transparent)]
    Sampling(#[from] scumble_sampling::Error),
}
