//! Accounts in nats: what may be told of which records were used.

use crate::{Error, Result};
use scumble_core::{Guarantee, Notion, Unit, difference_down, number, sum_up};
use serde::{Deserialize, Serialize};

/// How many nats of mutual information releases of one data set may tell of which of its records were used, and what they told at most. It is no ε, and is never added to one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InformationAccount {
    /// The data set's name.
    pub dataset: String,
    /// What may be told, in nats.
    #[serde(with = "number")]
    pub total: f64,
    /// What was, in the order of time.
    pub charges: Vec<InformationCharge>,
}

/// What one release told at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InformationCharge {
    /// In nats.
    #[serde(with = "number")]
    pub nats: f64,
    /// For what.
    pub what: String,
    /// When, in RFC 3339.
    pub when: String,
    /// The ticket that was paid for, by the name of its key: it is not paid for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

impl InformationAccount {
    /// Of no charge yet.
    pub(crate) fn new(dataset: &str, total: f64) -> Result<Self> {
        checked("the total of an account, in nats,", total)?;
        Ok(Self { dataset: dataset.into(), total, charges: vec![] })
    }

    /// The sum of all charges, in nats, rounded up: over releases mutual information adds up, also where one is chosen by those before.
    pub fn spent(&self) -> f64 {
        sum_up(self.charges.iter().map(|charge| charge.nats))
    }

    /// What is left of the total, in nats, rounded down.
    pub fn left(&self) -> f64 {
        difference_down(self.total, self.spent())
    }

    /// Adds a charge, unless too little is left.
    pub(crate) fn spend(&mut self, nats: f64, what: &str, when: &str) -> Result<()> {
        let spent = self.spent();
        if !(nats >= 0.0 && sum_up([spent, nats]) <= self.total) {
            return Err(Error::Overtold {
                dataset: self.dataset.clone(),
                asked: nats,
                spent,
                total: self.total,
            });
        }
        self.charges.push(InformationCharge { nats, what: what.into(), when: when.into(), ticket: None });
        Ok(())
    }

    /// # Errors
    /// For a number that was changed by hand: what gives back was never spent.
    pub(crate) fn check(&self) -> Result<()> {
        checked("the total of an account, in nats,", self.total)?;
        self.charges.iter().try_for_each(|charge| checked("a charge, in nats,", charge.nats))
    }
}

fn checked(name: &'static str, value: f64) -> Result<()> {
    match value >= 0.0 {
        true => Ok(()),
        false => Err(scumble_core::Error::Budget { name, range: "zero or more", value }.into()),
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
