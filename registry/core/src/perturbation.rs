//! What a local mechanism says of its own `perturb`: which coordinates of a point take which noise. An audit holds it to that.

use std::ops::Range;

/// What `perturb` does to some coordinates of a point.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Perturbation {
    /// Noise is added that does not depend on the point.
    Additive(DescribedNoise),
    /// A one-hot group keeps its level, or gets another one, each as likely.
    Flip {
        /// The group's coordinates.
        coordinates: Range<usize>,
        /// The probability with which the level is kept.
        keep: f64,
    },
}

/// Independent noise of mean zero on some coordinates of a point, in the units of the point.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedNoise {
    /// The coordinates, k of them.
    pub coordinates: Range<usize>,
    /// How the distance of two points is measured, and what it costs.
    pub distance: Distance,
    /// The scale of each coordinate's noise (k values).
    pub scales: Vec<f64>,
    /// The largest distance of two points that the noise was made for, in scales.
    pub sensitivity: f64,
    /// The variance of each coordinate's noise (k values).
    pub variances: Vec<f64>,
    /// At least E\[z⁴\]/E\[z²\]² of each coordinate's noise z.
    pub kurtosis: f64,
    /// The step of each coordinate's lattice (k values): two released values differ by a multiple of it.
    pub steps: Vec<f64>,
}

/// How the distance of two points is measured, each coordinate in its scale, and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Distance {
    /// Σ|xⱼ − yⱼ|/bⱼ. It is the ε of pure differential privacy, as under Laplace noise.
    L1,
    /// √Σ(xⱼ − yⱼ)²/σⱼ². It is the μ of Gaussian differential privacy, as under Gaussian noise (Dong, Roth and Su 2022).
    L2,
    /// √Σ(xⱼ − yⱼ)²/σⱼ² of noise whose cost does not follow from it.
    Root,
}

impl Distance {
    /// The distance of two points that lie `apart` (k values, each in its scale).
    pub fn of(self, apart: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::L1 => apart.map(f64::abs).sum(),
            Self::L2 | Self::Root => apart.map(|x| x * x).sum::<f64>().sqrt(),
        }
    }
}

impl Perturbation {
    /// The same, so many coordinates further on.
    #[must_use]
    pub fn after(self, before: usize) -> Self {
        let moved = |at: Range<usize>| at.start + before..at.end + before;
        match self {
            Self::Additive(noise) => {
                Self::Additive(DescribedNoise { coordinates: moved(noise.coordinates), ..noise })
            }
            Self::Flip { coordinates, keep } => Self::Flip { coordinates: moved(coordinates), keep },
        }
    }
}
