//! Exact counts of people by the levels of some columns together. A *clique* is the set of these columns. A
//! count is a whole number of parts, 1/[`PARTS`] each: a record that is a person's only one has all parts,
//! and several records of a person share them.

use rayon::prelude::*;
use scumble_core::{PARTS, Result, interrupt, size};
use std::collections::BTreeMap;
use std::ops::Range;

/// Columns that are counted together, by their indices in ascending order.
pub(crate) type Clique = Vec<usize>;

/// Tables that a mechanism may ask for. Their size is known before any of them is built.
#[derive(Debug, Clone, Default)]
pub(crate) struct TablePlan {
    /// Tables that the mechanism asks for regardless of the records.
    pub(crate) cliques: Vec<Clique>,
    /// Tables among which the mechanism chooses.
    pub(crate) pairs: Option<Pairs>,
}

impl TablePlan {
    /// Upper bound on the memory of a release, in bytes, without its records. `levels` has the number of
    /// levels of each column.
    ///
    /// A release holds the counts before and after levels are merged, a candidate for each pair of columns,
    /// and the residuals of each table. Residuals are the terms into which [`residuals`](crate::residuals)
    /// decomposes a table.
    fn bytes(&self, levels: &[usize]) -> u128 {
        const COUNT_BYTES: u128 = 2 * size_of::<u64>() as u128;
        /// Bytes of a candidate of a choice, with its score and weight.
        const CANDIDATE_BYTES: u128 = 40;
        /// Bytes per cell of a residual: the weighted sum and the estimate of its value. Each residual also
        /// takes `RESIDUAL_BYTES` for its entries in the maps of these two numbers.
        const CELL_BYTES: u128 = 16;
        const RESIDUAL_BYTES: u128 = 160;
        let clique_bytes = |clique: &Clique| {
            let product = |first: u128, more: usize| {
                clique.iter().fold(first, |product, &at| product.saturating_mul((levels[at] + more) as u128))
            };
            let residuals = clique.iter().fold(RESIDUAL_BYTES, |bytes, _| bytes.saturating_mul(2));
            product(COUNT_BYTES, 0).saturating_add(product(CELL_BYTES, 1)).saturating_add(residuals)
        };
        let cliques_bytes = self.cliques.iter().map(clique_bytes).fold(0, u128::saturating_add);
        let pairs_bytes = self.pairs.as_ref().map_or(0, |pairs| {
            let counts = pairs.cells(levels).saturating_mul(COUNT_BYTES);
            counts.saturating_add(pairs.len().saturating_mul(CANDIDATE_BYTES))
        });
        cliques_bytes.saturating_add(pairs_bytes)
    }

    /// Checks, before any table is built, that the memory suffices for all tables. `levels` has the number of
    /// levels of each column.
    ///
    /// # Errors
    /// [`Error::TooLarge`](scumble_core::Error::TooLarge) if the tables need too much memory.
    pub(crate) fn check(&self, plugin: &str, levels: &[usize]) -> Result<()> {
        let tables = self.cliques.len() as u128 + self.pairs.as_ref().map_or(0, Pairs::len);
        let asks =
            format!("counting {tables} tables of {} columns (fewer columns or bins need less)", levels.len());
        let bytes = usize::try_from(self.bytes(levels)).unwrap_or(usize::MAX);
        size::check_held(plugin, &asks, &[bytes], 1)
    }
}

/// All pairs of the first `columns` columns, each together with the column `with` if there is one.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    /// Number of columns that are paired.
    pub(crate) columns: usize,
    /// Index of a column, after the paired columns, that all tables contain.
    pub(crate) with: Option<usize>,
}

impl Pairs {
    /// Returns the columns of the table of a pair.
    pub(crate) fn clique(&self, one: usize, other: usize) -> Clique {
        [one, other].into_iter().chain(self.with).collect()
    }

    /// Number of pairs.
    fn len(&self) -> u128 {
        self.columns as u128 * (self.columns as u128).saturating_sub(1) / 2
    }

    /// Number of cells of all tables together.
    fn cells(&self, levels: &[usize]) -> u128 {
        let (mut sum, mut cells) = (0u128, 0u128);
        for &levels in &levels[..self.columns] {
            cells = cells.saturating_add(sum.saturating_mul(levels as u128));
            sum += levels as u128;
        }
        cells.saturating_mul(self.labels(levels) as u128)
    }

    /// Number of levels of the column `with`, or 1 without this column.
    fn labels(&self, levels: &[usize]) -> usize {
        self.with.map_or(1, |at| levels[at])
    }
}

/// Tables of all pairs in one vector. It has a row for each column: the tables of this column with each later
/// column.
#[derive(Debug, Clone)]
struct PairTables {
    pairs: Pairs,
    /// For each column, the total number of levels of the columns before it. The last value is the total of
    /// all columns.
    before: Vec<usize>,
    /// Start of each row in `cells`, and end of the last row. The row of a column has its tables with each
    /// later column.
    starts: Vec<usize>,
    cells: Vec<u64>,
}

impl PairTables {
    fn new(pairs: Pairs, levels: &[usize]) -> Self {
        let (mut before, mut starts) = (vec![0], vec![0]);
        for levels in &levels[..pairs.columns] {
            before.push(before[before.len() - 1] + levels);
        }
        for at in 0..pairs.columns {
            let behind = before[pairs.columns] - before[at + 1];
            starts.push(starts[at] + levels[at] * behind * pairs.labels(levels));
        }
        let cells = vec![0; starts[pairs.columns]];
        Self { pairs, before, starts, cells }
    }

    /// Range of the cells of a pair within the row of its first column `one`. The row has the tables of this
    /// column with each later column.
    fn within_row(&self, levels: &[usize], one: usize, other: usize) -> Range<usize> {
        let width = levels[one] * self.pairs.labels(levels);
        let start = (self.before[other] - self.before[one + 1]) * width;
        start..start + levels[other] * width
    }

    fn table(&self, levels: &[usize], one: usize, other: usize) -> &[u64] {
        &self.cells[self.starts[one]..][self.within_row(levels, one, other)]
    }

    /// Calls `change` with the columns and the cells of each pair's table, on all cores.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    fn for_each(&mut self, levels: &[usize], change: impl Fn(Clique, &mut [u64]) + Sync) -> Result<()> {
        let mut cells = std::mem::take(&mut self.cells);
        let (mut rows, mut left) = (vec![], cells.as_mut_slice());
        for ends in self.starts.windows(2) {
            let (row, behind) = left.split_at_mut(ends[1] - ends[0]);
            rows.push(row);
            left = behind;
        }
        let done = rows.into_par_iter().enumerate().try_for_each(|(one, row)| {
            for other in one + 1..self.pairs.columns {
                interrupt::check()?;
                change(self.pairs.clique(one, other), &mut row[self.within_row(levels, one, other)]);
            }
            Ok(())
        });
        self.cells = cells;
        done
    }
}

/// Tables of counts: all information that a mechanism has about its records.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    levels: Vec<usize>,
    tables: BTreeMap<Clique, Vec<u64>>,
    pairs: Option<PairTables>,
    parts: u64,
}

/// Number of records or cells below which one core does all the work.
const FEW: usize = 1 << 14;

impl Counts {
    /// Creates counts of zero records, for columns with `levels` levels.
    pub(crate) fn new(levels: Vec<usize>, plan: TablePlan) -> Self {
        let empty = |clique: Clique| {
            let cells = cells(&levels, &clique);
            (clique, vec![0; cells])
        };
        let tables = plan.cliques.into_iter().map(empty).collect();
        let pairs = plan.pairs.map(|pairs| PairTables::new(pairs, &levels));
        Self { tables, pairs, levels, parts: 0 }
    }

    /// Adds records to the counts. `columns` has one vector for each column, with the column's level in each
    /// record. `shares` has the parts of each record; `None` if each has all parts of a person.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn add(&mut self, columns: &[Vec<u32>], shares: Option<&[u16]>) -> Result<()> {
        let records = columns.first().map_or(0, Vec::len);
        let share = |row: usize| u64::from(shares.map_or(PARTS, |shares| shares[row]));
        self.parts += (0..records).map(share).sum::<u64>();
        let levels = &self.levels;
        let count = |clique: &[usize], table: &mut [u64]| match clique {
            [one] => {
                let rows = columns[*one].iter().enumerate();
                rows.for_each(|(row, level)| table[*level as usize] += share(row));
            }
            [one, other] => {
                let width = levels[*other];
                let pairs = columns[*one].iter().zip(&columns[*other]).enumerate();
                pairs.for_each(|(row, (one, other))| {
                    table[*one as usize * width + *other as usize] += share(row);
                });
            }
            all => (0..records).for_each(|row| {
                let cell = all.iter().fold(0, |cell, &at| cell * levels[at] + columns[at][row] as usize);
                table[cell] += share(row);
            }),
        };
        let count_one = |(clique, table): (&Clique, &mut Vec<u64>)| -> Result<()> {
            interrupt::check()?;
            count(clique, table);
            Ok(())
        };
        // For few records, one core is faster than distributing the work.
        match records >= FEW {
            true => self.tables.par_iter_mut().try_for_each(count_one)?,
            false => self.tables.iter_mut().try_for_each(count_one)?,
        }
        match &mut self.pairs {
            Some(pairs) => pairs.for_each(levels, |clique, table| count(&clique, table)),
            None => Ok(()),
        }
    }

    /// Returns the counts of the same records with merged levels. `merged[i][j]` is the merged level of level
    /// j of column i.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn merged(&self, merged: &[Vec<u32>]) -> Result<Self> {
        let levels: Vec<usize> =
            merged.iter().map(|to| to.iter().max().map_or(0, |last| *last as usize + 1)).collect();
        let add = |clique: &[usize], table: &[u64], fewer: &mut [u64]| {
            for (cell, count) in table.iter().enumerate() {
                let (mut rest, mut to, mut stride) = (cell, 0, 1);
                for &at in clique.iter().rev() {
                    to += merged[at][rest % self.levels[at]] as usize * stride;
                    stride *= levels[at];
                    rest /= self.levels[at];
                }
                fewer[to] += count;
            }
        };
        let merge_table = |(clique, table): (&Clique, &Vec<u64>)| {
            let mut fewer = vec![0; cells(&levels, clique)];
            add(clique, table, &mut fewer);
            (clique.clone(), fewer)
        };
        let tables = match self.tables.values().map(Vec::len).sum::<usize>() >= FEW {
            true => self.tables.par_iter().map(merge_table).collect(),
            false => self.tables.iter().map(merge_table).collect(),
        };
        let pairs = match &self.pairs {
            None => None,
            Some(whole) => {
                let mut pairs = PairTables::new(whole.pairs.clone(), &levels);
                pairs.for_each(&levels, |clique, fewer| {
                    add(&clique, whole.table(&self.levels, clique[0], clique[1]), fewer);
                })?;
                Some(pairs)
            }
        };
        Ok(Self { tables, pairs, levels, parts: self.parts })
    }

    /// Number of people counted.
    pub(crate) fn people(&self) -> u64 {
        self.parts.div_ceil(PARTS.into())
    }

    /// Returns the parts in each of a clique's cells, the last column's level changing fastest. The slice is
    /// empty for a clique that is not counted.
    pub(crate) fn cells(&self, clique: &[usize]) -> &[u64] {
        match (self.tables.get(clique), &self.pairs, clique) {
            (Some(table), ..) => table,
            (None, Some(pairs), &[one, other, ..])
                if one < other && other < pairs.pairs.columns && clique[2..].iter().eq(&pairs.pairs.with) =>
            {
                pairs.table(&self.levels, one, other)
            }
            _ => &[],
        }
    }
}

/// Number of cells of a clique's table.
pub(crate) fn cells(levels: &[usize], clique: &[usize]) -> usize {
    clique.iter().map(|&at| levels[at]).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(cliques: &[Clique]) -> TablePlan {
        TablePlan { cliques: cliques.to_vec(), pairs: None }
    }

    #[test]
    fn every_record_is_in_one_cell_of_each_table() {
        let columns = [vec![0, 1, 1, 2], vec![1, 0, 0, 1], vec![0, 0, 3, 3]];
        let cliques = [vec![0], vec![0, 1], vec![0, 1, 2]];
        let mut counts = Counts::new(vec![3, 2, 4], tables(&cliques));
        counts.add(&columns, None).unwrap();
        counts.add(&[vec![2], vec![1], vec![3]], None).unwrap();
        let cells = |counts: &Counts, clique: &Clique| {
            counts.cells(clique).iter().map(|parts| parts / u64::from(PARTS)).collect::<Vec<_>>()
        };
        assert_eq!(cells(&counts, &cliques[0]), [1, 2, 2]);
        assert_eq!(cells(&counts, &cliques[1]), [0, 1, 2, 0, 0, 2]);
        assert_eq!(cells(&counts, &cliques[2]).len(), 24);
        assert_eq!(cells(&counts, &cliques[2])[23], 2); // the last cell is (2, 1, 3)
        assert_eq!(cells(&counts, &cliques[2]).iter().sum::<u64>(), counts.people());
        assert!(counts.cells(&[2]).is_empty());
        let merged = counts.merged(&[vec![0, 1, 1], vec![0, 1], vec![0, 0, 0, 1]]).unwrap();
        assert_eq!(cells(&merged, &cliques[0]), [1, 4]);
        assert_eq!(cells(&merged, &cliques[1]), [0, 1, 2, 2]);
        assert_eq!(cells(&merged, &cliques[2]), [0, 0, 1, 0, 1, 1, 0, 2]);
    }

    #[test]
    fn the_tables_of_all_pairs_are_those_that_are_named() {
        let levels = [3u32, 2, 4, 2];
        let columns = levels.iter().map(|&levels| (0..50u32).map(|row| row * 7 % 11 % levels).collect());
        let columns: Vec<Vec<u32>> = columns.collect();
        let merged: Vec<Vec<u32>> = vec![vec![0, 1, 1], vec![0, 1], vec![1, 0, 2, 2], vec![0, 0]];
        for (paired, with) in [(4, None), (3, Some(3))] {
            let pairs = Pairs { columns: paired, with };
            let named: Vec<Clique> =
                crate::forest::pairs(0..paired).map(|(a, b)| pairs.clique(a, b)).collect();
            let levels: Vec<usize> = levels.iter().map(|levels| *levels as usize).collect();
            let cells: usize = named.iter().map(|clique| super::cells(&levels, clique)).sum();
            assert_eq!(pairs.cells(&levels), cells as u128);
            assert_eq!(pairs.len(), named.len() as u128);
            let all = TablePlan { cliques: vec![], pairs: Some(pairs) };
            let [mut one, mut other] = [all, tables(&named)].map(|plan| Counts::new(levels.clone(), plan));
            one.add(&columns, None).unwrap();
            other.add(&columns, None).unwrap();
            let [one_merged, other_merged] = [&one, &other].map(|counts| counts.merged(&merged).unwrap());
            for clique in &named {
                assert!(!one.cells(clique).is_empty());
                assert_eq!(one.cells(clique), other.cells(clique), "{clique:?}");
                assert_eq!(one_merged.cells(clique), other_merged.cells(clique), "{clique:?}");
            }
            assert!(
                one.cells(&[1, 0]).is_empty() && one.cells(&[0, 9]).is_empty() && one.cells(&[0]).is_empty()
            );
        }
    }

    /// A person's records share the parts of the person, in every table.
    #[test]
    fn records_of_a_person_count_as_their_shares() {
        let mut counts = Counts::new(vec![2, 2], tables(&[vec![0], vec![0, 1]]));
        counts.add(&[vec![0, 1, 1], vec![0, 0, 1]], Some(&[512, 512, 1024])).unwrap();
        assert_eq!(counts.cells(&[0]), [512, 1536]);
        assert_eq!(counts.cells(&[0, 1]), [512, 0, 512, 1024]);
        assert_eq!(counts.people(), 2);
    }
}
