//! Releases that hide which half of the records they were made from.

use crate::{Randomness, Result, Table};

/// Releases made from half of the records, drawn at random, that hide the choice of the half. No claim
/// depends on this trait; an audit attacks through it.
pub trait Halving: Sync {
    /// Draws the released statistic of `table` `draws` times over one fixed collection of half-sized subsets,
    /// picking a subset uniformly each time.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn draw(&self, table: &Table, draws: usize, randomness: &mut Randomness) -> Result<Halved>;
}

/// Statistics of releases from half of the records, with everything that an adversary is assumed to know. It
/// knows every record, the sets, the noise-free statistic of each set, and the amount of noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Halved {
    /// Rows of each set (m sets), half of all rows. Every row is in half of the sets.
    pub sets: Vec<Vec<usize>>,
    /// Noise-free values of each set (m × k).
    pub values: Vec<Vec<f64>>,
    /// σ of the Gaussian noise on each value (k); zero if all sets give the same value.
    pub scales: Vec<f64>,
    /// Draws: the set that was taken, which is the secret, and its noisy values (k).
    pub draws: Vec<(usize, Vec<f64>)>,
}
