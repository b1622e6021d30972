//! A curator's marginals in the place of noise: records that are drawn from noisy counts of all, label included.

use super::data::Data;
use super::guesses::Known;
use super::sweep::{AtLambda, Better, Measure};
use crate::report::four;
use crate::trials::Mean;
use crate::{Agreement, Finding, Result, RunOptions};
use rayon::prelude::*;
use scumble_core::{Brief, Budget, Table};
use serde_json::Value;

const PLUGIN: &str = "noisy-marginals";
const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;

/// So many releases at most.
const TRIALS: usize = 10;

/// Noise beside which a guess by each column's mean and spread still errs by so large a share of what it errs without a release.
const HIDDEN: f64 = 0.5;

/// What is learned from a curator's records, beside what is learned through the paper's Gaussian noise of the largest λ that leaves half of a record hidden, where
/// there is any.
pub(super) fn beside(
    options: &RunOptions,
    name: &str,
    data: &Data,
    sweep: &[AtLambda],
    measure: &Measure,
    score: impl Fn(&Table) -> Result<f64> + Sync,
) -> Result<Option<Finding>> {
    let known = Known::of(data.table.records());
    let hides = |at: &&AtLambda| known.hidden(1.0 / at.lambda.sqrt()) >= HIDDEN;
    let Some(papers) = sweep.iter().rfind(hides) else { return Ok(None) };
    let brief = Brief {
        people: Some(data.table.len()),
        ..Brief::new(data.domain.clone(), Budget::new(EPSILON, DELTA)?)
    };
    let design = options.registry.get(PLUGIN)?.design(&Value::Null, &brief)?;
    let scores: Vec<f64> = (0..options.trials().min(TRIALS) as u64)
        .into_par_iter()
        .map(|trial| {
            let mut randomness = options.randomness(name, &[u64::MAX, trial]);
            score(&design.mechanism().release(&data.table, &mut randomness)?.table)
        })
        .collect::<Result<_>>()?;
    let [ours, of_paper] = [&scores, &papers.scores[0]].map(|scores| Mean::of(scores));
    let gain = match measure.better {
        Better::More => ours.value - of_paper.value,
        Better::Less => of_paper.value - ours.value,
    };
    let error = ours.error.hypot(of_paper.error);
    let shown =
        |mean: Mean| format!("{} ± {}", four(measure.scale * mean.value), four(measure.scale * mean.error));
    Ok(Some(Finding {
        what: format!(
            "{}: records drawn from a curator's marginals ({PLUGIN} at ε = {EPSILON}), ours",
            measure.name
        ),
        paper: format!("{} through Gaussian noise of λ = {:e}", shown(of_paper), papers.lambda),
        ours: shown(ours),
        value: Some(measure.scale * ours.value),
        verdict: match gain {
            gain if gain > 3.0 * error => Agreement::Better,
            gain if gain < -3.0 * error => Agreement::Differs,
            _ => Agreement::Reproduced,
        },
        why: format!(
            "± a standard error, of {} releases; at that λ, the largest of its kind, a guess by each column's mean and spread still errs by half of what it errs without a release, and the label is \
             in the clear; of the curator's records, whose label is hidden too, it errs by all of it, but for what an ε of {EPSILON} tells",
            scores.len()
        ),
    }))
}
