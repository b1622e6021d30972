//! The results of the tasks, in machine-readable form.

use super::task::{Form, Task};
use scumble_comparison::{Comparison, Outcome};
use serde_json::{Value, json};

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
    json: Value,
}

/// A task that could not be run.
#[derive(Debug, Clone)]
pub struct Missing {
    /// The task.
    pub task: &'static Task,
    /// The reason.
    pub reason: String,
}

impl Results {
    /// Creates results without tasks.
    pub fn new(form: Form) -> Self {
        Self { form, finished: vec![], missing: vec![] }
    }

    /// Adds the outcome of a task.
    pub fn add(&mut self, task: &'static Task, comparison: &Comparison, outcome: Outcome) {
        let mut json = comparison.to_json(&outcome);
        // Only the summary of a guarantee is kept. The full text takes a page, and follows from the mechanism
        // and its parameters.
        for name in ["rows", "without_dp"] {
            for row in json[name].as_array_mut().into_iter().flatten() {
                row["guarantee"] = row["guarantee"]["summary"].take();
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

    /// All results as JSON, with versions, settings, seeds and the score of each trial.
    pub fn to_json(&self) -> Value {
        let missing =
            self.missing.iter().map(|missing| json!({ "task": missing.task.name, "reason": missing.reason }));
        json!({
            "scumble": env!("CARGO_PKG_VERSION"),
            "form": self.form,
            "tasks": self.finished.iter().map(|finished| &finished.json).collect::<Vec<_>>(),
            "missing": missing.collect::<Vec<_>>(),
        })
    }
}
