//! Tables of noisy counts of records by the levels of columns.

use super::Attribute;

/// Noisy counts of records by the levels of a few columns together.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedTable {
    /// Indices of the columns among the factors of the flat domain (features, then target).
    pub columns: Vec<usize>,
    /// Levels of each column.
    pub levels: Vec<Vec<CountedLevel>>,
    /// A count for each combination of levels, with independent noise; the level of the last column changes
    /// fastest.
    pub counts: Vec<f64>,
    /// Standard deviation of the noise of each count.
    pub deviation: f64,
    /// Fraction of the budget that the table spends alone: of μ², for μ-Gaussian differential privacy.
    pub share: f64,
    /// True if the sums over the [ends](CountedLevel::End) of the first column have the same noise as the
    /// counts of another table.
    pub repeats_groups: bool,
}

/// Values that a table counts as one level.
#[derive(Debug, Clone, PartialEq)]
pub enum CountedLevel {
    /// Numbers in these ranges, each with its two ends, in the unit of the flat domain.
    Numbers(Vec<[f64; 2]>),
    /// These levels of a category, counted from 0.
    Levels(Vec<usize>),
    /// A bound of a number, or the middle between its bounds, in the unit of the flat domain. A table has the
    /// two or all three as levels, in ascending order. A record with a number at the place x between the
    /// bounds, from 0 to 1, counts by 1 − x and x, or by (1 − x)², 2x(1 − x) and x².
    End(f64),
}

impl Attribute {
    /// Returns the values of these levels of the attribute, counted as one. Neighbouring ranges of a number
    /// are joined.
    pub fn counted(&self, levels: &[usize]) -> CountedLevel {
        let (Some(grid), Some((lower, upper))) = (self.grid(), self.bounds()) else {
            return CountedLevel::Levels(levels.to_vec());
        };
        let mut sorted = levels.to_vec();
        sorted.sort_unstable();
        let mut ranges: Vec<[f64; 2]> = vec![];
        let mut last = None;
        for level in sorted {
            let [from, to] = grid.ends(level).map(|end| lower + (upper - lower) * end);
            match ranges.last_mut() {
                Some(before) if last == level.checked_sub(1) => before[1] = to,
                _ => ranges.push([from, to]),
            }
            last = Some(level);
        }
        CountedLevel::Numbers(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_ranges_are_one() {
        let number = Attribute::number(0, 10.0, 20.0, 5);
        let ranges = |levels: &[usize]| number.counted(levels);
        assert_eq!(ranges(&[3, 0, 1]), CountedLevel::Numbers(vec![[10.0, 14.0], [16.0, 18.0]]));
        assert_eq!(ranges(&[4]), CountedLevel::Numbers(vec![[18.0, 20.0]]));
        assert_eq!(Attribute::category(0..3).counted(&[2, 0]), CountedLevel::Levels(vec![2, 0]));
    }
}
