//! Private data mapped to public data in place of the identity matrix, for a model of the public data, as
//! Section 6 of Dauntless (Xiao and Devadas) suggests.

use super::data::{Data, classes_of};
use super::secrecy::{HIDDEN, by_ridge};
use super::{chart, percent, point, share_alike};
use crate::gains::{self, Axis as Budgets};
use crate::report::{Evidence, Finding, Grid};
use crate::rules;
use crate::{Result, RunOptions};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, Axis};
use rand::seq::SliceRandom;
use scumble_classifier::ClassifierParams;
use scumble_core::{Stream, Table};
use scumble_dauntless::{Improvement, PerfectSecrecy};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Largest number of private digits, and of public digits.
const EACH: usize = 10_000;

/// Accuracies of one trial on private test digits.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Outcome {
    /// Model of the public digits, on the private digits themselves.
    directly: f64,
    /// The same model, on private digits that are mapped to public ones.
    mapped: f64,
    /// Ridge regression on the identity matrix.
    identity: f64,
}

/// Name of a column, and its accuracy in a trial.
type Column = (&'static str, fn(&Outcome) -> f64);

/// Differences between private and public digits.
const KINDS: [&str; 2] = ["as public digits", "pixels in another order"];

/// Measures one trial. In kind 1, the pixels of all private digits have another, random order.
fn trial(data: &Data, kind: usize, seed: u64, stream: &mut Stream) -> Result<Outcome> {
    let [public, private] = data.parted(0.5, stream)?;
    let first = |table: &Table| table.select(&(0..EACH.min(table.len())).collect::<Vec<_>>());
    let (private, public) = (first(&private)?, first(&public)?);
    let mut order: Vec<usize> = (0..data.domain.columns().len()).collect();
    if kind == 1 {
        order.shuffle(stream);
    }
    let reordered = |table: &Table| {
        let records = table.records().select(Axis(1), &order);
        Table::new(table.columns().to_vec(), records, table.target().clone())
    };
    let own = Data { domain: data.domain.clone(), train: reordered(&private)?, test: reordered(&data.test)? };
    let truth: Array1<usize> = classes_of(&own.test).into();
    let params = ClassifierParams::default().hidden(HIDDEN.to_vec()).epochs(10).batch_size(128).seed(seed);
    let seen: Array1<usize> = classes_of(&public).into();
    let model = params.check()?.fit(&Dataset::new(public.records().clone(), seen.clone()))?;
    // Each private digit is mapped to a public digit of its class.
    let targets = aims(&classes_of(&own.train), &seen.to_vec(), stream);
    let targets = public.records().select(Axis(0), &targets);
    let mut randomness = scumble_core::Randomness::seeded(seed);
    let secrecy = PerfectSecrecy::new(own.domain.clone(), 1.0, Improvement::Add)?;
    let map = secrecy.map(&own.train, &mut randomness)?;
    let mapped: Array2<f64> = map.apply(&own.test, map.fold(targets.view())?.view())?;
    Ok(Outcome {
        directly: share_alike(&model.predict(own.test.records()), &truth),
        mapped: share_alike(&model.predict(&mapped), &truth),
        identity: by_ridge(&map, &own)?,
    })
}

/// Row of a random public record of the same class, for each private record. The first record stands for a
/// class that no public record has.
fn aims(private: &[usize], public: &[usize], stream: &mut Stream) -> Vec<usize> {
    let classes = 1 + private.iter().chain(public).max().copied().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![vec![]; classes];
    for (row, class) in public.iter().enumerate() {
        rows[*class].push(row);
    }
    private.iter().map(|class| rows[*class].choose(stream).copied().unwrap_or(0)).collect()
}

pub(super) fn transfer(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let data = Data::load(options, "mnist")?;
    let data = super::mixing::part(options, name, data, [2000, 500])?;
    let trials = options.trainings();
    (options.on_start)((KINDS.len() * trials) as u64);
    let store = options.finished(name)?;
    let measured = |kind: usize| -> Result<Vec<Outcome>> {
        let one = |number: usize| {
            let words = json!({
                "of": name, "kind": KINDS[kind], "trial": number, "records": data.train.len(),
                "seed": options.seed
            });
            let seed = super::seed_of(options, number);
            let found = options.once(&store, &words, || {
                let draw = [kind as u64, number as u64];
                let mut stream = options.randomness(name, &draw).streams().stream(0);
                trial(&data, kind, seed, &mut stream)
            });
            (options.on_step)();
            found
        };
        (0..trials).map(one).collect()
    };
    let found = [measured(0)?, measured(1)?];
    let each = EACH.min(data.train.len() / 2);
    let of = |kind: usize, which: fn(&Outcome) -> f64| found[kind].iter().map(which).collect::<Vec<f64>>();
    let columns: [Column; 3] = [
        ("public model, no map", |found| found.directly),
        ("public model, mapped to public digits", |found| found.mapped),
        ("identity matrix, ridge regression (ours)", |found| found.identity),
    ];
    let gain = |what: &str, over: fn(&Outcome) -> f64| -> Finding {
        let gains = |kind: usize| -> (f64, Vec<f64>) {
            let gained = found[kind].iter().map(|found| 100.0 * (found.mapped - over(found)));
            ((kind + 1) as f64, gained.collect())
        };
        gains::gain_finding(
            &rules::GAINS,
            format!("digits mapped to public digits, for a model of public digits: gain over {what}"),
            "\"may be more suitable to transfer learning\"; no experiment",
            ("points", Budgets { symbol: "kind ", before: true }),
            &[gains(0), gains(1)],
        )
    };
    Ok(Evidence {
        trials,
        findings: vec![
            gain("the same model without a map", columns[0].1),
            gain("the identity matrix with ridge regression", columns[2].1),
        ],
        grids: vec![Grid::new(
            "Accuracy on private test digits, in percent, ± a standard deviation",
            ["private digits"].into_iter().chain(columns.map(|(name, _)| name)),
            (0..KINDS.len()).map(|kind| {
                let cells = columns.iter().map(|(_, which)| percent(&of(kind, *which)));
                std::iter::once(format!("{}: {}", kind + 1, KINDS[kind])).chain(cells).collect()
            }),
        )],
        notes: vec![format!(
            "There are {each} private and {each} public training digits. The secret map T of perfect-secrecy \
             (v = 1) maps each private digit to a random public digit of the same class. The release has \
             public digits and private labels, so perfect secrecy holds as for the identity matrix. A \
             network with layers of {HIDDEN:?} learns from the public digits, and the owner applies it after \
             T."
        )],
        picture: chart(
            "Private digits mapped to public digits",
            "Models of the owner",
            "kind of private digits",
            columns.iter().map(|(name, which)| {
                let points = (0..KINDS.len()).map(|kind| point((kind + 1) as f64, &of(kind, *which)));
                ((*name).to_owned(), points.collect())
            }),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    #[test]
    fn a_private_record_aims_at_a_public_record_of_its_class() {
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let public = [2, 0, 1, 2, 0];
        let aims = aims(&[0, 1, 2, 2, 0, 1], &public, &mut stream);
        assert_eq!(aims.iter().map(|row| public[*row]).collect::<Vec<_>>(), [0, 1, 2, 2, 0, 1]);
    }

    /// With as many columns as classes, a linear map reaches the public records of all classes.
    #[test]
    fn records_that_a_line_separates_reach_the_public_model() {
        let data = Data::made_up(600, 4, 2);
        let mut stream = Randomness::seeded(2).streams().stream(0);
        let found = trial(&data, 1, 1, &mut stream).unwrap();
        assert!(found.mapped > 0.8 && found.identity > 0.8, "{found:?}");
    }
}
