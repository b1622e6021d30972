//! Support vector machines with a Gaussian kernel, through linfa-svm: for small data.

use crate::sides::{Sides, decides};
use crate::{Error, Result};
use linfa::traits::Fit;
use linfa::{Dataset, DatasetBase};
use linfa_svm::Svm;
use ndarray::{Array1, Array2, ArrayBase, Data, Ix2};
use scumble_linear::{Standardizer, check_positive, check_records};

scumble_linear::params! {
    /// Checked hyper-parameters of a machine with a Gaussian kernel.
    pub struct ValidKernelSvmParams;

    /// Hyper-parameters of a soft-margin machine with the kernel exp(−‖x − x′‖²/`width`) of two records x and
    /// x′, with standardised features.
    ///
    /// For n records it stores an n × n matrix, so it takes at most [`MOST_RECORDS`](Self::MOST_RECORDS)
    /// records.
    ///
    /// linfa-svm has no limit on its iterations, and difficult data take minutes. The fit therefore runs in
    /// stages of growing penalty and then of finer tolerance. Each stage starts anew and is assumed to take
    /// up to ten times the iterations of the previous stage. A stage that would exceed
    /// [`max_iterations`](Self::max_iterations) under this assumption is not started.
    pub struct KernelSvmParams {
        /// Weight of a record's hinge loss (`C` in other libraries), 1 by default.
        penalty: f64 = 1.0,
        /// Width of the kernel (1/`gamma` in other libraries), the number of features by default.
        width?: f64,
        /// Largest violation of the KKT conditions, 10⁻³ by default.
        tolerance: f64 = 1e-3,
        /// Maximum number of iterations, 100,000 by default. Each iteration reads all records.
        max_iterations: usize = 100_000,
    }

    fn check(params) -> Error {
        check_positive("penalty", params.penalty)?;
        check_positive("tolerance", params.tolerance)?;
        params.width.iter().try_for_each(|width| check_positive("width", *width))?;
        Ok(())
    }
}

impl KernelSvmParams {
    /// Maximum number of records. For n = 5,000 records, the n × n matrix takes 200 MB.
    pub const MOST_RECORDS: usize = 5_000;
}

/// Assumed largest ratio of a stage's iterations to the iterations of the previous stage.
const GROWTH: usize = 10;

impl<D: Data<Elem = f64>> Fit<ArrayBase<D, Ix2>, Array1<usize>, Error> for ValidKernelSvmParams {
    type Object = KernelSvmModel;

    /// Fits records (n × d) and their classes (n).
    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, Array1<usize>>) -> Result<KernelSvmModel> {
        let (records, most) = (dataset.records.nrows(), KernelSvmParams::MOST_RECORDS);
        if records > most {
            return Err(Error::TooManyRecords { records, most });
        }
        check_records(&dataset.records, dataset.targets.iter().map(|class| *class as f64))?;
        let sides = Sides::from_classes(&dataset.targets)?;
        let standardizer = Standardizer::fit(&dataset.records)?;
        let standardized = standardizer.apply(&dataset.records);
        let machines = sides.positive().iter().map(|class| {
            let side = dataset.targets.mapv(|label| label == *class);
            self.machine(&Dataset::new(standardized.clone(), side))
        });
        let machines = machines.collect::<Result<_>>()?;
        Ok(KernelSvmModel { standardizer, sides, machines })
    }
}

impl ValidKernelSvmParams {
    /// Fits one machine in stages. Returns the machine of the last stage.
    fn machine(&self, dataset: &Dataset<f64, bool, ndarray::Ix1>) -> Result<Svm<f64, bool>> {
        // The first stage is assumed to take one iteration per record.
        let mut foreseen = dataset.records.nrows();
        let mut reached = f64::INFINITY;
        let mut machine = None;
        for (penalty, tolerance) in self.stages() {
            if foreseen > self.max_iterations {
                let iterations = foreseen / GROWTH;
                return Err(Error::Guarded { reached, tolerance: self.tolerance, iterations });
            }
            let stage = self.stage(dataset, penalty, tolerance)?;
            foreseen = GROWTH * iterations(&stage).max(1);
            reached = if penalty == self.penalty { tolerance } else { f64::INFINITY };
            machine = Some(stage);
        }
        // At least one stage exists.
        machine.ok_or(Error::Guarded { reached, tolerance: self.tolerance, iterations: 0 })
    }

    /// Penalties and tolerances of the stages. Penalties grow tenfold up to the requested one at a coarse
    /// tolerance; then the tolerance becomes finer.
    fn stages(&self) -> Vec<(f64, f64)> {
        let coarse = self.tolerance.max(1.0);
        let penalties = std::iter::successors(Some(1.0), |penalty| Some(10.0 * penalty));
        let penalties =
            penalties.take_while(|penalty| *penalty < self.penalty).map(|penalty| (penalty, coarse));
        let tolerances = std::iter::successors(Some(coarse), |tolerance| Some(tolerance / 10.0));
        let tolerances = tolerances.take_while(|tolerance| *tolerance > 1.001 * self.tolerance);
        let last = std::iter::once((self.penalty, self.tolerance));
        penalties.chain(tolerances.map(|tolerance| (self.penalty, tolerance))).chain(last).collect()
    }

    fn stage(
        &self,
        dataset: &Dataset<f64, bool, ndarray::Ix1>,
        penalty: f64,
        tolerance: f64,
    ) -> Result<Svm<f64, bool>> {
        let width = self.width.unwrap_or(dataset.records.ncols().max(1) as f64);
        let params = Svm::<f64, bool>::params()
            .pos_neg_weights(penalty, penalty)
            .gaussian_kernel(width)
            .eps(tolerance);
        Ok(params.fit(dataset)?)
    }
}

/// Number of iterations of `machine`. linfa reports it only in the machine's description.
fn iterations(machine: &Svm<f64, bool>) -> usize {
    let description = machine.to_string();
    description.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or(usize::MAX / GROWTH)
}

/// Fitted machine with a Gaussian kernel.
#[derive(Debug, Clone)]
pub struct KernelSvmModel {
    standardizer: Standardizer,
    sides: Sides,
    machines: Vec<Svm<f64, bool>>,
}

impl KernelSvmModel {
    /// Decision value of each machine for each record (n × machines), larger toward the machine's positive
    /// side.
    pub fn scores(&self, records: &Array2<f64>) -> Array2<f64> {
        let records = self.standardizer.apply(records);
        Array2::from_shape_fn((records.nrows(), self.machines.len()), |(row, machine)| {
            self.machines[machine].weighted_sum(&records.row(row)) - self.machines[machine].rho
        })
    }
}

decides!(KernelSvmModel);

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::traits::Predict;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;
    use std::time::Instant;

    /// Rings around the origin, which no line separates; or labels that are independent of the records.
    fn drawn(n: usize, classes: usize, explained: bool) -> Dataset<f64, usize, ndarray::Ix1> {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let records = Array2::from_shape_fn((n, 2), |_| rng.gen_range(-1.0..1.0));
        let labels = records.outer_iter().map(|x: ndarray::ArrayView1<f64>| match explained {
            true => ((x.dot(&x) * classes as f64) as usize).min(classes - 1),
            false => rng.gen_range(0..classes),
        });
        let labels = labels.collect();
        Dataset::new(1e4 * records, labels)
    }

    #[test]
    fn rings_are_told_apart_whatever_their_unit() {
        for classes in [2, 3] {
            let dataset = drawn(600, classes, true);
            let model = KernelSvmParams::default().penalty(100.0).width(0.5).fit(&dataset).unwrap();
            let predicted = model.predict(&dataset.records);
            let hits = predicted.iter().zip(&dataset.targets).filter(|(a, b)| a == b).count();
            assert!(hits > 570, "{classes} classes: {hits} of 600");
        }
    }

    #[test]
    fn the_guard_ends_what_would_run_for_minutes() {
        let start = Instant::now();
        let hard = KernelSvmParams::default().penalty(1e6).fit(&drawn(1_000, 2, false));
        let Err(Error::Guarded { iterations, .. }) = hard else { panic!("{hard:?}") };
        // A stage may take somewhat longer than expected; twice the guard bounds their sum. Without the guard
        // the fit took minutes.
        assert!(iterations < 200_000, "{iterations}");
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
        let none = KernelSvmParams::default().max_iterations(10).fit(&drawn(100, 2, true));
        assert!(matches!(none, Err(Error::Guarded { .. })), "{none:?}");
    }

    #[test]
    fn linfa_says_how_many_iterations_it_took() {
        let params = ValidKernelSvmParams { penalty: 1.0, width: None, tolerance: 1e-3, max_iterations: 1 };
        let dataset = drawn(100, 2, true);
        let sides = Dataset::new(dataset.records.mapv(|x| x / 1e4), dataset.targets.mapv(|class| class == 1));
        let fine = params.stage(&sides, 1.0, 1e-6).unwrap();
        let coarse = params.stage(&sides, 1.0, 1.0).unwrap();
        assert!((10..100_000).contains(&iterations(&coarse)), "{coarse}");
        assert!(iterations(&coarse) < iterations(&fine), "{coarse}; {fine}");
    }

    #[test]
    fn stages_end_at_what_was_asked_for() {
        let params =
            |penalty, tolerance| ValidKernelSvmParams { penalty, width: None, tolerance, max_iterations: 1 };
        let stages = params(20.0, 0.01).stages();
        assert_eq!(stages, [(1.0, 1.0), (10.0, 1.0), (20.0, 1.0), (20.0, 0.1), (20.0, 0.01)]);
        assert_eq!(params(0.5, 3.0).stages(), [(0.5, 3.0)]);
    }

    #[test]
    fn what_no_kernel_takes_is_refused() {
        let many = Dataset::new(Array2::zeros((5_001, 1)), Array1::zeros(5_001));
        let refused = KernelSvmParams::default().fit(&many).unwrap_err().to_string();
        assert!(refused.contains("5001 × 5001"), "{refused}");
        let mut dataset = drawn(50, 2, true);
        dataset.records[[3, 1]] = f64::NAN;
        assert!(KernelSvmParams::default().fit(&dataset).unwrap_err().to_string().starts_with("record 3"));
        for params in [KernelSvmParams::default().penalty(0.0), KernelSvmParams::default().width(f64::NAN)] {
            assert!(
                params
                    .fit(&drawn(50, 2, true))
                    .unwrap_err()
                    .to_string()
                    .contains("must be finite and positive")
            );
        }
    }
}
