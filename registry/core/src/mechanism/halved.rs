//! What a release is made of that hides which half of the records it was made from.

use crate::{Randomness, Result, Table};

/// Releases that are made of half of the records, drawn by chance, and hide which. No claim depends on this: an audit attacks by it.
pub trait Halving: Sync {
    /// So many `draws` of what a release of `table` is made of, all of the same sets: one of them is taken anew for each.
    ///
    /// # Errors
    /// As [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn draw(&self, table: &Table, draws: usize, randomness: &mut Randomness) -> Result<Halved>;
}

/// What releases of a half of the records are made of, and all that an adversary is taken to know: every record, the sets, what each of them gives without noise, and how
/// much noise there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Halved {
    /// The rows of each set (m sets), half of all of them; every row is in half of the sets.
    pub sets: Vec<Vec<usize>>,
    /// What each set gives without noise (m × k).
    pub values: Vec<Vec<f64>>,
    /// σ of the Gaussian noise on each value (k); zero where all sets give the same.
    pub scales: Vec<f64>,
    /// Of each draw: which set was taken, which is the secret, and its noisy values (k).
    pub draws: Vec<(usize, Vec<f64>)>,
}
