//! Recommended mechanism at each budget, and its cost in accuracy.

use super::evidence::{LEVEL, largest_significant, most};
use super::{Knows, Outcome, Row, Scores, Trust};
use scumble_core::{Notion, Unit};
use std::fmt;

/// Goal of a recommendation: the unit of privacy (protected part of a record), and the trust model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// Protected part of a record.
    pub protects: Unit,
    /// Trust model.
    pub trust: Trust,
}

/// Text for people.
impl fmt::Display for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protects, trust } = self;
        match protects {
            Unit::Label => write!(formatter, "the label (features in the clear), trusting {trust}"),
            _ => write!(formatter, "{protects}, trusting {trust}"),
        }
    }
}

impl Goal {
    /// Goal of a row with differential privacy; `None` for any other row.
    pub fn from_row(row: &Row) -> Option<Self> {
        let protects = row.guarantee.protects(Notion::is_dp)?;
        Some(Self { protects, trust: row.trust })
    }
}

/// Recommended mechanism at one budget, among all mechanisms with the same [`Goal`].
#[derive(Debug, Clone)]
pub struct Choice<'a> {
    /// Unit of privacy, and trust model.
    pub goal: Goal,
    /// Budget ε.
    pub epsilon: f64,
    /// Title and row of the best mean score among the mechanisms with evidence that they are
    /// [better](Scores::is_better) than predictions without a release; `None` without such a mechanism.
    pub best: Option<(&'a str, &'a Row)>,
    /// Title and row of the best mean score among all mechanisms, with or without evidence.
    pub highest: (&'a str, &'a Row),
    /// Loss of score of the best mechanism compared with a model of all training records in the clear, in the
    /// metric's unit.
    pub cost: Option<f64>,
    /// Upper bound on the true gains of all mechanisms of the goal and budget over predictions without a
    /// release, with a probability of 95 %, in the metric's unit. Below zero, none of them is better. It is
    /// `None` for a single trial.
    pub at_most: Option<f64>,
}

impl Scores<'_> {
    /// Returns true if there is evidence that `row` is better than predictions without a release. The
    /// significance level is 1 % for all rows of the same [`Goal`] and finite budget together (Holm), so rows
    /// at other budgets make no difference.
    pub fn is_better(&self, row: &Row) -> bool {
        let is_tried = |other: &&Row| {
            let is_finite = other.epsilon.is_some_and(f64::is_finite);
            is_finite && other.epsilon == row.epsilon && Goal::from_row(other) == Goal::from_row(row)
        };
        let rows = self.series.iter().flat_map(|series| series.rows).filter(is_tried);
        let p_values = rows.filter_map(|row| row.against).map(|against| against.p_value).collect();
        let significant = largest_significant(p_values, LEVEL);
        Goal::from_row(row).is_some()
            && row.against.zip(significant).is_some_and(|(against, largest)| against.p_value <= largest)
    }
}

impl Outcome {
    /// Recommendations for each protected unit, trust model and finite budget.
    pub fn choices<'a>(&self, scores: &'a Scores) -> Vec<Choice<'a>> {
        let metric = scores.metric;
        let rows = || {
            scores.series.iter().flat_map(|series| series.rows.iter().map(move |row| (&*series.title, row)))
        };
        let mut epsilons: Vec<f64> = vec![];
        for epsilon in rows().filter_map(|(_, row)| row.epsilon).filter(|epsilon| epsilon.is_finite()) {
            if !epsilons.contains(&epsilon) {
                epsilons.push(epsilon);
            }
        }
        let clean = self
            .references(scores)
            .find(|reference| reference.knows == Knows::Clean)
            .map(|reference| reference.mean);
        let choice = |goal: Goal, epsilon: f64| {
            let apt =
                |(_, row): &(&str, &Row)| row.epsilon == Some(epsilon) && Goal::from_row(row) == Some(goal);
            let mut apt: Vec<(&str, &Row)> = rows().filter(apt).collect();
            apt.sort_by(|(_, a), (_, b)| metric.best_first(a.mean, b.mean));
            let best = apt.iter().copied().find(|(_, row)| scores.is_better(row));
            let cost = best.zip(clean).map(|((_, row), clean)| match metric.less_is_better() {
                true => row.mean - clean,
                false => clean - row.mean,
            });
            let tested = apt.iter().filter_map(|(_, row)| row.against);
            let estimates = tested.map(|against| [against.gain, against.standard_error, against.degrees]);
            let at_most = most(&estimates.collect::<Vec<_>>());
            Some(Choice { goal, epsilon, best, highest: *apt.first()?, cost, at_most })
        };
        let goal_choices = |goal: Goal| epsilons.iter().filter_map(move |&epsilon| choice(goal, epsilon));
        let goals = [Unit::Record, Unit::Features, Unit::Label]
            .into_iter()
            .flat_map(|protects| Trust::ALL.map(|trust| Goal { protects, trust }));
        goals.flat_map(goal_choices).collect()
    }
}
