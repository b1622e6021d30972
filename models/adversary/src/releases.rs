//! Whole releases: what of a record shows in the table that it is released with.

use crate::Result;
use crate::event::Samples;
use crate::pairs::between;
use crate::score::Output;
use ndarray::Array2;
use rand::RngCore;
use rand::seq::SliceRandom;
use scumble_registry::{LocalMechanism, Randomness, Stream, Table, local};

/// Rows of a large table, of which the last block is not full. Records that share noise are told apart in few.
const ROWS: usize = 15 * local::BLOCK + local::BLOCK / 2;
/// How often a small table is released: what shows in them shows often.
const RELEASES: usize = 1_600;

/// How often a table of more than a block is, for each nat of the claim: as often as it takes to contradict it.
const LONG_RELEASES: f64 = 160.0;

/// How many attacks there are.
pub(crate) const ATTACKS: usize = 7;

/// Releases of tables with one record or the other, what is known of the rest taken off, each with what it is, in words.
///
/// A large table has the record in many rows, beside a known one in the next row, and at the same place of the next block: noise that
/// rows share can be taken off. Small tables, of one row or three, are released again and again from other seeds, with the record in the
/// first row, the last, or the one behind a whole block, and with one from outside the domain.
pub(crate) fn attacks(
    mechanism: &dyn LocalMechanism,
    records: &[Vec<f64>; 2],
    outside: &[Vec<f64>; 2],
    epsilon: f64,
    seed: u64,
) -> Result<Vec<(String, Samples)>> {
    let mut seeds = Randomness::seeded(seed).streams().stream(1);
    let known = &records[0];
    let mut attacks = vec![];
    for distance in [1, local::BLOCK] {
        let mut released = |record: &Vec<f64>| {
            let is_known = |row: usize| row / distance % 2 == 1;
            let rows: Vec<&Vec<f64>> =
                (0..ROWS).map(|row| if is_known(row) { known } else { record }).collect();
            let flat = release(mechanism, &rows, &mut seeds)?;
            let own = (0..flat.len().saturating_sub(distance)).filter(|row| !is_known(*row));
            let mut outputs: Vec<Output> =
                own.map(|row| Some(less(&flat[row], &flat[row + distance]))).collect();
            // What is so in the last block alone is to be learned, chosen and measured.
            outputs.shuffle(&mut seeds);
            Ok(outputs)
        };
        let what = format!("{}, {distance} rows from a known record", between(records));
        attacks.push((what, both(released(&records[0]), released(&records[1]), ROWS / 2)?));
    }
    for (rows, own) in [(1, 0), (3, 0), (3, 2), (local::BLOCK + 1, local::BLOCK)] {
        let what = format!("{} in row {} of {rows}", between(records), own + 1);
        let long = (LONG_RELEASES * epsilon.clamp(1.0, 5.0)) as usize;
        let count = if rows > local::BLOCK { long } else { RELEASES };
        attacks.push((what, again_and_again(mechanism, records, (rows, own), count, &mut seeds)?));
    }
    let what = format!("{} in a table of one row", between(outside));
    attacks.push((what, again_and_again(mechanism, outside, (1, 0), RELEASES, &mut seeds)?));
    Ok(attacks)
}

/// `count` releases of a table of `rows` rows, with a record in row `own` and a known one in the others: what is released of it, and,
/// where it has a neighbour, how far that lies from what is released of the neighbour.
fn again_and_again(
    mechanism: &dyn LocalMechanism,
    records: &[Vec<f64>; 2],
    (rows, own): (usize, usize),
    count: usize,
    seeds: &mut Stream,
) -> Result<Samples> {
    let known = &records[0];
    let mut released = |record: &Vec<f64>| -> Result<Vec<Output>> {
        let table: Vec<&Vec<f64>> = (0..rows).map(|row| if row == own { record } else { known }).collect();
        let once = |_| {
            // A release that fails now and then is an output, too.
            let flat = release(mechanism, &table, seeds).ok()?;
            let mut output = flat.get(own)?.clone();
            if let Some(beside) = flat.get(if own > 0 { own - 1 } else { 1 }) {
                output.extend(less(&flat[own], beside));
            }
            Some(output)
        };
        Ok((0..count).map(once).collect())
    };
    both(released(&records[0]), released(&records[1]), count)
}

/// Both sides' outputs. A table that is refused for one record and not for the other gives the record away.
fn both(one: Result<Vec<Output>>, other: Result<Vec<Output>>, count: usize) -> Result<Samples> {
    match (one, other) {
        (Err(error), Err(_)) => Err(error),
        (one, other) => {
            let refused = vec![None; count];
            Ok(Samples::new(one.unwrap_or(refused.clone()), other.unwrap_or(refused)))
        }
    }
}

fn less(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(x, y)| x - y).collect()
}

/// The flat rows that are released of these records, from a fresh seed.
fn release(
    mechanism: &dyn LocalMechanism,
    records: &[&Vec<f64>],
    seeds: &mut Stream,
) -> Result<Vec<Vec<f64>>> {
    let width = records.first().map_or(0, |record| record.len());
    let values = records.iter().flat_map(|record| record.iter().copied()).collect();
    let flat = Array2::from_shape_vec((records.len(), width), values);
    let flat = flat.map_err(|problem| crate::Error::shape(problem.to_string()))?;
    let table = mechanism.domain().layout().table(flat.view())?;
    let released: Table = mechanism.release(&table, &mut Randomness::seeded(seeds.next_u64()))?.table;
    let layout = mechanism.layout();
    Ok((0..released.len()).map(|row| layout.flatten(&released, row)).collect())
}
