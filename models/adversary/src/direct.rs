//! Attacks that need help from the attacked mechanism: tests that distinguish two members of an ambiguity
//! set, and counts of successful attempts to recover a record. All members of an *ambiguity set* give the
//! same distribution of outputs.

use crate::attack::{Attack, all_reached, by_side};
use crate::claimed::Claimed;
use crate::finding::{Finding, Measure, Verdict};
use crate::score::Output;
use crate::{Effort, Result};
use ndarray::{Array1, Array2};
use rand::RngCore;
use scumble_accounting::binomial::at_least;
use scumble_core::{
    Claim, Designed, Notion, PacResistance, Randomness, RecordDomain, Stream, Table, Target, Unit,
};

/// Tests that two inputs have the same distribution of outputs, like two members of an ambiguity set, or any
/// two inputs under perfect secrecy.
///
/// `draw` releases input 0 or 1. `claim` describes the claim.
///
/// It is a two-sample test, which ends when the inputs are distinguished. Events are learned and chosen on
/// the outputs so far, and bet on with the next outputs. A quick audit detects a difference of 2 % in the
/// probability of some event, if it finds the event.
pub fn same_distribution(
    name: &str,
    claim: &str,
    mut draw: impl FnMut(usize, &mut Stream) -> Output + Send,
    effort: Effort,
) -> Finding {
    let streams = Randomness::seeded(effort.seed).streams();
    let mut sides = [0, 1].map(|side| streams.stream(side));
    let claimed = Claimed::alike();
    let alarm = effort.false_alarm / claimed.bounds() as f64;
    let draw = by_side(|side| draw(side, &mut sides[side]));
    let mut attack = Attack::new("one member from the other".into(), &claimed, draw, vec![]);
    attack.advance(&claimed, effort.samples, alarm);
    let (reached, samples) = all_reached([&attack].into_iter(), alarm);
    claimed.judge(Finding::about(name, claim, effort), samples, alarm, &reached)
}

/// Attacks a claim that certain tables have the same distribution of releases. The attack uses a pair of
/// tables that the mechanism names. For a claim of secrecy, it uses a few rows and the same rows with all
/// protected values at an end of the domain.
pub(crate) fn members(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    claim: &Claim,
    effort: Effort,
) -> Result<Finding> {
    const ROWS: usize = 4;
    let few = table.select(&(0..table.len().min(ROWS)).collect::<Vec<_>>())?;
    let pair = match &claim.notion {
        Notion::PerfectSecrecy(_) => {
            let domain = mechanism.domain();
            let end = Array1::from(domain.features().l2_farthest()[0].clone());
            let all = Table::new(few.columns().to_vec(), few.records() * 0.0 + &end, few.target().clone())?;
            let target = match claim.protects {
                Unit::Record => at_an_end(domain, few.len())?,
                _ => few.target().clone(),
            };
            Some([few.clone(), all.with_target(target)?])
        }
        _ => mechanism.evidence().alike.and_then(|alike| alike(claim, &few)),
    };
    let Some(pair) = pair else {
        let why = "it offers no two tables whose releases must have the same distribution";
        return Ok(Finding::about(name, claim, effort).unattacked(Verdict::NotAttacked, why));
    };
    let draw = |side: usize, stream: &mut Stream| {
        let released = mechanism.release(&pair[side], &mut Randomness::seeded(stream.next_u64()));
        released.ok().map(|release| flattened(&release.table))
    };
    let effort = Effort { samples: (effort.samples / 40).max(1000), ..effort };
    Ok(same_distribution(name, &claim.to_string(), draw, effort))
}

/// Targets of `records` records at an end of the domain.
fn at_an_end(domain: &RecordDomain, records: usize) -> Result<Target> {
    let end = Array1::from(domain.flat().l2_farthest()[1].clone());
    let all = Array2::zeros((records, end.len())) + &end;
    Ok(domain.layout().table(all.view())?.target().clone())
}

/// All numbers of a table, in one vector.
pub(crate) fn flattened(table: &Table) -> Vec<f64> {
    let mut flat: Vec<f64> = table.records().iter().copied().collect();
    match table.target() {
        Target::None => {}
        Target::Class(classes) => flat.extend(classes.iter().map(|class| *class as f64)),
        Target::Real(values) => flat.extend(values),
        Target::Vector(values) => flat.extend(values),
    }
    flat
}

/// Tests that an attack succeeds at most as often as `pac` claims. The verdict is inconclusive if success in
/// all `attempts` would not refute the claim.
///
/// `attempt` makes a release and attacks it. It returns the ℓ₂ distance between the recovered and the true
/// record.
///
/// # Errors
/// Same errors as `attempt`.
pub fn recovery(
    name: &str,
    pac: &PacResistance,
    attempts: usize,
    mut attempt: impl FnMut(&mut Stream) -> Result<f64>,
    effort: Effort,
) -> Result<Finding> {
    let mut stream = Randomness::seeded(effort.seed).streams().stream(0);
    let mut recovered = 0;
    for _ in 0..attempts {
        recovered += usize::from(attempt(&mut stream)? <= pac.error);
    }
    let lower_bound = at_least(recovered, attempts, effort.false_alarm);
    // If more samples are released than the budget, there is no claim to refute.
    let (claimed, verdict) = match 1.0 - pac.confidence_gap {
        _ if pac.spent > pac.budget => (1.0, Verdict::NothingClaimed),
        most if lower_bound >= most => (most, Verdict::Broken),
        most if at_least(attempts, attempts, effort.false_alarm) < most => (most, Verdict::Inconclusive),
        most => (most, Verdict::Holds),
    };
    Ok(Finding {
        measure: Measure::Success,
        claimed: Some(claimed),
        lower_bound: Some(lower_bound),
        pairs: 1,
        samples: attempts,
        verdict,
        because: format!("{recovered} of {attempts} attempts came within {} of the record", pac.error),
        ..Finding::about(name, Notion::PacResistance(*pac), effort)
    })
}
