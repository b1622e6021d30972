//! Choice of parameters among several values, on volunteers or by private validation. An *option* is one
//! combination of these values.
//!
//! In private validation, people whose records are not released answer by randomised response whether a model
//! is right about them. Test records are never used for a choice.

use super::tuned::Tunable;
use super::{Candidate, Comparison, Error, Model, Outcome, Result, Scorer, Splitting, in_words};
use crate::validation::{Asking, GridSearch};
use rayon::prelude::*;
use scumble_core::compose::{Partition, in_parallel};
use scumble_core::{Guarantee, Randomness, ShapedBy, Unit, Volunteers};
use scumble_custody::PrivateAnswer;
use scumble_datasets::DataSet;

/// Number of trials of each option on volunteers' records.
const REHEARSALS: usize = 5;

/// Share of the volunteers that are test records for the scores of options.
const TEST_SHARE: f64 = 1.0 / 3.0;

/// Share of the volunteers' records, without the test records, that designs learn from. The other records are
/// released.
const SHAPING_SHARE: f64 = 0.5;

/// Coverage probability of the confidence intervals that private validation computes for accuracies. The
/// choice of an option does not depend on this probability.
const LEVEL: f64 = 0.95;

/// Text for people about a choice of parameters at one or more budgets.
#[derive(Debug, PartialEq)]
pub struct Tuning {
    /// Mechanism, or model on a mechanism, whose parameters were chosen.
    pub whose: String,
    /// Budgets of the choice.
    pub at: String,
    /// Chosen parameters, and the records of the choice.
    pub what: String,
}

impl Outcome {
    /// Every choice, listed once for all budgets with the same result.
    pub fn tunings(&self) -> Vec<Tuning> {
        let mut found: Vec<Tuning> = vec![];
        for scores in self.scores() {
            let rows =
                scores.series.iter().flat_map(|series| series.rows.iter().map(move |row| (series, row)));
            let all = rows.flat_map(|(series, row)| row.tuned.iter().map(move |tuned| (series, row, tuned)));
            for (series, row, tuned) in all {
                let whose = match (tuned.what, scores.scorer) {
                    (Tunable::Model, Scorer::Model(model)) => format!("{} on {}", model.name(), series.title),
                    _ => series.title.clone(),
                };
                let (what, at) = (tuned.to_string(), row.epsilon.map_or("any".into(), in_words));
                match found.iter_mut().find(|other| other.whose == whose && other.what == what) {
                    Some(other) if other.at.split(", ").any(|before| before == at) => {}
                    Some(other) => other.at += &format!(", {at}"),
                    None => found.push(Tuning { whose, at, what }),
                }
            }
        }
        found
    }
}

/// Volunteers' records as a separate data set, on which options are compared with the settings of the
/// comparison.
pub(super) struct Rehearsal<'a> {
    comparison: &'a Comparison,
    data: DataSet,
}

impl<'a> Rehearsal<'a> {
    /// Creates the data set. Returns `None` without volunteers who have labels.
    pub(super) fn new(comparison: &'a Comparison, volunteers: &Volunteers) -> Option<Self> {
        let (Volunteers::Public(table) | Volunteers::Consented(table) | Volunteers::Private(table)) =
            volunteers
        else {
            return None;
        };
        if comparison.splitting.unlabelled {
            return None;
        }
        let name = format!("{} volunteers of {}", table.len(), comparison.data.name);
        Some(Self { comparison, data: comparison.data.with_table(name, table.clone()) })
    }

    /// Index of the option with the best mean by the first metric of predictions; the first one among equals.
    /// An option is a mechanism at the budget `epsilon`, with a model that learns from its releases.
    ///
    /// # Errors
    /// [`Error::Data`] if an option fails, with the name of its mechanism and the cause.
    pub(super) fn best(&self, options: &[(Candidate, Model)], epsilon: f64) -> Result<usize> {
        let metric = self.comparison.metrics.iter().copied().find(|metric| metric.is_of_model());
        let means: Vec<f64> = options
            .par_iter()
            .map(|(candidate, model)| {
                let rehearsal = Comparison {
                    data: self.data.clone(),
                    task: self.comparison.task.clone(),
                    candidates: vec![candidate.clone()],
                    epsilons: vec![epsilon],
                    delta: self.comparison.delta,
                    trials: REHEARSALS,
                    splitting: Splitting {
                        volunteers: SHAPING_SHARE,
                        balance: self.comparison.splitting.balance,
                        ..Splitting::random(TEST_SHARE)
                    },
                    models: vec![model.clone()],
                    metrics: metric.into_iter().collect(),
                    adversary: self.comparison.adversary,
                    protect: self.comparison.protect,
                    label_share: self.comparison.label_share,
                    shuffler: false,
                    release_alone: true,
                    seed: self.comparison.seed,
                };
                let rows = rehearsal.rehearse().map_err(|error| {
                    Error::Data(format!("{}, tuned on volunteers: {error}", candidate.plugin.name))
                })?;
                Ok(rows.first().map_or(f64::NAN, |row| row.mean))
            })
            .collect::<Result<_>>()?;
        let better = |best: usize, at: usize| match metric {
            Some(metric) if metric.best_first(means[at], means[best]).is_lt() => at,
            _ => best,
        };
        Ok((1..means.len()).fold(0, better))
    }
}

/// Asks each person about one option at `epsilon`, which is infinite for answers in the clear. Returns the
/// index of the best option by the answers.
///
/// `right[k][i]` is true if option k is right about person i.
///
/// # Errors
/// [`Error::Core`] if there are fewer people than options.
pub(super) fn ask(right: &[Vec<bool>], epsilon: f64, seed: u64) -> Result<usize> {
    let people = right.first().map_or(0, Vec::len);
    let options = right.iter().map(|right| {
        crate::validation::Candidate::new("", |people: &[usize]| {
            Ok::<_, Error>(people.iter().map(|&at| right[at]).collect())
        })
    });
    let search = GridSearch { people, asking: Asking::EachAboutOne, epsilon, level: LEVEL };
    Ok(search.rehearse(options.collect(), &mut Randomness::seeded(seed))?.chosen)
}

/// Guarantee of a release whose mechanism's parameters were chosen on volunteers' records. It has no claims
/// for the volunteers.
pub(super) fn chosen_by_volunteers(mut release: Guarantee) -> Guarantee {
    release.claims.retain(|claim| claim.protects != Unit::Volunteer);
    release.shaped_by = ShapedBy::ConsentingVolunteers;
    release
}

/// Guarantee for every person: the records of some people were released with the guarantee `release`, and
/// other people answered at `epsilon` in private validation.
///
/// # Errors
/// [`Error::Core`] for an invalid ε.
pub(super) fn with_asked(release: &Guarantee, epsilon: f64) -> Result<Guarantee> {
    let answer = PrivateAnswer::new(epsilon)?.guarantee();
    Ok(in_parallel(&[release.clone(), answer], Partition::FixedInAdvance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_right_more_often_is_chosen_as_far_as_the_answers_tell() {
        // Three options that are right about 50, 90 and 70 of a hundred people.
        let right = [50, 90, 70].map(|share| (0..3000).map(|at| at / 3 % 100 < share).collect());
        for epsilon in [1.0, f64::INFINITY] {
            assert_eq!(ask(&right, epsilon, 7).unwrap(), 1);
        }
        // With nearly random answers, the choice is random.
        let chosen: Vec<usize> = (0..30).map(|seed| ask(&right, 1e-3, seed).unwrap()).collect();
        assert!((0..3).all(|place| chosen.contains(&place)), "{chosen:?}");
        let shortened = right.map(|right: Vec<bool>| right[..2].to_vec());
        assert!(ask(&shortened, 1.0, 1).unwrap_err().to_string().contains("3 validation people"));
    }
}
