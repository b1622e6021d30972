//! Uniform integers.

use rand_core::RngCore;
use std::num::NonZeroU64;

/// Draws a uniform integer in {0, …, `bound` − 1}, by rejection from uniform integers with the smallest
/// sufficient number of bits.
pub fn uniform_below<R: RngCore + ?Sized>(rng: &mut R, bound: NonZeroU64) -> u64 {
    let largest = bound.get() - 1;
    let mask = u64::MAX.checked_shr(largest.leading_zeros()).unwrap_or(0);
    loop {
        let candidate = rng.next_u64() & mask;
        if candidate <= largest {
            return candidate;
        }
    }
}
