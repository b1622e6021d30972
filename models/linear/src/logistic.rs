//! Logistic regression for any number of classes.

use crate::error::{check_not_negative, check_positive, check_records};
use crate::flip::{check_flipped_labels, check_label_flip};
use crate::layer::Layer;
use crate::likelihood::Likelihood;
use crate::standardize::Standardizer;
use crate::{Error, Result};
use linfa::DatasetBase;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, Array2, ArrayBase, Axis, Data, Ix2};
use std::collections::BTreeSet;

crate::params! {
    /// Checked hyper-parameters of multinomial logistic regression.
    pub struct ValidLogisticParams;

    /// Hyper-parameters of multinomial logistic regression.
    ///
    /// It minimises −Σ log P(yᵢ | xᵢ) + ½·`l2_penalty`·‖W‖² by L-BFGS, for records xᵢ with classes yᵢ. The
    /// variables are the weights W (d features × K classes) of standardised features, and unpenalised
    /// intercepts. With a [`label_flip`](Self::label_flip) T and observed labels ỹᵢ, the first term is −Σ log
    /// Σ_y T\[y, ỹᵢ\]·P(y | xᵢ).
    pub struct LogisticParams {
        /// Weight of the penalty ½‖W‖² on the weights W, relative to the summed loss; 1 by default.
        l2_penalty: f64 = 1.0,
        /// Maximum number of iterations, 100 by default.
        max_iterations: u64 = 100,
        /// Gradient norm at which the search stops, 10⁻⁴ by default.
        gradient_tolerance: f64 = 1e-4,
        /// Standardises the features before the fit, true by default. If false, weights apply to features in
        /// their own units.
        standardize: bool = true,
        /// Label flip probabilities T (K × K), if the training labels were flipped: \[y, ỹ\] is the
        /// probability that class y is seen as ỹ.
        ///
        /// Classes are then 0 to K − 1, and P(y | x) is the probability of the true class. The fit is the
        /// maximum-likelihood model of the flipped labels ("forward correction", Patrini and others 2017).
        /// The log-likelihood is not concave. The search for its maximum starts at the fit without T.
        label_flip?: Array2<f64>,
    }

    fn check(params) -> Error {
        check_not_negative("l2_penalty", params.l2_penalty)?;
        check_positive("gradient_tolerance", params.gradient_tolerance)?;
        params.label_flip.iter().try_for_each(check_label_flip)
    }
}

impl<D: Data<Elem = f64>> Fit<ArrayBase<D, Ix2>, Array1<usize>, Error> for ValidLogisticParams {
    type Object = LogisticModel;

    /// Fits records (n × d) and their classes (n).
    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, Array1<usize>>) -> Result<LogisticModel> {
        check_records(&dataset.records, dataset.targets.iter().map(|class| *class as f64))?;
        let standardizer = match self.standardize {
            true => Standardizer::fit(&dataset.records)?,
            false => Standardizer::identity(dataset.records.ncols()),
        };
        let Some(label_flip) = &self.label_flip else {
            let layer = self.plain_layer(dataset, &standardizer)?;
            return Ok(LogisticModel { standardizer, layer });
        };
        check_flipped_labels(&dataset.targets, label_flip)?;
        let classes = label_flip.nrows();
        let start = match self.plain_layer(dataset, &standardizer) {
            Ok(layer) => layer.among(classes),
            // With a single observed class, no fit without flips exists, so the search starts at zero
            // weights.
            Err(Error::OneClass { .. }) => Layer::zeros(dataset.records.ncols(), (0..classes).collect()),
            Err(error) => return Err(error),
        };
        let labels = dataset.targets.to_vec();
        let likelihood =
            Likelihood::new(dataset.records.view(), &standardizer, &labels, classes, self.l2_penalty)
                .flipped_by(label_flip);
        let layer = likelihood.climb(start, self.max_iterations, self.gradient_tolerance)?;
        Ok(LogisticModel { standardizer, layer })
    }
}

impl ValidLogisticParams {
    /// Fits the model as if the observed labels were the true classes.
    fn plain_layer(
        &self,
        dataset: &Labelled<impl Data<Elem = f64>>,
        standardizer: &Standardizer,
    ) -> Result<Layer> {
        let classes: Vec<usize> =
            dataset.targets.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if classes.len() < 2 {
            return Err(Error::OneClass { records: dataset.targets.len() });
        }
        // Labels as indices into the ascending list of classes that occur.
        let labels: Vec<usize> =
            dataset.targets.iter().map(|class| classes.partition_point(|other| other < class)).collect();
        let start = Layer::zeros(dataset.records.ncols(), classes);
        let likelihood = Likelihood::new(
            dataset.records.view(),
            standardizer,
            &labels,
            start.classes.len(),
            self.l2_penalty,
        );
        likelihood.climb(start, self.max_iterations, self.gradient_tolerance)
    }
}

type Labelled<D> = DatasetBase<ArrayBase<D, Ix2>, Array1<usize>>;

/// Fitted logistic regression.
#[derive(Debug, Clone)]
pub struct LogisticModel {
    standardizer: Standardizer,
    layer: Layer,
}

impl LogisticModel {
    /// Returns the K classes of the model, ascending.
    pub fn classes(&self) -> &[usize] {
        &self.layer.classes
    }

    /// Computes P(class | record) (n × K) for `records` (n × d), with the classes in ascending order.
    pub fn probabilities(&self, records: &ArrayBase<impl Data<Elem = f64>, Ix2>) -> Array2<f64> {
        self.layer.probabilities(&self.standardizer.apply(records))
    }

    /// Weights (d × K) of features in their own units, and intercepts c (K). For a record x, ln P(class | x)
    /// equals x·W + c, up to a term that all classes share.
    ///
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::array;
    /// use scumble_linear::LogisticParams;
    ///
    /// let x = array![[0.0], [10.0], [20.0], [30.0]];
    /// let model = LogisticParams::default().fit(&Dataset::new(x.clone(), array![0, 0, 1, 1]))?;
    /// let (weights, intercepts) = model.coefficients();
    /// let odds = (model.probabilities(&x)[[3, 1]] / model.probabilities(&x)[[3, 0]]).ln();
    /// let logits = x.dot(&weights) + &intercepts;
    /// assert!((logits[[3, 1]] - logits[[3, 0]] - odds).abs() < 1e-9);
    /// # Ok::<(), scumble_linear::Error>(())
    /// ```
    pub fn coefficients(&self) -> (Array2<f64>, Array1<f64>) {
        self.standardizer.undone(&self.layer.weights, &self.layer.intercepts)
    }

    /// Direction w (d values) that separates the last class from the first: for a record x, ln(P(last |
    /// x)/P(first | x)) = w·x + constant.
    pub fn direction(&self) -> Array1<f64> {
        let weights = &self.layer.weights;
        (&weights.column(weights.ncols() - 1) - &weights.column(0)) * self.standardizer.scales()
    }
}

impl PredictInplace<Array2<f64>, Array1<usize>> for LogisticModel {
    /// Predicts the most probable class of each record (n × d).
    ///
    /// Panics if `records` has another number of columns than the training records, as usual in linfa.
    fn predict_inplace(&self, records: &Array2<f64>, classes: &mut Array1<usize>) {
        let probabilities = self.probabilities(records);
        *classes = probabilities.map_axis(Axis(1), |row| {
            let likeliest = (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best });
            self.layer.classes[likeliest]
        });
    }

    fn default_target(&self, records: &Array2<f64>) -> Array1<usize> {
        Array1::zeros(records.nrows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::Dataset;
    use linfa::traits::Predict;
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// `n` records of two features; the class is 1 with log-odds 2·x₁ − x₂.
    fn drawn(n: usize) -> Dataset<f64, usize, ndarray::Ix1> {
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let x = Array2::from_shape_fn((n, 2), |_| rng.gen_range(-2.0_f64..2.0));
        let classes = x
            .outer_iter()
            .map(|row| {
                let odds: f64 = (2.0 * row[0] - row[1]).exp();
                usize::from(rng.gen_bool(odds / (1.0 + odds)))
            })
            .collect();
        Dataset::new(x, classes)
    }

    #[test]
    fn the_gradient_of_the_penalised_loss_vanishes_at_the_fit() {
        let dataset = drawn(500);
        let model = LogisticParams::default().l2_penalty(3.0).fit(&dataset).unwrap();
        let x = model.standardizer.apply(&dataset.records);
        let mut residual = model.probabilities(&dataset.records);
        for (row, &class) in dataset.targets.iter().enumerate() {
            residual[[row, class]] -= 1.0;
        }
        let gradient = x.t().dot(&residual) + 3.0 * &model.layer.weights;
        let intercepts = residual.sum_axis(Axis(0));
        for part in gradient.iter().chain(&intercepts) {
            assert!(part.abs() < 1e-3, "the gradient is {gradient} and {intercepts}");
        }
    }

    #[test]
    fn the_log_odds_are_linear_along_the_direction() {
        let mut dataset = drawn(300);
        dataset.records.column_mut(0).mapv_inplace(|x| 50.0 * x + 7.0);
        let model = LogisticParams::default().fit(&dataset).unwrap();
        let odds = model.probabilities(&dataset.records).map_axis(Axis(1), |p| (p[1] / p[0]).ln());
        let rest = odds - dataset.records.dot(&model.direction());
        assert!(rest.iter().all(|constant| (constant - rest[0]).abs() < 1e-9));
    }

    #[test]
    fn the_scale_of_a_column_changes_nothing() {
        let dataset = drawn(300);
        let mut stretched = dataset.clone();
        stretched.records.column_mut(0).mapv_inplace(|x| 1e4 * x + 77.0);
        let fit = |dataset: &Dataset<f64, usize, ndarray::Ix1>| {
            let model = LogisticParams::default().fit(dataset).unwrap();
            model.probabilities(&dataset.records)
        };
        let difference = (fit(&dataset) - fit(&stretched)).mapv(f64::abs);
        assert!(difference.iter().all(|d| *d < 1e-4));
    }

    #[test]
    fn class_numbers_need_not_be_dense() {
        let x = array![[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]];
        let dataset = Dataset::new(x.clone(), array![1, 1, 5, 5, 9, 9]);
        let model = LogisticParams::default().l2_penalty(1e-3).fit(&dataset).unwrap();
        assert_eq!(model.predict(&x), array![1, 1, 5, 5, 9, 9]);
    }

    #[test]
    fn one_class_and_bad_parameters_are_errors() {
        let dataset = Dataset::new(array![[0.0], [1.0]], array![1, 1]);
        let one_class = LogisticParams::default().fit(&dataset);
        assert!(matches!(one_class, Err(Error::OneClass { records: 2 })), "{one_class:?}");
        for penalty in [-1.0, f64::NAN] {
            let refused = LogisticParams::default().l2_penalty(penalty).fit(&drawn(20));
            assert!(matches!(refused, Err(Error::Parameter { .. })), "{refused:?}");
        }
    }
}
