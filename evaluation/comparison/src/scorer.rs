//! What learns from a release, or is compared with it, and by which metrics that is scored.

use super::metric::Subject;
use super::{Adversary, Comparison, Metric, Model};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// What learns from a release, and is scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "Named")]
pub enum Scorer {
    /// A model, which learns to predict.
    Model(Model),
    /// An adversary, which learns to reconstruct records.
    Adversary(Adversary),
    /// An adversary that knows all records but one, and infers whether that one is in.
    Membership,
    /// The audit, which distinguishes the worst pair of records, once for all trials.
    Audit,
    /// The released table itself, which is compared with the records.
    Table,
}

/// Its name and parameters in a row.
#[derive(Serialize)]
pub(super) struct Named {
    pub(super) model: &'static str,
    pub(super) model_parameters: BTreeMap<String, Value>,
}

/// What the adversary knows, and how it learns, where that is not as usual.
fn of_adversary(adversary: Adversary) -> BTreeMap<String, Value> {
    let share = ("known_share".to_owned(), adversary.known_share.into());
    let network = adversary.network.then(|| ("network".to_owned(), true.into()));
    [share].into_iter().chain(network).collect()
}

impl Named {
    fn plain(model: &'static str) -> Self {
        Self { model, model_parameters: BTreeMap::new() }
    }
}

impl From<Scorer> for Named {
    fn from(scorer: Scorer) -> Self {
        match scorer {
            Scorer::Model(model) => Self { model: model.name(), model_parameters: model.settings() },
            Scorer::Adversary(adversary) => {
                Self { model: "adversary", model_parameters: of_adversary(adversary) }
            }
            Scorer::Membership => Self::plain("membership"),
            Scorer::Audit => Self::plain("audit"),
            Scorer::Table => Self::plain("table"),
        }
    }
}

impl Scorer {
    /// Whether this metric scores it.
    pub fn is_scored_by(&self, metric: Metric) -> bool {
        match self {
            Self::Model(_) => metric.is_of_model(),
            Self::Adversary(_) => metric.subject() == Subject::Acquaintance,
            Self::Membership => metric.subject() == Subject::Membership,
            Self::Audit => metric.is_of_audit(),
            Self::Table => metric.is_of_table(),
        }
    }

    /// Whether it takes part in this trial: the audit of a design is the same in all, and so it is in the first alone.
    pub(super) fn takes_part_in(&self, trial: usize) -> bool {
        trial == 0 || *self != Self::Audit
    }

    /// Whether it has something to say of a release that is a model of this family, if it is one: no other model than that learns from it.
    pub(super) fn is_of(&self, family: Option<&str>) -> bool {
        match (self, family) {
            (Self::Model(model), Some(family)) => model.name() == family,
            _ => true,
        }
    }
}

/// For people.
impl fmt::Display for Scorer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(model) => model.fmt(formatter),
            Self::Adversary(adversary) => adversary.fmt(formatter),
            Self::Membership => formatter.write_str("an adversary that knows all records but one"),
            Self::Audit => formatter.write_str("the audit"),
            Self::Table => formatter.write_str("the released table"),
        }
    }
}

impl Comparison {
    /// The models, and the others where a metric is of them.
    pub(super) fn scorers(&self) -> Vec<Scorer> {
        let others =
            [Scorer::Adversary(self.adversary), Scorer::Membership, Scorer::Audit, Scorer::Table].into_iter();
        let others = others.filter(|scorer| self.metrics.iter().any(|metric| scorer.is_scored_by(*metric)));
        self.models.iter().cloned().map(Scorer::Model).chain(others).collect()
    }
}
