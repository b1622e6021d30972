//! Linear soft-margin machine.

use crate::sides::{Sides, decides};
use crate::{Error, Result};
use linfa::DatasetBase;
use linfa::traits::Fit;
use ndarray::{Array1, Array2, ArrayBase, Axis, CowArray, Data, Ix2};
use scumble_kkt::{Machine, Records, SoftMargin};
use scumble_linear::{LogisticParams, Standardizer, check_not_negative, check_positive, check_records};

scumble_linear::params! {
    /// Checked hyper-parameters of a linear soft-margin machine.
    pub struct ValidSvmParams;

    /// Hyper-parameters of a linear soft-margin machine.
    ///
    /// It minimises ½‖w‖² + ½ρb² + θ Σ max(0, 1 − yᵢ(w·xᵢ + b)) over w and b, without any n × n matrix for n
    /// records. Here w (d values) are the weights of standardised features, b is the bias, and yᵢ = ±1 is the
    /// side of record xᵢ. θ is [`penalty`](Self::penalty), and ρ is [`bias_penalty`](Self::bias_penalty). The
    /// objective equals the objective of scikit-learn's `LinearSVC(loss="hinge", C=θ,
    /// intercept_scaling=1/√ρ)`.
    pub struct SvmParams {
        /// Weight θ of a record's hinge loss (`C` in other libraries), 1 by default.
        penalty: f64 = 1.0,
        /// Weight ρ of the penalty ½b² on the bias b, 0 by default.
        bias_penalty: f64 = 0.0,
        /// Standardises features by the training records, true by default.
        standardize: bool = true,
        /// Largest relative gap to the optimal objective, proven by the dual problem; 10⁻⁶ by default.
        tolerance: f64 = 1e-6,
        /// Maximum number of iterations, 200 by default. A few dozen are usual.
        max_iterations: u64 = 200,
        /// Label flip probabilities T (K × K), if the training labels were flipped: \[y, ỹ\] is the
        /// probability that class y is seen as ỹ.
        ///
        /// Classes are then 0 to K − 1. For a record x with true class y and observed class ỹ, the penalty is
        /// multiplied by P(y = ỹ | x)/P(ỹ | x). A logistic regression with these flips
        /// ([`LogisticParams::label_flip`]) estimates both probabilities. The expected loss then equals the
        /// loss of true labels (importance reweighting, Liu and Tao 2016).
        label_flip?: Array2<f64>,
    }

    fn check(params) -> Error {
        check_positive("penalty", params.penalty)?;
        check_not_negative("bias_penalty", params.bias_penalty)?;
        if !(params.tolerance > 0.0 && params.tolerance < 1.0) {
            let (name, value) = ("tolerance", params.tolerance);
            return Err(scumble_linear::Error::Parameter { name, range: "between 0 and 1", value }.into());
        }
        if let Some(flip) = &params.label_flip {
            LogisticParams::default().label_flip(flip.clone()).check()?;
        }
        Ok(())
    }
}

impl<D: Data<Elem = f64>> Fit<ArrayBase<D, Ix2>, Array1<usize>, Error> for ValidSvmParams {
    type Object = SvmModel;

    /// Fits records (n × d) and their classes (n).
    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, Array1<usize>>) -> Result<SvmModel> {
        check_records(&dataset.records, dataset.targets.iter().map(|class| *class as f64))?;
        let sides = Sides::from_classes(&dataset.targets)?;
        let (rows, weights) = self.weighed(dataset)?;
        let standardizer = self.standardize.then(|| Standardizer::fit(&dataset.records)).transpose()?;
        let counted = match rows.len() == dataset.records.nrows() {
            true => dataset.records.view().into(),
            false => CowArray::from(dataset.records.select(Axis(0), &rows)),
        };
        let records = match &standardizer {
            Some(standardizer) => Records::scaled(
                counted.view(),
                &standardizer.offsets().to_vec(),
                &standardizer.scales().to_vec(),
            )?,
            None => Records::new(counted.view()),
        };
        let penalties: Vec<f64> = weights.iter().map(|weight| self.penalty * weight).collect();
        let machines = sides.positive().iter().map(|class| {
            let signs: Vec<f64> =
                rows.iter().map(|&row| if dataset.targets[row] == *class { 1.0 } else { -1.0 }).collect();
            let programme = SoftMargin::new(&records, &signs, &penalties)?.bias_penalty(self.bias_penalty)?;
            programme.solve(self.tolerance, self.max_iterations)
        });
        let machines: Vec<Machine> = machines.collect::<std::result::Result<_, _>>()?;
        Ok(SvmModel { standardizer, sides, machines })
    }
}

/// Smallest weight of a record that is used, relative to the full weight of 1. A record of less weight hardly
/// changes a machine, and makes the problem hard to solve.
const LEAST_WEIGHT: f64 = 1e-6;

type Labelled<D> = DatasetBase<ArrayBase<D, Ix2>, Array1<usize>>;

impl ValidSvmParams {
    /// Returns the rows of the records to use, and their weights. A weight is 1. If the flips are known, it
    /// is P(y = ỹ | x)/P(ỹ | x) for a record x with true class y and observed class ỹ.
    fn weighed(&self, dataset: &Labelled<impl Data<Elem = f64>>) -> Result<(Vec<usize>, Vec<f64>)> {
        let n = dataset.targets.len();
        let Some(flip) = &self.label_flip else {
            return Ok(((0..n).collect(), vec![1.0; n]));
        };
        let truth =
            LogisticParams::default().label_flip(flip.clone()).fit(dataset)?.probabilities(&dataset.records);
        let seen = truth.dot(flip);
        let weights =
            dataset.targets.iter().enumerate().map(|(row, &label)| truth[[row, label]] / seen[[row, label]]);
        Ok(weights.enumerate().filter(|(_, weight)| *weight > LEAST_WEIGHT).unzip())
    }
}

/// Fitted linear machine.
#[derive(Debug, Clone)]
pub struct SvmModel {
    standardizer: Option<Standardizer>,
    sides: Sides,
    machines: Vec<Machine>,
}

impl SvmModel {
    /// Machines, on standardised features unless standardisation was turned off. Two classes have one
    /// machine, with the larger class number on its positive side; more classes have one machine each, in
    /// ascending order.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Score w·x + b of each record (n × machines).
    pub fn scores(&self, records: &Array2<f64>) -> Array2<f64> {
        let standardized = self.standardizer.as_ref().map(|standardizer| standardizer.apply(records));
        let records = standardized.as_ref().unwrap_or(records);
        let weights = Array2::from_shape_fn((records.ncols(), self.machines.len()), |(at, machine)| {
            self.machines[machine].weights[at]
        });
        records.dot(&weights) + &self.machines.iter().map(|machine| machine.bias).collect::<Array1<f64>>()
    }
}

decides!(SvmModel);

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::Dataset;
    use linfa::ParamGuard;
    use linfa::traits::Predict;
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// `n` records of two features in different units around one centre per class, with true and flipped
    /// labels.
    ///
    /// A share `share` of the records is of the last class. Each label is seen as any other with probability
    /// `flipped`.
    fn drawn(
        n: usize,
        seed: u64,
        classes: usize,
        share: f64,
        flipped: f64,
    ) -> [Dataset<f64, usize, ndarray::Ix1>; 2] {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let truth: Array1<usize> = (0..n)
            .map(|_| if rng.gen_bool(share) { classes - 1 } else { rng.gen_range(0..classes - 1) })
            .collect();
        let records = Array2::from_shape_fn((n, 2), |(row, column)| {
            let angle = 2.0 * std::f64::consts::PI * truth[row] as f64 / classes as f64;
            let center = if column == 0 { angle.cos() } else { angle.sin() };
            let noise: f64 = (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum();
            1000f64.powi(column as i32) * (2.0 * center + noise)
        });
        let seen = truth.mapv(|class| match rng.gen_bool(flipped) {
            true => (class + rng.gen_range(1..classes)) % classes,
            false => class,
        });
        [Dataset::new(records.clone(), truth), Dataset::new(records, seen)]
    }

    fn hits(model: &SvmModel, dataset: &Dataset<f64, usize, ndarray::Ix1>) -> f64 {
        let predicted = model.predict(&dataset.records);
        let hits = predicted.iter().zip(&dataset.targets).filter(|(a, b)| a == b).count();
        hits as f64 / dataset.targets.len() as f64
    }

    #[test]
    fn any_number_of_classes_is_learned_whatever_the_units() {
        // The best possible accuracies are 97.7, 92 and 76 %.
        for (classes, least) in [(2, 0.965), (3, 0.9), (5, 0.72)] {
            let [dataset, _] = drawn(1_000, 1, classes, 1.0 / classes as f64, 0.0);
            let model = SvmParams::default().fit(&dataset).unwrap();
            let right = hits(&model, &dataset);
            assert!(right > least, "{classes} classes: {right}");
            assert_eq!(model.machines().len(), if classes == 2 { 1 } else { classes });
        }
    }

    #[test]
    fn labels_that_were_not_flipped_give_the_plain_machine() {
        let [dataset, _] = drawn(300, 2, 2, 0.5, 0.0);
        let plain = SvmParams::default().fit(&dataset).unwrap();
        let aware = SvmParams::default().label_flip(Array2::eye(2)).fit(&dataset).unwrap();
        assert!(
            (plain.scores(&dataset.records) - aware.scores(&dataset.records)).iter().all(|d| d.abs() < 1e-4)
        );
    }

    /// One record in eight is of the second class, and four labels of ten are flipped. A plain machine
    /// predicts the first class nearly everywhere.
    ///
    /// Over twenty data sets the mean gain is more than five standard errors above zero.
    #[test]
    fn to_know_the_flips_finds_more_true_labels() {
        let flip = array![[0.6, 0.4], [0.4, 0.6]];
        let gains: Vec<f64> = (0..20)
            .map(|seed| {
                let [truth, seen] = drawn(3_000, 200 + seed, 2, 0.125, 0.4);
                let plain = hits(&SvmParams::default().fit(&seen).unwrap(), &truth);
                hits(&SvmParams::default().label_flip(flip.clone()).fit(&seen).unwrap(), &truth) - plain
            })
            .collect();
        let mean = gains.iter().sum::<f64>() / 20.0;
        let error = (gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / 19.0 / 20.0).sqrt();
        assert!(mean > 5.0 * error, "seeds 200 to 219: the gain is {mean} ± {error}");
    }

    #[test]
    fn what_cannot_be_fitted_is_named() {
        let [dataset, _] = drawn(50, 3, 2, 0.5, 0.0);
        let message = |params: SvmParams| params.fit(&dataset).unwrap_err().to_string();
        assert_eq!(
            message(SvmParams::default().penalty(0.0)),
            "penalty must be finite and positive, and 0 is not"
        );
        assert!(message(SvmParams::default().bias_penalty(-1.0)).starts_with("bias_penalty must be"));
        for tolerance in [0.0, 1.0, f64::NAN] {
            let refused = SvmParams::default().tolerance(tolerance).check().unwrap_err().to_string();
            assert!(refused.starts_with("tolerance must be between 0 and 1"), "{refused}");
        }
        assert!(message(SvmParams::default().max_iterations(1)).starts_with("after 1 iterations"));
        assert!(message(SvmParams::default().label_flip(array![[1.0]])).contains("matrix of flipped labels"));
        let short = DatasetBase::new(dataset.records.clone(), array![0, 1]);
        let refused = SvmParams::default().fit(&short).unwrap_err().to_string();
        assert_eq!(refused, "there are 2 targets for 50 records");
        let mut holed = dataset.clone();
        holed.records[[3, 1]] = f64::NAN;
        assert!(SvmParams::default().fit(&holed).unwrap_err().to_string().starts_with("record 3"));
        let one = Dataset::new(array![[0.0], [1.0]], array![3, 3]);
        assert!(matches!(
            SvmParams::default().fit(&one),
            Err(Error::Linear(scumble_linear::Error::OneClass { records: 2 }))
        ));
    }
}
