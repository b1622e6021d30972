//! `scumble view`: maps records in the clear into the space of a release, so that a model of the release can
//! be used on them. The result is the view of these records.

use super::output::{Output, check_json, report};
use super::passphrase::Passphrase;
use super::provenance::check_card;
use super::reading::Reading;
use super::release::{ValuesArgument, go_on, length_of, stop_when_interrupted};
use super::{Failure, complain, print_json, progress_bar, refuse_overlaps, tell_clipped};
use crate::core::{Designed, LocalMechanism, Registry};
use crate::custody::{ShippedDesign, key as key_file};
use crate::records::{Clipped, OutOfBounds, Reader, stream};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  scumble view --design design.json --input people.csv --output view.csv
  scumble view --design design.json --key keys/key.json --input people.csv --output view.csv";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ViewArguments {
    /// The design of the release that the model was trained on.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// The records to use the model on: CSV or Parquet with the columns of the design's schema, including the
    /// label.
    #[arg(long, value_name = "RECORDS")]
    input: PathBuf,
    /// File for the viewed records: Parquet if its name ends in .parquet, else CSV. They are not private.
    #[arg(long, value_name = "VIEW")]
    output: PathBuf,
    /// The secret key of a curator's release. A key that counts the records it has mapped is replaced by a
    /// key with the new count.
    #[arg(long, value_name = "KEY.json")]
    key: Option<PathBuf>,
    /// Treatment of numbers in the file: that of the release, or drawn.
    #[arg(long, value_name = "VALUES", default_value = "drawn")]
    values: ValuesArgument,
    #[command(flatten)]
    passphrase: Passphrase,
    /// The card of the release whose models will read the view: a card of another design is refused.
    #[arg(long, value_name = "CARD.json")]
    card: Option<PathBuf>,
    /// Refuse a number outside its bounds, instead of clipping and counting it.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    reading: Reading,
    /// Replace an existing output.
    #[arg(long)]
    force: bool,
}

pub(super) fn view(registry: &Registry, arguments: &ViewArguments, as_json: bool) -> Result<(), Failure> {
    let ViewArguments { design, input, output, key, card, force, .. } = arguments;
    let read = [Some(design), Some(input), key.as_ref(), card.as_ref()].into_iter().flatten().cloned();
    refuse_overlaps(&read.collect::<Vec<_>>(), &[output])?;
    let design = ShippedDesign::read(design, registry)?;
    if let Some(card) = card {
        check_card(&design, card)?;
    }
    if design.local().is_ok_and(|local| local.collector().is_some()) {
        let problem = "the design releases reports and needs no view: use a model of the collected records \
                       on records in the clear";
        return Err(problem.into());
    }
    stop_when_interrupted()?;
    check_json(output, as_json)?;
    let mut written = Output::create(output, *force)?;
    let bar = progress_bar(length_of(input), "viewing {bar:40} {bytes}/{total_bytes}, {eta} left");
    let viewed = match (design.mechanism(), key) {
        (Designed::Local(local), None) => view_stream(arguments, &design, &**local, &mut written, &bar),
        (Designed::Curator(curator), _) if !curator.releases().is_secret() => {
            Err("the design needs no view: use a model of its release on records in the clear".into())
        }
        (Designed::Curator(_), Some(key)) => view_table(arguments, &design, key, &mut written),
        (Designed::Local(_), Some(_)) => {
            Err("--key: a local mechanism has no secret key; its key is the design".into())
        }
        (Designed::Curator(_), None) => {
            Err("the design is a curator's: give the secret key of its release (--key FILE)".into())
        }
    };
    bar.finish_and_clear();
    let (records, clipped) = viewed?;
    written.commit()?;
    tell_clipped(&input.display().to_string(), &clipped);
    complain(&format!(
        "{} is NOT private: no guarantee covers viewed records; only people who may see {} may see them",
        output.display(),
        input.display()
    ));
    if as_json {
        return print_json(&json!({ "output": output, "records": records }));
    }
    report(output, &format!("{} holds {records} viewed records", output.display()))
}

/// Views the records one by one, in bounded memory.
fn view_stream(
    arguments: &ViewArguments,
    design: &ShippedDesign,
    local: &dyn LocalMechanism,
    output: &mut Output,
    bar: &ProgressBar,
) -> Result<(u64, Vec<Clipped>), Failure> {
    let mut reader = reader(arguments, design)?;
    let decoder = design.view_decoder(&reader, arguments.values.into())?;
    let on_progress = |bytes| go_on(bar, bytes);
    let streamed = stream::view(local, &mut reader, &decoder, output.writer(&decoder)?, on_progress)?;
    Ok((streamed.records, streamed.clipped))
}

/// Views all records at once, with the curator's key. A key that counts the records it has mapped is saved
/// before the mapped records are written.
fn view_table(
    arguments: &ViewArguments,
    design: &ShippedDesign,
    key: &Path,
    output: &mut Output,
) -> Result<(u64, Vec<Clipped>), Failure> {
    let loaded = reader(arguments, design)?.read_all()?;
    let viewed = key_file::view(key, &arguments.passphrase.read()?, design.mechanism(), &loaded.table)?;
    let layout = stream::layout(&viewed, design.mechanism().domain());
    let decoder = design.decoder_of(&layout)?.with_values(arguments.values.into());
    stream::write(&viewed, &decoder, output.writer(&decoder)?)?;
    Ok((viewed.len() as u64, loaded.clipped))
}

fn reader(arguments: &ViewArguments, design: &ShippedDesign) -> Result<Reader<'static>, Failure> {
    let rows = arguments.reading.open(&arguments.input)?;
    Ok(design.reader(rows, OutOfBounds::strictly(arguments.strict))?)
}
