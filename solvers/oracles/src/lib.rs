//! Frequency oracles: how one person answers which of K levels it has, at ε of local differential privacy, and what the answers of many estimate.
//!
//! | kind | an answer | variance of a rare level's frequency, times n |
//! |---|---|---|
//! | [randomised response](Kind::RandomizedResponse) | a level | (e^ε + K − 2)/(e^ε − 1)² |
//! | [optimal unary encoding](Kind::UnaryEncoding) | a bit for each level | 4e^ε/(e^ε − 1)² |
//! | [subset selection](Kind::SubsetSelection) | ω ≈ K/(e^ε + 1) of the levels | q(1 − q)/(p − q)², with ω e^ε/(ω e^ε + K − ω) for p and (p(ω − 1) + (1 − p)ω)/(K − 1) for q |
//! | [Hadamard response](Kind::HadamardResponse) | log₂ K bits | (e^ε + 1)²/(e^ε − 1)² |
//!
//! Every answer supports some of the levels, and is exactly e^ε times as likely for each of these as for any other level: so the privacy of all four
//! is one sentence. [`Oracle::best`] takes the one with the least variance.
//!
//! [`PrivUnit`] answers about a unit vector in the same way: of directions that anybody can draw again it names one, which supports the vectors near to it.

mod counts;
mod directions;
mod error;
mod kind;
mod oracle;
mod privunit;

pub use counts::{Counts, project_to_simplex};
pub use error::{Error, Result};
pub use kind::Kind;
pub use oracle::{MOST_LEVELS, Oracle, WORD};
pub use privunit::{Answer, MOST_CANDIDATES, MOST_DIMENSIONS, PrivUnit};
