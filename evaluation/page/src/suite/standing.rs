//! The standing of mechanisms over all tasks. It consists of the median worth and of the number of tasks in
//! which the mechanism is better than predictions without a release. The worth is the number of clean records
//! from which a model learns as much as from the release.

use super::results::{Finished, Results};
use scumble_comparison::{Goal, Row, Scores, Trust};
use scumble_core::Unit;
use std::collections::BTreeMap;

/// Results of a mechanism for one goal (a unit of privacy and a trust model), over all tasks in which models
/// learn only from releases.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) mechanism: String,
    /// The results at each budget, in the order of the budgets.
    pub(super) at: Vec<At>,
}

/// The result of a mechanism at a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct At {
    pub(super) epsilon: f64,
    /// Number of tasks with a score of the mechanism.
    pub(super) tasks: usize,
    /// Number of tasks with evidence that the mechanism is better than predictions without a release.
    pub(super) better: usize,
    /// The median worth, as a share of the released records.
    pub(super) worth: f64,
}

impl Standing {
    /// Returns true if the mechanism is better than predictions without a release at some budget, or its
    /// median worth does not round to zero.
    pub(super) fn is_worth_something(&self) -> bool {
        self.at.iter().any(|at| at.better > 0 || at.worth >= 0.0005)
    }
}

impl Finished {
    /// The scores of the first model by the first metric. Recommendations depend only on these scores.
    pub(super) fn scores(&self) -> Option<Scores<'_>> {
        self.outcome.scores().into_iter().next()
    }

    /// Time of all releases and of the models in `scores`, added up over trials, in seconds.
    pub(super) fn seconds(&self, scores: &Scores) -> f64 {
        scores.series.iter().flat_map(|series| series.rows).map(|row| row.seconds).sum()
    }

    /// Returns true if the task's models learn from volunteers' records with labels in addition to the
    /// release.
    pub(super) fn adds(&self) -> bool {
        let release_alone = self.json["settings"]["release_alone"] == true;
        self.outcome.volunteers > 0 && self.has_labels && !release_alone
    }
}

impl Results {
    /// The budgets of the tasks, ascending.
    pub(super) fn epsilons(&self) -> Vec<f64> {
        let rows = self.finished.iter().flat_map(|finished| &finished.outcome.rows);
        let mut all: Vec<f64> =
            rows.filter_map(|row| row.epsilon).filter(|epsilon| epsilon.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The units of privacy and trust models of all mechanisms, the most protective first.
    pub(super) fn goals(&self) -> Vec<Goal> {
        let units = [Unit::Record, Unit::Features, Unit::Label];
        let all = units.into_iter().flat_map(|protects| Trust::ALL.map(|trust| Goal { protects, trust }));
        let mut rows = self
            .finished
            .iter()
            .flat_map(|finished| &finished.outcome.rows)
            .map(Goal::from_row)
            .collect::<Vec<_>>();
        rows.dedup();
        all.filter(|goal| rows.contains(&Some(*goal))).collect()
    }

    /// The standings of all mechanisms for `goal`, the best at the middle budget first.
    pub(super) fn standings(&self, goal: Goal) -> Vec<Standing> {
        let epsilons = self.epsilons();
        let mut found: BTreeMap<&str, Vec<Vec<(f64, bool)>>> = BTreeMap::new();
        for finished in self.finished.iter().filter(|finished| !finished.adds()) {
            let Some(scores) = finished.scores() else { continue };
            let released = finished.outcome.train_records as f64;
            let rows = scores.series.iter().flat_map(|series| series.rows);
            for row in rows.filter(|row: &&Row| Goal::from_row(row) == Some(goal)) {
                let place =
                    row.epsilon.and_then(|epsilon| epsilons.iter().position(|other| *other == epsilon));
                let (Some(place), Some(worth)) = (place, row.worth) else { continue };
                let worths = found.entry(&row.mechanism).or_insert_with(|| vec![vec![]; epsilons.len()]);
                worths[place].push((worth.records / released, scores.is_better(row)));
            }
        }
        let at = |epsilon: f64, entries: Vec<(f64, bool)>| At {
            epsilon,
            tasks: entries.len(),
            better: entries.iter().filter(|(_, is_better)| *is_better).count(),
            worth: median(entries.into_iter().map(|(worth, _)| worth).collect()),
        };
        let standing = |(mechanism, entries): (&str, Vec<Vec<(f64, bool)>>)| Standing {
            mechanism: mechanism.into(),
            at: epsilons.iter().zip(entries).map(|(epsilon, entries)| at(*epsilon, entries)).collect(),
        };
        let mut standings: Vec<Standing> = found.into_iter().map(standing).collect();
        let middle = epsilons.len() / 2;
        let key = |standing: &Standing| standing.at.get(middle).map_or((0, 0.0), |at| (at.better, at.worth));
        standings.sort_by(|a, b| {
            let [(better, worth), (other, others)] = [b, a].map(key);
            better.cmp(&other).then(worth.total_cmp(&others))
        });
        standings
    }
}

/// The median, or NaN if `values` is empty.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => 0.5 * (values[count / 2 - 1] + values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }
}
