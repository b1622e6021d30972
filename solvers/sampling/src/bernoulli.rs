//! Coins with rational and exponential bias, and the K-sided answer built from them.

use crate::{Rational, uniform_below};
use rand_core::RngCore;
use std::num::NonZeroU64;

/// True with probability `p`; always true where `p` is one or more.
pub fn bernoulli<R: RngCore + ?Sized>(rng: &mut R, p: Rational) -> bool {
    fraction(rng, p.numerator(), p.denominator())
}

/// True with probability exp(−`gamma`): Algorithm 1 of Canonne, Kamath and Steinke (2020).
pub fn bernoulli_exp<R: RngCore + ?Sized>(rng: &mut R, gamma: Rational) -> bool {
    let (whole, rest) = (gamma.numerator() / gamma.denominator(), gamma.numerator() % gamma.denominator());
    // exp(−whole) is a run of `whole` successes of exp(−1); the first failure ends it.
    (0..whole).all(|_| below_one(rng, 1, 1)) && below_one(rng, rest, gamma.denominator())
}

/// The level `truth` or another of `levels`, the truth e^ε times as likely as each other (Warner 1965 for two levels).
///
/// A uniform level is proposed, and kept surely if it is the truth, else with probability e^−ε. What is kept has
/// exactly the law 1 : e^−ε.
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
    loop {
        let proposal = uniform_below(rng, levels);
        if proposal == truth || bernoulli_exp(rng, epsilon) {
            return proposal;
        }
    }
}

/// True with probability exp(−`numerator`/`denominator`), for a fraction of at most one.
///
/// Trial k succeeds with probability γ/k; the number of successes before the first failure is even with
/// probability Σ (−γ)^k/k! = exp(−γ).
pub(crate) fn below_one<R: RngCore + ?Sized>(rng: &mut R, numerator: u64, denominator: u64) -> bool {
    let mut trial = 1;
    // γ/k as two coins, 1/k and γ, so that no product overflows.
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
