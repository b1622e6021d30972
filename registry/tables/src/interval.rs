//! Intervals of ratios of noisy sums.

use crate::{Error, Result};
use scumble_core::Estimate;

/// Noisy counts c of cells, with independent noise of one variance v. If the number of people is public, the
/// counts are moved to this sum, which lowers the variance of each.
#[derive(Debug, Clone)]
pub(crate) struct Noisy {
    pub(crate) counts: Vec<f64>,
    pub(crate) variance: f64,
    pub(crate) has_sum: bool,
    /// True if the first column has both [ends](crate::Level::End) and the middle as levels.
    pub(crate) has_squares: bool,
}

/// Ratio A/B of two weighted sums of counts.
pub(crate) struct Ratio {
    pub(crate) above: Vec<f64>,
    pub(crate) below: Vec<f64>,
}

impl Noisy {
    /// Creates counts whose sum is `people`, if it is public.
    pub(crate) fn new(mut counts: Vec<f64>, variance: f64, people: Option<f64>) -> Self {
        if let Some(people) = people {
            let missing = (people - counts.iter().sum::<f64>()) / counts.len() as f64;
            counts.iter_mut().for_each(|count| *count += missing);
        }
        Self { counts, variance, has_sum: people.is_some(), has_squares: false }
    }

    pub(crate) fn sum(&self, weights: &[f64]) -> f64 {
        dot(weights, &self.counts)
    }

    /// Covariance, over the noise, of two weighted sums of counts: v·Σ wᵢuᵢ, less v·Σ wᵢ·Σ uᵢ/K for K cells
    /// of a public sum.
    pub(crate) fn covariance(&self, one: &[f64], other: &[f64]) -> f64 {
        let shared = if self.has_sum {
            one.iter().sum::<f64>() * other.iter().sum::<f64>() / one.len() as f64
        } else {
            0.0
        };
        self.variance * (dot(one, other) - shared)
    }

    /// Variance of a weighted sum of counts, over the sampling of people from a large population. The weights
    /// have the mean zero over the people. At the ends and the middle, the variance is raised by one standard
    /// deviation of the noise in it, because it may be near zero. At the ends alone, it is an upper bound,
    /// which people with numbers at the ends reach.
    fn sampling(&self, weights: &[f64]) -> f64 {
        if !self.has_squares {
            let squares = weights.iter().zip(&self.counts);
            return squares.map(|(weight, count)| weight * weight * count.max(0.0)).sum();
        }
        // The weights are linear in the place x of a number: u = a + b·x. Then u² has the weights a²,
        // a(a + b) and (a + b)² at the three ends.
        let groups = weights.len() / 3;
        let (lower, upper) = (&weights[..groups], &weights[2 * groups..]);
        let middle = product(lower, upper);
        let squares = [product(lower, lower), middle, product(upper, upper)].concat();
        self.sum(&squares).max(0.0) + self.covariance(&squares, &squares).max(0.0).sqrt()
    }

    /// Estimates a ratio r = A/B, with the interval of all r for which A − r·B is within `quantile` standard
    /// errors of 0 (Fieller 1954). `of` names the people that B counts.
    ///
    /// # Errors
    /// [`Error::Hidden`] if B is not more than `quantile` standard deviations of its noise above 0.
    pub(crate) fn ratio(
        &self,
        Ratio { above, below }: &Ratio,
        (quantile, samples): (f64, bool),
        of: impl FnOnce() -> String,
    ) -> Result<Estimate> {
        let (a, b) = (self.sum(above), self.sum(below));
        let square = quantile * quantile;
        let (aa, ab) = (self.covariance(above, above), self.covariance(above, below));
        let bb = self.covariance(below, below);
        let leading = b * b - square * bb;
        if b <= 0.0 || leading <= 0.0 {
            return Err(Error::Hidden { of: of() });
        }
        let value = a / b;
        let sampled = if samples { self.sampling(&less(above, value, below)) } else { 0.0 };
        let (middle, last) = (a * b - square * ab, a * a - square * (aa + sampled));
        let half = (middle * middle - leading * last).max(0.0).sqrt();
        Ok(Estimate {
            value,
            standard_error: ((aa - 2.0 * value * ab + value * value * bb).max(0.0) + sampled).sqrt() / b,
            lower: (middle - half) / leading,
            upper: (middle + half) / leading,
        })
    }

    /// Standard error of a smooth function of the counts with this `gradient`.
    pub(crate) fn standard_error(&self, gradient: &[f64], samples: bool) -> f64 {
        let sampled = if samples { self.sampling(gradient) } else { 0.0 };
        (self.covariance(gradient, gradient).max(0.0) + sampled).sqrt()
    }
}

/// The weights `one` − `factor`·`other`.
pub(crate) fn less(one: &[f64], factor: f64, other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one - factor * other).collect()
}

/// The product of two weights in each cell.
pub(crate) fn product(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(one, other)| one * other).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
