//! Information about mechanisms without records: names, cards, audits, and privacy accounting.

use crate::design::Design;
use crate::errors::{Failed, UnknownName};
use crate::interrupt::interruptible;
use crate::mechanism::plugin_of;
use pyo3::prelude::*;
use scumble::adversary::{Effort, audit_plugin};
use scumble::core::{Plugin, Registry};
use serde_json::json;
use std::ffi::OsString;

/// Returns the names of all mechanisms.
#[pyfunction]
pub(crate) fn names() -> Result<Vec<&'static str>, Failed> {
    Ok(Registry::installed()?.iter().map(|plugin| plugin.name).collect())
}

/// Describes a mechanism, as JSON.
#[pyfunction]
pub(crate) fn describe(name: &str) -> Result<String, Failed> {
    let registry = Registry::installed()?;
    let plugin = registry.get(name)?;
    let Plugin { name, summary, paper, version, .. } = plugin;
    let parameters = plugin.parameter_schemas();
    let run_by = plugin.descriptor.run_by.run_by().to_string();
    let description = json!({
        "name": name,
        "summary": summary,
        "source": paper,
        "version": version,
        "run_by": run_by,
        "parameters": parameters,
    });
    Ok(description.to_string())
}

/// Attacks every claim of a mechanism's example design; `mechanism` is a name or a class. Returns the
/// findings, as JSON.
#[pyfunction]
pub(crate) fn audit(
    py: Python,
    mechanism: &Bound<PyAny>,
    quick: bool,
    seed: Option<u64>,
) -> Result<String, Failed> {
    let plugin = match mechanism.extract::<String>() {
        Ok(name) => *Registry::installed()?.get(&name)?,
        Err(_) => plugin_of(mechanism)?,
    };
    interruptible(py, move || Ok(serde_json::to_string(&audit_plugin(&plugin, effort(quick, seed))?)?))
}

/// Attacks every claim of a design. Returns the findings, as JSON.
#[pyfunction]
pub(crate) fn audit_design(
    py: Python,
    design: &Design,
    quick: bool,
    seed: Option<u64>,
) -> Result<String, Failed> {
    interruptible(py, || {
        let findings = scumble::adversary::audit_design(design.shipped().design(), effort(quick, seed))?;
        Ok(serde_json::to_string(&findings)?)
    })
}

fn effort(quick: bool, seed: Option<u64>) -> Effort {
    let effort = if quick { Effort::quick() } else { Effort::full() };
    Effort { seed: seed.unwrap_or(effort.seed), ..effort }
}

/// Returns the answer of `scumble account` to the arguments `words`, as JSON.
#[pyfunction]
pub(crate) fn account(py: Python, words: Vec<String>) -> Result<String, Failed> {
    let answer = interruptible(py, || Ok(scumble::command::account(&words)))?;
    match answer {
        Ok(value) => Ok(value.to_string()),
        Err(problem)
            if problem.contains("unrecognized subcommand") || problem.contains("unexpected argument") =>
        {
            Err(UnknownName::new_err(problem).into())
        }
        Err(problem) => Err(Failed::input(problem)),
    }
}

/// Runs the command with `arguments`, which start with its name, and returns its exit code.
#[pyfunction]
pub(crate) fn run_command(py: Python, arguments: Vec<OsString>) -> u8 {
    py.detach(|| scumble::command::run_with(arguments))
}
