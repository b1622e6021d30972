//! Records from noisy tables along a tree of columns, which is chosen by how they go together.

use crate::answers::Answers;
use crate::columns::Columns;
use crate::counts::{Clique, Counts, Pairs, Wanted};
use crate::curator::{Common, Curator, State, example};
use crate::program::{Answered, Program};
use crate::residuals::{Measured, Residuals};
use crate::scores;
use scumble_core::levels::draw;
use scumble_core::{Brief, Descriptor, Output, Result, register};
use serde::{Deserialize, Serialize};

const NAME: &str = "mst";

/// What of μ² goes into the tables of single columns, the choice of pairs, and the pairs' tables.
const OF_COLUMNS: f64 = 0.2;
const OF_CHOICES: f64 = 0.2;
const OF_PAIRS: f64 = 0.6;

/// Levels whose noisy count is below so many σ are taken together.
const RARE: f64 = 3.0;

/// All columns along a tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tree {}

impl Program for Tree {
    const NAME: &'static str = NAME;
    const CHOOSES: bool = true;

    fn check(&self, _columns: &Columns) -> Result<()> {
        Ok(())
    }

    fn tables(&self, columns: &Columns) -> Wanted {
        let pairs = Some(Pairs { of: columns.len(), with: None });
        Wanted { cliques: (0..columns.len()).map(|at| vec![at]).collect(), pairs }
    }

    fn ask(&self, columns: &Columns, total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered> {
        let count = columns.len();
        let edges = count.saturating_sub(1);
        // One column has no pair: all goes into its table.
        let of_columns = if edges == 0 { 1.0 } else { OF_COLUMNS } / count as f64;
        let alone =
            (0..count).map(|at| answers.measure(&vec![at], of_columns)).collect::<Result<Vec<_>>>()?;
        let merging = Merging::of(&alone);
        answers.merge(&merging.to)?;
        let levels = merging.levels();
        let mut measured: Vec<Measured> = alone.iter().map(|table| merging.merge(table)).collect();
        let estimate = Residuals::of(&levels, &measured, total)?;
        let shares = shares(&estimate, &levels);
        let score = |counts: &Counts, (one, other): (usize, usize)| {
            let apart = shares[one].iter().flat_map(|share| shares[other].iter().map(move |of| share * of));
            let apart = apart.map(|share| share * estimate.total());
            scores::distance(counts.of(&[one, other]), apart, 0.0)
        };
        let tree = answers.span(OF_CHOICES / edges.max(1) as f64, count, &score)?;
        let chosen: Vec<Clique> = tree.into_iter().map(|(one, other)| vec![one, other]).collect();
        for clique in &chosen {
            measured.push(answers.measure(clique, OF_PAIRS / edges as f64)?);
        }
        Ok(Answered { levels, measured, cliques: chosen, merged: merging.apart })
    }
}

/// The estimated shares of the levels of each column, none below zero.
fn shares(estimate: &Residuals<'_>, levels: &[usize]) -> Vec<Vec<f64>> {
    let of_column = |at: usize| draw::shares(estimate.table(&[at]));
    (0..levels.len()).map(of_column).collect()
}

/// Levels that are taken together.
struct Merging {
    /// Of each column, the level that each of its levels becomes: the rare ones the last.
    to: Vec<Vec<u32>>,
    /// Of each column and each of those, the levels that it stands for with their shares.
    apart: Vec<Vec<Vec<(u32, f64)>>>,
}

impl Merging {
    /// By the noisy tables of single columns: a level that is rarer than the noise is taken together with the others that are. One by itself stays.
    fn of(alone: &[Measured]) -> Self {
        let of_column = |table: &Measured| {
            let least = RARE * table.variance.sqrt();
            let is_rare = |count: f64| count < least;
            let rare = table.counts.iter().filter(|count| is_rare(**count)).count();
            let mut apart: Vec<Vec<(u32, f64)>> = vec![];
            let mut of_rare = vec![];
            for (level, &count) in table.counts.iter().enumerate() {
                let own = (level as u32, count.max(0.0));
                if rare > 1 && is_rare(count) { of_rare.push(own) } else { apart.push(vec![own]) }
            }
            if !of_rare.is_empty() {
                apart.push(of_rare);
            }
            let mut to = vec![0; table.counts.len()];
            for (merged, levels) in apart.iter().enumerate() {
                levels.iter().for_each(|(level, _)| to[*level as usize] = merged as u32);
            }
            (to, apart)
        };
        let (to, apart) = alone.iter().map(of_column).unzip();
        Self { to, apart }
    }

    fn levels(&self) -> Vec<usize> {
        self.apart.iter().map(Vec::len).collect()
    }

    /// The table of one column with its levels taken together: a sum of some counts has their noise, which is taken for that of the largest sum.
    fn merge(&self, table: &Measured) -> Measured {
        let at = table.clique[0];
        let counts = self.apart[at]
            .iter()
            .map(|levels| levels.iter().map(|(level, _)| table.counts[*level as usize]).sum());
        Measured { clique: table.clique.clone(), counts: counts.collect(), variance: table.variance }
    }
}

fn learn(common: Common, brief: &Brief) -> Result<State<Tree>> {
    let pairs = brief.domain.flat().factors().count().saturating_sub(1).max(1);
    State::learn(common, brief, OF_PAIRS / pairs as f64, Tree {})
}

register! {
    /// MST (McKenna, Miklau and Sheldon 2021): noisy tables of single columns, a spanning tree of pairs that is chosen by the exponential mechanism, noisy tables of its pairs.
    ///
    /// A pair scores by how far its counts are from what its columns alone say, in ℓ₁; levels that are rarer than the noise are taken together first. The tables are made consistent by least
    /// squares in closed form, and records are drawn along the tree. The target is a column like the others.
    ///
    /// Other than in the paper, noise and choices are accounted by one privacy profile, and choices are exact: scores are whole numbers.
    pub const MST = {
        name: NAME,
        summary: "records drawn along a tree of columns, chosen by how they go together, from noisy tables of its pairs",
        paper: "McKenna, Miklau and Sheldon, Winning the NIST contest: a scalable and general approach to differentially private synthetic data (2021)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Common,
        learn: learn,
        curator: Curator::try_from,
        example: example,
    };
}
