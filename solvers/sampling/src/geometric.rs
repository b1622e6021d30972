//! The geometric distribution.

use crate::curve::{Curve, Shape};
use crate::ziggurat::{Decide, Ziggurat};
use crate::{Rational, Result};
use rand_core::RngCore;
use std::sync::Arc;

/// The geometric distribution of scale t: P(k) = (1 − q)·q^k with q = e^(−1/t), on the integers k ≥ 0.
///
/// Creating a distribution takes about a tenth of a millisecond; cloning is free.
#[derive(Debug, Clone)]
pub struct Geometric {
    ziggurat: Arc<Ziggurat>,
}

impl Geometric {
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

    /// One draw.
    #[inline]
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        self.ziggurat.sample(rng, Decide::Fast) as i128
    }

    /// Returns the draw that [`sample`](Self::sample) makes from the same words of `rng`, but makes every
    /// decision with integers of any length. This method is slow, and serves as the definition of a draw.
    pub fn sample_by_definition<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        self.ziggurat.sample(rng, Decide::Exactly) as i128
    }
}
