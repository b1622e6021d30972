//! Distribution of a release given its noise-free view. The view is the table that would be released without
//! noise. The distribution is public, and part of every release.

use crate::{Layout, RecordDomain, Table, Target};
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};

/// Distribution of a block of released coordinates given their noise-free values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoiseDistribution {
    /// Coordinates that are released without noise.
    Exact {
        /// Number of coordinates.
        width: usize,
    },
    /// Independent noise of mean zero.
    Additive {
        /// Variance of each coordinate.
        variance: Vec<f64>,
    },
    /// Noise of mean zero with correlated coordinates.
    Correlated {
        /// Covariance matrix of the block's k coordinates (k × k), by row.
        covariance: Vec<Vec<f64>>,
    },
    /// Unbiased noise whose variance depends on the noise-free value.
    Unbiased {
        /// Moments of each coordinate.
        moments: Vec<Moments>,
        /// Factor by which the expected product of two coordinates of one record changes: E\[w·w′ | u, u′\] =
        /// `pairs`·u·u′. Here u and u′ are the noise-free values, and w and w′ the released values, as signed
        /// distances from the centres in `moments`. The factor also applies to a coordinate of this block and
        /// one of another `Unbiased` block with the same `lot`. The value is 1 if the noises of the two
        /// coordinates are independent. The value 0 means that the expected products w·w′ do not depend on
        /// u·u′, or that the dependence is not described. The value is 0 if no two coordinates of one record
        /// are ever reported together. The value is also 0 for the levels of a one-hot group, because a
        /// record has a 1 in only one level.
        pairs: f64,
        /// Identifier of the mechanism that releases the block. Blocks that one mechanism releases have the
        /// same `lot`. Different parts of a composition have different ones.
        #[serde(default)]
        lot: usize,
    },
    /// Additive noise of mean zero that is dependent across the records of a release. Results computed from
    /// all records can therefore not be corrected for noise with the noise variance of a single record.
    Shared {
        /// Number of coordinates.
        width: usize,
    },
    /// Distribution that is not described.
    Unknown {
        /// Number of coordinates.
        width: usize,
    },
    /// One-hot group whose level is kept with the probability `keep`. Otherwise another level replaces it,
    /// each with the same probability.
    Flip {
        /// Number of levels, K.
        levels: usize,
        /// Probability of keeping the level.
        keep: f64,
    },
}

/// First two moments of a released coordinate. Let u and w be the signed distances of the noise-free and of
/// the released value from the centre. Then E\[w | u\] = u and E\[w² | u\] = `constant` + `slope`·u².
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Centre.
    pub center: f64,
    /// Constant term, in squared units of the released value.
    pub constant: f64,
    /// Coefficient of u², without unit.
    pub slope: f64,
}

impl NoiseDistribution {
    /// Same distribution, for part number `part` of a composition of `parts` parts. The number of its random
    /// draw differs from the numbers of all other parts.
    pub(crate) fn for_part(self, part: usize, parts: usize) -> Self {
        match self {
            Self::Unbiased { moments, pairs, lot } => {
                Self::Unbiased { moments, pairs, lot: lot * parts + part }
            }
            distribution => distribution,
        }
    }

    /// Distribution of these `coordinates` of the block. A [`Flip`](Self::Flip) group is never split, and is
    /// returned whole.
    pub fn part(&self, coordinates: std::ops::Range<usize>) -> Self {
        match self {
            Self::Exact { .. } => Self::Exact { width: coordinates.len() },
            Self::Shared { .. } => Self::Shared { width: coordinates.len() },
            Self::Unknown { .. } => Self::Unknown { width: coordinates.len() },
            Self::Additive { variance } => Self::Additive { variance: variance[coordinates].to_vec() },
            Self::Correlated { covariance } => {
                let rows = covariance[coordinates.clone()].iter();
                Self::Correlated { covariance: rows.map(|row| row[coordinates.clone()].to_vec()).collect() }
            }
            Self::Unbiased { moments, pairs, lot } => {
                Self::Unbiased { moments: moments[coordinates].to_vec(), pairs: *pairs, lot: *lot }
            }
            Self::Flip { .. } => self.clone(),
        }
    }

    /// Variance of the noise added to each coordinate; `None` if it depends on the noise-free value or is not
    /// known.
    pub fn added_variance(&self) -> Option<Vec<f64>> {
        match self {
            Self::Exact { width } => Some(vec![0.0; *width]),
            Self::Additive { variance } => Some(variance.clone()),
            Self::Correlated { covariance } => {
                covariance.iter().enumerate().map(|(at, row)| row.get(at).copied()).collect()
            }
            Self::Unbiased { .. } | Self::Shared { .. } | Self::Unknown { .. } | Self::Flip { .. } => None,
        }
    }

    /// Returns whether the mean of noise-free values can be estimated from many released values.
    pub fn tells_mean(&self) -> bool {
        match self {
            Self::Exact { .. } | Self::Additive { .. } | Self::Correlated { .. } | Self::Unbiased { .. } => {
                true
            }
            Self::Flip { levels, keep } => keep * *levels as f64 > 1.0,
            Self::Shared { .. } | Self::Unknown { .. } => false,
        }
    }

    /// Number of coordinates.
    pub fn width(&self) -> usize {
        match self {
            Self::Exact { width } | Self::Shared { width } | Self::Unknown { width } => *width,
            Self::Additive { variance } => variance.len(),
            Self::Correlated { covariance } => covariance.len(),
            Self::Unbiased { moments, .. } => moments.len(),
            Self::Flip { levels, .. } => *levels,
        }
    }
}

/// First two moments of a coordinate, as in [`Moments`]. For [`NoiseDistribution::Unbiased`], `lot` holds the
/// number of the random draw and the factor `pairs`.
#[derive(Clone)]
struct Coordinate {
    center: f64,
    constant: f64,
    slope: f64,
    lot: Option<(usize, f64)>,
}

impl Coordinate {
    fn added(variance: f64) -> Self {
        Self { center: 0.0, constant: variance, slope: 1.0, lot: None }
    }

    /// Coordinate with unbiased noise; `None` unless `pairs` and the `slope` of `moments` are above zero. If
    /// one of the two numbers is zero, released squares or products do not determine noise-free ones in
    /// expectation.
    fn unbiased(moments: &Moments, pairs: f64, lot: usize) -> Option<Self> {
        let Moments { center, constant, slope } = *moments;
        (slope > 0.0 && pairs > 0.0).then_some(Self { center, constant, slope, lot: Some((lot, pairs)) })
    }
}

/// Distribution of a release given its noise-free view, in blocks of coordinates. The noises of different
/// blocks are independent, except for [`NoiseDistribution::Unbiased`] blocks with the same `lot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Distributions of the features, in the order of the columns. Their widths sum to the number of columns.
    pub features: Vec<NoiseDistribution>,
    /// Distribution of the target.
    pub target: NoiseDistribution,
}

impl Noise {
    /// Noise of this distribution on the features of records of `domain`. The target is released in the
    /// clear.
    pub fn for_features(domain: &RecordDomain, distribution: NoiseDistribution) -> Self {
        let target = NoiseDistribution::Exact { width: domain.layout().target.width() };
        Self { features: vec![distribution], target }
    }

    /// Unknown distribution for rows with this `layout`, which belong to no record or whose noise is not
    /// described.
    pub fn unknown(layout: &Layout) -> Self {
        let unknown = |width| NoiseDistribution::Unknown { width };
        Self { features: vec![unknown(layout.columns.len())], target: unknown(layout.target.width()) }
    }

    /// Returns, for each coordinate of a flat record (features, then target) of shape `own`, whether it takes
    /// no noise in a release of shape `released`. Features match by column name.
    pub fn exact(&self, own: &Layout, released: &Layout) -> Vec<bool> {
        let exact_flags = |block: &NoiseDistribution| {
            std::iter::repeat_n(matches!(block, NoiseDistribution::Exact { .. }), block.width())
        };
        let exact: Vec<bool> = self.features.iter().chain([&self.target]).flat_map(exact_flags).collect();
        released
            .places(own)
            .iter()
            .map(|place| place.is_some_and(|at| exact.get(at) == Some(&true)))
            .collect()
    }

    /// Variances of the noise of the d features; `None` if a variance depends on the noise-free value or is
    /// not known.
    pub fn feature_variance(&self) -> Option<Vec<f64>> {
        let blocks = self.features.iter().map(NoiseDistribution::added_variance);
        Some(blocks.collect::<Option<Vec<_>>>()?.concat())
    }

    /// Covariance of the noise in the d features and a real target, averaged over the n records of
    /// `released`. Its shape is (d + 1) × (d + 1), with the target last. The covariance of the release minus
    /// this matrix is, in expectation, the covariance of the noise-free view. `None` if there is no real
    /// target, or if the distributions do not determine the matrix, for example because the release reports
    /// only one number of each record.
    pub fn covariance(&self, released: &Table) -> Option<Array2<f64>> {
        let Target::Real(targets) = released.target() else {
            return None;
        };
        let distributions: Vec<&NoiseDistribution> = self.features.iter().chain([&self.target]).collect();
        let width = released.columns().len() + 1;
        if distributions.iter().map(|distribution| distribution.width()).sum::<usize>() != width
            || released.is_empty()
        {
            return None;
        }
        // Effect of the noise on the square of each coordinate and on products of coordinates. Only unbiased
        // noise needs the centre.
        let blocks = distributions.iter().map(|distribution| match distribution {
            NoiseDistribution::Exact { width } => Some(vec![Coordinate::added(0.0); *width]),
            NoiseDistribution::Additive { variance } => {
                Some(variance.iter().map(|v| Coordinate::added(*v)).collect())
            }
            NoiseDistribution::Correlated { covariance } => {
                Some(vec![Coordinate::added(0.0); covariance.len()])
            }
            NoiseDistribution::Unbiased { moments, pairs, lot } => {
                moments.iter().map(|moments| Coordinate::unbiased(moments, *pairs, *lot)).collect()
            }
            NoiseDistribution::Flip { .. }
            | NoiseDistribution::Shared { .. }
            | NoiseDistribution::Unknown { .. } => None,
        });
        let coordinates = blocks.collect::<Option<Vec<Vec<Coordinate>>>>()?.concat();
        let from_center = Array2::from_shape_fn((released.len(), width), |(row, at)| {
            let value = if at + 1 < width { released.records()[[row, at]] } else { targets[row] };
            value - coordinates[at].center
        });
        let products = from_center.t().dot(&from_center) / released.len() as f64;
        let mut whole =
            Array2::from_shape_fn((width, width), |(i, j)| match (&coordinates[i], &coordinates[j]) {
                (coordinate, _) if i == j => {
                    products[[i, i]] - (products[[i, i]] - coordinate.constant) / coordinate.slope
                }
                (Coordinate { lot: Some((lot, pairs)), .. }, Coordinate { lot: Some((other, _)), .. })
                    if lot == other =>
                {
                    products[[i, j]] * (1.0 - 1.0 / pairs)
                }
                _ => 0.0,
            });
        let mut start = 0;
        for distribution in distributions {
            if let NoiseDistribution::Correlated { covariance } = distribution {
                for (i, row) in covariance.iter().enumerate() {
                    let mut block_row = whole.slice_mut(s![start + i, start..start + covariance.len()]);
                    block_row.iter_mut().zip(row).for_each(|(entry, value)| *entry = *value);
                }
            }
            start += distribution.width();
        }
        Some(whole)
    }

    /// Label-flip matrix for K classes (K × K); `None` if labels are not flipped. Entry \[i, j\] is the
    /// probability that class i is released as class j.
    pub fn label_flip(&self) -> Option<Array2<f64>> {
        match self.target {
            NoiseDistribution::Flip { levels, keep } => {
                Some(Array2::from_shape_fn((levels, levels), |(i, j)| {
                    if i == j { keep } else { (1.0 - keep) / (levels - 1) as f64 }
                }))
            }
            _ => None,
        }
    }
}
