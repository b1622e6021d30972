//! `scumble collect`: draws records from the reports of many people.

use super::output::{Output, check_json, report};
use super::provenance::Provenance;
use super::reading::Reading;
use super::release::{go_on, kept, length_of, stop_when_interrupted};
use super::{Failure, complain, print_json, progress_bar, refuse_overlaps};
use crate::core::{Randomness, Registry};
use crate::custody::ShippedDesign;
use crate::records::stream;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  scumble collect --design design.json --reports reports.csv --output collected.csv
  scumble collect --design design.json --reports reports.csv --records 10000 --output collected.parquet";

/// Upper bound on the records of a collection. Drawing more would take weeks.
const MOST_RECORDS: usize = 100_000_000_000;

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
    let rows = arguments.reading.open(reports)?;
    let warning = arguments.provenance.check(&design, file, reports, rows.design())?;
    if let Some(records) = arguments.records.filter(|records| !(1..=MOST_RECORDS).contains(records)) {
        return Err(format!("--records {records}: the number must be from 1 to {MOST_RECORDS}").into());
    }
    let streams = Randomness::from_seed_or_os(arguments.seed)?.streams();
    let bar = progress_bar(length_of(reports), "collecting {bar:40} {bytes}/{total_bytes}, {eta} left");
    let (drawing, reports) =
        stream::collect(collector, rows, arguments.records, streams, |bytes| go_on(&bar, bytes))?;
    bar.finish_and_clear();
    let records = drawing.records();
    let bar = progress_bar(records as u64, "drawing {bar:40} {pos}/{len} records, {eta} left");
    let decoder = design.decoder_of(drawing.layout())?;
    stream::write_drawn(&drawing, &decoder, written.writer(&decoder)?, |drawn| go_on(&bar, drawn))?;
    bar.finish_and_clear();
    written.commit()?;
    warning.iter().for_each(|warning| complain(warning));
    let counted = design.counted_tables(&collector.counted_tables())?;
    if as_json {
        return print_json(&json!({
            "output": output,
            "records": records,
            "reports": reports,
            "counted_tables": counted,
        }));
    }
    let kept = kept(&counted).map_or(String::new(), |kept| format!("\n{kept}"));
    let made = format!("{} holds {records} records collected from {reports} reports", output.display());
    report(output, &(made + &kept))
}
