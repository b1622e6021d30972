//! Attacks on central differential privacy: by releases of neighbouring tables, and by a canary in a
//! training. A *canary* is a record that the audit inserts. The attacked training discloses every noisy sum
//! of gradients.

use crate::attack::{Attack, HEAT, all_reached, by_side, keep_best};
use crate::canaries::{self, Canaries};
use crate::claimed::Claimed;
use crate::direct::flattened;
use crate::event::Samples;
use crate::finding::{Finding, Verdict};
use crate::pairs::ends;
use crate::score::{Output, Score};
use crate::statistics;
use crate::{Effort, Error, Result};
use rand::RngCore;
use rayon::prelude::*;
use scumble_accounting::{Neighbours, Run, loss};
use scumble_core::{CentralDp, Claim, Designed, LocalDp, Notion, Randomness, Table, Unit};
use std::sync::{Mutex, PoisonError};

/// Role of a canary in a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canary {
    /// The canary is not among the records.
    Absent,
    /// The canary is among the records. Its gradient is along one coordinate, in which the gradients of all
    /// other records are zero.
    Present,
    /// The canary is among the records, with the opposite gradient of [`Canary::Present`].
    Opposite,
}

impl Canary {
    /// Gradient of the canary in its coordinate before clipping, in units of the clipping norm. It is 10 or
    /// −10 if the canary is present, so that the training must clip it to norm 1. The audit detects a
    /// training that does not clip.
    pub fn gradient(self) -> f64 {
        10.0 * self.clipped()
    }

    /// Gradient of the canary in its coordinate after clipping, in units of the clipping norm.
    fn clipped(self) -> f64 {
        match self {
            Self::Absent => 0.0,
            Self::Present => 1.0,
            Self::Opposite => -1.0,
        }
    }
}

/// White-box attack on the claim `dp` of a training with the steps `run` (their number, sampling rate and
/// noise).
///
/// `sums` trains with the given canary and seed. It returns the canary's coordinate of every noisy sum of
/// gradients, in units of the clipping norm.
///
/// Samples show little of the claimed (ε, δ) if δ is small. The attack therefore also covers points of the
/// privacy profile that the accountant ([`scumble_accounting::loss`]) gives for `run`. If the claimed ε is
/// below the accountant's lower bound on the ε of `run`, the claim is broken without any sample.
///
/// # Errors
/// An error if the accountant does not support `run`, or if `sums` fails.
pub fn canary(
    name: &str,
    run: Run,
    dp: &CentralDp,
    sums: impl Fn(Canary, u64) -> Result<Vec<f64>> + Sync,
    effort: Effort,
) -> Result<Finding> {
    let accountant = |problem: scumble_accounting::Error| Error::not_applicable(name, problem.to_string());
    let point = |delta: f64| Ok((loss::epsilon(&[run], delta, dp.neighbours)?.upper, delta));
    let points = [0.3, 0.1, 0.03, 0.01].into_iter().map(point).collect::<scumble_accounting::Result<_>>();
    let claimed =
        Claimed { epsilon: dp.epsilon, delta: dp.delta, points: points.map_err(accountant)?, mu: None };
    let inputs = match dp.neighbours {
        Neighbours::AddOrRemoveOne => [Canary::Absent, Canary::Present],
        Neighbours::ReplaceOne => [Canary::Opposite, Canary::Present],
    };
    let samples = (effort.samples / 10).max(1000);
    let streams = Randomness::seeded(effort.seed).streams();
    let mut seeds = [0, 1].map(|side| streams.stream(side));
    let failed = Mutex::new(None);
    let draw = |count: usize| {
        let mut side = |side: usize| -> Vec<Output> {
            let seeds: Vec<u64> = (0..count).map(|_| seeds[side].next_u64()).collect();
            let trained = seeds.into_par_iter().map(|seed| Ok(Some(sums(inputs[side], seed)?)));
            trained.collect::<Result<_>>().unwrap_or_else(|problem| {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
                vec![]
            })
        };
        Samples { one: side(0), other: side(1) }
    };
    let stated = Score::new("the likelihood of all noisy sums", |sums| {
        sums.iter().map(|sum| log_ratio(run, inputs[1], *sum) - log_ratio(run, inputs[0], *sum)).sum()
    });
    let alarm = effort.false_alarm / claimed.bounds() as f64;
    let what = "a training with the canary from a training without it".to_owned();
    let mut attack = Attack::new(what, &claimed, draw, vec![stated]);
    attack.advance(&claimed, samples, alarm);
    let (reached, samples) = all_reached([&attack].into_iter(), alarm);
    drop(attack);
    if let Some(problem) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(problem);
    }
    let claim = Notion::CentralDp(dp.clone());
    let finding = claimed.judge(Finding::about(name, claim, effort), samples, alarm, &reached);
    let proven = loss::epsilon(&[run], dp.delta, dp.neighbours).map_err(accountant)?.lower;
    if proven > dp.epsilon {
        return Ok(Finding {
            verdict: Verdict::Broken,
            lower_bound: Some(proven),
            because: format!(
                "such steps spend at least ε = {proven:.4} for {} by the accountant",
                dp.neighbours
            ),
            ..finding
        });
    }
    Ok(finding)
}

/// Logarithm of the ratio of two densities at the noisy sum `sum`: with the canary, and without it.
fn log_ratio(run: Run, canary: Canary, sum: f64) -> f64 {
    let (q, variance, c) = (run.sampling_rate(), run.noise_multiplier().powi(2), canary.clipped());
    let taken = q.ln() + (2.0 * c * sum - c * c) / (2.0 * variance);
    let left = (1.0 - q).ln();
    // The larger term first avoids overflow.
    taken.max(left) + (taken.min(left) - taken.max(left)).exp().ln_1p()
}

/// Attacks the claim `dp`, which protects records or their features. One attack puts many canaries into one
/// release. The other compares complete releases of a few rows of `table` with those of a neighbouring table.
/// With a distance `within`, the claim is only about values of a record at this distance.
pub(crate) fn tables(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    (claim, dp): (&Claim, &CentralDp),
    within: Option<f64>,
    effort: Effort,
) -> Result<Finding> {
    let half = Effort { false_alarm: effort.false_alarm / 2.0, ..effort };
    let about = Finding::about(name, claim, effort);
    let canary_finding = canaries::attack(mechanism, table, (claim, dp), within, half)?;
    if let Some(Canaries { broken: Some(why), bound }) = canary_finding {
        let (claimed, lower_bound) = (Some(dp.epsilon), Some(bound));
        return Ok(Finding { claimed, lower_bound, verdict: Verdict::Broken, because: why, ..about });
    }
    let claimed = Claimed::by(&LocalDp::new(dp.epsilon, dp.delta));
    let pairs = neighbours(mechanism, table, (claim.protects, within), dp.neighbours)?;
    // A release may be made from noisy statistics. Most samples then attack the statistics; the rest attack
    // the releases, which may disclose more.
    let affordable =
        if mechanism.evidence().statistics.is_some() { effort.samples / 40 } else { effort.samples / 10 };
    let samples = affordable.max(1000);
    let kinds = 1 + usize::from(mechanism.evidence().statistics.is_some());
    let alarm = half.false_alarm / (kinds * pairs.len() * claimed.bounds()).max(1) as f64;
    let streams = Randomness::seeded(effort.seed).streams();
    let mut attacks: Vec<Attack> = vec![];
    for (number, (what, pair)) in pairs.iter().enumerate() {
        // Shorter releases are padded, and their length is appended.
        let first = |table: &Table| mechanism.release(table, &mut Randomness::seeded(effort.seed)).ok();
        let width = pair.iter().filter_map(first).map(|release| flattened(&release.table).len()).max();
        let width = width.unwrap_or(0);
        let mut seeds = [0, 1].map(|side| streams.stream((2 * number + side) as u64));
        let draw = move |side: usize| -> Output {
            let mut randomness = Randomness::seeded(seeds[side].next_u64());
            let mut values = flattened(&mechanism.release(&pair[side], &mut randomness).ok()?.table);
            let length = values.len() as f64;
            values.resize(width, 0.0);
            values.push(length);
            Some(values)
        };
        attacks.push(Attack::new(what.clone(), &claimed, by_side(draw), vec![]).up_to(samples));
        let seeds = [0, 1].map(|side| streams.stream((2 * (pairs.len() + number) + side) as u64));
        attacks.extend(statistics::attack(mechanism, (what, pair), &claimed, seeds, effort));
    }
    let advance = |attacks: &mut Vec<Attack>, to: usize| {
        attacks.par_iter_mut().for_each(|attack| attack.advance(&claimed, to, alarm));
    };
    advance(&mut attacks, HEAT);
    if !attacks.iter().any(Attack::is_broken) {
        keep_best(&mut attacks, &claimed, effort.pairs);
        advance(&mut attacks, usize::MAX);
    }
    let (reached, samples) = all_reached(attacks.iter(), alarm);
    let finding = claimed.judge(about, samples, alarm, &reached);
    let canary_bound = canary_finding.map_or(0.0, |canaries| canaries.bound);
    Ok(Finding { lower_bound: finding.lower_bound.map(|bound| bound.max(canary_bound)), ..finding })
}

/// Pairs of neighbouring tables, with their descriptions. Each table has a few rows of `table`. The two
/// tables of a pair differ in the first record: it is at opposite ends of the domain, or it is missing from
/// one table. With a distance `within`, it is at this distance. Only the values that `unit` protects are
/// moved to an end.
fn neighbours(
    mechanism: &Designed,
    table: &Table,
    (unit, within): (Unit, Option<f64>),
    relation: Neighbours,
) -> Result<Vec<(String, [Table; 2])>> {
    let layout = mechanism.domain().layout();
    let few = few_rows(mechanism, table)?;
    let rows: Vec<Vec<f64>> = (0..few).map(|row| layout.flatten(table, row)).collect();
    let with_first = |first: Option<&Vec<f64>>| -> Result<Table> {
        let all: Vec<&Vec<f64>> = first.into_iter().chain(rows.iter().skip(1)).collect();
        let flat = all.iter().flat_map(|row| row.iter().copied()).collect();
        let flat = ndarray::Array2::from_shape_vec((all.len(), layout.width()), flat);
        let table = layout.table(flat.map_err(|problem| Error::shape(problem.to_string()))?.view())?;
        match mechanism.records_per_person() {
            // A person with equal records changes a release most if a fault counts them for more than one.
            Some(most) if most > 1 => table.repeated(most),
            _ => Ok(table),
        }
    };
    let first = rows.first().cloned().unwrap_or_default();
    let ends = ends(mechanism, unit, &first, within);
    let ends = [("a record at one end of the domain", &ends[0]), ("a record at the other end", &ends[1])];
    Ok(match relation {
        Neighbours::AddOrRemoveOne => {
            let added = ends.into_iter().map(|(what, end)| {
                Ok((
                    format!("a table with {what} from the table without it"),
                    [with_first(None)?, with_first(Some(end))?],
                ))
            });
            added.collect::<Result<_>>()?
        }
        Neighbours::ReplaceOne => vec![(
            "a table with a record at one end of the domain from the table with this record at the other end"
                .into(),
            [with_first(Some(ends[0].1))?, with_first(Some(ends[1].1))?],
        )],
    })
}

/// Number of rows to release. It starts at four, because a record among few other rows is easiest to detect.
/// The number is doubled until the mechanism accepts the table.
fn few_rows(mechanism: &Designed, table: &Table) -> Result<usize> {
    let mut rows = table.len().min(4);
    while rows < table.len() {
        let first = table.select(&(0..rows).collect::<Vec<_>>())?;
        if mechanism.release(&first, &mut Randomness::seeded(0)).is_ok() {
            break;
        }
        rows = table.len().min(2 * rows);
    }
    Ok(rows)
}
