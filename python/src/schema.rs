//! Schemas: a TOML file as the command reads it, or the columns as JSON.

use crate::errors::Failed;
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use scumble::datasets::SchemaAt;
use scumble::records::{Learning, Schema};
use scumble_arrow::Rows;
use std::path::PathBuf;

/// A schema in a file, or its columns.
#[derive(FromPyObject)]
pub(crate) struct Given {
    #[pyo3(item)]
    file: Option<PathBuf>,
    #[pyo3(item)]
    columns: Option<String>,
}

impl Given {
    /// Reads the schema, with `target` as the column to learn, as a class or as a number.
    pub(crate) fn read(&self, target: Option<&str>, task: Option<&str>) -> Result<Schema, Failed> {
        let schema = match (&self.file, &self.columns) {
            (Some(file), _) => Schema::read(file)?,
            (None, columns) => serde_json::from_str(columns.as_deref().unwrap_or_default())
                .map_err(|error| Failed::input(format!("schema: {}", without_place(&error))))?,
        };
        let Some(target) = target else { return Ok(schema) };
        let learning = task.map(|task| task.parse::<Learning>()).transpose();
        let learning = learning.map_err(|problem| Failed::input(format!("task: {problem}")))?;
        Ok(schema.for_learning(target, learning)?)
    }

    /// Location of the schema file, for the design commands that a comparison prints.
    pub(crate) fn place(&self) -> Option<SchemaAt> {
        Some(self.file.clone().map_or(SchemaAt::Python, SchemaAt::File))
    }
}

/// Returns the message of an error in JSON, without line and column. The user did not write the JSON text.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Drafts a schema as TOML, with bounds taken from the records, for review.
#[pyfunction]
pub(crate) fn draft(py: Python, table: PyTable) -> Result<String, Failed> {
    let (batches, schema) = table.into_inner();
    interruptible(py, || {
        let rows = Rows::new(&schema, batches.into_iter().map(Ok), "the table");
        Ok(scumble::records::draft(rows)?)
    })
}
