//! Recommended mechanism at each budget, and its cost in accuracy.

use super::evidence::LEVEL;
use super::{Against, Knows, Outcome, Row, Scores, Trust};
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
        let by = match self.trust {
            Trust::Nobody => "",
            Trust::Shuffler => ", by a shuffler",
            Trust::Curator => ", by a trusted curator",
            Trust::Model => ", by a curator's model",
        };
        write!(formatter, "{}{by}", self.protects)
    }
}

impl Goal {
    /// Goal of a row with differential privacy; `None` for any other row.
    pub fn from_row(row: &Row) -> Option<Self> {
        let protects = row.guarantee.protects(Notion::is_dp)?;
        Some(Self { protects, trust: row.trust })
    }
}

/// Mechanism with the best mean score at one budget, among all mechanisms with the same [`Goal`].
#[derive(Debug, Clone)]
pub struct Choice<'a> {
    /// Unit of privacy, and trust model.
    pub goal: Goal,
    /// Budget ε.
    pub epsilon: f64,
    /// Title and row of the best mechanism. The value is `None` without evidence that this mechanism is
    /// [better](Scores::is_better) than predictions without a release.
    pub best: Option<(&'a str, &'a Row)>,
    /// Predictions without a release that the best mechanism was tested against, and the p-value of this
    /// test.
    pub tried: Option<Against>,
    /// Loss of score compared with a model of all training records in the clear, in the metric's unit.
    pub cost: Option<f64>,
}

impl Scores<'_> {
    /// Returns true if there is evidence that `row` is better than predictions without a release. The
    /// significance level is 1 % for all rows with differential privacy at a finite ε together (Bonferroni).
    pub fn is_better(&self, row: &Row) -> bool {
        let rows = self.series.iter().flat_map(|series| series.rows);
        let is_tried = |row: &&Row| row.epsilon.is_some_and(f64::is_finite) && Goal::from_row(row).is_some();
        let level = LEVEL / rows.filter(is_tried).count().max(1) as f64;
        row.against.is_some_and(|against| against.p_value <= level)
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
            let best = rows().filter(apt).min_by(|(_, a), (_, b)| metric.best_first(a.mean, b.mean))?;
            let tried = best.1.against;
            let best = scores.is_better(best.1).then_some(best);
            let cost = best.zip(clean).map(|((_, row), clean)| match metric.less_is_better() {
                true => row.mean - clean,
                false => clean - row.mean,
            });
            Some(Choice { goal, epsilon, best, tried, cost })
        };
        let goal_choices = |goal: Goal| epsilons.iter().filter_map(move |&epsilon| choice(goal, epsilon));
        let goals = [Unit::Record, Unit::Features, Unit::Label]
            .into_iter()
            .flat_map(|protects| Trust::ALL.map(|trust| Goal { protects, trust }));
        goals.flat_map(goal_choices).collect()
    }
}
