//! Claims that are attacked by what only their mechanism can make: members of a set, or attempts at recovery.

use crate::claimed::Claimed;
use crate::event::Samples;
use crate::finding::{Finding, Measure, Verdict};
use crate::score::Output;
use crate::{Effort, Result};
use scumble_accounting::binomial::at_least;
use scumble_registry::{Notion, PacResistance, Randomness, Stream};

/// Whether two inputs have the same law of outputs, as two members of an ambiguity set have, or any two inputs under perfect
/// secrecy. `draw` releases the first input or the second; `claim` says in words what is promised of them.
///
/// It is a two-sample test: an event learned and chosen on half of the outputs is counted on the other half. In a quick audit a
/// difference of 2 % in the probability of some event is seen, if the event is found.
pub fn same_law(
    name: &str,
    claim: &str,
    mut draw: impl FnMut(usize, &mut Stream) -> Output,
    effort: Effort,
) -> Finding {
    let streams = Randomness::seeded(effort.seed).streams();
    let mut outputs = |side: usize| {
        let mut stream = streams.stream(side as u64);
        (0..effort.samples).map(|_| draw(side, &mut stream)).collect()
    };
    let samples = Samples::new(outputs(0), outputs(1));
    let claimed = Claimed::alike();
    let alarm = effort.false_alarm / claimed.bounds() as f64;
    let reached = claimed.attack(&samples, vec![], true, alarm);
    let about = Finding::about(name, claim, effort);
    claimed.judge(about, effort.samples, alarm, &[("the one member from the other".into(), reached)])
}

/// Whether an attack recovers a record more often than `pac` says. `attempt` releases, attacks, and gives the distance in ℓ₂ of what
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
    // Over budget there is no promise to break.
    let (claimed, verdict) = match 1.0 - pac.confidence_gap {
        _ if pac.spent > pac.budget => (1.0, Verdict::NothingClaimed),
        most if lower_bound >= most => (most, Verdict::Broken),
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
