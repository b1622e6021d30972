//! Records in minibatches.

use crate::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

/// Minibatches of n records. Each epoch has a new order and uses each record once; the last minibatch may be
/// smaller.
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
    /// Creates minibatches of `size` of `records` records, shuffled from `seed`.
    ///
    /// # Errors
    /// [`Error::NoRecords`], and [`Error::HyperParameter`] for a size of zero.
    pub fn new(records: usize, size: usize, seed: u64) -> Result<Self> {
        if records == 0 {
            return Err(Error::NoRecords);
        }
        if size == 0 {
            return Err(Error::HyperParameter { name: "the batch size", range: "positive", value: 0.0 });
        }
        Ok(Self { order: (0..records).collect(), size, generator: ChaCha20Rng::seed_from_u64(seed) })
    }

    /// Returns the rows of each minibatch of the next epoch.
    pub fn shuffled(&mut self) -> std::slice::Chunks<'_, usize> {
        self.order.shuffle(&mut self.generator);
        self.order.chunks(self.size)
    }
}
