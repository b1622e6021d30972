//! Sums of floats, rounded up by more than their error.

use super::{Error, Result};

/// Upper bound on the relative error of one operation: half the distance from 1 to the next float.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Upper bound on the absolute error of one underflowing product. There are fewer of these products than the
/// square of `roundings` in [`up`].
const LEAST: f64 = f64::from_bits(1);

/// Returns an upper bound on the exact result, given its rounded `value`. The computation has at most
/// `roundings` roundings, and the magnitudes of its terms add up to at most `size`.
///
/// Let u be [`UNIT`], and k = `roundings` + 16. If each term of a sum passes through at most k roundings, the
/// sum errs by at most γ = ku/(1 − ku) times the sum of the terms' magnitudes. (See Higham, *Accuracy and
/// Stability of Numerical Algorithms*, section 3.1.) The function adds 4ku times `size`, plus a bound on
/// underflow. This is enough for all k below 10¹⁵, even if `size` itself has a relative error of γ.
pub(crate) fn up(value: f64, roundings: usize, size: f64) -> f64 {
    let roundings = (roundings + 16) as f64;
    (value + (4.0 * UNIT * roundings * size + LEAST * roundings * roundings)).next_up()
}

/// Returns the least float that is at least the exact sum of `one` and `other`.
pub(crate) fn add_up(one: f64, other: f64) -> f64 {
    let sum = one + other;
    // Exact rounding error of the sum (Knuth's TwoSum).
    let added = sum - one;
    let error = (one - (sum - added)) + (other - added);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// Returns `size` if sums of magnitude `size`, or a few times `size`, cannot overflow.
///
/// # Errors
/// [`Error::Overflow`] if `size` is too large for such sums.
pub(crate) fn check(size: f64) -> Result<f64> {
    if size < f64::MAX / 16.0 { Ok(size) } else { Err(Error::Overflow) }
}
