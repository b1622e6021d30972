//! Records from consistent tables, drawn clique by clique. A *clique* is the set of columns of one table. Its
//! *parent* is the earlier clique that contains all columns that it shares with any earlier clique. Its other
//! columns are *new*, and are drawn given the shared columns.

use crate::counts::Clique;
use crate::residuals::{Residuals, summed_to};
use ndarray::{ArrayD, IxDyn};
use scumble_core::levels::draw;
use scumble_core::{Result, Stream, interrupt};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Cliques in the order of a junction tree, from its root. All columns that a clique shares with earlier
/// cliques are in a single earlier clique.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    cliques: Vec<Step>,
}

/// A clique, its columns that earlier cliques contain, and its parent: the earlier clique that contains all
/// of these columns. Its new columns are in the order in which they are fitted: first those in most cliques,
/// such as the target.
#[derive(Debug, Clone)]
struct Step {
    clique: Clique,
    shared: Clique,
    new: Clique,
    parent: usize,
}

impl Step {
    /// Returns the positions in the clique of the columns that it shares with its parent, and of its new
    /// columns.
    fn split(&self) -> (Vec<usize>, Vec<usize>) {
        (places(&self.clique, &self.shared), places(&self.clique, &self.new))
    }
}

impl Order {
    /// Creates an order in which each column is a clique of its own.
    pub(crate) fn separate(columns: usize) -> Self {
        let step = |at: usize| Step { clique: vec![at], shared: vec![], new: vec![at], parent: 0 };
        Self { cliques: (0..columns).map(step).collect() }
    }

    /// Returns an order of `cliques` (each in ascending order), without cliques that are subsets of another
    /// clique.
    ///
    /// Returns `None` if no such order exists, for example for the three pairs of three columns.
    pub(crate) fn from_cliques<'c>(cliques: impl IntoIterator<Item = &'c Clique>) -> Option<Self> {
        let distinct: Vec<&Clique> = cliques.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        let mut having: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, clique) in distinct.iter().enumerate() {
            clique.iter().for_each(|column| having.entry(*column).or_default().push(at));
        }
        // A clique that contains another clique also contains the rarest column of the other clique.
        let is_held = |at: usize| match distinct[at]
            .iter()
            .map(|column| &having[column])
            .min_by_key(|owners| owners.len())
        {
            Some(rarest) => rarest.iter().any(|other| *other != at && holds(distinct[*other], distinct[at])),
            None => distinct.len() > 1,
        };
        // A maximum spanning tree by shared columns (Prim) is a junction tree if one exists.
        let mut nearest = vec![(0, 0); distinct.len()]; // number of shared columns, and the step with them
        let mut left: BTreeSet<(Reverse<usize>, usize)> =
            (0..distinct.len()).filter(|at| !is_held(*at)).map(|at| (Reverse(0), at)).collect();
        let mut steps: Vec<Step> = vec![];
        let mut covered = BTreeSet::new();
        while let Some((_, at)) = left.pop_first() {
            let (clique, parent) = (distinct[at].clone(), nearest[at].1);
            let (shared, mut new): (Clique, Clique) =
                clique.iter().partition(|column| covered.contains(*column));
            if steps.get(parent).is_some_and(|parent| !holds(&parent.clique, &shared)) {
                return None;
            }
            // Only cliques with one of the new columns can share more columns with this clique than with an
            // earlier one.
            for &other in new.iter().flat_map(|column| &having[column]) {
                let count = shared_columns(&clique, distinct[other]);
                if count > nearest[other].0 && left.remove(&(Reverse(nearest[other].0), other)) {
                    left.insert((Reverse(count), other));
                    nearest[other] = (count, steps.len());
                }
            }
            most_used_first(&mut new, |column| having[&column].len());
            covered.extend(new.iter().copied());
            steps.push(Step { clique, shared, new, parent });
        }
        Some(Self { cliques: steps })
    }

    /// Returns whether one of the cliques contains all of these columns.
    pub(crate) fn holds(&self, columns: &[usize]) -> bool {
        self.cliques.iter().any(|step| holds(&step.clique, columns))
    }
}

/// Sorts the columns of a table so that those in most tables come first. They have most information, and all
/// tables then have the same counts of a column that is in all of them, such as the target.
pub(crate) fn most_used_first(columns: &mut [usize], tables: impl Fn(usize) -> usize) {
    columns.sort_by_key(|&column| Reverse((tables(column), column)));
}

/// Number of columns that both cliques contain.
fn shared_columns(one: &[usize], other: &[usize]) -> usize {
    let (mut count, mut rest) = (0, other);
    for column in one {
        let at = rest.partition_point(|candidate| candidate < column);
        rest = &rest[at..];
        count += usize::from(rest.first() == Some(column));
    }
    count
}

fn holds(outer: &[usize], inner: &[usize]) -> bool {
    inner.len() <= outer.len() && shared_columns(inner, outer) == inner.len()
}

/// Model from which the levels of columns are drawn, clique by clique.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    order: Order,
    /// Non-negative counts of each clique's table. Summed over the columns that the clique does not share
    /// with its parent, they equal the parent's counts of the shared columns.
    tables: Vec<ArrayD<f64>>,
    levels: Vec<usize>,
}

impl Network {
    /// Fits non-negative counts to the tables that `residuals` estimates: clique by clique, each within the
    /// counts of the columns that it shares with its parent.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn fit(levels: &[usize], order: Order, residuals: &Residuals<'_>) -> Result<Self> {
        let mut tables: Vec<ArrayD<f64>> = Vec::with_capacity(order.cliques.len());
        for step in &order.cliques {
            interrupt::check()?;
            let counts = match tables.get(step.parent) {
                Some(parent) => {
                    let kept = places(&order.cliques[step.parent].clique, &step.shared);
                    let counts: Vec<f64> = parent.iter().copied().collect();
                    summed_to(&counts, parent.shape(), &kept).0
                }
                None => vec![residuals.total().max(0.0)],
            };
            let table = fitted(residuals, &step.shared, counts, &step.new);
            tables.push(table);
        }
        Ok(Self { order, tables, levels: levels.to_vec() })
    }

    /// Number of records in the tables.
    pub(crate) fn total(&self) -> f64 {
        self.tables.first().map_or(0.0, ArrayD::sum)
    }

    /// Draws the levels of `records` records (columns of `records` values each), in proportion to the counts
    /// of the tables.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn draw(&self, records: usize, stream: &mut Stream) -> Result<Vec<Vec<u32>>> {
        let mut columns = vec![vec![0; records]; self.levels.len()];
        for (step, table) in self.order.cliques.iter().zip(&self.tables) {
            interrupt::check()?;
            let (shared, new) = step.split();
            let size = |places: &[usize]| places.iter().map(|&at| self.levels[step.clique[at]]).product();
            let groups: usize = size(&shared);
            let group = |row: usize| {
                step.shared.iter().fold(0, |cell, &at| cell * self.levels[at] + columns[at][row] as usize)
            };
            let mut rows: Vec<Vec<usize>> = vec![vec![]; groups];
            (0..records).for_each(|row| rows[group(row)].push(row));
            let by_group = grouped(table, &shared, &new);
            let all_shares: Vec<f64> = summed(&by_group, size(&new));
            for (rows, shares) in rows.iter().zip(by_group.chunks(size(&new).max(1))) {
                // If all counts of a group are zero, its records are drawn in proportion to the summed counts
                // of all groups.
                let shares = if shares.iter().sum::<f64>() > 0.0 { shares } else { &all_shares };
                for (&row, mut cell) in rows.iter().zip(draw::levels(shares, rows.len(), stream)) {
                    for &at in new.iter().rev() {
                        let levels = self.levels[step.clique[at]];
                        columns[step.clique[at]][row] = (cell % levels) as u32;
                        cell /= levels;
                    }
                }
            }
        }
        Ok(columns)
    }
}

/// Fits the table of a clique whose columns `shared` have `counts` already, by adding the columns `new` one
/// by one. Within each cell of the columns before, the counts are the nearest non-negative ones to the table
/// that `residuals` estimates, and add up to the count of this cell.
///
/// The order prevents that rare levels gain records (see [`draw::to_simplex`]).
pub(crate) fn fitted(
    residuals: &Residuals<'_>,
    shared: &Clique,
    mut counts: Vec<f64>,
    new: &[usize],
) -> ArrayD<f64> {
    let mut table = ArrayD::zeros(IxDyn(&[]));
    let mut columns = shared.clone();
    for &column in new {
        let mut clique = columns.clone();
        clique.insert(clique.partition_point(|&other| other < column), column);
        let split = (places(&clique, &columns), places(&clique, &vec![column]));
        table = by_shared(split, &residuals.table(&clique), |cells, group| {
            draw::to_simplex(cells, counts[group]);
        });
        counts = table.iter().copied().collect();
        columns = clique;
    }
    table
}

/// Returns the position of each of `columns` in `clique`.
fn places(clique: &Clique, columns: &Clique) -> Vec<usize> {
    columns.iter().filter_map(|column| clique.iter().position(|at| at == column)).collect()
}

/// Returns the table's values, with one group for each cell of the axes `shared`. A group has one value for
/// each cell of the axes `new`.
fn grouped(table: &ArrayD<f64>, shared: &[usize], new: &[usize]) -> Vec<f64> {
    let axes: Vec<usize> = shared.iter().chain(new).copied().collect();
    table.view().permuted_axes(IxDyn(&axes)).iter().copied().collect()
}

/// Adds up groups of `width` values, position by position.
fn summed(grouped: &[f64], width: usize) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    grouped.chunks(width.max(1)).for_each(|group| sum.iter_mut().zip(group).for_each(|(sum, x)| *sum += x));
    sum
}

/// Calls `change(values, cell)` for each cell of the axes `shared`. `values` are the values of the table in
/// this cell, for all cells of the axes `new`. Returns the changed table.
fn by_shared(
    (shared, new): (Vec<usize>, Vec<usize>),
    table: &ArrayD<f64>,
    change: impl Fn(&mut [f64], usize),
) -> ArrayD<f64> {
    let mut values = grouped(table, &shared, &new);
    let width: usize = new.iter().map(|&at| table.shape()[at]).product();
    values.chunks_mut(width.max(1)).enumerate().for_each(|(group, cells)| change(cells, group));
    let mut changed = table.clone();
    let axes: Vec<usize> = shared.iter().chain(&new).copied().collect();
    changed
        .view_mut()
        .permuted_axes(IxDyn(&axes))
        .iter_mut()
        .zip(values)
        .for_each(|(cell, value)| *cell = value);
    changed
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::residuals::Measured;
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;
    use scumble_core::Randomness;

    /// Sum of twelve uniform numbers less its mean; nearly normal, with variance 1.
    pub(crate) fn nearly_normal(stream: &mut Stream) -> f64 {
        (0..12).map(|_| draw::uniform(stream)).sum::<f64>() - 6.0
    }

    #[test]
    fn a_circle_of_pairs_has_no_order() {
        assert!(Order::from_cliques(&[vec![0, 1], vec![1, 2], vec![0, 2]]).is_none());
        assert!(Order::from_cliques(&[vec![0, 1], vec![1, 2], vec![2, 3], vec![4], vec![0]]).is_some());
        assert!(
            Order::from_cliques(&[vec![0, 1, 2], vec![1, 2], vec![0, 2, 3], vec![3, 4], vec![0, 1]])
                .is_some()
        );
    }

    /// Tests if `cliques` reduce to none by removing columns of one clique only, and cliques within others
    /// (Graham; Yu and Özsoyoğlu).
    fn reduces(cliques: &[Clique]) -> bool {
        let mut left: Vec<BTreeSet<usize>> =
            cliques.iter().map(|clique| clique.iter().copied().collect()).collect();
        loop {
            let before = left.clone();
            let has_one =
                |column: &usize| before.iter().filter(|clique| clique.contains(column)).count() == 1;
            left.iter_mut().for_each(|clique| clique.retain(|column| !has_one(column)));
            let held = (0..left.len())
                .find(|&at| (0..left.len()).any(|other| other != at && left[at].is_subset(&left[other])));
            held.map(|at| left.swap_remove(at));
            if left == before {
                return left.iter().all(BTreeSet::is_empty);
            }
        }
    }

    proptest! {
        #[test]
        fn cliques_have_an_order_where_they_reduce_to_none(
            cliques in prop::collection::vec(prop::collection::btree_set(0usize..7, 1..4), 1..8),
        ) {
            let cliques: Vec<Clique> =
                cliques.into_iter().map(|clique| clique.into_iter().collect()).collect();
            let order = Order::from_cliques(&cliques);
            prop_assert_eq!(order.is_some(), reduces(&cliques));
            let mut covered = BTreeSet::new();
            for (at, step) in order.iter().flat_map(|order| order.cliques.iter().enumerate()) {
                let before: Clique =
                    step.clique.iter().copied().filter(|column| covered.contains(column)).collect();
                prop_assert_eq!(&before, &step.shared);
                prop_assert!(at == 0 || holds(&order.as_ref().unwrap().cliques[step.parent].clique, &before));
                covered.extend(step.clique.iter().copied());
            }
            prop_assert!(order.is_none() || cliques.iter().flatten().all(|column| covered.contains(column)));
        }
    }

    /// A quadratic number of steps would be 10¹⁰, a cubic one 10¹⁵.
    #[test]
    fn many_columns_with_one_target_have_an_order() {
        const COLUMNS: usize = 100_000;
        let star: Vec<Clique> = (0..COLUMNS).map(|at| vec![at, COLUMNS]).collect();
        assert_eq!(Order::from_cliques(&star).unwrap().cliques.len(), COLUMNS);
        let chain: Vec<Clique> = (0..COLUMNS).flat_map(|at| [vec![at], vec![at, at + 1]]).collect();
        assert_eq!(Order::from_cliques(&chain).unwrap().cliques.len(), COLUMNS);
    }

    /// Without noise, all shares of the tables are reproduced, to whole records.
    #[test]
    fn records_have_the_shares_of_the_tables() {
        let levels = [2, 3, 2];
        let pair = [100.0, 200.0, 0.0, 300.0, 0.0, 400.0];
        // The middle column's sums are 400, 200 and 400.
        let other = [250.0, 150.0, 0.0, 200.0, 400.0, 0.0];
        let measured = [
            Measured { clique: vec![0, 1], counts: pair.to_vec(), variance: 1.0 },
            Measured { clique: vec![1, 2], counts: other.to_vec(), variance: 4.0 },
        ];
        let order = Order::from_cliques(&[vec![0, 1], vec![1, 2]]).unwrap();
        let residuals = Residuals::from_measured(&levels, &measured, None).unwrap();
        let network = Network::fit(&levels, order, &residuals).unwrap();
        assert_abs_diff_eq!(network.total(), 1000.0, epsilon = 1e-9);
        let drawn = network.draw(1000, &mut Randomness::seeded(1).streams().stream(0)).unwrap();
        let mut pair_counts = [0.0; 6];
        let mut other_counts = [0.0; 6];
        for row in 0..1000 {
            pair_counts[(drawn[0][row] * 3 + drawn[1][row]) as usize] += 1.0;
            other_counts[(drawn[1][row] * 2 + drawn[2][row]) as usize] += 1.0;
        }
        assert_eq!(pair_counts, pair);
        assert_eq!(other_counts, other);
    }

    /// Rare levels have many cells without records. The noise above zero in these cells must not add up to
    /// records of the rare levels.
    #[test]
    fn the_column_in_all_tables_has_the_nearest_shares_to_its_own_estimate() {
        let levels = [8, 6, 7, 9];
        let target = [9000.0, 700.0, 200.0, 60.0, 25.0, 10.0, 5.0, 0.0, 0.0];
        let mut stream = Randomness::seeded(5).streams().stream(0);
        let mut noise = || 6.0 * nearly_normal(&mut stream);
        let cliques = [vec![0, 1, 3], vec![1, 2, 3]];
        let measured = cliques.clone().map(|clique| {
            let cells: usize = clique[..2].iter().map(|&at| levels[at]).product();
            let counts =
                (0..cells).flat_map(|_| target.map(|count| count / cells as f64 + noise())).collect();
            Measured { clique, counts, variance: 36.0 }
        });
        let order = Order::from_cliques(&cliques).unwrap();
        let residuals = Residuals::from_measured(&levels, &measured, Some(10_000.0)).unwrap();
        let mut expected: Vec<f64> = residuals.table(&[3]).iter().copied().collect();
        draw::to_simplex(&mut expected, 10_000.0);
        let network = Network::fit(&levels, order, &residuals).unwrap();
        let drawn = network.draw(10_000, &mut Randomness::seeded(1).streams().stream(0)).unwrap();
        for (level, expected) in expected.iter().enumerate() {
            let found = drawn[3].iter().filter(|&&drawn| drawn as usize == level).count() as f64;
            assert!((found - expected).abs() <= 1.0, "level {level}: {found} records, not {expected}");
        }
        let mean =
            |shares: &[f64]| shares.iter().zip(0..).map(|(n, level)| n * f64::from(level)).sum::<f64>() / 1e4;
        assert!(
            (mean(&expected) / mean(&target) - 1.0).abs() < 0.15,
            "{} and {}",
            mean(&expected),
            mean(&target)
        );
    }
}
