//! Releases, and the function that makes them with a local mechanism.

use super::{Key, LocalMechanism};
use crate::levels::CountedTable;
use crate::local::{map_blocks, release_block};
use crate::{Guarantee, Layout, Noise, Randomness, RecordDomain, Result, Table};

/// Release: the released table with its guarantee, its noise distribution and its key.
#[derive(Debug, Clone)]
pub struct Release {
    /// Released table.
    pub table: Table,
    /// Guarantee of this release: the guarantee of the design, or a weaker one. A known seed voids its
    /// claims.
    pub guarantee: Guarantee,
    /// Distribution of the released table given the table that would be released without noise.
    pub noise: Noise,
    /// Key that turns records in the clear into records on which a model of the released table can be used.
    pub key: Key,
    /// Tables of counts from which synthetic rows were drawn. Only relations among the columns of one table
    /// are kept. A table lists the indices of its columns among the factors of the flat domain (features,
    /// then target). Empty if the rows were not drawn from counts.
    pub counted_tables: Vec<Vec<usize>>,
    /// All tables of noisy counts that the mechanism measured, if any.
    pub noisy_tables: Vec<CountedTable>,
}

/// Release of a local mechanism without its key, which is the mechanism itself.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Released table.
    pub table: Table,
    /// Guarantee of this release.
    pub guarantee: Guarantee,
    /// Distribution of the released table given the table that would be released without noise.
    pub noise: Noise,
}

impl Rows {
    /// Release of these rows with the key `key`.
    pub fn with_key(self, key: Key) -> Release {
        let Self { table, guarantee, noise } = self;
        Release::new(key, guarantee, noise, table)
    }
}

impl Release {
    /// Release of `table` with its `key`, its `guarantee` and its `noise`, and without tables of counts.
    pub fn new(key: Key, guarantee: Guarantee, noise: Noise, table: Table) -> Self {
        Self { table, guarantee, noise, key, counted_tables: vec![], noisy_tables: vec![] }
    }

    /// Release by a curator of rows that correspond to no record. It has no key, and its noise distribution
    /// is unknown.
    pub fn without_records(table: Table, guarantee: Guarantee, domain: &RecordDomain) -> Self {
        let layout = Layout { columns: table.columns().to_vec(), target: domain.layout().target };
        let noise = Noise::unknown(&layout);
        Self::new(Key::None, guarantee, noise, table)
    }
}

/// Releases `table` (n records × d features) record by record: `encode`, `perturb`, `decode`.
///
/// # Errors
/// [`Error`](crate::Error) if the table does not have the domain's shape, or if the mechanism fails.
pub fn release_local<M: LocalMechanism + ?Sized>(
    mechanism: &M,
    table: &Table,
    randomness: &mut Randomness,
) -> Result<Rows> {
    let streams = randomness.streams();
    let released = map_blocks(mechanism, table, &mechanism.layout(), |number, records| {
        release_block(mechanism, records, &streams, number)
    })?;
    let used = mechanism.domain().records_per_person().map(|_| 1);
    Ok(Rows {
        table: released,
        guarantee: mechanism.guarantee().of_people(used).under(randomness.provenance()),
        noise: mechanism.noise(),
    })
}
