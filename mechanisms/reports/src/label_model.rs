//! Multinomial logistic regression of a label with K levels on d features, learned from volunteers.

use linfa::DatasetBase;
use linfa::traits::Fit;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use scumble_core::levels::Attribute;
use scumble_core::{Error, Result};
use scumble_linalg::ln_determinant;
use scumble_linear::LogisticParams;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Upper limit for the number of coefficients. The curvature of the loss is a matrix with one row and one
/// column per coefficient.
const MOST_COEFFICIENTS: usize = 1024;

/// Candidate precisions (inverse variances) of the normal prior of the weights. The precision under which the
/// volunteers' labels are likeliest is used.
const PRECISIONS: [f64; 8] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];

/// Model of the label: P(k | x) ∝ exp⟨wₖ, (z, 1)⟩ for each of the K levels k of the label. Here z has the d
/// standardised features of the record x, and wₖ the d weights of level k and its intercept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LabelModel {
    /// Mean of each feature among volunteers (d).
    means: Vec<f64>,
    /// Standard deviation of each feature among volunteers (d); 1 for a level of a category, and for a number
    /// that does not vary.
    deviations: Vec<f64>,
    /// Weights of each level, followed by its intercept (K × (d + 1)).
    weights: Array2<f64>,
}

/// Model learned from volunteers, with the precision of its prior and the curvature of its loss. From the
/// precision and the curvature, `gradient-report` computes the later step of the model.
pub(crate) struct Taught {
    pub(crate) model: LabelModel,
    /// Precision λ of the normal prior of the weights.
    pub(crate) precision: f64,
    /// Mean over volunteers of the second derivative of the loss with respect to the coefficients, K(d + 1) ×
    /// K(d + 1) for K levels and d features. The d + 1 coefficients of each level are adjacent.
    pub(crate) curvature: Array2<f64>,
}

impl LabelModel {
    /// Learns the model from the features of n volunteers (n × d) and their labels, which have `levels`
    /// levels.
    ///
    /// The precision of the normal prior of the weights maximises the marginal likelihood of the labels, by
    /// Laplace's approximation (MacKay 1992).
    pub(crate) fn learn(
        plugin: &str,
        features: ArrayView2<f64>,
        labels: &[usize],
        levels: usize,
        attributes: &[Attribute],
    ) -> Result<Taught> {
        let coefficients = levels * (features.ncols() + 1);
        if coefficients > MOST_COEFFICIENTS {
            let problem = format!(
                "the model of the label has {coefficients} coefficients, one for each level and column, and \
                 at most {MOST_COEFFICIENTS} are allowed"
            );
            return Err(Error::not_applicable(plugin, problem));
        }
        let seen: Vec<usize> = labels.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if seen.len() < 2 {
            return Err(Error::not_applicable(plugin, "all its volunteers have the same label"));
        }
        let mean = features.mean_axis(Axis(0)).unwrap_or_default();
        let deviation = features.std_axis(Axis(0), 0.0);
        // The coordinate of a category's level is not scaled. With scaling, the prior would constrain the
        // weight of a rare level, which few volunteers have, as little as the weight of a common level.
        let mut deviations = vec![1.0; features.ncols()];
        for at in attributes.iter().filter(|attribute| attribute.is_number()).flat_map(|a| a.coordinates()) {
            if deviation[at] > 1e-9 {
                deviations[at] = deviation[at];
            }
        }
        let mut model =
            Self { means: mean.to_vec(), deviations, weights: Array2::zeros((levels, features.ncols() + 1)) };
        let standardized = model.standardized(features);
        let targets: Array1<usize> = labels.iter().copied().collect();
        let dataset = DatasetBase::new(standardized.slice(s![.., ..-1]).to_owned(), targets);
        let mut best: Option<(f64, Taught)> = None;
        for precision in PRECISIONS {
            let fitted = LogisticParams::default()
                .standardize(false)
                .l2_penalty(precision)
                .max_iterations(200)
                .gradient_tolerance(1e-5)
                .fit(&dataset)
                .map_err(|problem| {
                    Error::not_applicable(plugin, format!("no model was learned from volunteers: {problem}"))
                })?;
            let (coefficients, intercepts) = fitted.coefficients();
            // A level of the label that no volunteer has gets the frequency of half a volunteer.
            let rare = intercepts.mapv(f64::exp).sum().ln() - (2.0 * labels.len() as f64).ln();
            model.weights.fill(0.0);
            model.weights.column_mut(features.ncols()).fill(rare);
            for (at, &level) in seen.iter().enumerate() {
                let mut weights = model.weights.row_mut(level);
                weights.slice_mut(s![..-1]).assign(&coefficients.column(at));
                weights[features.ncols()] = intercepts[at];
            }
            let curvature = model.curvature(&standardized);
            let evidence = model.evidence(&standardized, labels, precision, &curvature);
            if best.as_ref().is_none_or(|(most, _)| evidence > *most) {
                best = Some((evidence, Taught { model: model.clone(), precision, curvature }));
            }
        }
        best.map(|(_, taught)| taught)
            .ok_or_else(|| Error::not_applicable(plugin, "no model was learned from volunteers"))
    }

    /// Checks that the model is for `features` features and `levels` levels.
    pub(crate) fn check(&self, features: usize, levels: usize) -> Result<()> {
        let fits = self.weights.dim() == (levels, features + 1)
            && [self.means.len(), self.deviations.len()] == [features; 2]
            && self.deviations.iter().all(|x| x.is_finite() && *x > 0.0)
            && self.means.iter().chain(&self.weights).all(|x| x.is_finite() && x.abs() < 1e150);
        if fits { Ok(()) } else { Err(Error::shape("the model of the label does not fit the records")) }
    }

    /// Returns the standardised features of records (n × d), followed by a column of ones (n × (d + 1)).
    pub(crate) fn standardized(&self, features: ArrayView2<f64>) -> Array2<f64> {
        let d = self.means.len();
        Array2::from_shape_fn((features.nrows(), d + 1), |(row, column)| match column {
            last if last == d => 1.0,
            _ => (features[[row, column]] - self.means[column]) / self.deviations[column],
        })
    }

    /// Returns the probabilities of the K levels for n records (n × K). `standardized` (n × (d + 1)) has
    /// their d standardised features and a last column of ones.
    pub(crate) fn probabilities(&self, standardized: &Array2<f64>) -> Array2<f64> {
        let mut scores = standardized.dot(&self.weights.t());
        for mut row in scores.outer_iter_mut() {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.mapv_inplace(|score| (score - largest).exp());
            let sum = row.sum();
            row /= sum;
        }
        scores
    }

    /// Returns the model with `step` subtracted from its coefficients. For K levels and d features, `step`
    /// has K(d + 1) values, in which the d + 1 values of each level are adjacent.
    pub(crate) fn less(&self, step: &Array1<f64>) -> Self {
        let mut moved = self.clone();
        moved.weights.iter_mut().zip(step).for_each(|(weight, step)| *weight -= step);
        moved
    }

    /// Mean over records of the second derivative of the loss with respect to the coefficients. For one
    /// record, its block for the levels k and l of the label is (pₖ[k = l] − pₖpₗ) zzᵀ. Here [k = l] is 1 if
    /// k = l and else 0, pₖ is the model's probability of level k, and z the record's row of `standardized`.
    fn curvature(&self, standardized: &Array2<f64>) -> Array2<f64> {
        let (n, width) = standardized.dim();
        let (probabilities, levels) = (self.probabilities(standardized), self.weights.nrows());
        let mut curvature = Array2::zeros((levels * width, levels * width));
        for k in 0..levels {
            for l in k..levels {
                let own = if k == l { 1.0 } else { 0.0 };
                let weight =
                    |row: usize| probabilities[[row, k]] * (own - probabilities[[row, l]]) / n as f64;
                let mut weighted = standardized.clone();
                weighted.outer_iter_mut().enumerate().for_each(|(row, mut z)| z *= weight(row));
                let block = standardized.t().dot(&weighted);
                let at = |level: usize| level * width..(level + 1) * width;
                curvature.slice_mut(s![at(k), at(l)]).assign(&block);
                curvature.slice_mut(s![at(l), at(k)]).assign(&block);
            }
        }
        curvature
    }

    /// Logarithm of the marginal likelihood of `labels` under a normal prior of the weights with this
    /// `precision`, by Laplace's approximation and up to a constant.
    fn evidence(
        &self,
        standardized: &Array2<f64>,
        labels: &[usize],
        precision: f64,
        curvature: &Array2<f64>,
    ) -> f64 {
        /// Precision of the intercepts' prior, which is almost flat.
        const INTERCEPT_PRECISION: f64 = 1e-3;
        let (n, width) = standardized.dim();
        let probabilities = self.probabilities(standardized);
        let fit: f64 = labels.iter().enumerate().map(|(row, &k)| probabilities[[row, k]].ln()).sum();
        let weights = self.weights.slice(s![.., ..-1]);
        let mut posterior = curvature * n as f64;
        for at in 0..posterior.nrows() {
            posterior[[at, at]] += if at % width == width - 1 { INTERCEPT_PRECISION } else { precision };
        }
        let Some(ln_determinant) = ln_determinant(&posterior) else { return f64::NEG_INFINITY };
        fit - 0.5 * precision * weights.iter().map(|w| w * w).sum::<f64>()
            + 0.5 * weights.len() as f64 * precision.ln()
            - 0.5 * ln_determinant
    }
}
