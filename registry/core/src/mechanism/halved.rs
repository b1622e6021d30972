//! Releases that hide which half of the records they were made from.

use crate::{Randomness, Result, Table};

/// Mechanism whose release is made from a random half of the records and hides the choice of the half. No
/// claim depends on this trait; an audit attacks through it.
pub trait Halving: Sync {
    /// Draws the released statistic of `table` `draws` times over one fixed collection of half-sized subsets,
    /// picking a subset uniformly each time.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn draw(&self, table: &Table, draws: usize, randomness: &mut Randomness) -> Result<Halved>;
}

/// Statistics of releases from half of the records, with everything that an adversary is assumed to know. The
/// adversary knows every record, the sets, the noise-free statistic of each set, and the scale of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Halved {
    /// Row numbers of each of the m sets. Each set has half of all rows, and every row is in half of the
    /// sets.
    pub sets: Vec<Vec<usize>>,
    /// Noise-free statistic of each of the m sets, which has k values (m × k).
    pub values: Vec<Vec<f64>>,
    /// Standard deviation of the Gaussian noise on each of the k values; zero if all sets give the same
    /// value.
    pub scales: Vec<f64>,
    /// Draws. Each has the index of the chosen set, which is the secret, and the noisy statistic of this set
    /// (k values).
    pub draws: Vec<(usize, Vec<f64>)>,
}
