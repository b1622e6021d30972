//! Linear soft-margin support vector machines, fitted to within one ten-thousandth of the optimal objective.

use crate::task::Task;
use crate::{Contestant, Host, Result, Section};
use linfa::traits::Fit;
use ndarray::Array1;
use scumble::svm::SvmParams;

/// Bias penalty ρ in the objective ½‖w‖² + ½ρb² + Σ max(0, 1 − yᵢ(w·xᵢ + b)) of both contestants. A machine
/// has the weights w and the bias b, and record i has the features xᵢ and the class yᵢ, −1 or 1. The default
/// of `LinearSVC` corresponds to 1.
const BIAS_PENALTY: f64 = 1.0;

/// Largest relative distance of the objective from its optimum. Each contestant has the loosest tolerance,
/// among powers of √10, that reaches this distance.
const SHARE: f64 = 1e-4;

pub(crate) fn adult(host: &Host) -> Result<Section> {
    section("adult", host)
}

pub(crate) fn wdbc(host: &Host) -> Result<Section> {
    section("wdbc", host)
}

/// Builds a section for the training records of the data set `name`. Their numbers are scaled by public
/// bounds.
fn section(name: &str, host: &Host) -> Result<Section> {
    let task = Task::<usize>::new(name, &host.scratch)?;
    let objective = |tolerance| {
        let fitted = params(tolerance).fit(&*task.dataset)?;
        Ok::<_, Box<dyn std::error::Error>>(fitted.machines()[0].objective)
    };
    let optimum = objective(1e-9)?;
    let mut tolerance = 10f64.powf(-0.5);
    while objective(tolerance)? > optimum * (1.0 + SHARE) {
        tolerance /= 10f64.sqrt();
    }
    let arguments = format!("machine {} {BIAS_PENALTY} {optimum} {SHARE}", task.arguments);
    let (n, d) = task.dataset.records.dim();
    let (dataset, records, direction) = (task.dataset.clone(), task.dataset, Array1::<f64>::ones(d));
    let pass = Contestant::timed("one pass over the records, their product with a vector", n, move || {
        Ok(records.records.dot(&direction))
    });
    let machine = Contestant::timed("scumble, `SvmParams`", n, move || Ok(params(tolerance).fit(&dataset)?));
    let what = format!(
        "Time per record of {n} × {d} numbers, encoded by public bounds. Each machine is fitted until the \
         hinge objective (θ = 1, a bias penalty of {BIAS_PENALTY}) is within a share of {SHARE:e} of its \
         optimum, at the loosest tolerance that suffices. The limit reads every number once."
    );
    let peer = host.numpy("scikit-learn, `LinearSVC(loss=\"hinge\")`", &arguments);
    Ok(Section::new(what, vec![machine]).with_peers(peer).limited_by(vec![pass]))
}

fn params(tolerance: f64) -> SvmParams {
    SvmParams::default().standardize(false).bias_penalty(BIAS_PENALTY).tolerance(tolerance)
}
