//! How local mechanisms release a table: in blocks of records, on all cores, the same for any number of them.

use crate::{Key, LocalMechanism, Mechanism, Randomness, Release, Result, Stream, Table};
use ndarray::Array2;
use rayon::prelude::*;

/// Records that share a stream of randomness.
pub const BLOCK: usize = 1024;

/// Releases `table` (n × d) record by record: `encode`, `perturb`, `decode`.
///
/// # Errors
/// [`Error`](crate::Error) where the table is not of the domain's shape, or the mechanism fails.
pub fn release(
    mechanism: &(dyn LocalMechanism + 'static),
    table: &Table,
    randomness: &mut Randomness,
) -> Result<Release> {
    let streams = randomness.streams();
    let released = map_records(mechanism, table, |block| {
        let mut stream: Stream = streams.stream(block);
        move |mut point: Vec<f64>| {
            mechanism.perturb(&mut point, &mut stream)?;
            mechanism.decode(point)
        }
    })?;
    let design: &dyn Mechanism = mechanism;
    Ok(Release {
        table: released,
        guarantee: mechanism.guarantee().under(randomness.provenance()),
        noise: mechanism.noise(),
        key: Key::Design(dyn_clone::clone_box(design)),
    })
}

/// What [`release`] would give without noise: `encode`, `decode`.
///
/// # Errors
/// As [`release`].
pub fn view(mechanism: &dyn LocalMechanism, table: &Table) -> Result<Table> {
    map_records(mechanism, table, |_block| |point| mechanism.decode(point))
}

/// Encodes every record and maps it by what `start` makes for its block.
fn map_records<F>(
    mechanism: &dyn LocalMechanism,
    table: &Table,
    start: impl Fn(u64) -> F + Sync,
) -> Result<Table>
where
    F: FnMut(Vec<f64>) -> Result<Vec<f64>>,
{
    let layout = mechanism.domain().layout();
    layout.check(table)?;
    let blocks: Vec<Vec<f64>> = (0..table.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut map = start(block as u64);
            let rows = block * BLOCK..((block + 1) * BLOCK).min(table.len());
            let mut released = vec![];
            for row in rows {
                let record = layout.flatten(table, row);
                released.extend(map(mechanism.encode(&record)?)?);
            }
            Ok(released)
        })
        .collect::<Result<_>>()?;
    let released = mechanism.layout();
    let flat = Array2::from_shape_vec((table.len(), released.width()), blocks.concat());
    let flat = flat.map_err(|problem| crate::Error::shape(problem.to_string()))?;
    released.table(flat.view())
}
