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
}
