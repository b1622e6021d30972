//! Task of a design: the target of records, and a network that predicts it.

use crate::Result;
use ndarray::{Array1, Array2, Axis};
use scumble_core::{DifferentiableTask, Table, Target};
use scumble_neural::{Adam, Architecture, Examples, Initialisation, Loss, Network, Optimiser, Training};
use scumble_task_aware::NetworkTask;
use std::sync::Arc;

/// Returns the class of each record of a table; empty if the target is not a class.
pub(crate) fn classes_of(table: &Table) -> Array1<usize> {
    match table.target() {
        Target::Class(classes) => classes.clone(),
        _ => Array1::default(0),
    }
}

/// Trains a network of this architecture for `epochs` epochs to predict the target of the records of `table`.
pub(crate) fn learned(
    table: &Table,
    architecture: Architecture,
    epochs: usize,
    seed: u64,
) -> Result<Arc<dyn DifferentiableTask>> {
    let start = Network::new(architecture, Initialisation::Uniform, seed)?;
    let fitting = Training {
        epochs,
        batch_size: 32,
        optimiser: Optimiser::Adam(Adam::default()),
        seed,
        ..Training::default()
    };
    let targets: Array2<f64>;
    let loss = match table.target() {
        Target::Class(classes) if start.architecture().outputs() > 1 => Loss::CrossEntropy(classes.view()),
        Target::Class(classes) => {
            targets = classes.mapv(|class| class as f64).insert_axis(Axis(1));
            Loss::BinaryCrossEntropy(targets.view())
        }
        Target::Real(values) => {
            targets = values.clone().insert_axis(Axis(1));
            Loss::SquaredError(targets.view())
        }
        Target::Vector(values) => Loss::SquaredError(values.view()),
        Target::None => return Ok(Arc::new(NetworkTask::new(start))),
    };
    let network = fitting.fit(&start, Examples { records: table.records().view(), loss }, None, |_| ())?;
    Ok(Arc::new(NetworkTask::new(network)))
}
