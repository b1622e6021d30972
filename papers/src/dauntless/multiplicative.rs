//! Section 3.3 of Dauntless (Xiao and Devadas): accuracy of a model that learns from records times a random
//! Gaussian matrix, with the noise that Theorem 5 needs.

use super::data::{Data, classes_of};
use super::{percent, point, share_alike};
use crate::report::{Evidence, Finding, Grid, four};
use crate::rules::{self, Agreement};
use crate::trials::Mean;
use crate::{CurvePoint, Error, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_accounting::multiplicative::Release as Factor;
use scumble_core::{Brief, Budget, Key, Randomness, Table, TargetDomain, largest};
use scumble_linalg::{gram, solve};

use faer::MatRef;
use ndarray::{Array1, Array2, Axis};
use rand::Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde_json::json;

/// The paper's ε.
const CLAIMED: f64 = 1.0;

/// Total δ of a release. The paper prints none.
const DELTA: f64 = 1e-5;

/// Weight of the ridge penalty, relative to the mean variance of a column. It is also the default of
/// `RidgeParams`.
const PENALTY: f64 = 1e-3;

/// Numbers of training and test records in the quick variant.
const QUICK: [usize; 2] = [2000, 1000];

/// A data set of the claim, and the budgets ε of its releases.
struct Case {
    data: &'static str,
    title: &'static str,
    budgets: &'static [f64],
}

/// The plugin spends no more than ε = 1000, except for an infinite ε.
const CASES: [Case; 2] = [
    Case { data: "mnist", title: "MNIST", budgets: &[CLAIMED, 10.0, 100.0, 1000.0] },
    Case { data: "cifar10", title: "CIFAR-10", budgets: &[CLAIMED] },
];

/// Releases at one noise, with their accuracies.
struct Releases {
    /// ε for any two records of the domain.
    epsilon: f64,
    /// v, the standard deviation of the noise, in diameters of the domain.
    v: f64,
    accuracies: Vec<f64>,
}

/// All releases of a data set.
struct Found {
    case: &'static Case,
    records: usize,
    /// Accuracy of the model that learns from the records in the clear.
    clear: f64,
    /// One entry for each budget, in ascending order of ε.
    private: Vec<Releases>,
    /// Releases with 1/d of the noise at [`CLAIMED`], for d columns.
    scaled: Releases,
}

pub(super) fn theorem_5(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let trials = options.trainings();
    // The quick variant has digits only, because a matrix for photographs takes long to draw.
    let cases = if options.quick { &CASES[..1] } else { &CASES };
    let releases: usize = cases.iter().map(|case| case.budgets.len() + 1).sum();
    (options.on_start)((releases * trials) as u64);
    let found: Vec<Found> = cases
        .iter()
        .enumerate()
        .map(|(number, case)| released(options, (name, number), case, trials))
        .collect::<Result<_>>()?;
    let header = ["data", "release", "v, in diameters", "ε, any two records", "accuracy, %"];
    Ok(Evidence {
        trials,
        findings: found.iter().flat_map(findings).collect(),
        grids: vec![Grid::new("Accuracy on test records", header, found.iter().flat_map(rows))],
        notes: notes(&found),
        picture: picture(&found),
    })
}

/// Number of released columns, equal to the number of columns of the records (d′ = d in the paper).
fn columns(data: &Data) -> usize {
    data.domain.columns().len()
}

fn released(
    options: &RunOptions,
    (name, number): (&'static str, usize),
    case: &'static Case,
    trials: usize,
) -> Result<Found> {
    let mut data = Data::load(options, case.data)?;
    if options.quick {
        data = data.some(QUICK, &mut options.randomness(name, &[number as u64]).streams().stream(0))?;
    }
    let factor = Factor::new(1.0, data.train.len() as u64, columns(&data) as u64)?;
    let all = |place: u64, epsilon: f64, added: f64| -> Result<Vec<f64>> {
        let one = |trial: usize| {
            let randomness = options.randomness(name, &[number as u64, place, trial as u64]);
            let accuracy = release_accuracy(options, &data, epsilon, added, randomness)?;
            (options.on_step)();
            Ok(accuracy)
        };
        (0..trials).into_par_iter().map(one).collect()
    };
    let mut private = vec![];
    for (place, epsilon) in (2..).zip(case.budgets) {
        let (v, _) = factor.least_v(*epsilon, DELTA)?;
        private.push(Releases { epsilon: *epsilon, v, accuracies: all(place, *epsilon, 0.0)? });
    }
    let v = factor.least_v(CLAIMED, DELTA)?.0 / columns(&data) as f64;
    let added = v * data.domain.features().l2_diameter();
    Ok(Found {
        case,
        records: data.train.len(),
        clear: learned_accuracy(&data.train, &data, None)?,
        private,
        scaled: Releases {
            epsilon: factor.gaussian(v, DELTA)?.epsilon,
            v,
            accuracies: all(1, f64::INFINITY, added)?,
        },
    })
}

/// Accuracy of a model that learns from a release of the training records at `epsilon`. Gaussian noise of
/// standard deviation `added` is added to every released number.
fn release_accuracy(
    options: &RunOptions,
    data: &Data,
    epsilon: f64,
    added: f64,
    mut randomness: Randomness,
) -> Result<f64> {
    let brief = Brief::new(data.domain.clone(), Budget::new(epsilon, DELTA)?);
    let parameters = json!({ "records": data.train.len(), "dim": columns(data) });
    let design = options.registry.get("multiplicative-dp")?.design(&parameters, &brief)?;
    let mut stream = randomness.streams().stream(0);
    let release = design.mechanism().release(&data.train, &mut randomness)?;
    let mut table = release.table;
    if added > 0.0 {
        let noisy = table.records().mapv(|x| x + added * stream.sample::<f64, _>(StandardNormal));
        table = Table::new(table.columns().to_vec(), noisy, table.target().clone())?;
    }
    learned_accuracy(&table, data, Some(&release.key))
}

/// Accuracy on the test records of a model that learns from `table`. The `key` maps test records to the form
/// of released records.
fn learned_accuracy(table: &Table, data: &Data, key: Option<&Key>) -> Result<f64> {
    let classes = match data.domain.target() {
        TargetDomain::Class { levels } => levels.len(),
        _ => 0,
    };
    let Some(model) = Ridge::fit(table.records(), &classes_of(table), classes) else {
        return Err(Error::Mechanism {
            mechanism: "multiplicative-dp".into(),
            problem: "released numbers from which no ridge regression can be computed".into(),
        });
    };
    let found = match key {
        Some(key) => model.classify(key.view(&data.test)?.records()),
        None => model.classify(data.test.records()),
    };
    Ok(share_alike(&found, &classes_of(&data.test).into()))
}

/// One-against-all ridge regression on centred columns. Scores leave out the shares of the classes, which are
/// nearly equal. Where noise is large, weights are small, and these shares alone would decide.
struct Ridge {
    /// Weights (d × c classes).
    weights: Array2<f64>,
    /// Means of the columns of the training records.
    center: Array1<f64>,
}

impl Ridge {
    /// Fits `records` (n × d) with their `classes`. `None` if the normal equations have no solution.
    fn fit(records: &Array2<f64>, classes: &[usize], count: usize) -> Option<Self> {
        let center = records.mean_axis(Axis(0))?;
        let mut labels = Array2::zeros((records.nrows(), count));
        for (mut row, class) in labels.outer_iter_mut().zip(classes) {
            *row.get_mut(*class)? = 1.0;
        }
        let shares = labels.mean_axis(Axis(0))?;
        labels -= &shares;
        let centered = records - &center;
        let (n, d) = centered.dim();
        let mut products = faer::Mat::<f64>::zeros(d, d);
        gram(products.as_mut(), MatRef::from_row_major_slice(centered.as_slice()?, n, d));
        // Only the lower triangle is read.
        let mut normal = Array2::from_shape_fn((d, d), |at| products[at]);
        let penalty = PENALTY * normal.diag().mean()?;
        normal.diag_mut().mapv_inplace(|x| x + penalty);
        let weights = solve(&normal, &centered.t().dot(&labels))?;
        Some(Self { weights, center })
    }

    fn classify(&self, records: &Array2<f64>) -> Array1<usize> {
        let scores = (records - &self.center).dot(&self.weights);
        scores.map_axis(Axis(1), |scores| largest(&scores.to_vec()))
    }
}

impl Releases {
    fn mean(&self) -> f64 {
        Mean::from_values(&self.accuracies).value
    }
}

/// Returns true if the accuracy of `releases` has no obvious drop from the accuracy `clear`.
fn keeps(releases: &Releases, clear: f64) -> bool {
    rules::NO_OBVIOUS_DROP.on(releases.mean() - clear).verdict == Agreement::Reproduced
}

/// Findings on a data set. The first is on the claim with the diameter of the domain as B, as the paper
/// defines it. The last is on the claim with 1/d of the diameter as B.
fn findings(found: &Found) -> Vec<Finding> {
    let (title, scaled) = (found.case.title, &found.scaled);
    let first = found.private.first().map(|private| Finding {
        what: format!("{title}: accuracy at ε = {CLAIMED} with d′ = d, for any two records"),
        paper: "no obvious performance drop".into(),
        why: format!(
            "Theorem 5 needs noise of {:.0} diameters of the domain at δ = {DELTA:e}; the ratio v/B, and not \
             the scale of B, determines ε",
            private.v
        ),
        ..against_clear(private, found.clear)
    });
    let last = Finding {
        what: format!(
            "{title}: accuracy at ε = {CLAIMED} if neighbours differ by at most 1/d of the diameter"
        ),
        paper: "no obvious performance drop, with B in a scale of 1/d".into(),
        why: format!(
            "the noise is then {} diameters, and ε is {} for any two records; the paper defines B for any \
             two records, so this reading is not its definition",
            four(scaled.v),
            four(scaled.epsilon)
        ),
        ..against_clear(scaled, found.clear)
    };
    first.into_iter().chain(enough(found)).chain([last]).collect()
}

/// Finding that compares the accuracy of `releases` with the accuracy `clear`, without its claim.
fn against_clear(releases: &Releases, clear: f64) -> Finding {
    let drop = releases.mean() - clear;
    Finding {
        what: String::new(),
        paper: String::new(),
        ours: format!("{} %, and {:.1} % in the clear", percent(&releases.accuracies), 100.0 * clear),
        value: Some(100.0 * drop),
        decision: rules::NO_OBVIOUS_DROP.on(drop),
        why: String::new(),
    }
}

/// Finding on the least ε of the grid without an obvious drop. `None` for a grid of one ε.
fn enough(found: &Found) -> Option<Finding> {
    let [_, .., most] = &found.private[..] else { return None };
    let least = found.private.iter().find(|releases| keeps(releases, found.clear));
    let shown = |releases: &Releases| percent(&releases.accuracies);
    Some(Finding {
        what: format!("{}: least ε without an obvious drop, for any two records", found.case.title),
        paper: format!("{CLAIMED}"),
        ours: match least {
            Some(releases) => format!("{} ({} %)", releases.epsilon, shown(releases)),
            None => format!("above {} ({} % there)", most.epsilon, shown(most)),
        },
        value: least.map(|releases| releases.epsilon),
        decision: rules::LEAST_EPSILON.on(least.map_or(f64::INFINITY, |releases| releases.epsilon)),
        why: format!("of ε in {:?}", found.case.budgets),
    })
}

fn rows(found: &Found) -> Vec<Vec<String>> {
    let row = |release: &str, releases: &Releases| {
        let cells = [releases.v, releases.epsilon].map(|x| if x.is_finite() { four(x) } else { "∞".into() });
        let [v, epsilon] = cells;
        vec![found.case.title.into(), release.into(), v, epsilon, percent(&releases.accuracies)]
    };
    let mut rows: Vec<Vec<String>> =
        found.private.iter().map(|releases| row("multiplicative-dp", releases)).collect();
    rows.push(row("B of 1/d of the diameter", &found.scaled));
    rows.push(vec![
        found.case.title.into(),
        "in the clear".into(),
        "0".into(),
        "∞".into(),
        format!("{:.1}", 100.0 * found.clear),
    ]);
    rows
}

fn notes(found: &[Found]) -> Vec<String> {
    let sizes: Vec<String> =
        found.iter().map(|found| format!("{} of {}", found.records, found.case.title)).collect();
    vec![
        format!(
            "All training records are released and train the model: {}. The model is ridge regression of \
             one class against all others on the released numbers. Its penalty is {PENALTY} of the mean \
             variance of a column. Scores leave out the shares of the classes, which would decide alone \
             where noise is large. Test records reach the model through the owner's key. The paper states \
             neither its model, nor δ, nor v, nor an accuracy.",
            sizes.join(" and ")
        ),
        "The release is multiplicative-dp: XW₁ + vW₂, to which the proof of Theorem 5 applies (errata D1 \
         and D12). The paper pads records by copies of their columns, which multiplies B by √(n/d). Padding \
         by zeros needs less noise."
            .into(),
        "The plugin spends at most ε = 1000. For B of 1/d of the diameter, this result adds Gaussian noise \
         to the plugin's release at ε = ∞."
            .into(),
    ]
}

fn picture(found: &[Found]) -> Picture {
    let panel = |found: &Found| {
        let private =
            found.private.iter().map(|releases| point(releases.epsilon, &releases.accuracies)).collect();
        let scaled: Vec<CurvePoint> = vec![point(found.scaled.epsilon, &found.scaled.accuracies)];
        let layers = [
            ("multiplicative-dp", Marks::Curve(private)),
            ("B of 1/d of the diameter", Marks::Curve(scaled)),
            ("in the clear", Marks::Level(100.0 * found.clear)),
        ];
        Panel {
            title: format!("{}: ridge regression on the release", found.case.title),
            across: Scale::logarithmic("ε, for any two records"),
            up: Scale::linear("accuracy, %"),
            layers: layers
                .into_iter()
                .enumerate()
                .map(|(look, (name, marks))| Layer { name: name.into(), look, marks })
                .collect(),
        }
    };
    Picture {
        title: "Records times a random matrix, with noise (Theorem 5)".into(),
        panels: found.iter().map(panel).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Registry;
    use std::path::Path;

    /// Centred records are −1 and 1, their labels ±1/2, and the Gram matrix is 2(1 + penalty).
    #[test]
    fn ridge_regression_solves_its_normal_equations() {
        let model = Ridge::fit(&ndarray::array![[1.0], [3.0]], &[0, 1], 2).unwrap();
        let weight = 0.5 / (1.0 + PENALTY);
        assert!((model.weights[[0, 0]] + weight).abs() < 1e-12, "{}", model.weights);
        assert!((model.weights[[0, 1]] - weight).abs() < 1e-12, "{}", model.weights);
        assert_eq!(model.classify(&ndarray::array![[0.0], [1.9], [2.1], [9.0]]).to_vec(), [0, 0, 1, 1]);
        assert!(Ridge::fit(&ndarray::array![[1.0]], &[7], 2).is_none());
    }

    /// Noise at ε = 1 hides few records, and a matrix without noise hides none.
    #[test]
    fn noise_and_not_the_matrix_costs_accuracy() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let data = Data::made_up(600, 6, 3);
        let accuracy = |epsilon: f64, added: f64| {
            release_accuracy(&options, &data, epsilon, added, Randomness::seeded(1)).unwrap()
        };
        let clear = learned_accuracy(&data.train, &data, None).unwrap();
        assert!(clear > 0.9, "{clear}");
        assert!((accuracy(f64::INFINITY, 0.0) - clear).abs() < 0.05);
        assert!(accuracy(1.0, 0.0) < 0.75 && accuracy(f64::INFINITY, 1e3) < 0.75);
    }

    #[test]
    fn a_drop_is_obvious_from_the_tolerance_on() {
        let releases = |accuracy: f64| Releases { epsilon: 1.0, v: 1.0, accuracies: vec![accuracy; 2] };
        assert!(keeps(&releases(0.86), 0.9) && !keeps(&releases(0.84), 0.9));
    }
}
