//! Evidence that an audit uses to attack a curator's mechanism. An *audit* attacks a mechanism to test its
//! claims.

use super::{Halving, Mixtures, Statistics};
use crate::{Claim, Table};

/// Function of a claim and a table, which makes two tables from the table's records. If the claim is true,
/// the releases of the two tables have the same distribution. The function returns `None` if it finds no two
/// such tables.
pub type Alike<'m> = Box<dyn Fn(&Claim, &Table) -> Option<[Table; 2]> + 'm>;

/// Evidence that an audit uses to attack a curator's mechanism, in addition to its releases. No claim depends
/// on it. Each field may be `None`.
#[derive(Default)]
pub struct Evidence<'m> {
    /// Noisy statistics of a release, if the release is post-processing of them.
    pub statistics: Option<&'m dyn Statistics>,
    /// Access to the secret half of the records that each release is made from, if releases are made from a
    /// random half.
    pub halving: Option<&'m dyn Halving>,
    /// Public parts of the mixtures of a release, if releases are transformed mixtures of public and private
    /// records.
    pub mixtures: Option<&'m dyn Mixtures>,
    /// Tables whose releases have the same distribution by the claim of an
    /// [`AmbiguitySet`](crate::AmbiguitySet).
    pub alike: Option<Alike<'m>>,
}
