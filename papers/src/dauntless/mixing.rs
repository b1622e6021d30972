//! Tables 2 and 3 of Dauntless (Xiao and Devadas): mixed and transformed images, and the accuracy of a
//! network trained on them.

use super::data::Data;
use super::iterations;
use super::mixtures::{BATCH, HIDDEN, Leaves, MOST_CONDITION, Row, Run, annealed, row};
use super::within::{self, Within};
use super::{against_others, against_printed, chart, percent, point};
use crate::report::{Evidence, Finding, Grid};
use crate::rules::{self, Agreement, Rule};
use crate::{Picture, Result, RunOptions};

use serde_json::json;

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

/// Number of coordinates, normally distributed, of the vector that encodes a label. Random vectors of this
/// length are almost orthogonal, like the vectors of labels in Algorithm 2 of Dauntless.
const ALMOST_ORTHOGONAL: usize = 64;

/// Number of epochs of a network on the few mixtures that Corollary 1 of Dauntless allows. The training then
/// has some hundred steps.
const EPOCHS_OF_FEW: usize = 300;

/// Number of training photographs in Table 3 and Appendix A.3. The other 10,000 of the 50,000 training
/// photographs are the test photographs, because the data set here has only 1,017 of the 10,000 test
/// photographs.
pub(super) const PHOTOGRAPHS: usize = 40_000;

/// A row with its number of samples, and the accuracies of its trials.
struct Found {
    row: Row,
    samples: usize,
    shares: Vec<f64>,
}

impl Found {
    fn cells(&self) -> Vec<String> {
        let Self { row, samples, shares } = self;
        vec![row.name(), samples.to_string(), format!("{:.1}", row.printed), percent(shares)]
    }
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
    let found = run.measured(&TABLE_2)?;
    let findings = found.iter().map(|found| {
        let rule = (&rules::MIXED_AS_PRINTED, f64::max(1.0, 2.0 * found.row.deviation));
        run.longer(&found.row, run.printed_finding(found, rule))
    });
    let mut findings = findings.collect::<Result<Vec<_>>>()?;
    findings.extend(iterations::findings(&run, &TABLE_2)?);
    run.evidence(&found, findings, "Handwritten digits, mixed and transformed (Table 2)")
}

pub(super) fn table_3(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let run = Run {
        options,
        name,
        data: part(options, name, Data::load(options, "cifar10")?.held_out(PHOTOGRAPHS)?, [600, 300])?,
        // The verdict compares a release that transforms mixtures with one that only mixes, so the columns of
        // both are standardised.
        standardized: true,
        // With label vectors of 64 coordinates, as for Table 2, one of three networks learned nothing from
        // mixtures of 10,000 photographs.
        label_dim: None,
        epochs: if options.quick { 3 } else { 20 },
        fewer: "four fifths of the paper's photographs, and 20 epochs instead of 30",
        trials: options.trainings(),
        store: options.finished(name)?,
    };
    // The quick variant leaves out large tables, which take longest to transform.
    let rows: Vec<Row> = TABLE_3.into_iter().filter(|row| !options.quick || row.times <= 2).collect();
    let found = run.measured(&rows)?;
    let printed = found.iter().map(|found| run.printed_finding(found, (&rules::AS_PRINTED, 1.0)));
    let costs = found.iter().filter_map(|at| run.cost_finding(at, &found));
    let findings = printed.chain(costs).collect();
    run.evidence(&found, findings, "Small photographs, mixed and transformed (Table 3)")
}

/// Returns all records, and in the quick variant as many training and test records as `quick` says.
pub(super) fn part(options: &RunOptions, name: &str, data: Data, quick: [usize; 2]) -> Result<Data> {
    match options.quick {
        true => data.some(quick, &mut options.randomness(name, &[]).streams().stream(0)),
        false => Ok(data),
    }
}

/// Chart with one curve for each kind of release.
fn picture(title: &str, found: &[Found]) -> Picture {
    let mut names: Vec<String> = found.iter().map(|found| found.row.name()).collect();
    names.dedup();
    let curves = names.into_iter().map(|name| {
        let own = found.iter().filter(|found| found.row.name() == name);
        let points = own.map(|found| point(found.samples as f64, &found.shares)).collect();
        (name, points)
    });
    chart(title, "A network trained on the release", "samples", curves)
}

impl Run<'_> {
    fn measured(&self, rows: &[Row]) -> Result<Vec<Found>> {
        let shares = self.all(rows)?;
        let found = |(row, shares): (&Row, Vec<f64>)| Found {
            row: *row,
            samples: row.times * self.data.train.len(),
            shares,
        };
        Ok(rows.iter().zip(shares).map(found).collect())
    }

    fn why(&self) -> String {
        match self.options.quick {
            true => {
                format!("the quick variant has {} records and {} epochs", self.data.train.len(), self.epochs)
            }
            false => self.fewer.into(),
        }
    }

    fn printed_finding(&self, Found { row, shares, .. }: &Found, rule: (&Rule, f64)) -> Finding {
        against_printed(self.row_label(row), row.printed, rule, shares, self.why())
    }

    /// Finding on the accuracy that a transformation costs, against mixing alone with as many samples. `None`
    /// if the row is not transformed, or if `found` has no such mixtures.
    fn cost_finding(&self, Found { row, shares, .. }: &Found, found: &[Found]) -> Option<Finding> {
        let is_mixed = |other: &&Found| other.row.leaves == Leaves::Mixed && other.row.times == row.times;
        let mixed = found.iter().find(is_mixed).filter(|_| row.is_transformed())?;
        let printed = row.printed - mixed.row.printed;
        Some(against_others(
            format!("{}, against mixing alone", self.row_label(row)),
            (format!("{printed:+.1} points"), printed),
            &rules::COST_AS_PRINTED,
            [shares, &mixed.shares],
            self.why(),
        ))
    }

    /// Adds the accuracy after twice the epochs to a finding with the verdict `Differs`, in the full variant.
    fn longer(&self, row: &Row, finding: Finding) -> Result<Finding> {
        if finding.decision.verdict != Agreement::Differs || self.options.quick {
            return Ok(finding);
        }
        let longer: Vec<f64> = (0..self.trials.min(2))
            .map(|trial| self.once(row, trial, annealed(2 * self.epochs)))
            .collect::<Result<_>>()?;
        let why = format!(
            "after {} epochs instead of {}, the accuracy is {} %",
            2 * self.epochs,
            self.epochs,
            percent(&longer)
        );
        Ok(Finding { why, ..finding })
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
            let networks = [
                self.network(annealed(EPOCHS_OF_FEW), trial, true)?,
                self.network(annealed(self.epochs), trial, standardized)?,
            ];
            self.options.once(&store, &words, || {
                within::within(self.options, self.name, &self.data, networks.each_ref(), trial)
            })
        };
        (0..self.trials).map(one).collect()
    }

    fn notes(&self) -> [String; 2] {
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
        [
            format!(
                "There are {} training records, a random half of them public, and {} test records. A \
                 mixture has equally many public and private parts, with random weights. Labels are \
                 vectors of {labels}; the predicted class is the nearest. The network has four layers of \
                 {HIDDEN:?} rectified linear units. Adam minimises the squared error for {} epochs in \
                 batches of {BATCH}, with a rate that falls to zero. Without mixing, the output is a \
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
        ]
    }

    fn evidence(&self, found: &[Found], mut findings: Vec<Finding>, title: &str) -> Result<Evidence> {
        let within = self.within()?;
        findings.push(within::finding(&within));
        Ok(Evidence {
            trials: self.trials,
            findings,
            grids: vec![Grid::new(
                "Accuracy on held-out test records, in percent",
                ["release", "samples", "printed", "ours"],
                found.iter().map(Found::cells),
            )],
            notes: self.notes().into_iter().chain([within::note(&within)]).collect(),
            picture: picture(title, found),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
