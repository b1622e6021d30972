//! Execution of comparisons: progress bar, threads, and interrupts.

use super::{Failure, complain, file_name, progress_bar};
use crate::compare::{self, Comparison, Outcome};
use indicatif::ProgressBar;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::exit;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Options for running a comparison.
pub(super) struct Running<'a> {
    /// Name of the activity, shown before the progress bar.
    pub(super) what: &'a str,
    /// File that keeps finished trials.
    pub(super) store: Option<&'a Path>,
    /// Number of threads; one per core by default.
    pub(super) jobs: Option<NonZeroUsize>,
}

/// Message that the command prints at an interrupt. It names the file of finished trials.
static KEPT: Mutex<String> = Mutex::new(String::new());

impl Running<'_> {
    /// Runs the comparison. Trials read from the file of finished trials count as done in the progress bar.
    ///
    /// # Errors
    /// Returns an error if the threads cannot be created, or if the interrupt handler cannot be set.
    pub(super) fn run(&self, comparison: &Comparison) -> Result<compare::Result<Outcome>, Failure> {
        self.hear_interrupts()?;
        let bar: OnceLock<ProgressBar> = OnceLock::new();
        let template = format!("{} {{bar:40}} {{pos}}/{{len}} trials, {{eta}} left", self.what);
        let on_start = |trials| {
            bar.get_or_init(|| progress_bar(trials, &template));
        };
        let on_trial = || {
            if let Some(bar) = bar.get() {
                bar.inc(1);
            }
        };
        let run = || match self.store {
            Some(store) => comparison.resume(store, on_start, on_trial),
            None => comparison.run(on_start, on_trial),
        };
        let outcome = match self.jobs {
            Some(jobs) => rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build()?.install(run),
            None => run(),
        };
        if let Some(bar) = bar.get() {
            bar.finish_and_clear();
        }
        Ok(outcome)
    }

    /// Makes an interrupt end the command with a line that says what is kept. The file of finished trials
    /// gains only complete lines, so it stays readable after an interrupt.
    fn hear_interrupts(&self) -> Result<(), Failure> {
        static HEARD: OnceLock<()> = OnceLock::new();
        *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = match self.store {
            Some(store) => format!(
                "interrupted: finished trials are kept in {}; run the same command to resume",
                store.display()
            ),
            None => "interrupted: no trials are kept; give --cells FILE.jsonl to keep finished trials".into(),
        };
        if HEARD.set(()).is_ok() {
            ctrlc::set_handler(|| {
                complain(&KEPT.lock().unwrap_or_else(PoisonError::into_inner));
                exit(130) // the exit code of shells
            })?;
        }
        Ok(())
    }
}

/// Returns the command line, quoted for a shell, without the folder of the program.
pub(super) fn command_line() -> String {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(&*program).file_stem().map(|name| name.to_string_lossy().into_owned());
        *program = name.unwrap_or_default();
    }
    // A page is shown to other people, so it must not contain folders of this machine.
    for word in &mut words {
        let (option, value) = word.split_once('=').filter(|_| word.starts_with("--")).unwrap_or(("", word));
        if Path::new(value).is_absolute() {
            let name = file_name(Path::new(value)).display().to_string();
            *word = if option.is_empty() { name } else { format!("{option}={name}") };
        }
    }
    // Only a zero byte cannot be quoted, and no argument has one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
