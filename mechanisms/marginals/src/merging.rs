//! Merging of levels with few records, after the noisy tables of single columns.

use crate::answers::Answers;
use crate::residuals::Measured;
use scumble_core::Result;
use scumble_core::levels::Grid;
use std::collections::BTreeMap;

/// Smallest significant count or difference, in standard deviations of its noise. Levels with a smaller count
/// are rare.
const SIGNIFICANT: f64 = 3.0;

/// Merged levels of each column.
pub(crate) struct Merging {
    /// `to[i][j]` is the merged level of level j of column i.
    to: Vec<Vec<u32>>,
    /// For each column and merged level, the original levels with their weights: estimates of their counts.
    pub(crate) originals: Vec<Vec<Vec<(u32, f64)>>>,
}

impl Merging {
    /// Merges levels within each column, here and in `answers` for all later questions. `alone` has the
    /// measured table of each column.
    ///
    /// Returns the merging, and these tables with merged levels.
    ///
    /// # Errors
    /// Same errors as [`Answers::merge`].
    pub(crate) fn ask(
        alone: &[Measured],
        grids: impl Iterator<Item = Option<Grid>>,
        total: Option<f64>,
        answers: &mut dyn Answers,
    ) -> Result<(Self, Vec<Measured>)> {
        let merging = Self::from_measured(alone, grids, total);
        answers.merge(&merging.to)?;
        let measured = alone.iter().map(|table| merging.merge(table)).collect();
        Ok((merging, measured))
    }

    /// Merges levels within each column.
    ///
    /// - In a refined grid, neighbouring levels are merged into at most `merged` levels of about equal count.
    /// - In any other column, the levels whose noisy counts are below [`SIGNIFICANT`] standard deviations of
    ///   the noise become one level, the last. A column with only one such level keeps all its levels.
    ///
    /// `alone` has the noisy tables of single columns, and `total` is the number of records, if it is public.
    fn from_measured(
        alone: &[Measured],
        grids: impl Iterator<Item = Option<Grid>>,
        total: Option<f64>,
    ) -> Self {
        let column = |(table, grid): (&Measured, Option<Grid>)| match grid {
            Some(grid @ Grid::Refined { merged }) => neighbours(&smoothed(table, grid, total), merged),
            _ => rare(table),
        };
        let originals: Vec<Vec<Vec<(u32, f64)>>> = alone.iter().zip(grids).map(column).collect();
        let to = alone.iter().zip(&originals).map(|(table, originals)| {
            let mut to = vec![0; table.counts.len()];
            for (merged, levels) in originals.iter().enumerate() {
                levels.iter().for_each(|(level, _)| to[*level as usize] = merged as u32);
            }
            to
        });
        Self { to: to.collect(), originals }
    }

    /// Number of merged levels of each column.
    pub(crate) fn levels(&self) -> Vec<usize> {
        self.originals.iter().map(Vec::len).collect()
    }

    /// Returns the table of one column with its levels merged. The stated variance is the median over the
    /// merged cells: a merged cell adds up the noise of its levels.
    fn merge(&self, table: &Measured) -> Measured {
        let originals = &self.originals[table.clique[0]];
        let counts: Vec<f64> = originals
            .iter()
            .map(|levels| levels.iter().map(|(level, _)| table.counts[*level as usize]).sum())
            .collect();
        let mut sizes: Vec<usize> = originals.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        let variance = table.variance * sizes[sizes.len() / 2] as f64;
        Measured { clique: table.clique.clone(), counts, variance }
    }
}

/// Merges the rare levels of a table of one column.
fn rare(table: &Measured) -> Vec<Vec<(u32, f64)>> {
    let is_rare = |count: f64| count < SIGNIFICANT * table.variance.sqrt();
    let some = table.counts.iter().filter(|count| is_rare(**count)).count() > 1;
    let levels = (0..).zip(table.counts.iter().map(|count| count.max(0.0)));
    let (rare, others): (Vec<_>, Vec<_>) = levels.partition(|(_, count)| some && is_rare(*count));
    others.into_iter().map(|level| vec![level]).chain((!rare.is_empty()).then_some(rare)).collect()
}

/// Merges neighbouring levels with these counts into at most `merged` levels of about equal count.
fn neighbours(counts: &[f64], merged: usize) -> Vec<Vec<(u32, f64)>> {
    let all: f64 = counts.iter().sum();
    // A level belongs to the quantile of its middle; an empty level, to that of its neighbour.
    let quantile = |middle: f64| ((middle / all * merged as f64) as usize).min(merged - 1);
    let mut before = 0.0;
    let places = counts.iter().map(|count| {
        before += count;
        (*count > 0.0).then(|| quantile(before - count / 2.0))
    });
    let places: Vec<Option<usize>> = places.collect();
    let mut place = places.iter().flatten().next().copied();
    let mut levels: BTreeMap<Option<usize>, Vec<(u32, f64)>> = BTreeMap::new();
    for (own, level) in places.into_iter().zip((0..).zip(counts.iter().copied())) {
        place = own.or(place);
        levels.entry(place).or_default().push(level);
    }
    levels.into_values().collect()
}

/// Returns non-negative counts with sum `total` for the levels of a noisy table of one column.
fn smoothed(table: &Measured, grid: Grid, total: Option<f64>) -> Vec<f64> {
    let widths: Vec<f64> = (0..table.counts.len()).map(|level| grid.width(level)).collect();
    let mut counts = table.counts.clone();
    let total = total.unwrap_or_else(|| counts.iter().sum());
    halve(&mut counts, &widths, table.variance, total.max(1.0));
    counts
}

/// Divides `total` between both halves of the levels, and then between both halves of each half.
///
/// The halves share the total as their widths do, unless their noisy counts differ significantly from these
/// shares. A half without a significant count is then empty. Single levels would instead keep the positive
/// part of their noise, and thus many empty levels a large spurious count.
fn halve(counts: &mut [f64], widths: &[f64], variance: f64, total: f64) {
    if let [count] = counts {
        *count = total;
    } else if !counts.is_empty() {
        let levels = counts.len();
        let (lower, upper) = counts.split_at_mut(levels / 2);
        let (lower_widths, upper_widths) = widths.split_at(levels / 2);
        let [below, above] = [&*lower, &*upper].map(|half| half.iter().sum::<f64>());
        let [narrow, wide] = [lower_widths, upper_widths].map(|half| half.iter().sum::<f64>());
        let least = SIGNIFICANT * (variance * levels as f64).sqrt() / 2.0;
        let (measured, even) = ((total + below - above) / 2.0, total * narrow / (narrow + wide));
        let first = match measured {
            _ if (measured - even).abs() < least => even,
            _ if measured < least => 0.0,
            _ if total - measured < least => total,
            _ => measured,
        };
        halve(lower, lower_widths, variance, first);
        halve(upper, upper_widths, variance, total - first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn merged(counts: &[f64], merged: usize) -> Vec<Vec<u32>> {
        let levels = neighbours(counts, merged).into_iter();
        levels.map(|levels| levels.into_iter().map(|(level, _)| level).collect()).collect()
    }

    #[test]
    fn neighbouring_levels_of_equal_count_become_one() {
        assert_eq!(merged(&[1.0; 8], 4), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        // A level with most of the records stays alone, and empty levels join a neighbour.
        assert_eq!(merged(&[0.0, 90.0, 0.0, 3.0, 3.0, 4.0, 0.0], 4), [vec![0, 1, 2], vec![3, 4, 5, 6]]);
    }

    /// Counts of 56 levels with noise of standard deviation 10, smoothed.
    fn noisy(exact: &[u64], stream: &mut scumble_core::Stream) -> Vec<f64> {
        let parts: Vec<u64> = exact.iter().map(|count| count * u64::from(scumble_core::PARTS)).collect();
        let counts = scumble_noise::CountNoise::with_scale(10.0).unwrap().add(&parts, stream);
        let table = Measured { clique: vec![0], counts, variance: 100.0 };
        let total = exact.iter().sum::<u64>() as f64;
        let smoothed = smoothed(&table, Grid::Refined { merged: 8 }, Some(total));
        assert_abs_diff_eq!(smoothed.iter().sum::<f64>(), total, epsilon = 1e-6);
        assert!(smoothed.iter().all(|count| *count >= 0.0));
        smoothed
    }

    #[test]
    fn empty_levels_keep_hardly_any_noise() {
        let mut stream = scumble_core::Randomness::seeded(1).streams().stream(0);
        let mut exact = [0; 56];
        exact[5] = 10_000;
        // The positive parts of the noise of 55 levels add up to 219 on average.
        let spurious: f64 = (0..200).map(|_| (10_000.0 - noisy(&exact, &mut stream)[5]) / 200.0).sum();
        assert!(spurious < 3.0, "{spurious}");
    }

    /// 300 records per part of equal width: about three standard deviations of the noise of half of the
    /// levels.
    #[test]
    fn a_uniform_column_stays_uniform() {
        let mut stream = scumble_core::Randomness::seeded(2).streams().stream(0);
        let grid = Grid::Refined { merged: 8 };
        let exact: Vec<u64> = (0..56).map(|level| (9600.0 * grid.width(level)).round() as u64).collect();
        for _ in 0..200 {
            let smoothed = noisy(&exact, &mut stream);
            let upper: f64 = smoothed[28..].iter().sum();
            assert!((upper - 4800.0).abs() < 160.0, "{upper}");
        }
    }
}
