//! Noise on latents, Laplace or Gaussian: exact noise of releases, and floating-point noise of trainings.

use ndarray::Array2;
use rand::Rng;
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use scumble_core::{Budget, DescribedNoise, Domain, LocalDp, Result, Stream};
use scumble_noise::{GaussianNoise, LaplaceNoise};
use serde::Deserialize;

/// Kind of noise on latents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Laplace noise, scaled to the ℓ₁ diameter of the set of latents, for ε.
    #[default]
    Laplace,
    /// Gaussian noise, scaled to the ℓ₂ diameter of the set of latents, for (ε, δ).
    Gaussian,
}

impl NoiseKind {
    /// Returns the part of `budget` that the noise spends. Laplace noise spends no δ.
    ///
    /// # Errors
    /// [`Error::NotApplicable`](scumble_core::Error::NotApplicable) for Gaussian noise if δ is zero.
    pub fn spent(self, plugin: &str, budget: Budget) -> Result<Budget> {
        match self {
            Self::Laplace => Budget::pure(budget.epsilon()),
            Self::Gaussian => {
                budget.check_for_gaussian(plugin)?;
                Ok(budget)
            }
        }
    }

    /// Scale of the noise that `budget` demands for a set of latents of diameter 1: the standard deviation of
    /// Gaussian noise, and b of Laplace noise. It is 0 at ε = ∞.
    ///
    /// # Errors
    /// [`Error::Budget`](scumble_core::Error::Budget) if ε is too small for any noise.
    pub fn unit_scale(self, budget: Budget) -> Result<f64> {
        let noise = LatentNoise::calibrated(&Domain::unit_box(1), budget)?;
        Ok(match self {
            Self::Laplace if noise.is_some() => budget.epsilon().recip(),
            _ => noise.map_or(0.0, |noise| noise.variance().sqrt()),
        })
    }

    /// Diameter of a set of latents to which the noise is scaled: ℓ₁ for Laplace noise, ℓ₂ for Gaussian
    /// noise.
    pub(crate) fn diameter(self, set: &Domain) -> f64 {
        match self {
            Self::Laplace => set.l1_diameter(),
            Self::Gaussian => set.l2_diameter(),
        }
    }

    /// Draws floating-point noise of scale 1 for the Z latents of n records (n × Z). It is for training only,
    /// and never protects a release.
    pub(crate) fn drawn(self, (n, latents): (usize, usize), stream: &mut Stream) -> Array2<f64> {
        Array2::from_shape_simple_fn((n, latents), || match self {
            Self::Laplace => {
                let uniform: f64 = stream.r#gen::<f64>() - 0.5;
                -uniform.signum() * (1.0 - 2.0 * uniform.abs()).max(f64::MIN_POSITIVE).ln()
            }
            Self::Gaussian => stream.sample(StandardNormal),
        })
    }
}

/// Exact noise on the latents of a release.
#[derive(Debug, Clone)]
pub(crate) enum LatentNoise {
    Laplace(LaplaceNoise),
    Gaussian(GaussianNoise),
}

impl LatentNoise {
    /// Noise that gives every point of `set` local differential privacy at `budget`: Laplace noise if δ is
    /// zero, else Gaussian noise. Returns `None` at ε = ∞.
    ///
    /// # Errors
    /// [`Error::Budget`](scumble_core::Error::Budget) if ε is too small for any noise.
    pub(crate) fn calibrated(set: &Domain, budget: Budget) -> Result<Option<Self>> {
        Ok(match (budget.epsilon(), budget.delta()) {
            (f64::INFINITY, _) => None,
            (epsilon, 0.0) => Some(Self::Laplace(LaplaceNoise::calibrated(set, epsilon)?)),
            _ => Some(Self::Gaussian(GaussianNoise::calibrated(set, budget)?)),
        })
    }

    /// Variance of each latent's noise.
    pub(crate) fn variance(&self) -> f64 {
        match self {
            Self::Laplace(noise) => noise.variance(),
            Self::Gaussian(noise) => noise.variances().first().copied().unwrap_or_default(),
        }
    }

    pub(crate) fn add(&self, latents: &mut [f64], stream: &mut Stream) -> Result<()> {
        match self {
            Self::Laplace(noise) => noise.add(latents, stream),
            Self::Gaussian(noise) => noise.add(latents, stream),
        }
    }

    pub(crate) fn log_likelihood(&self, latents: &[f64], released: &[f64]) -> Option<f64> {
        match self {
            Self::Laplace(noise) => noise.log_likelihood(latents, released),
            Self::Gaussian(noise) => noise.log_likelihood(latents, released),
        }
        .ok()
    }

    pub(crate) fn described(&self) -> DescribedNoise {
        match self {
            Self::Laplace(noise) => noise.described(0),
            Self::Gaussian(noise) => noise.described(0),
        }
    }

    /// Claim of the noise, with its theorem.
    pub(crate) fn claim(&self, budget: Budget) -> (LocalDp, &'static str) {
        match self {
            Self::Laplace(_) => (
                LocalDp::pure(budget.epsilon()),
                "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on integers, \
                 on latents that are projected into a set of this ℓ₁ diameter for every record",
            ),
            Self::Gaussian(noise) => (
                LocalDp::new(budget.epsilon(), budget.delta()).along(noise.profile()),
                "the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8) on integers, with a proven \
                 bound on what discrete noise (Canonne, Kamath and Steinke 2020) adds to it, on latents that \
                 are projected into a set of this ℓ₂ diameter for every record",
            ),
        }
    }

    /// Points of `range` that are farthest apart in the norm to which the noise is scaled.
    pub(crate) fn farthest(&self, range: &Domain) -> [Vec<f64>; 2] {
        match self {
            Self::Laplace(_) => range.l1_farthest(),
            Self::Gaussian(_) => range.l2_farthest(),
        }
    }
}
