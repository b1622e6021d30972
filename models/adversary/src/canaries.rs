//! Audit with many canaries in one release. A *canary* is a record that the audit sets: an independent fair
//! coin for each record chooses one of two ends of the domain. An adversary that sees a record's released row
//! decides which end was chosen.
//!
//! Given the coins of all other records, the table is one of two neighbours. The adversary learns an event S
//! (a set of released rows) from earlier releases. Under (ε, δ) differential privacy, each record then
//! satisfies P(S | one end) ≤ e^ε·P(S | the other end) + δ. The mean over records satisfies the same bound,
//! whatever the dependence between the rows of one release.
//!
//! One release therefore gives one bet, on the mean over all canaries. This mean has a much smaller variance
//! than the outcome of one canary, as in Steinke, Nasr and Jagielski (2023). Their bound for dependent
//! guesses is not needed.

use crate::betting::{Aim, Bets};
use crate::event::Samples;
use crate::pairs::ends;
use crate::score::{Output, Score};
use crate::{Effort, Error, Result};
use rand::RngCore;
use scumble_core::{CentralDp, Claim, Designed, Neighbours, Randomness, Stream, Table};

/// Number of releases before the first bet. The attack then runs in phases. Each phase multiplies the number
/// of releases by `GROWTH`, and bets on events learned from the releases of earlier phases.
const FIRST: usize = 8;
const GROWTH: usize = 4;
/// Number of samples of an [`Effort`] that one release of this attack replaces.
const OUTPUTS_A_RELEASE: usize = 100;

/// Result of an audit with many canaries.
pub(crate) struct Canaries {
    /// Lower bound on ε.
    pub(crate) bound: f64,
    /// Sentence with the reason, if the claim is refuted.
    pub(crate) broken: Option<String>,
}

/// Attacks the claim `dp` with releases in which each record of `table` is a canary. Returns `None` if output
/// rows do not correspond to input rows, or if the neighbouring relation of the claim is not replace one
/// record.
pub(crate) fn attack(
    mechanism: &Designed,
    table: &Table,
    (claim, dp): (&Claim, &CentralDp),
    within: Option<f64>,
    effort: Effort,
) -> Result<Option<Canaries>> {
    if !mechanism.releases().is_aligned() || dp.neighbours != Neighbours::ReplaceOne || table.is_empty() {
        return Ok(None);
    }
    let mut coins = Randomness::seeded(effort.seed).streams().stream(1 << 32);
    let game = Game { mechanism, table, ends: |row: &[f64]| ends(mechanism, claim.protects, row, within) };
    let aim = Aim::Epsilon { delta: dp.delta };
    let mut bets = Bets::on_shares(aim, 2.0);
    let (mut known, mut releases) = (Samples::default(), 0);
    let most = (effort.samples / OUTPUTS_A_RELEASE).max(FIRST);
    let mut by = "nothing";
    while releases < most {
        let until = (GROWTH * releases).clamp(FIRST, most);
        let ahead = (until - releases) * table.len();
        let (scores, events) = match known.len() {
            0 => (vec![], vec![None]),
            _ => known.choose(&[], &[aim], ahead),
        };
        let event = events.into_iter().next().flatten();
        event.iter().for_each(|event| bets.choose(event.shares));
        while releases < until {
            let Some(rows) = game.release(&mut coins)? else { return Ok(None) };
            releases += 1;
            if let Some(event) = event {
                let by_score: &Score = &scores[event.score];
                by = by_score.name;
                let share = |rows: &[Output]| {
                    let happened = rows.iter().filter(|row| event.happens(by_score.evaluate(row))).count();
                    2.0 * happened as f64 / table.len() as f64
                };
                let (one, other) = (share(&rows.one), share(&rows.other));
                let (likelier, other) = if event.is_of_other { (other, one) } else { (one, other) };
                bets.add(likelier, other);
            }
            if known.len() < Samples::KEPT {
                known.extend(rows);
            }
        }
        if bets.refute(dp.epsilon, effort.false_alarm) {
            break;
        }
    }
    let bound = bets.bound(effort.false_alarm);
    let broken = (bound > dp.epsilon).then(|| {
        format!(
            "at least ε = {bound:.4} is spent. Each of {} records is at one end of the domain or the other. \
             An adversary identifies this end by {by} of the record's released row, in {releases} releases",
            table.len()
        )
    });
    Ok(Some(Canaries { bound, broken }))
}

/// Game that releases a table in which every record is a canary.
struct Game<'a, Ends> {
    mechanism: &'a Designed,
    table: &'a Table,
    /// Function from a record to the two ends of the domain that may replace it.
    ends: Ends,
}

impl<Ends: Fn(&[f64]) -> [Vec<f64>; 2]> Game<'_, Ends> {
    /// Releases the table with fresh coins. Returns the rows of records at the first end, and the rows of
    /// records at the second end. Returns `None` if output rows do not correspond to input rows.
    fn release(&self, coins: &mut Stream) -> Result<Option<Samples>> {
        let layout = self.mechanism.domain().layout();
        let sides: Vec<usize> = (0..self.table.len()).map(|_| (coins.next_u32() & 1) as usize).collect();
        let mut flat = vec![];
        for (row, side) in sides.iter().enumerate() {
            let [one, other] = (self.ends)(&layout.flatten(self.table, row));
            flat.extend(if *side == 0 { one } else { other });
        }
        let flat = ndarray::Array2::from_shape_vec((sides.len(), layout.width()), flat);
        let flat = flat.map_err(|problem| Error::shape(problem.to_string()))?;
        let mut randomness = Randomness::seeded(coins.next_u64());
        let released = self.mechanism.release(&layout.table(flat.view())?, &mut randomness)?.table;
        if released.len() != sides.len() {
            return Ok(None);
        }
        let mut rows = Samples::default();
        for (row, side) in released.records().outer_iter().zip(sides) {
            let outputs = if side == 0 { &mut rows.one } else { &mut rows.other };
            outputs.push(Some(row.to_vec()));
        }
        Ok(Some(rows))
    }
}
