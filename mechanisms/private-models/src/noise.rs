//! Exact Gaussian noise on sums of integers.

use scumble_accounting::{gaussian, search};
use scumble_core::{Budget, Domain, Error, PrivacyProfile, RecordDomain, Result, Stream};
use scumble_noise::{GaussianNoise, Lattice};
use scumble_sampling::{DiscreteGaussian, Rational};

use crate::encoding::BITS;

/// Largest finite ε that is spent. A larger finite ε gives no meaningful protection, so the mechanism spends
/// `MOST_EPSILON` instead.
const MOST_EPSILON: f64 = 1e3;

/// Returns `budget` with its ε limited to [`MOST_EPSILON`].
///
/// # Errors
/// Returns no error for a valid budget.
pub(crate) fn spent(budget: Budget) -> Result<Budget> {
    Budget::new(budget.epsilon().min(MOST_EPSILON), budget.delta())
}

/// Lattice step of a product of two encoded coordinates, 2⁻⁴⁰.
pub(crate) const STEP: f64 = 1.0 / (1u64 << (2 * BITS)) as f64;

/// Upper bound on the ℓ₂ distance that [`whole_steps`](crate::encoding::whole_steps) adds to `dim` sums of
/// two neighbouring tables of `domain`: less than one step each. It is zero unless people have several
/// records.
pub(crate) fn rounding(domain: &RecordDomain, dim: usize) -> f64 {
    if domain.has_several_records() { (dim as f64).sqrt() * STEP } else { 0.0 }
}

/// Discrete Gaussian noise on sums that are whole multiples of [`STEP`], calibrated to the largest ℓ₂
/// distance between the sums of neighbouring tables.
///
/// The noise is calibrated like noise on the points of a ball whose diameter is this ℓ₂ distance. The proof
/// in [`GaussianNoise`] needs only the distance and the number of coordinates. [`GaussianNoise`] would move
/// the sums into the ball, so this type adds the noise.
#[derive(Debug, Clone)]
pub(crate) struct SumNoise {
    distribution: DiscreteGaussian,
    profile: PrivacyProfile,
}

impl SumNoise {
    /// Calibrates noise on `dim` sums to `budget`. The sums of two neighbouring tables are at most `distance`
    /// apart in ℓ₂.
    ///
    /// # Errors
    /// [`Error::Budget`] for δ = 0, and if the noise would need a σ above 2⁵⁹ lattice steps.
    pub(crate) fn calibrated(dim: usize, distance: f64, budget: Budget) -> Result<Self> {
        let noise = on_ball(dim, distance, budget)?;
        // The division may round down, so the next larger float is used.
        let scale = noise.scales().first().map_or(1.0, |scale| (scale / STEP).next_up().ceil());
        Ok(Self {
            distribution: DiscreteGaussian::new(Rational::new(scale as u64, 1)?)?,
            profile: noise.profile(),
        })
    }

    /// Returns the noise for `mu`-Gaussian differential privacy of `dim` sums. The sums of two neighbouring
    /// tables are at most `distance` apart in ℓ₂. The privacy profile also covers the small excess of lattice
    /// noise over continuous noise.
    ///
    /// # Errors
    /// Same errors as [`calibrated`](Self::calibrated).
    pub(crate) fn for_mu(dim: usize, distance: f64, mu: f64) -> Result<Self> {
        // Any point (ε, δ) of the privacy profile determines μ. At the ε chosen here, δ is neither tiny nor
        // close to 1.
        let epsilon = mu.max(mu * mu / 2.0);
        Self::calibrated(dim, distance, Budget::new(epsilon, gaussian::delta(mu, epsilon))?)
    }

    /// Privacy profile δ(ε).
    pub(crate) fn profile(&self) -> PrivacyProfile {
        self.profile
    }

    /// Standard deviation of the noise, in units of the sums.
    pub(crate) fn scale(&self) -> f64 {
        self.distribution.scale() * STEP
    }

    /// Returns the smallest ε at `delta`, up to a relative error of a millionth, of this noise for another
    /// neighbouring relation. Under this relation, the `dim` sums of two neighbouring tables are at most
    /// `distance` apart in ℓ₂.
    ///
    /// # Errors
    /// [`Error::Budget`] if no ε up to 10⁶ is large enough.
    pub(crate) fn epsilon(&self, dim: usize, distance: f64, delta: f64) -> Result<f64> {
        let is_enough = |epsilon: f64| {
            let needed =
                Budget::new(epsilon, delta).and_then(|budget| Self::calibrated(dim, distance, budget));
            needed.is_ok_and(|needed| needed.scale() <= self.scale())
        };
        search::nearly_least(1e-6, 1e6, 1e-6, is_enough).ok_or(Error::Budget {
            name: "epsilon",
            range: "large enough for a claim about the other neighbouring relation",
            value: self.scale(),
        })
    }

    /// Adds one draw of noise to each of `sums`, integers in lattice steps, and returns the results in units
    /// of the sums. They are rounded to floats only after the noise is added.
    pub(crate) fn added(&self, sums: &[i128], stream: &mut Stream) -> Vec<f64> {
        sums.iter().map(|sum| (sum + self.distribution.sample(stream)) as f64 * STEP).collect()
    }

    /// Logarithm of the probability that `sums` become `drawn`, up to a constant.
    pub(crate) fn log_likelihood(&self, sums: &[i128], drawn: &[f64]) -> f64 {
        let off = sums.iter().zip(drawn).map(|(sum, drawn)| (drawn - *sum as f64 * STEP) / self.scale());
        -off.map(|off| off * off).sum::<f64>() / 2.0
    }
}

/// Noise on the points of a ball. The radius of the ball is half of `diameter`, rounded up to whole lattice
/// steps.
fn on_ball(dim: usize, diameter: f64, budget: Budget) -> Result<GaussianNoise> {
    let radius = (diameter / 2.0 / STEP).ceil() * STEP;
    GaussianNoise::on_lattice(&Domain::l2_ball(dim, radius)?, budget, Lattice::new(-2 * BITS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a lattice this fine, the noise matches the analytic Gaussian mechanism: σ = 3.7306316348159463 for
    /// (1, 10⁻⁵) (Balle and Wang 2018).
    #[test]
    fn the_noise_is_that_of_the_analytic_gaussian_mechanism() {
        let noise = SumNoise::calibrated(30, 7.0, Budget::new(1.0, 1e-5).unwrap()).unwrap();
        let ratio = noise.scale() / (7.0 * 3.7306316348159463);
        assert!((1.0..1.0 + 1e-6).contains(&ratio), "{ratio}");
        let epsilon = noise.epsilon(30, 7.0, 1e-5).unwrap();
        assert!((1.0..1.0 + 1e-5).contains(&epsilon), "{epsilon}");
        let noise = SumNoise::for_mu(30, 7.0, 0.5).unwrap();
        assert!((1.0..1.0 + 1e-6).contains(&(noise.scale() / 14.0)), "{}", noise.scale());
    }
}
