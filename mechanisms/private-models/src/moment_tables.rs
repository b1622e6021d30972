//! Noisy tables that hold the same sums as noisy moments: counts of levels, and means of numbers.

use ndarray::Array2;
use rand_distr::{Distribution, StandardNormal};
use scumble_core::levels::{Attribute, CountedLevel, CountedTable};
use scumble_core::{Neighbours, Stream};
use std::f64::consts::FRAC_1_SQRT_2;

/// Noisy sums over all records of the products of two coordinates of z = (1, u, e), each with noise of the
/// standard deviation σ.
pub(crate) struct NoisySums<'s> {
    /// Features, then the target.
    pub(crate) attributes: &'s [Attribute],
    /// Upper triangle of the sums; the number of records comes first.
    pub(crate) sums: &'s Array2<f64>,
    /// σ.
    pub(crate) scale: f64,
    pub(crate) neighbours: Neighbours,
    /// Largest ℓ₂ distance between all sums of two neighbouring tables.
    pub(crate) sensitivity: f64,
}

impl NoisySums<'_> {
    /// The sums as tables. Each category has the counts of its levels, and each pair of categories the counts
    /// of their pairs of levels. Each number has a table of its mean and its variance over all records, and
    /// one of its mean for each level of each category. Products of two numbers have no table.
    pub(crate) fn tables(&self, stream: &mut Stream) -> Vec<CountedTable> {
        let (mut numbers, mut categories) = (vec![], vec![]);
        for (column, attribute) in self.attributes.iter().enumerate() {
            match attribute.bounds() {
                Some((lower, upper)) if lower < upper => numbers.push((column, attribute)),
                Some(_) => {} // the number is known
                None => categories.push((column, attribute)),
            }
        }
        let mut tables: Vec<CountedTable> = vec![];
        for (at, category) in categories.iter().enumerate() {
            tables.push(self.counts(&[*category]));
            tables.extend(categories[..at].iter().map(|other| self.counts(&[*other, *category])));
        }
        for number in &numbers {
            tables.push(self.moments(*number, stream));
            tables.extend(categories.iter().map(|category| self.means(*number, *category)));
        }
        tables
    }

    /// Fraction of the budget for sums that a record changes by a vector of this squared length: if the
    /// record is replaced, and if it is added.
    fn share(&self, replaced: f64, added: f64) -> f64 {
        let own = if self.neighbours == Neighbours::ReplaceOne { replaced } else { added };
        (own / (self.sensitivity * self.sensitivity)).min(1.0)
    }

    /// Coordinates of an attribute in z.
    fn places(attribute: &Attribute) -> impl Iterator<Item = usize> + Clone {
        attribute.coordinates().map(|coordinate| coordinate + 1)
    }

    fn levels(attribute: &Attribute) -> Vec<CountedLevel> {
        (0..attribute.levels()).map(|level| attribute.counted(&[level])).collect()
    }

    /// Counts of one category, or of two in the order of their columns.
    fn counts(&self, categories: &[(usize, &Attribute)]) -> CountedTable {
        let counts = match categories {
            [(_, one), (_, other)] => {
                let of = |i| Self::places(other).map(move |j| self.sums[[i, j]]);
                Self::places(one).flat_map(of).collect()
            }
            _ => {
                categories.iter().flat_map(|(_, one)| Self::places(one)).map(|j| self.sums[[0, j]]).collect()
            }
        };
        CountedTable {
            columns: categories.iter().map(|(column, _)| *column).collect(),
            levels: categories.iter().map(|(_, attribute)| Self::levels(attribute)).collect(),
            counts,
            deviation: self.scale,
            share: self.share(2.0, 1.0),
            repeats_groups: false,
        }
    }

    /// Table of a number u over all records, at its bounds and at the middle: Σ(1 − u)²/4, Σ(1 − u²)/2 and
    /// Σ(1 + u)²/4.
    ///
    /// The noise of these three counts is not independent, and its variances differ. Further noise on the
    /// number of records n and on Σu² makes it independent, with the variance σ²/2 of each count. The mean of
    /// u depends on Σu, which gets no further noise.
    fn moments(&self, (column, number): (usize, &Attribute), stream: &mut Stream) -> CountedTable {
        let at = number.coordinates().start + 1;
        let mut noise = || -> f64 { self.scale * Distribution::<f64>::sample(&StandardNormal, stream) };
        let shared = noise() * FRAC_1_SQRT_2;
        // A public number of records has no noise yet.
        let own = if self.neighbours == Neighbours::ReplaceOne { noise() } else { 0.0 };
        let (n, squares) = (self.sums[[0, 0]] + shared + own, self.sums[[at, at]] + shared);
        let sum = self.sums[[0, at]];
        let counts =
            vec![(n - 2.0 * sum + squares) / 4.0, (n - squares) / 2.0, (n + 2.0 * sum + squares) / 4.0];
        let (lower, upper) = number.bounds().unwrap_or_default();
        let ends = [lower, lower + (upper - lower) / 2.0, upper].map(CountedLevel::End).to_vec();
        CountedTable {
            columns: vec![column],
            levels: vec![ends],
            counts,
            deviation: self.scale * FRAC_1_SQRT_2,
            share: self.share(4.0, 3.0),
            repeats_groups: true,
        }
    }

    /// Table of a number u by the levels of a category, at its bounds: Σ(1 − u)/2 and Σ(1 + u)/2 over the
    /// records of each level. The noise of the number of these records and of Σu is independent, so that of
    /// the two counts is independent too, with the variance σ²/2.
    fn means(&self, number: (usize, &Attribute), category: (usize, &Attribute)) -> CountedTable {
        let at = number.1.coordinates().start + 1;
        let counts = [-1.0, 1.0].into_iter().flat_map(|sign| {
            Self::places(category.1).map(move |level| {
                (self.sums[[0, level]] + sign * self.sums[[at.min(level), at.max(level)]]) / 2.0
            })
        });
        let (lower, upper) = number.1.bounds().unwrap_or_default();
        CountedTable {
            columns: vec![number.0, category.0],
            levels: vec![[lower, upper].map(CountedLevel::End).to_vec(), Self::levels(category.1)],
            counts: counts.collect(),
            deviation: self.scale * FRAC_1_SQRT_2,
            share: self.share(4.0, 2.0),
            repeats_groups: true,
        }
    }
}
