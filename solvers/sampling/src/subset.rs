//! A part of many, each by itself.

use crate::Rational;
use rand_core::RngCore;

/// How many are looked at with one filling of bytes.
const AT_A_TIME: usize = 1024;

/// Sets `chosen` to a part of {0, …, `count` − 1}, in rising order: each is in it with probability `p`, independently of the others (a
/// Poisson sample). Each always is where `p` is one or more.
///
/// It draws digits of base 256 of a uniform number for each until they differ from those of p: one digit nearly always.
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

/// The first digit of base 256 of `numerator`/`denominator` < 1, and the numerator of 256 times what is left without it.
fn digit(numerator: u64, denominator: u64) -> (u8, u64) {
    let shifted = u128::from(numerator) << 8;
    ((shifted / u128::from(denominator)) as u8, (shifted % u128::from(denominator)) as u64)
}

/// True with probability `numerator`/`denominator` < 1, digit by digit.
fn lies_below<R: RngCore + ?Sized>(rng: &mut R, mut numerator: u64, denominator: u64) -> bool {
    // Where nothing is left, the number has only zeros to come, and none lies below them.
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
