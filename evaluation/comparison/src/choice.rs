//! What to choose at a budget, and what it costs.

use super::evidence::LEVEL;
use super::{Against, Knows, Outcome, Row, Scores, Trust};
use scumble_core::{Notion, Unit};
use std::fmt;

/// The unit of privacy, and the trust model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// What of a record is protected.
    pub protects: Unit,
    /// The trust model.
    pub trust: Trust,
}

/// For people.
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
    /// What a row with differential privacy is for; none of one without.
    pub fn of(row: &Row) -> Option<Self> {
        let protects = row.guarantee.protects(Notion::is_dp)?;
        Some(Self { protects, trust: row.trust })
    }
}

/// The mechanism with the best mean, among those that guarantee differential privacy of the same unit in the same trust model, at one budget.
#[derive(Debug, Clone)]
pub struct Choice<'a> {
    /// The unit of privacy, and the trust model.
    pub goal: Goal,
    /// The budget.
    pub epsilon: f64,
    /// Its title and row; none where there is no evidence that even the best of them is [better](Scores::is_better) than what is known without a release.
    pub best: Option<(&'a str, &'a Row)>,
    /// What the best of them was compared with.
    pub tried: Option<Against>,
    /// How much worse the model is than from the same records in the clear, in units of the metric.
    pub cost: Option<f64>,
}

impl Scores<'_> {
    /// Whether there is evidence that a row is better than what is known without a release: at 1 %, of all rows that were tried together (Bonferroni).
    pub fn is_better(&self, row: &Row) -> bool {
        let rows = self.series.iter().flat_map(|series| series.rows);
        let is_tried = |row: &&Row| row.epsilon.is_some_and(f64::is_finite) && Goal::of(row).is_some();
        let level = LEVEL / rows.filter(is_tried).count().max(1) as f64;
        row.against.is_some_and(|against| against.p_value <= level)
    }
}

impl Outcome {
    /// What to choose by these scores, for each unit that some mechanism protects, in each trust model, at each finite budget.
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
        let clean = self.references(scores).find(|of| of.knows == Knows::Clean).map(|of| of.mean);
        let choice = |goal: Goal, epsilon: f64| {
            let apt = |(_, row): &(&str, &Row)| row.epsilon == Some(epsilon) && Goal::of(row) == Some(goal);
            let best = rows().filter(apt).min_by(|(_, a), (_, b)| metric.best_first(a.mean, b.mean))?;
            let tried = best.1.against;
            let best = scores.is_better(best.1).then_some(best);
            let cost = best.zip(clean).map(|((_, row), clean)| match metric.less_is_better() {
                true => row.mean - clean,
                false => clean - row.mean,
            });
            Some(Choice { goal, epsilon, best, tried, cost })
        };
        let of_goal = |goal: Goal| epsilons.iter().filter_map(move |&epsilon| choice(goal, epsilon));
        let goals = [Unit::Record, Unit::Features, Unit::Label]
            .into_iter()
            .flat_map(|protects| Trust::ALL.map(|trust| Goal { protects, trust }));
        goals.flat_map(of_goal).collect()
    }
}
