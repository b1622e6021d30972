//! `scumble collect`: draws records from the reports of many people.

use super::output::{Output, check_json, report};
use super::provenance::Provenance;
use super::reading::Reading;
use super::release::stop_when_interrupted;
use super::{Failure, complain, print_json, refuse_overlaps, spinning};
use crate::core::{Error, Randomness, Registry};
use crate::custody::ShippedDesign;
use crate::records::{read_numbers, stream};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  scumble collect --design design.json --reports reports.csv --output collected.csv
  scumble collect --design design.json --reports reports.csv --records 10000 --output collected.parquet";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CollectArguments {
    /// The design that released the reports.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// The reports of many people, as `scumble release` writes them: CSV or Parquet, in any order.
    #[arg(long, value_name = "REPORTS")]
    reports: PathBuf,
    /// File for the collected records, in the schema's own columns and units: Parquet if its name ends in
    /// .parquet, else CSV.
    #[arg(long, value_name = "RECORDS")]
    output: PathBuf,
    /// Number of records to draw: by default the number of reports.
    #[arg(long, value_name = "N")]
    records: Option<usize>,
    /// Repeat the draws of this seed. Collecting is post-processing: the guarantee of the reports holds for
    /// any seed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    provenance: Provenance,
    #[command(flatten)]
    reading: Reading,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
}

pub(super) fn collect(
    registry: &Registry,
    arguments: &CollectArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let CollectArguments { design: file, reports, output, .. } = arguments;
    refuse_overlaps(&[file.clone(), reports.clone()], &[output])?;
    let design = ShippedDesign::read(file, registry)?;
    let local = design.local()?;
    let Some(collector) = local.collector() else {
        let name = &design.origin().plugin;
        return Err(format!(
            "{}: {name} releases records, not reports, so there is nothing to collect",
            file.display()
        )
        .into());
    };
    check_json(output, as_json)?;
    stop_when_interrupted()?;
    let mut written = Output::create(output, arguments.force)?;
    let columns = local.layout().columns;
    let rows = arguments.reading.open(reports)?;
    let warning = arguments.provenance.check(&design, file, reports, rows.design())?;
    let reports = read_numbers(rows, &columns)?;
    let mut randomness = Randomness::from_seed_or_os(arguments.seed)?;
    let record_count = arguments.records.unwrap_or(reports.len());
    if record_count == 0 {
        return Err("--records 0: the number must be at least 1".into());
    }
    let collected = spinning("collecting", || {
        collector.collect(&reports, record_count, &mut randomness.streams().stream(0))
    })
    .map_err(|error| match error {
        Error::Interrupted(_) => Failure::from(error),
        error => format!("{}: {error}", arguments.reports.display()).into(),
    })?;
    let decoder = design.decoder_of(&stream::layout(&collected, local.domain()))?;
    stream::write(&collected, &decoder, written.writer(&decoder)?)?;
    written.commit()?;
    warning.iter().for_each(|warning| complain(warning));
    let (records, reports) = (collected.len(), reports.len());
    if as_json {
        return print_json(&json!({ "output": output, "records": records, "reports": reports }));
    }
    report(output, &format!("{} holds {records} records collected from {reports} reports", output.display()))
}
