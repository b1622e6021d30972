//! Grids: divisions of the range of a number into levels.

use serde::{Deserialize, Serialize};

/// Number of equal parts of a refined grid, and number of times that its first and last parts are halved.
const PARTS: usize = 32;
const HALVINGS: usize = 12;

/// Division of the range [0, 1] of a scaled number into levels.
///
/// Many columns of money or counts have most of their values near a bound. A grid of equal parts cannot
/// tell these values apart.
///
/// ```
/// use scumble_core::levels::Grid;
///
/// assert_eq!((Grid::Equal(4).level(0.7), Grid::Equal(4).levels()), (2, 4));
/// // A value of 0.001 and a value of 0.01 are in the first of 32 equal parts, and in different levels.
/// let refined = Grid::Refined { merged: 8 };
/// assert_eq!((refined.level(0.001), refined.level(0.01), refined.levels()), (8, 11, 56));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Grid {
    /// This number of levels of equal width.
    Equal(usize),
    /// 32 parts of equal width. The first and the last part are halved 12 times towards their bound, so the
    /// level next to a bound has the width 2⁻¹⁷.
    Refined {
        /// Number of levels that remain after a mechanism has merged neighbouring levels with few records.
        merged: usize,
    },
}

impl From<usize> for Grid {
    fn from(bins: usize) -> Self {
        Self::Equal(bins)
    }
}

impl Grid {
    /// Number of levels.
    pub fn levels(&self) -> usize {
        match self {
            Self::Equal(bins) => *bins,
            Self::Refined { .. } => PARTS + 2 * HALVINGS,
        }
    }

    /// Level of the scaled number `share` in [0, 1].
    pub fn level(&self, share: f64) -> usize {
        match self {
            // A float to integer cast saturates, so rounding cannot leave the levels.
            Self::Equal(bins) => ((share * *bins as f64) as usize).min(bins - 1),
            Self::Refined { .. } => {
                let last = self.levels() - 1;
                let (from_lower, from_upper) = (share * PARTS as f64, (1.0 - share) * PARTS as f64);
                // A lower end belongs to the level above it.
                let halvings = |count: f64| count.clamp(0.0, HALVINGS as f64) as usize;
                if from_lower < 1.0 {
                    HALVINGS - halvings((-from_lower.log2()).ceil() - 1.0)
                } else if from_upper <= 1.0 {
                    last - HALVINGS + halvings((-from_upper.log2()).floor())
                } else {
                    HALVINGS + (from_lower as usize).min(PARTS - 2)
                }
            }
        }
    }

    /// Lower and upper end of a level, as scaled numbers.
    pub(super) fn ends(&self, level: usize) -> [f64; 2] {
        match self {
            Self::Equal(bins) => [level, level + 1].map(|end| end as f64 / *bins as f64),
            Self::Refined { .. } => {
                let last = self.levels() - 1;
                // End of the levels in the first part, counted from the bound.
                let halved = |end: usize| match end {
                    0 => 0.0,
                    end => 2f64.powi(end as i32 - 1 - HALVINGS as i32) / PARTS as f64,
                };
                if level <= HALVINGS {
                    [halved(level), halved(level + 1)]
                } else if level >= last - HALVINGS {
                    [1.0 - halved(last - level + 1), 1.0 - halved(last - level)]
                } else {
                    [level, level + 1].map(|end| (end - HALVINGS) as f64 / PARTS as f64)
                }
            }
        }
    }

    /// Width of a level, as a fraction of the range.
    pub fn width(&self, level: usize) -> f64 {
        let [lower, upper] = self.ends(level);
        upper - lower
    }

    /// Scaled number at the relative position `through` in [0, 1) within a level.
    pub fn at(&self, level: usize, through: f64) -> f64 {
        let [lower, upper] = self.ends(level);
        match self {
            Self::Equal(bins) => (level as f64 + through) / *bins as f64,
            Self::Refined { .. } => lower + (upper - lower) * through,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_of_a_grid_divide_its_range() {
        for grid in [Grid::Equal(7), Grid::Refined { merged: 5 }] {
            let ends: Vec<[f64; 2]> = (0..grid.levels()).map(|level| grid.ends(level)).collect();
            assert_eq!((ends[0][0], ends[grid.levels() - 1][1]), (0.0, 1.0));
            assert!(
                ends.windows(2).all(|pair| pair[0][1] == pair[1][0] && pair[0][0] < pair[0][1]),
                "{ends:?}"
            );
            for level in 0..grid.levels() {
                for through in [0.0, 0.5, 0.99] {
                    assert_eq!(grid.level(grid.at(level, through)), level, "{grid:?}, {through}");
                }
            }
            assert_eq!((grid.level(0.0), grid.level(1.0)), (0, grid.levels() - 1));
        }
        let widths = [0, 1, 12, 13].map(|level| Grid::Refined { merged: 5 }.width(level) * 32.0);
        assert_eq!(widths, [2f64.powi(-12), 2f64.powi(-12), 0.5, 1.0]);
    }
}
