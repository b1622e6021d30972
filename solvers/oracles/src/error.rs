//! Errors of frequency oracles and of answers.

use crate::Kind;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// An invalid parameter of an oracle, or an invalid answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unsupported number of levels.
    #[error("a question has 1 to {most} levels, and {levels} is outside")]
    Levels {
        /// The number of levels given.
        levels: u64,
        /// The largest supported number of levels.
        most: u64,
    },
    /// An ε that is not above zero, or so small that nothing can be estimated.
    #[error(
        "ε must be above zero, and large enough that answers differ in 62 binary digits, and {epsilon} \
             is not"
    )]
    Epsilon {
        /// The given ε.
        epsilon: f64,
    },
    /// An answer that the oracle does not give.
    #[error("{kind} over {levels} levels gives no such answer: {problem}")]
    Answer {
        /// The kind of the oracle.
        kind: Kind,
        /// The oracle's number of levels.
        levels: u64,
        /// The problem with the answer.
        problem: String,
    },
    /// A value that is no part of an answer. Numbers of 10¹⁵ or more are shown with an exponent.
    #[error(
        "{} is not a whole number from 0 to below 2^48",
        if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") }
    )]
    Value {
        /// The value.
        value: f64,
    },
    /// An unsupported number of dimensions.
    #[error("a direction has 2 to {most} dimensions, and {dim} is outside")]
    Dimensions {
        /// The number of dimensions given.
        dim: usize,
        /// The largest supported number of dimensions.
        most: usize,
    },
    /// An unsupported number of candidates (directions from which an answer is chosen).
    #[error(
        "candidates must be an even number from 2 to {most}, because they come in pairs of opposites, \
             and {candidates} is not"
    )]
    Candidates {
        /// The number of candidates given.
        candidates: usize,
        /// The largest supported number of candidates.
        most: usize,
    },
    /// An answer that encodes no direction.
    #[error(
        "the answer {candidate} to the seed {seed} is not a direction: candidates are numbered from 0 to \
         below {candidates}, seeds to below 2^48"
    )]
    Direction {
        /// The seed.
        seed: u64,
        /// The candidate.
        candidate: u64,
        /// The number of candidates.
        candidates: usize,
    },
}
