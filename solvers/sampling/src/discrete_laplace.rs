//! The discrete Laplace distribution.

use crate::curve::{Curve, Shape};
use crate::ziggurat::{Decide, Ziggurat};
use crate::{Draws, Rational, Result};
use rand_core::RngCore;
use std::sync::Arc;

/// The discrete Laplace distribution of scale t: P(k) = (1 − q)/(1 + q)·q^|k| with q = e^(−1/t), on all
/// integers k.
///
/// Let two copies of the distribution be shifted by an integer Δ > 0 against each other. At every integer,
/// their probabilities differ by a factor of at most e^(Δ/t). Pure differential privacy needs no other
/// property. Creating a distribution takes about a tenth of a millisecond; cloning is free.
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

    /// The variance 2q/(1 − q)² for the scale t and q = e^(−1/t). It is equal to 1/(2·sinh²(1/2t)).
    pub fn variance(&self) -> f64 {
        let sinh = (0.5 / self.scale()).sinh();
        0.5 / (sinh * sinh)
    }

    /// One draw.
    #[inline]
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        self.ziggurat.sample_signed(rng, Decide::Fast)
    }

    /// Returns a source of successive draws that takes words of `rng` in bulk.
    pub fn draws<'a, R: RngCore + ?Sized>(&'a self, rng: &'a mut R) -> Draws<'a, R> {
        Draws::new(&self.ziggurat, rng)
    }

    /// Returns the draw that [`sample`](Self::sample) makes from the same words of `rng`, but makes every
    /// decision with integers of any length. This method is slow, and serves as the definition of a draw.
    pub fn sample_by_definition<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        self.ziggurat.sample_signed(rng, Decide::Exactly)
    }
}

/// Draws from `magnitude`, and gives the result a fair random sign. It rejects −0, and then draws magnitude
/// and sign again.
///
/// If P is the distribution of magnitudes, each integer k has a probability proportional to P(|k|).
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
