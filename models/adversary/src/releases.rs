//! Attacks on whole releases: distinguishing which of two records was in a released table. Local mechanisms
//! release a table in *blocks* of `local::BLOCK` rows, which share a stream of randomness.

use crate::attack::{Attack, by_side};
use crate::claimed::Claimed;
use crate::event::Samples;
use crate::pairs::between;
use crate::score::Output;
use crate::{Error, Result};
use ndarray::Array2;
use rand::RngCore;
use rand::seq::SliceRandom;
use scumble_core::{LocalMechanism, Randomness, Stream, Table, local};

/// Number of rows of a large table. The last block of this table is not full. If rows share noise, few rows
/// suffice to distinguish the records.
const ROWS: usize = 15 * local::BLOCK + local::BLOCK / 2;
/// Number of releases of a table of at most three rows. A fault that only small tables have can then occur
/// many times.
const RELEASES: usize = 1_600;
/// Number of releases of a table of more than one block, per nat of the claimed ε. This number suffices to
/// contradict a false claim.
const LONG_RELEASES: f64 = 110.0;

/// Attacks on releases of tables that contain one of two records. The release of a known record may be
/// subtracted.
///
/// A large table has one of the two records in every second row, or in all rows of every second block. A
/// known record is in the next row, or at the same position of the next block. Noise that both rows share can
/// then be subtracted. Small tables are released again and again from other seeds. They have one of the two
/// records in the first row, in the last row, or in the row after a whole block. A further table consists of
/// one of the two records `outside`, which are outside the domain.
pub(crate) fn attacks<'a>(
    mechanism: &'a dyn LocalMechanism,
    records: &[Vec<f64>; 2],
    outside: &[Vec<f64>; 2],
    claimed: &Claimed,
    seed: u64,
) -> Vec<Attack<'a>> {
    let streams = Randomness::seeded(seed).streams();
    let mut attacks: Vec<Attack> = vec![];
    for distance in [1, local::BLOCK] {
        let what = format!("{}, {distance} rows from a known record", between(records));
        let draw = differences_at(mechanism, records.clone(), distance, streams.stream(attacks.len() as u64));
        attacks.push(Attack::new(what, claimed, draw, vec![]));
    }
    for (rows, own) in [(1, 0), (3, 0), (3, 2), (local::BLOCK + 1, local::BLOCK)] {
        let what = format!("{} in row {} of {rows}", between(records), own + 1);
        let long = (LONG_RELEASES * claimed.epsilon.clamp(1.0, 5.0)) as usize;
        let count = if rows > local::BLOCK { long } else { RELEASES };
        let seeds = streams.stream(attacks.len() as u64);
        let draw = again_and_again(mechanism, records.clone(), (rows, own), count, seeds);
        attacks.push(Attack::new(what, claimed, draw, vec![]).with_at_most(count));
    }
    let what = format!("{} in a table of one row", between(outside));
    let seeds = streams.stream(attacks.len() as u64);
    let draw = again_and_again(mechanism, outside.clone(), (1, 0), RELEASES, seeds);
    attacks.push(Attack::new(what, claimed, draw, vec![]).with_at_most(RELEASES));
    attacks
}

/// Released rows of one of two records, which fills every second group of `distance` rows of a large table.
/// The released row of a known record, `distance` rows later, is subtracted from each.
fn differences_at<'a>(
    mechanism: &'a dyn LocalMechanism,
    records: [Vec<f64>; 2],
    distance: usize,
    mut seeds: Stream,
) -> impl FnMut(usize) -> Samples + Send + 'a {
    let mut released = move |side: usize| -> Vec<Output> {
        let is_known = |row: usize| row / distance % 2 == 1;
        let rows: Vec<&Vec<f64>> =
            (0..ROWS).map(|row| &records[if is_known(row) { 0 } else { side }]).collect();
        // A table that is refused for only one of the records discloses the record.
        let Ok(flat) = release(mechanism, &rows, &mut seeds) else { return vec![None; ROWS / 2] };
        let own = (0..flat.len().saturating_sub(distance)).filter(|row| !is_known(*row));
        let mut outputs: Vec<Output> = own.map(|row| Some(less(&flat[row], &flat[row + distance]))).collect();
        // Effects of the last block alone must appear in all phases: learning, choosing and betting.
        outputs.shuffle(&mut seeds);
        outputs
    };
    let mut left: Option<[Vec<Output>; 2]> = None;
    move |count| {
        let [one, other] = left.get_or_insert_with(|| [0, 1].map(&mut released));
        let count = count.min(one.len()).min(other.len());
        let last = |side: &mut Vec<Output>| side.split_off(side.len() - count);
        Samples { one: last(one), other: last(other) }
    }
}

/// Up to `most` releases of a table of `rows` rows, with one of two records in row `own` and a known record
/// in all other rows.
///
/// An output is the released row `own`. If the table has more rows, its difference from the adjacent released
/// row is appended.
fn again_and_again<'a>(
    mechanism: &'a dyn LocalMechanism,
    records: [Vec<f64>; 2],
    (rows, own): (usize, usize),
    most: usize,
    mut seeds: Stream,
) -> impl FnMut(usize) -> Samples + Send + 'a {
    let once = move |side: usize| -> Output {
        let table: Vec<&Vec<f64>> =
            (0..rows).map(|row| &records[if row == own { side } else { 0 }]).collect();
        // A failed release is also an output.
        let flat = release(mechanism, &table, &mut seeds).ok()?;
        let mut output = flat.get(own)?.clone();
        if let Some(neighbour) = flat.get(if own > 0 { own - 1 } else { 1 }) {
            output.extend(less(&flat[own], neighbour));
        }
        Some(output)
    };
    let (mut draw, mut left) = (by_side(once), most);
    move |count| {
        let count = count.min(left);
        left -= count;
        draw(count)
    }
}

fn less(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(x, y)| x - y).collect()
}

/// Flat rows of a release of these records, from a fresh seed.
fn release(
    mechanism: &dyn LocalMechanism,
    records: &[&Vec<f64>],
    seeds: &mut Stream,
) -> Result<Vec<Vec<f64>>> {
    let width = records.first().map_or(0, |record| record.len());
    let values = records.iter().flat_map(|record| record.iter().copied()).collect();
    let flat = Array2::from_shape_vec((records.len(), width), values);
    let flat = flat.map_err(|problem| Error::shape(problem.to_string()))?;
    let table = mechanism.domain().layout().table(flat.view())?;
    let released: Table = mechanism.release(&table, &mut Randomness::seeded(seeds.next_u64()))?.table;
    let layout = mechanism.layout();
    Ok((0..released.len()).map(|row| layout.flatten(&released, row)).collect())
}
