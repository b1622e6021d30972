//! `scumble predict`: the predictions of a released model for records in the clear.

use super::output::{Output, check_json, report};
use super::reading::Reading;
use super::release::{go_on, length_of, stop_when_interrupted};
use super::{Failure, complain, print_json, progress_bar, refuse_overlaps, tell_clipped};
use crate::core::Registry;
use crate::custody::ShippedDesign;
use crate::parquet;
use crate::records::{OutOfBounds, TextFormat, stream};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  scumble predict --design design.json --model model.csv --input people.csv --output predicted.csv
  scumble predict --design design.json --model model.parquet --input people.csv --output - --probabilities";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PredictArguments {
    /// The design that released the model.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// The released model, CSV or Parquet, as `scumble release` writes it.
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// Records in the clear: CSV or Parquet, whose header names the columns of the design's schema except the
    /// target, in any order. Other columns are ignored; - for CSV on standard input.
    #[arg(long, value_name = "CLEAN")]
    input: PathBuf,
    /// The file for the predictions, one row for each record, in the order of the records: Parquet if its
    /// name ends in .parquet, else CSV; - for standard output.
    #[arg(long, value_name = "PREDICTED")]
    output: PathBuf,
    /// Write the probability of each class too.
    #[arg(long)]
    probabilities: bool,
    /// Refuse a number outside its bounds, instead of clipping and counting it.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    reading: Reading,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
}

pub(super) fn predict(
    registry: &Registry,
    arguments: &PredictArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let PredictArguments { design, model, input, output, .. } = arguments;
    refuse_overlaps(&[design.clone(), model.clone(), input.clone()], &[output])?;
    check_json(output, as_json)?;
    let design = ShippedDesign::read(design, registry)?;
    let model = design.read_model(parquet::open(model, &TextFormat::WRITTEN)?)?;
    let decoder = model.decoder(arguments.probabilities)?;
    let rows = arguments.reading.open(input)?;
    let mut reader = model.reader(rows, OutOfBounds::strictly(arguments.strict))?;
    stop_when_interrupted()?;
    let mut written = Output::create(output, arguments.force)?;
    let bar = progress_bar(length_of(input), "predicting {bar:40} {bytes}/{total_bytes}, {eta} left");
    let predicted = |records: &[f64]| Ok(model.predict(records, arguments.probabilities)?);
    let on_progress = |bytes| go_on(&bar, bytes);
    let streamed = stream::map(&mut reader, &decoder, predicted, written.writer(&decoder)?, on_progress);
    bar.finish_and_clear();
    let streamed = streamed?;
    written.commit()?;
    tell_clipped(&input.display().to_string(), &streamed.clipped);
    complain(&format!(
        "{} is NOT private: a prediction depends on a record in the clear; only people who may see {} may \
         see the predictions",
        output.display(),
        input.display()
    ));
    if as_json {
        return print_json(
            &json!({ "output": output, "records": streamed.records, "target": model.target() }),
        );
    }
    let (records, target) = (streamed.records, model.target());
    report(output, &format!("{} holds predictions of {target:?} for {records} records", output.display()))
}
