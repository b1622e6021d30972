//! Models that are fitted to records in the clear: logistic and ridge regression, and a network.

use crate::python::Python;
use crate::threads::{self, THREADS};
use crate::{Contestant, Result, Section};
use linfa::Dataset;
use linfa::traits::Fit;
use ndarray::Ix1;
use scumble::classifier::ClassifierParams;
use scumble::datasets::{DataSet, folder, source};
use scumble::linear::{LogisticParams, RidgeParams};
use scumble::registry::{Table, Target};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

pub(crate) const PEER: &str = include_str!("../peers/learners.py");

/// Of the network.
const HIDDEN: usize = 128;

/// Records and targets, and what peers that do not read ours are told of files of them.
struct Task<T> {
    dataset: Rc<Dataset<f64, T, Ix1>>,
    told: String,
}

impl<T> Task<T>
where
    Dataset<f64, T, Ix1>: TryFrom<Table, Error = scumble::registry::Error>,
{
    fn new(name: &str, scratch: &TempDir) -> Result<Self> {
        let DataSet { table, train_records, .. } = source(name)?.load(&folder())?;
        let rows: Vec<usize> = (0..train_records.unwrap_or(table.len())).collect();
        let table = table.select(&rows)?;
        let targets: Vec<f64> = match table.target() {
            Target::Class(classes) => classes.iter().map(|class| *class as f64).collect(),
            Target::Real(numbers) => numbers.to_vec(),
            Target::None | Target::Vector(_) => {
                return Err(format!("{name}: its target is no class and no number").into());
            }
        };
        let write = |part: &str, values: &mut dyn Iterator<Item = f64>| {
            let file: PathBuf = scratch.path().join(format!("{name}-{part}"));
            fs::write(&file, values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())?;
            Ok::<_, std::io::Error>(file.display().to_string())
        };
        let width = table.records().ncols();
        let records = write("records", &mut table.records().iter().copied())?;
        let targets = write("targets", &mut targets.iter().copied())?;
        Ok(Self { dataset: Rc::new(table.try_into()?), told: format!("{records} {targets} {width}") })
    }

    /// How many records there are, and of how many columns.
    fn size(&self) -> String {
        format!("{} × {}", self.dataset.records.nrows(), self.dataset.records.ncols())
    }
}

/// Each learner beside its peer.
///
/// # Errors
/// Where a data set cannot be read.
pub(crate) fn sections(scratch: &TempDir, peer: Option<&Python>) -> Result<Vec<Section>> {
    let (images, loans) = (Task::new("mnist", scratch)?, Task::new("lending-club", scratch)?);
    Ok(vec![logistic(&images, peer)?, network(&images, peer)?, ridge(&loans, peer)?])
}

fn logistic(task: &Task<usize>, peer: Option<&Python>) -> Result<Section> {
    let params = LogisticParams::default;
    let what = format!(
        "A record of {} numbers and ten classes, standardised and fitted in 100 iterations of L-BFGS. scikit-learn has as many as it \
         takes to a loss that is not larger.",
        task.size()
    );
    let ours = ours("`LogisticParams`", &task.dataset, move |dataset| Ok(params().fit(dataset)?))?;
    let section = Section::new("Logistic regression of mnist", what, ours);
    let Some(peer) = peer else { return Ok(section) };
    let probabilities = params().fit(&*task.dataset)?.probabilities(&task.dataset.records);
    let losses = probabilities.outer_iter().zip(&task.dataset.targets).map(|(row, class)| -row[*class].ln());
    let told = format!("logistic {} {}", task.told, losses.sum::<f64>());
    Ok(section.beside(theirs(peer, "scikit-learn, `StandardScaler` and `LogisticRegression`", &told)))
}

fn network(task: &Task<usize>, peer: Option<&Python>) -> Result<Section> {
    let params = ClassifierParams::default().hidden(vec![HIDDEN]).epochs(1).validation_share(0.0);
    let what = format!(
        "A record of {} numbers and ten classes: standardised, and one epoch of Adam in minibatches of 64 through {HIDDEN} rectifiers, \
         in single precision.",
        task.size()
    );
    let ours = ours("`ClassifierParams`", &task.dataset, move |dataset| Ok(params.fit(dataset)?))?;
    let told = format!("network {} {HIDDEN}", task.told);
    let peers = peer.into_iter().flat_map(|peer| theirs(peer, "PyTorch, fused Adam", &told));
    Ok(Section::new("A network on mnist", what, ours).beside(peers))
}

fn ridge(task: &Task<f64>, peer: Option<&Python>) -> Result<Section> {
    let what =
        format!("A record of {} numbers, standardised and fitted by its normal equations.", task.size());
    let ours = ours("`RidgeParams`", &task.dataset, |dataset| Ok(RidgeParams::default().fit(dataset)?))?;
    let told = format!("ridge {}", task.told);
    let peers =
        peer.into_iter().flat_map(|peer| theirs(peer, "scikit-learn, `StandardScaler` and `Ridge`", &told));
    Ok(Section::new("Ridge regression of lending-club", what, ours).beside(peers))
}

/// Ours on one thread and on more.
fn ours<T: Send + Sync + 'static, M: Send>(
    name: &str,
    dataset: &Rc<Dataset<f64, T, Ix1>>,
    fit: impl Fn(&Dataset<f64, T, Ix1>) -> Result<M> + Clone + Send + Sync + 'static,
) -> Result<Vec<Contestant>> {
    let on = |threads: usize| {
        let (pool, fit, dataset) = (threads::pool(threads)?, fit.clone(), dataset.clone());
        let name = format!("scumble, {name}, {}", threads::named(threads));
        Ok(Contestant::timed(name, dataset.records.nrows(), move || {
            let dataset = &*dataset;
            threads::run(&pool, || fit(dataset))
        }))
    };
    THREADS.into_iter().map(on).collect()
}

fn theirs(peer: &Python, name: &str, told: &str) -> [Contestant; 2] {
    THREADS.map(|threads| {
        peer.contestant(&format!("{name}, {}", threads::named(threads)), format!("{threads} {told}"))
    })
}
