//! Distribution of a release given its noise-free view. It is public, and part of every release.

use crate::{Layout, RecordDomain, Table, Target};
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};

/// Distribution of a block of released coordinates given the noise-free ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoiseDistribution {
    /// Coordinates in the clear.
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
        /// Covariance matrix (k × k), by row.
        covariance: Vec<Vec<f64>>,
    },
    /// Unbiased noise whose size depends on the value.
    Unbiased {
        /// Moments of each coordinate.
        moments: Vec<Moments>,
        /// Factor that remains of a product of two coordinates of one record:
        /// E\[w·w′ | u, u′\] = `pairs`·u·u′. It also applies to pairs with another `Unbiased` block of the
        /// same draw. It is 1 if the coordinates are independent. At 0 nothing is said about products. It is
        /// 0 if no two coordinates are ever answered together. It is also 0 for the levels of one group,
        /// because no two levels are ever 1.
        pairs: f64,
        /// Number of the random draw. Blocks answered by one mechanism share a draw. Different parts of a
        /// composition have different draws.
        #[serde(default)]
        lot: usize,
    },
    /// Additive noise of mean zero on which the records of a release depend jointly. The noise of one record
    /// alone therefore cannot correct results learned from all records.
    Shared {
        /// Number of coordinates.
        width: usize,
    },
    /// Distribution that is not described.
    Unknown {
        /// Number of coordinates.
        width: usize,
    },
    /// One-hot group whose level is kept, or exchanged for another one, each with the same probability.
    Flip {
        /// Number of levels, K.
        levels: usize,
        /// Probability of keeping the level.
        keep: f64,
    },
}

/// First two moments of a released coordinate, as distances from a centre. A value at distance u is released
/// at distance w with E\[w | u\] = u and E\[w² | u\] = `constant` + `slope`·u².
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Centre.
    pub center: f64,
    /// Constant term, in squared units of the encoded record.
    pub constant: f64,
    /// Coefficient of u², without unit.
    pub slope: f64,
}

impl NoiseDistribution {
    /// Same distribution, with another random draw than the other parts of a composition.
    pub(crate) fn for_part(self, part: usize, parts: usize) -> Self {
        match self {
            Self::Unbiased { moments, pairs, lot } => {
                Self::Unbiased { moments, pairs, lot: lot * parts + part }
            }
            distribution => distribution,
        }
    }

    /// Distribution of some of the coordinates. A flipped group is not split.
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

    /// Variance of the noise added to each coordinate; `None` if it depends on the value or is not known.
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

    /// Returns whether the mean of noise-free values can be estimated from many released ones.
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

/// First two moments of a coordinate, as distances from a centre. `lot` is the random draw that answers it,
/// with the factor that remains of its product with another coordinate of the same draw.
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

    /// `None` if squares or products say nothing about the value.
    fn unbiased(moments: &Moments, pairs: f64, lot: usize) -> Option<Self> {
        let Moments { center, constant, slope } = *moments;
        (slope > 0.0 && pairs > 0.0).then_some(Self { center, constant, slope, lot: Some((lot, pairs)) })
    }
}

/// Distribution of a release given the noise-free view, as blocks: the features' in the order of the columns,
/// and the target's. The blocks are independent of each other, except for the pairs of
/// [`NoiseDistribution::Unbiased`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Distributions of the features. Their widths sum to the number of columns.
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

    /// Distribution of rows of this layout that belong to no record, or whose noise is unknown.
    pub fn unknown(layout: &Layout) -> Self {
        let unknown = |width| NoiseDistribution::Unknown { width };
        Self { features: vec![unknown(layout.columns.len())], target: unknown(layout.target.width()) }
    }

    /// Returns which coordinates of a flat record of shape `own` take no noise in a release of shape
    /// `released`. Features match by column name.
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

    /// Variance of each feature's noise (d values); `None` if it depends on the value or is not known.
    pub fn feature_variance(&self) -> Option<Vec<f64>> {
        let blocks = self.features.iter().map(NoiseDistribution::added_variance);
        Some(blocks.collect::<Option<Vec<_>>>()?.concat())
    }

    /// Mean covariance of the noise in the features and a real target, over the records of `released`
    /// (n × d). Its shape is (d + 1) × (d + 1), with the target last. The covariance of the release minus
    /// this matrix is, in expectation, the covariance of the noise-free view. `None` if there is no real
    /// target, or if the distributions do not determine the matrix. An example is a release in which no two
    /// numbers are ever answered together.
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
        // Contribution of the distributions to each square, and reduction of each product. A centre matters
        // only for these.
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

    /// Label-flip matrix (K × K); `None` if labels are not flipped. Entry \[i, j\] is the probability that
    /// class i is released as class j.
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
