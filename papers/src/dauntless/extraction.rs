//! Section 4 of Dauntless (Xiao and Devadas): answers of Algorithm 3, and adversaries that extract the model
//! from these answers.

use super::data::{Data, classes_of};
use super::{percent, point, share_alike};
use crate::report::{Evidence, Finding, Grid, four};
use crate::rules;
use crate::trials::Mean;
use crate::{CurvePoint, Error, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_accounting::pac::{Setting, theorem_3};
use scumble_classifier::{ClassifierParams, VectorModel};
use scumble_core::{Brief, Budget, Key, Table, Target, Volunteers};
use scumble_linalg::solve;

use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde_json::{Value, json};

/// A release that trains a model: its number of mixtures, and the epochs of the training.
#[derive(Debug, Clone, Copy)]
struct Case {
    samples: usize,
    epochs: usize,
    /// Number of answered queries at which findings compare adversaries.
    queries: usize,
}

/// The first release has as many mixtures as digits. The second and its queries are together within the
/// budget of Theorem 3 at the last error in [`SHARES`].
const CASES: [Case; 2] =
    [Case { samples: 60_000, epochs: 8, queries: 5000 }, Case { samples: 3000, epochs: 60, queries: 2500 }];

/// Numbers of answered queries.
const QUERIES: [usize; 5] = [100, 300, 1000, 2500, 5000];

/// Errors at which Theorem 3 is evaluated, as shares of the root mean square of a transformed sample.
const SHARES: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-7];

/// δ of Theorem 3: it excludes an approximation that succeeds with probability 1 − δ or more.
const DELTA: f64 = 0.1;

/// Variance of each coordinate of a half x/2 of a mixture, for x uniform in [0, 1].
const VARIANCE: f64 = 1.0 / 48.0;

/// Number of coordinates of a label vector, as in Table 2.
const LABEL_DIM: usize = 64;

/// Knowledge of the adversary: what its surrogate learns from.
const ADVERSARIES: [&str; 3] =
    ["the model asked directly", "answers of Algorithm 3", "answers, transformed mixtures and f_T"];

/// Results of one release.
#[derive(Debug, Clone)]
struct Outcome {
    /// Accuracy of the model asked directly, and of Algorithm 3's answers.
    accuracies: [f64; 2],
    /// Agreement of each adversary's surrogate with the model on held-out records, for each number of
    /// queries.
    agreements: Vec<[f64; 3]>,
    /// Accuracy of each adversary's surrogate on held-out records, for each number of queries.
    surrogates: Vec<[f64; 3]>,
    /// Error that the last adversary's estimate of T exceeds on a share [`DELTA`] of held-out records, as a
    /// share of the root mean square of T, for each number of queries.
    errors: Vec<f64>,
}

pub(super) fn section_4(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let mut data = Data::load(options, "mnist")?;
    let (mut cases, mut queries) = (CASES.to_vec(), QUERIES.to_vec());
    if options.quick {
        data = data.some([4000, 1000], &mut options.randomness(name, &[]).streams().stream(0))?;
        cases = vec![Case { samples: 2000, epochs: 10, queries: 300 }];
        queries.truncate(2);
    }
    let trials = options.trainings();
    (options.on_start)((cases.len() * trials) as u64);
    let budgets = budgets(data.domain.columns().len())?;
    let mut found: Vec<(Case, Vec<Outcome>)> = vec![];
    for case in cases {
        let one = |trial: usize| {
            let outcome = outcome(options, name, &data, case, &queries, trial)?;
            (options.on_step)();
            Ok(outcome)
        };
        found.push((case, (0..trials).into_par_iter().map(one).collect::<Result<_>>()?));
    }
    let findings = found.iter().flat_map(|(case, outcomes)| findings(*case, outcomes, &queries, &budgets));
    Ok(Evidence {
        trials,
        findings: findings.collect(),
        grids: found
            .iter()
            .map(|(case, outcomes)| grid(*case, outcomes, &queries))
            .chain([budget_grid(&budgets)])
            .collect(),
        notes: notes(&data, &budgets),
        picture: picture(&found, &queries),
    })
}

/// Numbers of samples that Theorem 3 allows, one for each error in [`SHARES`], for records of `dim`
/// coordinates and a transformation to as many.
fn budgets(dim: usize) -> Result<Vec<f64>> {
    let dim = dim as u64;
    // Root mean square of the length of s̄W, for W uniform on [−1, 1] and s̄ of variance 2·VARIANCE.
    let length = dim as f64 * (2.0 * VARIANCE / 3.0).sqrt();
    let budget = |share: &f64| {
        let setting = Setting {
            error: share * length,
            delta: DELTA,
            dim,
            beta: 1.0,
            public_variance: VARIANCE,
            private_variance: VARIANCE,
        };
        Ok(theorem_3(&setting, dim)?.budget.floor())
    };
    SHARES.iter().map(budget).collect()
}

fn parameters(samples: usize) -> Value {
    json!({
        "mixed": 2, "samples": samples, "mixing_weights": "random", "weights": "uniform", "bits": 32,
        "label_dim": LABEL_DIM,
    })
}

/// A model of a release, and what it says about the test records.
struct Service {
    model: VectorModel,
    /// Test records in random order. The adversary asks about the first half, and the second is held out.
    test: Table,
    /// Test records, each mixed with a private record and transformed (t × d′).
    mixed: Array2<f64>,
    /// Test records, transformed without mixing (t × d′).
    alone: Array2<f64>,
    /// Outputs of the model for `mixed`.
    outputs: Array2<f64>,
    /// Classes that Algorithm 3 answers.
    answers: Array1<usize>,
    /// Classes of the model asked about `alone`.
    direct: Array1<usize>,
}

/// Trains a model on a release of the private half of the training records, and asks it about the test
/// records.
fn service(options: &RunOptions, name: &str, data: &Data, case: Case, trial: usize) -> Result<Service> {
    let randomness = |place: u64| options.randomness(name, &[case.samples as u64, trial as u64, place]);
    let mut stream = randomness(0).streams().stream(0);
    let [public, private] = data.parted(0.5, &mut stream)?;
    let mut rows: Vec<usize> = (0..data.test.len()).collect();
    rows.shuffle(&mut stream);
    let test = data.test.select(&rows)?;
    let brief = Brief {
        volunteers: Volunteers::Public(public),
        ..Brief::new(data.domain.clone(), Budget::pure(1.0)?)
    };
    let released = |plugin: &str, parameters: &Value| {
        let design = options.registry.get(plugin)?.design(parameters, &brief)?;
        design.mechanism().release(&private, &mut randomness(1))
    };
    let parameters_of_inference = json!({ "queries": test.len(), "training": parameters(case.samples) });
    let release = released("dauntless-inference", &parameters_of_inference)?;
    // A release by the same random numbers has the same transformation and label vectors. Its key transforms
    // records without mixing them.
    let plain = released("dauntless-mix", &parameters(1))?.key;
    let (mixed, alone) = (release.key.view(&test)?, plain.view(&test)?);
    if mixed.target() != alone.target() {
        return Err(unusable("draws other label vectors than dauntless-mix from the same random numbers"));
    }
    let seen: Dataset<f64, f64, ndarray::Ix2> = release.table.try_into()?;
    let training = network(case.epochs, vec![256], options, trial).annealed(true).validation_share(0.0);
    let model = training.standardize(true).batch_size(128).check()?.fit(&seen)?;
    let outputs = model.predict(mixed.records());
    let answers = classes(&release.key, &test, outputs.clone())?;
    let direct = classes(&plain, &test, model.predict(alone.records()))?;
    let (mixed, alone) = (mixed.records().clone(), alone.records().clone());
    Ok(Service { model, test, mixed, alone, outputs, answers, direct })
}

/// Trains a model on a release, asks it about the test records, and attacks it with each number of `queries`.
fn outcome(
    options: &RunOptions,
    name: &str,
    data: &Data,
    case: Case,
    queries: &[usize],
    trial: usize,
) -> Result<Outcome> {
    let service = service(options, name, data, case, trial)?;
    let truth: Array1<usize> = classes_of(&service.test).into();
    let mut found = Outcome {
        accuracies: [&service.direct, &service.answers].map(|classes| share_alike(classes, &truth)),
        agreements: vec![],
        surrogates: vec![],
        errors: vec![],
    };
    let held = |classes: &Array1<usize>| classes.slice(s![truth.len() / 2..]).to_owned();
    let (direct, truth) = (held(&service.direct), held(&truth));
    for asked in queries {
        let (guesses, error) = attack(options, &service, *asked, trial)?;
        found.agreements.push(guesses.each_ref().map(|guess| share_alike(guess, &direct)));
        found.surrogates.push(guesses.each_ref().map(|guess| share_alike(guess, &truth)));
        found.errors.push(error);
    }
    Ok(found)
}

/// Attacks a model with `asked` queries. Returns the classes that the surrogate of each adversary gives to
/// the held-out records, and the error of [`Outcome::errors`].
fn attack(
    options: &RunOptions,
    service: &Service,
    asked: usize,
    trial: usize,
) -> Result<([Array1<usize>; 3], f64)> {
    let first = |table: &Array2<f64>| table.slice(s![..asked, ..]).to_owned();
    let held = |table: &Array2<f64>| table.slice(s![service.test.len() / 2.., ..]).to_owned();
    let (records, unseen) = (first(service.test.records()), held(service.test.records()));
    let by_answers = |answers: &Array1<usize>| -> Result<Array1<usize>> {
        let answers = answers.slice(s![..asked]).to_owned();
        let surrogate = network(40, vec![100], options, trial).standardize(false).check()?;
        Ok(surrogate.fit(&Dataset::new(records.clone(), answers))?.predict(&unseen))
    };
    let estimate = Transformation::estimate(&records, &first(&service.mixed))?;
    let transformed = estimate.apply(&unseen);
    let error = relative_error(&transformed, &held(&service.alone));
    let book = codebook(&first(&service.outputs), &service.answers.slice(s![..asked]).to_owned());
    let by_estimate = nearest(&service.model.predict(&transformed), &book);
    Ok(([by_answers(&service.direct)?, by_answers(&service.answers)?, by_estimate], error))
}

fn unusable(problem: &str) -> Error {
    Error::Mechanism { mechanism: "dauntless-inference".into(), problem: problem.into() }
}

fn network(epochs: usize, hidden: Vec<usize>, options: &RunOptions, trial: usize) -> ClassifierParams {
    let seed = super::seed_of(options, trial);
    ClassifierParams::default().hidden(hidden).epochs(epochs).seed(seed)
}

/// Classes that the owner of `key` reads from the `outputs` of the model for the records of `test`.
fn classes(key: &Key, test: &Table, outputs: Array2<f64>) -> Result<Array1<usize>> {
    match key.read(test, Target::Vector(outputs))? {
        Target::Class(classes) => Ok(classes),
        _ => Err(unusable("answers queries by something other than classes")),
    }
}

/// An adversary's estimate of the transformation T of records, from queries x and the transformed mixtures
/// T((x + x′)/2). The private records x′ are noise in the response.
struct Transformation {
    /// Mean of the queries.
    center: Array1<f64>,
    /// Mean of the transformed mixtures.
    mean: Array1<f64>,
    /// Estimate of W/2 (d × d′), for T(x) = xW + a.
    half: Array2<f64>,
}

impl Transformation {
    /// Fits by ridge regression. The penalty is the trace of the covariance of the queries. It is optimal if
    /// the weights of T are independent and of equal variance, and x′ has this covariance too.
    fn estimate(queries: &Array2<f64>, mixtures: &Array2<f64>) -> Result<Self> {
        let failed = || unusable("transforms records to numbers from which no regression can be computed");
        let center = queries.mean_axis(Axis(0)).ok_or_else(failed)?;
        let mean = mixtures.mean_axis(Axis(0)).ok_or_else(failed)?;
        let (inputs, outputs) = (queries - &center, mixtures - &mean);
        let mut gram = inputs.t().dot(&inputs);
        let penalty = gram.diag().sum() / queries.nrows() as f64;
        gram.diag_mut().mapv_inplace(|x| x + penalty);
        let half = solve(&gram, &inputs.t().dot(&outputs)).ok_or_else(failed)?;
        Ok(Self { center, mean, half })
    }

    /// Estimates T of each of `records`. The mean of private records is taken for that of the queries.
    fn apply(&self, records: &Array2<f64>) -> Array2<f64> {
        (records - &self.center).dot(&self.half) * 2.0 + &self.mean
    }
}

/// Error that the rows of `estimate` exceed on a share [`DELTA`] of the rows, divided by the root mean square
/// length of the rows of `truth`, centred.
fn relative_error(estimate: &Array2<f64>, truth: &Array2<f64>) -> f64 {
    let lengths = |rows: &Array2<f64>| rows.map_axis(Axis(1), |row| row.dot(&row).sqrt()).to_vec();
    let mut errors = lengths(&(estimate - truth));
    errors.sort_by(f64::total_cmp);
    let Some(mean) = truth.mean_axis(Axis(0)) else { return f64::NAN };
    let spread = lengths(&(truth - &mean));
    let square = spread.iter().map(|x| x * x).sum::<f64>() / spread.len() as f64;
    let at = ((1.0 - DELTA) * errors.len() as f64).ceil() as usize;
    errors.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN) / square.sqrt()
}

/// Estimates the label vector of each class from outputs of the model for mixtures, with the answered classes
/// of the queries. The output for a mixture is about half the sum of two label vectors. `None` for a class
/// that no answer has.
fn codebook(outputs: &Array2<f64>, answers: &Array1<usize>) -> Vec<Option<Array1<f64>>> {
    let most = answers.iter().max().copied().unwrap_or(0);
    let centers: Vec<Option<Array1<f64>>> = (0..=most)
        .map(|class| {
            let rows: Vec<usize> = (0..answers.len()).filter(|row| answers[*row] == class).collect();
            outputs.select(Axis(0), &rows).mean_axis(Axis(0))
        })
        .collect();
    let known: Vec<&Array1<f64>> = centers.iter().flatten().collect();
    let mut mean = Array1::<f64>::zeros(outputs.ncols());
    known.iter().for_each(|center| mean += *center);
    mean /= known.len().max(1) as f64;
    centers.iter().map(|center| center.as_ref().map(|center| center * 2.0 - &mean)).collect()
}

/// Class of the nearest label vector for each row.
fn nearest(outputs: &Array2<f64>, book: &[Option<Array1<f64>>]) -> Array1<usize> {
    let class = |row: ArrayView1<f64>| {
        let distances = book.iter().map(|code| match code {
            Some(code) => (&row - code).mapv(|x| x * x).sum(),
            None => f64::INFINITY,
        });
        distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(class, _)| class)
    };
    outputs.map_axis(Axis(1), class)
}

/// Values of all trials.
fn values(outcomes: &[Outcome], value: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    outcomes.iter().map(value).collect()
}

fn findings(case: Case, outcomes: &[Outcome], queries: &[usize], budgets: &[f64]) -> Vec<Finding> {
    let at = queries.iter().position(|asked| *asked == case.queries).unwrap_or(0);
    let within = SHARES.iter().zip(budgets).find(|(_, most)| (case.samples + case.queries) as f64 <= **most);
    let budget = match within {
        Some((share, most)) => format!(
            "mixtures and queries together are within the {most} samples that Theorem 3 allows at a relative \
             error of {share:e}"
        ),
        None => "mixtures and queries together exceed Theorem 3's budget at each error tried".into(),
    };
    let extraction = |adversary: usize, paper: &str| {
        let [asked, own] =
            [0, adversary].map(|adversary| values(outcomes, |found| found.agreements[at][adversary]));
        let cost = Mean::from_differences(&asked, &own).value;
        Finding {
            what: format!(
                "{} mixtures, {} queries: agreement with the model of a surrogate from {}",
                case.samples, case.queries, ADVERSARIES[adversary]
            ),
            paper: paper.into(),
            ours: format!("{} %, and {} % from the model asked directly", percent(&own), percent(&asked)),
            value: Some(100.0 * Mean::from_values(&own).value),
            decision: rules::DEFENDS.on(cost),
            why: budget.clone(),
        }
    };
    let mut found = vec![
        answers_finding(case, outcomes),
        extraction(1, "stealing the model is resolved by Algorithm 3"),
        extraction(2, "no stealing without an efficient approximation of T, even if f_T is known"),
    ];
    found.extend(theorem_finding(case, outcomes, at, budgets));
    found
}

/// Finding on the accuracy of Algorithm 3's answers.
fn answers_finding(case: Case, outcomes: &[Outcome]) -> Finding {
    let [direct, answers] = [0, 1].map(|at| values(outcomes, |found| found.accuracies[at]));
    let gain = Mean::from_differences(&answers, &direct);
    Finding {
        what: format!("{} mixtures: accuracy of Algorithm 3's answers", case.samples),
        paper: "the nearest label basis approximates the true label".into(),
        ours: format!("{} %, and {} % of the model asked directly", percent(&answers), percent(&direct)),
        value: Some(100.0 * gain.value),
        decision: rules::SAME_ANSWERS.on(gain.value),
        why: "the paper prints no number".into(),
    }
}

/// Finding on Theorem 3: no estimate of T is within the error that its budget is for. `None` if mixtures and
/// queries exceed each budget.
fn theorem_finding(case: Case, outcomes: &[Outcome], at: usize, budgets: &[f64]) -> Option<Finding> {
    let error = Mean::from_values(&values(outcomes, |found| found.errors[at])).value;
    let total = (case.samples + case.queries) as f64;
    let (share, _) = SHARES.iter().zip(budgets).find(|(_, most)| total <= **most)?;
    Some(Finding {
        what: format!(
            "{} mixtures, {} queries: relative error of an estimate of T by least squares",
            case.samples, case.queries
        ),
        paper: format!("above {share:e}, for this number of samples (Theorem 3)"),
        ours: format!("above {} on a share {DELTA} of the records", four(error)),
        value: Some(error),
        decision: rules::ABOVE_THEOREM.on(error / share),
        why: "the theorem's errors are far below those at which a surrogate agrees with the model".into(),
    })
}

fn grid(case: Case, outcomes: &[Outcome], queries: &[usize]) -> Grid {
    let header = ["queries", "surrogate from", "agreement, %", "accuracy, %", "relative error of T"];
    let rows = queries.iter().enumerate().flat_map(|(at, asked)| {
        ADVERSARIES.iter().enumerate().map(move |(adversary, name)| {
            let error = Mean::from_values(&values(outcomes, |found| found.errors[at])).value;
            vec![
                asked.to_string(),
                (*name).to_owned(),
                percent(&values(outcomes, |found| found.agreements[at][adversary])),
                percent(&values(outcomes, |found| found.surrogates[at][adversary])),
                if adversary == 2 { four(error) } else { String::new() },
            ]
        })
    });
    Grid::new(format!("Extraction of a model of {} mixtures", case.samples), header, rows)
}

fn budget_grid(budgets: &[f64]) -> Grid {
    let rows = SHARES.iter().zip(budgets).map(|(share, most)| vec![format!("{share:e}"), most.to_string()]);
    Grid::new(
        format!("Samples that Theorem 3 allows, at δ = {DELTA}"),
        ["relative error of T", "samples"],
        rows,
    )
}

fn notes(data: &Data, budgets: &[f64]) -> Vec<String> {
    vec![
        format!(
            "A random half of the {} training digits is public. Algorithm 2 mixes it with the private half \
             and transforms the mixtures by uniform weights (approach 2). The model has one layer of 256 \
             rectified linear units, and predicts label vectors of {LABEL_DIM} coordinates. The adversary \
             asks about test digits, at most {} of {}. The other half measures its surrogate. Agreement is \
             the share of records with the same class as the model asked directly.",
            data.train.len(),
            data.test.len() / 2,
            data.test.len()
        ),
        "Two adversaries see only a class for each query, and train a network of 100 hidden units on pixels. \
         The third is client and server. As Section 4 assumes, it also has f_T and the transformed mixtures. \
         It estimates T by ridge regression of mixtures on queries. The private record in each mixture is \
         noise for it. It estimates label vectors from its answers."
            .into(),
        format!(
            "Theorem 3 takes coordinates as normal, and is evaluated for the variance of a uniform \
             distribution on [0, 1]. At a relative error of {:e}, it allows {} samples. It says nothing of a \
             surrogate that approximates the model's answers and not T. Errata D5 and D11 apply.",
            SHARES[0],
            budgets.first().copied().unwrap_or(0.0)
        ),
    ]
}

fn picture(found: &[(Case, Vec<Outcome>)], queries: &[usize]) -> Picture {
    let panel = |(case, outcomes): &(Case, Vec<Outcome>)| {
        let curve = |(adversary, name): (usize, &&str)| {
            let points: Vec<CurvePoint> = queries
                .iter()
                .enumerate()
                .map(|(at, asked)| {
                    point(*asked as f64, &values(outcomes, |found| found.agreements[at][adversary]))
                })
                .collect();
            Layer { name: (*name).to_owned(), look: adversary, marks: Marks::Curve(points) }
        };
        Panel {
            title: format!("A model of {} mixtures", case.samples),
            across: Scale::logarithmic("queries"),
            up: Scale::linear("agreement with the model, %"),
            layers: ADVERSARIES.iter().enumerate().map(curve).collect(),
        }
    };
    Picture {
        title: "Extraction of a model through its answers (Section 4)".into(),
        panels: found.iter().map(panel).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use scumble_core::Registry;
    use std::path::Path;

    /// Queries −1 and 1, mixtures 3 ∓ 2, Gram matrix 2 and penalty 1, so W/2 = 4/3.
    #[test]
    fn the_transformation_is_estimated_by_ridge_regression() {
        let estimate = Transformation::estimate(&array![[-1.0], [1.0]], &array![[1.0], [5.0]]).unwrap();
        assert!((estimate.half[[0, 0]] - 4.0 / 3.0).abs() < 1e-12, "{}", estimate.half);
        assert!((estimate.apply(&array![[3.0]])[[0, 0]] - 11.0).abs() < 1e-12);
    }

    /// Mixtures of label vectors (1, 0) and (0, 1): the mean output of queries of one class is half its label
    /// vector, and half the mean label vector.
    #[test]
    fn label_vectors_are_estimated_from_outputs() {
        let outputs = array![[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 1.0]];
        let book = codebook(&outputs, &array![0, 0, 2, 2]);
        assert_eq!(book, [Some(array![1.0, 0.0]), None, Some(array![0.0, 1.0])]);
        assert_eq!(nearest(&array![[0.9, 0.2], [0.4, 0.6]], &book), array![0, 2]);
    }

    #[test]
    fn errors_are_relative_to_the_spread() {
        let truth = array![[-2.0], [2.0]];
        assert_eq!(relative_error(&truth, &truth), 0.0);
        assert_eq!(relative_error(&array![[-2.0], [3.0]], &truth), 0.5);
    }

    #[test]
    fn theorem_3_allows_more_samples_at_a_smaller_error() {
        let budgets = budgets(16).unwrap();
        assert!(budgets.is_sorted() && budgets.iter().all(|most| *most >= 0.0), "{budgets:?}");
        assert!(budgets.last() > budgets.first(), "{budgets:?}");
    }

    #[test]
    fn a_surrogate_from_answers_agrees_with_the_model() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let data = Data::made_up(2000, 6, 3);
        let case = Case { samples: 1000, epochs: 60, queries: 90 };
        let found = outcome(&options, "made-up", &data, case, &[90], 0).unwrap();
        assert!(found.accuracies.iter().all(|share| *share > 0.8), "{found:?}");
        assert!(found.agreements[0].iter().all(|share| *share > 0.7), "{found:?}");
        assert!(found.errors[0] > 1e-3 && found.errors[0] < 2.0, "{found:?}");
    }
}
