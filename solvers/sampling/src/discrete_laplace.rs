//! The discrete Laplace law.

use crate::{Geometric, Rational, Result};
use rand_core::RngCore;

/// The discrete Laplace law of scale t: P(k) = (1 − q)/(1 + q)·q^|k| with q = e^(−1/t), on all integers k.
///
/// Two copies shifted by Δ differ by a factor of at most e^(Δ/t) at every integer, which is all that a privacy
/// claim needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscreteLaplace {
    magnitude: Geometric,
}

impl DiscreteLaplace {
    /// The law of scale t = `scale`.
    ///
    /// # Errors
    /// [`Error::Scale`](crate::Error::Scale) unless t's numerator lies between 1 and 2⁶².
    pub fn new(scale: Rational) -> Result<Self> {
        Ok(Self { magnitude: Geometric::new(scale)? })
    }

    /// The scale t.
    pub fn scale(&self) -> f64 {
        self.magnitude.scale()
    }

    /// The variance 2q/(1 − q)², which is 1/(2·sinh²(1/2t)).
    pub fn variance(&self) -> f64 {
        let sinh = (0.5 / self.scale()).sinh();
        0.5 / (sinh * sinh)
    }

    /// One draw: Algorithm 2 of Canonne, Kamath and Steinke (2020), a magnitude with a random sign.
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        with_random_sign(rng, |rng| self.magnitude.sample(rng))
    }
}

/// A `magnitude` with a fair sign, where one of the two zeros is thrown away and all drawn again.
///
/// Whatever law P the magnitudes have, k and −k get P(|k|) each, and zero P(0), up to one factor.
pub fn with_random_sign<R: RngCore + ?Sized>(rng: &mut R, mut magnitude: impl FnMut(&mut R) -> i128) -> i128 {
    loop {
        let magnitude = magnitude(rng);
        match (rng.next_u64() & 1 == 1, magnitude) {
            (true, 0) => continue,
            (true, magnitude) => return -magnitude,
            (false, magnitude) => return magnitude,
        }
    }
}
