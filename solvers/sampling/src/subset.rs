//! Poisson sampling: a subset that contains each element independently.

use crate::Rational;
use rand_core::RngCore;

/// Number of elements for which random bytes are drawn at a time.
const AT_A_TIME: usize = 1024;

/// Sets `chosen` to a Poisson sample of {0, …, `count` − 1}, in increasing order.
///
/// Each element is chosen with probability `p`, independently of the others. All elements are chosen for `p`
/// ≥ 1. For each element, the function draws base-256 digits of a uniform number until one differs from the
/// corresponding digit of `p`. One digit is nearly always enough.
///
/// ```
/// use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};
/// use scumble_sampling::{Rational, subset};
///
/// let mut chosen = vec![];
/// subset(&mut ChaCha20Rng::seed_from_u64(7), 60_000, Rational::new(64, 60_000)?, &mut chosen);
/// assert!((20..120).contains(&chosen.len()) && chosen.is_sorted());
/// # Ok::<(), scumble_sampling::Error>(())
/// ```
pub fn subset<R: RngCore + ?Sized>(rng: &mut R, count: usize, p: Rational, chosen: &mut Vec<usize>) {
    chosen.clear();
    if p.numerator() >= p.denominator() {
        return chosen.extend(0..count);
    }
    let (first, rest) = digit(p.numerator(), p.denominator());
    let mut bytes = [0; AT_A_TIME];
    for start in (0..count).step_by(AT_A_TIME) {
        let bytes = &mut bytes[..AT_A_TIME.min(count - start)];
        rng.fill_bytes(bytes);
        for (at, &byte) in bytes.iter().enumerate() {
            if byte < first || byte == first && lies_below(rng, rest, p.denominator()) {
                chosen.push(start + at);
            }
        }
    }
}

/// The first base-256 digit of the fraction `numerator`/`denominator` < 1, and the numerator of the fraction
/// that the further digits represent.
fn digit(numerator: u64, denominator: u64) -> (u8, u64) {
    let shifted = u128::from(numerator) << 8;
    ((shifted / u128::from(denominator)) as u8, (shifted % u128::from(denominator)) as u64)
}

/// Returns true with probability `numerator`/`denominator` < 1. It compares base-256 digits of a uniform
/// number and of this probability.
fn lies_below<R: RngCore + ?Sized>(rng: &mut R, mut numerator: u64, denominator: u64) -> bool {
    // If nothing remains, all further digits of the probability are zero, and no number is below them.
    while numerator > 0 {
        let (next, rest) = digit(numerator, denominator);
        let mut byte = [0];
        rng.fill_bytes(&mut byte);
        if byte[0] != next {
            return byte[0] < next;
        }
        numerator = rest;
    }
    false
}
