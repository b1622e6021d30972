//! Coins with rational and exponential bias, and the K-sided randomised response built from them.

use crate::{Rational, uniform_below};
use rand_core::RngCore;
use std::num::NonZeroU64;

/// Returns true with probability `p`, and always for `p` ≥ 1.
pub fn bernoulli<R: RngCore + ?Sized>(rng: &mut R, p: Rational) -> bool {
    fraction(rng, p.numerator(), p.denominator())
}

/// Returns true with probability exp(−`gamma`), by Algorithm 1 of Canonne, Kamath and Steinke (2020).
pub fn bernoulli_exp<R: RngCore + ?Sized>(rng: &mut R, gamma: Rational) -> bool {
    let (whole, rest) = (gamma.numerator() / gamma.denominator(), gamma.numerator() % gamma.denominator());
    // `whole` successive successes of probability exp(−1) have the probability exp(−`whole`). The first
    // failure ends the run.
    (0..whole).all(|_| below_one(rng, 1, 1)) && below_one(rng, rest, gamma.denominator())
}

/// Draws a level by randomised response: `truth` is e^ε times as likely as each other level (Warner 1965 for
/// two levels).
///
/// Let K = `levels` and ε = `epsilon`. Relative to `truth`, the K − 1 other levels together have the odds r :
/// 1 with r = (K − 1)·e^−ε. There are two ways to draw. In both, the odds of `truth` against any other level
/// are exactly 1 : e^−ε:
///
/// - If K − 1 ≤ 2^⌊ε⌋, then r ≤ 1. A fair coin proposes either the truth or the other levels. A proposal of
///   the other levels is kept with probability r, and then one of them is drawn uniformly.
/// - If K − 1 > 2^⌊ε⌋, a uniform level is proposed. It is kept if it is the truth, else with probability
///   e^−ε. This takes about min(K, e^ε) proposals.
///
/// A `truth` outside the levels gets a uniform answer.
pub fn randomized_response<R: RngCore + ?Sized>(
    rng: &mut R,
    truth: u64,
    levels: NonZeroU64,
    epsilon: Rational,
) -> u64 {
    if truth >= levels.get() {
        return uniform_below(rng, levels);
    }
    let Some(others) = NonZeroU64::new(levels.get() - 1) else {
        return truth;
    };
    let Some(odds) = OddsOfOthers::new(others, epsilon) else {
        loop {
            let proposal = uniform_below(rng, levels);
            if proposal == truth || bernoulli_exp(rng, epsilon) {
                return proposal;
            }
        }
    };
    loop {
        if fraction(rng, 1, 2) {
            return truth;
        }
        if odds.sample(rng) {
            let other = uniform_below(rng, others);
            return other + u64::from(other >= truth);
        }
    }
}

/// Coin with the probability n·e^−ε, where n is the number of levels other than the true one, and j is an
/// integer with n ≤ 2^j and j ≤ ε. The probability is the product of n/2^j, (2/e)^j and e^−(ε − j).
struct OddsOfOthers {
    others: u64,
    doublings: u32,
    rest: Rational,
}

impl OddsOfOthers {
    /// Returns `None` if no integer j satisfies `others` ≤ 2^j and j ≤ ε.
    fn new(others: NonZeroU64, epsilon: Rational) -> Option<Self> {
        let doublings = others.get().checked_next_power_of_two()?.trailing_zeros();
        let whole = u64::from(doublings).checked_mul(epsilon.denominator())?;
        let rest = epsilon.numerator().checked_sub(whole)?;
        let rest = Rational::new(rest, epsilon.denominator()).ok()?;
        Some(Self { others: others.get(), doublings, rest })
    }

    fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> bool {
        bernoulli_exp(rng, self.rest)
            && (0..self.doublings).all(|_| two_over_e(rng))
            && fraction(rng, self.others, 1 << self.doublings)
    }
}

/// Returns true with probability 2/e = Σ (−1)^k·2/(k + 2)!, where the sum is over k ≥ 0.
///
/// Trial k = 1, 2, … succeeds with probability 1/(k + 2). The first k trials all succeed with probability
/// 2/(k + 2)!. The number of successes before the first failure is therefore even with the probability Σ
/// (−1)^k·2/(k + 2)!.
fn two_over_e<R: RngCore + ?Sized>(rng: &mut R) -> bool {
    let mut successes = 0;
    while fraction(rng, 1, successes + 3) {
        successes += 1;
    }
    successes % 2 == 0
}

/// Returns true with probability exp(−γ), for a fraction γ = `numerator`/`denominator` of at most one.
///
/// Trial k = 1, 2, … succeeds with probability γ/k. The number of successes before the first failure is even
/// with probability Σ (−γ)^k/k! = exp(−γ).
pub(crate) fn below_one<R: RngCore + ?Sized>(rng: &mut R, numerator: u64, denominator: u64) -> bool {
    let mut trial = 1;
    // Two coins with the probabilities 1/k and γ replace one with the probability γ/k, so that no product
    // overflows.
    while fraction(rng, 1, trial) && fraction(rng, numerator, denominator) {
        trial += 1;
    }
    trial % 2 == 1
}

fn fraction<R: RngCore + ?Sized>(rng: &mut R, numerator: u64, denominator: u64) -> bool {
    match NonZeroU64::new(denominator) {
        Some(denominator) => uniform_below(rng, denominator) < numerator,
        None => true, // unreachable: a Rational's denominator and a trial's number are at least one
    }
}
