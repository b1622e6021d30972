//! The `scumble` command.
//!
//! A binary of one's own with more plugins is four lines:
//!
//! ```no_run
//! // use my_plugin as _;
//! fn main() -> std::process::ExitCode {
//!     scumble::command::main()
//! }
//! ```

mod account;
mod audit;
mod collect;
mod compare;
mod design;
mod labelled;
mod ledger;
mod list;
mod new_plugin;
mod passphrase;
mod protect;
mod release;
#[cfg(feature = "reproduce")]
mod reproduce;
mod running;
mod schema;
mod setting;
mod shell;
mod solve;
mod suite;
mod summary;
mod view;

use crate::adversary::Broken;
use crate::records;
use crate::registry::{Clipped, Registry, is_same_file, shown};
use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Release data under a stated privacy guarantee, so that models can still be learned from it.
///
/// Without a command, `compare`.
#[derive(Parser)]
#[command(name = "scumble", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// List the mechanisms.
    List {
        /// As a table in Markdown of what each claims and discloses, by the guarantee of its example.
        #[arg(long)]
        markdown: bool,
    },
    /// Describe a mechanism: what it does, its parameters, and the card of an example. Or a saved design: its card.
    Describe {
        /// Its name, as `list` shows it.
        #[arg(required_unless_present = "design")]
        name: Option<String>,
        /// A saved design.
        #[arg(long, value_name = "DESIGN.json", conflicts_with = "name")]
        design: Option<PathBuf>,
    },
    /// Draft a schema from a file of records, for somebody to go over: with the draft mechanisms can be compared.
    Schema(schema::SchemaArguments),
    /// Design a mechanism, or several side by side, and save it: a file to ship to whoever releases.
    Design(design::DesignArguments),
    /// Release a file of records by a saved design.
    Release(release::ReleaseArguments),
    /// Draw records in the schema's columns from the reports of many people, where a design releases reports.
    Collect(collect::CollectArguments),
    /// Where clean records lie in the space of a release, for models that learned from it. What it writes is not private.
    View(view::ViewArguments),
    /// Count what is spent on data sets.
    Ledger {
        #[command(subcommand)]
        command: ledger::LedgerCommand,
    },
    /// Account for noise: what it costs, and how much of it a budget needs. Leave out what is to be solved for.
    Account {
        #[command(subcommand)]
        command: account::AccountCommand,
    },
    /// Solve what mechanisms rest on, by itself: a support vector machine, or the density of least Fisher information.
    Solve {
        #[command(subcommand)]
        command: solve::SolveCommand,
    },
    /// Attack what mechanisms claim: a lower bound on ε from samples, which no claim may lie below.
    Audit(audit::AuditArguments),
    /// Compare what mechanisms cost in accuracy, on the embedded wines or on a file.
    Compare(compare::CompareArguments),
    /// Print what completes the command in a shell, by its own arguments.
    Completions(shell::CompletionsArguments),
    /// Print the page of the manual.
    Man(shell::ManArguments),
    /// Write a crate for a mechanism of your own, complete with tests, to be built by itself.
    NewPlugin(new_plugin::NewPluginArguments),
    /// Compare mechanisms on a dozen tasks, into one table, one page and one JSON. Without a task, list them.
    Suite(suite::SuiteArguments),
    /// Find results of papers again, and set the paper's numbers beside ours. Without a name, list them.
    #[cfg(feature = "reproduce")]
    Reproduce(reproduce::ReproduceArguments),
    /// Find results of papers again: in a build with the feature `reproduce`.
    #[cfg(not(feature = "reproduce"))]
    Reproduce {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// One line on stderr, and exit code 2.
type Failure = Box<dyn std::error::Error>;

/// Runs the command with the process's arguments and the plugins that are linked in. What is wrong with the input is one
/// line on stderr, and exit code 2.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            // --help and --version
            return if error.print().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return refuse("what to do is missing; --help lists it");
        }
        Err(error) => return refuse(&in_one_line(&error.to_string())),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let code = refuse(&failure.to_string());
            match &*failure {
                failure if was_interrupted(failure) => ExitCode::from(130), // as shells say it
                failure if failure.is::<Unprinted>() || failure.is::<Broken>() => ExitCode::FAILURE,
                _ => code,
            }
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let registry = Registry::installed()?;
    match arguments.command.unwrap_or(Command::Compare(Default::default())) {
        Command::List { markdown: true } => list::markdown(&registry),
        Command::List { markdown: false } => list::list(&registry, arguments.json),
        Command::Describe { design: Some(file), .. } => {
            list::describe_design(&registry, &file, arguments.json)
        }
        Command::Describe { name, .. } => {
            list::describe(&registry, &name.unwrap_or_default(), arguments.json)
        }
        Command::Schema(arguments_of) => schema::schema(&arguments_of, arguments.json),
        Command::Design(arguments_of) => design::design(&registry, &arguments_of, arguments.json),
        Command::Release(arguments_of) => release::release(&registry, &arguments_of, arguments.json),
        Command::Collect(arguments_of) => collect::collect(&registry, &arguments_of, arguments.json),
        Command::View(arguments_of) => view::view(&registry, &arguments_of, arguments.json),
        Command::Ledger { command } => ledger::ledger(&command, arguments.json),
        Command::Account { command } => account::account(&command, arguments.json),
        Command::Solve { command } => solve::solve(&command, arguments.json),
        Command::Audit(arguments_of) => audit::audit(&registry, &arguments_of, arguments.json),
        Command::Compare(compare) => compare::compare(&registry, &compare, arguments.json),
        Command::Completions(arguments_of) => shell::completions(&arguments_of, Arguments::command()),
        Command::Man(arguments_of) => shell::man(&arguments_of, Arguments::command()),
        Command::NewPlugin(arguments_of) => new_plugin::new_plugin(&registry, &arguments_of, arguments.json),
        Command::Suite(arguments_of) => suite::suite(&registry, &arguments_of, arguments.json),
        #[cfg(not(feature = "reproduce"))]
        Command::Reproduce { .. } => Err("results of papers are in a build of their own: cargo run --release --features reproduce -- reproduce".into()),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(arguments_of) => reproduce::reproduce(&registry, &arguments_of, arguments.json),
    }
}

fn refuse(problem: &str) -> ExitCode {
    complain(&format!("error: {problem}"));
    ExitCode::from(2)
}

fn was_interrupted(failure: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(failure), |cause| cause.source());
    causes.any(|cause| matches!(cause.downcast_ref(), Some(records::Error::Interrupted)))
}

/// # Errors
/// Where a file would be written that is read, or written twice.
fn refuse_overlaps(read: &[PathBuf], written: &[&PathBuf]) -> Result<(), Failure> {
    for (at, output) in written.iter().enumerate() {
        if read.iter().any(|input| is_same_file(input, output)) {
            return Err(format!("{}: it is read, so nothing is written there", output.display()).into());
        }
        if written[..at].iter().any(|before| is_same_file(before, output)) {
            return Err(format!("{}: two files of one name cannot be written", output.display()).into());
        }
    }
    Ok(())
}

/// One line on stderr; where nobody can read it, nobody misses it.
fn complain(line: &str) {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(std::io::stderr(), "{}", shown(&line));
}

/// What the argument parser says over several lines, without its usage.
fn in_one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let kept =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let text: Vec<&str> = kept.filter(|line| !line.is_empty()).collect();
    let text = text.join("; ").replace(":;", ":");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// What was done could not be reported. It is done all the same, so it is not to be done again: exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("it is done, and only this report of it could not be printed: {0}")]
struct Unprinted(#[source] std::io::Error);

/// Writes to stdout; a reader that has gone away is no error.
fn print(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.map_err(Unprinted)?),
    }
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string_pretty(value)?)
}

/// The command, as a shell reads it, without the folder of the program.
fn command_line() -> String {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(&*program).file_stem().map(|name| name.to_string_lossy().into_owned());
        *program = name.unwrap_or_default();
    }
    // Only a zero byte cannot be quoted, and no argument has one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// The command that views records for models of what this design released, as a shell reads it.
fn view_command(design: &Path, key: Option<&Path>) -> String {
    let shown = |path: &Path| path.display().to_string();
    let mut words = vec!["scumble".into(), "view".into(), "--design".into(), shown(design)];
    words.extend(key.into_iter().flat_map(|key| ["--key".into(), shown(key)]));
    words.extend(["--input", "clean.csv", "--output", "view.csv"].map(str::to_owned));
    // Only a zero byte cannot be quoted, and no path has one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// Hidden unless stderr is a terminal.
fn progress_bar(length: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Does `work` while a terminal sees what is being done, and for how long.
fn spinning<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let bar = progress_bar(0, &format!("{{spinner}} {what}, {{elapsed}}"));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let done = work();
    bar.finish_and_clear();
    done
}

/// Counts of clipped cells are for the owner of the data: they go to stderr, never into a release or a card.
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
