//! Learning from flipped labels.

use crate::layer::Layer;
use crate::{Error, Result};
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use linfa::DatasetBase;
use ndarray::{Array1, Array2, Axis, concatenate, s};

/// # Errors
/// [`Error::Noise`] unless `flip` (K × K) is square, and each row a distribution on two classes or more.
pub fn check_label_flip(flip: &Array2<f64>) -> Result<()> {
    let refuse = |problem: String| Err(Error::Noise(format!("the matrix of flipped labels {problem}")));
    if !flip.is_square() || flip.nrows() < 2 {
        return refuse(format!(
            "has {} rows and {} columns, where it has as many as classes",
            flip.nrows(),
            flip.ncols()
        ));
    }
    for (class, row) in flip.outer_iter().enumerate() {
        if !row.iter().all(|p| (0.0..=1.0).contains(p)) || (row.sum() - 1.0).abs() > 1e-9 {
            return refuse(format!("has a row of class {class} that is no distribution: {row}"));
        }
    }
    Ok(())
}

/// # Errors
/// [`Error::Noise`] for one of the `labels` (n) that is no class of the matrix `flip` (K × K).
pub fn check_flipped_labels(labels: &Array1<usize>, flip: &Array2<f64>) -> Result<()> {
    let classes = flip.nrows();
    match labels.iter().find(|label| **label >= classes) {
        Some(label) => Err(Error::Noise(format!(
            "a label is {label}, and the matrix of flipped labels has {classes} classes"
        ))),
        None => Ok(()),
    }
}

/// The likelihood of seen labels, through what flipped them.
pub(crate) struct FlippedLikelihood<'a> {
    /// n × d, standardised.
    records: &'a Array2<f64>,
    /// T\[y, ỹᵢ\] of each record and class (n × K).
    chances: Array2<f64>,
    l2_penalty: f64,
}

impl<'a> FlippedLikelihood<'a> {
    /// # Errors
    /// [`Error::Noise`] for a label that is no class of the matrix.
    pub(crate) fn new(
        dataset: &'a DatasetBase<Array2<f64>, Array1<usize>>,
        flip: &Array2<f64>,
        l2_penalty: f64,
    ) -> Result<Self> {
        check_flipped_labels(&dataset.targets, flip)?;
        let chances =
            flip.t().select(Axis(0), dataset.targets.as_slice().unwrap_or(&dataset.targets.to_vec()));
        Ok(Self { records: &dataset.records, chances, l2_penalty })
    }

    /// A maximum near `start`.
    ///
    /// # Errors
    /// [`Error::Search`] where the line search fails at once.
    pub(crate) fn climb(self, start: Layer, max_iterations: u64, gradient_tolerance: f64) -> Result<Layer> {
        let failed = |error: argmin::core::Error| Error::Search(error.to_string());
        let (width, classes) = start.weights.dim();
        let of_search = LBFGS::new(MoreThuenteLineSearch::new(), 10)
            .with_tolerance_grad(gradient_tolerance)
            .map_err(failed)?;
        let from = concatenate![Axis(0), start.weights, start.intercepts.clone().insert_axis(Axis(0))];
        let from = Array1::from_iter(from);
        let run = Executor::new(self, of_search)
            .configure(|state| state.param(from).max_iters(max_iterations))
            .timer(false)
            .run()
            .map_err(failed)?;
        let found = run.state.get_best_param().ok_or_else(|| Error::Search("it found nothing".into()))?;
        let found = found.to_shape((width + 1, classes)).map_err(|error| Error::Search(error.to_string()))?;
        Ok(Layer {
            weights: found.slice(s![..width, ..]).to_owned(),
            intercepts: found.row(width).to_owned(),
            classes: start.classes,
        })
    }

    /// The layer with these weights and intercepts, row by row.
    fn layer(&self, flat: &Array1<f64>) -> Layer {
        let classes = self.chances.ncols();
        let width = self.records.ncols();
        Layer {
            weights: Array2::from_shape_fn((width, classes), |(row, column)| flat[row * classes + column]),
            intercepts: flat.slice(s![width * classes..]).to_owned(),
            classes: (0..classes).collect(),
        }
    }
}

impl CostFunction for FlippedLikelihood<'_> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, flat: &Array1<f64>) -> std::result::Result<f64, argmin::core::Error> {
        let layer = self.layer(flat);
        let seen = (layer.probabilities(self.records) * &self.chances).sum_axis(Axis(1));
        let loss: f64 = seen.iter().map(|p| -p.max(f64::MIN_POSITIVE).ln()).sum();
        Ok(loss + self.l2_penalty * (&layer.weights * &layer.weights).sum() / 2.0)
    }
}

impl Gradient for FlippedLikelihood<'_> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    fn gradient(&self, flat: &Array1<f64>) -> std::result::Result<Array1<f64>, argmin::core::Error> {
        let layer = self.layer(flat);
        let prior = layer.probabilities(self.records);
        // P(y | x, ỹ)
        let mut posterior = &prior * &self.chances;
        for mut row in posterior.outer_iter_mut() {
            let seen = row.sum().max(f64::MIN_POSITIVE);
            row.mapv_inplace(|p| p / seen);
        }
        let residual = prior - posterior;
        let weights = self.records.t().dot(&residual) + self.l2_penalty * &layer.weights;
        Ok(Array1::from_iter(concatenate![Axis(0), weights, residual.sum_axis(Axis(0)).insert_axis(Axis(0))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogisticParams;
    use linfa::Dataset;
    use linfa::traits::{Fit, Predict};
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// A label that is kept with probability `keep`, else any other.
    fn flip(classes: usize, keep: f64) -> Array2<f64> {
        let other = (1.0 - keep) / (classes - 1) as f64;
        Array2::from_shape_fn((classes, classes), |(y, seen)| if y == seen { keep } else { other })
    }

    /// n records of two features, with log-odds 3·x₁ − 2·x₂ − 2, and their labels as seen.
    fn drawn(n: usize, seed: u64, flip: &Array2<f64>) -> Dataset<f64, usize, ndarray::Ix1> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let x = Array2::from_shape_fn((n, 2), |_| rng.gen_range(-2.0_f64..2.0));
        let seen = x.outer_iter().map(|row| {
            let odds = (3.0 * row[0] - 2.0 * row[1] - 2.0).exp();
            let class = usize::from(rng.gen_bool(odds / (1.0 + odds)));
            usize::from(rng.gen_bool(flip[[class, 1]]))
        });
        let seen = seen.collect();
        Dataset::new(x, seen)
    }

    #[test]
    fn the_gradient_is_that_of_the_cost() {
        let flip = flip(3, 0.6);
        let records = array![[0.3, -1.0], [2.0, 0.5], [-0.7, 0.1], [0.0, 1.5]];
        let dataset = DatasetBase::new(records, array![0, 1, 2, 1]);
        let likelihood = FlippedLikelihood::new(&dataset, &flip, 0.7).unwrap();
        let at = Array1::from_shape_fn(9, |i| (i as f64 * 0.37).sin());
        let gradient = likelihood.gradient(&at).unwrap();
        for i in 0..9 {
            let cost = |by: f64| {
                let mut moved = at.clone();
                moved[i] += by;
                likelihood.cost(&moved).unwrap()
            };
            let slope = (cost(1e-5) - cost(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-8, "{i}: {slope} and {}", gradient[i]);
        }
    }

    #[test]
    fn labels_that_were_not_flipped_give_the_plain_fit() {
        let identity = Array2::eye(2);
        let dataset = drawn(500, 1, &identity);
        let params = LogisticParams::default().gradient_tolerance(1e-8);
        let plain = params.clone().fit(&dataset).unwrap().probabilities(&dataset.records);
        let aware = params.label_flip(identity).fit(&dataset).unwrap().probabilities(&dataset.records);
        assert!((plain - aware).iter().all(|difference| difference.abs() < 1e-5));
    }

    /// The truth is (3, −2); what knows nothing of the flips finds less than half of it.
    #[test]
    fn the_true_weights_are_found_through_the_flips() {
        let flip = flip(2, 0.75);
        let dataset = drawn(40_000, 2, &flip);
        let plain = LogisticParams::default().fit(&dataset).unwrap().direction();
        let aware = LogisticParams::default().label_flip(flip).fit(&dataset).unwrap().direction();
        assert!((&aware - &array![3.0, -2.0]).iter().all(|off| off.abs() < 0.4), "{aware}");
        assert!(plain[0] < 1.0, "{plain}");
    }

    #[test]
    fn one_seen_class_is_no_error_where_flips_are_known() {
        let dataset = Dataset::new(array![[0.0], [1.0], [2.0]], array![1, 1, 1]);
        let model = LogisticParams::default().label_flip(flip(2, 0.9)).fit(&dataset).unwrap();
        assert_eq!(model.predict(&dataset.records), array![1, 1, 1]);
    }

    #[test]
    fn what_is_no_matrix_of_flips_is_refused() {
        let dataset = drawn(20, 3, &Array2::eye(2));
        for (matrix, says) in [
            (array![[0.5, 0.5]], "as many as classes"),
            (array![[0.5, 0.4], [0.5, 0.5]], "class 0 that is no distribution"),
            (array![[1.5, -0.5], [0.5, 0.5]], "class 0 that is no distribution"),
            (array![[1.0, 0.0], [f64::NAN, 1.0]], "class 1 that is no distribution"),
        ] {
            let refused = LogisticParams::default().label_flip(matrix).fit(&dataset).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
        let three = Dataset::new(array![[0.0], [1.0]], array![0, 2]);
        let refused =
            LogisticParams::default().label_flip(Array2::eye(2)).fit(&three).unwrap_err().to_string();
        assert_eq!(refused, "a label is 2, and the matrix of flipped labels has 2 classes");
    }
}
