//! The `scumble` command.
//!
//! A binary with additional plugins needs four lines:
//!
//! ```no_run
//! // use my_plugin as _;
//! fn main() -> std::process::ExitCode {
//!     scumble::command::main()
//! }
//! ```

#[cfg(not(all(feature = "evaluation", feature = "reproduce")))]
mod absent;
mod account;
#[cfg(feature = "evaluation")]
mod audit;
mod check;
mod collect;
#[cfg(feature = "evaluation")]
mod compare;
mod design;
mod estimate;
mod estimated;
mod from_tables;
mod labelled;
mod ledger;
mod list;
mod new_plugin;
mod output;
mod passphrase;
mod predict;
mod protect;
mod provenance;
mod purpose;
mod reading;
mod release;
#[cfg(feature = "reproduce")]
mod reproduce;
#[cfg(feature = "evaluation")]
mod running;
mod schema;
mod servers;
mod setting;
mod shell;
mod solve;
#[cfg(feature = "evaluation")]
mod suite;
#[cfg(feature = "evaluation")]
mod summary;
mod ticket;
mod trade_off;
mod view;

pub use account::account_of as account;
pub use estimate::{Estimates, estimates};
#[cfg(feature = "evaluation")]
pub use summary::{Hints, summary};

#[cfg(feature = "evaluation")]
use crate::adversary::Broken;
use crate::core::{Registry, interrupt, shown};
use crate::custody::{self, Existing, NewFile, Readable, is_same_file};
use crate::parquet::is_standard;
use crate::records::{self, Clipped};
use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Release data under a stated privacy guarantee, so that models can still be learned from it.
#[derive(Parser)]
#[command(name = "scumble", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// Print only errors on stderr, without notes or progress.
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// List the mechanisms.
    #[command(after_help = list::EXAMPLES)]
    List {
        /// Print a Markdown table of what each mechanism claims and discloses, from the guarantee of its
        /// example.
        #[arg(long)]
        markdown: bool,
    },
    /// Describe a mechanism: its purpose, its parameters, and the card of an example. Or a saved design: its
    /// card.
    #[command(after_help = list::DESCRIBE_EXAMPLES)]
    Describe {
        /// Name of the mechanism, as `list` shows it.
        #[arg(required_unless_present = "design")]
        name: Option<String>,
        /// A saved design.
        #[arg(long, value_name = "DESIGN.json", conflicts_with = "name")]
        design: Option<PathBuf>,
    },
    /// Draft a schema from a file of records, for review: `compare` accepts the draft.
    Schema(schema::SchemaArguments),
    /// Check a file of records by a schema, and list all cells that a release would refuse or clip. The list
    /// is not private.
    Check(check::CheckArguments),
    /// Design a mechanism, or a composition, and save it: a file to ship to whoever releases.
    Design(design::DesignArguments),
    /// Release a file of records by a saved design.
    Release(release::ReleaseArguments),
    /// Estimate means and frequencies of the people behind a release, with intervals that account for its
    /// noise.
    Estimate(estimate::EstimateArguments),
    /// Draw records in the schema's columns from the reports of many people, if a design releases reports.
    Collect(collect::CollectArguments),
    /// Make the key of one of two servers, to which people report shares of their records.
    ServerKey(servers::ServerKeyArguments),
    /// Report a record to two servers, as two encrypted shares that show nothing alone.
    Report(servers::ReportArguments),
    /// Check people's reports and add up their shares with noise, as one of two servers.
    Aggregate(servers::AggregateArguments),
    /// Join the noisy shares of two servers, and draw records from the counts.
    Unshard(servers::UnshardArguments),
    /// Map records in the clear into the space of a release, for models trained on it. The output is not
    /// private.
    View(view::ViewArguments),
    /// Predict by a released model, if a design releases one in place of records. The output is not private.
    Predict(predict::PredictArguments),
    /// Keep the privacy budgets of data sets: what was spent, and what is left.
    #[command(after_help = ledger::EXAMPLES)]
    Ledger {
        #[command(subcommand)]
        command: ledger::LedgerCommand,
    },
    /// Show or forget a ticket, the stored secret of a release. With it, the release can be repeated at the
    /// cost of one.
    #[command(after_help = ticket::EXAMPLES)]
    Ticket {
        #[command(subcommand)]
        command: ticket::TicketCommand,
    },
    /// Privacy accounting: the ε and δ of noise, and the noise that meets a budget. Leave out the quantity to
    /// solve for.
    #[command(after_help = account::EXAMPLES)]
    Account {
        #[command(subcommand)]
        command: account::AccountCommand,
    },
    /// Run a numerical solver: a support vector machine, the density of least Fisher information, or
    /// water-filling.
    #[command(after_help = solve::EXAMPLES)]
    Solve {
        #[command(subcommand)]
        command: solve::SolveCommand,
    },
    /// Audit claims by attacks: a lower bound on ε from samples. A claim below the bound is refuted.
    #[cfg(feature = "evaluation")]
    Audit(audit::AuditArguments),
    /// Compare mechanisms by the accuracy that they cost, on the embedded wine data or on a file.
    #[cfg(feature = "evaluation")]
    Compare(compare::CompareArguments),
    /// Print completions for a shell.
    Completions(shell::CompletionsArguments),
    /// Print the manual page.
    Man(shell::ManArguments),
    /// Write a stand-alone crate for a mechanism of your own, complete with tests.
    NewPlugin(new_plugin::NewPluginArguments),
    /// Compare mechanisms on public tasks, into one table, one page and one JSON. Without a task, list the
    /// tasks.
    #[cfg(feature = "evaluation")]
    Suite(suite::SuiteArguments),
    #[cfg(not(feature = "evaluation"))]
    #[command(hide = true, disable_help_flag = true)]
    Audit(absent::AbsentArguments),
    #[cfg(not(feature = "evaluation"))]
    #[command(hide = true, disable_help_flag = true)]
    Compare(absent::AbsentArguments),
    #[cfg(not(feature = "evaluation"))]
    #[command(hide = true, disable_help_flag = true)]
    Suite(absent::AbsentArguments),
    /// Reproduce results of papers, and compare the papers' numbers with ours. Without a name, list the
    /// results.
    #[cfg(feature = "reproduce")]
    Reproduce(reproduce::ReproduceArguments),
    /// Reproduce results of papers: in a build with the feature `reproduce`.
    #[cfg(not(feature = "reproduce"))]
    #[command(after_help = absent::REPRODUCE_EXAMPLES)]
    Reproduce(absent::AbsentArguments),
}

/// Error that the command prints as one line on stderr before it exits with code 2.
type Failure = Box<dyn std::error::Error>;

/// Runs the command with the process's arguments and the linked plugins. Invalid input gives one line on
/// stderr and exit code 2.
pub fn main() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os().collect()))
}

/// Runs the command with `arguments`, which start with the command's own name. Returns the exit code: 0, 1
/// for a claim that an audit refuted, 2 for invalid input, and 130 after an interrupt.
pub fn run_with(arguments: Vec<OsString>) -> u8 {
    let is_bare = arguments.len() <= 1;
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            // --help and --version
            return if error.print().is_ok() { 0 } else { 1 };
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            if is_bare {
                let _ = error.print();
                return 2;
            }
            return refuse("missing subcommand; see --help");
        }
        Err(error) => return refuse(&in_one_line(&error.to_string())),
    };
    match run(arguments) {
        Ok(()) => 0,
        Err(failure) => {
            let code = refuse(&failure.to_string());
            match &*failure {
                failure if was_interrupted(failure) => 130, // the exit code of shells
                failure if failure.is::<Unprinted>() || failure.is::<check::Refused>() => 1,
                #[cfg(feature = "evaluation")]
                failure if failure.is::<Broken>() => 1,
                _ => code,
            }
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    QUIET.store(arguments.quiet, Ordering::Relaxed);
    let registry = Registry::installed()?;
    match arguments.command {
        Command::List { markdown: true } => list::markdown(&registry),
        Command::List { markdown: false } => list::list(&registry, arguments.json),
        Command::Describe { design: Some(file), .. } => {
            list::describe_design(&registry, &file, arguments.json)
        }
        Command::Describe { name, .. } => {
            list::describe(&registry, &name.unwrap_or_default(), arguments.json)
        }
        Command::Schema(arguments_of) => schema::schema(&arguments_of, arguments.json),
        Command::Check(arguments_of) => check::check(&arguments_of, arguments.json),
        Command::Design(arguments_of) => design::design(&registry, &arguments_of, arguments.json),
        Command::Release(arguments_of) => release::release(&registry, &arguments_of, arguments.json),
        Command::Estimate(arguments_of) => estimate::estimate(&registry, &arguments_of, arguments.json),
        Command::Collect(arguments_of) => collect::collect(&registry, &arguments_of, arguments.json),
        Command::ServerKey(arguments_of) => servers::server_key(&arguments_of, arguments.json),
        Command::Report(arguments_of) => servers::report(&registry, &arguments_of, arguments.json),
        Command::Aggregate(arguments_of) => servers::aggregate(&registry, &arguments_of, arguments.json),
        Command::Unshard(arguments_of) => servers::unshard(&registry, &arguments_of, arguments.json),
        Command::View(arguments_of) => view::view(&registry, &arguments_of, arguments.json),
        Command::Predict(arguments_of) => predict::predict(&registry, &arguments_of, arguments.json),
        Command::Ticket { command } => ticket::ticket(&command, arguments.json),
        Command::Ledger { command } => ledger::ledger(&command, arguments.json),
        Command::Account { command } => account::account(&command, arguments.json),
        Command::Solve { command } => solve::solve(&command, arguments.json),
        #[cfg(feature = "evaluation")]
        Command::Audit(arguments_of) => audit::audit(&registry, &arguments_of, arguments.json),
        #[cfg(feature = "evaluation")]
        Command::Compare(compare) => compare::compare(&registry, &compare, arguments.json),
        Command::Completions(arguments_of) => shell::completions(&arguments_of, Arguments::command()),
        Command::Man(arguments_of) => shell::man(&arguments_of, Arguments::command()),
        Command::NewPlugin(arguments_of) => new_plugin::new_plugin(&registry, &arguments_of, arguments.json),
        #[cfg(feature = "evaluation")]
        Command::Suite(arguments_of) => suite::suite(&registry, &arguments_of, arguments.json),
        #[cfg(not(feature = "evaluation"))]
        Command::Audit(_) | Command::Compare(_) | Command::Suite(_) => absent::refuse("evaluation"),
        #[cfg(not(feature = "reproduce"))]
        Command::Reproduce(_) => absent::refuse("reproduce"),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(arguments_of) => reproduce::reproduce(&registry, &arguments_of, arguments.json),
    }
}

fn refuse(problem: &str) -> u8 {
    line_on_stderr(&format!("error: {problem}"));
    2
}

fn was_interrupted(failure: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(failure), |cause| cause.source());
    causes.any(|cause| {
        cause.is::<interrupt::Interrupted>()
            || matches!(cause.downcast_ref(), Some(records::Error::Interrupted))
    })
}

/// Creates a file at `path`, under a temporary name until it is finished. An existing file is an error unless
/// `force` is set.
fn new_file(path: &Path, force: bool) -> Result<NewFile, custody::Error> {
    let existing = if force { Existing::Replace } else { Existing::Keep };
    NewFile::create(path, existing, Readable::AsUsual).map_err(|error| match error {
        custody::Error::Exists { file, what: NewFile::KEPT } => {
            custody::Error::Exists { file, what: "already exists; --force replaces it" }
        }
        error => error,
    })
}

/// Checks that no file is both read and written, and none is written twice.
///
/// # Errors
/// Returns an error that names the first file that is both read and written, or written twice.
fn refuse_overlaps(read: &[PathBuf], written: &[&PathBuf]) -> Result<(), Failure> {
    for (at, output) in written.iter().enumerate() {
        if is_standard(output) {
            continue;
        }
        if read.iter().any(|input| is_same_file(input, output)) {
            return Err(
                format!("{}: this is an input file; refusing to overwrite it", output.display()).into()
            );
        }
        if written[..at].iter().any(|before| is_same_file(before, output)) {
            return Err(format!("{}: the file is given as two different outputs", output.display()).into());
        }
    }
    Ok(())
}

/// True if only errors go to stderr.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints a note on stderr, unless the command is quiet.
fn complain(line: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        line_on_stderr(line);
    }
}

/// Prints one line on stderr and ignores a failure to print it.
fn line_on_stderr(line: &str) {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(std::io::stderr(), "{}", shown(&line));
}

/// Joins a message of the argument parser into one line, and leaves out its usage lines.
fn in_one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let kept =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let text: Vec<&str> = kept.filter(|line| !line.is_empty()).collect();
    let text = text.join("; ").replace(":;", ":");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// Error for completed work whose report could not be printed. Exit code 1 means that the work must not be
/// repeated.
#[derive(Debug, thiserror::Error)]
#[error("the work is complete, but its report could not be printed: {0}")]
struct Unprinted(#[source] std::io::Error);

/// Writes to stdout. A closed pipe is not an error.
fn print(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.map_err(Unprinted)?),
    }
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Returns the name of a file without its folder.
fn file_name(path: &Path) -> PathBuf {
    path.file_name().map_or_else(|| path.into(), PathBuf::from)
}

/// Formats the `scumble collect` command that draws records from the reports in a file.
fn collect_command(design: &Path, reports: &Path) -> String {
    let [design, reports] = [design, reports].map(|path| path.display().to_string());
    let words =
        ["scumble", "collect", "--design", &design, "--reports", &reports, "--output", "collected.csv"];
    shlex::try_join(words).unwrap_or_default()
}

/// Returns the `scumble view` command, quoted for a shell, that maps records into the space of this design's
/// release.
fn view_command(design: &Path, key: Option<&Path>) -> String {
    let shown = |path: &Path| path.display().to_string();
    let mut words = vec!["scumble".into(), "view".into(), "--design".into(), shown(design)];
    words.extend(key.into_iter().flat_map(|key| ["--key".into(), shown(key)]));
    words.extend(["--input", "clean.csv", "--output", "view.csv"].map(str::to_owned));
    // Only a zero byte cannot be quoted, and no path has one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// Creates a progress bar. It is hidden if the command is quiet or stderr is not a terminal.
fn progress_bar(length: u64, template: &str) -> ProgressBar {
    let bar = match QUIET.load(Ordering::Relaxed) {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(length),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Runs `work` while a terminal shows `what` and the elapsed time.
fn spinning<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let bar = progress_bar(0, &format!("{{spinner}} {what}, {{elapsed}}"));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let done = work();
    bar.finish_and_clear();
    done
}

/// Prints the number of cells whose values were clipped to their bounds, for each column, on stderr. The
/// numbers are for the owner of the data, and never enter a release or a card.
fn tell_clipped(file: &str, columns: &[Clipped]) {
    if columns.is_empty() {
        return;
    }
    let columns = columns.iter().map(|clipped| {
        let Clipped { column, cells, lower, upper } = clipped;
        format!("{cells} of {column:?} to [{lower}, {upper}]")
    });
    complain(&format!("{file}: clipped to the public bounds: {}", columns.collect::<Vec<_>>().join(", ")));
}
