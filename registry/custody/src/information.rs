//! Accounts in nats, for releases that bound the mutual information between the release and the choice of the
//! records used.

use crate::{Amount, Error, Result, name};
use scumble_core::{Guarantee, Notion, Unit, number};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Account of the mutual information that releases of one data set may disclose about which records were
/// used, in nats. Mutual information is a different measure from ε, and the two are never added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InformationAccount {
    /// Name of the data set.
    pub dataset: String,
    /// Total budget, in nats.
    pub total: Amount,
    /// Charges, in order of time.
    pub charges: Vec<InformationCharge>,
}

/// Charge for one release: an upper bound on the mutual information between the release and the choice of the
/// records used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InformationCharge {
    /// The bound, in nats.
    pub nats: Amount,
    /// Purpose of the charge.
    pub what: String,
    /// Time of the charge, in RFC 3339 format.
    pub when: String,
    /// Name of the key of the [`Ticket`](crate::Ticket) for which the charge was made. A ticket is charged
    /// only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

impl InformationAccount {
    /// Creates an account without charges.
    pub(crate) fn new(dataset: &str, total: Amount) -> Self {
        Self { dataset: dataset.into(), total, charges: vec![] }
    }

    /// Returns whether this is an account of `dataset`, in any Unicode form of the name.
    pub fn is_of(&self, dataset: &str) -> bool {
        name::are_same(&self.dataset, dataset)
    }

    /// Exact sum of all charges, in nats. Mutual information adds up over releases, even if the choice of a
    /// release depends on the results of earlier releases.
    pub fn spent(&self) -> Amount {
        self.charges.iter().map(|charge| &charge.nats).sum()
    }

    /// Remaining budget, in nats.
    pub fn left(&self) -> Amount {
        Amount::difference(&self.total, &self.spent())
    }

    /// Returns the account as JSON, with the amounts spent (rounded up) and left (rounded down) as binary64
    /// numbers.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self);
        value["spent"] = number::to_json(self.spent().to_f64_up());
        value["left"] = number::to_json(self.left().to_f64_down());
        value
    }

    /// Adds a charge unless it exceeds the budget.
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

/// Upper bound, in nats, that this guarantee claims on the mutual information between the release and the
/// choice of the records used. Infinite if the guarantee claims no upper bound.
pub(crate) fn cost(guarantee: &Guarantee) -> f64 {
    let record_claims = guarantee.claims.iter().filter(|claim| claim.protects.covers(Unit::Record));
    let nats = record_claims.filter_map(|claim| match &claim.notion {
        Notion::MutualInformation(bound) => Some(bound.nats),
        _ => None,
    });
    nats.fold(f64::INFINITY, f64::min)
}
