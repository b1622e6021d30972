//! Exact counts: how many records have which levels of some columns together.

use rayon::prelude::*;
use std::collections::BTreeMap;

/// Columns that are counted together, by their places, in ascending order.
pub(crate) type Clique = Vec<usize>;

/// Tables of counts, one a clique; all that a mechanism ever learns of its records.
#[derive(Debug, Clone)]
pub(crate) struct Counts {
    levels: Vec<usize>,
    tables: BTreeMap<Clique, Vec<u64>>,
    records: u64,
}

/// Records, or cells, that one core goes through by itself.
const FEW: usize = 1 << 14;

impl Counts {
    /// Of no record yet. `levels` are those of each column.
    pub(crate) fn new(levels: Vec<usize>, cliques: impl IntoIterator<Item = Clique>) -> Self {
        let empty = |clique: Clique| {
            let cells = cells(&levels, &clique);
            (clique, vec![0; cells])
        };
        let tables = cliques.into_iter().map(empty).collect();
        Self { levels, tables, records: 0 }
    }

    /// Counts these records too: the levels of each column (m columns of n values).
    pub(crate) fn add(&mut self, columns: &[Vec<u32>]) {
        self.records += columns.first().map_or(0, Vec::len) as u64;
        let levels = &self.levels;
        let count = |(clique, table): (&Clique, &mut Vec<u64>)| match clique.as_slice() {
            [one] => columns[*one].iter().for_each(|level| table[*level as usize] += 1),
            [one, other] => {
                let width = levels[*other];
                let pairs = columns[*one].iter().zip(&columns[*other]);
                pairs.for_each(|(one, other)| table[*one as usize * width + *other as usize] += 1);
            }
            all => (0..columns.first().map_or(0, Vec::len)).for_each(|row| {
                let cell = all.iter().fold(0, |cell, &at| cell * levels[at] + columns[at][row] as usize);
                table[cell] += 1;
            }),
        };
        // A few are counted sooner than other cores are told of them.
        match columns.first().is_some_and(|column| column.len() >= FEW) {
            true => self.tables.par_iter_mut().for_each(count),
            false => self.tables.iter_mut().for_each(count),
        }
    }

    /// The counts of the same records where levels are taken together: `merged` has for each column the level that each of its levels becomes.
    pub(crate) fn merged(&self, merged: &[Vec<u32>]) -> Self {
        let levels: Vec<usize> =
            merged.iter().map(|to| to.iter().max().map_or(0, |last| *last as usize + 1)).collect();
        let of_table = |(clique, table): (&Clique, &Vec<u64>)| {
            let mut fewer = vec![0; cells(&levels, clique)];
            for (cell, count) in table.iter().enumerate() {
                let (mut rest, mut to, mut stride) = (cell, 0, 1);
                for &at in clique.iter().rev() {
                    to += merged[at][rest % self.levels[at]] as usize * stride;
                    stride *= levels[at];
                    rest /= self.levels[at];
                }
                fewer[to] += count;
            }
            (clique.clone(), fewer)
        };
        let tables = match self.tables.values().map(Vec::len).sum::<usize>() >= FEW {
            true => self.tables.par_iter().map(of_table).collect(),
            false => self.tables.iter().map(of_table).collect(),
        };
        Self { tables, levels, records: self.records }
    }

    /// How many records were counted.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The counts of a clique's cells, the last column's level changing fastest; none of one that is not counted.
    pub(crate) fn of(&self, clique: &Clique) -> &[u64] {
        self.tables.get(clique).map_or(&[], Vec::as_slice)
    }
}

/// The number of cells of a clique's table.
pub(crate) fn cells(levels: &[usize], clique: &[usize]) -> usize {
    clique.iter().map(|&at| levels[at]).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_in_one_cell_of_each_table() {
        let columns = [vec![0, 1, 1, 2], vec![1, 0, 0, 1], vec![0, 0, 3, 3]];
        let cliques = [vec![0], vec![0, 1], vec![0, 1, 2]];
        let mut counts = Counts::new(vec![3, 2, 4], cliques.clone());
        counts.add(&columns);
        counts.add(&[vec![2], vec![1], vec![3]]);
        assert_eq!(counts.of(&cliques[0]), [1, 2, 2]);
        assert_eq!(counts.of(&cliques[1]), [0, 1, 2, 0, 0, 2]);
        assert_eq!(counts.of(&cliques[2]).len(), 24);
        assert_eq!(counts.of(&cliques[2])[23], 2); // (2, 1, 3) is the last cell
        assert_eq!(counts.of(&cliques[2]).iter().sum::<u64>(), counts.records());
        assert!(counts.of(&vec![2]).is_empty());
        let merged = counts.merged(&[vec![0, 1, 1], vec![0, 1], vec![0, 0, 0, 1]]);
        assert_eq!(merged.of(&cliques[0]), [1, 4]);
        assert_eq!(merged.of(&cliques[1]), [0, 1, 2, 2]);
        assert_eq!(merged.of(&cliques[2]), [0, 0, 1, 0, 1, 1, 0, 2]);
    }
}
