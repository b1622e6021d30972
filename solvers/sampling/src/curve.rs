//! Curves to which the probabilities of noise are proportional, and comparisons of fractions with the values
//! of a curve.

use crate::Rational;
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use std::cmp::Ordering;

/// A decreasing function f on the integers k ≥ 0 with f(0) = 1. Probabilities are proportional to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Curve {
    shape: Shape,
    scale: Rational,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// f(k) = exp(−k/t) for the scale t.
    Exponential,
    /// f(k) = exp(−k²/2σ²) for the scale σ.
    Normal,
}

/// One, as a fixed-point number. Fixed-point numbers in [0, 2) count units of 2⁻⁶³.
pub(crate) const ONE: u64 = 1 << 63;

impl Curve {
    pub(crate) fn new(shape: Shape, scale: Rational) -> Self {
        Self { shape, scale }
    }

    pub(crate) fn scale(&self) -> f64 {
        self.scale.to_f64()
    }

    /// The usual start of the tail, as an argument k of f: the ziggurat method with 256 rectangles (Marsaglia
    /// and Tsang 2000) treats larger k separately.
    pub(crate) fn usual_reach(&self) -> f64 {
        self.scale()
            * match self.shape {
                Shape::Exponential => 7.697,
                Shape::Normal => 3.654,
            }
    }

    /// A number m with f(k + m) ≤ f(k)/2 for all k ≥ `reach`.
    pub(crate) fn half_life(&self, reach: u64) -> f64 {
        // The factor 1 + 10⁻⁹ outweighs the rounding errors of the other factors.
        let scale = self.scale() * (std::f64::consts::LN_2 * (1.0 + 1e-9));
        let m = match self.shape {
            Shape::Exponential => scale,
            // (k + m)² − k² ≥ 2km.
            Shape::Normal => scale * (self.scale() / reach as f64),
        };
        m.ceil().max(1.0)
    }

    /// The approximate k with f(k) = `y`. The result is the same on every machine, so that a seed gives the
    /// same draws everywhere.
    pub(crate) fn inverse(&self, y: f64) -> f64 {
        let exponent = -libm::log(y);
        self.scale()
            * match self.shape {
                Shape::Exponential => exponent,
                Shape::Normal => (2.0 * exponent).sqrt(),
            }
    }

    /// −ln f(k), with a relative error below 2⁻⁴⁹: at most eleven roundings, of at most 2⁻⁵³ each.
    fn exponent(&self, k: u128) -> f64 {
        // Both conversions give the same float, but the conversion of a u64 takes one instruction.
        let k = u64::try_from(k).map_or(k as f64, |k| k as f64);
        let scaled = k * self.scale.denominator() as f64 / self.scale.numerator() as f64;
        match self.shape {
            Shape::Exponential => scaled,
            Shape::Normal => scaled * scaled / 2.0,
        }
    }

    /// −ln f(k) as a fraction.
    fn exact_exponent(&self, k: u128) -> (BigUint, BigUint) {
        let above = BigUint::from(k) * self.scale.denominator();
        let below = BigUint::from(self.scale.numerator());
        match self.shape {
            Shape::Exponential => (above, below),
            Shape::Normal => (&above * &above, &below * &below * 2u32),
        }
    }

    /// Lower and upper bound on f(k), as fixed-point numbers.
    pub(crate) fn bounds(&self, k: u128) -> (u64, u64) {
        let exponent = self.exponent(k);
        if exponent >= 64.0 {
            return (0, 1); // e⁻⁶³ is less than 2⁻⁶³
        }
        exp_minus(exponent)
    }

    /// Compares the fraction `numerator`/`denominator` with f(k), in integers. f(k) is transcendental for k >
    /// 0, so enough digits always decide.
    pub(crate) fn compare(&self, k: u128, numerator: &BigUint, denominator: &BigUint) -> Ordering {
        if k == 0 {
            return numerator.cmp(denominator);
        }
        let (above, below) = self.exact_exponent(k);
        let mut bits = 128;
        loop {
            let (lower, upper) = exact_exp_minus(&above, &below, bits);
            let scaled = numerator << bits;
            if scaled <= lower * denominator {
                return Ordering::Less;
            }
            if scaled >= upper * denominator {
                return Ordering::Greater;
            }
            bits *= 2;
        }
    }
}

/// Fixed-point Taylor coefficients 1/j! of the exponential function, rounded down.
const TAYLOR: [u64; 21] = {
    let mut coefficients = [ONE; 21];
    let mut j = 1;
    while j < coefficients.len() {
        coefficients[j] = coefficients[j - 1] / j as u64;
        j += 1;
    }
    coefficients
};

/// e^−x for a fixed-point number x < 2, by the Taylor series of this degree. For x < 1.4 and degree 20, or
/// x < 1/16 and degree 9, coefficients, products and the remainder of the series add an error of less than
/// three hundred units of 2⁻⁶³.
const fn series(x: u64, degree: usize) -> u64 {
    let (mut sum, mut j) = (0, degree + 1);
    while j > 0 {
        j -= 1;
        sum = TAYLOR[j] - ((x as u128 * sum as u128) >> 63) as u64;
    }
    sum
}

/// e^−i/16 for i = 0, …, 22.
const SIXTEENTHS: [u64; 23] = {
    let mut values = [ONE; 23];
    let mut i = 1;
    while i < values.len() {
        values[i] = series(i as u64 * (ONE / 16), 20);
        i += 1;
    }
    values
};

/// ln 2 as a fixed-point number, rounded down: ⌊2⁶³·ln 2⌋.
const LN_2: u64 = 0x58B9_0BFB_E8E7_BCD5;

/// Fixed-point lower and upper bound on e^−x for every x that differs from `exponent` by a factor of at most
/// 1 ± 2⁻⁴⁸. `exponent` is below 64.
///
/// Let x = m·ln 2 + i/16 + r for integers m and i, and r < 1/16. A Taylor series of degree 9 gives e^−r, a
/// table gives e^−i/16, and m halvings of their product give e^−x. The exponent has three errors: at most
/// 2⁻⁴² from the allowed factor, 2⁻⁵⁷ from the rounding to fixed point, and m ≤ 92 units of 2⁻⁶³ from ln 2.
/// The series, the table and the product add an error of less than seven hundred units. The total error of
/// e^−(i/16 + r) ≤ 1 is less than 2⁻⁴¹. Both bounds get a margin of 2⁻⁴⁰.
fn exp_minus(exponent: f64) -> (u64, u64) {
    const ERROR: u64 = 1 << 23;
    let fixed = u128::from((exponent * (1u64 << 57) as f64) as u64) << 6;
    // m is one less than the quotient, because the float may have been rounded up. The rest i/16 + r is then
    // below 2·ln 2 < 23/16.
    let halvings = ((exponent * std::f64::consts::LOG2_E) as u64).saturating_sub(1);
    let rest = (fixed - u128::from(halvings) * u128::from(LN_2)) as u64;
    let (sixteenths, rest) = (rest / (ONE / 16), rest % (ONE / 16));
    let product = u128::from(SIXTEENTHS[sixteenths as usize]) * u128::from(series(rest, 9));
    let value = (product >> 63) as u64;
    let halvings = halvings as u32; // at most 92
    let lower = value.saturating_sub(ERROR).checked_shr(halvings).unwrap_or(0);
    let upper = (value + ERROR).checked_shr(halvings).unwrap_or(0) + 1;
    (lower, upper.min(ONE))
}

/// Lower and upper bound on e^−x for x = `numerator`/`denominator` > 0, in units of 2^−`bits`.
fn exact_exp_minus(numerator: &BigUint, denominator: &BigUint, bits: u64) -> (BigUint, BigUint) {
    const GUARD: u64 = 64;
    let whole = (numerator / denominator).to_u64().unwrap_or(u64::MAX);
    if whole >= bits {
        return (BigUint::zero(), BigUint::one()); // e^−bits is less than 2^−bits
    }
    // The series gives e^(−x/2^h), where h = `squarings` and x/2^h < 1/2. The result is then squared h times,
    // and each squaring at most doubles the error.
    let places = bits + GUARD;
    let squarings = u64::from(u64::BITS - whole.leading_zeros()) + 1;
    let x = (numerator << places) / (denominator << squarings);
    let (mut sum, mut term) = (BigUint::one() << places, BigUint::one() << places);
    let mut terms = 0u32;
    while !term.is_zero() {
        terms += 1;
        term = ((term * &x) >> places) / terms;
        if terms % 2 == 1 {
            sum -= &term;
        } else {
            sum += &term;
        }
    }
    // The errors come from rounding x, from two roundings per term and their propagation, and from the
    // omitted terms. Three units per term bound their sum.
    let error = BigUint::from(3 * terms + 3);
    let (mut lower, mut upper) = (&sum - &error, sum + error);
    for _ in 0..squarings {
        lower = (&lower * &lower) >> places;
        upper = ((&upper * &upper) >> places) + 1u32;
    }
    (lower >> GUARD, (upper >> GUARD) + 1u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_of_the_exponential_function_are_those_of_the_tables() {
        // e⁻¹ and e⁻¹⁰ to 38 decimal places.
        let known =
            [(1u32, "36787944117144232159552377016146086744"), (10, "4539992976248485153559151556055061")];
        for (x, digits) in known {
            let (lower, upper) = exact_exp_minus(&x.into(), &BigUint::one(), 160);
            let decimal = |y: BigUint| -> BigUint { (y * BigUint::from(10u32).pow(38)) >> 160u32 };
            assert_eq!(decimal(lower).to_string(), digits, "e^-{x}");
            assert_eq!(decimal(upper).to_string(), digits, "e^-{x}");
        }
    }

    #[test]
    fn at_zero_the_curve_is_one_and_compares_as_that() {
        let curve = Curve::new(Shape::Normal, Rational::new(1, 3).unwrap());
        let one = BigUint::one();
        assert_eq!(curve.compare(0, &one, &one), Ordering::Equal);
        assert_eq!(curve.compare(0, &1u32.into(), &2u32.into()), Ordering::Less);
        assert_eq!(curve.bounds(0).1, ONE);
    }

    fn wide(value: u64) -> BigUint {
        value.into()
    }

    proptest! {
        /// The fast bounds enclose the value of the integers, for both shapes, at small and large scales.
        #[test]
        fn fast_bounds_enclose_the_curve(
            k in prop_oneof![1u64..100, 1u64..1 << 45],
            numerator in prop_oneof![1u64..100, 1u64..1 << 42],
            denominator in 1u64..50,
        ) {
            for shape in [Shape::Exponential, Shape::Normal] {
                let curve = Curve::new(shape, Rational::new(numerator, denominator).unwrap());
                let (lower, upper) = curve.bounds(k.into());
                prop_assert_ne!(curve.compare(k.into(), &wide(lower), &wide(ONE)), Ordering::Greater);
                prop_assert_ne!(curve.compare(k.into(), &wide(upper), &wide(ONE)), Ordering::Less);
                prop_assert!(upper - lower <= 1 + (1 << 24));
            }
        }

        #[test]
        fn exact_bounds_nest(numerator in 1u64..1000, denominator in 1u64..100) {
            let (x, y) = (wide(numerator), wide(denominator));
            let (lower, upper) = exact_exp_minus(&x, &y, 64);
            let (finer_lower, finer_upper) = exact_exp_minus(&x, &y, 256);
            prop_assert!((&lower << 192u32) <= finer_lower && finer_upper <= (&upper << 192u32));
            prop_assert!(&upper - &lower <= BigUint::from(3u32));
        }
    }
}
