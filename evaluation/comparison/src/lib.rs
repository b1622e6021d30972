//! Comparison of mechanisms on the same splits of a data set.
//!
//! A *candidate* is a mechanism with its parameters, and a *cell* is a candidate at one budget ε. Each cell
//! runs the same number of *trials*. In each trial, it releases the training records of one split.
//! *Volunteers* are people who allow the design of a mechanism, and models, to learn from their records. The
//! volunteers' records are neither released nor used for tests.
//!
//! A model learns from the release, and is scored on held-out test records. An adversary knows the release
//! and some of the records, and is scored on its inferences about the other records. The released table is
//! compared with the training records.

mod adversary;
mod baselines;
mod candidate;
mod cells;
mod check;
mod choice;
mod combinations;
mod data;
mod designed;
mod error;
mod evidence;
mod experiment;
mod fidelity;
mod influence;
mod metric;
mod model;
mod or_null;
mod outcome;
mod prediction;
mod reference;
mod rows;
mod run;
mod scored;
mod scorer;
mod shuffler;
mod split;
mod spread;
mod stacked;
pub mod store;
mod stored;
mod trial;
mod trust;
mod tuned;
mod tuning;
pub mod validation;
mod worth;

pub use adversary::Adversary;
pub use candidate::Candidate;
pub use choice::{Choice, Goal};
pub use designed::{COLLECT, DesignCall, placeholders};
pub use error::{Error, Result};
pub use experiment::Experiment;
pub use metric::Metric;
pub use model::{Model, Settings};
pub use outcome::{Against, Failed, Outcome, Row, Scores, Series, Skipped, in_words};
pub use reference::{Knows, Reference};
pub use scorer::Scorer;
pub use split::{SplitKind, Splitting, balance};
pub use spread::mean_and_sd;
pub use trust::Trust;
pub use tuned::{Chosen, Tunable, Tuned, TunedOn};
pub use tuning::Tuning;
pub use worth::{LearningCurve, Worth, at_most};

use scumble_core::{Plugin, Protect, Registry, TargetDomain, Task, number};
use scumble_custody::LABEL_SHARE;
use scumble_datasets::DataSet;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Settings of a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// Data set.
    pub data: DataSet,
    /// Purpose of the release, which every mechanism knows.
    pub task: Task,
    /// Mechanisms, each with its parameters.
    pub candidates: Vec<Candidate>,
    /// Budgets ε in the order of display; infinity for no privacy.
    pub epsilons: Vec<f64>,
    /// δ of every budget, in [0, 1). A mechanism that does not need δ spends none.
    pub delta: f64,
    /// Number of trials of each cell (one mechanism at one ε). Each trial has its own noise, and its own
    /// random split unless the data set's own split is used.
    pub trials: usize,
    /// Split of the records into training and test records.
    pub splitting: Splitting,
    /// Models; each learns from the same releases.
    pub models: Vec<Model>,
    /// Metrics. Each scores a model's predictions, an adversary, or the released table.
    pub metrics: Vec<Metric>,
    /// Adversary that reconstructs records. It is used only if one of `metrics` scores it.
    pub adversary: Adversary,
    /// Part of each record that must be protected. A mechanism that cannot protect this part is left out,
    /// unless its guarantee protects no part at all. With `None`, each mechanism protects as much as it can,
    /// and its row of the outcome names the protected part.
    pub protect: Option<Protect>,
    /// Share of ε for the label, in (0, 1), if a separate mechanism releases the label.
    pub label_share: f64,
    /// If true, also includes rows in the shuffler's trust model: a shuffler permutes all people's reports of
    /// a local mechanism at random. The central ε of the shuffled reports is then one of `epsilons`.
    pub shuffler: bool,
    /// If true, models learn only from the release. If false, they also learn from the volunteers' records,
    /// provided that these have labels.
    pub release_alone: bool,
    /// Random seed of splits and noise.
    pub seed: u64,
}

/// Warning about scores of a data set that is not public.
const NOT_PRIVATE: &str = "NOT private: no guarantee covers these scores of private records in the clear. \
                           They are for the owner of the data. Choosing a mechanism by these scores spends \
                           privacy that no budget counts.";

/// Mechanisms that are compared with label DP on a numeric target.
const LABEL_DP: [&str; 2] = ["hybrid", "laplace"];

/// Default budgets ε of a comparison.
const EPSILONS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY];

impl Comparison {
    /// Creates a comparison of `candidates` on `data` with the command's defaults.
    ///
    /// The defaults are six budgets from ε = 0.5 to infinity with δ = 10⁻⁶. Each cell has 50 trials on random
    /// splits, with a fifth of the records for tests. A label that a separate mechanism releases gets half of
    /// ε, and the seed is 1. The model is [`Model::default_for`] the target. The metrics are
    /// [`Metric::default_for`] the data, [`Metric::Recovered`] and [`Metric::Advantage`]. The adversary knows
    /// half of the records.
    pub fn new(data: DataSet, candidates: Vec<Candidate>) -> Self {
        let target = data.domain.target();
        Self {
            models: vec![Model::default_for(target)],
            metrics: vec![Metric::default_for(&data), Metric::Recovered, Metric::Advantage],
            adversary: Adversary::default(),
            data,
            task: Task::Unknown,
            candidates,
            epsilons: EPSILONS.to_vec(),
            delta: 1e-6,
            trials: 50,
            splitting: Splitting::random(0.2),
            protect: None,
            label_share: LABEL_SHARE,
            shuffler: false,
            release_alone: false,
            seed: 1,
        }
    }

    /// Adds candidates that protect a numeric target alone, so that the outcome has label DP.
    ///
    /// Other mechanisms protect whole records if the target is a number. Adds nothing for other targets, or
    /// if [`protect`](Self::protect) requests a part.
    pub fn add_label_dp(&mut self, registry: &Registry) {
        if self.protect.is_some() || !matches!(self.data.domain.target(), TargetDomain::Real { .. }) {
            return;
        }
        for plugin in LABEL_DP.iter().filter_map(|name| registry.get(name).ok()) {
            let candidate =
                Candidate { parameters: json!({ "protect": "label" }), ..Candidate::new(*plugin) };
            let is_same = |other: &Candidate| {
                other.plugin.name == plugin.name && other.parameters == candidate.parameters
            };
            if !self.candidates.iter().any(is_same) {
                self.candidates.push(candidate);
            }
        }
    }

    /// Plugins of the recommended mechanisms, each once, in the order of their names.
    pub fn chosen_plugins(&self, choices: &[Choice]) -> Vec<Plugin> {
        let names = choices.iter().filter_map(|choice| Some(&*choice.best?.1.mechanism));
        names.collect::<BTreeSet<_>>().into_iter().filter_map(|name| self.plugin(name)).collect()
    }

    /// Plugin of the candidates named `name`.
    pub fn plugin(&self, name: &str) -> Option<Plugin> {
        let mut plugins = self.candidates.iter().map(|candidate| candidate.plugin);
        plugins.find(|plugin| plugin.name == name)
    }

    /// Budget ε at which the claims of each mechanism are displayed in full: 1 if `epsilons` has it,
    /// otherwise the first finite budget. The result is `None` without a finite budget.
    pub fn claims_at(&self) -> Option<f64> {
        let finite = || self.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
        finite().find(|epsilon| *epsilon == 1.0).or_else(|| finite().next())
    }

    /// Warning about scores of private records; `None` for a public data set.
    pub fn warning(&self) -> Option<&'static str> {
        (!self.data.is_public).then_some(NOT_PRIVATE)
    }

    /// Rows of `outcome` as CSV, with the same numbers as in [`to_json`](Self::to_json) and each guarantee in
    /// one line.
    pub fn to_csv(&self, outcome: &Outcome) -> String {
        outcome.to_csv(self.warning().unwrap_or_default())
    }

    /// `outcome` as JSON, with a description of the data, versions, settings and seed. Rows with differential
    /// privacy are in `rows`. All other rows are in `without_dp`, because scores with and without
    /// differential privacy must not be compared.
    pub fn to_json(&self, outcome: &Outcome) -> Value {
        // NaN becomes null and infinities become text, so serialisation cannot fail.
        let mut value = json!(outcome);
        let rows = outcome.rows.iter().map(|row| {
            let mut value = json!(row);
            value["dp"] = row.has_dp().into();
            value
        });
        let (rows, without): (Vec<_>, Vec<_>) = rows.partition(|row| row["dp"] == true);
        (value["rows"], value["without_dp"]) = (rows.into(), without.into());
        let data = &self.data;
        if let Some(warning) = self.warning() {
            value["warning"] = warning.into();
        }
        value["data"] = json!({
            "public": data.is_public,
            "name": data.name,
            "target": data.target,
            "drafted": data.is_drafted,
            "records": data.table.len(),
            "columns": data.table.columns().len(),
            // A digest of few private records would confirm a guess of their values.
            "sha256": data.is_public.then(|| data::digest(data).ok()),
        });
        let plugins =
            self.candidates.iter().map(|candidate| (candidate.plugin.name, candidate.plugin.version));
        value["versions"] = json!({
            "scumble": env!("CARGO_PKG_VERSION"),
            "mechanisms": plugins.collect::<BTreeMap<_, _>>(),
        });
        value["settings"] = json!({
            "splitting": self.splitting,
            "epsilons": self.epsilons.iter().map(|epsilon| number::to_json(*epsilon)).collect::<Vec<_>>(),
            "delta": self.delta,
            "trials": self.trials,
            "label_share": self.label_share,
            "release_alone": self.release_alone,
        });
        if let Task::Linear(matrix) = &self.task {
            value["settings"]["task_matrix"] =
                json!(matrix.outer_iter().map(|row| row.to_vec()).collect::<Vec<_>>());
        }
        value["seed"] = self.seed.into();
        value
    }
}
