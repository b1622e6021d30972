//! Records as vectors of integers with exact moments, and the effect of one record on the moments.

use ndarray::Array2;
use rayon::prelude::*;
use scumble_core::levels::Attribute;
use scumble_core::{
    Domain, Error, Layout, PARTS, RecordDomain, Result, Table, TargetDomain, check_width, in_blocks,
    interrupt, local, size,
};
use std::ops::Range;

/// Number of binary digits of an encoded number in [−1, 1]. Each number is rounded to a multiple of 2⁻²⁰, so
/// that there are 2²¹ steps between its bounds.
pub(crate) const BITS: i32 = 20;

/// The number 1 in steps of 2⁻²⁰.
pub(crate) const ONE: i64 = 1 << BITS;

/// Sum over all people, rounded down to whole steps. `parts` is the sum of the people's parts, in units of
/// 2⁻⁴⁰; each person has [`PARTS`] parts. It is exact if each record has all parts of its person.
pub(crate) fn whole_steps(parts: i128) -> i128 {
    parts.div_euclid(PARTS.into())
}

/// Encoding of records as vectors z = (1, u, e): an intercept, numbers and levels.
///
/// The 1 is for the intercept. The numbers u in [−1, 1] are centred and scaled by their public bounds. The
/// levels e consist of one-hot groups, and each group contains one 1. After the intercept, the coordinates
/// have the order of a *flat* record: the features, then the target. Numbers and groups may alternate.
#[derive(Debug, Clone)]
pub struct Encoding {
    pub(crate) layout: Layout,
    domain: Domain,
    /// For each coordinate of a flat record (features, then target), the middle and half the width of a
    /// number's bounds; `None` for a level.
    scales: Vec<Option<(f64, f64)>>,
    /// Coordinates of a flat record (features, then target) that are levels, group by group.
    groups: Vec<Range<usize>>,
}

impl Encoding {
    /// Creates the encoding of records of `domain`, target included.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features in a ball or a polytope, and for a vector as target. Only
    /// numbers within their own bounds and one-hot groups can be encoded.
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

    /// Checks that the sums of all products of two coordinates fit into memory, before they are allocated.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the sums do not fit.
    pub(crate) fn check_size(&self, plugin: &str) -> Result<()> {
        /// Number of bytes per product: for the exact sum, the sums of [`FEW_BLOCKS`] blocks, and the floats
        /// computed from them. This value limits the number of products to 2²⁴, the largest number of
        /// coordinates of the noise.
        const BYTES: usize = 128;
        let width = self.width();
        let asks = format!("multiplying {width} encoded columns (fewer columns or levels need less)");
        size::check_held(plugin, &asks, &[width, width], BYTES)
    }

    /// Number of coordinates of z.
    pub fn width(&self) -> usize {
        1 + self.scales.len()
    }

    /// Number k of coordinates of z that are numbers. The intercept does not count.
    pub fn numbers(&self) -> usize {
        self.scales.iter().flatten().count()
    }

    /// Coordinates of each of the g one-hot groups in a flat record (features, then target).
    pub fn groups(&self) -> &[Range<usize>] {
        &self.groups
    }

    /// Middle and half the width of the bounds of the number at `coordinate` of a flat record (features, then
    /// target); `None` for a level.
    pub fn scale(&self, coordinate: usize) -> Option<(f64, f64)> {
        self.scales.get(coordinate).copied().flatten()
    }

    /// Upper bound on ‖z‖² for an encoded record z: 1 for the intercept, plus 1 for each number in [−1, 1]
    /// and for each one-hot group of any width.
    pub(crate) fn squared_norm(&self) -> f64 {
        (1 + self.numbers() + self.groups.len()) as f64
    }

    /// Returns all pairs of coordinates i ≤ j of z whose product is not known in advance.
    ///
    /// The product of the intercept with itself is known to be 1. The products of two levels of one group are
    /// also known: two different levels are never both 1, and a level equals its own square.
    pub fn products(&self) -> Vec<[usize; 2]> {
        let width = self.width();
        let group = |at: usize| self.groups.iter().position(|group| at > 0 && group.contains(&(at - 1)));
        let groups: Vec<Option<usize>> = (0..width).map(group).collect();
        let is_known = |i: usize, j: usize| j == 0 || (groups[i].is_some() && groups[i] == groups[j]);
        let all = (0..width).flat_map(|i| (i..width).map(move |j| [i, j]));
        all.filter(|[i, j]| !is_known(*i, *j)).collect()
    }

    /// Returns the encoded vector z of a flat record, as integers in units of 2⁻²⁰. The numbers u in z
    /// satisfy |u| ≤ 1 exactly, despite float errors.
    fn integers(&self, flat: &mut [f64]) -> Result<Vec<i64>> {
        self.domain.project(flat)?;
        let step = |(x, scale): (&f64, &Option<(f64, f64)>)| match scale {
            Some((middle, half)) => scaled(*x, *middle, *half),
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

    /// Returns the encoded vectors z of the n records of `table` (n × width). All values are multiples of
    /// 2⁻²⁰.
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

    /// Calls `compute` with the encoded vectors z of each block of `BLOCK` consecutive flat records, on all
    /// cores. Each comes with the parts of its person that belong to the record (see [`Gram::add`]).
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records, [`Error::NonFinite`] for a NaN or an
    /// infinity, [`Error::Interrupted`] after an interrupt.
    fn blocks<T: Send>(
        &self,
        (records, shares): (&[f64], Option<&[u16]>),
        compute: impl Fn(&mut dyn Iterator<Item = Result<(Vec<i64>, i64)>>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let width = self.scales.len();
        in_blocks_of_records(width, records, shares, |records| {
            compute(
                &mut records.map(|(record, share)| Ok((self.integers(&mut record.to_vec())?, share.into()))),
            )
        })
    }
}

/// The number `x` in units of 2⁻²⁰, scaled to [−1, 1] by the middle and half the width of its bounds; 0 if
/// both bounds are equal.
pub(crate) fn scaled(x: f64, middle: f64, half: f64) -> i64 {
    if half == 0.0 { 0 } else { (((x - middle) / half * ONE as f64).round() as i64).clamp(-ONE, ONE) }
}

/// Calls `compute` with each block of `BLOCK` consecutive flat records of `width` values each, on all cores.
/// Each record comes with its parts in `shares`, or with all [`PARTS`] parts of its person without `shares`.
///
/// # Errors
/// [`Error::Shape`] if the values are not a whole number of records, [`Error::Interrupted`] after an
/// interrupt. Any error of `compute`.
pub(crate) fn in_blocks_of_records<T: Send>(
    width: usize,
    records: &[f64],
    shares: Option<&[u16]>,
    compute: impl Fn(&mut dyn Iterator<Item = (&[f64], u16)>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let width = width.max(1);
    shares.map_or(Ok(()), |shares| check_width(records.len() / width, shares.len()))?;
    if !records.len().is_multiple_of(width) {
        let problem =
            format!("{} values are not a whole number of records of {width} values each", records.len());
        return Err(Error::shape(problem));
    }
    let compute_block = |(number, block): (usize, &[f64])| {
        interrupt::check()?;
        let share = |row: usize| shares.map_or(PARTS, |shares| shares[number * local::BLOCK + row]);
        compute(&mut block.chunks_exact(width).enumerate().map(|(row, record)| (record, share(row))))
    };
    records.par_chunks(local::BLOCK * width).enumerate().map(compute_block).collect()
}

/// Upper triangle of the sum Σ zzᵀ over the encoded vectors z of all added records ([`Encoding`]). The
/// records of a person have the weight of one record together.
pub(crate) struct Gram<'e> {
    encoding: &'e Encoding,
    /// Exact sums, as integers in units of 2⁻⁴⁰/[`PARTS`].
    parts: Array2<i128>,
    /// Parts of all people.
    people: u64,
}

impl<'e> Gram<'e> {
    /// Creates the sum over zero records.
    pub(crate) fn new(encoding: &'e Encoding) -> Self {
        let width = encoding.width();
        Self { encoding, parts: Array2::zeros((width, width)), people: 0 }
    }

    /// Computes the sum over the records of `table`.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`]. [`Error::Interrupted`] after an interrupt.
    pub(crate) fn from_table(encoding: &'e Encoding, table: &Table) -> Result<Self> {
        let mut gram = Self::new(encoding);
        in_blocks(&encoding.layout, table, |records, shares| gram.add(records, shares))?;
        Ok(gram)
    }

    /// Adds flat records. `shares` has the parts of each record in the weight of its person, of [`PARTS`] in
    /// all; `None` if each record is a person's only one.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records, [`Error::NonFinite`] for a NaN or an
    /// infinity, [`Error::Interrupted`] after an interrupt.
    pub(crate) fn add(&mut self, records: &[f64], shares: Option<&[u16]>) -> Result<()> {
        let (width, few) = (self.encoding.width(), FEW_BLOCKS * local::BLOCK);
        // Only a few block sums are in memory at a time, because each may be large.
        for (at, records) in records.chunks(few * (width - 1).max(1)).enumerate() {
            let shares = shares.map(|shares| &shares[(at * few).min(shares.len())..]);
            let count = records.len() / (width - 1).max(1);
            let shares = shares.map(|shares| &shares[..count.min(shares.len())]);
            let sums = self.encoding.blocks((records, shares), |vectors| {
                let (mut sum, mut people) = (Array2::<i64>::zeros((width, width)), 0);
                for vector in vectors {
                    let (z, share) = vector?;
                    add_products(&mut sum, &z, share);
                    people += share as u64;
                }
                Ok((sum, people))
            })?;
            for (block_sum, people) in sums {
                self.parts.zip_mut_with(&block_sum, |sum, more| *sum += i128::from(*more));
                self.people += people;
            }
        }
        Ok(())
    }

    /// Sum of a product of two coordinates, as an integer in units of 2⁻⁴⁰.
    pub(crate) fn sum(&self, at: [usize; 2]) -> i128 {
        whole_steps(self.parts[at])
    }

    /// Number of people.
    pub(crate) fn people(&self) -> usize {
        self.people.div_ceil(PARTS.into()) as usize
    }
}

/// Number of blocks of `BLOCK` records whose sums of products are in memory at the same time.
const FEW_BLOCKS: usize = 4;

/// Adds `share`·zzᵀ, for an encoded record `z` in units of 2⁻²⁰, to the upper triangle of a sum. No overflow
/// is possible: each product is at most 2⁵⁰, and a block has fewer than 2¹³ records.
fn add_products(sum: &mut Array2<i64>, z: &[i64], share: i64) {
    for (at, mut row) in sum.outer_iter_mut().enumerate().filter(|(at, _)| z[*at] != 0) {
        let factor = share * z[at];
        row.iter_mut().zip(z).skip(at).for_each(|(sum, other)| *sum += factor * other);
    }
}
