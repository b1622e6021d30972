//! `scumble check`: all cells of a file that do not fit a schema.

use super::reading::Reading;
use super::release::stop_when_interrupted;
use super::{Failure, print, print_json};
use crate::records::{Checked, Misfits, OutOfBounds, Reader, Schema, check as checked};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  scumble check people.csv people.toml
  scumble check people.parquet people.toml --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArguments {
    /// The records: CSV with a header or Parquet, by the file's content; - for CSV on standard input.
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The publicly known bounds and levels of the columns.
    #[arg(value_name = "SCHEMA.toml")]
    schema: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

/// File that a release by the schema would refuse. The command exits with code 1.
#[derive(Debug, thiserror::Error)]
#[error("{}: a release by {} refuses this file", file.display(), schema.display())]
pub(super) struct Refused {
    file: PathBuf,
    schema: PathBuf,
}

pub(super) fn check(arguments: &CheckArguments, as_json: bool) -> Result<(), Failure> {
    let CheckArguments { input, schema, reading } = arguments;
    let columns = Schema::read(schema)?;
    stop_when_interrupted()?;
    let reader = Reader::new(reading.open(input)?, &columns, None, OutOfBounds::Clip)?;
    let found = checked(&mut match columns.person() {
        Some(person) => reader.with_ids(&person.name)?,
        None => reader,
    })?;
    match as_json {
        true => print_json(&json!({
            "input": input,
            "rows": found.rows,
            "refused": found.is_refused(),
            "misfits": found.misfits,
            "unreadable": found.unreadable,
        }))?,
        false => print(&report(input, &found))?,
    }
    match found.is_refused() {
        true => Err(Refused { file: input.clone(), schema: schema.clone() }.into()),
        false => Ok(()),
    }
}

fn report(file: &Path, found: &Checked) -> String {
    let (file, rows) = (file.display(), found.rows);
    let unreadable =
        found.unreadable.iter().map(|error| format!("\n\nNo row was read after the error: {error}"));
    if found.misfits.is_empty() {
        return format!("{file}: all cells of {rows} rows fit the schema{}", unreadable.collect::<String>());
    }
    let misfits: String = found.misfits.iter().map(shown).collect();
    format!(
        "{file}: cells that do not fit the schema, in {rows} rows, for the eyes of the owner only\n\
         {misfits}{}",
        unreadable.collect::<String>()
    )
}

fn shown(misfits: &Misfits) -> String {
    let Misfits { column, problem, cells, is_clipped, examples } = misfits;
    let fate = if *is_clipped { "clipped" } else { "refused" };
    let values: Vec<String> =
        examples.iter().map(|example| format!("row {}: {:?}", example.row, example.value)).collect();
    let times = if *cells == 1 { "time" } else { "times" };
    let more = if *cells > examples.len() { ", …" } else { "" };
    format!("\n  {column:?}, {fate} {cells} {times}: {problem}\n    {}{more}", values.join(", "))
}
