//! What a result came to.

use super::Picture;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// What a result came to, and how.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What it says.
    #[serde(flatten)]
    pub claims: Claims,
    /// The numbers behind them.
    pub grids: Vec<Grid>,
    /// The chart.
    pub picture: Picture,
}

/// What a result says of its paper's claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    /// The result's name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// Where it comes from.
    pub paper: String,
    /// The version of this crate that ran it.
    pub version: String,
    /// Whether this is the quick variant.
    pub quick: bool,
    /// The random seed.
    pub seed: u64,
    /// How often draws were repeated; 1 where a single one is shown.
    pub trials: usize,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The paper's claims beside ours.
    pub findings: Vec<Finding>,
    /// What was decided where the paper leaves it open, and what is not as in the paper.
    pub notes: Vec<String>,
}

/// A report without what is the same for all.
pub(super) struct Evidence {
    pub trials: usize,
    pub findings: Vec<Finding>,
    pub grids: Vec<Grid>,
    pub notes: Vec<String>,
    pub picture: Picture,
}

/// A claim of the paper, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What is claimed.
    pub what: String,
    /// What the paper says.
    pub paper: String,
    /// What came out, in words.
    pub ours: String,
    /// The number behind the words, where there is one.
    pub value: Option<f64>,
    /// Whether the two agree.
    pub verdict: Agreement,
    /// Why they do not, or under what they do; may be empty.
    pub why: String,
}

/// Whether a claim was reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It was.
    Reproduced,
    /// What came out is better.
    Better,
    /// What came out is something else.
    Differs,
    /// It is a claim on privacy, and false: an attack or a counterexample that ran here does what it excludes, so that no run could
    /// reproduce it.
    Refuted,
}

impl fmt::Display for Agreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Reproduced => "reproduced",
            Self::Better => "better",
            Self::Differs => "differs",
            Self::Refuted => "refuted",
        })
    }
}

impl Agreement {
    /// Reproduced if `holds`, else something else.
    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Reproduced } else { Self::Differs }
    }

    /// Of what is claimed of privacy, and `holds` against what was tried here.
    pub(super) fn of_claim(holds: bool) -> Self {
        if holds { Self::Reproduced } else { Self::Refuted }
    }

    /// Of ours beside a paper's at several places, by how many standard errors it is ahead: better if it is so by over two at more places than it is behind by as much.
    pub(super) fn of_gains(gains: impl Iterator<Item = f64> + Clone) -> Self {
        let better = gains.clone().filter(|errors| *errors > 2.0).count();
        let worse = gains.filter(|errors| *errors < -2.0).count();
        match better.cmp(&worse) {
            Ordering::Greater => Self::Better,
            Ordering::Equal if worse == 0 => Self::Reproduced,
            _ => Self::Differs,
        }
    }
}

/// Numbers in rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grid {
    /// What they are.
    pub title: String,
    /// What each column has.
    pub header: Vec<String>,
    /// As many cells in each as the header has.
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

/// A number with four significant digits.
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
    fn what_a_claim_on_privacy_excludes_refutes_it() {
        let shown = [true, false].map(|holds| Agreement::of_claim(holds).to_string());
        assert_eq!(shown, ["reproduced", "refuted"]);
        assert_eq!(serde_json::to_string(&Agreement::of_claim(false)).unwrap(), "\"refuted\"");
    }

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 28.4127, 0.012_346, 123_456.7, 2e7, -1.0, 9.99999].map(four);
        assert_eq!(shown, ["0", "28.41", "0.01235", "123457", "2.000e7", "-1.000", "10.000"]);
    }
}
