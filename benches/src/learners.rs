//! Models fitted to records in the clear: logistic and ridge regression, and a network.

use crate::python::Python;
use crate::task::Task;
use crate::threads::{self, THREADS};
use crate::{Contestant, Host, Result, Section};
use linfa::Dataset;
use linfa::traits::Fit;
use ndarray::Ix1;
use scumble::classifier::ClassifierParams;
use scumble::linear::{LogisticParams, RidgeParams};
use std::rc::Rc;

const PEER: &str = include_str!("../peers/learners.py");

/// Width of the network's hidden layer.
const HIDDEN: usize = 128;

pub(crate) fn logistic(host: &Host) -> Result<Section> {
    let task = Task::new("mnist", &host.scratch)?;
    let params = LogisticParams::default;
    let what = format!(
        "Time per record of {} numbers and ten classes, standardised and fitted in 100 iterations of L-BFGS. \
         scikit-learn runs until its loss is not larger.",
        task.size()
    );
    let ours = ours("`LogisticParams`", &task.dataset, move |dataset| Ok(params().fit(dataset)?))?;
    let section = Section::new(what, ours);
    let Some(peer) = peer(host) else { return Ok(section) };
    let probabilities = params().fit(&*task.dataset)?.probabilities(&task.dataset.records);
    let losses = probabilities.outer_iter().zip(&task.dataset.targets).map(|(row, class)| -row[*class].ln());
    let arguments = format!("logistic {} {}", task.arguments, losses.sum::<f64>());
    Ok(section.with_peers(theirs(
        &peer,
        "scikit-learn, `StandardScaler` and `LogisticRegression`",
        &arguments,
    )))
}

pub(crate) fn network(host: &Host) -> Result<Section> {
    let task = Task::<usize>::new("mnist", &host.scratch)?;
    let params = ClassifierParams::default().hidden(vec![HIDDEN]).epochs(1).validation_share(0.0);
    let what = format!(
        "Time per record of {} numbers and ten classes, standardised and trained for one epoch of Adam, with \
         minibatches of 64, a hidden layer of {HIDDEN} rectifiers, and single precision.",
        task.size()
    );
    let ours = ours("`ClassifierParams`", &task.dataset, move |dataset| Ok(params.fit(dataset)?))?;
    let arguments = format!("network {} {HIDDEN}", task.arguments);
    let peers = peer(host).into_iter().flat_map(|peer| theirs(&peer, "PyTorch, fused Adam", &arguments));
    Ok(Section::new(what, ours).with_peers(peers))
}

pub(crate) fn ridge(host: &Host) -> Result<Section> {
    let task = Task::new("lending-club", &host.scratch)?;
    let what =
        format!("Time per record of {} numbers, standardised and fitted by normal equations.", task.size());
    let ours = ours("`RidgeParams`", &task.dataset, |dataset| Ok(RidgeParams::default().fit(dataset)?))?;
    let arguments = format!("ridge {}", task.arguments);
    let peers = peer(host)
        .into_iter()
        .flat_map(|peer| theirs(&peer, "scikit-learn, `StandardScaler` and `Ridge`", &arguments));
    Ok(Section::new(what, ours).with_peers(peers))
}

fn peer(host: &Host) -> Option<Python> {
    host.guest(PEER, "scikit-learn and PyTorch")
}

/// Creates our contestants that call `fit`, one for each number of threads in [`THREADS`].
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

fn theirs(peer: &Python, name: &str, arguments: &str) -> [Contestant; 2] {
    THREADS.map(|threads| {
        peer.contestant(&format!("{name}, {}", threads::named(threads)), format!("{threads} {arguments}"))
    })
}
