//! The kinds of frequency oracle.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How answers are made. In all of them an answer *supports* some of the levels, and is e^ε times as likely for a level that it supports as for one
/// that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One level: the person's own, or another (Warner 1965; K levels: Kairouz, Oh and Viswanath 2014, equation 2).
    RandomizedResponse,
    /// Every level by itself: the person's own with probability 1/2, each other with 1/(e^ε + 1) (optimal unary encoding: Wang, Blocki, Li and Jha
    /// 2017, Section 4.3).
    UnaryEncoding,
    /// So many of the levels: all sets of that size with the person's own are e^ε times as likely as those without (Ye and Barg 2018, equation 5).
    SubsetSelection,
    /// A column of a Hadamard matrix, half of whose levels it supports (Acharya, Sun and Zhang 2019, Section 4).
    HadamardResponse,
}

impl Kind {
    /// All of them, in the order in which one is preferred to another that is as good.
    pub const ALL: [Self; 4] =
        [Self::RandomizedResponse, Self::HadamardResponse, Self::SubsetSelection, Self::UnaryEncoding];
}

/// For people.
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
