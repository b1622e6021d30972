//! Records as vectors of integers, of which moments are exact, and how far one record moves them.

use ndarray::Array2;
use rayon::prelude::*;
use scumble_core::{Domain, Error, Factor, Layout, RecordDomain, Result, Table, TargetDomain, local};
use std::ops::Range;

/// A number of a record is rounded to one of 2²¹ steps between its bounds.
pub(crate) const BITS: i32 = 20;

/// One, in steps of a record.
pub(crate) const ONE: i64 = 1 << BITS;

/// How records of a domain become vectors z = (1, u, e): 1 for the intercept, numbers u in [−1, 1], recentred and scaled by their public
/// bounds, and groups e of levels of which one is 1. Coordinates behind the intercept are those of a flat record, in its order.
#[derive(Debug, Clone)]
pub struct Encoding {
    layout: Layout,
    domain: Domain,
    /// Of each coordinate of a flat record: the middle and half of the width of a number's bounds; none of a level.
    scales: Vec<Option<(f64, f64)>>,
    /// The coordinates of a flat record that are levels, group by group.
    groups: Vec<Range<usize>>,
}

impl Encoding {
    /// Of records of `domain`, target included.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for a ball, a polytope or a vector as target: their geometry is none of intervals and groups.
    pub fn of(plugin: &str, domain: &RecordDomain) -> Result<Self> {
        if let TargetDomain::Vector { .. } = domain.target() {
            return Err(Error::not_applicable(
                plugin,
                "the target is a vector, and it takes a number or a class",
            ));
        }
        let (mut scales, mut groups) = (vec![], vec![]);
        for (coordinates, factor) in domain.flat().factors() {
            match factor {
                Factor::Interval { lower, upper } => {
                    let half = (upper - lower) / 2.0;
                    scales.push(Some((lower + half, half)));
                }
                Factor::OneHot { levels } => {
                    scales.extend(vec![None; *levels]);
                    groups.push(coordinates);
                }
                _ => {
                    let column = domain.columns().get(coordinates.start).map_or("the target", String::as_str);
                    let reason =
                        format!("{column} is neither a number within bounds of its own nor a category");
                    return Err(Error::not_applicable(plugin, reason));
                }
            }
        }
        Ok(Self { layout: domain.layout(), domain: domain.flat().clone(), scales, groups })
    }

    /// The number of coordinates of z.
    pub fn width(&self) -> usize {
        1 + self.scales.len()
    }

    /// k, the number of numbers.
    pub fn numbers(&self) -> usize {
        self.scales.iter().flatten().count()
    }

    /// g, the number of groups.
    pub fn groups(&self) -> &[Range<usize>] {
        &self.groups
    }

    /// The middle and half of the width of a number's bounds, by its coordinate in a flat record; none of a level.
    pub fn scale(&self, coordinate: usize) -> Option<(f64, f64)> {
        self.scales.get(coordinate).copied().flatten()
    }

    /// ‖z‖² at most, 1 + k + g: a group counts 1, however many levels it has.
    pub(crate) fn squared_norm(&self) -> f64 {
        (1 + self.numbers() + self.groups.len()) as f64
    }

    /// The products of two coordinates i ≤ j of z that are not known before: all but 1·1, and those of two levels of a group, of which no two are
    /// ever 1, and one is its own square.
    pub fn products(&self) -> Vec<[usize; 2]> {
        let width = self.width();
        let group = |at: usize| self.groups.iter().position(|group| at > 0 && group.contains(&(at - 1)));
        let of: Vec<Option<usize>> = (0..width).map(group).collect();
        let is_known = |i: usize, j: usize| j == 0 || (of[i].is_some() && of[i] == of[j]);
        let all = (0..width).flat_map(|i| (i..width).map(move |j| [i, j]));
        all.filter(|[i, j]| !is_known(*i, *j)).collect()
    }

    /// z of a flat record in steps of 2⁻²⁰, on which |u| ≤ 1 holds whatever the floats say.
    fn integers(&self, flat: &mut [f64]) -> Result<Vec<i64>> {
        self.domain.project(flat)?;
        let step = |(x, scale): (&f64, &Option<(f64, f64)>)| match scale {
            Some((_, 0.0)) => 0,
            Some((middle, half)) => (((x - middle) / half * ONE as f64).round() as i64).clamp(-ONE, ONE),
            None => {
                if *x == 1.0 {
                    ONE
                } else {
                    0
                }
            }
        };
        Ok([ONE].into_iter().chain(flat.iter().zip(&self.scales).map(step)).collect())
    }

    /// The first `width` coordinates of z of each record, one record after the other, in steps of 2⁻²⁰.
    ///
    /// # Errors
    /// As [`Layout::check`].
    pub(crate) fn rows(&self, table: &Table, width: usize) -> Result<Vec<i64>> {
        self.layout.check(table)?;
        let mut rows = Vec::with_capacity(table.len() * width);
        for row in 0..table.len() {
            rows.extend(&self.integers(&mut self.layout.flatten(table, row))?[..width.min(self.width())]);
        }
        Ok(rows)
    }

    /// z of each record (n × width), on its lattice of 2⁻²⁰.
    ///
    /// # Errors
    /// As [`Layout::check`].
    pub fn vectors(&self, table: &Table) -> Result<Array2<f64>> {
        let rows = self.rows(table, self.width())?;
        Ok(Array2::from_shape_fn((table.len(), self.width()), |(row, at)| {
            rows[row * self.width() + at] as f64 / ONE as f64
        }))
    }

    /// Σ zzᵀ over the records of `table`, exactly, in steps of 2⁻⁴⁰: the upper triangle.
    ///
    /// # Errors
    /// As [`Layout::check`].
    pub(crate) fn gram(&self, table: &Table) -> Result<Array2<i128>> {
        self.layout.check(table)?;
        let (width, rows) = (self.width(), table.len());
        let blocks: Vec<Range<usize>> =
            (0..rows).step_by(local::BLOCK).map(|start| start..rows.min(start + local::BLOCK)).collect();
        let of_block = |block: Range<usize>| -> Result<Array2<i128>> {
            let mut sum = Array2::<i64>::zeros((width, width));
            for row in block {
                let z = self.integers(&mut self.layout.flatten(table, row))?;
                add_products(&mut sum, &z);
            }
            Ok(sum.mapv(i128::from))
        };
        let none = || Ok(Array2::zeros((width, width)));
        blocks.into_par_iter().map(of_block).reduce(none, |one, other| Ok(one? + other?))
    }
}

/// Adds zzᵀ to the upper triangle of a sum: products are below 2⁴⁰ each, and a block has far fewer than 2²³ records.
fn add_products(sum: &mut Array2<i64>, z: &[i64]) {
    for (at, mut row) in sum.outer_iter_mut().enumerate().filter(|(at, _)| z[*at] != 0) {
        row.iter_mut().zip(z).skip(at).for_each(|(sum, other)| *sum += z[at] * other);
    }
}
