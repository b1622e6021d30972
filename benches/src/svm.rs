//! Linear soft-margin machines, to one ten-thousandth of the optimum.

use crate::task::Task;
use crate::{Contestant, Result, Section};
use linfa::traits::Fit;
use ndarray::Array1;
use scumble::svm::SvmParams;
use tempfile::TempDir;

/// ½‖w‖² + ½ρb² + Σ max(0, 1 − yᵢ(w·xᵢ + b)), for both; 1 is `LinearSVC`'s own.
const BIAS_PENALTY: f64 = 1.0;

/// Each has the loosest tolerance, of powers of √10, with which its objective is within this share of the optimum.
const SHARE: f64 = 1e-4;

/// A data set on which machines are timed.
pub(crate) struct Machine {
    name: &'static str,
    task: Task<usize>,
    optimum: f64,
    tolerance: f64,
}

impl Machine {
    /// Adult's training records and all of WDBC, encoded by their public bounds; none where the data are not there.
    ///
    /// # Errors
    /// Where a data set cannot be read.
    pub(crate) fn all(scratch: &TempDir) -> Result<Vec<Self>> {
        ["adult", "wdbc"].into_iter().map(|name| Self::new(name, scratch)).collect()
    }

    fn new(name: &'static str, scratch: &TempDir) -> Result<Self> {
        let task = Task::new(name, scratch)?;
        let objective = |tolerance| {
            let fitted = params(tolerance).fit(&*task.dataset)?;
            Ok::<_, Box<dyn std::error::Error>>(fitted.machines()[0].objective)
        };
        let optimum = objective(1e-9)?;
        let mut tolerance = 10f64.powf(-0.5);
        while objective(tolerance)? > optimum * (1.0 + SHARE) {
            tolerance /= 10f64.sqrt();
        }
        Ok(Self { name, task, optimum, tolerance })
    }

    /// What scikit-learn is told of it.
    pub(crate) fn told(&self) -> String {
        format!("machine {} {BIAS_PENALTY} {} {SHARE}", self.task.told, self.optimum)
    }

    pub(crate) fn section(self) -> Section {
        let (n, d) = self.task.dataset.records.dim();
        let dataset = self.task.dataset;
        let (records, direction) = (dataset.clone(), Array1::<f64>::ones(d));
        let pass =
            Contestant::timed("one pass over the records, their product with a vector", n, move || {
                Ok(records.records.dot(&direction))
            });
        let machine =
            Contestant::timed("scumble, `SvmParams`", n, move || Ok(params(self.tolerance).fit(&dataset)?));
        let title = format!("A linear machine on {}", self.name);
        let what = format!(
            "A record of {n} × {d} numbers, encoded by public bounds: fitted until the hinge objective (θ = 1, a bias penalty of \
             {BIAS_PENALTY}) is within {SHARE:e} of its optimum, each at the loosest tolerance that does so. The limit looks at every number once."
        );
        Section::new(title, what, vec![machine]).limited_by(vec![pass])
    }
}

fn params(tolerance: f64) -> SvmParams {
    SvmParams::default().standardize(false).bias_penalty(BIAS_PENALTY).tolerance(tolerance)
}
