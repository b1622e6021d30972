//! The suite: comparisons on public data sets.

use crate::comparison::run;
use crate::errors::Failed;
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use scumble::core::Registry;
use scumble::suite::{Form, Results, task, tasks};
use std::path::PathBuf;

/// Returns the tasks with a description of each.
#[pyfunction]
pub(crate) fn suite_tasks() -> Vec<(&'static str, &'static str)> {
    tasks().iter().map(|task| (task.name, task.about())).collect()
}

/// Runs tasks of the suite, adds their rows to the results in the files `published`, and returns all results
/// as Markdown, HTML and JSON. Finished trials of each task are kept in `folder`, if one is given.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
pub(crate) fn suite(
    py: Python,
    names: Vec<String>,
    mechanisms: Vec<String>,
    quick: bool,
    trials: Option<usize>,
    seed: u64,
    jobs: Option<usize>,
    folder: Option<PathBuf>,
    call: String,
    left_out: Vec<String>,
    published: Vec<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> Result<(String, String, String), Failed> {
    interruptible(py, || {
        let registry = Registry::installed()?;
        let selected = match &names[..] {
            [] => tasks().iter().collect(),
            names => names.iter().map(|name| task(name)).collect::<Result<Vec<_>, _>>()?,
        };
        let form = if quick { Form::Quick } else { Form::Whole };
        let mut own = Results::new(form);
        for task in selected {
            let mut comparison = task.comparison(&registry, form, &mechanisms)?;
            comparison
                .candidates
                .retain(|candidate| !left_out.iter().any(|name| name == candidate.plugin.name));
            comparison.seed = seed;
            comparison.trials = trials.unwrap_or(comparison.trials);
            let cells =
                folder.as_ref().map(|folder| folder.join(task.name).with_added_extension("cells.jsonl"));
            let outcome = run(&comparison, cells.as_deref(), jobs, progress.as_ref())?;
            own.add(task, &comparison, outcome);
        }
        let mut results = Results::new(form);
        for file in &published {
            results.merge(Results::read(file)?)?;
        }
        results.merge(own)?;
        Ok((results.to_markdown(&call), results.to_html(&call), results.to_json().to_string()))
    })
}
