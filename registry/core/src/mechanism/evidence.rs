//! Evidence that an audit uses to attack a curator.

use super::{Halving, Statistics};
use crate::{Claim, Table};

/// Function that makes two tables from the records of a table. By the claim, both are released with one
/// distribution. `None` if there are no such tables.
pub type Alike<'m> = Box<dyn Fn(&Claim, &Table) -> Option<[Table; 2]> + 'm>;

/// Evidence that an audit uses to attack a curator, in addition to its releases. No claim depends on it. Each
/// part may be left out.
#[derive(Default)]
pub struct Evidence<'m> {
    /// Noisy statistics of a release, if the release is post-processing of them.
    pub statistics: Option<&'m dyn Statistics>,
    /// Secret half of the records that a release is made from, if it is made from one.
    pub halving: Option<&'m dyn Halving>,
    /// Tables that an ambiguity set says are released alike.
    pub alike: Option<Alike<'m>>,
}
