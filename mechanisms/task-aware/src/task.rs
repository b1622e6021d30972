//! What the error of an estimate counts.

use crate::sample::{Sample, solve_right};
use ndarray::{Array2, Axis};
use scumble_registry::{Brief, Error, Result, Table, Target, Task};

/// K (m × n): the one that is given, or the weights of the linear model of the volunteers' target (least squares; of classes one row each,
/// on indicators). All of the record counts, K = I, where there is neither.
///
/// # Errors
/// [`Error::NotApplicable`] for a task that is not linear, and for one that ignores every column.
pub(crate) fn linear_task(
    plugin: &str,
    brief: &Brief,
    table: &Table,
    sample: &Sample,
) -> Result<Array2<f64>> {
    let n = table.columns().len();
    let k = match &brief.task {
        Task::Linear(k) => checked(k, n)?.clone(),
        Task::Unknown => match targets(table) {
            None => Array2::eye(n),
            Some(targets) => least_squares(sample, &targets),
        },
        _ => {
            return Err(Error::not_applicable(
                plugin,
                "it takes a linear task: a matrix K, or labels to learn it from",
            ));
        }
    };
    Ok(k)
}

/// K, if it is one for records of n columns.
///
/// # Errors
/// [`Error::Shape`] for another width, or an entry that is no finite number.
pub(crate) fn checked(k: &Array2<f64>, n: usize) -> Result<&Array2<f64>> {
    if k.ncols() != n {
        return Err(Error::shape(format!("the task has {} columns where records have {n}", k.ncols())));
    }
    match k.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Error::shape(format!("the task has an entry {value}, which is no finite number"))),
        None => Ok(k),
    }
}

/// There is nothing to release where nothing counts.
pub(crate) fn ignores_everything(plugin: &str) -> Error {
    Error::not_applicable(
        plugin,
        "the task ignores every column, or those that it does not do not vary: its loss is zero without a release",
    )
}

/// The targets as numbers (N × m); none where there is no target.
fn targets(table: &Table) -> Option<Array2<f64>> {
    match table.target() {
        Target::None => None,
        Target::Real(values) => Some(values.clone().insert_axis(Axis(1))),
        Target::Vector(values) => Some(values.clone()),
        Target::Class(classes) => {
            let most = classes.iter().copied().max().unwrap_or(0);
            let indicator = |(row, class): (usize, usize)| if classes[row] == class { 1.0 } else { 0.0 };
            Some(Array2::from_shape_fn((classes.len(), most + 1), indicator))
        }
    }
}

/// The weights (m × n) of the targets' (N × m) best linear model with a constant; the least where there are many.
fn least_squares(sample: &Sample, targets: &Array2<f64>) -> Array2<f64> {
    let centered = sample.records() - sample.mean();
    let with_records = targets.t().dot(&centered) / targets.nrows() as f64;
    solve_right(&with_records, sample.covariance())
}
