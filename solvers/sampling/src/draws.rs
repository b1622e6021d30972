//! Draws in bulk.

use crate::words::Words;
use crate::ziggurat::Ziggurat;
use rand_core::RngCore;
use std::fmt;

/// Successive draws of one distribution. They equal the draws of `sample` with the same generator, modulo
/// 2⁶⁴.
///
/// Bulk draws are faster because they take words in bulk, and so they take more words than they need.
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
