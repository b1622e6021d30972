//! Records drawn from noisy tables of pairs of columns. The pairs form a tree, which is chosen such that
//! paired columns depend strongly on each other.

use crate::answers::Answers;
use crate::columns::Columns;
use crate::counts::{Clique, Counts, Pairs, TablePlan};
use crate::curator::{Common, Curator, State, example};
use crate::merging::Merging;
use crate::program::{Answered, Program};
use crate::residuals::Residuals;
use crate::scores;
use scumble_core::levels::draw;
use scumble_core::{Brief, Descriptor, Output, Result, register};
use serde::{Deserialize, Serialize};

const NAME: &str = "mst";

/// Fraction of the budget for the tables of single columns. [`CHOICES_SHARE`] is for the choices of pairs,
/// and [`PAIRS_SHARE`] for the tables of pairs. The budget is μ², for the parameter μ of Gaussian
/// differential privacy.
const COLUMNS_SHARE: f64 = 0.2;
const CHOICES_SHARE: f64 = 0.2;
const PAIRS_SHARE: f64 = 0.6;

/// The [`Program`] of the mechanism: tables of single columns, and of the pairs of a spanning tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tree {}

impl Program for Tree {
    const NAME: &'static str = NAME;
    const CHOOSES: bool = true;

    fn merges(&self) -> bool {
        true
    }

    fn check(&self, _columns: &Columns) -> Result<()> {
        Ok(())
    }

    fn tables(&self, columns: &Columns) -> TablePlan {
        let pairs = Some(Pairs { columns: columns.len(), with: None });
        TablePlan { cliques: (0..columns.len()).map(|at| vec![at]).collect(), pairs }
    }

    fn ask(&self, columns: &Columns, total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered> {
        let count = columns.len();
        let edges = count.saturating_sub(1);
        // A single column has no pair, so its table gets the whole budget.
        let column_share = if edges == 0 { 1.0 } else { COLUMNS_SHARE } / count as f64;
        let alone =
            (0..count).map(|at| answers.measure(&vec![at], column_share)).collect::<Result<Vec<_>>>()?;
        let (merging, mut measured) = Merging::ask(&alone, columns.grids(), total, answers)?;
        let levels = merging.levels();
        let estimate = Residuals::from_measured(&levels, &measured, total)?;
        let shares = shares(&estimate, &levels);
        let score = |counts: &Counts, (one, other): (usize, usize)| {
            let independent =
                shares[one].iter().flat_map(|share| shares[other].iter().map(move |second| share * second));
            let independent = independent.map(|share| share * estimate.total());
            scores::distance(counts.cells(&[one, other]), independent, 0.0)
        };
        let tree = answers.span(CHOICES_SHARE / edges.max(1) as f64, count, &score)?;
        let chosen: Vec<Clique> = tree.into_iter().map(|(one, other)| vec![one, other]).collect();
        for clique in &chosen {
            measured.push(answers.measure(clique, PAIRS_SHARE / edges as f64)?);
        }
        Ok(Answered { levels, measured, cliques: chosen, merged: merging.originals })
    }
}

/// Returns the estimated fraction of the records at each level of each column; negative estimates become
/// zero.
fn shares(estimate: &Residuals<'_>, levels: &[usize]) -> Vec<Vec<f64>> {
    let column_shares = |at: usize| draw::shares(estimate.table(&[at]));
    (0..levels.len()).map(column_shares).collect()
}

fn learn(common: Common, brief: &Brief) -> Result<State<Tree>> {
    let pairs = brief.domain.flat().factors().count().saturating_sub(1).max(1);
    State::learn(common, brief, PAIRS_SHARE / pairs as f64, Tree {})
}

register! {
    /// MST (McKenna, Miklau and Sheldon 2021): noisy tables of single columns and of the pairs of a spanning
    /// tree.
    ///
    /// The exponential mechanism chooses the pairs of the tree. The score of a pair is the ℓ₁ distance of its
    /// counts from the counts that two independent columns would have. First, the levels of a category whose
    /// noisy counts are below three standard deviations of the noise are merged into one. A number without
    /// explicit bins has levels that get narrower towards its bounds; neighbouring levels are merged into
    /// levels of about equal count, and a released number is drawn in one of the narrow levels. The tables
    /// are made consistent by least squares in closed form, and records are drawn along the tree. The target
    /// is treated like any other column.
    ///
    /// Unlike in the paper, one privacy profile accounts for noise and choices. Choices are sampled exactly,
    /// because scores are whole numbers.
    pub const MST = {
        name: NAME,
        summary: "records drawn along a tree of dependent columns, from noisy tables of the tree's pairs",
        paper: "McKenna, Miklau and Sheldon, Winning the NIST contest: a scalable and general approach to \
                differentially private synthetic data (2021)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Common,
        learn: learn,
        curator: Curator::try_from,
        example: example,
    };
}
