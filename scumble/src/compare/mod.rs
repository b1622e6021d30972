//! Mechanisms beside each other: each is designed, releases training records, a model learns from them, and is scored on
//! clean test records.

mod data;
mod outcome;

pub use data::DataSet;
pub use outcome::{Outcome, Row, Skipped};

use crate::classic::RandomizedResponse;
use crate::linear::{self, LogisticParams, RidgeParams};
use crate::registry::{
    self, Brief, Budget, Composed, Mechanism, Plugin, Randomness, Registry, Table, Target, TargetDomain,
    Unit, number,
};
use linfa::traits::{Fit, Predict};
use ndarray::Array1;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// More trials than this nobody waits for.
const MOST_TRIALS: usize = 100_000;

/// What can stop a comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data, schema, design or release.
    #[error(transparent)]
    Registry(#[from] registry::Error),
    /// A model that could not be fitted.
    #[error(transparent)]
    Model(#[from] linear::Error),
    /// Data on which nothing can be compared.
    #[error("{0}")]
    Data(String),
}

/// The result of comparing.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is compared, and how.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The data.
    pub data: DataSet,
    /// The mechanisms, each with its parameters.
    pub entrants: Vec<Entrant>,
    /// The budgets, in the order in which they are shown; infinity for none.
    pub epsilons: Vec<f64>,
    /// The δ of every budget, in [0, 1): mechanisms without a use for it spend none.
    pub delta: f64,
    /// How often each cell is repeated, with another split and other noise.
    pub trials: usize,
    /// The share of the records that is kept for tests, in (0, 1).
    pub test_share: f64,
    /// The share of ε that a label gets where a mechanism leaves it to randomised response, in (0, 1).
    pub label_share: f64,
    /// The seed of splits and noise.
    pub seed: u64,
}

/// A mechanism that takes part.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// The plugin.
    pub plugin: Plugin,
    /// Its parameters: an object, or null for the defaults.
    pub parameters: Value,
}

impl Entrant {
    /// Every registered mechanism that designs quickly, with its defaults.
    pub fn quick(registry: &Registry) -> Vec<Self> {
        let plugins = registry.iter().filter(|plugin| plugin.pace == registry::Pace::Quick);
        plugins.map(|plugin| Self { plugin: *plugin, parameters: Value::Null }).collect()
    }
}

/// A designed mechanism at its budget.
struct Cell {
    name: &'static str,
    parameters: Value,
    epsilon: Option<f64>,
    mechanism: Box<dyn Mechanism>,
}

impl Comparison {
    /// Runs it on all cores. `on_start` hears how many trials there will be, `on_trial` of each one's end.
    ///
    /// The same seed gives the same scores whatever the number of threads.
    ///
    /// # Errors
    /// [`Error`] for settings out of range, too few records or classes, and whatever stops a mechanism or model.
    pub fn run(&self, on_start: impl FnOnce(u64), on_trial: impl Fn() + Sync) -> Result<Outcome> {
        self.data.check_learnable()?;
        self.check_settings()?;
        let (cells, skipped) = self.cells()?;
        on_start((cells.len() * self.trials) as u64);
        let jobs: Vec<(usize, usize)> =
            (0..cells.len()).flat_map(|cell| (0..self.trials).map(move |trial| (cell, trial))).collect();
        // Each job draws its split again: to hold them all would take the data times the trials.
        let scored: Vec<(f64, Duration)> = jobs
            .par_iter()
            .map(|&(cell, trial)| {
                let start = Instant::now();
                let score = self.score(&*cells[cell].mechanism, &Split::draw(self, trial)?)?;
                on_trial();
                Ok((score, start.elapsed()))
            })
            .collect::<Result<_>>()?;
        let guesses = (0..self.trials).map(|trial| Ok(self.data.blind_guess(&Split::draw(self, trial)?)));
        let guesses: Vec<f64> = guesses.collect::<Result<_>>()?;
        let tests = self.test_records();
        Ok(Outcome {
            rows: cells
                .into_iter()
                .zip(scored.chunks(self.trials))
                .map(|(cell, trials)| self.row(cell, trials))
                .collect(),
            skipped,
            blind_guess: mean_and_sd(&guesses).0,
            train_records: self.data.table.len() - tests,
            test_records: tests,
        })
    }

    /// Test records a trial: the share, but one on either side at least.
    fn test_records(&self) -> usize {
        let records = self.data.table.len();
        ((records as f64 * self.test_share).round() as usize).clamp(1, records - 1)
    }

    fn check_settings(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Data(problem));
        if !(1..=MOST_TRIALS).contains(&self.trials) {
            return refuse(format!(
                "a comparison needs between 1 and {MOST_TRIALS} trials, and not {}",
                self.trials
            ));
        }
        if self.epsilons.is_empty() {
            return refuse("a comparison needs one epsilon or more".into());
        }
        for (at, &epsilon) in self.epsilons.iter().enumerate() {
            Budget::new(epsilon, self.delta)?;
            if self.epsilons[..at].contains(&epsilon) {
                return refuse(format!("epsilon {epsilon} stands there twice"));
            }
        }
        for (at, entrant) in self.entrants.iter().enumerate() {
            if self.entrants[..at].iter().any(|before| before.plugin.name == entrant.plugin.name) {
                return refuse(format!("the mechanism {:?} stands there twice", entrant.plugin.name));
            }
        }
        for (name, share) in [("test_share", self.test_share), ("label_share", self.label_share)] {
            if !(share > 0.0 && share < 1.0) {
                return refuse(format!(
                    "{name} must lie strictly between zero and one, and {share} does not"
                ));
            }
        }
        Ok(())
    }

    /// Every entrant that applies, at every budget.
    fn cells(&self) -> Result<(Vec<Cell>, Vec<Skipped>)> {
        let mut cells = vec![];
        let mut skipped = vec![];
        for entrant in &self.entrants {
            match self.cells_of(entrant) {
                Ok(own) => cells.extend(own),
                Err(Error::Registry(registry::Error::NotApplicable { reason, .. })) => {
                    skipped.push(Skipped { mechanism: entrant.plugin.name.into(), reason })
                }
                Err(error) => return Err(error),
            }
        }
        Ok((cells, skipped))
    }

    fn cells_of(&self, entrant: &Entrant) -> Result<Vec<Cell>> {
        let design = |epsilon: f64| {
            let brief = Brief::new(self.data.domain.clone(), Budget::new(epsilon, self.delta)?);
            self.design(entrant, &brief).map_err(|error| match error {
                // Its numbers are shares of the budget: the budget itself makes the sentence whole.
                registry::Error::Budget { .. } => {
                    let (name, epsilon) = (entrant.plugin.name, number::short(epsilon));
                    Error::Data(format!("{name} at ε = {epsilon}: {error}"))
                }
                error => error.into(),
            })
        };
        // An infinite budget claims nothing: what a mechanism is shows at a finite one.
        let (probe, completed) = design(1.0)?;
        let mut parameters = match &entrant.parameters {
            Value::Null => json!({}),
            given => given.clone(),
        };
        if completed {
            parameters["label_share"] = self.label_share.into();
        }
        let cell = |epsilon, mechanism| Cell {
            name: entrant.plugin.name,
            parameters: parameters.clone(),
            epsilon,
            mechanism,
        };
        if !probe.guarantee().has_dp() {
            return Ok(vec![cell(None, probe)]);
        }
        self.epsilons.iter().map(|&epsilon| Ok(cell(Some(epsilon), design(epsilon)?.0))).collect()
    }

    /// The mechanism, and whether randomised response had to take the label: a mechanism that protects the features
    /// alone is completed, so that the whole record is protected within the budget.
    fn design(
        &self,
        entrant: &Entrant,
        brief: &Brief,
    ) -> Result<(Box<dyn Mechanism>, bool), registry::Error> {
        let design = |brief: &Brief| entrant.plugin.design(&entrant.parameters, brief);
        let alone = design(brief)?.into_mechanism();
        let guarantee = alone.guarantee();
        let leaves_label =
            guarantee.local_dp(Unit::Record).is_none() && guarantee.local_dp(Unit::Features).is_some();
        if !(leaves_label && matches!(brief.domain.target(), TargetDomain::Class { .. })) {
            return Ok((alone, false));
        }
        let (label, features) = brief.budget.split(self.label_share)?;
        // Randomised response has no use for δ.
        let features = Budget::new(features.epsilon(), brief.budget.delta())?;
        let features = design(&brief.for_part(brief.domain.without_target())?.with_budget(features))?;
        let label = RandomizedResponse::new(brief.domain.without_features(), label.epsilon())?;
        let both = Composed::features_with_labels(features.into_mechanism(), Box::new(label))?;
        Ok((Box::new(both), true))
    }

    fn score(&self, mechanism: &dyn Mechanism, split: &Split) -> Result<f64> {
        let release = mechanism.release(&split.train, &mut Randomness::seeded(split.noise_seed))?;
        let test = release.key.view(&split.test)?;
        match (release.table.target(), split.test.target()) {
            (Target::Class(released), Target::Class(truth)) => {
                let first = released.first().copied().unwrap_or_default();
                let dataset = linfa::Dataset::try_from(release.table)?;
                let predicted = match LogisticParams::default().fit(&dataset) {
                    Ok(model) => model.predict(test.records()),
                    // Who sees one class predicts it.
                    Err(linear::Error::OneClass { .. }) => Array1::from_elem(truth.len(), first),
                    Err(error) => return Err(error.into()),
                };
                Ok(accuracy(&predicted, truth))
            }
            (Target::Real(_), Target::Real(truth)) => {
                let dataset: linfa::Dataset<f64, f64, ndarray::Ix1> = release.table.try_into()?;
                let model = RidgeParams::default().fit(&dataset)?;
                Ok(rmse(&model.predict(test.records()), truth) * self.data.target_width)
            }
            (released, _) => Err(Error::Data(format!(
                "{}: a model of a released target that is {} cannot be scored",
                self.data.name,
                released.kind()
            ))),
        }
    }

    fn row(&self, cell: Cell, trials: &[(f64, Duration)]) -> Row {
        let scores: Vec<f64> = trials.iter().map(|(score, _)| *score).collect();
        let (mean, sd) = mean_and_sd(&scores);
        let (model, metric) = self.data.model_and_metric();
        Row {
            mechanism: cell.name.into(),
            parameters: cell.parameters,
            epsilon: cell.epsilon,
            model,
            metric,
            mean,
            sd,
            trials: scores.len(),
            guarantee: cell.mechanism.guarantee(),
            seconds: trials.iter().map(|(_, time)| time.as_secs_f64()).sum(),
        }
    }
}

/// One trial's records and its seed of noise: the same for every mechanism and budget.
struct Split {
    train: Table,
    test: Table,
    noise_seed: u64,
}

impl Split {
    fn draw(comparison: &Comparison, trial: usize) -> Result<Self, registry::Error> {
        let mut rng = ChaCha20Rng::seed_from_u64(comparison.seed);
        rng.set_stream(trial as u64);
        let table = &comparison.data.table;
        let mut rows: Vec<usize> = (0..table.len()).collect();
        rows.shuffle(&mut rng);
        let (test, train) = rows.split_at(comparison.test_records());
        Ok(Self { train: table.select(train)?, test: table.select(test)?, noise_seed: rng.next_u64() })
    }
}

fn accuracy(predicted: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let hits = predicted.iter().zip(truth).filter(|(p, t)| p == t).count();
    hits as f64 / truth.len() as f64
}

fn rmse(predicted: &Array1<f64>, truth: &Array1<f64>) -> f64 {
    let squares = (predicted - truth).mapv(|error| error * error);
    (squares.sum() / truth.len() as f64).sqrt()
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}
