//! Block-wise processing of tables by local mechanisms, on all cores. The result is the same for any number
//! of cores.

use crate::mechanism::map_records;
use crate::table::Places;
use crate::{
    Error, Factor, Layout, LocalMechanism, RecordDomain, Result, Streams, Table, TargetLayout, interrupt,
};
use rayon::prelude::*;

/// Number of records that share a stream of randomness.
pub const BLOCK: usize = 1024;

/// Noise-free counterpart of [`release_local`](crate::release_local): applies `encode` and `decode` to each
/// record, without `perturb`. Some mechanisms release reports: randomised answers to one question about each
/// record. For such a mechanism, the view consists of the records themselves, projected into the domain. The
/// reason is that synthetic records drawn from reports have the domain's columns.
///
/// # Errors
/// Same errors as [`release_local`](crate::release_local).
pub fn view(mechanism: &dyn LocalMechanism, table: &Table) -> Result<Table> {
    let layout = match mechanism.collector() {
        Some(_) => mechanism.domain().layout(),
        None => mechanism.layout(),
    };
    map_blocks(mechanism, table, &layout, |_number, records| view_block(mechanism, records))
}

/// Noise-free [`view`] of the `records` of one block, in flat form: features, then target.
pub fn view_block(mechanism: &dyn LocalMechanism, records: &[f64]) -> Result<Vec<f64>> {
    if mechanism.collector().is_none() {
        return map_records(mechanism, records, |_record, _point| Ok(()));
    }
    let domain = mechanism.domain();
    let projected = records.chunks(domain.flat().dim().max(1)).map(|record| domain.projected(record));
    Ok(projected.collect::<Result<Vec<_>>>()?.concat())
}

/// Returns, for each coordinate of a flat record (features, then target), whether the noise-free [`view`]
/// keeps it unchanged. A coordinate is kept if the view of each of several test records has a coordinate of
/// the same name and value.
///
/// # Errors
/// Errors of the mechanism's `encode` and `decode`.
pub fn kept_in_view(mechanism: &dyn LocalMechanism) -> Result<Vec<bool>> {
    let places = mechanism.layout().places(&mechanism.domain().layout());
    let project = |record: Vec<f64>| mechanism.domain().projected(&record);
    let probes: Vec<Vec<f64>> = probes(mechanism.domain()).into_iter().map(project).collect::<Result<_>>()?;
    let viewed: Vec<Vec<f64>> =
        probes.iter().map(|probe| view_block(mechanism, probe)).collect::<Result<_>>()?;
    let is_kept = |(at, place): (usize, &Option<usize>)| {
        place.is_some_and(|place| {
            probes.iter().zip(&viewed).all(|(probe, viewed)| viewed.get(place) == Some(&probe[at]))
        })
    };
    Ok(places.iter().enumerate().map(is_kept).collect())
}

/// Returns, for each coordinate of a flat record (features, then target), whether a release keeps it
/// unchanged. It does if the coordinate is [kept in the view](kept_in_view) and takes no noise.
///
/// # Errors
/// Errors of the mechanism's `encode` and `decode`.
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

/// Largest difference between a value and its noise-free view that counts as a rounding error, relative to
/// the width of the value's interval.
const ROUNDING_ERROR: f64 = 1e-6;

/// Returns, for each released coordinate, whether its noise-free view is the record's own value. Only for
/// such a coordinate does the mean of released values estimate the mean of the people's values. A `decode`
/// that was learned from data may move a coordinate's values toward these data, which biases the mean.
///
/// The result comes from tests of the mechanism, not from its own description: [`view_block`] maps corners of
/// the domain and points between them. A coordinate of a report is never the record's own value. Neither is a
/// coordinate whose name is not a column of the domain.
///
/// # Errors
/// [`Error`] if the mechanism fails on a record of its own domain.
pub fn keeps_values(mechanism: &dyn LocalMechanism) -> Result<Vec<bool>> {
    let (taken, released) = (mechanism.domain().layout(), mechanism.layout());
    if mechanism.collector().is_some() {
        return Ok(vec![false; released.width()]);
    }
    let places = Places::new(&taken.columns);
    let mut sources: Vec<Option<usize>> = released.columns.iter().map(|name| places.get(name)).collect();
    let has_own_target = released.target == taken.target && taken.target != TargetLayout::None;
    let targets = 0..released.target.width();
    sources.extend(targets.map(|at| has_own_target.then_some(taken.columns.len() + at)));
    let ranges = ranges(mechanism.domain());
    let mut keeps: Vec<bool> = sources.iter().map(Option::is_some).collect();
    for record in probes(mechanism.domain()) {
        let record = mechanism.domain().projected(&record)?;
        let viewed = view_block(mechanism, &record)?;
        for (at, (keeps, source)) in keeps.iter_mut().zip(&sources).enumerate() {
            *keeps &= source.zip(viewed.get(at)).is_some_and(|(source, viewed)| {
                (record[source] - viewed).abs() <= ROUNDING_ERROR * ranges[source]
            });
        }
    }
    Ok(keeps)
}

/// Returns whether `encode` and `decode`, without `perturb`, change a value or the columns of one of several
/// test records of the domain.
///
/// # Errors
/// Same errors as [`keeps_values`].
pub fn alters_records(mechanism: &dyn LocalMechanism) -> Result<bool> {
    let is_as_wide = mechanism.layout().width() == mechanism.domain().layout().width();
    Ok(!is_as_wide || keeps_values(mechanism)?.contains(&false))
}

/// Width of the interval of each coordinate of a flat record. For a coordinate of a one-hot group, ball or
/// polytope, the largest absolute value of any coordinate of the group, ball or polytope instead.
fn ranges(domain: &RecordDomain) -> Vec<f64> {
    let range_width = |factor: &Factor| match factor {
        Factor::Interval { lower, upper } => upper - lower,
        factor => factor.largest_magnitude(),
    };
    let factors = domain.flat().factors();
    factors.flat_map(|(coordinates, factor)| vec![range_width(factor); coordinates.len()]).collect()
}

/// Flat records that test which coordinates a mechanism alters. They are two points far apart, pairs of
/// opposite corners, each level of each one-hot group, and points that lie on no common hyperplane. In each
/// interval of the domain, one corner of a pair has the lower bound and the other has the upper bound.
fn probes(domain: &RecordDomain) -> Vec<Vec<f64>> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const FEWEST: usize = 24;
    let flat = domain.flat();
    let levels = flat.factors().map(|(_, factor)| match factor {
        Factor::OneHot { levels } => *levels,
        _ => 0,
    });
    let count = levels.max().unwrap_or(0).max(FEWEST);
    let scattered = |point: usize, at: usize| (GOLDEN * ((point * point + 1) * (at + 1)) as f64).fract();
    let probe = |point: usize| {
        let mut record = vec![0.0; flat.dim()];
        for (number, (coordinates, factor)) in flat.factors().enumerate() {
            match factor {
                Factor::Interval { lower, upper } => {
                    let share = match point % 3 {
                        0 => scattered(point, number).round(),
                        1 => 1.0 - scattered(point - 1, number).round(),
                        _ => scattered(point, number),
                    };
                    record[coordinates.start] = lower + share * (upper - lower);
                }
                Factor::OneHot { levels } => {
                    record[coordinates.start + (point + number) % levels] = 1.0;
                }
                factor => {
                    let largest = factor.largest_magnitude();
                    coordinates.for_each(|at| record[at] = largest * (2.0 * scattered(point, at) - 1.0));
                }
            }
        }
        record
    };
    flat.l2_farthest().into_iter().chain((0..count).map(probe)).collect()
}

/// Releases the flat records of block number `block`. Every block but the last has [`BLOCK`] records.
/// [`release_local`](crate::release_local) and releases of record streams use this function.
///
/// # Errors
/// Errors of the mechanism's `release_records`: those of `encode`, `perturb` and `decode`.
pub fn release_block<M: LocalMechanism + ?Sized>(
    mechanism: &M,
    records: &[f64],
    streams: &Streams,
    block: u64,
) -> Result<Vec<f64>> {
    mechanism.release_records(records, &mut streams.stream(block))
}

/// Maps the table's flat records, block by block, to flat records of the layout `made`.
pub(crate) fn map_blocks<M: LocalMechanism + ?Sized>(
    mechanism: &M,
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
                "{found} values do not make {} records of {width} values each",
                room.len() / width
            )));
        }
        room.copy_from_slice(&records);
        Ok(())
    })?;
    made.table_of(flat)
}
