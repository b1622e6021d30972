//! The discrete Laplace distribution.

use crate::curve::{Curve, Shape};
use crate::ziggurat::{Decide, Ziggurat};
use crate::{Draws, Rational, Result};
use rand_core::RngCore;
use std::sync::Arc;

/// The discrete Laplace distribution of scale t: P(k) = (1 − q)/(1 + q)·q^|k| with q = e^(−1/t), on all
/// integers k.
///
/// Two copies shifted by Δ differ by a factor of at most e^(Δ/t) at every integer. A privacy claim needs no
/// more. Creating a distribution takes about a tenth of a millisecond; cloning is free.
#[derive(Debug, Clone)]
pub struct DiscreteLaplace {
    ziggurat: Arc<Ziggurat>,
}

impl DiscreteLaplace {
    /// Creates the distribution of scale t = `scale`.
    ///
    /// # Errors
    /// [`Error::Scale`](crate::Error::Scale) unless 0 < t ≤ 2⁵⁹.
    pub fn new(scale: Rational) -> Result<Self> {
        Ok(Self { ziggurat: Arc::new(Ziggurat::new(Curve::new(Shape::Exponential, scale.checked_scale()?))) })
    }

    /// The scale t.
    pub fn scale(&self) -> f64 {
        self.ziggurat.scale()
    }

    /// The variance 2q/(1 − q)², equal to 1/(2·sinh²(1/2t)).
    pub fn variance(&self) -> f64 {
        let sinh = (0.5 / self.scale()).sinh();
        0.5 / (sinh * sinh)
    }

    /// One draw.
    #[inline]
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        self.ziggurat.sample_signed(rng, Decide::Fast)
    }

    /// Draws in bulk, from words of `rng`.
    pub fn draws<'a, R: RngCore + ?Sized>(&'a self, rng: &'a mut R) -> Draws<'a, R> {
        Draws::new(&self.ziggurat, rng)
    }

    /// Makes the draw of [`sample`](Self::sample) from the same words of `rng`, with every decision in
    /// integers of any length. This is the definition, and it is slow.
    pub fn sample_by_definition<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        self.ziggurat.sample_signed(rng, Decide::Exactly)
    }
}

/// Draws from `magnitude` with a fair sign. It rejects one of the two zeros and then draws both anew.
///
/// For magnitudes of any distribution P, the results k and −k have probability P(|k|) each, and zero has
/// P(0), up to one common factor.
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
