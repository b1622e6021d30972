//! Records as vectors of integers with exact moments, and the effect of one record on the moments.

use ndarray::Array2;
use rayon::prelude::*;
use scumble_core::levels::Attribute;
use scumble_core::{
    Domain, Error, Layout, RecordDomain, Result, Table, TargetDomain, in_blocks, interrupt, local, size,
};
use std::ops::Range;

/// Precision of a record's numbers: each is rounded to one of 2²¹ steps between its bounds.
pub(crate) const BITS: i32 = 20;

/// One, in steps of a record.
pub(crate) const ONE: i64 = 1 << BITS;

/// Encoding of records as vectors z = (1, u, e).
///
/// The 1 is for the intercept. The numbers u in [−1, 1] are centred and scaled by their public bounds. Each
/// group e of levels contains one 1. The intercept is followed by the coordinates of a flat record, in its
/// order.
#[derive(Debug, Clone)]
pub struct Encoding {
    pub(crate) layout: Layout,
    domain: Domain,
    /// For each coordinate of a flat record, the middle and half the width of a number's bounds; `None` for a
    /// level.
    scales: Vec<Option<(f64, f64)>>,
    /// Coordinates of a flat record that are levels, group by group.
    groups: Vec<Range<usize>>,
}

impl Encoding {
    /// Creates the encoding of records of `domain`, target included.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for a ball, a polytope, or a vector as target: their geometry does not
    /// consist of intervals and groups.
    pub fn for_domain(plugin: &str, domain: &RecordDomain) -> Result<Self> {
        if let TargetDomain::Vector { .. } = domain.target() {
            return Err(Error::not_applicable(
                plugin,
                "the target is a vector, and a number or a class is needed",
            ));
        }
        let (features, target) = Attribute::all(plugin, domain, |_| 1)?;
        let (mut scales, mut groups) = (vec![], vec![]);
        for attribute in features.iter().chain(&target) {
            match attribute.bounds() {
                Some((lower, upper)) => {
                    let half = (upper - lower) / 2.0;
                    scales.push(Some((lower + half, half)));
                }
                None => {
                    scales.extend(vec![None; attribute.levels()]);
                    groups.push(attribute.coordinates());
                }
            }
        }
        Ok(Self { layout: domain.layout(), domain: domain.flat().clone(), scales, groups })
    }

    /// Checks, before anything is built, that the memory suffices for the sums of all products of two
    /// coordinates.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub(crate) fn check_size(&self, plugin: &str) -> Result<()> {
        /// Bytes per product for exact sums, the sums of [`FEW_BLOCKS`], and the numbers made of them. So
        /// there are at most 2²⁴ products, as many as noise has coordinates.
        const BYTES: usize = 128;
        let width = self.width();
        let asks = format!("multiplying {width} encoded columns (fewer columns or levels need less)");
        size::check_held(plugin, &asks, &[width, width], BYTES)
    }

    /// Number of coordinates of z.
    pub fn width(&self) -> usize {
        1 + self.scales.len()
    }

    /// Number of numbers, k.
    pub fn numbers(&self) -> usize {
        self.scales.iter().flatten().count()
    }

    /// Coordinates of each of the g groups.
    pub fn groups(&self) -> &[Range<usize>] {
        &self.groups
    }

    /// Middle and half the width of a number's bounds, by its coordinate in a flat record; `None` for a
    /// level.
    pub fn scale(&self, coordinate: usize) -> Option<(f64, f64)> {
        self.scales.get(coordinate).copied().flatten()
    }

    /// Upper bound on ‖z‖², 1 + k + g: a group counts 1, whatever its number of levels.
    pub(crate) fn squared_norm(&self) -> f64 {
        (1 + self.numbers() + self.groups.len()) as f64
    }

    /// Returns the products of two coordinates i ≤ j of z that are not known in advance.
    ///
    /// Known products are 1·1 and the products of two levels of a group. Two different levels of a group are
    /// never both 1, and a level equals its own square.
    pub fn products(&self) -> Vec<[usize; 2]> {
        let width = self.width();
        let group = |at: usize| self.groups.iter().position(|group| at > 0 && group.contains(&(at - 1)));
        let groups: Vec<Option<usize>> = (0..width).map(group).collect();
        let is_known = |i: usize, j: usize| j == 0 || (groups[i].is_some() && groups[i] == groups[j]);
        let all = (0..width).flat_map(|i| (i..width).map(move |j| [i, j]));
        all.filter(|[i, j]| !is_known(*i, *j)).collect()
    }

    /// Returns z of a flat record in steps of 2⁻²⁰. On these steps |u| ≤ 1 holds, whatever the floats are.
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

    /// Returns z of each record (n × width), on its lattice of 2⁻²⁰.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`].
    pub fn vectors(&self, table: &Table) -> Result<Array2<f64>> {
        self.layout.check(table)?;
        let mut vectors = Array2::zeros((table.len(), self.width()));
        for (row, mut vector) in vectors.outer_iter_mut().enumerate() {
            let z = self.integers(&mut self.layout.flatten(table, row))?;
            vector.iter_mut().zip(z).for_each(|(x, z)| *x = z as f64 / ONE as f64);
        }
        Ok(vectors)
    }

    /// Calls `compute` with the vectors z of each block of `BLOCK` consecutive flat records, on all cores.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records; [`Error::NonFinite`];
    /// [`Error::Interrupted`].
    fn blocks<T: Send>(
        &self,
        records: &[f64],
        compute: impl Fn(&mut dyn Iterator<Item = Result<Vec<i64>>>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let width = self.scales.len();
        if !records.len().is_multiple_of(width.max(1)) {
            let problem =
                format!("{} values are not a whole number of records of {width} values each", records.len());
            return Err(Error::shape(problem));
        }
        let compute_block = |block: &[f64]| {
            interrupt::check()?;
            compute(&mut block.chunks_exact(width).map(|record| self.integers(&mut record.to_vec())))
        };
        records.par_chunks(local::BLOCK * width.max(1)).map(compute_block).collect()
    }

    /// Number of bytes of a packed record.
    pub(crate) fn packed_width(&self) -> usize {
        size_of::<u32>() * (self.numbers() + self.groups.len())
    }

    /// Packs flat records: four bytes for each number, in steps, and four for the level of each group.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records; [`Error::NonFinite`];
    /// [`Error::Interrupted`].
    pub(crate) fn packed(&self, records: &[f64]) -> Result<Vec<Vec<u8>>> {
        self.blocks(records, |vectors| {
            let mut bytes = vec![];
            for z in vectors {
                let z = &z?[1..];
                let numbers = z.iter().zip(&self.scales).filter(|(_, scale)| scale.is_some());
                numbers.for_each(|(x, _)| bytes.extend((*x as i32).to_le_bytes()));
                for group in &self.groups {
                    let level = z[group.clone()].iter().position(|x| *x == ONE);
                    bytes.extend(level.map_or(u32::MAX, |level| level as u32).to_le_bytes());
                }
            }
            Ok(bytes)
        })
    }

    /// Writes z of a packed record.
    pub(crate) fn unpack(&self, packed: &[u8], z: &mut [i64]) {
        let mut words = packed.as_chunks::<4>().0.iter();
        z.fill(0);
        z[0] = ONE;
        let numbers = z[1..].iter_mut().zip(&self.scales).filter(|(_, scale)| scale.is_some());
        for ((x, _), word) in numbers.zip(words.by_ref()) {
            *x = i32::from_le_bytes(*word).into();
        }
        for (group, word) in self.groups.iter().zip(words) {
            if let Some(x) = z[1..][group.clone()].get_mut(u32::from_le_bytes(*word) as usize) {
                *x = ONE;
            }
        }
    }
}

/// Exact sum Σ zzᵀ over the added records, in steps of 2⁻⁴⁰: the upper triangle.
pub(crate) struct Gram<'e> {
    encoding: &'e Encoding,
    pub(crate) sum: Array2<i128>,
    pub(crate) records: usize,
}

impl<'e> Gram<'e> {
    /// Creates the sum over zero records.
    pub(crate) fn new(encoding: &'e Encoding) -> Self {
        let width = encoding.width();
        Self { encoding, sum: Array2::zeros((width, width)), records: 0 }
    }

    /// Computes the sum over the records of `table`.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`], and [`Error::Interrupted`].
    pub(crate) fn from_table(encoding: &'e Encoding, table: &Table) -> Result<Self> {
        let mut gram = Self::new(encoding);
        in_blocks(&encoding.layout, table, |records| gram.add(records))?;
        Ok(gram)
    }

    /// Adds flat records.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records; [`Error::NonFinite`];
    /// [`Error::Interrupted`].
    pub(crate) fn add(&mut self, records: &[f64]) -> Result<()> {
        let width = self.encoding.width();
        // Few sums are held at a time, because they may be large.
        for records in records.chunks(FEW_BLOCKS * local::BLOCK * (width - 1).max(1)) {
            let sums = self.encoding.blocks(records, |vectors| {
                let mut sum = Array2::<i64>::zeros((width, width));
                for z in vectors {
                    add_products(&mut sum, &z?);
                }
                Ok(sum)
            })?;
            for block_sum in sums {
                self.sum.zip_mut_with(&block_sum, |sum, more| *sum += i128::from(*more));
            }
        }
        self.records += records.len() / (width - 1).max(1);
        Ok(())
    }
}

/// Number of blocks whose sums are held at once.
const FEW_BLOCKS: usize = 4;

/// Adds zzᵀ to the upper triangle of a sum. Each product is below 2⁴⁰, and a block has far fewer than 2²³
/// records.
fn add_products(sum: &mut Array2<i64>, z: &[i64]) {
    for (at, mut row) in sum.outer_iter_mut().enumerate().filter(|(at, _)| z[*at] != 0) {
        row.iter_mut().zip(z).skip(at).for_each(|(sum, other)| *sum += z[at] * other);
    }
}
