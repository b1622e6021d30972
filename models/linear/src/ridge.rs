//! Ridge regression.

use crate::error::{check_not_negative, check_records};
use crate::noisy;
use crate::standardize::Standardizer;
use crate::{Error, Result};
use linfa::DatasetBase;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, Array2, ArrayBase, Axis, Data, Ix2};

crate::params! {
    /// Checked hyper-parameters of ridge regression.
    pub struct ValidRidgeParams;

    /// Hyper-parameters of ridge regression.
    ///
    /// It minimises ‖y − Xw − c‖²/2n + ½·`l2_penalty`·‖w‖² for n records X (n × d) with targets y. The
    /// variables are the weights w (d values) of standardised features, and an unpenalised intercept c. The
    /// normal equations are solved directly. [Through the origin](Self::through_origin), the model has no c
    /// and does not standardise features.
    ///
    /// With a [`noise_covariance`](Self::noise_covariance) it minimises ½wᵀ(S − N)w − wᵀ(s − m) + ½λ‖w‖².
    /// Here λ = `l2_penalty`, S is the covariance of the noisy features, and s is their covariance with the
    /// noisy target. N is the covariance of the noise in the features, and m its covariance with the noise in
    /// the target. This is the errors-in-variables estimator of Loh and Wainwright (2012).
    pub struct RidgeParams {
        /// Weight of the penalty ½‖w‖² on the weights w, relative to the mean loss; 10⁻³ by default.
        l2_penalty: f64 = 1e-3,
        through_origin => bool = false,
        /// Covariance of the noise in d features and the target, averaged over the training records ((d + 1)
        /// × (d + 1), the target last). It is in the units of the features and of the target.
        ///
        /// The fit estimates the model of records without noise. The penalty grows with the sampling error of
        /// the noise covariance over n records, which is up to 2·√(d/n) in relative terms. With fewer records
        /// than features, the noise covariance is ignored.
        noise_covariance?: Array2<f64>,
    }

    fn check(params) -> Error {
        check_not_negative("l2_penalty", params.l2_penalty)
    }
}

impl RidgeParams {
    /// Fits without an intercept, on features that are not standardised: minimises ‖y − Xw‖²/2n +
    /// ½·`l2_penalty`·‖w‖² over the weights w, for n records X with targets y.
    pub fn through_origin(mut self) -> Self {
        self.0.through_origin = true;
        self
    }
}

impl<D: Data<Elem = f64>> Fit<ArrayBase<D, Ix2>, Array1<f64>, Error> for ValidRidgeParams {
    type Object = RidgeModel;

    /// Fits records (n × d) and their targets (n).
    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, Array1<f64>>) -> Result<RidgeModel> {
        check_records(&dataset.records, dataset.targets.iter().copied())?;
        if let Some(noise) = &self.noise_covariance {
            noisy::check(noise, dataset.records.ncols())?;
        }
        let noise = self.noise_covariance.as_ref().filter(|noise| noise.iter().any(|x| *x != 0.0));
        if self.through_origin {
            let weights = noisy::weights(&dataset.records, &dataset.targets, noise, self.l2_penalty)?;
            return Ok(RidgeModel { standardizer: None, weights, intercept: 0.0 });
        }
        let standardizer = Standardizer::fit(&dataset.records)?;
        let standardized = standardizer.apply(&dataset.records);
        // The target is not scaled.
        let scale = |at: usize| standardizer.scales().get(at).copied().unwrap_or(1.0);
        let noise = noise
            .map(|noise| Array2::from_shape_fn(noise.dim(), |(i, j)| noise[[i, j]] * scale(i) * scale(j)));
        let intercept = dataset.targets.mean().unwrap_or(0.0);
        let targets = &dataset.targets - intercept;
        let weights = noisy::weights(&standardized, &targets, noise.as_ref(), self.l2_penalty)?;
        Ok(RidgeModel { standardizer: Some(standardizer), weights, intercept })
    }
}

/// Fitted ridge regression.
#[derive(Debug, Clone)]
pub struct RidgeModel {
    /// Standardisation of the features; `None` for a fit through the origin.
    standardizer: Option<Standardizer>,
    weights: Array1<f64>,
    intercept: f64,
}

impl RidgeModel {
    /// Weights (d) of features in their own units, and the intercept c: the prediction is x·w + c.
    ///
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::array;
    /// use scumble_linear::RidgeParams;
    ///
    /// let line = Dataset::new(array![[0.0], [10.0], [20.0]], array![1.0, 3.0, 5.0]);
    /// let (weights, intercept) = RidgeParams::default().l2_penalty(0.0).fit(&line)?.coefficients();
    /// assert!((weights[0] - 0.2).abs() < 1e-9 && (intercept - 1.0).abs() < 1e-9);
    /// # Ok::<(), scumble_linear::Error>(())
    /// ```
    pub fn coefficients(&self) -> (Array1<f64>, f64) {
        let Some(standardizer) = &self.standardizer else {
            return (self.weights.clone(), self.intercept);
        };
        let weights = self.weights.clone().insert_axis(Axis(1));
        let (weights, intercept) = standardizer.undone(&weights, &Array1::from_elem(1, self.intercept));
        (weights.column(0).to_owned(), intercept[0])
    }

    /// Weights w (d) of standardised features, or of unstandardised features for a fit through the origin.
    pub fn weights(&self) -> &Array1<f64> {
        &self.weights
    }
}

impl PredictInplace<Array2<f64>, Array1<f64>> for RidgeModel {
    /// Predicts the target of each record (n × d).
    ///
    /// Panics if `records` has another number of columns than the training records, as usual in linfa.
    fn predict_inplace(&self, records: &Array2<f64>, targets: &mut Array1<f64>) {
        let standardized = self.standardizer.as_ref().map(|standardizer| standardizer.apply(records));
        *targets = standardized.as_ref().unwrap_or(records).dot(&self.weights) + self.intercept;
    }

    fn default_target(&self, records: &Array2<f64>) -> Array1<f64> {
        Array1::zeros(records.nrows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::Dataset;
    use linfa::traits::Predict;
    use ndarray::{Axis, array};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn drawn(n: usize) -> Dataset<f64, f64, ndarray::Ix1> {
        let mut rng = ChaCha20Rng::seed_from_u64(12);
        let mut x = Array2::from_shape_fn((n, 3), |_| rng.gen_range(-2.0..2.0));
        // Correlated, shifted and of different scales.
        for mut row in x.outer_iter_mut() {
            row[1] = 100.0 * (row[0] + 0.3 * row[1]) + 5.0;
        }
        let y = x.outer_iter().map(|row| 3.0 - row[0] + 0.01 * row[1] + rng.gen_range(-0.5..0.5));
        let y = y.collect();
        Dataset::new(x, y)
    }

    #[test]
    fn the_normal_equations_hold_at_the_fit() {
        let dataset = drawn(400);
        for penalty in [0.0, 0.5] {
            let model = RidgeParams::default().l2_penalty(penalty).fit(&dataset).unwrap();
            let x = model.standardizer.as_ref().unwrap().apply(&dataset.records);
            let residual = model.predict(&dataset.records) - &dataset.targets;
            let gradient = x.t().dot(&residual) / 400.0 + penalty * &model.weights;
            assert!(
                gradient.iter().all(|g| g.abs() < 1e-12),
                "penalty {penalty}: the gradient is {gradient}"
            );
            assert!(residual.mean_axis(Axis(0)).unwrap().into_scalar().abs() < 1e-8);
        }
    }

    #[test]
    fn through_the_origin_the_normal_equations_hold_for_features_as_they_are() {
        let dataset = drawn(400);
        let model = RidgeParams::default().l2_penalty(0.5).through_origin().fit(&dataset).unwrap();
        let residual = model.predict(&dataset.records) - &dataset.targets;
        let gradient = dataset.records.t().dot(&residual) / 400.0 + 0.5 * model.weights();
        assert!(gradient.iter().all(|g| g.abs() < 1e-8), "the gradient is {gradient}");
        assert_eq!(model.predict(&Array2::zeros((1, 3)))[0], 0.0);
        // By hand: x = 1, 2 and y = 1, 3 give w = (1 + 6)/2 / ((1 + 4)/2 + 0.5).
        let two = Dataset::new(array![[1.0], [2.0]], array![1.0, 3.0]);
        let model = RidgeParams::default().l2_penalty(0.5).through_origin().fit(&two).unwrap();
        assert!((model.weights()[0] - 7.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_column_that_does_not_vary_does_no_harm() {
        let x = array![[0.0, 7.0], [1.0, 7.0], [2.0, 7.0]];
        let line = Dataset::new(x.clone(), array![0.0, 2.0, 4.0]);
        let model = RidgeParams::default().l2_penalty(0.0).fit(&line).unwrap();
        assert!((model.predict(&x)[2] - 4.0).abs() < 1e-12);
    }

    #[test]
    fn records_and_targets_that_are_none_are_errors() {
        let message = |records: Array2<f64>, targets: Array1<f64>| {
            let dataset = DatasetBase::new(records, targets);
            RidgeParams::default().fit(&dataset).unwrap_err().to_string()
        };
        let (records, targets) = (drawn(10).records, drawn(10).targets);
        assert_eq!(message(records.clone(), array![1.0]), "there are 1 targets for 10 records");
        let mut holed = records.clone();
        holed[[3, 1]] = f64::NAN;
        assert!(message(holed, targets.clone()).starts_with("record 3, counted from 0, holds"));
        let mut holed = targets;
        holed[7] = f64::INFINITY;
        assert!(message(records, holed).starts_with("record 7"));
    }

    #[test]
    fn bad_parameters_are_errors() {
        let refused = RidgeParams::default().l2_penalty(f64::INFINITY).fit(&drawn(10));
        assert!(matches!(refused, Err(Error::Parameter { name: "l2_penalty", .. })), "{refused:?}");
    }
}
