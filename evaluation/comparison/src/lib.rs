//! Mechanisms beside each other: each is designed, releases training records, a model learns from the release, and is scored on
//! held-out test records; an adversary learns from the release, and is scored on the records that it does not know; and the released table
//! is compared with the records that it was made of.

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
mod metric;
mod model;
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
pub use designed::VOLUNTEERS;
pub use error::{Error, Result};
pub use evidence::p_value;
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

use scumble_core::Protect;
use scumble_core::number;
use scumble_custody::LABEL_SHARE;
use scumble_datasets::DataSet;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is compared, and how.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The data.
    pub data: DataSet,
    /// The mechanisms, each with its parameters.
    pub candidates: Vec<Candidate>,
    /// The budgets, in the order in which they are shown; infinity for none.
    pub epsilons: Vec<f64>,
    /// The δ of every budget, in [0, 1): mechanisms without a use for it spend none.
    pub delta: f64,
    /// How often each cell is repeated, with another split and other noise.
    pub trials: usize,
    /// How records are split into training and test records.
    pub splitting: Splitting,
    /// The models; each learns from the same releases.
    pub models: Vec<Model>,
    /// The metrics; each scores the same predictions, what an adversary learns, or the same released tables.
    pub metrics: Vec<Metric>,
    /// The adversary, which takes part where a metric is of what it learns.
    pub adversary: Adversary,
    /// What of a record is protected: mechanisms that cannot protect it are left out, but for those that claim nothing. If none is given,
    /// each protects the most that it can, and its row says what.
    pub protect: Option<Protect>,
    /// The share of ε that a label gets where a mechanism of its own releases it, in (0, 1).
    pub label_share: f64,
    /// Whether local reports of whole records are compared through a shuffler too, at the central budgets.
    pub shuffler: bool,
    /// Whether models learn from the release alone, also where volunteers' records have labels: else from both.
    pub release_alone: bool,
    /// The seed of splits and noise.
    pub seed: u64,
}

/// The warning of [`Comparison::warning`].
const NOT_PRIVATE: &str = "NOT private: no guarantee covers these scores, which are of private records in \
    the clear: they are for \
    the owner of the data. A mechanism that is chosen by them is a choice that no budget paid for.";

/// A budget that a plain `compare` shows.
const EPSILONS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY];

impl Comparison {
    /// These candidates on these data, with the defaults of the command: six budgets from ε = 0.5 to none with δ = 10⁻⁶, 50
    /// trials on splits at random with a fifth of the records for tests, half of ε for labels of their own, seed 1, the first model that
    /// fits the target, the metric by [`Metric::default_for`], and what an adversary that knows half of the records learns of the others.
    pub fn new(data: DataSet, candidates: Vec<Candidate>) -> Self {
        let target = data.domain.target();
        Self {
            models: vec![Model::default_for(target)],
            metrics: vec![Metric::default_for(&data), Metric::Recovered, Metric::Advantage],
            adversary: Adversary::default(),
            data,
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

    /// The budget at which claims are spelled out: 1 if it is listed, else the first finite one.
    pub fn claims_at(&self) -> Option<f64> {
        let finite = || self.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
        finite().find(|epsilon| *epsilon == 1.0).or_else(|| finite().next())
    }

    /// Warning about scores of private records; none about those of a public data set.
    pub fn warning(&self) -> Option<&'static str> {
        (!self.data.is_public).then_some(NOT_PRIVATE)
    }

    /// All rows as CSV: the numbers of the JSON, with the guarantee in one line.
    pub fn to_csv(&self, outcome: &Outcome) -> String {
        outcome.to_csv(self.warning().unwrap_or_default())
    }

    /// For machines: what came out, of which data, by which versions, settings and seed. Rows with
    /// differential privacy are `rows`; all others, which must not be compared with them, are `without_dp`.
    pub fn to_json(&self, outcome: &Outcome) -> Value {
        // Whatever is no number is null in it, and so nothing keeps it from being written.
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
            // A digest of few private records confirms a guess of them.
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
        value["seed"] = self.seed.into();
        value
    }
}
