//! Tables 2 and 3 of Dauntless (Xiao and Devadas): mixed and transformed images, and the accuracy of a
//! network trained on them.

use super::data::{Data, classes_of};
use super::within::{self, Within};
use super::{accuracy, against_printed, chart, percent, point, share_alike};
use crate::report::{Evidence, Finding, Grid};
use crate::rules::{self, Agreement};
use crate::trials::Mean;
use crate::{Result, RunOptions, Trial};
use scumble_classifier::{ClassifierParams, ValidClassifierParams};
use scumble_comparison::store::Store;
use scumble_core::{Brief, Budget, Target, Volunteers};

use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::Array1;
use serde_json::{Value, json};

const HIDDEN: [usize; 4] = [256, 128, 64, 32];

/// Kind of release of the records on which a network is trained.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum Leaves {
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
struct Row {
    leaves: Leaves,
    parts: usize,
    times: usize,
    printed: f64,
    deviation: f64,
}

const fn row(leaves: Leaves, parts: usize, times: usize, printed: f64, deviation: f64) -> Row {
    Row { leaves, parts, times, printed, deviation }
}

const TABLE_2: [Row; 11] = [
    row(Leaves::AsTheyAre, 1, 1, 98.5, 0.07),
    row(Leaves::Mixed, 2, 2, 98.3, 0.08),
    row(Leaves::Mixed, 2, 3, 98.6, 0.08),
    row(Leaves::Approach1, 2, 2, 96.9, 0.7),
    row(Leaves::Approach1, 2, 3, 97.2, 1.8),
    row(Leaves::Approach1, 4, 2, 95.4, 2.0),
    row(Leaves::Approach1, 4, 3, 95.7, 2.4),
    row(Leaves::Approach2, 2, 2, 98.3, 0.07),
    row(Leaves::Approach2, 2, 3, 98.4, 0.10),
    row(Leaves::Approach2, 4, 2, 97.8, 0.13),
    row(Leaves::Approach2, 4, 3, 98.0, 0.08),
];

const TABLE_3: [Row; 13] = [
    row(Leaves::AsTheyAre, 1, 1, 55.59, 0.0),
    row(Leaves::Mixed, 2, 2, 50.35, 0.0),
    row(Leaves::Mixed, 2, 4, 51.97, 0.0),
    row(Leaves::Mixed, 2, 6, 53.12, 0.0),
    row(Leaves::Mixed, 2, 8, 53.67, 0.0),
    row(Leaves::Approach1, 2, 2, 40.30, 0.0),
    row(Leaves::Approach1, 2, 4, 46.49, 0.0),
    row(Leaves::Approach1, 2, 6, 48.98, 0.0),
    row(Leaves::Approach1, 2, 8, 48.67, 0.0),
    row(Leaves::Approach2, 2, 2, 49.58, 0.0),
    row(Leaves::Approach2, 2, 4, 52.64, 0.0),
    row(Leaves::Approach2, 2, 6, 52.96, 0.0),
    row(Leaves::Approach2, 2, 8, 53.41, 0.0),
];

impl Row {
    fn name(&self) -> String {
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

    fn is_transformed(&self) -> bool {
        matches!(self.leaves, Leaves::Approach1 | Leaves::Approach2)
    }
}

/// Number of coordinates, normally distributed, of the vector that encodes a label. Random vectors of this
/// length are almost orthogonal, like the vectors of labels in Algorithm 2 of Dauntless.
const ALMOST_ORTHOGONAL: usize = 64;

/// Condition number (largest singular value divided by the smallest) at or above which the paper draws a
/// matrix again.
const MOST_CONDITION: f64 = 1.15e4;

/// Number of epochs of a network on the few mixtures that Corollary 1 of Dauntless allows. The training then
/// has some hundred steps.
const EPOCHS_OF_FEW: usize = 300;

/// Number of training photographs in Table 3. With all 50,000, each trial of the table takes hours.
const PHOTOGRAPHS: usize = 10_000;

/// Table 2 or 3 of the paper, and the settings of its run.
struct Run<'a> {
    options: &'a RunOptions<'a>,
    name: &'static str,
    data: Data,
    /// Standardises the columns of images that are not transformed. Columns of transformed images are always
    /// standardised.
    standardized: bool,
    /// Number of coordinates of the vector that encodes a label; `None` for one coordinate per class.
    label_dim: Option<usize>,
    epochs: usize,
    /// Differences of the full variant from the paper that may change accuracies.
    fewer: &'static str,
    trials: usize,
    store: Option<Store<Trial<f64>>>,
}

pub(super) fn table_2(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let run = Run {
        options,
        name,
        data: part(options, name, Data::load(options, "mnist")?, [6000, 2000])?,
        // Most pixels in [0, 1] are near zero, and standardised pixels give a worse accuracy.
        standardized: false,
        label_dim: Some(ALMOST_ORTHOGONAL),
        epochs: if options.quick { 8 } else { 20 },
        fewer: "",
        trials: options.trainings(),
        store: options.finished(name)?,
    };
    let found = run.all(&TABLE_2)?;
    let findings = TABLE_2.iter().zip(&found).map(|(row, shares)| {
        let rule = (&rules::MIXED_AS_PRINTED, f64::max(1.0, 2.0 * row.deviation));
        run.longer(row, against_printed(run.row_label(row), row.printed, rule, shares, run.why()))
    });
    let findings = findings.collect::<Result<Vec<_>>>()?;
    run.evidence(&TABLE_2, &found, findings, "Handwritten digits, mixed and transformed (Table 2)")
}

pub(super) fn table_3(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let run = Run {
        options,
        name,
        data: part(options, name, Data::load(options, "cifar10")?.first(PHOTOGRAPHS)?, [600, 300])?,
        // The verdict compares a release that transforms mixtures with one that only mixes, so the columns of
        // both are standardised.
        standardized: true,
        // With label vectors of 64 coordinates, as for Table 2, one of three networks learned nothing from
        // mixtures of so few photographs.
        label_dim: None,
        epochs: if options.quick { 3 } else { 20 },
        fewer: "a fifth of the paper's photographs, and 20 epochs instead of 30",
        trials: options.trainings(),
        store: options.finished(name)?,
    };
    // The quick variant leaves out large tables, which take longest to transform.
    let rows: Vec<Row> = TABLE_3.into_iter().filter(|row| !options.quick || row.times <= 2).collect();
    let found = run.all(&rows)?;
    let printed = rows.iter().zip(&found).map(|(row, shares)| {
        against_printed(run.row_label(row), row.printed, (&rules::AS_PRINTED, 1.0), shares, run.why())
    });
    let mut findings: Vec<Finding> = printed.collect();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.is_transformed()) {
        let Some(mixed) =
            rows.iter().position(|other| other.leaves == Leaves::Mixed && other.times == row.times)
        else {
            continue;
        };
        let gap = Mean::from_differences(&found[at], &found[mixed]);
        let printed = row.printed - rows[mixed].printed;
        findings.push(Finding {
            what: format!("{}, against mixing alone", run.row_label(row)),
            paper: format!("{printed:+.1} points"),
            ours: format!(
                "{:+.1} ± {:.1} points ({} against {} %)",
                100.0 * gap.value,
                100.0 * gap.error,
                percent(&found[at]),
                percent(&found[mixed])
            ),
            value: Some(100.0 * gap.value),
            decision: rules::COST_AS_PRINTED.on(100.0 * gap.value - printed),
            why: run.why(),
        });
    }
    run.evidence(&rows, &found, findings, "Small photographs, mixed and transformed (Table 3)")
}

/// Returns all records, and in the quick variant as many training and test records as `quick` says.
fn part(options: &RunOptions, name: &str, data: Data, quick: [usize; 2]) -> Result<Data> {
    match options.quick {
        true => data.some(quick, &mut options.randomness(name, &[]).streams().stream(0)),
        false => Ok(data),
    }
}

impl Run<'_> {
    fn row_label(&self, row: &Row) -> String {
        format!("{}, {} samples", row.name(), row.times * self.data.train.len())
    }

    fn why(&self) -> String {
        match self.options.quick {
            true => {
                format!("the quick variant has {} records and {} epochs", self.data.train.len(), self.epochs)
            }
            false => self.fewer.into(),
        }
    }

    /// Returns true if the network for this row trains on standardised columns.
    fn standardizes(&self, row: &Row) -> bool {
        self.standardized || row.is_transformed()
    }

    /// Accuracy of a network after `epochs` epochs, from the store if the store has it.
    fn once(&self, row: &Row, trial: usize, epochs: usize) -> Result<f64> {
        let standardized = self.standardizes(row);
        let mut words = json!({
            "of": self.name, "leaves": row.leaves, "parts": row.parts, "times": row.times, "trial": trial,
            "epochs": epochs, "annealed": true, "records": self.data.train.len(), "seed": self.options.seed,
        });
        if !standardized {
            words["standardized"] = false.into();
        }
        if let Some(dim) = self.label_dim.filter(|_| row.leaves != Leaves::AsTheyAre) {
            words["label_dim"] = dim.into();
        }
        self.options.once(&self.store, &words, || self.trained(row, trial, epochs))
    }

    /// Adds the accuracy after twice the epochs to a finding with the verdict `Differs`, in the full variant.
    fn longer(&self, row: &Row, finding: Finding) -> Result<Finding> {
        if finding.decision.verdict != Agreement::Differs || self.options.quick {
            return Ok(finding);
        }
        let longer: Vec<f64> = (0..self.trials.min(2))
            .map(|trial| self.once(row, trial, 2 * self.epochs))
            .collect::<Result<_>>()?;
        let why = format!(
            "after {} epochs instead of {}, the accuracy is {} %",
            2 * self.epochs,
            self.epochs,
            percent(&longer)
        );
        Ok(Finding { why, ..finding })
    }

    fn all(&self, rows: &[Row]) -> Result<Vec<Vec<f64>>> {
        (self.options.on_start)((rows.len() * self.trials) as u64);
        let one = |at: &Row, trial: usize| {
            let found = self.once(at, trial, self.epochs)?;
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

    fn network(&self, epochs: usize, trial: usize, standardized: bool) -> Result<ValidClassifierParams> {
        let seed = self.options.seed.wrapping_mul(1000).wrapping_add(trial as u64);
        Ok(ClassifierParams::default()
            .hidden(HIDDEN.to_vec())
            .epochs(epochs)
            .batch_size(128)
            .annealed(true)
            .standardize(standardized)
            .validation_share(0.0)
            .seed(seed)
            .check()?)
    }

    /// Accuracies in [`Within`] from the records of this run, for each trial.
    fn within(&self) -> Result<Vec<Within>> {
        let store = self.options.finished(&format!("{}-within", self.name))?;
        let one = |trial: usize| {
            let mut words = json!({
                "of": self.name, "within": within::EPSILON, "trial": trial,
                "epochs": [EPOCHS_OF_FEW, self.epochs],
                "records": self.data.train.len(), "seed": self.options.seed,
            });
            let standardized = self.standardized;
            if !standardized {
                words["standardized"] = false.into();
            }
            let networks =
                [self.network(EPOCHS_OF_FEW, trial, true)?, self.network(self.epochs, trial, standardized)?];
            self.options.once(&store, &words, || {
                within::within(self.options, self.name, &self.data, networks.each_ref(), trial)
            })
        };
        (0..self.trials).map(one).collect()
    }

    /// Accuracy of a network on held-out test records.
    fn trained(&self, row: &Row, trial: usize, epochs: usize) -> Result<f64> {
        let params = self.network(epochs, trial, self.standardizes(row))?;
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

    fn evidence(
        &self,
        rows: &[Row],
        found: &[Vec<f64>],
        mut findings: Vec<Finding>,
        title: &str,
    ) -> Result<Evidence> {
        let within = self.within()?;
        findings.push(within::finding(&within));
        let grid = rows.iter().zip(found).map(|(row, shares)| {
            vec![
                row.name(),
                (row.times * self.data.train.len()).to_string(),
                format!("{:.1}", row.printed),
                percent(shares),
            ]
        });
        let mut names: Vec<String> = rows.iter().map(Row::name).collect();
        names.dedup();
        let curves = names.into_iter().map(|name| {
            let own = rows.iter().zip(found).filter(|(row, _)| row.name() == name);
            let points =
                own.map(|(row, shares)| point((row.times * self.data.train.len()) as f64, shares)).collect();
            (name, points)
        });
        let standardized = match self.standardized {
            true => "Columns are standardised before training.",
            false => {
                "Columns of transformed records are standardised before training. Columns of images are not, \
                 because standardised mixtures give a lower accuracy."
            }
        };
        let labels = match self.label_dim {
            Some(dim) => {
                format!("{dim} normal coordinates, almost orthogonal as in Algorithm 2")
            }
            None => "one normal coordinate for each class".to_owned(),
        };
        Ok(Evidence {
            trials: self.trials,
            findings,
            grids: vec![Grid {
                title: "Accuracy on held-out test records, in percent".into(),
                header: ["release", "samples", "printed", "ours"].map(str::to_owned).to_vec(),
                rows: grid.collect(),
            }],
            notes: vec![
                format!(
                    "There are {} training records, a random half of them public, and {} test records. A \
                     mixture has equally many public and private parts, with random weights. Labels are \
                     vectors of {labels}; the predicted class is the nearest. The network has four layers of \
                     {HIDDEN:?} rectified linear units. Adam minimises the squared error for {} epochs in \
                     batches of 128, with a rate that falls to zero. Without mixing, the output is a \
                     softmax. {standardized}",
                    self.data.train.len(),
                    self.data.test.len(),
                    self.epochs
                ),
                format!(
                    "In approach 1, a matrix is drawn again if its condition number is {MOST_CONDITION:e} or \
                     more. No release here is within any budget. Each private record is mixed into several \
                     samples, and there are far more samples than a theorem allows."
                ),
                within::note(&within),
            ],
            picture: chart(title, "A network trained on the release", "samples", curves),
        })
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

    /// No table has a row twice. For each transformed row, Table 3 also has a row of mixing alone with as
    /// many samples, from which the gap is computed.
    #[test]
    fn rows_are_distinguished_by_release_and_size() {
        for table in [&TABLE_2[..], &TABLE_3] {
            for (at, row) in table.iter().enumerate() {
                let same = |other: &&Row| (other.name(), other.times) == (row.name(), row.times);
                assert_eq!(table.iter().filter(same).count(), 1, "row {at}");
            }
        }
        for row in TABLE_3.iter().filter(|row| row.is_transformed()) {
            assert!(TABLE_3.iter().any(|other| other.leaves == Leaves::Mixed && other.times == row.times));
        }
    }
}
