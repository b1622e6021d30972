//! Support vector machines on half of the irises.

use super::irises::{Irises, SPECIES};
use super::study::{Statistic, evidence, found, note};
use crate::report::Evidence;
use crate::{Result, RunOptions};
use ndarray::Axis;
use scumble_core::largest;
use scumble_kkt::{Records, SoftMargin};

/// Trains a machine of each species against the rest, on the training records at `rows`.
///
/// Each machine minimises ½‖w‖² + ½b² + C Σ max(0, 1 − y(w·x + b))², as scikit-learn's LinearSVC does, with C
/// = `penalty`. The sum is over the records x with signs y = ±1, w are the weights, and b is the bias. The
/// result has four weights and b for one species after the other.
fn machines(irises: &Irises, rows: &[usize], penalty: f64) -> Result<Vec<f64>> {
    // Weight of the linear hinge loss. The solver needs a weight above zero.
    const HINGE: f64 = 1e-9;
    let records = Records::new(irises.training.select(Axis(0), rows).view());
    let hinges = vec![HINGE; rows.len()];
    let mut values = vec![];
    for species in 0..SPECIES {
        let sign = |row: &usize| if irises.classes[*row] == species { 1.0 } else { -1.0 };
        let signs: Vec<f64> = rows.iter().map(sign).collect();
        let machine = SoftMargin::new(&records, &signs, &hinges)?
            .bias_penalty(1.0)?
            .squared_slack_penalty(2.0 * penalty)?
            .solve(1e-8, 200)?;
        values.extend(machine.weights);
        values.push(machine.bias);
    }
    Ok(values)
}

fn right(irises: &Irises, values: &[f64]) -> f64 {
    let predicted = irises.test.outer_iter().map(|record| {
        let score = |machine: &[f64]| {
            machine.iter().zip(record).map(|(weight, x)| weight * x).sum::<f64>()
                + machine.last().unwrap_or(&0.0)
        };
        largest(&values.chunks(values.len() / SPECIES).map(score).collect::<Vec<f64>>())
    });
    irises.share_right(predicted)
}

fn with(penalty: f64, printed: f64) -> Statistic {
    Statistic {
        name: format!("C = {penalty}"),
        compute: Box::new(move |irises| Ok(Box::new(move |rows| machines(irises, rows, penalty)))),
        right: Box::new(right),
        printed: Some(printed),
        why: "",
    }
}

pub(super) fn machine(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let statistics = [with(0.05, 0.434_741), with(1.0, 9.311_867)];
    let found = statistics.iter().map(|statistic| found(options, name, statistic)).collect::<Result<_>>()?;
    let claim = "regularisation amplifies privacy: a stronger one needs less noise";
    let title = "Support vector machines of half of the irises";
    let values =
        "fifteen numbers each for C = 0.05 and C = 1 (code/iris_lira_svm.py, where both are called 0.05)";
    evidence(options, name, found, (claim, title, note(options, values)))
}
