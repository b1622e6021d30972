//! What came out of the tasks, for machines.

use super::task::{Form, Task};
use scumble_comparison::{Comparison, Outcome};
use serde_json::{Value, json};

/// What came out of all tasks that were run.
#[derive(Debug)]
pub struct Results {
    /// How much of each was run.
    pub form: Form,
    /// Those that ended.
    pub finished: Vec<Finished>,
    /// Those that did not.
    pub missing: Vec<Missing>,
}

/// A task that ended.
#[derive(Debug)]
pub struct Finished {
    /// The task.
    pub task: &'static Task,
    /// What came out.
    pub outcome: Outcome,
    /// How many records the data set has.
    pub records: usize,
    /// How many encoded columns it has.
    pub columns: usize,
    /// Whether its volunteers, if it has any, have labels.
    pub has_labels: bool,
    /// The same for machines.
    json: Value,
}

/// A task that could not be run.
#[derive(Debug, Clone)]
pub struct Missing {
    /// The task.
    pub task: &'static Task,
    /// Why.
    pub reason: String,
}

impl Results {
    /// Of no task yet.
    pub fn new(form: Form) -> Self {
        Self { form, finished: vec![], missing: vec![] }
    }

    /// Adds what came out of a task.
    pub fn add(&mut self, task: &'static Task, comparison: &Comparison, outcome: Outcome) {
        let mut json = comparison.to_json(&outcome);
        // A guarantee is a page of words, and follows from the mechanism and its parameters.
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

    /// Everything, with versions, settings, seeds and the score of each trial.
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
