//! A linear map in the units of its sets, and what bounds it without a search.

use super::norm::{euclidean, largest, range};
use super::rounding::check;
use super::set::Set;
use super::spectral;
use super::{Result, points};
use ndarray::{Array2, ArrayView2, Axis, s};
use std::ops::Range;

/// A map whose columns were multiplied by the sizes of their sets, so that these are simple: see [`Kind`].
pub(crate) struct Scaled {
    /// Z rows of n.
    pub rows: Vec<Vec<f64>>,
    groups: Vec<(Kind, Range<usize>)>,
}

/// What the spread is of coordinates whose direction is a.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Σ |aⱼ|, of numbers between −½ and ½.
    Box,
    /// max |aⱼ|, of the ℓ₁ ball of diameter 1.
    Cross,
    /// ‖a‖₂, of the ℓ₂ ball of diameter 1.
    Sphere,
    /// max aⱼ − min aⱼ, of one-hot vectors.
    Simplex,
}

impl Scaled {
    /// Of a map (Z × n) over sets of n coordinates together, whose sizes are right.
    pub fn new(map: ArrayView2<f64>, sets: &[Set]) -> Self {
        let mut map = map.to_owned();
        let mut groups: Vec<(Kind, Range<usize>)> = Vec::new();
        let mut start = 0;
        for set in sets {
            let columns = start..start + set.dim();
            start = columns.end;
            let mut block = map.slice_mut(s![.., columns.clone()]);
            let kind = match *set {
                Set::Interval { width } => {
                    block *= width;
                    Kind::Box
                }
                Set::L1Ball { radius, .. } => {
                    block *= 2.0 * radius;
                    Kind::Cross
                }
                Set::L2Ball { radius, .. } => {
                    block *= 2.0 * radius;
                    Kind::Sphere
                }
                Set::OneHot { .. } => {
                    block.axis_iter_mut(Axis(0)).for_each(|mut row| {
                        let middle = middle(row.iter().copied());
                        row -= middle;
                    });
                    Kind::Simplex
                }
            };
            match groups.last_mut() {
                // A box is one group, however many intervals are its sides.
                Some((Kind::Box, before)) if kind == Kind::Box => before.end = columns.end,
                _ => groups.push((kind, columns)),
            }
        }
        Self { rows: map.outer_iter().map(|row| row.to_vec()).collect(), groups }
    }

    /// The same distances, where all sets are intervals: max Σⱼ |Σᵢ sᵢaᵢⱼ| over s is max Σᵢ |Σⱼ tⱼaᵢⱼ| over t.
    pub fn transposed(&self) -> Option<Self> {
        let is_box = self.groups.iter().all(|(kind, _)| *kind == Kind::Box);
        is_box.then(|| Self {
            rows: (0..self.width()).map(|j| self.rows.iter().map(|row| row[j]).collect()).collect(),
            groups: vec![(Kind::Box, 0..self.rows.len())],
        })
    }

    /// Whether the bound is met: over one set with few corners.
    pub fn needs_no_search(&self) -> bool {
        matches!(self.groups[..], [(Kind::Cross | Kind::Simplex, _)])
    }

    /// n.
    pub fn width(&self) -> usize {
        self.groups.last().map_or(0, |(_, columns)| columns.end)
    }

    /// Of the set in a direction (n values): a seminorm.
    pub fn spread(&self, direction: &[f64]) -> f64 {
        let of = |(kind, columns): &(Kind, Range<usize>)| kind.spread(&direction[columns.clone()]);
        self.groups.iter().map(of).sum()
    }

    /// What goes into any spread, and how often it is rounded on the way.
    ///
    /// # Errors
    /// [`super::Error::Overflow`] where sums of it could.
    pub fn size(&self) -> Result<(f64, usize)> {
        let of_row = |row: &Vec<f64>| -> f64 {
            self.groups.iter().map(|(kind, columns)| kind.size(&row[columns.clone()])).sum()
        };
        let size = check(self.rows.iter().map(of_row).sum())?;
        let of_group = |(kind, columns): &(Kind, Range<usize>)| match kind {
            Kind::Box => columns.len(),
            Kind::Sphere => 2 * columns.len(),
            Kind::Cross | Kind::Simplex => 1,
        };
        Ok((size, self.rows.len() + self.groups.iter().map(of_group).sum::<usize>()))
    }

    /// A bound on the spread in all directions, and whether it is met: each group in the direction that is the worst for it, or each
    /// row by itself.
    pub fn bound(&self) -> (f64, bool) {
        let of_groups: Vec<(f64, bool)> = self.groups.iter().map(|group| self.group_bound(group)).collect();
        let by_groups = of_groups.iter().map(|(bound, _)| bound).sum::<f64>();
        let by_rows = self.rows.iter().map(|row| self.spread(row)).sum::<f64>();
        (by_groups.min(by_rows), matches!(of_groups[..], [(_, true)]))
    }

    fn group_bound(&self, (kind, columns): &(Kind, Range<usize>)) -> (f64, bool) {
        let rows: Vec<&[f64]> = self.rows.iter().map(|row| &row[columns.clone()]).collect();
        let column_sums: Vec<f64> =
            (0..columns.len()).map(|j| rows.iter().map(|row| row[j].abs()).sum()).collect();
        let (outputs, inputs) = (rows.len() as f64, columns.len() as f64);
        let spectral_norm = || {
            let values = rows.iter().flat_map(|row| row.iter().copied()).collect();
            let block = Array2::from_shape_vec((rows.len(), columns.len()), values);
            block.map_or(f64::INFINITY, |block| spectral::norm_bound(block.view()))
        };
        match kind {
            Kind::Box => {
                let by_norm = (outputs * inputs).sqrt() * spectral_norm();
                (column_sums.iter().sum::<f64>().min(by_norm), false)
            }
            Kind::Cross => (column_sums.iter().copied().fold(0.0, f64::max), true),
            Kind::Sphere => {
                let by_rows = rows.iter().map(|row| euclidean(row)).sum::<f64>();
                let by_norm = outputs.sqrt() * spectral_norm();
                (euclidean(&column_sums).min(by_rows).min(by_norm), false)
            }
            Kind::Simplex => points::widest_pair(&rows)
                .map_or_else(|| (points::widest_pair_bound(&rows), false), |distance| (distance, true)),
        }
    }
}

impl Kind {
    fn spread(self, direction: &[f64]) -> f64 {
        match self {
            Kind::Box => direction.iter().map(|a| a.abs()).sum(),
            Kind::Cross => largest(direction),
            Kind::Sphere => euclidean(direction),
            Kind::Simplex => range(direction),
        }
    }

    /// A norm that does not fall where a coordinate grows, and is nowhere below the spread.
    fn size(self, direction: &[f64]) -> f64 {
        match self {
            Kind::Simplex => 2.0 * largest(direction),
            other => other.spread(direction),
        }
    }
}

/// Half way between the least and the largest.
fn middle(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (least, most) =
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    if least < most { 0.5 * least + 0.5 * most } else { least }
}
