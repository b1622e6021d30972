//! The geometric law.

use crate::bernoulli::below_one;
use crate::{Error, Rational, Result, uniform_below};
use rand_core::RngCore;
use std::num::NonZeroU64;

/// The geometric law of scale t: P(k) = (1 − q)·q^k with q = e^(−1/t), on the integers k ≥ 0.
///
/// It takes a few coins a draw whatever the scale: the first half of Algorithm 2 of Canonne, Kamath and Steinke (2020).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometric {
    numerator: NonZeroU64,
    denominator: NonZeroU64,
}

impl Geometric {
    /// The law of scale t = `scale`.
    ///
    /// # Errors
    /// [`Error::Scale`] unless t's numerator lies between 1 and 2⁶².
    pub fn new(scale: Rational) -> Result<Self> {
        let halves = (NonZeroU64::new(scale.numerator()), NonZeroU64::new(scale.denominator()));
        match halves {
            (Some(numerator), Some(denominator)) if numerator.get() <= 1 << 62 => {
                Ok(Self { numerator, denominator })
            }
            _ => Err(Error::Scale { numerator: scale.numerator(), denominator: scale.denominator() }),
        }
    }

    /// The scale t.
    pub fn scale(&self) -> f64 {
        self.numerator.get() as f64 / self.denominator.get() as f64
    }

    /// One draw.
    ///
    /// With t = n/s: u + n·v has P ∝ exp(−·/n) for u < n with P ∝ exp(−u/n) and v a run of successes of exp(−1); a
    /// quotient by s rescales it.
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        let remainder = loop {
            let proposal = uniform_below(rng, self.numerator);
            if below_one(rng, proposal, self.numerator.get()) {
                break proposal;
            }
        };
        // Each round survives with probability 1/e, so the run stays below 2⁶³ for longer than any machine lasts, and
        // the sum below 2¹²⁶.
        let mut run = 0i128;
        while below_one(rng, 1, 1) {
            run += 1;
        }
        (i128::from(remainder) + i128::from(self.numerator.get()) * run) / i128::from(self.denominator.get())
    }
}
