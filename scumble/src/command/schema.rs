//! `scumble schema`.

use super::{Failure, print, print_json, refuse_overlaps};
use crate::parquet::open;
use crate::registry::{Existing, NewFile, Readable, Schema, draft};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct SchemaArguments {
    /// A file of records, CSV with a header or Parquet.
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// Where the draft goes; else it is printed.
    #[arg(long, value_name = "SCHEMA.toml")]
    output: Option<PathBuf>,
    /// Replace a schema that stands there.
    #[arg(long, requires = "output")]
    force: bool,
}

pub(super) fn schema(arguments: &SchemaArguments, as_json: bool) -> Result<(), Failure> {
    let SchemaArguments { input, output, force } = arguments;
    refuse_overlaps(std::slice::from_ref(input), &output.iter().collect::<Vec<_>>())?;
    let text = draft(open(input)?)?;
    if let Some(output) = output {
        let existing = if *force { Existing::Replace } else { Existing::Keep };
        NewFile::create(output, existing, Readable::AsUsual)?.finish(text.as_bytes())?;
    }
    let schema = Schema::from_toml(&text, &input.display().to_string())?;
    if as_json {
        return print_json(
            &json!({ "output": output, "draft": schema.is_draft(), "column": schema.columns() }),
        );
    }
    let Some(output) = output else {
        return print(text.trim_end());
    };
    let columns = schema.columns().iter().map(|column| format!("  {:?}, {}", column.name, column.kind));
    let columns = columns.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    let output = output.display();
    print(&format!(
        "{output} holds a draft, of\n\n{columns}\n\nIts bounds and levels come from the records, and so they give away something of them. Compare \
         mechanisms by\nit; before anything is released, put there what is publicly known, and take `draft = true` away."
    ))
}
