//! What a page is made of.

use super::chart::Known;
use jiff::Timestamp;
use scumble_comparison::{Comparison, Knows, Metric, Outcome, Reference, Scores};
use std::time::Duration;

/// What the page shows, and how it came about.
#[derive(Debug)]
pub struct Page<'a> {
    /// What was compared.
    pub comparison: &'a Comparison,
    /// What came out.
    pub outcome: &'a Outcome,
    /// The command, as a shell reads it.
    pub command: &'a str,
    /// The experiment's text, if there was one.
    pub experiment: Option<&'a str>,
    /// When it was made.
    pub made: Timestamp,
    /// How long it took.
    pub took: Duration,
}

impl Page<'_> {
    /// What is scored without a release, by this metric.
    pub(super) fn baseline(&self, metric: Metric) -> f64 {
        self.outcome.baselines.get(&metric).copied().unwrap_or(f64::NAN)
    }

    /// What is scored without a mechanism: by a model, of the baseline, of volunteers and of records in the clear; by an adversary, without a release.
    pub(super) fn known(&self, scores: &Scores) -> Vec<Known> {
        let metric = scores.metric;
        if metric.is_of_adversary() || metric.is_of_table() {
            let what = if metric.is_of_table() { "spread evenly" } else { "without a release" };
            return vec![Known { what: what.into(), score: self.baseline(metric) }];
        }
        let named = |of: &Reference| match of.knows {
            Knows::Clean => "in the clear".to_owned(),
            _ => of.named(),
        };
        self.outcome.references(scores).map(|of| Known { what: named(of), score: of.mean }).collect()
    }
}
