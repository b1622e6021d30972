//! Linear tasks, and the mechanism that a design for a task returns. A *task* is the loss of an estimate x̂
//! of a record x.

use crate::latent::{Aim, LatentMechanism, Level, Parts};
use crate::lens::Lens;
use crate::noise::NoiseKind;
use crate::sample::{Sample, solve_right};
use ndarray::{Array2, Axis};
use scumble_core::{Brief, Budget, Domain, Error, Result, Table, Target, Task};
use scumble_neural::Network;

/// Builds the mechanism of a design for the task of `brief`. It moves the outputs of `encoder` into `set`,
/// adds `noise` that spends `budget`, and estimates the features by `decoder`.
pub(crate) fn released_by(
    brief: &Brief,
    (noise, budget): (NoiseKind, Budget),
    encoder: Network<f64>,
    set: Domain,
    decoder: Network<f64>,
) -> Result<LatentMechanism> {
    Parts {
        domain: brief.domain.clone(),
        lens: Lens::plain(),
        encoder,
        latent: set,
        decoder,
        epsilon: budget.epsilon(),
        delta: budget.delta(),
        noise,
        level: Level::Features,
        aim: Aim::Task,
        shaped_by: brief.volunteers.shaped_by(),
        volunteers: None,
    }
    .try_into()
}

/// Returns the matrix K (m outputs × n features) of the loss ‖K(x̂ − x)‖² of an estimate x̂ of a record x. K
/// is the matrix that `brief` states, or the weights of a linear model of the volunteers' target.
///
/// The linear model is fitted by least squares. For classes, K has one row per class, fitted to the indicator
/// of this class. Without a matrix and without a target, K = I: the loss is the squared error of all
/// features.
///
/// # Errors
/// [`Error::NotApplicable`] if the task of `brief` is neither linear nor unknown, or if K is zero. Same
/// errors as [`check`] for the matrix of `brief`.
pub(crate) fn linear_task(
    plugin: &str,
    brief: &Brief,
    table: &Table,
    sample: &Sample,
) -> Result<Array2<f64>> {
    let k = match &brief.task {
        Task::Linear(k) => {
            check(k, table)?;
            in_its_unit(k)
        }
        Task::Unknown => match targets(table) {
            None => Array2::eye(table.columns().len()),
            Some(targets) => least_squares(sample, &targets),
        },
        _ => {
            return Err(Error::not_applicable(
                plugin,
                "it needs a linear task: a matrix K, or labels to learn one from",
            ));
        }
    };
    match k.iter().all(|x| *x == 0.0) {
        true => Err(ignores_everything(plugin)),
        false => Ok(k),
    }
}

/// Checks that the matrix `k` of a task has one column per column of `table`, and finite entries.
///
/// # Errors
/// [`Error::Shape`] if `k` has another number of columns, or an entry that is not finite.
pub(crate) fn check(k: &Array2<f64>, table: &Table) -> Result<()> {
    let (n, found) = (table.columns().len(), k.ncols());
    if found != n {
        return Err(Error::shape(format!("the task has {found} columns, and the records have {n}")));
    }
    match k.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, at), value)) => {
            let (row, column) = (row + 1, &table.columns()[at]);
            Err(Error::shape(format!(
                "the task's row {row}, column {column:?}: {value} is not a finite number"
            )))
        }
    }
}

/// Divides the matrix K of a task by a power of two near its largest magnitude. The design then does not
/// depend on the unit of the loss, and no square overflows.
fn in_its_unit(k: &Array2<f64>) -> Array2<f64> {
    let largest = k.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    match largest > 0.0 {
        true => k / largest.log2().floor().clamp(-1000.0, 1000.0).exp2(),
        false => k.clone(),
    }
}

/// Returns the error for a task whose loss is zero for a constant estimate of all records.
pub(crate) fn ignores_everything(plugin: &str) -> Error {
    Error::not_applicable(
        plugin,
        "the task ignores every column, or the columns that it uses do not vary: its loss is zero without a \
         release",
    )
}

/// Returns the targets of N records as m numbers each (N × m), or `None` if `table` has no target. A class
/// becomes m indicators.
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

/// Fits a linear model with intercept of `targets` (N × m) on the n features of N records, by least squares.
/// Returns its weights (m × n). If several solutions exist, it takes the one of least norm.
fn least_squares(sample: &Sample, targets: &Array2<f64>) -> Array2<f64> {
    let centered = sample.records() - sample.mean();
    let mut targets = targets.clone();
    for mut target in targets.axis_iter_mut(Axis(1)) {
        let (mean, largest) =
            (target.mean().unwrap_or(0.0), target.fold(0.0_f64, |most, x| most.max(x.abs())));
        // Centring a constant target leaves rounding errors, which must not count as a task.
        target.mapv_inplace(|x| if (x - mean).abs() > 1e-12 * largest { x - mean } else { 0.0 });
    }
    let with_records = targets.t().dot(&centered) / targets.nrows() as f64;
    solve_right(&with_records, sample.covariance())
}
