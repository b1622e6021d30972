//! Exact Gaussian noise on sums of integers.

use scumble_accounting::{gaussian, search};
use scumble_core::{Budget, Domain, Error, PrivacyProfile, Result, Stream};
use scumble_noise::{GaussianNoise, Lattice};
use scumble_sampling::{DiscreteGaussian, Rational};

use crate::encoding::BITS;

/// A larger ε hides nothing, and unless it is infinite it is spent no further.
const MOST_EPSILON: f64 = 1e3;

/// As much of a budget as is spent.
///
/// # Errors
/// None.
pub(crate) fn spent(budget: Budget) -> Result<Budget> {
    Budget::new(budget.epsilon().min(MOST_EPSILON), budget.delta())
}

/// The step of a product of two coordinates.
pub(crate) const STEP: f64 = 1.0 / (1u64 << (2 * BITS)) as f64;

/// Discrete Gaussian noise on some sums that are whole multiples of [`STEP`], for neighbours whose sums lie so far apart at most in ℓ₂.
///
/// It is calibrated as noise on the points of a ball is: [`GaussianNoise`] has the proof, which asks for nothing but the distance and the number
/// of coordinates. The sums themselves lie in no ball, so that noise is drawn here.
#[derive(Debug, Clone)]
pub(crate) struct SumNoise {
    distribution: DiscreteGaussian,
    profile: PrivacyProfile,
}

impl SumNoise {
    /// Within this budget, on `dim` sums.
    ///
    /// # Errors
    /// [`Error::Budget`] for a δ of zero, and where noise would not fit 59 bits.
    pub(crate) fn calibrated(dim: usize, distance: f64, budget: Budget) -> Result<Self> {
        let noise = on_ball(dim, distance, budget)?;
        // Of a scale that doubles do not hold, the next above.
        let scale = noise.scales().first().map_or(1.0, |scale| (scale / STEP).next_up().ceil());
        Ok(Self {
            distribution: DiscreteGaussian::new(Rational::new(scale as u64, 1)?)?,
            profile: noise.profile(),
        })
    }

    /// The noise by which such sums are μ-Gaussian differentially private, but for what the lattice adds, which its profile has.
    ///
    /// # Errors
    /// As [`calibrated`](Self::calibrated).
    pub(crate) fn of_mu(dim: usize, distance: f64, mu: f64) -> Result<Self> {
        // Any point of the profile says what μ is: this one has a δ that is no small number, and below one.
        let epsilon = mu.max(mu * mu / 2.0);
        Self::calibrated(dim, distance, Budget::new(epsilon, gaussian::delta(mu, epsilon))?)
    }

    /// δ(ε).
    pub(crate) fn profile(&self) -> PrivacyProfile {
        self.profile
    }

    /// σ, in units of the sums.
    pub(crate) fn scale(&self) -> f64 {
        self.distribution.scale() * STEP
    }

    /// The least ε, to a millionth, of this noise for other neighbours, `distance` apart in `dim` sums.
    ///
    /// # Errors
    /// [`Error::Budget`] where there is none.
    pub(crate) fn epsilon(&self, dim: usize, distance: f64, delta: f64) -> Result<f64> {
        let is_enough = |epsilon: f64| {
            let needed =
                Budget::new(epsilon, delta).and_then(|budget| Self::calibrated(dim, distance, budget));
            needed.is_ok_and(|needed| needed.scale() <= self.scale())
        };
        search::nearly_least(1e-6, 1e6, 1e-6, is_enough).ok_or(Error::Budget {
            name: "epsilon",
            range: "large enough for a claim about other neighbours",
            value: self.scale(),
        })
    }

    /// Sums with one draw added to each, in units of the sums: what is rounded here has its noise.
    pub(crate) fn added(&self, sums: &[i128], stream: &mut Stream) -> Vec<f64> {
        sums.iter().map(|sum| (sum + self.distribution.sample(stream)) as f64 * STEP).collect()
    }

    /// The logarithm of the probability that such sums become `drawn`, up to a constant.
    pub(crate) fn log_likelihood(&self, sums: &[i128], drawn: &[f64]) -> f64 {
        let off = sums.iter().zip(drawn).map(|(sum, drawn)| (drawn - *sum as f64 * STEP) / self.scale());
        -off.map(|off| off * off).sum::<f64>() / 2.0
    }
}

/// Noise on the points of a ball of this diameter, rounded up to whole steps.
fn on_ball(dim: usize, diameter: f64, budget: Budget) -> Result<GaussianNoise> {
    let radius = (diameter / 2.0 / STEP).ceil() * STEP;
    GaussianNoise::on_lattice(&Domain::l2_ball(dim, radius)?, budget, Lattice::new(-2 * BITS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On so fine a lattice it is the analytic Gaussian mechanism, 3.7306316348159463 standard deviations for (1, 10⁻⁵) (Balle and Wang 2018).
    #[test]
    fn the_noise_is_that_of_the_analytic_gaussian_mechanism() {
        let noise = SumNoise::calibrated(30, 7.0, Budget::new(1.0, 1e-5).unwrap()).unwrap();
        let ratio = noise.scale() / (7.0 * 3.7306316348159463);
        assert!((1.0..1.0 + 1e-6).contains(&ratio), "{ratio}");
        let epsilon = noise.epsilon(30, 7.0, 1e-5).unwrap();
        assert!((1.0..1.0 + 1e-5).contains(&epsilon), "{epsilon}");
        let of_mu = SumNoise::of_mu(30, 7.0, 0.5).unwrap();
        assert!((1.0..1.0 + 1e-6).contains(&(of_mu.scale() / 14.0)), "{}", of_mu.scale());
    }
}
