//! The kinds of frequency oracles.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of an oracle's answers.
///
/// An answer of any kind *supports* some of the levels. It is e^ε times as likely from a person whose level
/// it supports as from any other person. For all kinds, the estimated frequency of a rare level from one
/// answer has the variance q(1 − q)/(p − q)². Here p is the probability that an answer supports the person's
/// own level, and q the probability that it supports any one other level. K is the number of levels, and ω
/// the number of levels in a set.
///
/// | kind | bits | p | q |
/// |---|---|---|---|
/// | randomised response | log₂ K | e^ε/(e^ε + K − 1) | 1/(e^ε + K − 1) |
/// | optimal unary encoding | K | 1/2 | 1/(e^ε + 1) |
/// | subset selection | K | ωe^ε/(ωe^ε + K − ω) | (p(ω − 1) + (1 − p)ω)/(K − 1) |
/// | Hadamard response | log₂ 2K | e^ε/(e^ε + 1) | 1/2 |
///
/// Optimal local hashing is not included. It needs a hash function whose collisions are as random as the
/// formula of its variance assumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One level: the person's own or another (Warner 1965; K levels: Kairouz, Oh and Viswanath 2014,
    /// equation 2).
    RandomizedResponse,
    /// A bit for every level: the person's own is set with probability 1/2, each other with 1/(e^ε + 1)
    /// (optimal unary encoding: Wang, Blocki, Li and Jha 2017, Section 4.3).
    UnaryEncoding,
    /// A set of levels of fixed size: sets with the person's own level are e^ε times as likely as sets
    /// without it (Ye and Barg 2018, equation 5). The size is ⌊K/(e^ε + 1)⌋ for K levels, or the next whole
    /// number, whichever has the smaller variance. With a size of one it is randomised response.
    SubsetSelection,
    /// A column of a Hadamard matrix, where each level is supported by half of all columns (Acharya, Sun and
    /// Zhang 2019, Section 4).
    HadamardResponse,
}

impl Kind {
    /// All kinds, in order of preference where their variances are equal.
    pub const ALL: [Self; 4] =
        [Self::RandomizedResponse, Self::HadamardResponse, Self::SubsetSelection, Self::UnaryEncoding];
}

/// The name in messages.
impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::RandomizedResponse => "randomised response",
            Self::UnaryEncoding => "optimal unary encoding",
            Self::SubsetSelection => "subset selection",
            Self::HadamardResponse => "Hadamard response",
        })
    }
}
