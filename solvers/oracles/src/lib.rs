//! Frequency oracles under ε-local differential privacy, and unbiased frequency estimates from their answers.
//!
//! Each person has one of K levels, and gives an answer about it. n is the number of answers.
//!
//! | kind | an answer | variance of a rare level's frequency, times n |
//! |---|---|---|
//! | [randomised response](Kind::RandomizedResponse) | a level | (e^ε + K − 2)/(e^ε − 1)² |
//! | [optimal unary encoding](Kind::UnaryEncoding) | a bit for each level | 4e^ε/(e^ε − 1)² |
//! | [subset selection](Kind::SubsetSelection) | ω ≈ K/(e^ε + 1) of the levels | q(1 − q)/(p − q)² |
//! | [Hadamard response](Kind::HadamardResponse) | at most log₂ 2K bits | (e^ε + 1)²/(e^ε − 1)² |
//!
//! For subset selection, an answer is a set of ω levels. It contains the person's own level with probability
//! p = ω e^ε/(ω e^ε + K − ω), and any one other level with probability q = (p(ω − 1) + (1 − p)ω)/(K − 1).
//!
//! Every answer supports some of the levels. It is exactly e^ε times as likely from a person with a supported
//! level as from a person with any other level. This proves the privacy of all four kinds. [`Oracle::best`]
//! chooses the kind with the least variance.
//!
//! [`PrivUnit`] answers about a unit vector in the same way. An answer names one of a set of reproducible
//! directions, and supports the vectors near it.

mod codes;
mod counts;
mod directions;
mod error;
mod frame;
mod kind;
mod oracle;
mod privunit;

pub use counts::Counts;
pub use error::{Error, Result};
pub use kind::Kind;
pub use oracle::{MOST_LEVELS, Oracle, WORD, whole};
pub use privunit::{Answer, MOST_CANDIDATES, MOST_DIMENSIONS, PrivUnit};
