//! Scores of one scorer (a model, an adversary or another scored object) in one trial, in the form that a
//! store of finished trials has.

use super::{Metric, or_null};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Scores of one scorer on one trial's release.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scored {
    pub(super) scores: BTreeMap<Metric, Score>,
    /// Influence of each group of test records on a model's score, by each metric. It is the first-order
    /// change of the score if the weight of the group's records changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) influences: BTreeMap<Metric, Vec<f32>>,
    /// Time of the release and of the scorer, in seconds.
    pub(super) seconds: f64,
    /// Index of the model's option that was best by the people's answers in private validation (randomised
    /// responses to whether a model is right about a person); `None` without private validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) chosen: Option<usize>,
}

impl Scored {
    /// Scores of an adversary or a released table, which have no influences of test records.
    pub(super) fn from_scores(scores: impl IntoIterator<Item = (Metric, f64)>) -> Self {
        let scores = scores.into_iter().map(|(metric, score)| (metric, Score(score))).collect();
        Self { scores, ..Self::default() }
    }

    /// Influence of each group of test records on the score by `metric`; empty without such a score.
    pub(super) fn influences(&self, metric: Metric) -> Vec<f32> {
        self.influences.get(&metric).cloned().unwrap_or_default()
    }

    /// Score by `metric`, or NaN without such a score.
    pub(super) fn score(&self, metric: Metric) -> f64 {
        self.scores.get(&metric).map_or(f64::NAN, |score| score.0)
    }
}

/// Score of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Score(#[serde(with = "or_null")] pub(super) f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_kept_even_where_it_is_no_number() {
        for score in [0.1 + 0.2, f64::INFINITY, f64::NAN] {
            let scored = Scored {
                scores: BTreeMap::from([(Metric::Accuracy, Score(score))]),
                influences: BTreeMap::new(),
                seconds: 0.25,
                chosen: None,
            };
            let kept: Scored = serde_json::from_str(&serde_json::to_string(&scored).unwrap()).unwrap();
            assert_eq!(kept.score(Metric::Accuracy).to_bits(), score.to_bits());
            assert!(kept.score(Metric::MacroF1).is_nan());
        }
    }
}
