//! `scumble server-key`, `report`, `aggregate` and `unshard`: a release by two servers from shares of
//! people's records.

use super::reading::Reading;
use super::release::{ReleaseArguments, Unsharded, go_on, length_of, release_drawing, stop_when_interrupted};
use super::{Failure, complain, new_file, print, print_json, progress_bar, refuse_overlaps, tell_clipped};
use crate::core::{Outcome, Randomness, Registry};
use crate::custody::{Existing, NewFile, Readable, ShippedDesign, check_private};
use crate::records::{OutOfBounds, read_text, stream};
use crate::servers::{
    AggregateShare, Counted, PublicKey, Role, Server, ServerKey, Sink, Source, Task, unshard as joined,
};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde_json::json;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

const KEY_EXAMPLES: &str = "\
Example:
  scumble server-key --output a.key.json --public a.public.json";

const REPORT_EXAMPLES: &str = "\
Example:
  scumble report --design design.json --input record.csv --key-a a.public.json --key-b b.public.json \
--output-a to-a.jsonl --output-b to-b.jsonl";

const AGGREGATE_EXAMPLES: &str = "\
Examples, in this order:
  scumble aggregate --server a --design design.json --key a.key.json --other b.public.json \
--reports to-a.jsonl --send from-a
  scumble aggregate --server b --design design.json --key b.key.json --other a.public.json \
--reports to-b.jsonl --received from-a --send from-b --share b.share.json --counted b.counted.json
  scumble aggregate --server a --design design.json --key a.key.json --other b.public.json \
--reports to-a.jsonl --received from-b --share a.share.json --counted a.counted.json";

const UNSHARD_EXAMPLES: &str = "\
Example:
  scumble unshard --design design.json --share-a a.share.json --share-b b.share.json --output released.csv \
--card card.json";

/// Largest size of a key, in bytes.
const LONGEST_KEY: u64 = 1 << 12;
/// Largest size of a share or of a list of counted reports, in bytes.
const LONGEST: u64 = 1 << 32;

#[derive(Args)]
#[command(after_help = KEY_EXAMPLES)]
pub(super) struct ServerKeyArguments {
    /// File for the secret key, readable only by you. It is never replaced.
    #[arg(long, value_name = "KEY.json")]
    output: PathBuf,
    /// File for the public key, for devices and the other server.
    #[arg(long, value_name = "PUBLIC.json")]
    public: PathBuf,
}

pub(super) fn server_key(arguments: &ServerKeyArguments, as_json: bool) -> Result<(), Failure> {
    let ServerKeyArguments { output, public } = arguments;
    refuse_overlaps(&[], &[output, public])?;
    let key = ServerKey::generate()?;
    let public_file = new_file(public, false)?;
    NewFile::create(output, Existing::Keep, Readable::ByOwner)?.finish(key.to_json()?.as_bytes())?;
    public_file.finish(key.public().to_json()?.as_bytes())?;
    match as_json {
        true => print_json(&json!({ "key": output, "public": public })),
        false => print(&format!(
            "{} holds the secret key of a server, and {} its public key",
            output.display(),
            public.display()
        )),
    }
}

#[derive(Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(super) struct ReportArguments {
    /// The design of a mechanism for two servers.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// The record of one person, or the records of several, one report each: CSV or Parquet; - for CSV on
    /// standard input.
    #[arg(long, value_name = "PRIVATE")]
    input: PathBuf,
    /// Public key of server a.
    #[arg(long, value_name = "PUBLIC.json")]
    key_a: PathBuf,
    /// Public key of server b.
    #[arg(long, value_name = "PUBLIC.json")]
    key_b: PathBuf,
    /// File for the shares for server a, one line per report. Files of several devices may be joined.
    #[arg(long, value_name = "REPORTS.jsonl")]
    output_a: PathBuf,
    /// File for the shares for server b.
    #[arg(long, value_name = "REPORTS.jsonl")]
    output_b: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Replace existing outputs.
    #[arg(long)]
    force: bool,
}

pub(super) fn report(registry: &Registry, arguments: &ReportArguments, as_json: bool) -> Result<(), Failure> {
    let ReportArguments { design: file, input, key_a, key_b, output_a, output_b, force, .. } = arguments;
    let read = [file, input, key_a, key_b].map(Clone::clone);
    refuse_overlaps(&read, &[output_a, output_b])?;
    let design = ShippedDesign::read(file, registry)?;
    let task = Task::new(&design)?;
    let (a, b) = (public_key(key_a)?, public_key(key_b)?);
    if a == b {
        return Err(format!("{}: this is the key of server a too", key_b.display()).into());
    }
    stop_when_interrupted()?;
    let mut outputs = [output_a, output_b]
        .map(|output| new_file(output, *force).map(BufWriter::new))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let open = || arguments.reading.open(input);
    let people = match design.person()? {
        Some(_) => design.people(open()?, &mut Randomness::from_os()?, |_| true, |_| Ok(()))?,
        None => None,
    };
    let mut reader = design.reader(open()?, OutOfBounds::strictly(false))?.of_people(people);
    let width = design.mechanism().domain().layout().width();
    let mut failed = None;
    let mut write = |records: &[f64]| -> Result<(), Failure> {
        for records in records.chunks(1024 * width) {
            let lines = records.par_chunks(width).map(|record| task.report(record, [&a, &b]));
            for lines in lines.collect::<Result<Vec<_>, _>>()? {
                for (output, line) in outputs.iter_mut().zip(lines) {
                    writeln!(output, "{line}")?;
                }
            }
        }
        Ok(())
    };
    let bar = progress_bar(length_of(input), "reporting {bar:40} {bytes}/{total_bytes}, {eta} left");
    let take = |records: &[f64], _: &[u16]| {
        write(records).map_err(|failure| {
            failed = Some(failure.to_string());
            crate::records::Error::Interrupted
        })
    };
    let streamed = stream::for_each(&mut reader, take, |bytes| go_on(&bar, bytes));
    bar.finish_and_clear();
    if let Some(failed) = failed {
        return Err(failed.into());
    }
    let streamed = streamed?;
    for output in outputs {
        output.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()?;
    }
    tell_clipped(&input.display().to_string(), &streamed.clipped);
    let reports = streamed.records;
    match as_json {
        true => print_json(&json!({ "output_a": output_a, "output_b": output_b, "reports": reports })),
        false => print(&format!(
            "{} and {} hold the shares of {reports} reports, each encrypted to one server",
            output_a.display(),
            output_b.display()
        )),
    }
}

/// Letter of a server.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ServerArgument {
    /// The server that begins and ends the check of reports.
    A,
    /// The other server.
    B,
}

#[derive(Args)]
#[command(after_help = AGGREGATE_EXAMPLES)]
pub(super) struct AggregateArguments {
    /// This server: a, which begins and ends the check of reports, or b.
    #[arg(long, value_name = "a|b")]
    server: ServerArgument,
    /// The design of the reports.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// Secret key of this server.
    #[arg(long, value_name = "KEY.json")]
    key: PathBuf,
    /// Public key of the other server.
    #[arg(long, value_name = "PUBLIC.json")]
    other: PathBuf,
    /// The reports for this server, as `scumble report` writes them, in any order.
    #[arg(long, value_name = "REPORTS.jsonl")]
    reports: PathBuf,
    /// The message of the other server. Server a has none in its first step.
    #[arg(long, value_name = "MESSAGE")]
    received: Option<PathBuf>,
    /// File for the message to the other server. Server a sends none in its last step.
    #[arg(long, value_name = "MESSAGE")]
    send: Option<PathBuf>,
    /// File for this server's noisy share, in its last step.
    #[arg(long, value_name = "SHARE.json", requires = "counted")]
    share: Option<PathBuf>,
    /// File with the reports that this server has counted, so that it counts none twice. The first use
    /// creates it.
    #[arg(long, value_name = "COUNTED.json", requires = "share")]
    counted: Option<PathBuf>,
    /// Replace an existing message or share.
    #[arg(long)]
    force: bool,
}

pub(super) fn aggregate(
    registry: &Registry,
    arguments: &AggregateArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let AggregateArguments { design: file, key: key_file, other, reports, received, send, share, .. } =
        arguments;
    let read = [file, key_file, other, reports].into_iter().chain(received).cloned().collect::<Vec<_>>();
    refuse_overlaps(&read, &[send, share, &arguments.counted].into_iter().flatten().collect::<Vec<_>>())?;
    let design = ShippedDesign::read(file, registry)?;
    let task = Task::new(&design)?;
    check_private(key_file)?;
    let name = |path: &Path| path.display().to_string();
    let key = ServerKey::from_json(&read_text(key_file, LONGEST_KEY)?, &name(key_file))?;
    let other = public_key(other)?;
    let role = match arguments.server {
        ServerArgument::A => Role::A,
        ServerArgument::B => Role::B,
    };
    let server = Server::new(&task, role, &key, &other)?;
    let _held = held(key_file)?;
    stop_when_interrupted()?;
    let files = (name(reports), received.as_deref().map(name), send.as_deref().map(name));
    let bar = progress_bar(length_of(reports), "checking {bar:40} {bytes}/{total_bytes}, {eta} left");
    let mut lines = BufReader::new(bar.wrap_read(open(reports)?));
    let lines = Source { reader: &mut lines, file: &files.0 };
    let mut message = received.as_ref().map(|path| open(path)).transpose()?.map(BufReader::new);
    let message = message.as_mut().zip(files.1.as_deref()).map(|(reader, file)| Source { reader, file });
    let mut answer =
        send.as_ref().map(|path| new_file(path, arguments.force)).transpose()?.map(BufWriter::new);
    let sink = answer.as_mut().zip(files.2.as_deref()).map(|(writer, file)| Sink { writer, file });
    let mut counted = Counts::read(share.as_deref(), arguments.counted.as_deref(), arguments.force)?;
    let (made, tally) = match (role, message, sink, &mut counted) {
        (Role::A, None, Some(sink), None) => (None, server.begin(lines, sink)?),
        (Role::B, Some(message), Some(sink), Some(counted)) => {
            let (share, tally) = server.answer(lines, message, sink, &mut counted.reports)?;
            (Some(share), tally)
        }
        (Role::A, Some(message), None, Some(counted)) => {
            let (share, tally) = server.finish(lines, message, &mut counted.reports)?;
            (Some(share), tally)
        }
        (Role::A, None, ..) => return Err("the first step of server a takes --send, and no --share".into()),
        (Role::A, Some(_), ..) => {
            return Err("the last step of server a takes --share and --counted, and no --send".into());
        }
        (Role::B, ..) => {
            return Err("the step of server b takes --received, --send, --share and --counted".into());
        }
    };
    bar.finish_and_clear();
    // The reports are counted before anything else leaves, and a repeated step gives the same share.
    if let (Some(counted), Some(share)) = (counted, &made) {
        counted.save(share)?;
    }
    if let Some(answer) = answer {
        answer.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()?;
    }
    if !tally.refused.is_empty() {
        complain(&format!("{}: {tally}", files.0));
    }
    if as_json {
        return print_json(&json!({ "server": role, "send": send, "share": share, "tally": tally }));
    }
    let accepted = tally.accepted;
    let next = match (role, &made) {
        (_, None) => {
            format!("{} is for server b: proofs of {accepted} reports to check", files.2.unwrap_or_default())
        }
        (Role::B, Some(_)) => format!(
            "{} holds the noisy share of {accepted} reports, and {} is for server a",
            share.as_deref().map(name).unwrap_or_default(),
            files.2.unwrap_or_default()
        ),
        (Role::A, Some(_)) => format!(
            "{} holds the noisy share of {accepted} reports; `scumble unshard` joins it with that of \
             server b",
            share.as_deref().map(name).unwrap_or_default()
        ),
    };
    print(&next)
}

/// Counted reports of a server, and the files that its last step writes.
struct Counts {
    reports: Counted,
    counted: NewFile,
    share: NewFile,
}

impl Counts {
    fn read(share: Option<&Path>, counted: Option<&Path>, force: bool) -> Result<Option<Self>, Failure> {
        let (Some(share), Some(path)) = (share, counted) else { return Ok(None) };
        let reports = match path.exists() {
            true => Counted::from_json(&read_text(path, LONGEST)?, &path.display().to_string())?,
            false => Counted::default(),
        };
        let counted = NewFile::create(path, Existing::Replace, Readable::ByOwner)?;
        Ok(Some(Self { reports, counted, share: new_file(share, force)? }))
    }

    fn save(self, share: &AggregateShare) -> Result<(), Failure> {
        self.counted.finish(self.reports.to_json()?.as_bytes())?;
        Ok(self.share.finish(share.to_json()?.as_bytes())?)
    }
}

#[derive(Args)]
#[command(after_help = UNSHARD_EXAMPLES)]
pub(super) struct UnshardArguments {
    /// The design of the reports.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// Noisy share of server a.
    #[arg(long, value_name = "SHARE.json")]
    share_a: PathBuf,
    /// Noisy share of server b.
    #[arg(long, value_name = "SHARE.json")]
    share_b: PathBuf,
    #[command(flatten)]
    unsharded: Unsharded,
}

pub(super) fn unshard(
    registry: &Registry,
    arguments: &UnshardArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let UnshardArguments { design: file, share_a, share_b, unsharded } = arguments;
    refuse_overlaps(std::slice::from_ref(share_b), &unsharded.files())?;
    let design = ShippedDesign::read(file, registry)?;
    let task = Task::new(&design)?;
    let read = |path: &Path| -> Result<AggregateShare, Failure> {
        Ok(AggregateShare::from_json(&read_text(path, LONGEST)?, &path.display().to_string())?)
    };
    let (counts, reports) = joined(&task, [&read(share_a)?, &read(share_b)?])?;
    let made = match design.mechanism().shared_counts() {
        Some(shared) => shared.release(&counts, reports, &mut Randomness::from_os()?)?,
        None => return Err("the design is not for two servers".into()),
    };
    let Outcome::Synthetic(drawing) = made else {
        return Err("the design releases no records".into());
    };
    release_drawing(&design, &ReleaseArguments::of_shares(file, share_a, unsharded), as_json, &drawing)
}

fn public_key(path: &Path) -> Result<PublicKey, Failure> {
    Ok(PublicKey::from_json(&read_text(path, LONGEST_KEY)?, &path.display().to_string())?)
}

fn open(path: &Path) -> Result<File, Failure> {
    let failed = |source| crate::records::Error::Io { file: path.into(), source };
    Ok(File::open(path).map_err(failed)?)
}

/// Locks the key of a server until the returned file is dropped. Two steps at a time could count a report in
/// two batches.
fn held(key: &Path) -> Result<File, Failure> {
    let file = open(key)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(format!("{}: another step of this server is running", key.display()).into()),
    }
}
