//! Releases of mixtures, weighted sums of public and private records, after a secret transformation.

use crate::{Randomness, Result, Table};
use ndarray::{Array1, Array2};

/// Mechanism that releases transformed mixtures of public and private records. No claim depends on this
/// trait; an audit attacks through it.
pub trait Mixtures: Sync {
    /// Public records of the design (p × d).
    ///
    /// # Errors
    /// Same errors as [`Table::new`].
    fn public(&self) -> Result<Table>;

    /// Computes the mixtures of the release of `table` with the same randomness, before they are transformed.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`](super::CuratorMechanism::release).
    fn parts(&self, table: &Table, randomness: &mut Randomness) -> Result<MixtureParts>;
}

/// The m mixtures of a release, with the parts that an adversary is assumed to know.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureParts {
    /// The mixtures (m × d), which are secret.
    pub mixtures: Array2<f64>,
    /// Weighted sum of the public records of each mixture (m × d).
    pub known: Array2<f64>,
    /// Sum of the weights of the private records of each mixture (m values in [0, 1]).
    pub hidden: Array1<f64>,
}
