//! The results of the tasks, in machine-readable form.

use super::task::{Form, Task, task, tasks};
use scumble_comparison::{Comparison, Error, Outcome, Result};
use scumble_core::text::hexadecimal;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The results of all tasks that were run.
#[derive(Debug)]
pub struct Results {
    /// The variant of the tasks, quick or full.
    pub form: Form,
    /// The finished tasks.
    pub finished: Vec<Finished>,
    /// The tasks that could not be run.
    pub missing: Vec<Missing>,
}

/// A finished task.
#[derive(Debug)]
pub struct Finished {
    /// The task.
    pub task: &'static Task,
    /// The outcome.
    pub outcome: Outcome,
    /// Number of records of the data set.
    pub records: usize,
    /// Number of encoded columns of the data set.
    pub columns: usize,
    /// True unless the volunteers' labels are withheld.
    pub has_labels: bool,
    /// The outcome in machine-readable form.
    pub(super) json: Value,
}

/// A task that could not be run.
#[derive(Debug, Clone)]
pub struct Missing {
    /// The task.
    pub task: &'static Task,
    /// The reason.
    pub reason: String,
}

/// Parts of the JSON that must be the same in two results of a task, so that rows of both can be compared.
const SAME: [&str; 3] = ["data", "settings", "seed"];

impl Results {
    /// Creates results without tasks.
    pub fn new(form: Form) -> Self {
        Self { form, finished: vec![], missing: vec![] }
    }

    /// Adds the outcome of a task.
    pub fn add(&mut self, task: &'static Task, comparison: &Comparison, outcome: Outcome) {
        let mut json = comparison.to_json(&outcome);
        // Of a guarantee, the summary and the claims are kept. The full text takes a page, and follows from
        // the mechanism and its parameters.
        for name in ["rows", "without_dp"] {
            for row in json[name].as_array_mut().into_iter().flatten() {
                let mut guarantee = row["guarantee"].take();
                let mut claims = guarantee["claims"].take();
                for claim in claims.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                    for name in ["may_learn", "how_sure", "warning"] {
                        claim.remove(name);
                    }
                }
                row["guarantee"] = json!({ "summary": guarantee["summary"].take(), "claims": claims });
            }
        }
        json["task"] = task.name.into();
        self.finished.push(Finished {
            task,
            outcome,
            records: comparison.data.table.len(),
            columns: comparison.data.table.columns().len(),
            has_labels: !comparison.splitting.unlabelled,
            json,
        });
    }

    /// Lists all tasks without a result as missing.
    pub fn miss_others(&mut self) {
        let is_done = |task: &Task| self.finished.iter().any(|finished| finished.task.name == task.name);
        let others = tasks().iter().filter(|task| !is_done(task));
        let reason = "no published result";
        self.missing = others.map(|task| Missing { task, reason: reason.into() }).collect();
    }

    /// All results as JSON, with versions, settings, seeds and the score of each trial. The field `sha256`
    /// is the digest of the compact text of the field `tasks` without times, so that the same run on another
    /// machine has the same digest.
    pub fn to_json(&self) -> Value {
        let missing =
            self.missing.iter().map(|missing| json!({ "task": missing.task.name, "reason": missing.reason }));
        let tasks = Value::from_iter(self.finished.iter().map(|finished| finished.json.clone()));
        json!({
            "scumble": env!("CARGO_PKG_VERSION"),
            "form": self.form,
            "sha256": digest(&tasks),
            "tasks": tasks,
            "missing": missing.collect::<Vec<_>>(),
        })
    }

    /// Reads the JSON form that [`to_json`](Self::to_json) writes.
    ///
    /// # Errors
    /// [`Error::Data`] for JSON of another form, a digest that does not match, or an unknown task.
    pub fn from_json(json: &Value) -> Result<Self> {
        let form = Form::deserialize(&json["form"])
            .map_err(|problem| Error::Data(format!("\"form\" of the results: {problem}")))?;
        if json["sha256"] != digest(&json["tasks"]) {
            return Err(Error::Data(
                "the digest of the results does not match: they were changed, or are cut off".into(),
            ));
        }
        let tasks = json["tasks"].as_array().into_iter().flatten();
        let finished = tasks.map(Finished::from_json).collect::<Result<_>>()?;
        Ok(Self { form, finished, missing: vec![] })
    }

    /// Reads a file with the JSON of results, plain or packed as .gz or .xz.
    ///
    /// # Errors
    /// [`Error::File`] with the name of the file, for a file that cannot be read and for every error of
    /// [`from_json`](Self::from_json).
    pub fn read(file: &Path) -> Result<Self> {
        let named = |problem: String| Error::File { file: file.display().to_string(), problem };
        let text = scumble_datasets::read_text(file)?;
        let json = serde_json::from_str(&text).map_err(|problem| named(problem.to_string()))?;
        Self::from_json(&json).map_err(|problem| named(problem.to_string()))
    }

    /// Adds the tasks and rows of other results. A row replaces one with the same mechanism, parameters, ε,
    /// model and metric.
    ///
    /// # Errors
    /// [`Error::Data`] if one variant is the quick one and the other is not, or if a task has other data,
    /// settings or another seed in both results.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        if self.form != other.form {
            let problem = "results of the quick and of the full variant cannot be compared";
            return Err(Error::Data(problem.into()));
        }
        for new in other.finished {
            match self.finished.iter_mut().find(|finished| finished.task.name == new.task.name) {
                Some(finished) => finished.merge(new)?,
                None => self.finished.push(new),
            }
        }
        self.finished.sort_by_key(|finished| finished.task.name);
        let is_missing =
            |missing: &Missing| self.finished.iter().all(|done| done.task.name != missing.task.name);
        self.missing = self.missing.drain(..).chain(other.missing).filter(is_missing).collect();
        Ok(())
    }
}

impl Finished {
    fn from_json(json: &Value) -> Result<Self> {
        let count = |name: &str| json["data"][name].as_u64().unwrap_or(0) as usize;
        Ok(Self {
            task: task(json["task"].as_str().unwrap_or_default())?,
            outcome: Outcome::from_json(json)?,
            records: count("records"),
            columns: count("columns"),
            has_labels: json["settings"]["splitting"]["unlabelled"] != true,
            json: json.clone(),
        })
    }

    /// Adds the rows of `new`, which are results of the same task.
    fn merge(&mut self, new: Self) -> Result<()> {
        if let Some(name) = SAME.into_iter().find(|name| self.json[*name] != new.json[*name]) {
            return Err(Error::Data(format!(
                "the results of the task {:?} cannot be compared: {name:?} differs",
                self.task.name
            )));
        }
        for name in ["rows", "without_dp"] {
            let identity = |row: &Value| {
                ["mechanism", "parameters", "epsilon", "model", "model_parameters", "metric"]
                    .map(|name| row[name].clone())
            };
            let (Some(own), Some(others)) = (self.json[name].as_array_mut(), new.json[name].as_array())
            else {
                continue;
            };
            for row in others {
                match own.iter_mut().find(|known| identity(known) == identity(row)) {
                    Some(known) => *known = row.clone(),
                    None => own.push(row.clone()),
                }
            }
        }
        for (name, version) in new.json["versions"]["mechanisms"].as_object().into_iter().flatten() {
            self.json["versions"]["mechanisms"][name] = version.clone();
        }
        self.outcome.add(new.outcome.rows);
        Ok(())
    }
}

/// SHA-256 of the compact text of `tasks` without times, in hexadecimal.
fn digest(tasks: &Value) -> String {
    let mut tasks = tasks.clone();
    for task in tasks.as_array_mut().into_iter().flatten() {
        for name in ["rows", "without_dp"] {
            for row in task[name].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                row.remove("seconds");
            }
        }
    }
    hexadecimal(&Sha256::digest(tasks.to_string()))
}
