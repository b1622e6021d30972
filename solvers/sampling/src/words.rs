//! Random words that are drawn in bulk.

use rand_core::{Error, RngCore};

/// Number of words that are drawn at a time: the number of words that ChaCha20 generates together.
const AT_A_TIME: usize = 32;

/// A generator that returns the words of another generator, which it draws in bulk.
pub(crate) struct Words<'a, R: ?Sized> {
    rng: &'a mut R,
    bytes: [u8; 8 * AT_A_TIME],
    taken: usize,
}

impl<'a, R: RngCore + ?Sized> Words<'a, R> {
    pub(crate) fn new(rng: &'a mut R) -> Self {
        Self { rng, bytes: [0; 8 * AT_A_TIME], taken: AT_A_TIME }
    }

    /// The words that are drawn but not yet taken, at least one, each in little-endian order.
    pub(crate) fn drawn(&mut self) -> &[[u8; 8]] {
        if self.taken == AT_A_TIME {
            self.rng.fill_bytes(&mut self.bytes);
            self.taken = 0;
        }
        &self.bytes.as_chunks().0[self.taken..]
    }

    /// Takes the first `words` words of [`drawn`](Self::drawn).
    pub(crate) fn skip(&mut self, words: usize) {
        self.taken += words;
    }
}

impl<R: RngCore + ?Sized> RngCore for Words<'_, R> {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        let word = u64::from_le_bytes(self.drawn()[0]);
        self.skip(1);
        word
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for bytes in bytes.chunks_mut(8) {
            bytes.copy_from_slice(&self.next_u64().to_le_bytes()[..bytes.len()]);
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}
