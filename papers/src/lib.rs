//! Reproduced results of papers: each runs by name, and sets the paper's numbers beside ours.
//!
//! A result is one [`Reproduction`] in a table: a name, a line, the paper, and a function that runs it. The same seed gives the same
//! numbers whatever the number of threads.
//!
//! ```
//! use scumble_papers::{self as papers, Agreement, RunOptions};
//! use std::path::{Path, PathBuf};
//!
//! let figure = papers::get("fisher-svm/figure-3")?;
//! let registry = scumble_core::Registry::installed()?;
//! let options = RunOptions { quick: true, ..RunOptions::new(&registry, Path::new("no data are needed")) };
//! let report = figure.run(&options)?;
//! assert!(report.claims.findings.iter().all(|finding| finding.verdict == Agreement::Reproduced));
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
mod task;
mod task_aware;
mod trials;
mod vlm;

pub use kept::kept;
pub use markdown::markdown;
pub use picture::{CurvePoint, Layer, Marks, Panel, Picture, Scale};
pub use report::{Agreement, Claims, Finding, Grid, Report};

use report::Evidence;
use scumble_accounting as accounting;
use scumble_classifier as classifier;
use scumble_comparison::store::{self, Key, Store};
use scumble_core::{Randomness, Registry, nearest_name};
use scumble_datasets as datasets;
use scumble_kkt as kkt;
use scumble_linear as linear;
use scumble_neural as neural;
use scumble_task_aware::sensitivity;
// Results design these by their names only; an unnamed crate would not be linked.
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

/// More trials than this nobody waits for.
const MOST_TRIALS: usize = 100_000;

/// What can stop a reproduction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no result has.
    #[error("there is no result {name:?}{}; there are {known}", nearest.as_ref().map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default())]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest name that is there.
        nearest: Option<String>,
        /// All names, separated by commas.
        known: String,
    },
    /// A number of trials that has no standard error, or that nobody waits for.
    #[error("a result needs between 2 and {MOST_TRIALS} trials, and not {0}")]
    Trials(usize),
    /// Design or release.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
    /// A file of records, or its schema.
    #[error(transparent)]
    Records(#[from] scumble_records::Error),
    /// A data set that cannot be loaded.
    #[error(transparent)]
    DataSet(#[from] datasets::Error),
    /// A programme that could not be solved.
    #[error(transparent)]
    Machine(#[from] kkt::Error),
    /// A linear model that could not be fitted.
    #[error(transparent)]
    Linear(#[from] linear::Error),
    /// A network that could not be fitted.
    #[error(transparent)]
    Network(#[from] neural::Error),
    /// A classifier that could not be fitted.
    #[error(transparent)]
    Classifier(#[from] classifier::Error),
    /// A ceiling of an accuracy that there is not.
    #[error(transparent)]
    Accounting(#[from] accounting::Error),
    /// A store of finished trials that cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A sensitivity that could not be found.
    #[error(transparent)]
    Sensitivity(#[from] sensitivity::Error),
    /// A report that is not there, or is none.
    #[error("{}: {problem}; scumble reproduce {name} --output {} makes it", file.display(), folder.display())]
    Kept {
        /// Where it should be.
        file: PathBuf,
        /// In which folder of reports.
        folder: PathBuf,
        /// The result's name.
        name: &'static str,
        /// What is amiss.
        problem: String,
    },
    /// A mechanism that is not what the result needs.
    #[error("the mechanism {mechanism:?} {problem}")]
    Mechanism {
        /// Its name.
        mechanism: String,
        /// What is amiss.
        problem: String,
    },
}

/// The result of reproducing.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A result of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Reproduction {
    /// Its name: the paper's, and the result's.
    pub name: &'static str,
    /// What it is about, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    run: fn(&RunOptions, &'static str) -> Result<Evidence>,
}

/// All of them, sorted by name.
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

/// What holds of a paper, what does not, and what we would do in its place.
fn said_of(paper: &str) -> &'static str {
    let papers = [
        (dauntless::PAPER, dauntless::SAID),
        (fisher_svm::PAPER, fisher_svm::SAID),
        (pac_privacy::PAPER, pac_privacy::SAID),
        (reshaping::PAPER, reshaping::SAID),
        (task_aware::PAPER, task_aware::SAID),
        (vlm::PAPER, vlm::SAID),
    ];
    papers.iter().find(|(title, _)| *title == paper).map_or("", |(_, said)| said)
}

/// The one of this name.
///
/// # Errors
/// [`Error::Unknown`] with the nearest name, and all of them.
pub fn get(name: &str) -> Result<&'static Reproduction> {
    let names = || all().iter().map(|result| result.name);
    all().iter().find(|result| result.name == name).ok_or_else(|| Error::Unknown {
        name: name.into(),
        nearest: nearest_name(name, names()),
        known: names().collect::<Vec<_>>().join(", "),
    })
}

/// How results are run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// Where mechanisms are found by name.
    pub registry: &'a Registry,
    /// Where the data sets lie.
    pub folder: &'a Path,
    /// The quick variant, of seconds: fewer trials, fewer points of a curve, and of many records a part. The report
    /// says which.
    pub quick: bool,
    /// The random seed.
    pub seed: u64,
    /// How often draws are repeated where they are, two or more, in place of what the result has, which is 100 or fewer.
    pub trials: Option<usize>,
    /// A folder for files of finished trials, of results that take minutes or hours: what is there is taken from there,
    /// and what is new is added, so that one that was stopped goes on, and results that share their work do it once.
    pub store: Option<&'a Path>,
    /// Whether charts show images of records; finished trials hold them then, too.
    pub images: bool,
    /// Hears how many steps a result has.
    pub on_start: &'a (dyn Fn(u64) + Sync),
    /// Hears of each step's end.
    pub on_step: &'a (dyn Fn() + Sync),
}

impl<'a> RunOptions<'a> {
    /// The full variant with seed 1, heard by nobody.
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

    /// How often a network is trained anew, where that is what is repeated.
    fn trainings(&self) -> usize {
        self.trials.unwrap_or(if self.quick { 2 } else { 3 })
    }

    /// The finished trials that are called `name`, if any are kept.
    fn finished<T: Clone + Serialize + DeserializeOwned>(&self, name: &str) -> Result<Option<Store<T>>> {
        let Some(folder) = self.store else { return Ok(None) };
        let file = folder.join(name).with_added_extension("jsonl");
        if let Some(folder) = file.parent() {
            let failed = |source| scumble_records::Error::Io { file: folder.into(), source };
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        Ok(Some(Store::open(&file)?))
    }

    /// What a trial found that `words` tell from all others: from the store where it has it, else by `run`, and then
    /// the store has it.
    fn once<T: Clone + Serialize + DeserializeOwned>(
        &self,
        store: &Option<Store<Trial<T>>>,
        words: &Value,
        run: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(store) = store else { return run() };
        if let Some(Trial { found }) = store.find(&Key::of(words)?) {
            return Ok(found.clone());
        }
        let found = run()?;
        store.add(Key::of(words)?, words, &Trial { found: found.clone() })?;
        Ok(found)
    }

    /// Randomness of its own for every draw: nothing depends on their order.
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

/// What a trial found, as a line of a store has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Trial<T> {
    found: T,
}

impl Reproduction {
    /// Runs it on all cores.
    ///
    /// # Errors
    /// [`Error`] for data that are not there, too few trials, and whatever stops a mechanism or a model.
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
