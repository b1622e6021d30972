//! Mechanisms beside each other: each is designed, releases training records, a model learns from them, and is scored on
//! clean test records; and an adversary learns from them, and is scored on the records that she does not know.

mod adversary;
mod choice;
mod data;
mod designed;
mod experiment;
mod metric;
mod model;
mod outcome;
mod scored;
mod split;
mod stored;
mod tuning;

pub use adversary::Adversary;
pub use choice::Choice;
pub(crate) use designed::VOLUNTEERS;
pub use experiment::Experiment;
pub use metric::Metric;
pub use model::{Model, Settings};
pub use outcome::{Outcome, Row, Scorer, Scores, Series, Skipped};
pub use split::{SplitKind, Splitting, balance};
pub(crate) use tuning::Tuning;
pub use tuning::{Chosen, Tunable, Tuned, TunedOn};

use crate::classic::{Arrangement, LABEL_SHARE, Protect, asked};
use crate::classifier;
use crate::datasets::{self, DataSet};
use crate::linear;
use crate::registry::{
    self, Brief, Budget, Guarantee, Mechanism, Notion, Plugin, Randomness, Registry, Table, Target,
    TargetDomain, Unit, Volunteers, number,
};
use crate::store::{self, Store, hexadecimal};
use crate::svm;
use data::{blind_guesses, check_learnable, misfit};
use outcome::LABEL_SHARE as LABEL_SHARE_GIVEN;
use rayon::prelude::*;
use scored::{Score, Scored};
use serde_json::{Map, Value, json};
use split::{Split, check_share};
use std::collections::BTreeMap;
use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::path::Path;
use std::time::Instant;
use stored::Stored;
use tuning::{Rehearsal, ask, chosen_by_volunteers, combinations, with_asked};

/// More trials than this nobody waits for.
const MOST_TRIALS: usize = 100_000;

/// What can stop a comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data, schema, design or release.
    #[error(transparent)]
    Registry(#[from] registry::Error),
    /// A data set that cannot be loaded.
    #[error(transparent)]
    DataSet(#[from] datasets::Error),
    /// A linear model that could not be fitted.
    #[error(transparent)]
    Linear(#[from] linear::Error),
    /// A support vector machine that could not be fitted.
    #[error(transparent)]
    Machine(#[from] svm::Error),
    /// A network that could not be fitted.
    #[error(transparent)]
    Network(#[from] classifier::Error),
    /// Data on which nothing can be compared.
    #[error("{0}")]
    Data(String),
    /// A model that could not learn from a release.
    #[error("{model} on {mechanism}, trial {trial}: {source}")]
    Trial {
        /// The model.
        model: String,
        /// The mechanism and its budget.
        mechanism: String,
        /// Which trial, counted from 1.
        trial: usize,
        /// Why.
        source: Box<Error>,
    },
    /// An experiment's file, or a store of finished trials, that cannot be used.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it, with the line or the key.
        problem: String,
    },
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::File { file, problem } => Self::File { file, problem },
            store::Error::Key(problem) => Self::Data(problem),
            store::Error::Registry(error) => Self::Registry(error),
        }
    }
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
    /// How records are split into those to learn from and those for tests.
    pub splitting: Splitting,
    /// The models; each learns from the same releases.
    pub models: Vec<Model>,
    /// The metrics; each scores the same predictions, or what the adversary learns.
    pub metrics: Vec<Metric>,
    /// The adversary, who takes part where a metric is of her.
    pub adversary: Adversary,
    /// What of a record is protected: mechanisms that cannot protect it are left out, but for those that claim nothing. If nothing is said,
    /// each protects the most that it can, and its row says what.
    pub protect: Option<Protect>,
    /// The share of ε that a label gets where a mechanism of its own releases it, in (0, 1).
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
    /// Parameters that are chosen on volunteers, at each budget anew, among these values.
    pub tune: BTreeMap<String, Vec<Value>>,
}

impl Entrant {
    /// This plugin with its defaults.
    pub fn new(plugin: Plugin) -> Self {
        Self { plugin, parameters: Value::Null, tune: BTreeMap::new() }
    }

    /// Every registered mechanism that designs quickly, with its defaults.
    pub fn quick(registry: &Registry) -> Vec<Self> {
        let plugins = registry.iter().filter(|plugin| plugin.pace == registry::Pace::Quick);
        plugins.map(|plugin| Self::new(*plugin)).collect()
    }

    /// The parameters that were given: an object, with a list where one is chosen.
    fn given(&self) -> Value {
        let mut given = match &self.parameters {
            Value::Null => json!({}),
            given => given.clone(),
        };
        if let Value::Object(given) = &mut given {
            given.extend(self.tune.iter().map(|(name, values)| (name.clone(), values.clone().into())));
        }
        given
    }

    /// Those among which one is chosen; of one that is not tuned, itself.
    fn candidates(&self) -> Vec<Self> {
        if self.tune.is_empty() {
            return vec![self.clone()];
        }
        let fixed = self.parameters.as_object().cloned().unwrap_or_default().into_iter().collect();
        let all = combinations(fixed, &self.tune).into_iter();
        let candidate = |parameters| Value::Object(Map::from_iter(parameters));
        all.map(|parameters| Self { parameters: candidate(parameters), ..Self::new(self.plugin) }).collect()
    }

    /// What was chosen, where this is one of the candidates of `tuned`.
    fn chosen_of(&self, tuned: &Self) -> BTreeMap<String, Value> {
        let own = self.parameters.as_object().into_iter().flatten();
        let own = own.filter(|(name, _)| tuned.tune.contains_key(*name));
        own.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// A designed mechanism at its budget.
struct Cell {
    /// With the parameters that were chosen.
    entrant: Entrant,
    /// As they are shown.
    parameters: Value,
    /// The command that makes it, where there is one.
    design: Option<String>,
    epsilon: Option<f64>,
    mechanism: Box<dyn Mechanism>,
    /// What was chosen on volunteers, if anything was.
    tuned: Option<Tuned>,
    /// Who is scored, models with the hyper-parameters that were chosen on volunteers.
    scorers: Vec<Scorer>,
}

/// A budget that a plain `compare` shows.
const EPSILONS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY];

/// For people: the mechanism and its budget.
impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.entrant.plugin.name)?;
        self.epsilon.map_or(Ok(()), |epsilon| write!(formatter, " at ε = {}", number::short(epsilon)))
    }
}

impl Comparison {
    /// These entrants on these data, with the defaults of the command: six budgets from ε = 0.5 to none with δ = 10⁻⁶, 50
    /// trials on splits at random with a fifth of the records for tests, half of ε for labels of their own, seed 1, the first model and metric that
    /// fit the target, and what an adversary who knows half of the records learns of the others.
    pub fn new(data: DataSet, entrants: Vec<Entrant>) -> Self {
        let target = data.domain.target();
        Self {
            models: vec![Model::default_for(target)],
            metrics: Metric::fitting(target).take(1).chain([Metric::Recovered, Metric::Advantage]).collect(),
            adversary: Adversary::default(),
            data,
            entrants,
            epsilons: EPSILONS.to_vec(),
            delta: 1e-6,
            trials: 50,
            splitting: Splitting::random(0.2),
            protect: None,
            label_share: LABEL_SHARE,
            seed: 1,
        }
    }

    /// The budget at which promises are spelled out: 1 if it is there, else the first finite one.
    pub fn promised_at(&self) -> Option<f64> {
        let finite = || self.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
        finite().find(|epsilon| *epsilon == 1.0).or_else(|| finite().next())
    }

    /// For machines: what came out, of which data, and by which seed.
    pub fn to_json(&self, outcome: &Outcome) -> Value {
        // Whatever is no number is null in it, and so nothing keeps it from being written.
        let mut value = json!(outcome);
        value["data"] = json!({
            "name": self.data.name,
            "target": self.data.target,
            "drafted": self.data.is_drafted,
        });
        value["seed"] = self.seed.into();
        value
    }

    /// Runs it on all cores. `on_start` hears how many trials there will be, `on_trial` of each one's end.
    ///
    /// The same seed gives the same scores whatever the number of threads.
    ///
    /// # Errors
    /// [`Error`] for settings out of range, too few records or classes, and whatever stops a mechanism or model.
    pub fn run(&self, on_start: impl FnOnce(u64), on_trial: impl Fn() + Sync) -> Result<Outcome> {
        self.run_with(None, on_start, on_trial)
    }

    /// The same, where trials that stand in the file `store` are taken from it, and the others are added to it.
    ///
    /// # Errors
    /// As [`run`](Self::run), and where the store cannot be read or written, or another run is at work on it: it holds all that
    /// was finished before.
    pub fn resume(
        &self,
        store: &Path,
        on_start: impl FnOnce(u64),
        on_trial: impl Fn() + Sync,
    ) -> Result<Outcome> {
        self.run_with(Some(store), on_start, on_trial)
    }

    fn run_with(
        &self,
        store: Option<&Path>,
        on_start: impl FnOnce(u64),
        on_trial: impl Fn() + Sync,
    ) -> Result<Outcome> {
        check_learnable(&self.data)?;
        self.check_settings()?;
        let (cells, skipped) = self.cells()?;
        if let (true, Some(Skipped { mechanism, reason, .. })) = (cells.is_empty(), skipped.first()) {
            return Err(Error::Data(format!(
                "nothing is left to compare: {mechanism} is left out: {reason}"
            )));
        }
        on_start((cells.len() * self.trials) as u64);
        // Whatever is refused leaves no file behind.
        let stored = store.map(|file| Stored::new(Store::open(file)?, self, &cells)).transpose()?;
        let jobs: Vec<(usize, usize)> =
            (0..cells.len()).flat_map(|cell| (0..self.trials).map(move |trial| (cell, trial))).collect();
        // Each job draws its split again: to hold them all would take the data times the trials.
        let scored: Vec<Vec<Scored>> = jobs
            .par_iter()
            .map(|&(cell, trial)| {
                let before = stored.as_ref().map(|stored| stored.find(cell, trial)).transpose()?;
                let before = before.unwrap_or_else(|| vec![None; cells[cell].scorers.len()]);
                let scored = self.trial(&cells[cell], trial, before, |scorer, scored| match &stored {
                    Some(stored) => stored.add(cell, trial, scorer, scored),
                    None => Ok(()),
                })?;
                on_trial();
                Ok(scored)
            })
            .collect::<Result<_>>()?;
        let blind_guesses = self.blind_guesses()?;
        let split = self.split(0);
        let (train_records, test_records) = split.sizes();
        Ok(Outcome {
            rows: self.rows(&cells, &scored, train_records, split.asked())?,
            skipped,
            blind_guess: self.metrics.first().map_or(f64::NAN, |metric| blind_guesses[metric]),
            blind_guesses,
            train_records,
            test_records,
            volunteers: self.splitting.volunteers(&self.data),
            asked: split.asked(),
        })
    }

    /// The mean score of guessing, by every metric that is asked for.
    fn blind_guesses(&self) -> Result<BTreeMap<Metric, f64>> {
        let targets = self.data.table.part(&self.data.domain.without_features())?;
        let mut scores: BTreeMap<Metric, Vec<f64>> =
            self.metrics.iter().map(|&metric| (metric, vec![])).collect();
        for trial in 0..self.trials {
            let split = self.split(trial);
            let (train, test) = (split.train(&targets)?, split.test(&targets)?);
            for (metric, score) in
                data::score(&self.data, &blind_guesses(train.target(), test.len()), test.target())
            {
                scores.entry(metric).and_modify(|scores| scores.push(score));
            }
        }
        let mean = |metric: Metric, scores: &[f64]| match metric {
            // Without a release she guesses the mean, whose error is the variance, and tells nothing apart.
            Metric::Recovered | Metric::Advantage | Metric::Audited => 0.0,
            Metric::UnbiasedError => 1.0,
            _ => mean_and_sd(scores).0,
        };
        Ok(scores.into_iter().map(|(metric, scores)| (metric, mean(metric, &scores))).collect())
    }

    /// The models, and the adversary and the audit where a metric is of them.
    fn scorers(&self) -> Vec<Scorer> {
        let others = [Scorer::Adversary(self.adversary), Scorer::Audit].into_iter();
        let others = others.filter(|scorer| self.metrics.iter().any(|metric| scorer.is_scored_by(*metric)));
        self.models.iter().cloned().map(Scorer::Model).chain(others).collect()
    }

    fn split(&self, trial: usize) -> Split {
        Split::draw(&self.splitting, &self.data, self.seed, trial)
    }

    fn check_settings(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Data(problem));
        check_trials(self.trials)?;
        check_epsilons(&self.epsilons, self.delta)?;
        for (at, entrant) in self.entrants.iter().enumerate() {
            let is_the_same = |before: &Entrant| {
                before.plugin.name == entrant.plugin.name && before.given() == entrant.given()
            };
            if self.entrants[..at].iter().any(is_the_same) {
                return refuse(format!("the mechanism {:?} stands there twice", entrant.plugin.name));
            }
        }
        for (at, model) in self.models.iter().enumerate() {
            if !model.fits(self.data.domain.target()) {
                return Err(misfit(&self.data, &format!("the model {:?}", model.name())));
            }
            if self.models[..at].contains(model) {
                return refuse(format!("the model {model} stands there twice"));
            }
        }
        for (at, metric) in self.metrics.iter().enumerate() {
            if !metric.fits(self.data.domain.target()) {
                return Err(misfit(&self.data, &format!("the metric {:?}", metric.name())));
            }
            if self.metrics[..at].contains(metric) {
                return refuse(format!("the metric {metric} stands there twice"));
            }
        }
        if self.models.is_empty() || self.metrics.iter().all(|metric| metric.is_of_adversary()) {
            return refuse("a comparison needs one model and one metric of its predictions, or more".into());
        }
        self.adversary.check()?;
        self.splitting.check(&self.data)?;
        self.check_tuning()?;
        check_share("label_share", self.label_share)
    }

    /// Whether somebody's records pay for what is to be chosen.
    fn check_tuning(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Data(problem));
        let is_tuned = |entrant: &&Entrant| !entrant.tune.is_empty();
        let lists =
            self.entrants.iter().flat_map(|entrant| entrant.tune.iter().map(move |list| (entrant, list)));
        for (entrant, (parameter, values)) in lists {
            let name = entrant.plugin.name;
            if values.is_empty() {
                return refuse(format!(
                    "the mechanism {name:?}: there is no value to choose {parameter} among"
                ));
            }
            if !matches!(entrant.parameters, Value::Null | Value::Object(_)) {
                return refuse(format!("the mechanism {name:?}: its parameters are no object"));
            }
        }
        if let (0.0, Some(entrant)) = (self.splitting.volunteers, self.entrants.iter().find(is_tuned)) {
            let name = entrant.plugin.name;
            return refuse(format!(
                "the mechanism {name:?} is tuned on volunteers, and there are none: [split] takes volunteers = 0.3, say"
            ));
        }
        let Some(model) = self.models.iter().find(|model| model.is_tuned()) else {
            return Ok(());
        };
        let name = model.name();
        match (self.splitting.validation, self.data.domain.target()) {
            (0.0, _) if self.splitting.volunteers == 0.0 => refuse(format!(
                "the model {name:?} is tuned on volunteers or by private validation, and there is neither: [split] takes \
                 volunteers = 0.3 or validation = 0.2, say"
            )),
            (0.0, _) | (_, TargetDomain::Class { .. }) => Ok(()),
            _ => refuse(format!(
                "the model {name:?} cannot be tuned by private validation, which asks whether a class is right, and {:?} is a \
                 number: volunteers can",
                self.data.target
            )),
        }
    }

    /// Every entrant that applies, at every budget.
    fn cells(&self) -> Result<(Vec<Cell>, Vec<Skipped>)> {
        let volunteers = self.splitting.volunteered(&self.data, self.seed)?;
        let rehearsal = Rehearsal::new(self, &volunteers);
        let mut cells = vec![];
        let mut skipped = vec![];
        for entrant in &self.entrants {
            match self.cells_of(entrant, &volunteers, rehearsal.as_ref()) {
                Ok(own) => cells.extend(own),
                Err(Error::Registry(registry::Error::NotApplicable { reason, .. })) => {
                    let (mechanism, parameters) = (entrant.plugin.name.into(), entrant.given());
                    skipped.push(Skipped { mechanism, parameters, reason });
                }
                Err(error) => return Err(error),
            }
        }
        Ok((cells, skipped))
    }

    fn cells_of(
        &self,
        entrant: &Entrant,
        volunteers: &Volunteers,
        rehearsal: Option<&Rehearsal>,
    ) -> Result<Vec<Cell>> {
        let brief = Brief {
            volunteers: volunteers.clone(),
            ..Brief::new(self.data.domain.clone(), Budget::pure(1.0)?)
        };
        let brief = |epsilon| Budget::new(epsilon, self.delta).map(|budget| brief.with_budget(budget));
        let named = |epsilon: f64, error| match error {
            // Its numbers are shares of the budget: the budget itself makes the sentence whole.
            registry::Error::Budget { .. } => {
                let (name, epsilon) = (entrant.plugin.name, number::short(epsilon));
                Error::Data(format!("{name} at ε = {epsilon}: {error}"))
            }
            error => error.into(),
        };
        // An infinite budget claims nothing: what a mechanism is shows at a finite one.
        let candidates = entrant.candidates();
        let probes = candidates
            .iter()
            .map(|candidate| self.alone(candidate, &brief(1.0)?).map_err(|error| named(1.0, error)));
        let mut probes: Vec<Box<dyn Mechanism>> = probes.collect::<Result<_>>()?;
        let probe = &probes[0];
        for other in &probes[1..] {
            if promised(&other.guarantee()) != promised(&probe.guarantee()) {
                return Err(Error::Data(format!(
                    "{}: candidates that promise different things cannot be chosen among by their scores: {}, and {}",
                    entrant.plugin.name,
                    probe.guarantee().summary(),
                    other.guarantee().summary()
                )));
            }
        }
        if let Some(model) = self.models.iter().find(|model| !model.learns(probe.released_target())) {
            let reason =
                format!("its labels leave as vectors, and the model {:?} does not learn them", model.name());
            return Err(registry::Error::not_applicable(entrant.plugin.name, reason).into());
        }
        let name = entrant.plugin.name;
        let wanted = asked(self.protect, &entrant.parameters);
        let arrangement = Arrangement::of(name, &probe.guarantee(), self.data.domain.target(), wanted)?;
        let design = |entrant: &Entrant, epsilon: f64| {
            let Entrant { plugin, parameters, .. } = entrant;
            let design = arrangement.design(plugin, parameters, &brief(epsilon)?, self.label_share);
            let design = design.map_err(|error| named(epsilon, error))?;
            Ok::<_, Error>(design.into_mechanism())
        };
        let protects = arrangement.protects(&probe.guarantee());
        let is_completed = arrangement == Arrangement::WithLabel;
        let mut parameters = entrant.given();
        if is_completed {
            parameters[LABEL_SHARE_GIVEN] = self.label_share.into();
        }
        let has_dp = probe.guarantee().has_dp();
        let cell = |epsilon: f64, chosen: &Entrant, mechanism: Box<dyn Mechanism>| {
            Ok(Cell {
                design: self.design_command(chosen, protects, is_completed, epsilon, &*mechanism),
                parameters: parameters.clone(),
                epsilon: has_dp.then_some(epsilon),
                mechanism,
                tuned: (!entrant.tune.is_empty()).then(|| Tuned {
                    what: Tunable::Mechanism,
                    on: TunedOn::Volunteers,
                    people: self.splitting.volunteers(&self.data),
                    chosen: vec![Chosen { parameters: chosen.chosen_of(entrant), trials: self.trials }],
                }),
                scorers: self.chosen_scorers(chosen, rehearsal, epsilon)?,
                entrant: chosen.clone(),
            })
        };
        if !has_dp {
            // Whatever it is given, it claims the same: alone, the probe is it.
            let place = self.best_of(&candidates, rehearsal, 1.0)?;
            let mechanism = match arrangement {
                Arrangement::Alone => probes.swap_remove(place),
                _ => design(&candidates[place], 1.0)?,
            };
            return Ok(vec![cell(1.0, &candidates[place], mechanism)?]);
        }
        let at = |&epsilon: &f64| {
            let chosen = &candidates[self.best_of(&candidates, rehearsal, epsilon)?];
            cell(epsilon, chosen, design(chosen, epsilon)?)
        };
        self.epsilons.iter().map(at).collect()
    }

    /// The place of the candidate that does best on volunteers, by what the first model makes of it.
    fn best_of(&self, candidates: &[Entrant], rehearsal: Option<&Rehearsal>, epsilon: f64) -> Result<usize> {
        let Some(rehearsal) = rehearsal.filter(|_| candidates.len() > 1) else {
            return Ok(0);
        };
        let model = self.models[0].candidates().remove(0);
        let pairs: Vec<(Entrant, Model)> =
            candidates.iter().map(|candidate| (candidate.clone(), model.clone())).collect();
        rehearsal.best(&pairs, epsilon)
    }

    /// Who is scored on releases of this mechanism: where models are tuned and nobody is asked, those that do best on volunteers.
    fn chosen_scorers(
        &self,
        entrant: &Entrant,
        rehearsal: Option<&Rehearsal>,
        epsilon: f64,
    ) -> Result<Vec<Scorer>> {
        let chosen = |scorer: Scorer| match (scorer, rehearsal) {
            (Scorer::Model(model), Some(rehearsal))
                if model.is_tuned() && self.splitting.validation == 0.0 =>
            {
                let mut candidates = model.candidates();
                let pairs: Vec<(Entrant, Model)> =
                    candidates.iter().map(|candidate| (entrant.clone(), candidate.clone())).collect();
                Ok(Scorer::Model(candidates.remove(rehearsal.best(&pairs, epsilon)?)))
            }
            (scorer, _) => Ok(scorer),
        };
        self.scorers().into_iter().map(chosen).collect()
    }

    /// The mechanism as it is.
    fn alone(&self, entrant: &Entrant, brief: &Brief) -> registry::Result<Box<dyn Mechanism>> {
        Ok(entrant.plugin.design(&entrant.parameters, brief)?.into_mechanism())
    }

    /// Releases once for all that have not been scored `before`; `on_scored` hears of each that is now.
    fn trial(
        &self,
        cell: &Cell,
        trial: usize,
        before: Vec<Option<Scored>>,
        on_scored: impl Fn(usize, &Scored) -> Result<()>,
    ) -> Result<Vec<Scored>> {
        if before.iter().all(Option::is_some) {
            return Ok(before.into_iter().flatten().collect());
        }
        let start = Instant::now();
        let split = self.split(trial);
        let (train, test) = (split.train(&self.data.table)?, split.test(&self.data.table)?);
        let release = cell.mechanism.release(&train, &mut Randomness::seeded(split.noise_seed))?;
        let viewed = release.key.view(&test)?;
        let releasing = start.elapsed();
        let predict = |model: &Model, records: &Table, viewed: &Table| -> Result<Target> {
            let predicted = model.predict(&release, viewed).map_err(|error| Error::Trial {
                model: model.to_string(),
                mechanism: cell.to_string(),
                trial: trial + 1,
                source: error.into(),
            })?;
            Ok(release.key.read(records, predicted)?)
        };
        let score = |at: usize| {
            if !cell.scorers[at].takes_part_in(trial) {
                return Ok(Scored::default());
            }
            let start = Instant::now();
            let (scores, chosen): (BTreeMap<Metric, f64>, Option<usize>) = match &cell.scorers[at] {
                Scorer::Model(model) if model.is_tuned() => {
                    // Those who are asked first, so that each candidate learns once.
                    let both = split.asked_and_test(&self.data.table)?;
                    let viewed = release.key.view(&both)?;
                    let candidates = model.candidates();
                    let all = candidates.iter().map(|candidate| predict(candidate, &both, &viewed));
                    let all: Vec<Target> = all.collect::<Result<_>>()?;
                    let right: Vec<Vec<bool>> =
                        all.iter().map(|predicted| right(predicted, both.target(), split.asked())).collect();
                    let chosen = ask(&right, cell.epsilon.unwrap_or(f64::INFINITY), split.answer_seed)?;
                    let predicted = data::without_first(&all[chosen], split.asked());
                    (data::score(&self.data, &predicted, test.target()).collect(), Some(chosen))
                }
                Scorer::Model(model) => {
                    let predicted = predict(model, &test, &viewed)?;
                    (data::score(&self.data, &predicted, test.target()).collect(), None)
                }
                Scorer::Adversary(adversary) => {
                    let keeps_rows = cell.mechanism.keeps_rows();
                    (adversary.scores(&train, &release, keeps_rows, split.noise_seed)?, None)
                }
                Scorer::Audit => {
                    let name = cell.entrant.plugin.name;
                    let shown = adversary::audited(name, &*cell.mechanism, self.seed)?;
                    (BTreeMap::from([(Metric::Audited, shown)]), None)
                }
            };
            let scores = scores.into_iter().map(|(metric, score)| (metric, Score(score))).collect();
            let scored = Scored { scores, seconds: (releasing + start.elapsed()).as_secs_f64(), chosen };
            on_scored(at, &scored)?;
            Ok(scored)
        };
        before.into_iter().enumerate().map(|(at, found)| found.map_or_else(|| score(at), Ok)).collect()
    }

    /// The rows, from the trials of each cell, one after the other, of which each released so many records, and asked so many people.
    fn rows(
        &self,
        cells: &[Cell],
        scored: &[Vec<Scored>],
        released: usize,
        asked: usize,
    ) -> Result<Vec<Row>> {
        let mut rows = vec![];
        for (at, scorer) in self.scorers().iter().enumerate() {
            for &metric in self.metrics.iter().filter(|metric| scorer.is_scored_by(**metric)) {
                for (cell, trials) in cells.iter().zip(scored.chunks(self.trials)) {
                    let trials = trials.iter().enumerate().filter(|(trial, _)| scorer.takes_part_in(*trial));
                    let of_scorer: Vec<&Scored> = trials.map(|(_, scorers)| &scorers[at]).collect();
                    let scores: Vec<f64> = of_scorer.iter().map(|scored| scored.score(metric)).collect();
                    let (mean, sd) = mean_and_sd(&scores);
                    let release = cell.mechanism.guarantee_of(released);
                    let release = if cell.tuned.is_some() { chosen_by_volunteers(release) } else { release };
                    let of_model = self.tuned_model(cell, at, scorer, &of_scorer, asked);
                    let is_asked = |tuned: &Tuned| tuned.on == TunedOn::PrivateValidation;
                    let guarantee = match of_model.as_ref().is_some_and(is_asked) {
                        true => with_asked(&release, cell.epsilon.unwrap_or(f64::INFINITY))?,
                        false => release,
                    };
                    rows.push(Row {
                        mechanism: cell.entrant.plugin.name.into(),
                        parameters: cell.parameters.clone(),
                        design: cell.design.clone(),
                        epsilon: cell.epsilon,
                        scorer: scorer.clone(),
                        metric,
                        mean,
                        sd,
                        bound: metric.bound(&guarantee, &self.data.table),
                        trials: scores.len(),
                        tuned: cell.tuned.iter().cloned().chain(of_model).collect(),
                        guarantee,
                        seconds: of_scorer.iter().map(|scored| scored.seconds).sum(),
                    });
                }
            }
        }
        Ok(rows)
    }

    /// What was chosen of a model: on volunteers once for this cell, or in each trial by those who were asked.
    fn tuned_model(
        &self,
        cell: &Cell,
        at: usize,
        scorer: &Scorer,
        trials: &[&Scored],
        asked: usize,
    ) -> Option<Tuned> {
        let (Scorer::Model(tuned), Scorer::Model(own)) = (scorer, &cell.scorers[at]) else {
            return None;
        };
        if !tuned.is_tuned() {
            return None;
        }
        let what = Tunable::Model;
        if !own.is_tuned() {
            let chosen = vec![Chosen { parameters: own.chosen_of(tuned), trials: trials.len() }];
            let people = self.splitting.volunteers(&self.data);
            return Some(Tuned { what, on: TunedOn::Volunteers, people, chosen });
        }
        let counted = tuned.candidates().into_iter().enumerate().map(|(place, candidate)| Chosen {
            parameters: candidate.chosen_of(tuned),
            trials: trials.iter().filter(|scored| scored.chosen == Some(place)).count(),
        });
        let chosen = counted.filter(|chosen| chosen.trials > 0).collect();
        Some(Tuned { what, on: TunedOn::PrivateValidation, people: asked, chosen })
    }
}

/// Whether each of the first so many is predicted right.
fn right(predicted: &Target, truth: &Target, count: usize) -> Vec<bool> {
    match (predicted, truth) {
        (Target::Class(predicted), Target::Class(truth)) => {
            predicted.iter().zip(truth).take(count).map(|(predicted, truth)| predicted == truth).collect()
        }
        _ => vec![],
    }
}

/// What is promised of what, whatever the numbers.
fn promised(guarantee: &Guarantee) -> Vec<(Unit, Discriminant<Notion>)> {
    guarantee.claims.iter().map(|claim| (claim.protects, discriminant(&claim.notion))).collect()
}

/// # Errors
/// [`Error::Data`] for none, or for more than anybody waits for.
fn check_trials(trials: usize) -> Result<()> {
    if (1..=MOST_TRIALS).contains(&trials) {
        return Ok(());
    }
    Err(Error::Data(format!("a comparison needs between 1 and {MOST_TRIALS} trials, and not {trials}")))
}

/// # Errors
/// [`Error`] for no budget, one that is none, and one that stands twice.
fn check_epsilons(epsilons: &[f64], delta: f64) -> Result<()> {
    if epsilons.is_empty() {
        return Err(Error::Data("a comparison needs one epsilon or more".into()));
    }
    for (at, &epsilon) in epsilons.iter().enumerate() {
        Budget::new(epsilon, delta)?;
        if epsilons[..at].contains(&epsilon) {
            return Err(Error::Data(format!("epsilon {epsilon} stands there twice")));
        }
    }
    Ok(())
}

/// A budget for people: ∞ for none.
pub(crate) fn in_words(epsilon: f64) -> String {
    if epsilon.is_infinite() { "∞".into() } else { number::short(epsilon) }
}

/// The mean, and the sample standard deviation, which one value does not have.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    match values {
        [only] => (*only, f64::NAN),
        // Their sum would be rounded.
        [first, rest @ ..] if rest.iter().all(|value| value == first) => (*first, 0.0),
        _ => {
            let mean = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (mean, (squares / (n - 1.0)).sqrt())
        }
    }
}
