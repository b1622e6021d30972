//! The contents of a page.

use super::chart::Known;
use jiff::Timestamp;
use scumble_comparison::{Comparison, Knows, Metric, Outcome, Reference, Scores};
use std::time::Duration;

/// The contents of a page, and their origin.
#[derive(Debug)]
pub struct Page<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// The outcome of the comparison.
    pub outcome: &'a Outcome,
    /// The shell command that makes the page.
    pub command: &'a str,
    /// The text of the experiment's file, if such a file describes the comparison.
    pub experiment: Option<&'a str>,
    /// The time at which the page was made.
    pub made: Timestamp,
    /// The duration of the comparison.
    pub took: Duration,
}

impl Page<'_> {
    /// The score of the baseline, which needs no release, by `metric`.
    pub(super) fn baseline(&self, metric: Metric) -> f64 {
        self.outcome.baselines.get(&metric).copied().unwrap_or(f64::NAN)
    }

    /// The scores that need no mechanism. For a model they are the scores of the baseline, and of models of
    /// volunteers' records and of records in the clear. For an adversary it is the score without a release.
    /// If the released table itself is scored, it is the score of records spread uniformly over the domain.
    pub(super) fn known(&self, scores: &Scores) -> Vec<Known> {
        let metric = scores.metric;
        if metric.is_of_adversary() || metric.is_of_table() {
            let what = if metric.is_of_table() { "evenly spread records" } else { "without a release" };
            return vec![Known { what: what.into(), score: self.baseline(metric) }];
        }
        let named = |reference: &Reference| match reference.knows {
            Knows::Clean => "in the clear".to_owned(),
            _ => reference.named(),
        };
        self.outcome
            .references(scores)
            .map(|reference| Known { what: named(reference), score: reference.mean })
            .collect()
    }
}
