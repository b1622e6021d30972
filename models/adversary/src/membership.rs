//! Membership inference: an adversary that knows all other records tells by the noisy statistics of a release whether a record is among those that it was made of.

use crate::{Result, halves};
use rand::seq::SliceRandom;
use scumble_core::{Designed, Halving, Randomness, Table};

/// So many records are asked about; each needs the likelihood of a table of its own.
const TARGETS: usize = 200;
/// So many draws of a half are guessed of: they cost next to nothing beside the statistic of all halves.
const DRAWS: usize = 100;

/// The membership advantage of an adversary that tells the records of `table` from those of `held_out` by the noisy statistics that a release of the
/// `mechanism` is made of: 2·Pr\[right\] − 1, which is also the share of members that it takes for such, less that of others. None where the
/// mechanism has no statistics, or there is nothing to distinguish.
///
/// It knows all records but one, and two candidates for that one: z, which is in, and z′, which is not. Of statistics S it says z where
/// ln P(S | with z) − ln P(S | with z′ in its place) ≥ 0, a tie by a coin: no test is right more often, where either candidate is as likely as the
/// other beforehand.
///
/// Where a release is made of half of the records, the game is whether a record is in that half: the adversary knows all of them and all halves, and guesses by how likely each half is after a draw
/// ([`Halving`](scumble_core::Halving)); the mean over 100 draws of one set of halves, and up to 200 records. `held_out` is not looked at then.
///
/// One draw of the statistics of `table` serves all of up to 200 pairs. Either of two records, drawn uniformly at random from one population, may be
/// the member; so the share of pairs in which it is right is an unbiased estimate of its success in the game in which a coin decides, of those
/// two, which is in. Pairs share their draw, and so it varies more from draw to draw than that of 200 independent games. Under (ε, δ)
/// differential privacy for replace one record, its mean is at most (e^ε − 1 + 2δ)/(e^ε + 1) (Kairouz, Oh and Viswanath 2015).
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for held-out records of another shape, and where the statistics cannot be drawn.
pub fn membership(
    mechanism: &Designed,
    table: &Table,
    held_out: &Table,
    mut randomness: Randomness,
) -> Result<Option<f64>> {
    if let Some(halving) = mechanism.evidence().halving {
        return of_half(halving, table, &mut randomness).map(Some);
    }
    let Some(statistics) = mechanism.evidence().statistics else {
        return Ok(None);
    };
    if table.is_empty() || held_out.is_empty() {
        return Ok(None);
    }
    let all = one_after_the_other(mechanism, table, held_out)?;
    let drawn = statistics.draw(table, &mut randomness)?;
    let with = statistics.log_likelihood(table, &drawn)?;
    let mut rng = randomness.streams().stream(0);
    let [mut members, mut others]: [Vec<usize>; 2] =
        [(0..table.len()).collect(), (table.len()..all.len()).collect()];
    members.shuffle(&mut rng);
    others.shuffle(&mut rng);
    members.truncate(TARGETS);
    let mut rows: Vec<usize> = (0..table.len()).collect();
    let mut right = 0.0;
    for (&member, &other) in members.iter().zip(others.iter().cycle()) {
        rows[member] = other;
        let without = statistics.log_likelihood(&all.select(&rows)?, &drawn)?;
        rows[member] = member;
        right += match with.partial_cmp(&without) {
            Some(order) => 0.5 * (1.0 + f64::from(order as i8)),
            None => 0.5,
        };
    }
    Ok(Some(2.0 * right / members.len() as f64 - 1.0))
}

/// The membership advantage where a release is made of half of the records of `table`.
fn of_half(halving: &dyn Halving, table: &Table, randomness: &mut Randomness) -> Result<f64> {
    let halved = halving.draw(table, DRAWS, randomness)?;
    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.shuffle(&mut randomness.streams().stream(0));
    rows.truncate(TARGETS);
    Ok(halves::membership_advantage(&halved, &rows))
}

/// The records of two tables of the shape that `mechanism` is for.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for another shape.
fn one_after_the_other(mechanism: &Designed, table: &Table, held_out: &Table) -> Result<Table> {
    let layout = mechanism.domain().layout();
    layout.check(table)?;
    layout.check(held_out)?;
    let flat = [table, held_out].into_iter().flat_map(|part| (0..part.len()).map(move |row| (part, row)));
    layout.table_of(flat.flat_map(|(part, row)| layout.flatten(part, row)).collect())
}
