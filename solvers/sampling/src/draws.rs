//! Draws in bulk.

use crate::words::Words;
use crate::ziggurat::Ziggurat;
use rand_core::RngCore;
use std::fmt;

/// Source of successive draws of one distribution. Modulo 2⁶⁴, they equal the draws of `sample` with the same
/// generator.
///
/// It is faster than `sample`, because it takes words of the generator in bulk. It may therefore take more
/// words than it needs.
pub struct Draws<'a, R: ?Sized> {
    ziggurat: &'a Ziggurat,
    words: Words<'a, R>,
}

impl<'a, R: RngCore + ?Sized> Draws<'a, R> {
    pub(crate) fn new(ziggurat: &'a Ziggurat, rng: &'a mut R) -> Self {
        Self { ziggurat, words: Words::new(rng) }
    }

    /// Fills `draws` with the next draws.
    pub fn fill(&mut self, draws: &mut [i64]) {
        self.ziggurat.fill_signed(&mut self.words, draws);
    }
}

/// Omits the words, which are secret.
impl<R: ?Sized> fmt::Debug for Draws<'_, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Draws").field("ziggurat", self.ziggurat).finish_non_exhaustive()
    }
}
