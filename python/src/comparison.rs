//! Comparisons: the result of `scumble compare` on a table.

use crate::design::weighted;
use crate::errors::Failed;
use crate::interrupt::interruptible;
use crate::schema::Given;
use jiff::Timestamp;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use scumble::command::Hints;
use scumble::compare::{Candidate, Choice, Comparison as Compared, Metric, Outcome, Row, Scorer, SplitKind};
use scumble::core::Registry;
use scumble::datasets::DataSet;
use scumble::page::Page;
use scumble::records::OutOfBounds;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Options of a comparison; missing ones have the command's defaults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Names of mechanisms with their parameters, in order; all mechanisms with a quick design if empty.
    mechanisms: Vec<(String, Value)>,
    epsilon: Option<Vec<Epsilon>>,
    delta: Option<f64>,
    trials: Option<usize>,
    metrics: Option<Vec<Metric>>,
    test_share: Option<f64>,
    volunteers: Option<f64>,
    #[serde(default)]
    unlabelled: bool,
    protect: Option<scumble::core::Protect>,
    label_share: Option<f64>,
    #[serde(default)]
    shuffler: bool,
    #[serde(default)]
    release_alone: bool,
    seed: Option<u64>,
    /// File of finished trials.
    cells: Option<PathBuf>,
    jobs: Option<usize>,
    /// Mechanisms that are not compared unless they are named.
    left_out: Vec<String>,
}

/// ε as a number or as text, because JSON has no infinity.
#[derive(Deserialize)]
#[serde(untagged)]
enum Epsilon {
    Number(f64),
    Text(String),
}

impl Epsilon {
    fn number(&self) -> Result<f64, Failed> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => text
                .parse()
                .map_err(|_| Failed::input(format!("epsilon: {text:?} is neither a number nor \"inf\""))),
        }
    }
}

/// A finished comparison.
#[pyclass(frozen, module = "scumble._native")]
pub(crate) struct Comparison {
    comparison: Compared,
    outcome: Outcome,
    call: String,
    made: Timestamp,
    took: Duration,
}

/// Compares mechanisms on the records of `table`. Calls `progress` with the number of finished trials and the
/// total.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
pub(crate) fn compare(
    py: Python,
    table: PyTable,
    schema: Given,
    target: &str,
    task: Option<&str>,
    name: &str,
    options: &str,
    tasks: Vec<(f64, PyTable)>,
    call: String,
    progress: Option<Py<PyAny>>,
) -> Result<Comparison, Failed> {
    let (made, start) = (Timestamp::now(), Instant::now());
    let columns = schema.read(Some(target), task)?;
    let options: Options = serde_json::from_str(options).map_err(|error| Failed::input(error.to_string()))?;
    let (batches, _) = table.into_inner();
    interruptible(py, || {
        let loaded = scumble_arrow::read(&columns, Some(target), &batches, OutOfBounds::Clip)?;
        let learning = task.and_then(|task| task.parse().ok());
        let data = DataSet::loaded(name, target, &columns, loaded)?;
        let data = DataSet { schema: schema.place(), learning, ..data };
        let (cells, jobs) = (options.cells.clone(), options.jobs);
        let task = weighted(tasks, data.domain.columns())?;
        let comparison = Compared { task, ..options.comparison(data)? };
        let outcome = run(&comparison, cells.as_deref(), jobs, progress.as_ref())?;
        Ok(Comparison { comparison, outcome, call, made, took: start.elapsed() })
    })
}

/// Runs a comparison on `jobs` threads, or on one per core. Finished trials are kept in the file `cells`, if
/// one is given, and taken from it.
pub(crate) fn run(
    comparison: &Compared,
    cells: Option<&Path>,
    jobs: Option<usize>,
    progress: Option<&Py<PyAny>>,
) -> Result<Outcome, Failed> {
    let (total, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let on_start = |trials| total.store(trials, Ordering::Relaxed);
    let tell = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(progress) = progress {
            // A failing progress bar must not abort the comparison.
            let _ = Python::attach(|py| progress.call1(py, (done, total.load(Ordering::Relaxed))));
        }
    };
    let run = || match cells {
        Some(cells) => comparison.resume(cells, on_start, tell),
        None => comparison.run(on_start, tell),
    };
    Ok(match jobs {
        None => run()?,
        Some(jobs) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
            pool.map_err(|error| Failed::input(format!("jobs: {error}")))?.install(run)?
        }
    })
}

impl Options {
    fn comparison(self, data: DataSet) -> Result<Compared, Failed> {
        let registry = Registry::installed()?;
        let candidates = match &self.mechanisms[..] {
            [] => {
                let mut quick = Candidate::quick(&registry);
                quick.retain(|candidate| !self.left_out.iter().any(|name| name == candidate.plugin.name));
                quick
            }
            named => named
                .iter()
                .map(|(name, parameters)| {
                    let plugin = *registry.get(name)?;
                    Ok(Candidate { parameters: parameters.clone(), is_named: true, ..Candidate::new(plugin) })
                })
                .collect::<Result<_, Failed>>()?,
        };
        let mut comparison = Compared::new(data, candidates);
        if let Some(epsilons) = &self.epsilon {
            comparison.epsilons = epsilons.iter().map(Epsilon::number).collect::<Result<_, _>>()?;
        }
        if let Some(metrics) = self.metrics {
            comparison.metrics = Metric::with_default(&metrics, &comparison.data);
        }
        if let Some(test_share) = self.test_share {
            comparison.splitting.kind = SplitKind::Random { test_share };
        }
        comparison.splitting.volunteers = self.volunteers.unwrap_or(comparison.splitting.volunteers);
        comparison.splitting.unlabelled = self.unlabelled;
        comparison.delta = self.delta.unwrap_or(comparison.delta);
        comparison.trials = self.trials.unwrap_or(comparison.trials);
        comparison.protect = self.protect;
        if self.mechanisms.is_empty() {
            comparison.add_label_dp(&registry);
        }
        comparison.label_share = self.label_share.unwrap_or(comparison.label_share);
        comparison.shuffler = self.shuffler;
        comparison.release_alone = self.release_alone;
        comparison.seed = self.seed.unwrap_or(comparison.seed);
        Ok(comparison)
    }
}

#[pymethods]
impl Comparison {
    /// Returns all results, as JSON.
    fn to_json(&self) -> String {
        self.comparison.to_json(&self.outcome).to_string()
    }

    /// Returns the first screen that `scumble compare` prints.
    fn summary(&self) -> String {
        let hints = Hints {
            all: ".to_json()",
            reasons: ".to_json()[\"skipped\"]",
            volunteers: "volunteers=0.2",
            trials: "trials=",
            label: "protect=\"label\"",
            collect: "design.collect(reports)",
        };
        scumble::command::summary(&self.comparison, &self.outcome, hints)
    }

    /// Returns all results as CSV.
    fn to_csv(&self) -> String {
        self.comparison.to_csv(&self.outcome)
    }

    /// Returns the arguments of each row's design, as JSON, in the order of `to_json`: rows with differential
    /// privacy, then the others.
    fn designs(&self) -> String {
        let arguments = self.rows().map(|row| {
            row.design.as_ref().map(|call| {
                json!({
                    "mechanism": call.mechanism,
                    "parameters": call.parameters,
                    "options": call.options().into_iter().collect::<BTreeMap<_, _>>(),
                    "has_task_matrix": call.has_task_matrix,
                    "volunteers_are": call.volunteers_are,
                })
            })
        });
        Value::from_iter(arguments).to_string()
    }

    /// Returns the recommendation for each goal and budget, as JSON. It has the place of the recommended row
    /// in the order of `to_json`, or `null` without evidence. It also names the highest row and its score.
    fn choices(&self) -> String {
        let shown = |choice: Choice| {
            let (title, highest) = choice.highest;
            let is_best = |row: &Row| choice.best.is_some_and(|(_, best)| std::ptr::eq(row, best));
            json!({
                "protect": choice.goal.protects,
                "trust": choice.goal.trust,
                "epsilon": choice.epsilon,
                "row": self.rows().position(is_best),
                "highest": title,
                "score": highest.metric.shown(highest.mean),
                "at_most": choice.at_most,
            })
        };
        let scores = self.outcome.scores();
        let scores = scores.iter().filter(|scores| matches!(scores.scorer, Scorer::Model(_)));
        Value::from_iter(scores.flat_map(|scores| self.outcome.choices(scores)).map(shown)).to_string()
    }

    /// Returns the HTML page of the comparison, which loads no other file.
    fn to_html(&self) -> String {
        self.page().to_html()
    }

    /// Returns the chart of scores by ε, or `None` if there is nothing to draw.
    fn to_svg(&self) -> Option<String> {
        self.page().to_svg()
    }
}

impl Comparison {
    /// Rows in the order of `to_json`: those with differential privacy, then the others.
    fn rows(&self) -> impl Iterator<Item = &Row> {
        let (dp, others): (Vec<&Row>, Vec<&Row>) = self.outcome.rows.iter().partition(|row| row.has_dp());
        dp.into_iter().chain(others)
    }

    fn page(&self) -> Page<'_> {
        Page {
            comparison: &self.comparison,
            outcome: &self.outcome,
            command: &self.call,
            experiment: None,
            made: self.made,
            took: self.took,
        }
    }
}
