//! Scorers: models, adversaries and other objects that metrics score on a release.

use super::metric::Subject;
use super::{Adversary, Comparison, Error, Metric, Model, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Object that is scored on a release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Named", try_from = "Named")]
pub enum Scorer {
    /// Model, which learns to predict.
    Model(Model),
    /// Adversary, which learns to reconstruct records.
    Adversary(Adversary),
    /// Adversary that knows all records but one, and infers whether this one was used.
    Membership,
    /// Audit, which distinguishes the worst pair of records, once for all trials.
    Audit,
    /// Released table, which is compared with the records.
    Table,
}

/// Name and parameters of a scorer in a row.
#[derive(Serialize, Deserialize)]
pub(super) struct Named {
    pub(super) model: Cow<'static, str>,
    pub(super) model_parameters: BTreeMap<String, Value>,
}

/// Parameters of an adversary: the share of records that it knows, and `network` if it trains one.
fn adversary_parameters(adversary: Adversary) -> BTreeMap<String, Value> {
    let share = ("known_share".to_owned(), adversary.known_share.into());
    let network = adversary.network.then(|| ("network".to_owned(), true.into()));
    [share].into_iter().chain(network).collect()
}

impl Named {
    fn plain(model: &'static str) -> Self {
        Self { model: model.into(), model_parameters: BTreeMap::new() }
    }
}

impl From<Scorer> for Named {
    fn from(scorer: Scorer) -> Self {
        match scorer {
            Scorer::Model(model) => Self { model: model.name().into(), model_parameters: model.settings() },
            Scorer::Adversary(adversary) => {
                Self { model: "adversary".into(), model_parameters: adversary_parameters(adversary) }
            }
            Scorer::Membership => Self::plain("membership"),
            Scorer::Audit => Self::plain("audit"),
            Scorer::Table => Self::plain("table"),
        }
    }
}

impl TryFrom<Named> for Scorer {
    type Error = Error;

    fn try_from(Named { model, model_parameters }: Named) -> Result<Self> {
        let plain = [Self::Membership, Self::Audit, Self::Table];
        if let Some(plain) = plain.into_iter().find(|plain| Named::from(plain.clone()).model == model) {
            return Ok(plain);
        }
        if model == "adversary" {
            let number = |name: &str| model_parameters.get(name).and_then(Value::as_f64);
            let known_share = number("known_share").unwrap_or(Adversary::default().known_share);
            let network = model_parameters.get("network").and_then(Value::as_bool).unwrap_or(false);
            return Ok(Self::Adversary(Adversary { known_share, network }));
        }
        // A list has the values of a parameter that was chosen.
        let values = |value: &Value| value.as_array().cloned();
        let is_fixed = |(_, value): &(&String, &Value)| values(value).is_none();
        let fixed =
            model_parameters.iter().filter(is_fixed).map(|(name, value)| (name.clone(), value.clone()));
        let chosen = model_parameters.iter().filter_map(|(name, value)| Some((name.clone(), values(value)?)));
        let fixed = Model::new(&model, &fixed.collect())?;
        Ok(Self::Model(fixed.tuned(&chosen.collect())?))
    }
}

impl Scorer {
    /// Returns true if `metric` scores this object.
    pub fn is_scored_by(&self, metric: Metric) -> bool {
        match self {
            Self::Model(_) => metric.is_of_model(),
            Self::Adversary(_) => metric.subject() == Subject::Acquaintance,
            Self::Membership => metric.subject() == Subject::Membership,
            Self::Audit => metric.is_of_audit(),
            Self::Table => metric.is_of_table(),
        }
    }

    /// Returns true if the object is scored in this trial. The audit of a design is the same in all trials,
    /// so it runs only in the first. A membership attack takes longer than a release, and runs in the first
    /// ten trials.
    pub(super) fn takes_part_in(&self, trial: usize) -> bool {
        match self {
            Self::Audit => trial == 0,
            Self::Membership => trial < 10,
            _ => true,
        }
    }

    /// Returns true if the object can be scored on a release. `learner` is the name of the [`Model`] beside
    /// which a released model is scored, such as `logistic`, and `None` for any other release.
    pub(super) fn is_beside(&self, learner: Option<&str>) -> bool {
        match (self, learner) {
            (Self::Model(model), Some(learner)) => model.name() == learner,
            _ => true,
        }
    }
}

/// Text for people.
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
    /// Models, and the other scorers that a metric needs.
    pub(super) fn scorers(&self) -> Vec<Scorer> {
        let others =
            [Scorer::Adversary(self.adversary), Scorer::Membership, Scorer::Audit, Scorer::Table].into_iter();
        let others = others.filter(|scorer| self.metrics.iter().any(|metric| scorer.is_scored_by(*metric)));
        self.models.iter().cloned().map(Scorer::Model).chain(others).collect()
    }
}
