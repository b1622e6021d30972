//! Sums of floats, rounded up by more than their error.

use super::{Error, Result};

/// Half the distance from 1 to the next float: the relative error of one operation is no larger.
const UNIT: f64 = f64::EPSILON / 2.0;
/// The absolute error of one product is no larger, where it is smaller than the floats are fine; there are fewer of them than the square
/// of `roundings` in [`up`].
const LEAST: f64 = f64::from_bits(1);

/// Above `value`, by more than `roundings` of them can have taken from it where what went into it is `size` at most.
///
/// A sum of k terms, each with a few roundings of its own, errs by at most γ = ku/(1 − ku) of their sizes' sum (Higham, *Accuracy and
/// Stability of Numerical Algorithms*, section 3.1); four times ku is more for all k below 10¹⁵, and `size` may err as much itself.
pub(crate) fn up(value: f64, roundings: usize, size: f64) -> f64 {
    let roundings = (roundings + 16) as f64;
    (value + (4.0 * UNIT * roundings * size + LEAST * roundings * roundings)).next_up()
}

/// The least float that is no smaller than the sum.
pub(crate) fn add_up(one: f64, other: f64) -> f64 {
    let sum = one + other;
    // What rounding took from it, exactly (Knuth's TwoSum).
    let added = sum - one;
    let error = (one - (sum - added)) + (other - added);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// `size`, unless sums of it, or of its doubles, could be infinite.
pub(crate) fn check(size: f64) -> Result<f64> {
    if size < f64::MAX / 16.0 { Ok(size) } else { Err(Error::Overflow) }
}
