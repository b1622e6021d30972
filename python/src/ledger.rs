//! Ledgers: spent privacy budgets of data sets.

use crate::design::group_of;
use crate::errors::Failed;
use pyo3::prelude::*;
use scumble::core::{Budget, Unit};
use scumble::custody;
use scumble::custody::{Account, Amount, InformationAccount};
use serde_json::Value;
use std::path::PathBuf;

/// The ledger in a file: the privacy budgets of data sets, and the amounts spent.
#[pyclass(frozen, module = "scumble._native")]
pub(crate) struct Ledger {
    path: PathBuf,
    ledger: custody::Ledger,
}

fn unit_of(unit: &str) -> Result<Unit, Failed> {
    serde_json::from_value(Value::from(unit)).map_err(|_| {
        Failed::input("unit: the value must be \"record\", \"features\", \"label\" or \"volunteer\"")
    })
}

#[pymethods]
impl Ledger {
    #[new]
    fn new(path: PathBuf) -> Self {
        Self { ledger: custody::Ledger::at(&path), path }
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Opens an account, and returns True if it is new.
    fn open(
        &self,
        dataset: &str,
        epsilon: f64,
        delta: f64,
        unit: &str,
        target: Option<&str>,
    ) -> Result<bool, Failed> {
        Ok(self.ledger.init(dataset, unit_of(unit)?, target, Budget::new(epsilon, delta)?)?)
    }

    /// Opens an account in nats of mutual information, and returns True if it is new.
    fn open_in_nats(&self, dataset: &str, nats: f64) -> Result<bool, Failed> {
        let nats = Amount::try_from(nats).map_err(custody::Error::from)?;
        Ok(self.ledger.init_information(dataset, nats)?)
    }

    /// Charges a release that scumble did not make, for all people or for a group of them.
    #[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
    fn charge(
        &self,
        dataset: &str,
        epsilon: f64,
        delta: f64,
        what: &str,
        unit: &str,
        target: Option<&str>,
        group: Option<(String, String)>,
    ) -> Result<(), Failed> {
        let ledger = self.ledger.clone().for_group(group_of(&group)?);
        Ok(ledger.charge(dataset, unit_of(unit)?, target, Budget::new(epsilon, delta)?, what)?)
    }

    /// Charges a release that scumble did not make to the account in nats.
    fn charge_in_nats(&self, dataset: &str, nats: f64, what: &str) -> Result<(), Failed> {
        let nats = Amount::try_from(nats).map_err(custody::Error::from)?;
        Ok(self.ledger.charge_information(dataset, nats, what)?)
    }

    /// Returns all accounts in nats, as JSON.
    fn information(&self) -> Result<String, Failed> {
        let accounts = self.ledger.information()?;
        Ok(Value::from_iter(accounts.iter().map(InformationAccount::to_json)).to_string())
    }

    /// Returns all accounts except those in nats, as JSON.
    fn accounts(&self) -> Result<String, Failed> {
        let accounts = self.ledger.accounts()?;
        Ok(Value::from_iter(accounts.iter().map(Account::to_json)).to_string())
    }
}
