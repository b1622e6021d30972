//! Likelihood p(x|z) of a record's features x, given the decoder's output for the record's latents z.

use ndarray::{Array2, ArrayView2};
use num_traits::Float;
use scumble_core::Domain;
use scumble_neural::Real;
use scumble_task_aware::{Lens, Scale};
use std::f64::consts::TAU;
use std::ops::Range;

/// Likelihood p(x|z) of the features x of a record, scaled by a [`Lens`], given its latents z. It is a
/// product over numbers and categories.
#[derive(Debug, Clone)]
pub(crate) struct Likelihood {
    blocks: Vec<(Range<usize>, Family)>,
    variance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Family {
    /// Each feature is normal around the decoder's output, with the same variance for all features.
    Gaussian,
    /// Each feature is a number in [0, 1], and the decoder's output is the logit of a probability.
    Bernoulli,
    /// The features are the indicators of the levels of one category. The decoder's outputs are the
    /// logarithms of the levels' probabilities, up to a constant.
    Categorical,
}

impl Likelihood {
    /// Builds the likelihood of the features of `domain`, scaled by `lens`. Normal features have the variance
    /// `variance` after scaling.
    pub(crate) fn new(lens: &Lens, domain: &Domain, variance: f64) -> Self {
        let mut blocks: Vec<(Range<usize>, Family)> = vec![];
        for (at, _) in domain.factors() {
            let distribution = match lens.scales().get(at.start) {
                Some(Scale::Level) => Family::Categorical,
                Some(Scale::Share { .. }) => Family::Bernoulli,
                _ => Family::Gaussian,
            };
            match blocks.last_mut() {
                // Adjacent numbers form one block.
                Some((before, last)) if *last == distribution && distribution != Family::Categorical => {
                    before.end = at.end
                }
                _ => blocks.push((at, distribution)),
            }
        }
        Self { blocks, variance }
    }

    /// Computes −Σ ln p(x|z) over b records x, the rows of `records` (b × d features). `output` (b × d) is
    /// the decoder's output for the latents z of each record. It is replaced by the gradient of the result
    /// with respect to `output`, times `share`.
    pub(crate) fn loss<T: Real>(&self, records: ArrayView2<T>, output: &mut Array2<T>, share: T) -> T {
        let half_log = T::nearest((TAU * self.variance).ln() / 2.0);
        let precision = T::nearest(1.0 / self.variance);
        let half = T::nearest(0.5);
        let mut sum = T::zero();
        for (record, mut output) in records.rows().into_iter().zip(output.rows_mut()) {
            for (at, distribution) in &self.blocks {
                let record = record.slice(ndarray::s![at.clone()]);
                let mut output = output.slice_mut(ndarray::s![at.clone()]);
                match distribution {
                    Family::Gaussian => {
                        for (y, &x) in output.iter_mut().zip(&record) {
                            let error = *y - x;
                            sum += half * precision * error * error + half_log;
                            *y = share * precision * error;
                        }
                    }
                    Family::Bernoulli => {
                        for (y, &x) in output.iter_mut().zip(&record) {
                            // ln(1 + e^y) and 1/(1 + e^−y), in a form that does not overflow.
                            let left = Float::exp(-Float::abs(*y));
                            sum += Float::max(*y, T::zero()) + Float::ln_1p(left) - x * *y;
                            let probability =
                                if *y > T::zero() { T::one() } else { left } / (T::one() + left);
                            *y = share * (probability - x);
                        }
                    }
                    Family::Categorical => {
                        let most = output.fold(T::neg_infinity(), |a, &b| Float::max(a, b));
                        let weights: T = output.iter().map(|&y| Float::exp(y - most)).sum();
                        let log = most + Float::ln(weights);
                        for (y, &x) in output.iter_mut().zip(&record) {
                            sum += x * (log - *y);
                            *y = share * (Float::exp(*y - log) - x);
                        }
                    }
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    fn all_families() -> Likelihood {
        let domain = Domain::product([
            Domain::unit_box(2),
            Domain::one_hot(3).unwrap(),
            Domain::unit_box(1),
            Domain::one_hot(2).unwrap(),
        ])
        .unwrap();
        let number = Scale::Standard { center: 0.5, width: 0.2 };
        let mut scales = vec![number; 2];
        scales.extend([Scale::Level; 3]);
        scales.push(Scale::Share { lower: 0.0, upper: 1.0 });
        scales.extend([Scale::Level; 2]);
        Likelihood::new(&Lens::new(scales, &domain).unwrap(), &domain, 0.5)
    }

    #[test]
    fn the_loss_is_minus_the_logarithm_of_the_density() {
        let record = array![[0.3, -1.0, 0.0, 1.0, 0.0, 0.25, 1.0, 0.0]];
        let mut output = array![[0.1, 0.5, 1.0, 2.0, 3.0, -1.0, 0.0, 0.0]];
        let normal = |x: f64, y: f64| (-(x - y).powi(2)).exp() / (TAU / 2.0).sqrt();
        let one: f64 = 1.0 / (1.0 + 1.0_f64.exp());
        let density = normal(0.3, 0.1)
            * normal(-1.0, 0.5)
            * (2.0_f64.exp() / (1.0_f64.exp() + 2.0_f64.exp() + 3.0_f64.exp()))
            * one.powf(0.25)
            * (1.0 - one).powf(0.75)
            * 0.5;
        let loss = all_families().loss(record.view(), &mut output, 1.0);
        assert!((loss + density.ln()).abs() < 1e-12, "{loss} and {}", -density.ln());
    }

    proptest! {
        #[test]
        fn its_gradient_is_that_of_its_differences(output in proptest::collection::vec(-3.0..3.0_f64, 8)) {
            let record = array![[0.3, -1.0, 0.0, 1.0, 0.0, 0.25, 1.0, 0.0]];
            let row = |output: &[f64]| Array2::from_shape_vec((1, 8), output.to_vec()).unwrap();
            let likelihood = all_families();
            let mut gradient = row(&output);
            likelihood.loss(record.view(), &mut gradient, 2.0);
            for at in 0..8 {
                let moved = |by: f64| {
                    let mut moved = output.clone();
                    moved[at] += by;
                    likelihood.loss(record.view(), &mut row(&moved), 0.0)
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!((gradient[[0, at]] / 2.0 - expected).abs() < 1e-6 * (1.0 + expected.abs()));
            }
        }
    }

    #[test]
    fn nothing_overflows() {
        let record = array![[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]];
        let mut output = array![[1e4_f32, -1e4, 1e4, -1e4, 0.0, -1e4, 1e4, -1e4]];
        let loss = all_families().loss(record.mapv(|x| x as f32).view(), &mut output, 1.0);
        assert!(loss.is_finite() && output.iter().all(|y| y.is_finite()), "{loss} {output}");
    }
}
