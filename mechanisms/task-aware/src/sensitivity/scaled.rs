//! A linear map scaled by the sizes of the sets that contain its inputs, and bounds on its sensitivity that
//! need no search over sign vectors.

use super::norm::{euclidean, largest, range};
use super::rounding::check;
use super::set::Set;
use super::spectral;
use super::{Result, points};
use ndarray::{Array2, ArrayView2, Axis, s};
use std::ops::Range;

/// A map whose columns are multiplied by the sizes of their sets: the width of an interval, or the diameter
/// of a ball. The scaled sets have unit size (see [`Kind`]).
pub(crate) struct Scaled {
    /// Rows of the map: Z rows of n values.
    pub rows: Vec<Vec<f64>>,
    groups: Vec<(Kind, Range<usize>)>,
}

/// Type of a scaled set. The spread of a set in a direction a is max aᵀx − min aᵀx over its points x.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Numbers between −½ and ½, with spread Σ |aⱼ|.
    Box,
    /// The ℓ₁ ball of diameter 1, with spread max |aⱼ|.
    Cross,
    /// The ℓ₂ ball of diameter 1, with spread ‖a‖₂.
    Sphere,
    /// One-hot vectors, with spread max aⱼ − min aⱼ.
    Simplex,
}

impl Scaled {
    /// Scales a map (Z × n) over sets with n coordinates in total. Widths and radii must be finite and not
    /// negative.
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
                // Adjacent intervals form one box.
                Some((Kind::Box, before)) if kind == Kind::Box => before.end = columns.end,
                _ => groups.push((kind, columns)),
            }
        }
        Self { rows: map.outer_iter().map(|row| row.to_vec()).collect(), groups }
    }

    /// Returns the transposed map, which has the same sensitivity, if all sets are intervals. For the entries
    /// aᵢⱼ of the map, max Σⱼ |Σᵢ sᵢaᵢⱼ| over sign vectors s equals max Σᵢ |Σⱼ tⱼaᵢⱼ| over sign vectors t.
    pub fn transposed(&self) -> Option<Self> {
        let is_box = self.groups.iter().all(|(kind, _)| *kind == Kind::Box);
        is_box.then(|| Self {
            rows: (0..self.width()).map(|j| self.rows.iter().map(|row| row[j]).collect()).collect(),
            groups: vec![(Kind::Box, 0..self.rows.len())],
        })
    }

    /// Returns true if [`bound`](Self::bound) may be exact: for a single ℓ₁ ball or a single one-hot group.
    pub fn needs_no_search(&self) -> bool {
        matches!(self.groups[..], [(Kind::Cross | Kind::Simplex, _)])
    }

    /// Returns the number of columns, n.
    pub fn width(&self) -> usize {
        self.groups.last().map_or(0, |(_, columns)| columns.end)
    }

    /// Computes the spread of the product of the scaled sets in a direction (n values). It is a seminorm.
    pub fn spread(&self, direction: &[f64]) -> f64 {
        let group_spread = |(kind, columns): &(Kind, Range<usize>)| kind.spread(&direction[columns.clone()]);
        self.groups.iter().map(group_spread).sum()
    }

    /// Returns an upper bound on the total magnitude of the terms of any spread, and the number of roundings
    /// in the computation of a spread.
    ///
    /// # Errors
    /// [`super::Error::Overflow`] if sums of the terms could overflow.
    pub fn size(&self) -> Result<(f64, usize)> {
        let row_size = |row: &Vec<f64>| -> f64 {
            self.groups.iter().map(|(kind, columns)| kind.size(&row[columns.clone()])).sum()
        };
        let size = check(self.rows.iter().map(row_size).sum())?;
        let group_roundings = |(kind, columns): &(Kind, Range<usize>)| match kind {
            Kind::Box => columns.len(),
            Kind::Sphere => 2 * columns.len(),
            Kind::Cross | Kind::Simplex => 1,
        };
        Ok((size, self.rows.len() + self.groups.iter().map(group_roundings).sum::<usize>()))
    }

    /// Computes an upper bound on the spread in all directions Eᵀs, for the scaled map E and sign vectors s.
    /// Also returns true if the bound is attained. The bound is the lesser of two sums: over the sets
    /// (adjacent intervals count as one box), a bound on the spread of each set; over the rows of E, the
    /// spread in the direction of each row.
    pub fn bound(&self) -> (f64, bool) {
        let group_bounds: Vec<(f64, bool)> =
            self.groups.iter().map(|group| self.group_bound(group)).collect();
        let by_groups = group_bounds.iter().map(|(bound, _)| bound).sum::<f64>();
        let by_rows = self.rows.iter().map(|row| self.spread(row)).sum::<f64>();
        (by_groups.min(by_rows), matches!(group_bounds[..], [(_, true)]))
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

    /// Norm of `direction` that is monotone in the coordinates' magnitudes, and is at least the spread.
    fn size(self, direction: &[f64]) -> f64 {
        match self {
            Kind::Simplex => 2.0 * largest(direction),
            other => other.spread(direction),
        }
    }
}

/// Returns the midpoint of the least and the largest value.
fn middle(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (least, most) =
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    if least < most { 0.5 * least + 0.5 * most } else { least }
}
