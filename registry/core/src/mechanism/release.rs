//! What mechanisms release, and how local ones do.

use super::{Key, LocalMechanism};
use crate::local::{map_blocks, release_block};
use crate::{Guarantee, Noise, Randomness, Result, Table};

/// What is released, and what stays.
#[derive(Debug, Clone)]
pub struct Release {
    /// The released table.
    pub table: Table,
    /// What this very release guarantees: the design's guarantee, or less (a seed voids it).
    pub guarantee: Guarantee,
    /// The distribution of the released table given the noise-free view.
    pub noise: Noise,
    /// What turns records in the clear into ones on which a model of the released table can be used.
    pub key: Key,
}

/// Releases `table` (n × d) record by record: `encode`, `perturb`, `decode`.
///
/// # Errors
/// [`Error`](crate::Error) where the table is not of the domain's shape, or the mechanism fails.
pub fn release_local(
    mechanism: &dyn LocalMechanism,
    table: &Table,
    randomness: &mut Randomness,
) -> Result<Release> {
    let streams = randomness.streams();
    let released = map_blocks(mechanism, table, &mechanism.layout(), |number, records| {
        release_block(mechanism, records, &streams, number)
    })?;
    Ok(Release {
        table: released,
        guarantee: mechanism.guarantee().under(randomness.provenance()),
        noise: mechanism.noise(),
        key: Key::Design(dyn_clone::clone_box(mechanism)),
    })
}
