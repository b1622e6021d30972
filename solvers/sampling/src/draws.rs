//! Draws in bulk.

use crate::words::Words;
use crate::ziggurat::Ziggurat;
use rand_core::RngCore;
use std::fmt;

/// Draws of one distribution, one after the other: those that `sample` makes of the same generator, modulo 2⁶⁴. It is faster, for it draws words
/// in bulk, and so takes more of them than it needs.
pub struct Draws<'a, R: ?Sized> {
    ziggurat: &'a Ziggurat,
    words: Words<'a, R>,
}

impl<'a, R: RngCore + ?Sized> Draws<'a, R> {
    pub(crate) fn new(ziggurat: &'a Ziggurat, rng: &'a mut R) -> Self {
        Self { ziggurat, words: Words::new(rng) }
    }

    /// The next draws, as many as there is room for.
    pub fn fill(&mut self, draws: &mut [i64]) {
        self.ziggurat.fill_signed(&mut self.words, draws);
    }
}

/// Without its words, which are secret.
impl<R: ?Sized> fmt::Debug for Draws<'_, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Draws").field("ziggurat", self.ziggurat).finish_non_exhaustive()
    }
}
