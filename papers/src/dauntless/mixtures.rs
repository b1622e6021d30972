//! A network trained on mixed and transformed records.

use super::data::{Data, classes_of};
use super::{accuracy, share_alike};
use crate::{Result, RunOptions, Trial};
use scumble_classifier::{ClassifierParams, ValidClassifierParams};
use scumble_comparison::store::Store;
use scumble_core::{Brief, Budget, Target, Volunteers};

use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::Array1;
use serde_json::{Value, json};

pub(super) const HIDDEN: [usize; 4] = [256, 128, 64, 32];
/// Number of samples per step.
pub(super) const BATCH: usize = 128;

/// Kind of release of the records on which a network is trained.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Leaves {
    AsTheyAre,
    Mixed,
    /// Records transformed by the inverse of a matrix of independent entries, uniform in [−β, β] for some β >
    /// 0 (Approach 1 of the paper).
    Approach1,
    /// Records transformed by a matrix of independent entries, uniform in [−β, β] for some β > 0 (Approach 2
    /// of the paper).
    Approach2,
}

/// A row of Table 2 or 3: kind of release, number of records in each mixture, and number of mixtures for each
/// record. `printed` and `deviation` are the accuracy that the paper prints, and its standard deviation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub leaves: Leaves,
    pub parts: usize,
    pub times: usize,
    pub printed: f64,
    pub deviation: f64,
}

pub(super) const fn row(leaves: Leaves, parts: usize, times: usize, printed: f64, deviation: f64) -> Row {
    Row { leaves, parts, times, printed, deviation }
}

impl Row {
    pub fn name(&self) -> String {
        match self.leaves {
            Leaves::AsTheyAre => "in the clear".into(),
            Leaves::Mixed => format!("{} mixed", self.parts),
            Leaves::Approach1 => format!("{} mixed, approach 1 (an inverse)", self.parts),
            Leaves::Approach2 => format!("{} mixed, approach 2 (uniform)", self.parts),
        }
    }

    /// Parameters of the plugin `dauntless-mix` for this row, with `samples` mixtures and label vectors of
    /// `label_dim` coordinates.
    fn parameters(&self, samples: usize, label_dim: Option<usize>) -> Value {
        let mut parameters =
            json!({ "mixed": self.parts, "samples": samples, "mixing_weights": "random", "bits": 32 });
        let more = match self.leaves {
            Leaves::Approach1 => json!({"weights": "inverse-uniform", "most_condition": MOST_CONDITION}),
            Leaves::Approach2 => json!({"weights": "uniform"}),
            _ => json!({"weights": "uniform", "layers": []}),
        };
        if let (Some(parameters), Value::Object(more)) = (parameters.as_object_mut(), more) {
            parameters.extend(more);
            parameters.extend(label_dim.map(|dim| ("label_dim".to_owned(), dim.into())));
        }
        parameters
    }

    pub fn is_transformed(&self) -> bool {
        matches!(self.leaves, Leaves::Approach1 | Leaves::Approach2)
    }
}

/// Condition number (largest singular value divided by the smallest) at or above which the paper draws a
/// matrix again.
pub(super) const MOST_CONDITION: f64 = 1.15e4;

/// Length of a training, and whether its learning rate falls to zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub epochs: usize,
    pub annealed: bool,
}

/// Table 2 or 3 of the paper, and the settings of its run.
pub(super) struct Run<'a> {
    pub options: &'a RunOptions<'a>,
    pub name: &'static str,
    pub data: Data,
    /// Standardises the columns of images that are not transformed. Columns of transformed images are always
    /// standardised.
    pub standardized: bool,
    /// Number of coordinates of the vector that encodes a label; `None` for one coordinate per class.
    pub label_dim: Option<usize>,
    pub epochs: usize,
    /// Differences of the full variant from the paper that may change accuracies.
    pub fewer: &'static str,
    pub trials: usize,
    pub store: Option<Store<Trial<f64>>>,
}

/// A training of `epochs` epochs with a learning rate that falls to zero.
pub(super) fn annealed(epochs: usize) -> Effort {
    Effort { epochs, annealed: true }
}

impl Run<'_> {
    pub fn row_label(&self, row: &Row) -> String {
        format!("{}, {} samples", row.name(), row.times * self.data.train.len())
    }

    /// Returns true if the network for this row trains on standardised columns.
    fn standardizes(&self, row: &Row) -> bool {
        self.standardized || row.is_transformed()
    }

    /// Accuracy of a network after a training, from the store if the store has it.
    pub fn once(&self, row: &Row, trial: usize, effort: Effort) -> Result<f64> {
        let standardized = self.standardizes(row);
        let mut words = json!({
            "of": self.name, "leaves": row.leaves, "parts": row.parts, "times": row.times, "trial": trial,
            "epochs": effort.epochs, "annealed": effort.annealed, "records": self.data.train.len(),
            "seed": self.options.seed,
        });
        if !standardized {
            words["standardized"] = false.into();
        }
        if let Some(dim) = self.label_dim.filter(|_| row.leaves != Leaves::AsTheyAre) {
            words["label_dim"] = dim.into();
        }
        self.options.once(&self.store, &words, || self.trained(row, trial, effort))
    }

    pub fn all(&self, rows: &[Row]) -> Result<Vec<Vec<f64>>> {
        (self.options.on_start)((rows.len() * self.trials) as u64);
        let one = |at: &Row, trial: usize| {
            let found = self.once(at, trial, annealed(self.epochs))?;
            (self.options.on_step)();
            Ok(found)
        };
        // Small tables come first, so that a stopped run has complete rows to compare.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&at| rows[at].times);
        let mut found = vec![vec![]; rows.len()];
        for at in order {
            found[at] = (0..self.trials).map(|trial| one(&rows[at], trial)).collect::<Result<_>>()?;
        }
        Ok(found)
    }

    pub fn network(
        &self,
        Effort { epochs, annealed }: Effort,
        trial: usize,
        standardized: bool,
    ) -> Result<ValidClassifierParams> {
        let seed = super::seed_of(self.options, trial);
        Ok(ClassifierParams::default()
            .hidden(HIDDEN.to_vec())
            .epochs(epochs)
            .batch_size(BATCH)
            .annealed(annealed)
            .standardize(standardized)
            .validation_share(0.0)
            .seed(seed)
            .check()?)
    }

    /// Accuracy of a network on held-out test records.
    fn trained(&self, row: &Row, trial: usize, effort: Effort) -> Result<f64> {
        let params = self.network(effort, trial, self.standardizes(row))?;
        let Data { domain, train, test } = &self.data;
        if row.leaves == Leaves::AsTheyAre {
            let classes: Array1<usize> = classes_of(train).into();
            let learned = params.fit(&Dataset::new(train.records().clone(), classes))?;
            return Ok(share_alike(&learned.predict(test.records()), &classes_of(test).into()));
        }
        let draws = [row.leaves as u64, row.parts as u64, row.times as u64, trial as u64];
        let mut randomness = self.options.randomness(self.name, &draws);
        let [public, private] = self.data.parted(0.5, &mut randomness.streams().stream(0))?;
        let brief = Brief {
            volunteers: Volunteers::Public(public),
            ..Brief::new(domain.clone(), Budget::pure(1.0)?)
        };
        let plugin = self.options.registry.get("dauntless-mix")?;
        let design = plugin.design(&row.parameters(row.times * train.len(), self.label_dim), &brief)?;
        let release = design.mechanism().release(&private, &mut randomness)?;
        let (table, key) = (release.table, release.key);
        let seen: Dataset<f64, f64, ndarray::Ix2> = table.try_into()?;
        let learned = params.fit(&seen)?;
        let predicted = learned.predict(key.view(test)?.records());
        Ok(accuracy(&key.read(test, Target::Vector(predicted))?, test.target()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Registry;
    use std::path::Path;

    #[test]
    fn a_network_trained_on_a_release_finds_the_classes_of_test_records() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let run = Run {
            options: &options,
            name: "made-up",
            data: Data::made_up(600, 6, 3),
            standardized: true,
            label_dim: None,
            epochs: 30,
            fewer: "",
            trials: 1,
            store: None,
        };
        let rows = [
            row(Leaves::AsTheyAre, 1, 1, 100.0, 0.0),
            row(Leaves::Mixed, 2, 2, 100.0, 0.0),
            row(Leaves::Approach1, 2, 2, 100.0, 0.0),
            row(Leaves::Approach2, 2, 2, 100.0, 0.0),
        ];
        let found = run.all(&rows).unwrap();
        for (row, shares) in rows.iter().zip(&found) {
            assert!(shares[0] > 0.8, "{}: {shares:?}", row.name());
        }
    }
}
