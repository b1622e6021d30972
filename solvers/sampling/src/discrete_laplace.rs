//! The discrete Laplace law.

use crate::bernoulli::below_one;
use crate::{Error, Rational, Result, uniform_below};
use rand_core::RngCore;
use std::num::NonZeroU64;

/// The discrete Laplace law of scale t: P(k) = (1 − q)/(1 + q)·q^|k| with q = e^(−1/t), on all integers k.
///
/// Two copies shifted by Δ differ by a factor of at most e^(Δ/t) at every integer, which is all that a privacy
/// claim needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscreteLaplace {
    numerator: NonZeroU64,
    denominator: NonZeroU64,
}

impl DiscreteLaplace {
    /// The law of scale t = `scale`.
    ///
    /// # Errors
    /// [`Error::Scale`] unless 0 < t's numerator ≤ 2⁶².
    pub fn new(scale: Rational) -> Result<Self> {
        let refused = Error::Scale {
            numerator: scale.numerator(),
            denominator: scale.denominator(),
        };
        match (
            NonZeroU64::new(scale.numerator()),
            NonZeroU64::new(scale.denominator()),
        ) {
            (Some(numerator), Some(denominator)) if numerator.get() <= 1 << 62 => Ok(Self {
                numerator,
                denominator,
            }),
            _ => Err(refused),
        }
    }

    /// The scale t.
    pub fn scale(&self) -> f64 {
        self.numerator.get() as f64 / self.denominator.get() as f64
    }

    /// The variance 2q/(1 − q)², which is 1/(2·sinh²(1/2t)).
    pub fn variance(&self) -> f64 {
        let sinh = (0.5 / self.scale()).sinh();
        0.5 / (sinh * sinh)
    }

    /// One draw: Algorithm 2 of Canonne, Kamath and Steinke (2020).
    ///
    /// With t = n/s: u + n·v has P ∝ exp(−·/n) on the non-negative integers, a quotient by s rescales it, and a
    /// random sign, with one of the two zeros thrown away, makes it symmetric.
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        loop {
            let remainder = uniform_below(rng, self.numerator);
            if !below_one(rng, remainder, self.numerator.get()) {
                continue;
            }
            // Each round survives with probability 1/e, so `quotient` stays below 2⁶³ for longer than any machine
            // lasts, and the sum below 2¹²⁶.
            let mut quotient = 0i128;
            while below_one(rng, 1, 1) {
                quotient += 1;
            }
            let magnitude = (i128::from(remainder) + i128::from(self.numerator.get()) * quotient)
                / i128::from(self.denominator.get());
            let negative = rng.next_u64() & 1 == 1;
            if negative && magnitude == 0 {
                continue;
            }
            return if negative { -magnitude } else { magnitude };
        }
    }
}
