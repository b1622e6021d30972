//! Rényi accounting: divergences of any order above one, composed by addition.

use crate::error::{check, check_delta};
use crate::pair::Pair;
use crate::part::{directions, steps};
use crate::quadrature;
use crate::search::peak;
use crate::step::Step;
use crate::{Neighbours, Result, Run};

/// The Rényi divergence of order α = `order` of one step, in nats (Mironov, Talwar and Zhang 2019).
///
/// The result is the largest divergence between two neighbouring data sets, in either direction. For
/// fixed-size batches and replace one record, it is an upper bound.
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 1 < α ≤ 10⁵.
pub fn divergence(run: &Run, order: f64, neighbours: Neighbours) -> Result<f64> {
    check("the order", order, "above one and at most 10^5", order > 1.0 && order <= 1e5)?;
    let pair_divergence = |step: Step| Tilted::at(&step, order - 1.0).log_moment / (order - 1.0);
    Ok(run.pairs(neighbours).into_iter().map(pair_divergence).fold(0.0, f64::max))
}

/// The least ε, over all orders, for which Rényi divergences prove that the runs together are (ε,
/// δ)-differentially private.
///
/// Let D_α be the sum of the divergences of order α of all steps. Then ε = D_α + ln(1 − 1/α) − (ln δ + ln
/// α)/(α − 1) (Canonne, Kamath and Steinke 2020, Proposition 12).
///
/// ```
/// use scumble_accounting::{Neighbours, Run, renyi};
///
/// let training = Run::new(0.01, 1.0, 1000)?;
/// let epsilon = renyi::epsilon(&[training], 1e-5, Neighbours::AddOrRemoveOne)?;
/// assert!((epsilon / 2.1013 - 1.0).abs() < 1e-3);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 0 < δ < 1.
pub fn epsilon(runs: &[Run], delta: f64, neighbours: Neighbours) -> Result<f64> {
    check_delta(delta)?;
    let direction_epsilon =
        |direction| Conversion { steps: steps(runs, neighbours, direction), log_delta: delta.ln() }.least().1;
    Ok((0..directions(runs, neighbours)).map(direction_epsilon).fold(0.0, f64::max))
}

/// The conversion of Rényi divergences to ε, as a function of the order.
pub(crate) struct Conversion {
    pub(crate) steps: Vec<(Step, u64)>,
    pub(crate) log_delta: f64,
}

impl Conversion {
    /// Returns α − 1 and ε, for the order α with the least ε. A negative ε is replaced by zero. The search
    /// scans a grid of orders, and then refines the best order.
    pub(crate) fn least(&self) -> (f64, f64) {
        // Orders from 1.0001 to 10⁵ on a logarithmic grid, until ε exceeds twice the least value so far.
        let (mut at, mut coarse) = (0.0, f64::INFINITY);
        for log in (0..=82).map(|step| -9.2 + 0.25 * f64::from(step)) {
            let epsilon = self.epsilon(log);
            if epsilon < coarse {
                (at, coarse) = (log, epsilon);
            } else if epsilon > 2.0 * coarse.max(0.0) {
                break;
            }
        }
        let refined = peak(at - 0.25, at + 0.25, 18, |log| -self.epsilon(log));
        let (at, epsilon) = match self.epsilon(refined) {
            finer if finer < coarse => (refined, finer),
            _ => (at, coarse),
        };
        (at.exp(), epsilon.max(0.0))
    }

    /// ε at the order 1 + e^`log`.
    fn epsilon(&self, log: f64) -> f64 {
        let tilt = log.exp();
        let moments =
            self.steps.iter().map(|(step, count)| *count as f64 * Tilted::at(step, tilt).log_moment);
        let order = tilt + 1.0;
        (moments.sum::<f64>() - self.log_delta - order.ln()) / tilt + (tilt / order).ln()
    }
}

/// Moments of the finite privacy loss L = ln P/Q of a dominating pair of output distributions P and Q. The
/// *tilted density* is proportional to P·e^(tL), for a tilt t.
pub(crate) struct Tilted {
    /// ln E e^(tL) under P. It equals t times the Rényi divergence of order t + 1 of P from Q.
    pub(crate) log_moment: f64,
    /// The mean of L under the tilted density.
    pub(crate) mean: f64,
    /// The variance of L under the tilted density.
    pub(crate) variance: f64,
}

impl Tilted {
    pub(crate) fn at(step: &Step, tilt: f64) -> Self {
        let atoms = step.atoms().into_iter().map(|(loss, log_mass)| (log_mass + tilt * loss, loss));
        match *step {
            Step::Gaussian(pair) => Self::of_gaussian(&pair, tilt),
            Step::FixedSize { sampling_rate, sigma } => Self::of_fixed_size(sampling_rate, sigma, tilt),
            Step::Laplace { epsilon } => Self::from_terms(atoms.chain(between(epsilon, tilt))),
            Step::Response { .. } => Self::from_terms(atoms),
        }
    }

    /// Computes the moments by the trapezoidal rule.
    ///
    /// Take a function that is analytic within a distance a of the real line and falls off on both sides. The
    /// error of this rule with points a distance h apart is then only e^(−2π·a/h). Gaussian densities are
    /// analytic everywhere, and the loss is analytic within πσ² of the real line, for noise of standard
    /// deviation σ.
    fn of_gaussian(pair: &Pair, tilt: f64) -> Self {
        let sigma = pair.sigma;
        let step = (sigma / 4.0).min(sigma * sigma / 4.0);
        let (first, last) = peaks(pair, tilt);
        // If the upper end of the integral is very far, the steps are larger. They are at most σ/2, which is
        // still accurate for a Gaussian.
        let step = step.max((last - first) / 2e6).min(sigma / 2.0);
        let count = ((last - first) / step).ceil() as u64;
        Self::from_terms((0..=count).map(|at| term(pair, tilt, first + at as f64 * step, step)))
    }

    /// Computes the moments of [`Step::FixedSize`] by the rule of Gauss and Legendre, in panels on both sides
    /// of the loss zero, where the density has a kink.
    fn of_fixed_size(sampling_rate: f64, sigma: f64, tilt: f64) -> Self {
        let [removed, added] = Step::orders(sampling_rate, sigma);
        let half = |pair: Pair, from: f64, to: f64| {
            let panel = (sigma / 2.0).min(sigma * sigma / 2.0).max((to - from) / 4e5).min(sigma / 2.0);
            let panels = ((to - from) / panel).ceil();
            let width = (to - from) / panels;
            (0..panels as u64).flat_map(move |at| {
                let middle = from + (at as f64 + 0.5) * width;
                quadrature::POINTS.map(|(place, weight)| {
                    term(&pair, tilt, middle + 0.5 * width * place, 0.5 * width * weight)
                })
            })
        };
        let unchanged = (1.0 - sampling_rate) * libm::erf(0.5 / sigma * std::f64::consts::FRAC_1_SQRT_2);
        Self::from_terms(
            half(removed, 0.5, peaks(&removed, tilt).1)
                .chain(half(added, peaks(&added, tilt).0, -0.5))
                .chain([(unchanged.ln(), 0.0)]),
        )
    }

    /// The moments of a loss that is the sum of terms: the logarithm of a mass times e^(tL), and L.
    fn from_terms(terms: impl Iterator<Item = (f64, f64)>) -> Self {
        // Running sums, in units of the largest term so far.
        let (mut unit, mut mass, mut first_moment, mut second_moment) = (f64::NEG_INFINITY, 0.0, 0.0, 0.0);
        for (log_weight, loss) in terms.filter(|(log_weight, _)| *log_weight > f64::NEG_INFINITY) {
            if log_weight > unit {
                let shrink = (unit - log_weight).exp();
                (mass, first_moment, second_moment) =
                    (mass * shrink, first_moment * shrink, second_moment * shrink);
                unit = log_weight;
            }
            let weight = (log_weight - unit).exp();
            mass += weight;
            first_moment += weight * loss;
            second_moment += weight * loss * loss;
        }
        let mean = first_moment / mass;
        Self {
            log_moment: unit + f64::ln(mass),
            mean,
            variance: (second_moment / mass - mean * mean).max(0.0),
        }
    }
}

/// ln(w·P(x)·e^(tL)) and L at the output x, for the loss L of `pair`, the tilt t and the weight w.
fn term(pair: &Pair, tilt: f64, x: f64, weight: f64) -> (f64, f64) {
    let loss = pair.loss(x);
    let normal = weight / (pair.sigma * (2.0 * std::f64::consts::PI).sqrt());
    let log_density = pair.log_ratio(pair.ahead, x) - 0.5 * (x / pair.sigma).powi(2);
    (normal.ln() + log_density + tilt * loss, loss)
}

/// The ends of the interval that holds the tilted density of `pair`.
fn peaks(pair: &Pair, tilt: f64) -> (f64, f64) {
    let sigma = pair.sigma;
    // The upper end of the tilted mass, for t = `tilt`: at most 1 + t, or 1 + 2t if both P and Q have a
    // shifted component.
    let far = 12.0 * sigma;
    let farthest = 1.0
        + match (pair.ahead > 0.0, pair.behind > 0.0) {
            (true, true) => 2.0 * tilt,
            (_, false) => tilt,
            // The peak of the tilted density is at x = t·w(x), where w ≤ 1 is the weight of Q's shifted
            // component at x. For x ≥ 0, w ≤ odds·e^(−x/σ²), so the peak is below 1 + σ²·ln(1 + t·odds). The
            // logarithm of the tilted density is concave, and falls at least as fast as the logarithm of P.
            (false, true) => {
                let odds = pair.behind / (1.0 - pair.behind);
                tilt.min(sigma * sigma * (tilt * odds).ln_1p())
            }
        };
    (-far, far + farthest)
}

/// Two terms with the tilted mass, mean and variance of the losses of [`Step::Laplace`] between −ε and ε.
fn between(epsilon: f64, tilt: f64) -> [(f64, f64); 2] {
    // The tilted density is proportional to e^(sl) on [−ε, ε], with s = t + ½.
    let steepness = tilt + 0.5;
    let exponent = steepness * epsilon;
    let log_mass = (-(-2.0 * exponent).exp_m1() / steepness).ln() + exponent - 0.5 * epsilon - 4f64.ln();
    let (mean, variance) = match exponent < 1e-3 {
        true => (exponent * epsilon / 3.0, epsilon * epsilon / 3.0),
        false => (
            epsilon / exponent.tanh() - 1.0 / steepness,
            1.0 / steepness.powi(2) - (epsilon / exponent.sinh()).powi(2),
        ),
    };
    let deviation = variance.max(0.0).sqrt();
    [mean - deviation, mean + deviation].map(|loss| (log_mass - 2f64.ln(), loss))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sampling;
    use approx::assert_relative_eq;

    /// The closed form for whole orders, a sum over binomials: Mironov, Talwar and Zhang (2019), section 3.3.
    fn by_binomials(q: f64, sigma: f64, order: u32) -> f64 {
        let mut binomial = 1.0;
        let mut sum = 0.0;
        for k in 0..=order {
            let exponent = f64::from(k) * (f64::from(k) - 1.0) / (2.0 * sigma * sigma);
            sum += binomial * (1.0 - q).powi((order - k) as i32) * q.powi(k as i32) * exponent.exp();
            binomial *= f64::from(order - k) / f64::from(k + 1);
        }
        sum.ln() / f64::from(order - 1)
    }

    #[test]
    fn whole_orders_are_the_closed_form() {
        for (q, sigma) in [(0.001, 0.7), (0.01, 1.0), (0.2, 3.0), (1.0, 2.0), (0.5, 0.4)] {
            let run = Run::new(q, sigma, 1).unwrap();
            for order in [2, 3, 8, 15] {
                let found = divergence(&run, order.into(), Neighbours::AddOrRemoveOne).unwrap();
                let closed = by_binomials(q, sigma, order);
                assert!((found / closed - 1.0).abs() < 1e-9, "q {q}, σ {sigma}, α {order}: {found} {closed}");
            }
        }
    }

    #[test]
    fn without_sampling_it_is_the_gaussian_mechanisms() {
        for (sigma, order) in [(0.8, 1.5), (2.0, 7.25), (30.0, 400.0)] {
            let run = Run::new(1.0, sigma, 1).unwrap();
            for (neighbours, sensitivity) in
                [(Neighbours::AddOrRemoveOne, 1.0), (Neighbours::ReplaceOne, 2.0f64)]
            {
                let found = divergence(&run, order, neighbours).unwrap();
                let closed = order * sensitivity.powi(2) / (2.0 * sigma * sigma);
                assert!((found / closed - 1.0).abs() < 1e-9, "σ {sigma}, α {order}: {found} {closed}");
            }
        }
    }

    #[test]
    fn the_mean_and_variance_of_a_loss_are_the_derivatives_of_its_moments() {
        let run = Run::new(0.05, 0.9, 1).unwrap();
        let steps = [
            run.pairs(Neighbours::ReplaceOne)[0],
            run.with_sampling(Sampling::FixedSize).pairs(Neighbours::ReplaceOne)[0],
            Step::Laplace { epsilon: 0.7 },
            Step::Response { epsilon: 0.7, levels: 5, infinite: 0.1 },
        ];
        for step in steps {
            let (width, at) = (1e-3, |tilt| Tilted::at(&step, tilt));
            let (below, center, above) = (at(3.0 - width), at(3.0), at(3.0 + width));
            let mean = (above.log_moment - below.log_moment) / (2.0 * width);
            let variance = (above.log_moment - 2.0 * center.log_moment + below.log_moment) / (width * width);
            assert_relative_eq!(mean, center.mean, max_relative = 1e-5);
            assert_relative_eq!(variance, center.variance, max_relative = 1e-4);
            // P and Q both have this mass on finite losses.
            assert_relative_eq!(at(0.0).log_moment.exp(), 1.0 - step.infinite(), max_relative = 1e-9);
            assert_relative_eq!(at(-1.0).log_moment.exp(), 1.0 - step.infinite(), max_relative = 1e-9);
        }
    }
}
