//! Records in minibatches.

use crate::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

/// Random minibatches of n records. Each epoch has a new random order and uses each record once; the last
/// minibatch may be smaller.
///
/// ```
/// let mut batches = scumble_neural::Batches::new(10, 4, 1)?;
/// let sizes: Vec<usize> = batches.shuffled().map(|rows| rows.len()).collect();
/// assert_eq!(sizes, [4, 4, 2]);
/// # Ok::<(), scumble_neural::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batches {
    order: Vec<usize>,
    size: usize,
    generator: ChaCha20Rng,
}

impl Batches {
    /// Creates minibatches of `size` records each out of `records` records, shuffled with the random seed
    /// `seed`.
    ///
    /// # Errors
    /// [`Error::NoRecords`] if `records` is zero, [`Error::HyperParameter`] if `size` is zero.
    pub fn new(records: usize, size: usize, seed: u64) -> Result<Self> {
        if records == 0 {
            return Err(Error::NoRecords);
        }
        if size == 0 {
            return Err(Error::HyperParameter { name: "the batch size", range: "positive", value: 0.0 });
        }
        Ok(Self { order: (0..records).collect(), size, generator: ChaCha20Rng::seed_from_u64(seed) })
    }

    /// Shuffles the records for the next epoch. Returns the row indices of each minibatch.
    pub fn shuffled(&mut self) -> std::slice::Chunks<'_, usize> {
        self.order.shuffle(&mut self.generator);
        self.order.chunks(self.size)
    }
}
