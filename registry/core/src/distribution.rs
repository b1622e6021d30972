//! The distribution of a release given its noise-free view: public, and part of every release.

use crate::{Layout, RecordDomain, Table, Target};
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};

/// How a block of released coordinates comes from the noise-free ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoiseDistribution {
    /// In the clear: so many coordinates.
    Exact {
        /// How many.
        width: usize,
    },
    /// Independent noise of mean zero.
    Additive {
        /// Each coordinate's variance.
        variance: Vec<f64>,
    },
    /// Noise of mean zero whose coordinates go together.
    Correlated {
        /// Its covariance: as many rows as coordinates, and as many values in each.
        covariance: Vec<Vec<f64>>,
    },
    /// Unbiased noise whose size depends on the value.
    Unbiased {
        /// Each coordinate's moments.
        moments: Vec<Moments>,
        /// How much of a product of two coordinates of one record remains: E\[w·w′ | u, u′\] = `pairs`·u·u′, also with those
        /// of another `Unbiased` block of the same draw. 1 where they are independent. 0 says nothing of products: where no two are ever
        /// answered together, and of the levels of one group, of which no two are ever 1.
        pairs: f64,
        /// Which random draw: blocks that one mechanism answers have one in common, those of different parts of a composition none.
        #[serde(default)]
        lot: usize,
    },
    /// Noise of mean zero that is added, and on which the records of a release depend together: what one record's noise says of
    /// itself does not correct what is learned of all.
    Shared {
        /// How many coordinates.
        width: usize,
    },
    /// One that is not described: so many coordinates.
    Unknown {
        /// How many.
        width: usize,
    },
    /// A one-hot group whose level is kept, or exchanged for another, each other one as likely.
    Flip {
        /// The number of levels, K.
        levels: usize,
        /// The probability with which a level is kept.
        keep: f64,
    },
}

/// The first two moments of a released coordinate, as distances from a centre: for a value at distance u it is released at
/// distance w with E\[w | u\] = u and E\[w² | u\] = `constant` + `slope`·u².
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The centre.
    pub center: f64,
    /// In squared units of the encoded record.
    pub constant: f64,
    /// Without unit.
    pub slope: f64,
}

impl NoiseDistribution {
    /// The same, with another random draw than those of other parts.
    pub(crate) fn of_part(self, part: usize, parts: usize) -> Self {
        match self {
            Self::Unbiased { moments, pairs, lot } => {
                Self::Unbiased { moments, pairs, lot: lot * parts + part }
            }
            distribution => distribution,
        }
    }

    /// The distribution of some of its coordinates; a flipped group is not taken apart.
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

    /// The variance of the noise that is added to each coordinate; none where it depends on the value, or is not known.
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

    /// The number of coordinates.
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

/// The first two moments of a coordinate as distances from a center, and the random draw by which it is answered, with what remains of a
/// product with another one of it.
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

    /// None where squares or products say nothing of the value.
    fn unbiased(moments: &Moments, pairs: f64, lot: usize) -> Option<Self> {
        let Moments { center, constant, slope } = *moments;
        (slope > 0.0 && pairs > 0.0).then_some(Self { center, constant, slope, lot: Some((lot, pairs)) })
    }
}

/// The distribution of a release given the noise-free view: blocks, the features' in the order of the columns, and the target's. They
/// are independent of each other, but for what [`NoiseDistribution::Unbiased`] says of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The features' distributions; their widths sum to the number of columns.
    pub features: Vec<NoiseDistribution>,
    /// The target's distribution.
    pub target: NoiseDistribution,
}

impl Noise {
    /// Noise of this distribution on the features of records of `domain`, whose target leaves in the clear.
    pub fn of_features(domain: &RecordDomain, distribution: NoiseDistribution) -> Self {
        let target = NoiseDistribution::Exact { width: domain.layout().target.width() };
        Self { features: vec![distribution], target }
    }

    /// The distribution of rows of this layout that belong to no record, or of which nothing is known.
    pub fn unknown(layout: &Layout) -> Self {
        let unknown = |width| NoiseDistribution::Unknown { width };
        Self { features: vec![unknown(layout.columns.len())], target: unknown(layout.target.width()) }
    }

    /// Returns which coordinates of a flat record of shape `own` take no noise in a release of shape `released`, by the columns' names.
    pub fn exact(&self, own: &Layout, released: &Layout) -> Vec<bool> {
        let of_block = |block: &NoiseDistribution| {
            std::iter::repeat_n(matches!(block, NoiseDistribution::Exact { .. }), block.width())
        };
        let exact: Vec<bool> = self.features.iter().chain([&self.target]).flat_map(of_block).collect();
        released
            .places(own)
            .iter()
            .map(|place| place.is_some_and(|at| exact.get(at) == Some(&true)))
            .collect()
    }

    /// The variance of each feature's noise (d values), where it is the same for every value.
    pub fn feature_variance(&self) -> Option<Vec<f64>> {
        let blocks = self.features.iter().map(NoiseDistribution::added_variance);
        Some(blocks.collect::<Option<Vec<_>>>()?.concat())
    }

    /// The mean covariance of the noise in features and a real target ((d + 1) × (d + 1), the target last) over the records of
    /// `released` (n × d): the covariance of what was released less this is that of the noise-free view, in expectation. None
    /// where the distributions do not tell, as where no two numbers are ever answered together, or where there is no real target.
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
        // What the distributions add to each square and take from each product; a center matters where they do.
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
                (of, _) if i == j => products[[i, i]] - (products[[i, i]] - of.constant) / of.slope,
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
                    let mut of_row = whole.slice_mut(s![start + i, start..start + covariance.len()]);
                    of_row.iter_mut().zip(row).for_each(|(entry, value)| *entry = *value);
                }
            }
            start += distribution.width();
        }
        Some(whole)
    }

    /// The label-flip matrix (K × K), where labels are flipped: entry \[i, j\] is the probability that class i is released
    /// as class j.
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
