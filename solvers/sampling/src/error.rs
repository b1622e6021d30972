//! What can be wrong with a sampler's parameters.

/// The result of this crate's constructors.
pub type Result<T> = std::result::Result<T, Error>;

/// What can be wrong with a sampler's parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A fraction over zero.
    #[error("the fraction {numerator}/0 has no value")]
    ZeroDenominator {
        /// The number above the line.
        numerator: u64,
    },
    /// A number that has no non-negative rational form.
    #[error("{value} is no finite number of zero or more")]
    NotRational {
        /// The number that was given.
        value: f64,
    },
    /// A table of weights that are all zero, or that has none.
    #[error("a table of {length} weights gives nothing to draw: one of them must be above zero")]
    NoWeight {
        /// How many weights it has.
        length: usize,
    },
    /// A scale of zero, or one for which tables would not fit 63 bits.
    #[error("the scale {numerator}/{denominator} is not above zero and at most 2^59")]
    Scale {
        /// The scale's numerator.
        numerator: u64,
        /// The scale's denominator.
        denominator: u64,
    },
    /// A coin without a side, or odds that are too large.
    #[error(
        "the odds {heads}·e^ε : {tails} are none: one of the two must be above zero, and neither above 2^32"
    )]
    Odds {
        /// The multiple of e^ε.
        heads: u64,
        /// What it is compared with.
        tails: u64,
    },
}
