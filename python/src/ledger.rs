//! Ledgers: what was spent of which data set.

use crate::errors::Failed;
use pyo3::prelude::*;
use scumble::custody;
use scumble::registry::{Budget, Unit, number};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The ledger in a file: the privacy budgets of data sets, and what was spent of them.
#[pyclass(frozen, module = "scumble._native")]
pub(crate) struct Ledger {
    path: PathBuf,
    ledger: custody::Ledger,
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

    /// Opens an account.
    fn open(
        &self,
        dataset: &str,
        epsilon: f64,
        delta: f64,
        unit: &str,
        target: Option<&str>,
    ) -> Result<(), Failed> {
        let unit: Unit = serde_json::from_value(Value::from(unit))
            .map_err(|_| Failed::input("unit: it is \"record\", \"features\", \"label\" or \"volunteer\""))?;
        Ok(self.ledger.init(dataset, unit, target, Budget::new(epsilon, delta)?)?)
    }

    /// Opens an account in nats of mutual information.
    fn open_in_nats(&self, dataset: &str, nats: f64) -> Result<(), Failed> {
        Ok(self.ledger.init_information(dataset, nats)?)
    }

    /// All accounts in nats, as JSON.
    fn information(&self) -> Result<String, Failed> {
        let accounts = self.ledger.information()?;
        let of = |account: &custody::InformationAccount| {
            let mut value = json!(account);
            for (name, nats) in [("spent", account.spent()), ("left", account.left())] {
                value[name] = number::to_json(nats);
            }
            value
        };
        Ok(Value::from_iter(accounts.iter().map(of)).to_string())
    }

    /// All accounts but those in nats, as JSON.
    fn accounts(&self) -> Result<String, Failed> {
        let accounts = self.ledger.accounts()?;
        let of = |account: &custody::Account| {
            let mut value = json!(account);
            for (name, (epsilon, delta)) in [("spent", account.spent()), ("left", account.left())] {
                value[name] = json!({"epsilon": number::to_json(epsilon), "delta": delta});
            }
            value
        };
        Ok(Value::from_iter(accounts.iter().map(of)).to_string())
    }
}
