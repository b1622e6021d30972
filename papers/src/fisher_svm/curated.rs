//! A curator's marginals in place of noise on each record: records drawn from noisy counts of all records,
//! labels included.

use super::data::Data;
use super::guesses::Known;
use super::sweep::{AtLambda, Better, Measure};
use crate::accounting::gaussian;
use crate::report::four;
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Result, RunOptions};
use rayon::prelude::*;
use scumble_core::{Brief, Budget, Table};
use serde_json::json;

const PLUGIN: &str = "noisy-marginals";
const DELTA: f64 = 1e-6;

/// ε of a second release for comparison, a value that people often ask for.
const STRICT: f64 = 1.0;

/// Maximum number of releases at each ε.
const TRIALS: usize = 10;

/// Smallest permitted ratio of two squared errors of a guess by each column's mean and variance: its error
/// after a release with the paper's noise, divided by its error without a release.
const HIDDEN: f64 = 0.5;

/// μ of Gaussian differential privacy at which every estimate of a record has a large error: at least `share`
/// of the mean squared error of the best guess without a release. The adversary knows all other records. The
/// bound holds for every distribution of the record.
///
/// The estimate of least error has the error E Var(X | o) = ½ ∬ (x − y)² dπ(x) dπ(y) ∫ pₓ(o) pᵧ(o) / p(o) do.
/// Here π is the distribution of the record X. The output o has the density pₓ for the record x, and p is the
/// mean of pₓ over π. By the Cauchy–Schwarz inequality, the innermost integral is at least the square of the
/// affinity ∫ √(pₓ pᵧ), because p integrates to one. No two output distributions of a μ-GDP mechanism have a
/// smaller affinity than N(0, 1) and N(μ, 1), whose affinity is e^(−μ²/8). So at least the share e^(−μ²/4) of
/// the error remains.
fn mu_that_leaves(share: f64) -> f64 {
    2.0 * (1.0 / share).ln().sqrt()
}

/// Scores of models learned from a curator's records, and through the paper's noise.
struct Compared<'a> {
    /// The paper's noise.
    papers: &'a AtLambda,
    /// Share of the squared error without a release that a guess by means and variances keeps after the
    /// paper's release.
    share: f64,
    /// ε at which every guess keeps at least this share after the curator's release.
    epsilon: f64,
    /// Scores after the curator's releases at `epsilon`.
    scores: Vec<f64>,
    /// Scores after the curator's releases at [`STRICT`].
    strict: Vec<f64>,
}

/// Compares a model learned from a curator's records with a model learned through the paper's Gaussian noise.
///
/// The paper's noise has the largest λ of `sweep` (noise of variance 1/√λ) at which a guess by means and
/// variances keeps at least half of its squared error. Without such a λ the result is `None`. Let s be the
/// share of its error without a release that this guess keeps after the paper's release. The curator's budget
/// is set so that every guess keeps at least the share s of its error after the curator's release.
pub(super) fn curator_finding(
    options: &RunOptions,
    name: &str,
    data: &Data,
    sweep: &[AtLambda],
    measure: &Measure,
    score: impl Fn(&Table) -> Result<f64> + Sync,
) -> Result<Option<Finding>> {
    let known = Known::from_records(data.table.records());
    let hidden = |at: &AtLambda| known.hidden(1.0 / at.lambda.sqrt());
    let Some(papers) = sweep.iter().rfind(|at| hidden(at) >= HIDDEN) else { return Ok(None) };
    let share = hidden(papers);
    let epsilon = gaussian::epsilon(mu_that_leaves(share), DELTA)?;
    let scores = curator_scores(options, name, data, epsilon, &score)?;
    let strict = curator_scores(options, name, data, STRICT, &score)?;
    Ok(Some(Compared { papers, share, epsilon, scores, strict }.finding(measure)))
}

/// Scores of models learned from the releases of a curator at `epsilon`.
fn curator_scores(
    options: &RunOptions,
    name: &str,
    data: &Data,
    epsilon: f64,
    score: impl Fn(&Table) -> Result<f64> + Sync,
) -> Result<Vec<f64>> {
    let brief = Brief {
        people: Some(data.table.len()),
        ..Brief::new(data.domain.clone(), Budget::new(epsilon, DELTA)?)
    };
    // The bound of `mu_that_leaves` holds for data sets in which one record is replaced by another.
    let design = options.registry.get(PLUGIN)?.design(&json!({ "neighbours": "replace-one" }), &brief)?;
    let trials = (0..options.trials().min(TRIALS) as u64).into_par_iter();
    trials
        .map(|trial| {
            let mut randomness = options.randomness(name, &[u64::MAX, trial]);
            score(&design.mechanism().release(&data.table, &mut randomness)?.table)
        })
        .collect()
}

impl Compared<'_> {
    fn finding(&self, measure: &Measure) -> Finding {
        let Self { papers, share, epsilon, scores, strict } = self;
        let [ours, theirs, strict] =
            [scores, &papers.scores[0], strict].map(|scores| Mean::from_values(scores));
        let gain = match measure.better {
            Better::More => ours.value - theirs.value,
            Better::Less => theirs.value - ours.value,
        };
        let error = ours.error.hypot(theirs.error);
        let shown = |mean: Mean| {
            format!("{} ± {}", four(measure.scale * mean.value), four(measure.scale * mean.error))
        };
        Finding {
            what: format!(
                "{}: records drawn from a curator's marginals ({PLUGIN} at ε = {epsilon:.2}), ours",
                measure.name
            ),
            paper: format!("{} through Gaussian noise of λ = {:e}", shown(theirs), papers.lambda),
            ours: shown(ours),
            value: Some(measure.scale * ours.value),
            decision: rules::CLEAR_GAIN.on(gain / error),
            why: format!(
                "± a standard error, of {} releases; at ε = {STRICT} it is {}. This λ is the largest at \
                 which a guess by each column's mean and spread keeps at least half of its squared error. It \
                 keeps {:.0} % of its error without a release, in squares summed over columns in their own \
                 units. The paper's release has the label in the clear; the curator's release hides it. \
                 After the curator's release, no estimate by an adversary that knows all other records keeps \
                 a smaller share in any column. The reason: μ-GDP leaves e^(−μ²/4) of the variance (δ = \
                 {DELTA:e})",
                scores.len(),
                shown(strict),
                100.0 * share
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests `mu_that_leaves` on two equally likely values, released as N(0, 1) and N(μ, 1). The share of the
    /// variance that the posterior mean leaves is an integral in closed form. It equals 4 E[p(1 − p)] with
    /// p = 1/(1 + e^(−μz)), where z is the distance from the middle. The test sums it over a fine grid.
    #[test]
    fn no_guess_of_two_values_errs_by_less_than_what_is_left() {
        for share in [0.2, 0.5, 0.78, 0.95] {
            let mu = mu_that_leaves(share);
            let step = 1e-3;
            let left: f64 = (-12_000..=12_000)
                .map(|at| {
                    let z = f64::from(at) * step;
                    let density =
                        |mean: f64| (-(z - mean).powi(2) / 2.0).exp() / std::f64::consts::TAU.sqrt();
                    let [one, other] = [density(mu / 2.0), density(-mu / 2.0)];
                    2.0 * one * other / (one + other) * step
                })
                .sum();
            assert!(left >= share && left < share + 0.1, "{share}: {left}");
        }
    }
}
