//! Descriptions of `perturb`, the step in which a local mechanism randomises a point: the noise of each
//! coordinate. An audit, which attacks a mechanism to test its claims, compares `perturb` with the
//! description.

use std::ops::Range;

/// Effect of `perturb` on some coordinates of a point.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Perturbation {
    /// Additive noise that does not depend on the point.
    Additive(DescribedNoise),
    /// One-hot group that keeps its level with the probability `keep`. Otherwise it takes another level, each
    /// with the same probability.
    Flip {
        /// Coordinates of the group.
        coordinates: Range<usize>,
        /// Probability of keeping the level.
        keep: f64,
    },
}

/// Independent noise of mean zero on some coordinates of a point, in the units of the point.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedNoise {
    /// Coordinates with noise (k of them).
    pub coordinates: Range<usize>,
    /// Kind of distance between two points. It says whether the privacy cost follows from the distance.
    pub distance: Distance,
    /// Scale of the noise of each of the k coordinates: bⱼ or σⱼ in the formula of [`Distance`].
    pub scales: Vec<f64>,
    /// Sensitivity for which the noise was calibrated: the largest `distance` between any two points of the
    /// mechanism's range. The distance uses only these k coordinates.
    pub sensitivity: f64,
    /// Variance of the noise of each of the k coordinates.
    pub variances: Vec<f64>,
    /// Upper bound on the kurtosis E\[z⁴\]/E\[z²\]² of each coordinate's noise z.
    pub kurtosis: f64,
    /// Step of the lattice of each of the k coordinates. Two released values of a coordinate differ by a
    /// multiple of its step.
    pub steps: Vec<f64>,
}

/// Distance between two points x and y, with each coordinate divided by the scale of its noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Distance {
    /// Σ|xⱼ − yⱼ|/bⱼ, for scales bⱼ. It is the ε of pure differential privacy for the two points, for example
    /// with Laplace noise.
    L1,
    /// √Σ(xⱼ − yⱼ)²/σⱼ², for scales σⱼ. It is the μ of Gaussian differential privacy for the two points, for
    /// example with Gaussian noise (Dong, Roth and Su 2022).
    L2,
    /// √Σ(xⱼ − yⱼ)²/σⱼ², for scales σⱼ of noise whose privacy cost does not follow from this distance.
    Root,
}

impl Distance {
    /// Distance between two points with these `differences`, one per coordinate, each divided by the scale of
    /// the coordinate's noise.
    pub fn measure(self, differences: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::L1 => differences.map(f64::abs).sum(),
            Self::L2 | Self::Root => differences.map(|x| x * x).sum::<f64>().sqrt(),
        }
    }
}

impl Perturbation {
    /// Same perturbation, with its coordinates shifted by `before`.
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
