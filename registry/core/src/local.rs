//! How local mechanisms go through a table: in blocks of records, on all cores, the same for any number of them.

use crate::mechanism::map_records;
use crate::{Error, Layout, LocalMechanism, Result, Streams, Table, interrupt};
use rayon::prelude::*;

/// Records that share a stream of randomness.
pub const BLOCK: usize = 1024;

/// What [`release_local`](crate::release_local) would give without noise: `encode`, `decode`. Of a mechanism that makes reports, the records
/// themselves, within the domain: what is collected from reports has their columns.
///
/// # Errors
/// As there.
pub fn view(mechanism: &dyn LocalMechanism, table: &Table) -> Result<Table> {
    let layout = match mechanism.collector() {
        Some(_) => mechanism.domain().layout(),
        None => mechanism.layout(),
    };
    map_blocks(mechanism, table, &layout, |_number, records| view_block(mechanism, records))
}

/// The flat records of a block as [`view`] gives them.
pub fn view_block(mechanism: &dyn LocalMechanism, records: &[f64]) -> Result<Vec<f64>> {
    if mechanism.collector().is_none() {
        return map_records(mechanism, records, |_record, _point| Ok(()));
    }
    let domain = mechanism.domain();
    let projected = records.chunks(domain.flat().dim().max(1)).map(|record| domain.projected(record));
    Ok(projected.collect::<Result<Vec<_>>>()?.concat())
}

/// Returns which coordinates of a flat record leave unchanged in a [`view`]: those that the view has under the same name and with the same
/// value, for probing records from all over the domain.
///
/// # Errors
/// [`Error`] where the mechanism fails.
pub fn kept_in_view(mechanism: &dyn LocalMechanism) -> Result<Vec<bool>> {
    let places = mechanism.layout().places(&mechanism.domain().layout());
    let probes = mechanism.domain().probes()?;
    let viewed: Vec<Vec<f64>> =
        probes.iter().map(|probe| view_block(mechanism, probe)).collect::<Result<_>>()?;
    let is_kept = |(at, place): (usize, &Option<usize>)| {
        place.is_some_and(|place| {
            probes.iter().zip(&viewed).all(|(probe, viewed)| viewed.get(place) == Some(&probe[at]))
        })
    };
    Ok(places.iter().enumerate().map(is_kept).collect())
}

/// Returns which coordinates of a flat record leave unchanged in a release: those that are [kept in the view](kept_in_view) and take no noise.
///
/// # Errors
/// [`Error`] where the mechanism fails.
pub fn kept_in_release(mechanism: &dyn LocalMechanism) -> Result<Vec<bool>> {
    let own = mechanism.domain().layout();
    if mechanism.collector().is_some() {
        return Ok(vec![false; own.width()]);
    }
    let exact = mechanism.noise().exact(&own, &mechanism.layout());
    Ok(kept_in_view(mechanism)?
        .into_iter()
        .zip(exact)
        .map(|(is_kept, is_exact)| is_kept && is_exact)
        .collect())
}

/// Releases the flat records of block number `block`, of [`BLOCK`] records each but for the last: what [`release_local`](crate::release_local) does
/// to a table, and what a stream of records is released by.
///
/// # Errors
/// [`Error`] where the mechanism fails.
pub fn release_block(
    mechanism: &dyn LocalMechanism,
    records: &[f64],
    streams: &Streams,
    block: u64,
) -> Result<Vec<f64>> {
    mechanism.release_records(records, &mut streams.stream(block))
}

/// The table's flat records, mapped block by block to flat records of `made`.
pub(crate) fn map_blocks(
    mechanism: &dyn LocalMechanism,
    table: &Table,
    made: &Layout,
    map: impl Fn(u64, &[f64]) -> Result<Vec<f64>> + Sync,
) -> Result<Table> {
    let layout = mechanism.domain().layout();
    layout.check(table)?;
    let mut flat = vec![0.0; table.len() * made.width()];
    let blocks = flat.par_chunks_mut(BLOCK * made.width().max(1)).enumerate();
    blocks.try_for_each(|(block, room)| {
        interrupt::check()?;
        let rows = block * BLOCK..((block + 1) * BLOCK).min(table.len());
        let records = map(block as u64, &layout.flat(table, rows))?;
        if records.len() != room.len() {
            let (found, width) = (records.len(), made.width());
            return Err(Error::shape(format!(
                "{found} values are no {} records of {width}",
                room.len() / width
            )));
        }
        room.copy_from_slice(&records);
        Ok(())
    })?;
    made.table_of(flat)
}
