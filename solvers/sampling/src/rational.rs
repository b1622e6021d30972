//! Non-negative fractions of 64-bit integers.

use crate::{Error, Result};

/// A non-negative fraction of two 64-bit integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rational {
    numerator: u64,
    denominator: u64,
}

impl Rational {
    /// The fraction `numerator / denominator`.
    ///
    /// # Errors
    /// [`Error::ZeroDenominator`] if `denominator` is zero.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self> {
        if denominator == 0 {
            return Err(Error::ZeroDenominator { numerator });
        }
        Ok(Self { numerator, denominator })
    }

    /// The largest fraction of at most `value` whose denominator is a power of two up to 2⁶², in lowest
    /// terms.
    ///
    /// Every `f64` from 2⁻⁹ to 2⁶² is represented exactly. A smaller number loses less than 2⁻⁶², and a
    /// larger number becomes 2⁶². For the γ of [`bernoulli_exp`](crate::bernoulli_exp) or the ε of
    /// [`randomized_response`](crate::randomized_response), rounding down is the more private choice. For a
    /// scale of noise, rounding down is the less private choice.
    ///
    /// # Errors
    /// [`Error::NotRational`] if `value` is negative or not finite.
    pub fn floor_of(value: f64) -> Result<Self> {
        if !(value.is_finite() && value >= 0.0) {
            return Err(Error::NotRational { value });
        }
        const LARGEST: u64 = 1 << 62;
        if value >= LARGEST as f64 {
            return Self::new(LARGEST, 1);
        }
        // The largest k ≤ 62 with value·2^k ≤ 2⁶². Scaling by a power of two is exact, and the cast
        // truncates.
        let mut exponent = 62;
        while value * (1u64 << exponent) as f64 > LARGEST as f64 {
            exponent -= 1;
        }
        let numerator = (value * (1u64 << exponent) as f64) as u64;
        let common = numerator.trailing_zeros().min(exponent);
        Self::new(numerator >> common, 1 << (exponent - common))
    }

    /// The reciprocal of this fraction.
    ///
    /// # Errors
    /// [`Error::ZeroDenominator`] if this fraction is zero.
    pub fn reciprocal(self) -> Result<Self> {
        Self::new(self.denominator, self.numerator)
    }

    /// Returns this fraction, checked as the scale of a distribution.
    ///
    /// # Errors
    /// [`Error::Scale`] unless the fraction is above zero and at most 2⁵⁹.
    pub(crate) fn checked_scale(self) -> Result<Self> {
        let Self { numerator, denominator } = self;
        if numerator > 0 && u128::from(numerator) <= u128::from(denominator) << 59 {
            return Ok(self);
        }
        Err(Error::Scale { numerator, denominator })
    }

    /// The numerator.
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// The denominator, never zero.
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fraction_over_zero_is_an_error() {
        assert_eq!(Rational::new(3, 0), Err(Error::ZeroDenominator { numerator: 3 }));
    }

    #[test]
    fn floor_refuses_what_is_no_number() {
        for value in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(Rational::floor_of(value).is_err(), "{value} was accepted");
        }
    }

    #[test]
    fn floor_saturates_at_two_to_the_62_and_reduces() {
        assert_eq!(Rational::floor_of(1e300), Rational::new(1 << 62, 1));
        assert_eq!(Rational::floor_of(0.75), Rational::new(3, 4));
        assert_eq!(Rational::floor_of(0.0), Rational::new(0, 1));
    }

    proptest! {
        #[test]
        fn floor_is_exact_from_a_thousandth_up(value in 0.001_f64..1e6) {
            let fraction = Rational::floor_of(value).unwrap();
            // Both sides are dyadic with at most 64 significant bits, so u128 arithmetic compares them
            // exactly.
            prop_assert_eq!(fraction.numerator() as f64, value * fraction.denominator() as f64);
            prop_assert_eq!(fraction.numerator() as f64 as u64, fraction.numerator());
        }

        #[test]
        fn floor_never_exceeds(value in 0.0_f64..1.0) {
            prop_assert!(Rational::floor_of(value * 1e-9).unwrap().to_f64() <= value * 1e-9);
        }
    }
}
