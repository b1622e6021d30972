//! Counts that two servers add up from shares of people's records.

use super::Outcome;
use crate::{Randomness, Result, Stream};

/// Release that needs only noisy counts: for each of several tables, the number of people in each cell. A
/// person is in one cell of each table. Two servers can therefore compute the counts from shares of vectors
/// of zeros and ones, and neither sees a record.
///
/// Each server adds its own noise to its share of the sums. A server knows its own noise, so the noise of the
/// other server alone must suffice for the guarantee.
///
/// Noisy counts are whole numbers of *steps*. A count of 1 has [`steps`](Self::steps) steps.
pub trait SharedCounts: Sync {
    /// The tables, in the order of the counts.
    fn tables(&self) -> Vec<SharedTable>;

    /// Cell of each table that a person with this flat `record` (features, then target) is in.
    ///
    /// # Errors
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity,
    /// [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn cells(&self, record: &[f64]) -> Result<Vec<usize>>;

    /// Number of steps of a count of 1.
    fn steps(&self) -> u128;

    /// Draws the noise of one server on each count, in steps: the cells of one table after the other.
    ///
    /// # Errors
    /// [`Error::Budget`](crate::Error::Budget) if the budget has no such noise.
    fn noise(&self, stream: &mut Stream) -> Result<Vec<i128>>;

    /// Makes the release from the noisy counts of `people` people, in steps, with the noise of both servers.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if there is not one count for each cell.
    fn release(&self, counts: &[i128], people: u64, randomness: &mut Randomness) -> Result<Outcome>;
}

/// Table of [`SharedCounts`]. Its cells are ordered by levels, the level of the last column changing fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTable {
    /// Indices of the columns, among the features and the target.
    pub columns: Vec<usize>,
    /// Number of levels of each column.
    pub levels: Vec<usize>,
}

impl SharedTable {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.levels.iter().product()
    }

    /// Returns whether the table has no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Level of the column at `place` among the table's columns, in each cell.
    pub fn level_of_cells(&self, place: usize) -> impl Iterator<Item = usize> {
        let stride: usize = self.levels[place + 1..].iter().product();
        let levels = self.levels[place];
        (0..self.len()).map(move |cell| cell / stride % levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_changes_fastest() {
        let table = SharedTable { columns: vec![0, 4, 7], levels: vec![2, 3, 2] };
        let levels = |place| table.level_of_cells(place).collect::<Vec<_>>();
        assert_eq!(levels(0), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(levels(1), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
        assert_eq!(levels(2), [0, 1].repeat(6));
        assert!(!table.is_empty());
    }
}
