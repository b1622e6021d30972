//! Who learns from a release, and by which metrics that is scored.

use super::{Adversary, Comparison, Metric, Model};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Who learns from a release, and is scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "Named")]
pub enum Scorer {
    /// A model, which learns to predict.
    Model(Model),
    /// An adversary, who learns to read records.
    Adversary(Adversary),
    /// The audit, which tells apart what is easiest to, once for all trials.
    Audit,
}

/// As it stands in a row.
#[derive(Serialize)]
pub(super) struct Named {
    pub(super) model: &'static str,
    pub(super) model_parameters: BTreeMap<String, Value>,
}

/// What she knows, and how she learns, where that is not as usual.
fn of_adversary(adversary: Adversary) -> BTreeMap<String, Value> {
    let share = ("known_share".to_owned(), adversary.known_share.into());
    let network = adversary.network.then(|| ("network".to_owned(), true.into()));
    [share].into_iter().chain(network).collect()
}

impl From<Scorer> for Named {
    fn from(scorer: Scorer) -> Self {
        match scorer {
            Scorer::Model(model) => Self { model: model.name(), model_parameters: model.settings() },
            Scorer::Adversary(adversary) => {
                Self { model: "adversary", model_parameters: of_adversary(adversary) }
            }
            Scorer::Audit => Self { model: "audit", model_parameters: BTreeMap::new() },
        }
    }
}

impl Scorer {
    /// Whether this metric scores it.
    pub fn is_scored_by(&self, metric: Metric) -> bool {
        match self {
            Self::Model(_) => !metric.is_of_adversary(),
            Self::Adversary(_) => metric.is_of_acquaintance(),
            Self::Audit => metric.is_of_audit(),
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
            Self::Audit => formatter.write_str("the audit"),
        }
    }
}

impl Comparison {
    /// The models, and the adversary and the audit where a metric is of them.
    pub(super) fn scorers(&self) -> Vec<Scorer> {
        let others = [Scorer::Adversary(self.adversary), Scorer::Audit].into_iter();
        let others = others.filter(|scorer| self.metrics.iter().any(|metric| scorer.is_scored_by(*metric)));
        self.models.iter().cloned().map(Scorer::Model).chain(others).collect()
    }
}
