//! What to choose at a budget, and what it costs.

use super::{Metric, Outcome, Row, Scores};
use scumble_core::{Guarantee, Notion, Unit};
use std::fmt;

/// How many standard errors better than a blind guess a mean must be to say that something was learned.
const CLEARLY: f64 = 2.0;

/// What is to be protected, and whether somebody is trusted with all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Goal {
    /// What of a record.
    pub protects: Unit,
    /// Whether a curator is trusted, who holds all records; else nobody is.
    pub has_curator: bool,
}

/// For people.
impl fmt::Display for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = if self.has_curator { ", by a trusted curator" } else { "" };
        write!(formatter, "{}{by}", self.protects)
    }
}

impl Goal {
    /// What a guarantee of differential privacy is for; none of one that is none.
    fn of(guarantee: &Guarantee) -> Option<Self> {
        let protects = guarantee.protects(Notion::is_dp)?;
        Some(Self { protects, has_curator: guarantee.local_dp(protects).is_none() })
    }
}

/// The mechanism with the best mean, among those that promise differential privacy of one thing, with the same trust, at one budget.
#[derive(Debug, Clone)]
pub struct Choice<'a> {
    /// What they protect, and who is trusted.
    pub goal: Goal,
    /// The budget.
    pub epsilon: f64,
    /// Its title and row; none where not even the best of them is clearly better than a blind guess, by two standard errors.
    pub best: Option<(&'a str, &'a Row)>,
    /// How much worse the model is than without any mechanism, in units of the metric, where that is known.
    pub cost: Option<f64>,
}

impl Outcome {
    /// What to choose by these scores, for each thing that is protected by some mechanism, by nobody's trust or a curator's, at each finite budget.
    pub fn choices<'a>(&self, scores: &'a Scores) -> Vec<Choice<'a>> {
        let metric = scores.metric;
        let blind_guess = self.blind_guesses.get(&metric).copied().unwrap_or(f64::NAN);
        let rows = || {
            scores.series.iter().flat_map(|series| series.rows.iter().map(move |row| (&*series.title, row)))
        };
        let mut epsilons: Vec<f64> = vec![];
        for epsilon in rows().filter_map(|(_, row)| row.epsilon).filter(|epsilon| epsilon.is_finite()) {
            if !epsilons.contains(&epsilon) {
                epsilons.push(epsilon);
            }
        }
        let without = without_mechanism(scores);
        let choice = |goal: Goal, epsilon: f64| {
            let apt = |(_, row): &(&str, &Row)| {
                row.epsilon == Some(epsilon) && Goal::of(&row.guarantee) == Some(goal)
            };
            let best = rows().filter(apt).min_by(|(_, a), (_, b)| metric.best_first(a.mean, b.mean))?;
            let best = is_clearly_better(metric, best.1, blind_guess).then_some(best);
            let cost = best.zip(without).map(|((_, row), without)| match metric.less_is_better() {
                true => row.mean - without,
                false => without - row.mean,
            });
            Some(Choice { goal, epsilon, best, cost })
        };
        let of_goal = |goal: Goal| epsilons.iter().filter_map(move |&epsilon| choice(goal, epsilon));
        let goals = [Unit::Record, Unit::Features, Unit::Label]
            .into_iter()
            .flat_map(|protects| [false, true].map(|has_curator| Goal { protects, has_curator }));
        goals.flat_map(of_goal).collect()
    }
}

/// The mean of the model that learned from records as they are: of the identity, or else at no budget.
fn without_mechanism(scores: &Scores) -> Option<f64> {
    let named = |series: &&super::Series| series.rows.iter().any(|row| row.mechanism == "identity");
    let identity = scores.series.iter().find(named).and_then(|series| series.rows.first());
    let unbounded =
        || scores.series.iter().flat_map(|series| series.rows).find(|row| row.epsilon == Some(f64::INFINITY));
    identity.or_else(unbounded).map(|row| row.mean).filter(|mean| mean.is_finite())
}

fn is_clearly_better(metric: Metric, row: &Row, blind_guess: f64) -> bool {
    let error = if row.sd.is_finite() { row.sd / (row.trials as f64).sqrt() } else { 0.0 };
    let ahead = if metric.less_is_better() { blind_guess - row.mean } else { row.mean - blind_guess };
    ahead > CLEARLY * error
}
