//! `scumble schema`: drafts a schema from records, or shows the schema of a public data set.

use super::reading::Reading;
use super::{Failure, complain, new_file, print, print_json, refuse_overlaps};
use crate::custody;
#[cfg(feature = "evaluation")]
use crate::datasets;
use crate::records::{Schema, draft, remarks};
#[cfg(feature = "evaluation")]
use crate::records::{csv, stream};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  scumble schema people.csv --output people.toml
  scumble schema --data wine --records wine.csv";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SchemaArguments {
    /// A file of records, CSV with a header or Parquet, to draft a schema from; - for CSV on standard input.
    #[arg(value_name = "FILE", required_unless_present = "data", conflicts_with = "data")]
    input: Option<PathBuf>,
    /// A public data set by name, as in comparisons: its own schema, not a draft.
    #[arg(long, value_name = "NAME")]
    data: Option<String>,
    /// File for the schema. Without it, the schema is printed.
    #[arg(long, value_name = "SCHEMA.toml")]
    output: Option<PathBuf>,
    /// File for the records of the public data set, as CSV.
    #[arg(long, value_name = "FILE.csv", requires = "data")]
    records: Option<PathBuf>,
    /// Replace existing files.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Returns the schema of a public data set, as TOML.
///
/// # Errors
/// Returns an error if no data set has this name, or if its records are images, which have no schema.
#[cfg(feature = "evaluation")]
pub(super) fn public_schema(name: &str) -> Result<&'static str, Failure> {
    let schema = datasets::source(name)?.schema;
    Ok(schema.ok_or_else(|| format!("{name}: the records are images, which have no schema"))?)
}

#[cfg(not(feature = "evaluation"))]
pub(super) fn public_schema(_name: &str) -> Result<&'static str, Failure> {
    super::absent::refuse("evaluation")
}

/// Returns the records of a public data set as rows of a CSV file.
#[cfg(feature = "evaluation")]
fn records_of(name: &str, schema: &Schema) -> Result<Vec<u8>, Failure> {
    let data = datasets::source(name)?.load(&datasets::folder())?;
    let table = data.table.whole()?;
    let decoder = schema.decoder(&data.domain.layout(), Some(&data.target));
    let mut text = vec![];
    stream::write(&table, &decoder, csv::Writer::new(&mut text, &decoder)?)?;
    Ok(text)
}

#[cfg(not(feature = "evaluation"))]
fn records_of(_name: &str, _schema: &Schema) -> Result<Vec<u8>, Failure> {
    super::absent::refuse("evaluation")
}

pub(super) fn schema(arguments: &SchemaArguments, as_json: bool) -> Result<(), Failure> {
    let SchemaArguments { input, data, output, records, force, reading } = arguments;
    let read: Vec<PathBuf> = input.iter().cloned().collect();
    refuse_overlaps(&read, &[output, records].into_iter().flatten().collect::<Vec<_>>())?;
    let (text, source) = match (input, data) {
        (Some(input), _) => (draft(reading.open(input)?)?, input.display().to_string()),
        (None, name) => {
            let name = name.as_deref().unwrap_or_default();
            (public_schema(name)?.to_owned(), name.to_owned())
        }
    };
    let schema = Schema::from_toml(&text, &source)?;
    let rows = records.as_ref().map(|_| records_of(&source, &schema)).transpose()?;
    let create = |path: &PathBuf| new_file(path, *force);
    // Both files are created under temporary names before the first appears, so an unwritable path leaves
    // neither.
    let aside = (output.as_ref().map(create).transpose()?, records.as_ref().map(create).transpose()?);
    if let Some(file) = aside.0 {
        file.finish(text.as_bytes())?;
    }
    if let (Some(file), Some(rows)) = (aside.1, rows) {
        file.finish(&rows)?;
    }
    if let Some(warning) = custody::formulas(&schema) {
        complain(&format!("warning: {warning}"));
    }
    if as_json {
        return print_json(&json!({
            "output": output,
            "draft": schema.is_draft(),
            "column": schema.columns(),
            "remarks": remarks(&text).collect::<Vec<_>>(),
        }));
    }
    let Some(output) = output else {
        return print(text.trim_end());
    };
    let columns = schema.columns().iter().map(|column| format!("  {:?}, {}", column.name, column.kind));
    let columns = columns.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    let output = output.display();
    if !schema.is_draft() {
        return print(&format!("{output} holds the publicly known bounds and levels of\n\n{columns}"));
    }
    let remarks: String = remarks(&text).map(|remark| format!("\n  {remark}")).collect();
    print(&format!(
        "{output} holds a draft schema of\n\n{columns}{remarks}\n\n\
         Its bounds and levels come from the records, and so disclose information about them. You may \
         compare\n\
         mechanisms with the draft. Before you release anything, replace the bounds and levels by publicly \
         known\n\
         ones, and remove `draft = true`."
    ))
}
