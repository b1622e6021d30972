//! Errors of samplers' parameters.

/// The result of this crate's constructors.
pub type Result<T> = std::result::Result<T, Error>;

/// An invalid parameter of a sampler.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A fraction with denominator zero.
    #[error("the fraction {numerator}/0 has no value")]
    ZeroDenominator {
        /// The numerator.
        numerator: u64,
    },
    /// A number without a non-negative rational form.
    #[error("{value} is not a finite number of zero or more")]
    NotRational {
        /// The given number.
        value: f64,
    },
    /// A table of weights that is empty or all zero.
    #[error("nothing can be drawn from a table of {length} weights: one of them must be above zero")]
    NoWeight {
        /// The number of weights.
        length: usize,
    },
    /// A scale of zero, or a scale above 2⁵⁹, whose tables would not fit 63 bits.
    #[error("the scale {numerator}/{denominator} is not above zero and at most 2^59")]
    Scale {
        /// The scale's numerator.
        numerator: u64,
        /// The scale's denominator.
        denominator: u64,
    },
    /// A coin with both odds zero, or with odds above 2³².
    #[error(
        "the odds {heads}·e^ε : {tails} are invalid: one of the two must be above zero, and neither above \
         2^32"
    )]
    Odds {
        /// The integer a of the odds a·e^ε : b of heads.
        heads: u64,
        /// The integer b of the odds a·e^ε : b of heads.
        tails: u64,
    },
}
