//! Section A.1 of Dauntless (Xiao and Devadas): ridge regression of incomes on the identity matrix. The
//! mechanism of perfect secrecy releases this matrix in place of the records.

use super::data::{Data, classes_of};
use super::{against_printed, chart, percent, point};
use crate::report::{Evidence, Finding, Grid};
use crate::rules;
use crate::trials::Mean;
use crate::{Picture, Result, RunOptions};
use scumble_core::Table;
use scumble_dauntless::{Improvement, PerfectSecrecy};
use scumble_linear::RidgeParams;

use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Axis};
use rand::seq::SliceRandom;

/// Number of test records of each class.
const TESTS: usize = 2000;

/// Numbers of training records, with the accuracies that the paper prints in percent: ordinary ridge
/// regression, and ridge regression under perfect secrecy.
const PRINTED: [(usize, [f64; 2]); 2] = [(20_000, [63.3, 63.2]), (30_000, [66.5, 66.2])];

/// Accuracies at this number of training records, one for each trial, and the accuracies that the paper
/// prints.
struct Found {
    n: usize,
    printed: [f64; 2],
    /// Accuracies of ordinary ridge regression.
    plain: Vec<f64>,
    /// Accuracies of ridge regression under perfect secrecy.
    secret: Vec<f64>,
}

pub(super) fn adult(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let trials = if options.quick { options.trainings() } else { options.trials.unwrap_or(10) };
    let found = measured(options, name, trials)?;
    Ok(Evidence {
        trials,
        findings: found.iter().flat_map(Found::findings).collect(),
        grids: vec![Grid::new(
            "Accuracy, in percent",
            ["records", "ordinary, printed", "ordinary", "perfect secrecy, printed", "perfect secrecy"],
            found.iter().map(Found::row),
        )],
        notes: vec![note()],
        picture: picture(&found),
    })
}

/// Fits ridge regressions on each number of training records.
fn measured(options: &RunOptions, name: &str, trials: usize) -> Result<Vec<Found>> {
    let data = Data::load(options, "adult")?;
    (options.on_start)((PRINTED.len() * trials) as u64);
    let found = |(n, printed): (usize, [f64; 2])| -> Result<Found> {
        let mut found = Found { n, printed, plain: vec![], secret: vec![] };
        for trial in 0..trials {
            let [plain, secret] = trained(options, name, &data, n, trial)?;
            found.plain.push(plain);
            found.secret.push(secret);
            (options.on_step)();
        }
        Ok(found)
    };
    PRINTED.into_iter().map(found).collect()
}

impl Found {
    fn findings(&self) -> [Finding; 2] {
        [self.difference_finding(), self.plain_finding()]
    }

    /// Finding on the accuracy that perfect secrecy costs.
    fn difference_finding(&self) -> Finding {
        let Self { n, printed, plain, secret } = self;
        let difference = 100.0 * Mean::from_differences(secret, plain).value;
        Finding {
            what: format!(
                "ridge regression under perfect secrecy against ordinary ridge regression, {n} records"
            ),
            paper: format!("{:.1} points", printed[1] - printed[0]),
            ours: format!("{difference:.2} points ({} against {} %)", percent(secret), percent(plain)),
            value: Some(difference),
            decision: rules::NO_DROP.on(difference),
            why: String::new(),
        }
    }

    /// Finding on the printed accuracy of ordinary ridge regression.
    fn plain_finding(&self) -> Finding {
        against_printed(
            format!("ordinary ridge regression, {} records", self.n),
            self.printed[0],
            (&rules::AS_PRINTED, 1.0),
            &self.plain,
            "levels are one-hot here, and a score above the mean label means the second class; the paper \
             states neither its encoding of levels nor its threshold"
                .into(),
        )
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.n.to_string(),
            format!("{:.1}", self.printed[0]),
            percent(&self.plain),
            format!("{:.1}", self.printed[1]),
            percent(&self.secret),
        ]
    }
}

fn note() -> String {
    format!(
        "The test records are {TESTS} of each class, sampled uniformly at random. The training records \
         are sampled from the rest, with its class frequencies. Numbers are scaled to [0, 1] by public \
         bounds. v = 1 is added to singular values (Σ + v·I). On the identity matrix, the model that \
         ridge regression learns is each record's label, shrunken. No mechanism of ours is listed: no \
         mechanism discloses less of a record than the identity matrix does, and no accuracy is lost."
    )
}

fn picture(found: &[Found]) -> Picture {
    let curve = |name: &str, shares: fn(&Found) -> &Vec<f64>| {
        let points = found.iter().map(|found| point(found.n as f64, shares(found)));
        (name.to_owned(), points.collect::<Vec<_>>())
    };
    let curves = [curve("ordinary", |found| &found.plain), curve("perfect secrecy", |found| &found.secret)];
    chart("Incomes under perfect secrecy (A.1)", "Ridge regression", "training records", curves)
}

/// Returns labels as ±1 minus their mean. A score above zero means the second class.
fn centred(table: &Table) -> Array1<f64> {
    let signs: Array1<f64> = classes_of(table).into_iter().map(|class| 2.0 * class as f64 - 1.0).collect();
    let mean = signs.mean().unwrap_or(0.0);
    signs - mean
}

/// Returns the accuracies of ordinary ridge regression and of ridge regression under perfect secrecy.
fn trained(options: &RunOptions, name: &str, data: &Data, n: usize, trial: usize) -> Result<[f64; 2]> {
    let mut randomness = options.randomness(name, &[n as u64, trial as u64]);
    let mut stream = randomness.streams().stream(0);
    let all = [&data.train, &data.test];
    // The training records and the test records of the data set are pooled, as in the paper.
    let mut rows: Vec<(usize, usize)> =
        (0..2).flat_map(|part| (0..all[part].len()).map(move |row| (part, row))).collect();
    rows.shuffle(&mut stream);
    let classes = all.map(classes_of);
    let mut left = [TESTS, TESTS];
    let (mut test, mut train) = ([vec![], vec![]], [vec![], vec![]]);
    let mut trained = 0;
    for (part, row) in rows {
        let class = classes[part][row].min(1);
        if left[class] > 0 {
            left[class] -= 1;
            test[part].push(row);
        } else if trained < n {
            trained += 1;
            train[part].push(row);
        }
    }
    let joined = |rows: &[Vec<usize>; 2]| -> Result<Table> {
        let [one, other] = [all[0].select(&rows[0])?, all[1].select(&rows[1])?];
        let records = ndarray::concatenate![Axis(0), *one.records(), *other.records()];
        let target = classes_of(&one).into_iter().chain(classes_of(&other)).collect();
        Ok(Table::new(one.columns().to_vec(), records, scumble_core::Target::Class(target))?)
    };
    let (train, test) = (joined(&train)?, joined(&test)?);
    let truth: Array1<usize> = classes_of(&test).into();
    let above =
        |scores: Array1<f64>| super::share_alike(&scores.mapv(|score| usize::from(score > 0.0)), &truth);

    let ridge =
        RidgeParams::default().check()?.fit(&Dataset::new(train.records().clone(), centred(&train)))?;
    let plain = above(ridge.predict(test.records()));

    let map =
        PerfectSecrecy::new(data.domain.clone(), 1.0, Improvement::Add)?.map(&train, &mut randomness)?;
    // In ridge regression on the identity matrix, each weight is its record's label divided by 1 + λ, with λ
    // the ridge penalty. This positive factor does not change a threshold at zero.
    let folded = map.fold(centred(&train).insert_axis(Axis(1)).view())?;
    let secret = above(map.apply(&test, folded.view())?.column(0).to_owned());
    Ok([plain, secret])
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Registry;
    use std::path::Path;

    /// Singular values are in the hundreds here, so adding one to them has almost no effect. Both models
    /// separate classes that are far apart.
    #[test]
    fn ridge_regression_under_perfect_secrecy_is_the_ordinary_one() {
        let registry = Registry::default();
        let options = RunOptions::new(&registry, Path::new(""));
        let data = Data::made_up(5000, 4, 2);
        let [plain, secret] = trained(&options, "made-up", &data, 600, 0).unwrap();
        assert!((plain - secret).abs() < 0.005, "{plain} and {secret}");
        assert!(plain > 0.95, "{plain}");
        // Both models learn less from about as many records as columns.
        let [plain, secret] = trained(&options, "made-up", &data, 5, 0).unwrap();
        assert!(plain < 0.99 && secret < 0.99, "{plain} and {secret}");
    }
}
