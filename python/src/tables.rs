//! Estimates from noisy tables.

use crate::errors::Failed;
use pyo3::prelude::*;
use scumble::tables::{Line, NoisyTables, Question, Settings};
use serde_json::Value;

fn tables(text: &str) -> Result<NoisyTables, Failed> {
    NoisyTables::from_json(text).map_err(|problem| Failed::input(problem.to_string()))
}

/// Checks that a text holds noisy tables.
#[pyfunction]
pub(crate) fn check_tables(text: &str) -> Result<(), Failed> {
    tables(text).map(|_| ())
}

/// Answers a question to noisy tables: a JSON list of estimates.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
pub(crate) fn estimate_tables(
    text: &str,
    columns: Vec<String>,
    by: Option<String>,
    against: Option<String>,
    quantiles: Vec<f64>,
    counts: bool,
    confidence: f64,
    population: bool,
    evenly: bool,
) -> Result<String, Failed> {
    if against.is_some() && by.is_none() {
        return Err(Failed::input("against: it names a level of `by`, and `by` is missing"));
    }
    let settings = Settings { confidence, population, evenly };
    let question = Question { columns, by, against, quantiles, counts, settings };
    let answers = tables(text)?.answer(&question).map_err(|problem| Failed::input(problem.to_string()))?;
    match (&answers.lines[..], answers.problems.first()) {
        ([], Some(problem)) => Err(Failed::input(problem.clone())),
        (lines, _) => Ok(Value::from(lines.iter().map(Line::to_json).collect::<Vec<_>>()).to_string()),
    }
}
