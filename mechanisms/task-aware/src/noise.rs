//! Noise on latents (Laplace, Gaussian or PrivUnit): exact noise of releases, and floating-point noise of
//! trainings.

use ndarray::Array2;
use rand::Rng;
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use scumble_core::{Budget, DescribedNoise, Domain, Error, Factor, LocalDp, Result, Stream};
use scumble_noise::{GaussianNoise, LaplaceNoise, RandomDirection};
use serde::{Deserialize, Serialize};

/// Kind of noise on latents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Laplace noise, scaled to the ℓ₁ diameter of the set of latents, for ε.
    #[default]
    Laplace,
    /// Gaussian noise, scaled to the ℓ₂ diameter of the set of latents, for (ε, δ).
    Gaussian,
    /// A random direction near the latents (PrivUnit), scaled to an ℓ₂ ball of latents, for ε. At large ε it
    /// is Laplace noise, where this has less variance.
    PrivUnit,
}

impl NoiseKind {
    /// Returns the part of `budget` that the noise spends. Only Gaussian noise spends δ.
    ///
    /// # Errors
    /// [`Error::NotApplicable`](scumble_core::Error::NotApplicable) for Gaussian noise if δ is zero.
    pub fn spent(self, plugin: &str, budget: Budget) -> Result<Budget> {
        match self {
            Self::Laplace | Self::PrivUnit => Budget::pure(budget.epsilon()),
            Self::Gaussian => {
                budget.check_for_gaussian(plugin)?;
                Ok(budget)
            }
        }
    }

    /// Scale of the noise that `budget` demands for a set of `latents` latents of diameter 1: b of Laplace
    /// noise, and else the standard deviation of a latent's noise. It is 0 at ε = ∞.
    ///
    /// # Errors
    /// [`Error::Budget`] if ε is too small for any noise, [`Error::Shape`] if there are too many latents for
    /// PrivUnit.
    pub fn unit_scale(self, budget: Budget, latents: usize) -> Result<f64> {
        let set = match self {
            Self::PrivUnit => Domain::l2_ball(latents, 0.5)?,
            _ => Domain::unit_box(1),
        };
        let noise = LatentNoise::calibrated(self, &set, budget)?;
        Ok(match self {
            Self::Laplace if noise.is_some() => budget.epsilon().recip(),
            _ => noise.map_or(0.0, |noise| noise.variance().sqrt()),
        })
    }

    /// Diameter of a set of latents to which the noise is scaled: ℓ₁ for Laplace noise, and else ℓ₂.
    pub(crate) fn diameter(self, set: &Domain) -> f64 {
        match self {
            Self::Laplace => set.l1_diameter(),
            Self::Gaussian | Self::PrivUnit => set.l2_diameter(),
        }
    }

    /// Draws floating-point noise of scale 1 for the Z latents of n records (n × Z). It is for training only,
    /// and never protects a release. In place of PrivUnit, training adds Gaussian noise of the same variance.
    pub(crate) fn drawn(self, (n, latents): (usize, usize), stream: &mut Stream) -> Array2<f64> {
        Array2::from_shape_simple_fn((n, latents), || match self {
            Self::Laplace => {
                let uniform: f64 = stream.r#gen::<f64>() - 0.5;
                -uniform.signum() * (1.0 - 2.0 * uniform.abs()).max(f64::MIN_POSITIVE).ln()
            }
            Self::Gaussian | Self::PrivUnit => stream.sample(StandardNormal),
        })
    }
}

/// Number of values of PrivUnit's answer, which are the last values of an encoded point.
const ANSWER: usize = RandomDirection::COLUMNS.len();

/// Exact noise on the latents of a release.
#[derive(Debug, Clone)]
pub(crate) enum LatentNoise {
    Laplace(LaplaceNoise),
    Gaussian(GaussianNoise),
    PrivUnit(RandomDirection),
}

impl LatentNoise {
    /// Noise of a `kind` that gives every point of `set` local differential privacy at `budget`. Returns
    /// `None` at ε = ∞.
    ///
    /// # Errors
    /// [`Error::Budget`] if ε is too small for any noise. [`Error::Shape`] if the kind does not spend δ and
    /// `budget` has one, or if PrivUnit has too many latents or no ℓ₂ ball.
    pub(crate) fn calibrated(kind: NoiseKind, set: &Domain, budget: Budget) -> Result<Option<Self>> {
        let epsilon = budget.epsilon();
        if epsilon == f64::INFINITY {
            return Ok(None);
        }
        if budget.delta() > 0.0 && kind != NoiseKind::Gaussian {
            return Err(Error::shape("only Gaussian noise spends δ, and the noise is of another kind"));
        }
        Ok(Some(match kind {
            NoiseKind::Laplace => Self::Laplace(LaplaceNoise::calibrated(set, epsilon)?),
            NoiseKind::Gaussian => Self::Gaussian(GaussianNoise::calibrated(set, budget)?),
            NoiseKind::PrivUnit => match set.factors().next() {
                Some((at, Factor::L2Ball { radius, .. })) if at.len() == set.dim() => {
                    let direction = Self::PrivUnit(RandomDirection::best(set.dim(), *radius, epsilon)?);
                    // An error by one of finitely many directions does not vanish at large ε.
                    let laplace = Self::Laplace(LaplaceNoise::calibrated(set, epsilon)?);
                    if laplace.variance() < direction.variance() { laplace } else { direction }
                }
                _ => return Err(Error::shape("PrivUnit needs latents in one ℓ₂ ball")),
            },
        }))
    }

    /// Variance of each latent's noise. For PrivUnit it is the mean over latents and over points on the
    /// surface of the ball.
    pub(crate) fn variance(&self) -> f64 {
        match self {
            Self::Laplace(noise) => noise.variance(),
            Self::Gaussian(noise) => noise.variances().first().copied().unwrap_or_default(),
            Self::PrivUnit(noise) => noise.radius().powi(2) * noise.oracle().variance(),
        }
    }

    /// Factors ρ and c of the second moment E ṽṽᵀ = ρ·vvᵀ + c·I of the noisy latents ṽ, for latents v.
    pub(crate) fn second_moment(&self) -> (f64, f64) {
        match self {
            Self::PrivUnit(noise) => noise.second_moment(),
            _ => (1.0, self.variance()),
        }
    }

    /// Encodes the `latents` (Z values) for [`randomise`](Self::randomise). The first Z values of the result
    /// are the latents. For PrivUnit, the last [`ANSWER`] have place for an answer, and are 0.
    pub(crate) fn point(&self, latents: Vec<f64>) -> Result<Vec<f64>> {
        Ok(match self {
            Self::PrivUnit(noise) => [noise.point(&latents)?, vec![0.0; ANSWER]].concat(),
            _ => latents,
        })
    }

    /// Set of the [encoded](Self::point) latents, for latents in `set`.
    pub(crate) fn range(&self, set: &Domain) -> Result<Domain> {
        match self {
            Self::PrivUnit(noise) => {
                let empty = Domain::interval(0.0, 0.0)?;
                Domain::product([noise.range().clone(), empty.clone(), empty])
            }
            _ => Ok(set.clone()),
        }
    }

    /// Randomises encoded latents. The first Z values of `point` become the noisy latents.
    pub(crate) fn randomise(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        match self {
            Self::Laplace(noise) => noise.add(point, stream),
            Self::Gaussian(noise) => noise.add(point, stream),
            Self::PrivUnit(noise) => {
                let (vector, answer) = point.split_at_mut(point.len().saturating_sub(ANSWER));
                answer.copy_from_slice(&noise.answer(vector, stream)?);
                let estimate = noise.estimate(answer)?;
                vector.fill(0.0);
                vector[..estimate.len()].copy_from_slice(&estimate);
                Ok(())
            }
        }
    }

    pub(crate) fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        match self {
            Self::Laplace(noise) => noise.log_likelihood(point, released).ok(),
            Self::Gaussian(noise) => noise.log_likelihood(point, released).ok(),
            Self::PrivUnit(noise) => {
                let (vector, answer) =
                    (point.len().checked_sub(ANSWER)?, released.len().checked_sub(ANSWER)?);
                noise.log_likelihood(&point[..vector], &released[answer..])
            }
        }
    }

    /// Description of additive noise.
    pub(crate) fn described(&self) -> Option<DescribedNoise> {
        match self {
            Self::Laplace(noise) => Some(noise.described(0)),
            Self::Gaussian(noise) => Some(noise.described(0)),
            Self::PrivUnit(_) => None,
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
            Self::PrivUnit(_) => (
                LocalDp::pure(budget.epsilon()),
                "the direction of the latents, projected into an ℓ₂ ball for every record, is reported as \
                 one of the public directions that follow from a seed: the directions nearest to it, in a \
                 cap of fixed size, have odds of exactly e^ε (Bhowmick et al. 2018, PrivUnit; Shah et al. \
                 2022, for such codes); released latents are a function of the reported direction",
            ),
        }
    }

    /// Points of `range` that are farthest apart in the norm to which the noise is scaled.
    pub(crate) fn farthest(&self, range: &Domain) -> [Vec<f64>; 2] {
        match self {
            Self::Laplace(_) => range.l1_farthest(),
            Self::Gaussian(_) | Self::PrivUnit(_) => range.l2_farthest(),
        }
    }
}
