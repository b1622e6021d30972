//! Accounts in nats: what may be told of which records were used.

use crate::{Amount, Error, Result, name};
use scumble_core::{Guarantee, Notion, Unit, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many nats of mutual information releases of one data set may tell of which of its records were used, and what they told at most. It is no ε, and is never added to one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InformationAccount {
    /// The data set's name.
    pub dataset: String,
    /// What may be told, in nats.
    pub total: Amount,
    /// What was, in the order of time.
    pub charges: Vec<InformationCharge>,
}

/// What one release told at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InformationCharge {
    /// In nats.
    pub nats: Amount,
    /// For what.
    pub what: String,
    /// When, in RFC 3339.
    pub when: String,
    /// The ticket that was paid for, by the name of its key: it is not paid for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

impl InformationAccount {
    /// An account without charges.
    pub(crate) fn new(dataset: &str, total: Amount) -> Self {
        Self { dataset: dataset.into(), total, charges: vec![] }
    }

    /// Returns whether this is an account of `dataset`, in any Unicode form of its name.
    pub fn is_of(&self, dataset: &str) -> bool {
        name::are_same(&self.dataset, dataset)
    }

    /// The exact sum of all charges, in nats. Mutual information adds up over releases, also where one is
    /// chosen by those before it.
    pub fn spent(&self) -> Amount {
        self.charges.iter().map(|charge| &charge.nats).sum()
    }

    /// The rest of the total, in nats.
    pub fn left(&self) -> Amount {
        Amount::difference(&self.total, &self.spent())
    }

    /// The account with what is spent, rounded up, and what is left, rounded down, as binary64 numbers.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self);
        value["spent"] = number::to_json(self.spent().to_f64_up());
        value["left"] = number::to_json(self.left().to_f64_down());
        value
    }

    /// Adds a charge, unless too little is left.
    pub(crate) fn spend(&mut self, nats: Amount, what: &str, when: &str) -> Result<()> {
        let spent = self.spent();
        if &spent + &nats > self.total {
            return Err(Error::Overtold {
                dataset: self.dataset.clone(),
                asked: Box::new(nats),
                spent: Box::new(spent),
                total: Box::new(self.total.clone()),
            });
        }
        self.charges.push(InformationCharge { nats, what: what.into(), when: when.into(), ticket: None });
        Ok(())
    }
}

/// How many nats a release with this guarantee tells at most of which records were used; infinitely many where it bounds none.
pub(crate) fn cost(guarantee: &Guarantee) -> f64 {
    let of_records = guarantee.claims.iter().filter(|claim| claim.protects.covers(Unit::Record));
    let nats = of_records.filter_map(|claim| match &claim.notion {
        Notion::MutualInformation(bound) => Some(bound.nats),
        _ => None,
    });
    nats.fold(f64::INFINITY, f64::min)
}
