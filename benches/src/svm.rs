//! Linear soft-margin machines, to one ten-thousandth of the optimum.

use crate::{Contestant, Result, Section};
use linfa::traits::Fit;
use ndarray::Array1;
use scumble::datasets::{DataSet, folder, source};
use scumble::registry::Target;
use scumble::svm::SvmParams;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

/// ½‖w‖² + ½ρb² + Σ max(0, 1 − yᵢ(w·xᵢ + b)), for both; 1 is `LinearSVC`'s own.
const BIAS_PENALTY: f64 = 1.0;

/// Each has the loosest tolerance, of powers of √10, with which its objective is within this share of the optimum.
const SHARE: f64 = 1e-4;

/// A data set on which machines are timed, and files of its numbers for peers that do not read ours.
pub(crate) struct Task {
    name: &'static str,
    dataset: linfa::Dataset<f64, usize, ndarray::Ix1>,
    optimum: f64,
    tolerance: f64,
    /// n × d values, and n signs, as 64-bit numbers.
    files: [PathBuf; 2],
}

impl Task {
    /// Adult's training records and all of WDBC, encoded by their public bounds; none where the data are not there.
    ///
    /// # Errors
    /// Where a data set cannot be read.
    pub(crate) fn all(scratch: &TempDir) -> Result<Vec<Self>> {
        ["adult", "wdbc"].into_iter().map(|name| Self::new(name, scratch)).collect()
    }

    fn new(name: &'static str, scratch: &TempDir) -> Result<Self> {
        let DataSet { table, train_records, .. } = source(name)?.load(&folder())?;
        let rows: Vec<usize> = (0..train_records.unwrap_or(table.len())).collect();
        let table = table.select(&rows)?;
        let Target::Class(classes) = table.target() else {
            return Err(format!("{name}: its target is no class").into());
        };
        let bytes =
            |values: &mut dyn Iterator<Item = f64>| values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
        let files = ["records", "signs"].map(|part| scratch.path().join(format!("{name}-{part}")));
        fs::write(&files[0], bytes(&mut table.records().iter().copied()))?;
        fs::write(&files[1], bytes(&mut classes.iter().map(|class| 2.0 * *class as f64 - 1.0)))?;
        let dataset = table.try_into()?;
        let objective = |tolerance| {
            Ok::<_, Box<dyn std::error::Error>>(params(tolerance).fit(&dataset)?.machines()[0].objective)
        };
        let optimum = objective(1e-9)?;
        let mut tolerance = 10f64.powf(-0.5);
        while objective(tolerance)? > optimum * (1.0 + SHARE) {
            tolerance /= 10f64.sqrt();
        }
        Ok(Self { name, dataset, optimum, tolerance, files })
    }

    /// What scikit-learn is told of it.
    pub(crate) fn told(&self) -> String {
        let [records, signs] = self.files.each_ref().map(|file| file.display().to_string());
        let width = self.dataset.records.ncols();
        format!("machine {records} {signs} {width} {BIAS_PENALTY} {} {SHARE}", self.optimum)
    }

    pub(crate) fn section(self) -> Section {
        let (n, d) = self.dataset.records.dim();
        let dataset = Rc::new(self.dataset);
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
