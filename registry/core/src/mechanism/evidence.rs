//! What an audit attacks a curator by.

use super::{Halving, Statistics};
use crate::{Claim, Table};

/// Two tables that a claim says are released with one distribution, made of the records of a table; none where there are none to offer.
pub type Alike<'m> = Box<dyn Fn(&Claim, &Table) -> Option<[Table; 2]> + 'm>;

/// What an audit attacks a curator by, beside its releases. No claim depends on it, and each part may be left out.
#[derive(Default)]
pub struct Evidence<'m> {
    /// The noisy statistics of which a release is made, where all that it does with them is post-processing.
    pub statistics: Option<&'m dyn Statistics>,
    /// The secret half of the records of which a release is made, where it is made of one.
    pub halving: Option<&'m dyn Halving>,
    /// Tables that an ambiguity set says are released alike.
    pub alike: Option<Alike<'m>>,
}
