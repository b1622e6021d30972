//! What can be wrong with an oracle or an answer.

use crate::Kind;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What can be wrong with an oracle or an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number of levels that cannot be asked for.
    #[error("a question has 1 to {most} levels, and {levels} is outside")]
    Levels {
        /// How many there were.
        levels: u64,
        /// How many there may be.
        most: u64,
    },
    /// An ε at which nothing can be estimated.
    #[error("ε must be above zero, and so large that answers differ in 62 binary digits: {epsilon} is not")]
    Epsilon {
        /// The ε that was given.
        epsilon: f64,
    },
    /// An answer that the oracle does not give.
    #[error("{kind} over {levels} levels gives no such answer: {problem}")]
    Answer {
        /// Which oracle.
        kind: Kind,
        /// Over how many levels.
        levels: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Dimensions of which there is no direction.
    #[error("a direction has 2 to {most} dimensions, and {dim} is outside")]
    Dimensions {
        /// How many there were.
        dim: usize,
        /// How many there may be.
        most: usize,
    },
    /// Candidates of which none can be answered.
    #[error("candidates come in pairs of opposites, 2 to {most} of them, and {candidates} is no such number")]
    Candidates {
        /// How many there were.
        candidates: usize,
        /// How many there may be.
        most: usize,
    },
    /// An answer that is no direction.
    #[error(
        "the answer {candidate} to the seed {seed} is no direction: candidates are numbered from 0 to below {candidates}, seeds to below 2^48"
    )]
    Direction {
        /// The seed.
        seed: u64,
        /// The candidate.
        candidate: u64,
        /// How many there are.
        candidates: usize,
    },
}
