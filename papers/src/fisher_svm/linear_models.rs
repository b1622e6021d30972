//! Theorem 2.10 of Farokhi beyond its machine: one noisy table that keeps several linear models.

use super::kernel::{FeatureMap, kernel_accuracy};
use super::{design, sharp_machine};
use crate::gains::curve;
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Panel, Picture, Result, RunOptions, Scale};
use scumble_core::{RecordDomain, Stream, Table, Target, TargetDomain, largest};
use scumble_datasets::source;
use scumble_kkt::{LinearModel, Loss};

use ndarray::{Array2, ArrayView1};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use serde_json::{Value, json};

const MECHANISM: &str = "fisher-correlated";

/// A model that a release keeps, with weight 1 of its penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Model {
    Machine,
    Ridge,
    Huber,
    Logistic,
    SquaredHinge,
    Softmax,
}

use Model::{Huber, Logistic, Machine, Ridge, Softmax, SquaredHinge};

impl Model {
    /// Name in the parameter `keeps` of the mechanism, and in words.
    fn names(self) -> [&'static str; 2] {
        match self {
            Machine => ["support-vector-machine", "support vector machine"],
            Ridge => ["ridge", "ridge regression"],
            Huber => ["huber", "Huber regression"],
            Logistic => ["logistic", "logistic regression"],
            SquaredHinge => ["squared-hinge", "squared hinge loss"],
            Softmax => ["softmax", "multinomial logistic regression"],
        }
    }
}

/// A data set, the models that are learned from it, and the number of its records (`None` for all). With
/// `features`, models learn from as many features of a kernel, and not from the columns.
pub(super) struct Case {
    pub source: &'static str,
    pub models: &'static [Model],
    pub records: Option<usize>,
    pub features: Option<usize>,
}

const CASES: [Case; 6] = [
    Case {
        source: "wdbc",
        models: &[Machine, Ridge, Huber, Logistic, SquaredHinge],
        records: None,
        features: None,
    },
    Case {
        source: "wine",
        models: &[Machine, Ridge, Huber, Logistic, SquaredHinge],
        records: None,
        features: None,
    },
    Case {
        source: "adult",
        models: &[Machine, Ridge, Huber, Logistic, SquaredHinge],
        records: None,
        features: None,
    },
    Case { source: "diabetes", models: &[Ridge, Huber], records: None, features: None },
    Case { source: "iris", models: &[Softmax], records: None, features: None },
    // Ten regressions, each of one digit against the others.
    Case { source: "mnist", models: &[Ridge], records: Some(4000), features: None },
];

/// Noise variances, in units of R²/p, with the radius R of the domain and the number of columns p.
const VARIANCES: [f64; 5] = [0.0001, 0.001, 0.01, 0.1, 1.0];

/// Share of the records that the models do not learn from.
const HELD_OUT: f64 = 0.25;

/// Weights and bias of each score of a fitted model.
type Scores = Vec<(Vec<f64>, f64)>;

/// A model of one split of the records at one noise variance.
struct Outcome {
    /// Largest change of a coefficient after the release, divided by the largest coefficient.
    change: f64,
    /// The same change under independent noise of the same squared error.
    independent_change: f64,
    /// Score on held-out records of the models of the records, of the release, and of the records with
    /// independent noise: the accuracy in percent, or 100·R² for a number.
    scores: [f64; 3],
}

/// Outcomes of one data set.
pub(super) struct Found {
    case: &'static Case,
    /// Number of training records and of columns.
    size: [usize; 2],
    /// Squared error of a record of the first release at each noise variance, divided by that of the column
    /// means.
    errors: Vec<f64>,
    /// Outcomes by noise variance, model and trial.
    outcomes: Vec<Vec<Vec<Outcome>>>,
    /// Scores of a machine with the kernel, and of a linear machine, learned from the columns in the clear.
    /// Empty if models learn from the columns.
    pub by_kernel: Vec<f64>,
    pub by_line: Vec<f64>,
}

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let trials = if options.quick { 2 } else { 10 };
    let is_run = |case: &&Case| !(options.quick && ["adult", "mnist"].contains(&case.source));
    let cases: Vec<&Case> = CASES.iter().filter(is_run).collect();
    (options.on_start)((cases.len() * trials) as u64);
    let found = cases.into_iter().map(|case| Found::measure(options, name, case, trials));
    let found = found.collect::<Result<Vec<_>>>()?;
    let mut findings: Vec<Finding> = found.iter().map(Found::same).collect();
    findings.extend(found.iter().map(Found::gain));
    Ok(Evidence { trials, findings, grids: vec![grid(&found)], notes: notes(), picture: picture(&found) })
}

impl Found {
    pub fn measure(options: &RunOptions, name: &str, case: &'static Case, trials: usize) -> Result<Self> {
        let data = source(case.source)?.load(options.folder)?;
        let (whole, domain) = (data.table.whole()?, data.domain);
        let none = || VARIANCES.iter().map(|_| case.models.iter().map(|_| vec![]).collect()).collect();
        let size = [0, domain.columns().len()];
        let mut found =
            Self { case, size, errors: vec![], outcomes: none(), by_kernel: vec![], by_line: vec![] };
        for trial in 0..trials {
            let mut randomness = options.randomness(name, &[size[1] as u64, trial as u64]);
            let mut stream = randomness.streams().stream(0);
            let mut rows: Vec<usize> = (0..whole.len()).collect();
            rows.shuffle(&mut stream);
            rows.truncate(case.records.unwrap_or(rows.len()));
            let public = case.features.map(|_| rows.split_off(rows.len() - rows.len() / 10));
            let held_out = rows.split_off(rows.len() - (HELD_OUT * rows.len() as f64) as usize);
            let mut split =
                Split { train: whole.select(&rows)?, test: whole.select(&held_out)?, domain: domain.clone() };
            if let (Some(count), Some(public)) = (case.features, public) {
                found.by_kernel.push(kernel_accuracy(&split.train, &split.test)?);
                found.by_line.push(split.score(&split.fitted(Machine, split.train.records())?));
                let map = FeatureMap::new(whole.select(&public)?.records(), count, &mut stream)?;
                split = split.mapped(&map)?;
            }
            found.size = [split.train.len(), split.domain.columns().len()];
            let clear = split.models(case, split.train.records())?;
            for (at, factor) in VARIANCES.into_iter().enumerate() {
                let mechanism = design(options, MECHANISM, &split.parameters(case, factor), &split.domain)?;
                let release = mechanism.release(&split.train, &mut randomness)?;
                let noise = release.table.records() - split.train.records();
                let error = noise.iter().map(|x| x * x).sum::<f64>() / noise.nrows() as f64;
                if trial == 0 {
                    let variances = split.train.records().var_axis(ndarray::Axis(0), 0.0);
                    found.errors.push(error / variances.sum());
                }
                let kept = split.models(case, release.table.records())?;
                let noisy = independent(split.train.records(), error, &mut stream);
                let noisy = split.models(case, &noisy)?;
                for (model, outcomes) in found.outcomes[at].iter_mut().enumerate() {
                    let [clear, kept, noisy] = [&clear[model], &kept[model], &noisy[model]];
                    outcomes.push(Outcome {
                        change: change(clear, kept),
                        independent_change: change(clear, noisy),
                        scores: [clear, kept, noisy].map(|scores| split.score(scores)),
                    });
                }
            }
            (options.on_step)();
        }
        Ok(found)
    }

    /// All outcomes of a model at every noise variance.
    fn all(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().flatten().flatten()
    }

    pub fn source(&self) -> &'static str {
        self.case.source
    }

    /// Scores of the first model of the release with the largest noise, one for each trial.
    pub fn kept_scores(&self) -> Vec<f64> {
        let outcomes = self.outcomes.last().and_then(|models| models.first()).into_iter().flatten();
        outcomes.map(|outcome| outcome.scores[1]).collect()
    }

    fn words(&self) -> String {
        let models = self.case.models.iter().map(|model| model.names()[1]);
        let models = models.collect::<Vec<_>>().join(", ");
        format!("{} ({} records, {} columns): {models}", self.case.source, self.size[0], self.size[1])
    }

    pub fn same(&self) -> Finding {
        let change = self.all().map(|outcome| outcome.change).fold(0.0, f64::max);
        let independent = self.outcomes.iter().map(|models| {
            let changes = models.iter().flatten().map(|outcome| outcome.independent_change);
            changes.fold(f64::INFINITY, f64::min)
        });
        let independent = independent.fold(f64::INFINITY, f64::min);
        Finding {
            what: format!("one noisy table keeps each model, {}", self.words()),
            paper: "a support vector machine remains exactly the same".into(),
            ours: format!("no coefficient changes by more than {change:.1e} of the largest"),
            value: Some(change),
            decision: rules::SAME_MODELS.on(change),
            why: format!(
                "our extension of Theorem 2.10 (errata F16); independent noise of the same squared error \
                 changes a coefficient of every model by at least {independent:.1e}"
            ),
        }
    }

    /// Finding on the gain over independent noise, at the largest noise variance.
    pub fn gain(&self) -> Finding {
        let last = VARIANCES.len() - 1;
        let gains = self.outcomes[last].iter().map(|outcomes| {
            let of = |at: usize| outcomes.iter().map(|outcome| outcome.scores[at]).collect::<Vec<_>>();
            Mean::from_differences(&of(1), &of(2))
        });
        let gains: Vec<Mean> = gains.collect();
        let least = gains.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value));
        let least = least.unwrap_or(Mean { value: 0.0, error: 0.0 });
        Finding {
            what: format!(
                "{}: gain over independent noise of the same squared error, {} times that of the column \
                 means",
                self.case.source,
                four(self.errors[last])
            ),
            paper: "no comparison".into(),
            ours: format!("at least {} ± {} points, for each model", four(least.value), four(least.error)),
            value: Some(least.value),
            decision: rules::CLEAR_GAIN.on(least.in_errors()),
            why: "± a standard error, on held-out records; points of accuracy, or of 100·R² for a number"
                .into(),
        }
    }
}

/// Training and test records of one trial.
struct Split {
    train: Table,
    test: Table,
    domain: RecordDomain,
}

impl Split {
    /// Replaces the columns by features of a kernel.
    fn mapped(&self, map: &FeatureMap) -> Result<Self> {
        let domain = map.domain(&self.domain)?;
        let [train, test] = [&self.train, &self.test].map(|table| map.table(table, &domain));
        Ok(Self { train: train?, test: test?, domain })
    }

    /// Parameters of the mechanism with noise of variance `factor`·R²/p (see [`VARIANCES`]).
    fn parameters(&self, case: &Case, factor: f64) -> Value {
        let keeps: Vec<Value> =
            case.models.iter().map(|model| json!({ "model": model.names()[0] })).collect();
        let variance = factor * self.domain.features().squared_radius() / self.domain.columns().len() as f64;
        json!({ "keeps": keeps, "variance": variance })
    }

    /// Number of classes; 0 for a number.
    fn classes(&self) -> usize {
        match self.domain.target() {
            TargetDomain::Class { levels } => levels.len(),
            _ => 0,
        }
    }

    /// Fits each model of `case` to `records` (n × d) with the targets of the training records.
    fn models(&self, case: &Case, records: &Array2<f64>) -> Result<Vec<Scores>> {
        case.models.iter().map(|model| self.fitted(*model, records)).collect()
    }

    fn fitted(&self, model: Model, records: &Array2<f64>) -> Result<Scores> {
        match self.train.target() {
            Target::Class(classes) if model == Softmax => {
                let classes = classes.to_vec();
                solved(records, Loss::Softmax { classes: &classes, count: self.classes() })
            }
            Target::Class(classes) => {
                // The second of two classes, or each of several, against the others.
                let positive = if self.classes() == 2 { 1..2 } else { 0..self.classes() };
                let one = |class: usize| {
                    let sign = |own: &usize| if *own == class { 1.0 } else { -1.0 };
                    one_score(model, records, &classes.iter().map(sign).collect::<Vec<f64>>())
                };
                Ok(positive.map(one).collect::<Result<Vec<_>>>()?.concat())
            }
            Target::Real(values) => one_score(model, records, &values.to_vec()),
            _ => Ok(vec![]),
        }
    }

    /// Score of a model on the test records: accuracy in percent, or 100·R² for a number.
    fn score(&self, scores: &Scores) -> f64 {
        let of =
            |(weights, bias): &(Vec<f64>, f64)| self.test.records().dot(&ArrayView1::from(weights)) + *bias;
        let scores: Vec<_> = scores.iter().map(of).collect();
        let records = 0..self.test.len();
        100.0
            * match self.test.target() {
                Target::Class(classes) => {
                    let guessed = |row: usize| match &scores[..] {
                        [score] => usize::from(score[row] > 0.0),
                        scores => largest(&scores.iter().map(|score| score[row]).collect::<Vec<_>>()),
                    };
                    records.filter(|&row| guessed(row) == classes[row]).count() as f64
                        / self.test.len() as f64
                }
                Target::Real(values) => {
                    let error = (values - &scores[0]).mapv(|error| error * error).sum();
                    1.0 - error / (values.var(0.0) * values.len() as f64)
                }
                _ => f64::NAN,
            }
    }
}

/// Fits a model of one score to numbers or signs.
fn one_score(model: Model, records: &Array2<f64>, targets: &[f64]) -> Result<Scores> {
    match model {
        Machine => {
            let machine = sharp_machine(records, targets)?;
            Ok(vec![(machine.weights, machine.bias)])
        }
        Ridge | Softmax => solved(records, Loss::Squared(targets)),
        Huber => solved(records, Loss::Huber { targets, threshold: 1.0 }),
        Logistic => solved(records, Loss::Logistic(targets)),
        SquaredHinge => solved(records, Loss::SquaredHinge(targets)),
    }
}

fn solved(records: &Array2<f64>, loss: Loss) -> Result<Scores> {
    let fitted = LinearModel::new(records.view(), loss, 1.0)?.solve(1e-9, 200)?;
    Ok(fitted.weights.into_iter().zip(fitted.biases).collect())
}

/// Adds independent normal noise of the same variance to each number of `records` (n × d), so that a record
/// has the expected squared error `error`.
fn independent(records: &Array2<f64>, error: f64, stream: &mut Stream) -> Array2<f64> {
    let deviation = (error / records.ncols() as f64).sqrt();
    records.mapv(|x| x + deviation * stream.sample::<f64, _>(StandardNormal))
}

/// Largest change of a coefficient from `before` to `after`, divided by the largest coefficient of `before`.
fn change(before: &Scores, after: &Scores) -> f64 {
    let coefficients = |scores: &Scores| -> Vec<f64> {
        scores.iter().flat_map(|(weights, bias)| weights.iter().copied().chain([*bias])).collect()
    };
    let (before, after) = (coefficients(before), coefficients(after));
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |most: f64, x| most.max(x.abs()));
    largest(&mut before.iter().zip(&after).map(|(a, b)| a - b)) / largest(&mut before.iter().copied())
}

/// Formats a mean with its standard error.
pub(super) fn mean(values: &[f64]) -> String {
    let Mean { value, error } = Mean::from_values(values);
    format!("{value:.1} ± {error:.1}")
}

pub(super) fn grid(found: &[Found]) -> Grid {
    let header = [
        "data",
        "model",
        "change of a coefficient",
        "change under independent noise",
        "score in the clear",
        "after the release",
        "under independent noise",
    ];
    let rows = found.iter().flat_map(|found| {
        let last = &found.outcomes[VARIANCES.len() - 1];
        found.case.models.iter().zip(last).map(|(model, outcomes)| {
            let largest = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).fold(0.0, f64::max);
            let score = |at: usize| {
                let scores: Vec<f64> = outcomes.iter().map(|outcome| outcome.scores[at]).collect();
                mean(&scores)
            };
            vec![
                found.case.source.to_owned(),
                model.names()[1].to_owned(),
                format!("{:.1e}", largest(|outcome| outcome.change)),
                format!("{:.1e}", largest(|outcome| outcome.independent_change)),
                score(0),
                score(1),
                score(2),
            ]
        })
    });
    Grid::new("Models of one release, at the largest noise", header, rows)
}

fn notes() -> Vec<String> {
    vec![
        format!(
            "Models have a penalty of weight 1 and a bias without penalty; the machine has θ = 1 and ρ = \
             0.01. Numbers are scaled to [0, 1] by public bounds, and a category has a column per level. \
             A random quarter of the records is held out. The variance of the noise is {:?} times R²/p, with \
             R the radius of the domain and p the number of columns.",
            VARIANCES
        ),
        "Independent noise is normal, and moves records by the same mean squared distance. It protects every \
         record by itself. The kept models are no secret: an adversary that knows all other records computes \
         the last one (errata F12)."
            .into(),
        "Scores are accuracies in percent, and 100·R² for diabetes.".into(),
    ]
}

fn picture(found: &[Found]) -> Picture {
    let shown = found.iter().filter(|found| ["wdbc", "wine", "adult"].contains(&found.case.source));
    gain_of_kept(shown, "One noisy table that keeps linear models, and independent noise of the same size")
}

/// Picture of the scores with both noises, with one panel for each data set.
pub(super) fn gain_of_kept<'f>(found: impl IntoIterator<Item = &'f Found>, title: &str) -> Picture {
    let panel = |found: &Found| {
        let model = found.case.models.iter().position(|model| *model == Logistic).unwrap_or(0);
        let scores = |at: usize| {
            let of = move |models: &Vec<Vec<Outcome>>| {
                models[model].iter().map(|outcome| outcome.scores[at]).collect::<Vec<f64>>()
            };
            found.errors.iter().copied().zip(found.outcomes.iter().map(of))
        };
        Panel {
            title: format!("{}, {}", found.case.source, found.case.models[model].names()[1]),
            across: Scale::logarithmic("squared error of a record, divided by that of the column means"),
            up: Scale::linear("score on held-out records, in percent"),
            layers: vec![
                curve("noise that keeps the models", 0, scores(1)),
                curve("independent noise", 1, scores(2)),
            ],
        }
    };
    Picture { title: title.into(), panels: found.into_iter().map(panel).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_share_of_the_largest_coefficient() {
        let before = vec![(vec![1.0, -4.0], 2.0), (vec![0.0, 1.0], 0.0)];
        let mut after = before.clone();
        assert_eq!(change(&before, &after), 0.0);
        after[1].0[0] = -1.0;
        assert_eq!(change(&before, &after), 0.25);
    }

    #[test]
    fn independent_noise_has_the_given_error() {
        let mut stream = scumble_core::Randomness::seeded(1).streams().stream(0);
        let clear = Array2::zeros((20_000, 5));
        let noisy = independent(&clear, 3.0, &mut stream);
        let error = noisy.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        // The standard error is 3·√(2/5/20,000) = 0.013.
        assert!((error - 3.0).abs() < 0.07, "{error}");
    }
}
