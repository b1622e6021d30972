//! What mechanisms release, and how local ones do.

use super::{Key, LocalMechanism};
use crate::local::{map_blocks, release_block};
use crate::{Guarantee, Layout, Noise, Randomness, RecordDomain, Result, Table};

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

/// Release of a local mechanism without its key, which is the mechanism itself.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The released table.
    pub table: Table,
    /// What this very release guarantees.
    pub guarantee: Guarantee,
    /// The distribution of the released table given the noise-free view.
    pub noise: Noise,
}

impl Rows {
    /// The release with its key.
    pub fn with_key(self, key: Key) -> Release {
        let Self { table, guarantee, noise } = self;
        Release { table, guarantee, noise, key }
    }
}

impl Release {
    /// Rows that belong to no record, by a curator: without a key, and without noise that a model could be told of.
    pub fn of_no_records(table: Table, guarantee: Guarantee, domain: &RecordDomain) -> Self {
        let layout = Layout { columns: table.columns().to_vec(), target: domain.layout().target };
        Self { noise: Noise::unknown(&layout), table, guarantee, key: Key::None }
    }
}

/// Releases `table` (n × d) record by record: `encode`, `perturb`, `decode`.
///
/// # Errors
/// [`Error`](crate::Error) where the table is not of the domain's shape, or the mechanism fails.
pub fn release_local<M: LocalMechanism + ?Sized>(
    mechanism: &M,
    table: &Table,
    randomness: &mut Randomness,
) -> Result<Rows> {
    let streams = randomness.streams();
    let released = map_blocks(mechanism, table, &mechanism.layout(), |number, records| {
        release_block(mechanism, records, &streams, number)
    })?;
    Ok(Rows {
        table: released,
        guarantee: mechanism.guarantee().under(randomness.provenance()),
        noise: mechanism.noise(),
    })
}
