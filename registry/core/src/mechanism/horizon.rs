//! Horizons of releases over time.

use serde::{Deserialize, Serialize};

/// Horizon of a series of releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Horizon {
    /// Number of periods, T.
    pub periods: usize,
    /// Largest number of periods in which a person has records, from 1 to T.
    pub periods_per_person: usize,
    /// True for correlated noise, which is small on running totals. Otherwise the noise of each period is
    /// independent, and smallest on the counts of single periods.
    pub is_correlated: bool,
}

impl Horizon {
    /// Largest number of periods.
    pub const MOST: usize = 10_000;

    /// Horizon of one period.
    pub const ONE: Self = Self { periods: 1, periods_per_person: 1, is_correlated: false };

    /// Returns whether the numbers are within their ranges.
    pub fn is_valid(self) -> bool {
        (1..=Self::MOST).contains(&self.periods) && (1..=self.periods).contains(&self.periods_per_person)
    }
}
