//! Claims that are attacked by what only their mechanism can make: members of a set, or attempts at recovery.

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

/// Whether two inputs have the same distribution of outputs, as two members of an ambiguity set have, or any two inputs under perfect
/// secrecy. `draw` releases the first input or the second; `claim` says in words what is claimed of them.
///
/// It is a two-sample test, which ends when they are distinguished: events are learned and chosen on the outputs so far, and bet on with the
/// next. In a quick audit a difference of 2 % in the probability of some event is seen, if the event is found.
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
    let mut attack = Attack::new("the one member from the other".into(), &claimed, draw, vec![]);
    attack.advance(&claimed, effort.samples, alarm);
    let (reached, samples) = all_reached([&attack].into_iter(), alarm);
    claimed.judge(Finding::about(name, claim, effort), samples, alarm, &reached)
}

/// Attacks a claim that tables are released with one distribution: by a pair that the mechanism says is such, or, where it claims secrecy, by a few
/// rows and the same with all that is protected at an end of the domain.
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
        let why = "it offers no two tables that are to be released alike";
        return Ok(Finding::about(name, claim, effort).unattacked(Verdict::NotAttacked, why));
    };
    let draw = |side: usize, stream: &mut Stream| {
        let released = mechanism.release(&pair[side], &mut Randomness::seeded(stream.next_u64()));
        released.ok().map(|release| flattened(&release.table))
    };
    let effort = Effort { samples: (effort.samples / 40).max(1000), ..effort };
    Ok(same_distribution(name, &claim.to_string(), draw, effort))
}

/// The targets of so many records that lie at an end of the domain.
fn at_an_end(domain: &RecordDomain, records: usize) -> Result<Target> {
    let end = Array1::from(domain.flat().l2_farthest()[1].clone());
    let all = Array2::zeros((records, end.len())) + &end;
    Ok(domain.layout().table(all.view())?.target().clone())
}

/// All numbers of a table.
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

/// Whether an attack succeeds more often than `pac` says; inconclusive where success in all of so few attempts would not show it. `attempt` releases, attacks, and gives the distance in ℓ₂ of what
/// it recovers from the record.
///
/// # Errors
/// Those of `attempt`.
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
    // Over budget there is no claim to refute.
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
