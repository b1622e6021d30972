//! `scumble suite`: compares mechanisms on public tasks.

use super::running::{Running, command_line};
use super::{Failure, complain, new_file, print, print_json};
use crate::compare::Comparison;
use crate::core::Registry;
use crate::custody::NewFile;
use crate::suite::{Form, Missing, Results, Task, task, tasks};
use clap::Args;
use comfy_table::{Table, presets};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  scumble suite --all --quick --output results
  scumble suite iris wine --mechanism direct --output results
  scumble suite --all --mechanism my-mechanism --published suite.json --output results";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SuiteArguments {
    /// Tasks, as the command without a task lists them.
    #[arg(conflicts_with = "all")]
    task: Vec<String>,
    /// All tasks, one after the other.
    #[arg(long)]
    all: bool,
    /// The quick variant: ten trials, of at most 2,000 training records and 1,000 held-out test records.
    #[arg(long)]
    quick: bool,
    /// A mechanism, in place of all quick mechanisms; may be given several times.
    #[arg(long, value_name = "NAME")]
    mechanism: Vec<String>,
    /// Published results, as suite.json has them (also packed as .gz), or a folder of them, whose tasks and
    /// rows are drawn too. Without a task, nothing is run.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    published: Vec<PathBuf>,
    /// A folder for suite.md, the table; suite.html, the page; suite.json, every number; and the finished
    /// trials of each task, from which a stopped run resumes.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Replace an existing table, page and JSON.
    #[arg(long, requires = "output")]
    force: bool,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Number of trials of each cell (one mechanism at one ε) [default: the task's own; 10 in the quick
    /// variant].
    #[arg(long, value_name = "N")]
    trials: Option<usize>,
    /// The seed of splits and noise.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn suite(registry: &Registry, arguments: &SuiteArguments, as_json: bool) -> Result<(), Failure> {
    let selected: Vec<&'static Task> = match (&arguments.task[..], arguments.all) {
        (_, true) => tasks().iter().collect(),
        ([], false) if arguments.published.is_empty() => return list(as_json),
        (names, false) => names.iter().map(|name| task(name)).collect::<Result<_, _>>()?,
    };
    for name in &arguments.mechanism {
        registry.get(name)?;
    }
    // Check before any work is done.
    let places = arguments.output.as_deref().map(Places::within).transpose()?;
    if let Some(places) = &places {
        places.create(arguments)?;
    }
    let form = if arguments.quick { Form::Quick } else { Form::Whole };
    let mut all: Vec<Results> = vec![];
    for path in &arguments.published {
        for file in files(path)? {
            all.push(Results::read(&file)?);
        }
    }
    let selected_none = selected.is_empty();
    let form = all.first().filter(|_| selected_none).map_or(form, |first| first.form);
    let mut own = Results::new(form);
    for task in selected {
        match run(registry, task, form, arguments, places.as_ref()) {
            Ok((comparison, outcome)) => own.add(task, &comparison, outcome),
            Err(failure) => {
                complain(&format!("{}: {failure}", task.name));
                own.missing.push(Missing { task, reason: failure.to_string() });
            }
        }
    }
    all.push(own);
    let mut results = Results::new(form);
    for other in all {
        results.merge(other)?;
    }
    if selected_none {
        results.miss_others();
    }
    if results.finished.is_empty() {
        let reason = results
            .missing
            .first()
            .map_or(String::new(), |missing| format!(": {}: {}", missing.task.name, missing.reason));
        return Err(format!("no task could be run{reason}").into());
    }
    let command = command_line();
    let (table, numbers) = (results.to_markdown(&command), results.to_json());
    // The result is printed even if an output file cannot be written.
    if as_json {
        print_json(&numbers)?;
    } else {
        print(&table)?;
    }
    if let Some(places) = &places {
        let [table_file, page, numbers_file] = places.create(arguments)?;
        table_file.finish(table.as_bytes())?;
        page.finish(results.to_html(&command).as_bytes())?;
        numbers_file.finish((serde_json::to_string(&numbers)? + "\n").as_bytes())?;
    }
    Ok(())
}

/// The files of a folder in the order of their names, or the file itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let failed = |error| format!("{}: {error}", path.display());
    let entries = std::fs::read_dir(path).map_err(failed)?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failed)?;
    files.sort();
    Ok(files)
}

fn list(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let tasks = tasks()
            .iter()
            .map(|task| json!({ "name": task.name, "about": task.about(), "experiment": task.text }));
        return print_json(&tasks.collect::<Vec<_>>());
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for task in tasks() {
        table.add_row([task.name, task.about()]);
    }
    print(&format!("{}\n\nTo run all: scumble suite --all --quick --output FOLDER", table.trim_fmt()))
}

fn run(
    registry: &Registry,
    task: &Task,
    form: Form,
    arguments: &SuiteArguments,
    places: Option<&Places>,
) -> Result<(Comparison, crate::compare::Outcome), Failure> {
    let mut comparison = task.comparison(registry, form, &arguments.mechanism)?;
    comparison.seed = arguments.seed;
    comparison.trials = arguments.trials.unwrap_or(comparison.trials);
    let store = places.map(|places| places.cells(task));
    let running = Running { what: task.name, store: store.as_deref(), jobs: arguments.jobs };
    let outcome = running.run(&comparison)??;
    Ok((comparison, outcome))
}

/// Paths of the output files.
struct Places<'a> {
    folder: &'a Path,
}

impl<'a> Places<'a> {
    fn within(folder: &'a Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { folder })
    }

    /// Creates the table, the page and the JSON, each under a temporary name.
    fn create(&self, arguments: &SuiteArguments) -> Result<[NewFile; 3], Failure> {
        let create = |name: &str| new_file(&self.folder.join(name), arguments.force);
        Ok([create("suite.md")?, create("suite.html")?, create("suite.json")?])
    }

    /// Path of the file that keeps finished trials of a task.
    fn cells(&self, task: &Task) -> PathBuf {
        self.folder.join(task.name).with_added_extension("cells.jsonl")
    }
}
