//! Reports of results: claims, numbers and a chart.

use super::Picture;
use crate::rules::Decision;
use serde::{Deserialize, Serialize};

/// Report of one result.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The paper's claims and our findings.
    #[serde(flatten)]
    pub claims: Claims,
    /// The numbers behind the claims.
    pub grids: Vec<Grid>,
    /// The chart.
    pub picture: Picture,
}

/// Findings of a result about its paper's claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    /// The result's name.
    pub name: String,
    /// Description of the result in one line.
    pub about: String,
    /// The paper that contains the result.
    pub paper: String,
    /// Version of this crate that ran the result.
    pub version: String,
    /// True for the quick variant.
    pub quick: bool,
    /// The random seed.
    pub seed: u64,
    /// Number of repeated draws; 1 where the result shows a single draw.
    pub trials: usize,
    /// Duration of the run in seconds.
    pub seconds: f64,
    /// The paper's claims with our outcomes and verdicts.
    pub findings: Vec<Finding>,
    /// Decisions where the paper leaves a choice open, and differences from the paper.
    pub notes: Vec<String>,
}

/// A report without the fields that all reports share.
pub(super) struct Evidence {
    pub trials: usize,
    pub findings: Vec<Finding>,
    pub grids: Vec<Grid>,
    pub notes: Vec<String>,
    pub picture: Picture,
}

/// A claim of the paper, and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The claim.
    pub what: String,
    /// The paper's statement.
    pub paper: String,
    /// Our outcome in words.
    pub ours: String,
    /// The number behind the words, if any.
    pub value: Option<f64>,
    /// Verdict on the claim, and the rule that decided it.
    #[serde(flatten)]
    pub decision: Decision,
    /// The reason for a difference, or the condition of an agreement; may be empty.
    pub why: String,
}

/// A table of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grid {
    /// Title of the table.
    pub title: String,
    /// Column headings.
    pub header: Vec<String>,
    /// Rows, each with as many cells as the header.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    pub(super) fn new(
        title: impl Into<String>,
        header: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { title: title.into(), header, rows: rows.into_iter().collect() }
    }
}

/// Formats a number with four significant digits.
pub(super) fn four(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size @ 1e-3..1e6 => {
            let decimals = (3.0 - size.log10().floor()).max(0.0) as usize;
            format!("{value:.decimals$}")
        }
        _ => format!("{value:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 28.4127, 0.012_346, 123_456.7, 2e7, -1.0, 9.99999].map(four);
        assert_eq!(shown, ["0", "28.41", "0.01235", "123457", "2.000e7", "-1.000", "10.000"]);
    }
}
