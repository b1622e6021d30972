//! Reproduced results of papers: each result has a name and compares the paper's numbers with ours.
//!
//! A result is one [`Reproduction`] in a table: a name, a one-line description, the paper, and a function
//! that runs it. The same seed gives the same numbers for any number of threads.
//!
//! ```
//! use scumble_papers::{self as papers, Agreement, RunOptions};
//! use std::path::{Path, PathBuf};
//!
//! let figure = papers::get("fisher-svm/figure-3")?;
//! let registry = scumble_core::Registry::installed()?;
//! let options = RunOptions { quick: true, ..RunOptions::new(&registry, Path::new("no data are needed")) };
//! let report = figure.run(&options)?;
//! assert!(report.claims.findings.iter().all(|finding| finding.decision.verdict == Agreement::Reproduced));
//! # Ok::<(), papers::Error>(())
//! ```

mod dauntless;
mod fisher_svm;
mod gains;
mod kept;
mod markdown;
mod pac_privacy;
mod picture;
mod report;
mod reported;
mod reshaping;
mod rules;
mod task;
mod task_aware;
mod trials;
mod vlm;

pub use kept::kept;
pub use markdown::markdown;
pub use picture::{CurvePoint, Layer, Marks, Panel, Picture, Scale};
pub use report::{Claims, Finding, Grid, Report};
pub use rules::{Agreement, Decision};

use report::Evidence;
use scumble_accounting as accounting;
use scumble_classifier as classifier;
use scumble_comparison::store::{self, Key, Store};
use scumble_core::{Randomness, Registry, nearest_name};
use scumble_datasets as datasets;
use scumble_kkt as kkt;
use scumble_linear as linear;
use scumble_neural as neural;
use scumble_schrodinger as schrodinger;
use scumble_svm as svm;
use scumble_task_aware::sensitivity;
// Results design these mechanisms by name only. The linker drops a crate that no code names.
use scumble_fisher_svm as _;
use scumble_marginals as _;
use scumble_private_models as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

/// Maximum number of trials; more would take too long.
const MOST_TRIALS: usize = 100_000;

/// Errors that stop a reproduction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that belongs to no result.
    #[error(
        "there is no result {name:?}{}; the results are {known}",
        nearest.as_ref().map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default()
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
        /// All names, separated by commas.
        known: String,
    },
    /// A number of trials that is too small for a standard error, or too large to run.
    #[error("a result needs between 2 and {MOST_TRIALS} trials, not {0}")]
    Trials(usize),
    /// An error of a design or a release.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
    /// An error in a file of records or its schema.
    #[error(transparent)]
    Records(#[from] scumble_records::Error),
    /// A data set that cannot be loaded.
    #[error(transparent)]
    DataSet(#[from] datasets::Error),
    /// An optimisation programme that cannot be solved.
    #[error(transparent)]
    Machine(#[from] kkt::Error),
    /// A linear model that cannot be fitted.
    #[error(transparent)]
    Linear(#[from] linear::Error),
    /// A network that cannot be fitted.
    #[error(transparent)]
    Network(#[from] neural::Error),
    /// A classifier that cannot be fitted.
    #[error(transparent)]
    Classifier(#[from] classifier::Error),
    /// A support vector machine that cannot be fitted.
    #[error(transparent)]
    Svm(#[from] svm::Error),
    /// A ground state that is not found.
    #[error(transparent)]
    GroundState(#[from] schrodinger::Error),
    /// An error of privacy accounting, such as an accuracy ceiling that does not exist.
    #[error(transparent)]
    Accounting(#[from] accounting::Error),
    /// A store of finished trials that cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A sensitivity that cannot be computed.
    #[error(transparent)]
    Sensitivity(#[from] sensitivity::Error),
    /// A report of an earlier run that is missing or invalid.
    #[error("{}: {problem}; run scumble reproduce {name} --output {} to make \
        it", file.display(), folder.display())]
    Kept {
        /// The expected file of the report.
        file: PathBuf,
        /// The folder of reports that contains the file.
        folder: PathBuf,
        /// The result's name.
        name: &'static str,
        /// The problem with the file.
        problem: String,
    },
    /// A mechanism that does not fit the result.
    #[error("the mechanism {mechanism:?} {problem}")]
    Mechanism {
        /// The mechanism's name.
        mechanism: String,
        /// The problem with the mechanism.
        problem: String,
    },
}

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A result of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Reproduction {
    /// Name of the result, after the paper's short name and a slash.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// The paper that contains the result.
    pub paper: &'static str,
    /// Settings of the paper and of the full variant.
    pub settings: Settings,
    run: fn(&RunOptions, &'static str) -> Result<Evidence>,
}

/// Settings of a result in words.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Settings that the paper states, and those that it leaves open.
    pub paper: &'static str,
    /// Our settings, where they differ from the paper's or the paper leaves them open.
    pub ours: &'static str,
    /// The paper's data that our run uses.
    pub data: &'static str,
}

/// Returns all results, sorted by name.
pub fn all() -> &'static [Reproduction] {
    static RESULTS: LazyLock<Vec<Reproduction>> = LazyLock::new(|| {
        [
            &dauntless::RESULTS[..],
            &fisher_svm::RESULTS,
            &pac_privacy::RESULTS,
            &reshaping::RESULTS,
            &task_aware::RESULTS,
            &vlm::RESULTS,
        ]
        .concat()
    });
    &RESULTS
}

/// Returns the assessment of a paper: the claims that hold, the claims that fail, and the alternative we
/// recommend.
fn assessment(paper: &str) -> &'static str {
    let papers = [
        (dauntless::PAPER, dauntless::ASSESSMENT),
        (fisher_svm::PAPER, fisher_svm::ASSESSMENT),
        (pac_privacy::PAPER, pac_privacy::ASSESSMENT),
        (reshaping::PAPER, reshaping::ASSESSMENT),
        (task_aware::PAPER, task_aware::ASSESSMENT),
        (vlm::PAPER, vlm::ASSESSMENT),
    ];
    papers.iter().find(|(title, _)| *title == paper).map_or("", |(_, text)| text)
}

/// Returns the result called `name`.
///
/// # Errors
/// [`Error::Unknown`] if no result is called `name`. The error has the nearest name and all names.
pub fn get(name: &str) -> Result<&'static Reproduction> {
    let names = || all().iter().map(|result| result.name);
    all().iter().find(|result| result.name == name).ok_or_else(|| Error::Unknown {
        name: name.into(),
        nearest: nearest_name(name, names()),
        known: names().collect::<Vec<_>>().join(", "),
    })
}

/// Options for running results.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// Registry that finds mechanisms by name.
    pub registry: &'a Registry,
    /// Folder of the data sets.
    pub folder: &'a Path,
    /// Runs the quick variant, which takes seconds: fewer trials, fewer points per curve, and a part of large
    /// data sets. The report states the variant.
    pub quick: bool,
    /// The random seed.
    pub seed: u64,
    /// Number of repeated draws, at least two, for results that repeat draws. It replaces the result's own
    /// number, which is at most 100.
    pub trials: Option<usize>,
    /// Folder of finished trials, for results that take minutes or hours. A run reads the trials that the
    /// folder has and adds new ones. So a stopped run continues, and results that share trials run them once.
    pub store: Option<&'a Path>,
    /// Shows images of records in charts; finished trials then also hold these images.
    pub images: bool,
    /// Callback that receives the number of steps of a result.
    pub on_start: &'a (dyn Fn(u64) + Sync),
    /// Callback for the end of each step.
    pub on_step: &'a (dyn Fn() + Sync),
}

impl<'a> RunOptions<'a> {
    /// The full variant with seed 1 and no callbacks.
    pub fn new(registry: &'a Registry, folder: &'a Path) -> Self {
        Self {
            registry,
            folder,
            quick: false,
            seed: 1,
            trials: None,
            store: None,
            images: true,
            on_start: &|_| (),
            on_step: &|| (),
        }
    }

    fn trials(&self) -> usize {
        self.trials.unwrap_or(if self.quick { 10 } else { 100 })
    }

    /// Number of times a network is trained anew, for results that repeat the training.
    fn trainings(&self) -> usize {
        self.trials.unwrap_or(if self.quick { 2 } else { 3 })
    }

    /// Opens the store of finished trials called `name`; `None` if the options have no store.
    fn finished<T: Clone + Serialize + DeserializeOwned>(&self, name: &str) -> Result<Option<Store<T>>> {
        let Some(folder) = self.store else { return Ok(None) };
        let file = folder.join(name).with_added_extension("jsonl");
        if let Some(folder) = file.parent() {
            let failed = |source| scumble_records::Error::Io { file: folder.into(), source };
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        Ok(Some(Store::open(&file)?))
    }

    /// Returns the outcome of the trial that `words` identify. If the store has this outcome, it comes from
    /// the store. If not, `run` computes the outcome, and the store keeps it.
    fn once<T: Clone + Serialize + DeserializeOwned>(
        &self,
        store: &Option<Store<Trial<T>>>,
        words: &Value,
        run: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(store) = store else { return run() };
        if let Some(Trial { found }) = store.find(&Key::from_content(words)?) {
            return Ok(found.clone());
        }
        let found = run()?;
        store.add(Key::from_content(words)?, words, &Trial { found: found.clone() })?;
        Ok(found)
    }

    /// Returns separate randomness for every draw, so that no number depends on the order of draws.
    fn randomness(&self, result: &str, draw: &[u64]) -> Randomness {
        let mut digest = Sha256::new();
        digest.update(self.seed.to_le_bytes());
        digest.update((result.len() as u64).to_le_bytes());
        digest.update(result);
        draw.iter().for_each(|at| digest.update(at.to_le_bytes()));
        let digest = digest.finalize();
        Randomness::seeded(digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
    }
}

/// The outcome of a trial, as a line of a store.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Trial<T> {
    found: T,
}

impl Reproduction {
    /// Runs the result on all cores.
    ///
    /// # Errors
    /// [`Error::Trials`] if the number of trials is outside 2 to 100,000. Other errors if data are missing,
    /// or if a mechanism or a model fails.
    pub fn run(&self, options: &RunOptions) -> Result<Report> {
        let start = Instant::now();
        if let Some(trials) = options.trials.filter(|trials| !(2..=MOST_TRIALS).contains(trials)) {
            return Err(Error::Trials(trials));
        }
        let Evidence { trials, findings, grids, notes, picture } = (self.run)(options, self.name)?;
        let claims = Claims {
            name: self.name.into(),
            about: self.about.into(),
            paper: self.paper.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            quick: options.quick,
            seed: options.seed,
            trials,
            seconds: start.elapsed().as_secs_f64(),
            findings,
            notes,
        };
        Ok(Report { claims, grids, picture })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<&str> = all().iter().map(|result| result.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(all().iter().all(|result| !result.about.contains('\n')));
    }

    #[test]
    fn every_draw_has_randomness_of_its_own() {
        let registry = Registry::default();
        let options = RunOptions::new(&registry, Path::new(""));
        let first = |seed: u64, result: &str, draw: &[u64]| {
            let options = RunOptions { seed, ..options };
            options.randomness(result, draw).provenance()
        };
        assert_eq!(first(1, "a", &[1, 2]), first(1, "a", &[1, 2]));
        for other in [first(2, "a", &[1, 2]), first(1, "b", &[1, 2]), first(1, "a", &[2, 1])] {
            assert_ne!(other, first(1, "a", &[1, 2]));
        }
    }
}
