//! The tasks. Each is an experiment in its own file.

use scumble_comparison::{Candidate, Comparison, Error, Experiment, Result};
use scumble_core::{Registry, nearest_name};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A comparison of mechanisms on one data set, described by an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// The task's name.
    pub name: &'static str,
    /// The text of the experiment. Its first line states the question.
    pub text: &'static str,
}

/// The variant of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The full variant, as the tasks define it. It takes hours.
    Whole,
    /// The quick variant: [`TRIALS`](Self::TRIALS) trials of at most [`TRAIN`](Self::TRAIN) training records
    /// and [`TEST`](Self::TEST) test records, at three [`BUDGETS`](Self::BUDGETS). A table of many columns
    /// has fewer training records, with at most [`NUMBERS`](Self::NUMBERS) numbers.
    Quick,
}

impl Form {
    /// Number of trials in the quick variant.
    pub const TRIALS: usize = 10;
    /// Maximum number of released records in the quick variant.
    pub const TRAIN: usize = 2000;
    /// Maximum number of encoded numbers of the training records in the quick variant.
    pub const NUMBERS: usize = 400_000;
    /// Budgets ε of the quick variant.
    pub const BUDGETS: [f64; 3] = [0.5, 2.0, 8.0];
    /// Maximum number of test records in the quick variant.
    pub const TEST: usize = 1000;
}

macro_rules! tasks {
    ($($name:literal),* $(,)?) => {
        &[$(Task { name: $name, text: include_str!(concat!("../../tasks/", $name, ".toml")) }),*]
    };
}

const TASKS: &[Task] = tasks![
    "adult",
    "adult-volunteers",
    "college",
    "credit-card",
    "credit-card-volunteers",
    "diabetes",
    "doctor-visits",
    "doctor-visits-volunteers",
    "hmda",
    "hmda-volunteers",
    "household",
    "household-mean",
    "household-volunteers",
    "iris",
    "lending-club",
    "lending-club-default",
    "letters",
    "letters-volunteers",
    "mnist",
    "mnist-network",
    "pima",
    "pima-volunteers",
    "satellite",
    "satellite-volunteers",
    "spam",
    "spam-volunteers",
    "tree",
    "valuation",
    "valuation-rule",
    "valuation-volunteers",
    "votes",
    "wages",
    "wages-volunteers",
    "wdbc",
    "wdbc-machine",
    "wine",
    "wine-volunteers",
    "xor",
];

/// All tasks, sorted by name.
pub fn tasks() -> &'static [Task] {
    TASKS
}

/// The task with this name.
///
/// # Errors
/// [`Error::Data`] if no task has this name, with the nearest name and all names.
pub fn task(name: &str) -> Result<&'static Task> {
    let names = || TASKS.iter().map(|task| task.name);
    TASKS.iter().find(|task| task.name == name).ok_or_else(|| {
        let nearest =
            nearest_name(name, names()).map_or(String::new(), |near| format!(" (did you mean {near:?}?)"));
        let known = names().collect::<Vec<_>>().join(", ");
        Error::Data(format!("there is no task {name:?}{nearest}; there are {known}"))
    })
}

impl Task {
    /// The question of the task, in a line.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The comparison of these `mechanisms`, or of the task's own if none is named, with its data loaded.
    ///
    /// # Errors
    /// [`Error::File`] if the data set is not in the folder that the environment variable `SCUMBLE_DATA`
    /// names. [`Error::Core`] if there is no mechanism of a name.
    pub fn comparison(&self, registry: &Registry, form: Form, mechanisms: &[String]) -> Result<Comparison> {
        let file = format!("{}.toml", self.name);
        let experiment = Experiment::from_toml(self.text, Path::new(&file))?;
        let candidates = experiment.candidates(registry)?;
        let mut comparison = experiment.comparison(experiment.data()?, candidates)?;
        if form == Form::Quick {
            comparison.trials = comparison.trials.min(Form::TRIALS);
            let columns = comparison.data.table.columns().len().max(1);
            comparison.splitting.most_train = Some(Form::TRAIN.min(Form::NUMBERS / columns));
            comparison.epsilons = Form::BUDGETS.to_vec();
            comparison.splitting.most_test = Some(Form::TEST);
        }
        if !mechanisms.is_empty() {
            let own = std::mem::take(&mut comparison.candidates);
            let is_named =
                |candidate: &Candidate| mechanisms.iter().any(|name| name == candidate.plugin.name);
            comparison.candidates = own.into_iter().filter(is_named).collect();
            for name in mechanisms {
                if !comparison.candidates.iter().any(|candidate| candidate.plugin.name == name) {
                    comparison.candidates.push(Candidate::new(*registry.get(name)?));
                }
            }
        }
        Ok(comparison)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_task() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert_eq!(files, tasks().iter().map(|task| task.name).collect::<Vec<_>>());
    }

    #[test]
    fn a_name_that_no_task_has_gets_the_nearest() {
        let error = task("irs").unwrap_err().to_string();
        assert!(
            error.starts_with("there is no task \"irs\" (did you mean \"iris\"?); there are adult, "),
            "{error}"
        );
    }
}
