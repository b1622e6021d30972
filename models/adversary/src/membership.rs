//! Membership inference: an adversary that knows all other records decides from a release's noisy statistics
//! whether a record was in the input.

use crate::{Result, halves};
use rand::seq::SliceRandom;
use scumble_core::{Designed, Halving, Randomness, Table};

/// Largest number of records to test. Each needs a likelihood under a table of its own.
const TARGETS: usize = 200;
/// Number of draws for a release from half of the records. Their cost is negligible compared with computing
/// the statistic of all halves.
const DRAWS: usize = 100;

/// Membership advantage 2·Pr\[right\] − 1 of an adversary that distinguishes records of `table` from records
/// of `held_out`.
///
/// The adversary sees the noisy statistics that a release of `mechanism` is made from. The advantage also
/// equals the true positive rate minus the false positive rate. The result is `None` if the mechanism has no
/// statistics, or if there are no records to distinguish.
///
/// The adversary knows all records but one, and two candidates for it: z, which is in the table, and z′,
/// which is not. Given statistics S, it decides for z if S is more likely under the table with z than under
/// the table with z′ in its place. A coin breaks ties. No test is right more often if both candidates have
/// equal prior probability.
///
/// If a release is made from half of the records, the question is whether a record is in this half. The
/// adversary knows all records and all possible halves, and uses the posterior of each half after a draw
/// ([`Halving`](scumble_core::Halving)). The result is the mean over 100 draws from one collection of halves,
/// and over up to 200 records. `held_out` is not used in this case.
///
/// In all other cases, one draw of the statistics of `table` serves up to 200 pairs (z, z′). If both records
/// of a pair are from one population, either may be the member. The share of right decisions is therefore an
/// unbiased estimate of the success in a game where a coin decides which record is in the table. The pairs
/// share one draw, so the result varies more than the result of 200 independent games.
///
/// Under (ε, δ) differential privacy for replace one record, the mean advantage is at most
/// (e^ε − 1 + 2δ)/(e^ε + 1) (Kairouz, Oh and Viswanath 2015).
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if `table` or `held_out` does not have the shape of the mechanism's
/// domain, or if the statistics cannot be drawn.
pub fn membership(
    mechanism: &Designed,
    table: &Table,
    held_out: &Table,
    mut randomness: Randomness,
) -> Result<Option<f64>> {
    if let Some(halving) = mechanism.evidence().halving {
        return halving_advantage(halving, table, &mut randomness).map(Some);
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

/// Membership advantage for a release that is made from half of the records of `table`.
fn halving_advantage(halving: &dyn Halving, table: &Table, randomness: &mut Randomness) -> Result<f64> {
    let halved = halving.draw(table, DRAWS, randomness)?;
    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.shuffle(&mut randomness.streams().stream(0));
    rows.truncate(TARGETS);
    Ok(halves::membership_advantage(&halved, &rows))
}

/// Records of `table`, followed by the records of `held_out`, in the layout of `mechanism`.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if a table does not have the shape of the mechanism's domain.
fn one_after_the_other(mechanism: &Designed, table: &Table, held_out: &Table) -> Result<Table> {
    let layout = mechanism.domain().layout();
    layout.check(table)?;
    layout.check(held_out)?;
    let flat = [table, held_out].into_iter().flat_map(|part| (0..part.len()).map(move |row| (part, row)));
    layout.table_of(flat.flat_map(|(part, row)| layout.flatten(part, row)).collect())
}
