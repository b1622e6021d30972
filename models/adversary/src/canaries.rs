//! Many canaries in one release: every record is one end of the domain or the other, by a fair coin of its own, and an adversary that is given
//! the row that it became guesses which.
//!
//! Given the other coins, each record's release is one of two neighbours. So for an event S of a row, of which the adversary learns from
//! releases before, P(S | one end) ≤ e^ε·P(S | the other) + δ of each record, and of their mean, whatever the rows of one release have to do
//! with each other: the mean over all canaries is one bet a release, and varies far less than one canary (as in Steinke, Nasr and Jagielski
//! 2023, of whose bound for dependent guesses nothing is needed here).

use crate::betting::{Aim, Bets};
use crate::event::Samples;
use crate::pairs::ends;
use crate::score::{Output, Score};
use crate::{Effort, Error, Result};
use rand::RngCore;
use scumble_core::{CentralDp, Claim, Designed, Neighbours, Randomness, Stream, Table};

/// Releases before anything is bet; then four times as many as before, on what was learned of those.
const FIRST: usize = 8;
const GROWTH: usize = 4;
/// Outputs of a side that a release pays for in an audit.
const OUTPUTS_A_RELEASE: usize = 100;

/// What canaries show.
pub(crate) struct Canaries {
    /// The lower bound on ε.
    pub(crate) bound: f64,
    /// A sentence where the claim is refuted.
    pub(crate) broken: Option<String>,
}

/// Attacks the claim `dp` by releases in which each record of `table` is a canary; none where rows are not those of records, or neighbours
/// do not differ by replacement.
pub(crate) fn attack(
    mechanism: &Designed,
    table: &Table,
    (claim, dp): (&Claim, &CentralDp),
    effort: Effort,
) -> Result<Option<Canaries>> {
    if !mechanism.releases().is_aligned() || dp.neighbours != Neighbours::ReplaceOne || table.is_empty() {
        return Ok(None);
    }
    let mut coins = Randomness::seeded(effort.seed).streams().stream(1 << 32);
    let game = Game { mechanism, table, ends: |row: &[f64]| ends(mechanism, claim.protects, row) };
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
                    let happened = rows.iter().filter(|row| event.happens(by_score.of(row))).count();
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
            "at least ε = {bound:.4} is spent. Of {} records each of which is a table with the one end of the domain from one with the other, an \
             adversary tells which by {by} of the row that it became, in {releases} releases",
            table.len()
        )
    });
    Ok(Some(Canaries { bound, broken }))
}

/// Releases of a table all of whose records are canaries.
struct Game<'a, Ends> {
    mechanism: &'a Designed,
    table: &'a Table,
    /// What a record may be, of which this is one.
    ends: Ends,
}

impl<Ends: Fn(&[f64]) -> [Vec<f64>; 2]> Game<'_, Ends> {
    /// The rows of records that were the one end, and the other; none where rows are not those of records.
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
            let of_side = if side == 0 { &mut rows.one } else { &mut rows.other };
            of_side.push(Some(row.to_vec()));
        }
        Ok(Some(rows))
    }
}
