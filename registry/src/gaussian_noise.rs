//! Exact Gaussian noise.

use crate::lattice::IntegerDomain;
use crate::{Budget, Curve, Domain, Error, Lattice, Result, Stream};
use scumble_accounting::{gaussian, search};
use scumble_sampling::{DiscreteGaussian, Rational};

/// Discrete Gaussian noise on a lattice, calibrated to the ℓ₂ diameter of a domain.
///
/// A point is rounded to the lattice and the domain's bound enforced again on the integers; the noise is an exact integer
/// of the law ∝ exp(−k²/2σ²) (Canonne, Kamath and Steinke 2020). Its δ(ε) is proven for this law, not for the continuous
/// one. Let P and Q be the laws for two points Δ apart in d coordinates, in lattice steps; then
///
/// δ(ε) ≤ e^(d/8σ²)·δ_μ(ε − ‖Δ‖₁/2σ²), with μ = ‖Δ‖₂/σ and δ_μ that of continuous noise (Balle and Wang 2018, Theorem 8).
///
/// For P(k) is at most e^(1/8σ²) times the mass that continuous noise has within half a step of k, in each coordinate: the
/// normaliser Σe^(−j²/2σ²) is at least σ√2π, by Poisson's summation, and the mean of e^(−ku/σ²) over −½ ≤ u ≤ ½ at least 1.
/// And the loss ln P/Q is linear with slope Δ/σ², so that it moves by ‖Δ‖₁/2σ² at most within the cell of k. On the usual
/// lattice of 2³⁰ steps a standard deviation both are some billionths of μ for a hundred coordinates.
///
/// ```
/// use scumble_registry::{Budget, Domain, GaussianNoise, Randomness};
///
/// let noise = GaussianNoise::calibrated(&Domain::unit_box(4), Budget::new(1.0, 1e-5)?)?;
/// let mut point = [0.25, 0.75, 0.5, 1.0];
/// noise.add(&mut point, &mut Randomness::from_os()?.streams().stream(0))?;
/// assert!((noise.scale() / (2.0 * 3.7306316348) - 1.0).abs() < 1e-6); // the ℓ₂ diameter is 2
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianNoise {
    points: IntegerDomain,
    law: DiscreteGaussian,
    curve: Curve,
}

impl GaussianNoise {
    /// The noise that gives every record of `domain` this (ε, δ), on a lattice some 2³⁰ times finer than its standard
    /// deviation.
    ///
    /// # Errors
    /// [`Error::Budget`] unless ε is finite and δ above zero, or where they are so small that the noise does not fit 59 bits;
    /// [`Error::Domain`] for bounds that do not fit 61.
    pub fn calibrated(domain: &Domain, budget: Budget) -> Result<Self> {
        let mu = largest_mu(budget)?;
        Self::on_lattice(domain, budget, Lattice::for_noise(domain, domain.l2_diameter() / mu))
    }

    /// The noise that gives every record of `domain` this (ε, δ) on a given lattice. A coarse one costs accuracy, never
    /// privacy.
    ///
    /// # Errors
    /// As [`calibrated`](Self::calibrated).
    pub fn on_lattice(domain: &Domain, budget: Budget, lattice: Lattice) -> Result<Self> {
        largest_mu(budget)?;
        let points = IntegerDomain::new(domain, lattice)?;
        let of = |sigma: u64| curve(&points, sigma);
        let meets = |sigma| of(sigma).is_some_and(|curve| curve.delta(budget.epsilon()) <= budget.delta());
        let sigma = search::least_integer(1, 1 << 59, meets);
        let Some((sigma, curve)) = sigma.and_then(|sigma| Some((sigma, of(sigma)?))) else {
            return Err(Error::Budget {
                name: "epsilon",
                range: "finite, and large enough with its δ for the noise to fit 59 bits on the lattice",
                value: budget.epsilon(),
            });
        };
        Ok(Self { points, law: DiscreteGaussian::new(Rational::new(sigma, 1)?)?, curve })
    }

    /// Rounds `point` (d values) to the lattice within the domain, and adds one draw to each coordinate.
    ///
    /// # Errors
    /// [`Error::Shape`] for a point of another width, [`Error::NonFinite`] for a NaN or an infinity.
    pub fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.points.add(point, || self.law.sample(stream))
    }

    /// The logarithm of the probability that `point` becomes `released` (d values each), up to a constant.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Result<f64> {
        let distances = self.points.displacement(point, released)?;
        Ok(-distances.iter().map(|steps| (steps / self.law.scale()).powi(2)).sum::<f64>() / 2.0)
    }

    /// δ(ε) of this very noise.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// The lattice.
    pub fn lattice(&self) -> Lattice {
        self.points.lattice()
    }

    /// The σ of the noise in the units of the domain: the law is ∝ exp(−x²/2σ²).
    pub fn scale(&self) -> f64 {
        self.law.scale() * self.lattice().step()
    }

    /// The variance of the noise in squared units of the domain, about σ².
    pub fn variance(&self) -> f64 {
        self.law.variance() * self.lattice().step().powi(2)
    }
}

/// # Errors
/// [`Error::Budget`] unless ε is finite and δ above zero.
fn largest_mu(budget: Budget) -> Result<f64> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let refused = if epsilon.is_finite() {
        Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta }
    } else {
        Error::Budget { name: "epsilon", range: "finite for Gaussian noise", value: epsilon }
    };
    gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)
}

/// δ(ε) of noise of `sigma` lattice steps: the bound of [`GaussianNoise`], with its numbers rounded up.
fn curve(points: &IntegerDomain, sigma: u64) -> Option<Curve> {
    const UP: f64 = 1.0 + 1e-12;
    let (sigma, differing) = (sigma as f64, points.differing() as f64);
    let l2 = (points.l2_diameter_squared()?.max(1) as f64).sqrt();
    let l1 = (points.l1_diameter() as f64).min(l2 * differing.sqrt());
    let half_variances = 2.0 * sigma * sigma;
    Some(Curve::gaussian(l2 / sigma * UP, l1 / half_variances * UP, differing / (4.0 * half_variances) * UP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomness;
    use proptest::prelude::*;

    fn budget(epsilon: f64, delta: f64) -> Budget {
        Budget::new(epsilon, delta).unwrap()
    }

    #[test]
    fn on_a_fine_lattice_it_is_the_analytic_gaussian_mechanism() {
        for (epsilon, delta, sigma) in
            [(0.5, 1e-5, 7.031826675582517), (1.0, 1e-5, 3.7306316348159463), (1.0, 1e-9, 5.495266157238276)]
        {
            let noise = GaussianNoise::calibrated(&Domain::unit_box(9), budget(epsilon, delta)).unwrap();
            let ratio = noise.scale() / (3.0 * sigma);
            assert!((1.0..1.0 + 1e-7).contains(&ratio), "({epsilon}, {delta}): {ratio}");
        }
    }

    /// δ(ε) of discrete noise on one coordinate, by summing over all integers (Canonne, Kamath and Steinke 2020, Theorem 7).
    fn exact_delta(sigma: f64, sensitivity: i64, epsilon: f64) -> f64 {
        let reach = (40.0 * sigma) as i64 + sensitivity;
        let weight = |k: i64| (-0.5 * (k as f64 / sigma).powi(2)).exp();
        let total: f64 = (-reach..=reach).map(weight).sum();
        let excess = (-reach..=reach).map(|k| (weight(k) - epsilon.exp() * weight(k - sensitivity)).max(0.0));
        excess.sum::<f64>() / total
    }

    /// Privacy: however coarse the lattice, the claimed δ is no less than that of the integers that are added.
    #[test]
    fn the_claimed_curve_is_no_less_than_the_exact_one() {
        let domain = Domain::interval(0.0, 1.0).unwrap();
        for exponent in [0, -1, -2, -4, -8] {
            let lattice = Lattice::new(exponent).unwrap();
            for (epsilon, delta) in [(0.3, 1e-3), (1.0, 1e-5), (4.0, 1e-7), (12.0, 1e-2)] {
                let noise = GaussianNoise::on_lattice(&domain, budget(epsilon, delta), lattice).unwrap();
                for at in [0.0, 0.5 * epsilon, epsilon, 1.5 * epsilon] {
                    let exact = exact_delta(noise.law.scale(), 1 << -exponent, at);
                    let claimed = noise.curve().delta(at);
                    assert!(
                        exact <= claimed,
                        "step 2^{exponent}: δ({at}) is {exact}, and {claimed} is claimed"
                    );
                }
                let exact = exact_delta(noise.law.scale(), 1 << -exponent, epsilon);
                assert!(
                    exact <= delta,
                    "step 2^{exponent}: δ({epsilon}) is {exact}, beyond the budget of {delta}"
                );
                if exponent == -8 {
                    assert!(exact > 0.7 * delta, "δ({epsilon}) is {exact} of {delta}: too much noise");
                }
            }
        }
    }

    /// The same in two coordinates, where discrete noise is not round.
    #[test]
    fn the_claimed_curve_holds_in_two_coordinates() {
        let domain = Domain::unit_box(2);
        for exponent in [0, -1, -2] {
            let lattice = Lattice::new(exponent).unwrap();
            let noise = GaussianNoise::on_lattice(&domain, budget(1.0, 1e-4), lattice).unwrap();
            let (sigma, one) = (noise.law.scale(), 1i64 << -exponent);
            let reach = (12.0 * sigma) as i64;
            let weight = |k: i64| (-0.5 * (k as f64 / sigma).powi(2)).exp();
            let total: f64 = (-reach..=reach).map(weight).sum();
            let mut exact = 0.0;
            for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
                exact += (weight(i) * weight(j) - 1f64.exp() * weight(i - one) * weight(j - one)).max(0.0);
            }
            exact /= total * total;
            assert!(exact <= 1e-4, "step 2^{exponent}: δ(1) is {exact}");
        }
    }

    #[test]
    fn a_budget_without_delta_or_noise_that_does_not_fit_is_refused() {
        let domain = Domain::unit_box(1);
        for (epsilon, delta) in [(1.0, 0.0), (f64::INFINITY, 1e-5), (1e-300, 1e-300)] {
            let refused = GaussianNoise::calibrated(&domain, budget(epsilon, delta));
            assert!(matches!(refused, Err(Error::Budget { .. })), "({epsilon}, {delta}): {refused:?}");
        }
    }

    proptest! {
        #[test]
        fn every_output_lies_on_one_lattice(x in -1e3..1e3_f64, seed in 0u64..1000) {
            let noise = GaussianNoise::calibrated(&Domain::unit_box(1), budget(1.0, 1e-6)).unwrap();
            let mut point = [x];
            noise.add(&mut point, &mut Randomness::seeded(seed).streams().stream(0)).unwrap();
            let units = point[0] / noise.lattice().step();
            prop_assert_eq!(units, units.round());
        }
    }
}
