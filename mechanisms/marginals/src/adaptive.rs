//! Records drawn from noisy tables of counts. The tables are chosen in rounds. Each round prefers a table
//! whose counts differ much from the estimate that the earlier tables give. The tables that may be measured
//! are called the *workload*.

use crate::answers::{Answers, LEAST_SHARE, Purse};
use crate::columns::Columns;
use crate::counts::{Clique, Counts, Pairs, TablePlan, cells};
use crate::curator::{Common, Curator, State, example};
use crate::forest::{Forest, pairs};
use crate::merging::Merging;
use crate::program::{Answered, Program};
use crate::residuals::{Measured, Residuals, summed_over};
use crate::scores;
use ndarray::{Array1, Array2, Ix2};
use rayon::prelude::*;
use schemars::JsonSchema;
use scumble_core::{Brief, Descriptor, Output, Result, TargetDomain, interrupt, register};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const NAME: &str = "adaptive-marginals";

/// Fraction of the budget for the initial tables, which are measured before the first round. The budget is
/// μ², for the parameter μ of Gaussian differential privacy.
const AT_FIRST: f64 = 0.5;
/// Fraction of a round's budget that the round spends to choose its table.
const CHOICE_SHARE: f64 = 0.1;
/// Number of rounds planned at the start, if there are enough tables. The budget that the initial tables
/// leave is divided equally among the planned rounds.
const ROUNDS: usize = 8;
/// Largest number of rounds planned for pairs of columns that may form a cycle. More than [`ROUNDS`] are
/// planned if the expected noise of a table is then at most [`MOST_NOISE`] of all records.
const MOST_ROUNDS: usize = 64;
const MOST_NOISE: f64 = 0.3;

/// Sets of columns whose joint tables of counts the mechanism may measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// The target with each feature, and the target with each pair of features.
    Target,
    /// Each single column, and each pair of columns.
    AllPairs,
}

/// The [`Program`] of the mechanism: rounds that each choose and measure one table of the workload.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rounds {
    workload: Workload,
}

impl Rounds {
    /// Returns the target if all tables of the workload contain it, and the columns from which the pairs of
    /// the workload are formed.
    fn parts(&self, columns: &Columns) -> (Option<usize>, Vec<usize>) {
        match self.workload {
            Workload::Target => (columns.label(), columns.features().collect()),
            Workload::AllPairs => (None, (0..columns.len()).collect()),
        }
    }
}

/// Returns `columns`, followed by `target` if it is given.
fn with(target: Option<usize>, columns: &[usize]) -> Clique {
    columns.iter().copied().chain(target).collect()
}

impl Program for Rounds {
    const NAME: &'static str = NAME;
    const CHOOSES: bool = true;

    fn merges(&self) -> bool {
        self.workload == Workload::AllPairs
    }

    fn check(&self, _columns: &Columns) -> Result<()> {
        Ok(())
    }

    fn tables(&self, columns: &Columns) -> TablePlan {
        let (with, others) = self.parts(columns);
        TablePlan { cliques: first(with, &others), pairs: Some(Pairs { columns: others.len(), with }) }
    }

    fn ask(&self, columns: &Columns, total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered> {
        let (target, others) = self.parts(columns);
        let first = first(target, &others);
        let mut measured = vec![];
        for clique in &first {
            measured.push(answers.measure(clique, AT_FIRST / first.len() as f64)?);
        }
        let (mut levels, mut originals) = (columns.levels(), vec![]);
        if self.merges() {
            let (merging, merged) = Merging::ask(&measured, columns.grids(), total, answers)?;
            (levels, measured, originals) = (merging.levels(), merged, merging.originals);
        }
        let mut residuals = Residuals::from_measured(&levels, &measured, total)?;
        let mut left = 1.0 - AT_FIRST;
        // Tables with a target must form a junction tree, because their columns share the target.
        let mut tree = Tree::new(columns.len());
        let mut unmeasured: Vec<(usize, usize)> = pairs(0..others.len()).collect();
        let mut rounds = match target {
            Some(_) => ROUNDS.min(others.len().saturating_sub(1)),
            None => affordable_rounds(&levels, residuals.total(), |cells, rounds| {
                expected_noise(answers.purse(), left / rounds as f64, cells)
            }),
        };
        while rounds > 0 {
            if target.is_some() {
                unmeasured.retain(|pair| !tree.forest.connects(*pair));
            }
            let share = left / rounds as f64;
            let purse = answers.purse().clone();
            let known = Known::from_residuals(&residuals, target, &others, &tree)?;
            let score = |counts: &Counts| {
                let table_score = |(one, other): &(usize, usize)| {
                    interrupt::check()?;
                    let clique = with(target, &[*one, *other]);
                    let noise = expected_noise(&purse, share, cells(&levels, &clique));
                    Ok(scores::distance(counts.cells(&clique), known.table(&clique), noise))
                };
                let none = rayon::iter::once(Ok(0));
                unmeasured.par_iter().map(table_score).chain(none).collect::<Result<Vec<i64>>>()
            };
            let choice = answers.select(share * CHOICE_SHARE, &score)?;
            left -= share * CHOICE_SHARE;
            if choice >= unmeasured.len() {
                break;
            }
            let pair = unmeasured.remove(choice);
            let clique = &with(target, &[pair.0, pair.1]);
            let table_share = share * (1.0 - CHOICE_SHARE);
            let table = answers.measure(clique, table_share)?;
            left -= table_share;
            let gained: f64 =
                known.table(clique).zip(&table.counts).map(|(known, now)| (known - now).abs()).sum();
            tree.add(pair);
            // If noise alone can explain the difference of the measured table from its estimate, half as many
            // rounds remain, each with twice the budget.
            let is_little = gained < 2.0 * expected_noise(&purse, share, cells(&levels, clique));
            rounds = (rounds - 1).min(unmeasured.len());
            rounds = if is_little { rounds.div_ceil(2) } else { rounds };
            residuals.add(&table)?;
            measured.push(table);
        }
        measured.extend(again(&first, left, answers)?);
        let added = tree.pairs.iter().map(|(one, other)| with(target, &[*one, *other]));
        let cliques = added.chain(first).collect();
        Ok(Answered { levels, measured, cliques, merged: originals })
    }
}

/// Expected sum of |noise| of a table with `cells` cells, in a round that spends `share` of the budget.
fn expected_noise(purse: &Purse, share: f64, cells: usize) -> f64 {
    scores::expected_noise(purse.deviation(share * (1.0 - CHOICE_SHARE)), cells)
}

/// Returns the number of rounds for pairs of columns with `levels` levels.
///
/// It is at most [`MOST_ROUNDS`]. It is more than [`ROUNDS`] only if the noise of every table is small beside
/// the `total` count. `noise` returns the expected noise of a table, from its cells and the number of rounds.
fn affordable_rounds(levels: &[usize], total: f64, noise: impl Fn(usize, usize) -> f64) -> usize {
    let mut widest = levels.to_vec();
    widest.sort_unstable_by_key(|levels| Reverse(*levels));
    let cells = widest.iter().take(2).product();
    let least = ROUNDS.min(levels.len().saturating_sub(1));
    let most = MOST_ROUNDS.min(levels.len() * levels.len().saturating_sub(1) / 2);
    let is_small = |rounds: &usize| noise(cells, *rounds) <= MOST_NOISE * total;
    (least + 1..=most).rev().find(is_small).unwrap_or(least)
}

/// Measured pairs that form no cycle.
struct Tree {
    forest: Forest,
    pairs: Vec<(usize, usize)>,
}

impl Tree {
    fn new(columns: usize) -> Self {
        Self { forest: Forest::new(columns), pairs: vec![] }
    }

    /// Adds a pair, unless it closes a cycle.
    fn add(&mut self, pair: (usize, usize)) {
        if !self.forest.connects(pair) {
            self.forest.add(pair);
            self.pairs.push(pair);
        }
    }

    /// Returns the columns that form a pair with `column`.
    fn neighbours(&self, column: usize) -> impl Iterator<Item = usize> {
        self.pairs.iter().filter_map(move |&(one, other)| match (one == column, other == column) {
            (true, _) => Some(other),
            (_, true) => Some(one),
            _ => None,
        })
    }
}

/// Returns the columns of each initial table: one of `others`, and `target` if it is given.
fn first(target: Option<usize>, others: &[usize]) -> Vec<Clique> {
    match others {
        [] => target.map(|target| vec![target]).into_iter().collect(),
        _ => others.iter().map(|&at| with(target, &[at])).collect(),
    }
}

/// Measures the table of each clique (set of columns) in `cliques` once more, and divides `left`, the
/// remaining fraction of the budget, equally among them.
fn again(cliques: &[Clique], left: f64, answers: &mut dyn Answers) -> Result<Vec<Measured>> {
    let share = left / cliques.len().max(1) as f64;
    if share <= LEAST_SHARE {
        return Ok(vec![]);
    }
    cliques.iter().map(|clique| answers.measure(clique, share)).collect()
}

/// Current estimates of joint tables of counts. In a table, the level of the last column changes fastest.
struct Known {
    /// Table of each column and the target.
    columns: BTreeMap<usize, ColumnCounts>,
    /// Tables of the pairs that measured pairs connect, without a target.
    connected: PairTables,
}

/// Tables of pairs of columns, by the indices of the columns.
type PairTables = BTreeMap<(usize, usize), Array2<f64>>;

struct ColumnCounts {
    counts: Vec<f64>,
    /// Estimated number of records at each level of the target; the number of all records if there is no
    /// target.
    target_counts: Vec<f64>,
}

impl Known {
    /// Estimates the tables of `columns`. `tree` has the measured pairs.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    fn from_residuals(
        residuals: &Residuals,
        target: Option<usize>,
        columns: &[usize],
        tree: &Tree,
    ) -> Result<Self> {
        let column_counts = |column: usize| {
            let table = residuals.table(&with(target, &[column])).mapv_into(|count| count.max(0.0));
            let counts: Vec<f64> = table.iter().copied().collect();
            let mut target_counts = summed_over(&counts, table.shape(), 0);
            target_counts.iter_mut().filter(|count| **count <= 0.0).for_each(|count| *count = 1.0);
            ColumnCounts { counts, target_counts }
        };
        let connected = |column: &usize| match target {
            Some(_) => Ok(PairTables::new()),
            None => connected(residuals, *column, tree),
        };
        let connected = columns.par_iter().map(connected).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            columns: columns.iter().map(|&column| (column, column_counts(column))).collect(),
            connected: connected.into_iter().flatten().collect(),
        })
    }

    /// Returns the counts of the table of `clique` (two columns and the target). Columns that no measured
    /// pair connects count as independent given the target.
    fn table(&self, clique: &Clique) -> impl Iterator<Item = f64> {
        let [one, other] = [0, 1].map(|at| &self.columns[&clique[at]]);
        let labels = one.target_counts.len().max(1);
        let connected = self.connected.get(&(clique[0], clique[1]));
        let independent = connected.is_none().then(|| {
            one.counts.chunks(labels).flat_map(move |one_row| {
                other.counts.chunks(labels).flat_map(move |other_row| {
                    let pairs = one_row.iter().zip(other_row).zip(&one.target_counts);
                    pairs.map(|((one, other), target_count)| one * other / target_count)
                })
            })
        });
        connected.into_iter().flatten().copied().chain(independent.into_iter().flatten())
    }
}

/// Returns the table of `column` with each later column that measured pairs connect with it, as the model
/// along the tree of these pairs implies it.
///
/// # Errors
/// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
fn connected(residuals: &Residuals, column: usize, tree: &Tree) -> Result<PairTables> {
    let alone = residuals.table(&[column]).mapv_into(|count| count.max(0.0));
    let itself = Array2::from_diag(&alone.into_iter().collect::<Array1<f64>>());
    let (mut found, mut open) = (PairTables::new(), vec![(column, column, itself)]);
    while let Some((before, at, joint)) = open.pop() {
        interrupt::check()?;
        for next in tree.neighbours(at).filter(|next| *next != before) {
            let pair = residuals.table(&[at.min(next), at.max(next)]).mapv_into(|count| count.max(0.0));
            let Ok(pair) = pair.into_dimensionality::<Ix2>() else { continue };
            let mut given = if at < next { pair } else { pair.reversed_axes() };
            for mut row in given.rows_mut() {
                let sum = row.sum();
                row.mapv_inplace(|count| if sum > 0.0 { count / sum } else { 0.0 });
            }
            open.push((at, next, joint.dot(&given)));
        }
        if at > column {
            found.insert((column, at), joint);
        }
    }
    Ok(found)
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Columns measured together: features with the "target" (the default if there is a target), or
    /// "all-pairs" of columns.
    workload: Option<Workload>,
    #[serde(flatten)]
    common: Common,
}

fn learn(parameters: Parameters, brief: &Brief) -> Result<State<Rounds>> {
    let Parameters { workload, common } = parameters;
    let by_default = match brief.domain.target() {
        TargetDomain::None => Workload::AllPairs,
        _ => Workload::Target,
    };
    let workload = workload.unwrap_or(by_default);
    let columns = brief.domain.flat().factors().count();
    let share = match workload {
        Workload::Target => AT_FIRST / columns.max(1) as f64,
        Workload::AllPairs => (1.0 - AT_FIRST) / ROUNDS.min(columns).max(1) as f64,
    };
    State::learn(common, brief, share, Rounds { workload })
}

register! {
    /// Rounds of choosing and measuring tables, after AIM (McKenna, Mullins, Sheldon and Miklau 2022).
    ///
    /// The choice of the tables depends on the records. A table is preferred if its counts differ from their
    /// current estimate by more than its expected noise. With the workload `target`, the mechanism starts
    /// from each feature's table with the target, and each round adds the table of two features and the
    /// target. With `all-pairs`, it starts from each column's table, and each round adds the table of two
    /// columns. In this workload, levels are first merged as in [`MST`](crate::MST). The exponential
    /// mechanism scores a table by the ℓ₁ distance of its counts from the current estimate, less the table's
    /// expected noise. The choice may also be no table; the remaining budget then measures the initial tables
    /// again. If noise alone can explain the difference of a new table from the estimate, the number of
    /// remaining rounds is halved. Each remaining round then gets more budget.
    ///
    /// With `target`, the pairs of columns of the added tables form no cycle. All tables together therefore
    /// form a junction tree, whose cliques have at most two columns and the target. Estimates are in closed
    /// form, and memory is bounded. With `all-pairs`, the pairs may form cycles. Records are then drawn along
    /// a tree of pairs first, and moved until every measured table is met as far as possible (gradual update
    /// of PrivSyn). AIM itself may also add tables of more columns, and it estimates by gradient descent.
    pub const ADAPTIVE_MARGINALS = {
        name: NAME,
        summary: "records drawn from noisy tables, which are chosen in rounds by the errors of the tables so \
                  far",
        paper: "McKenna, Mullins, Sheldon and Miklau, AIM: an adaptive and iterative mechanism for \
                differentially private synthetic data (2022); Mullins and others, GReM (2026)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Parameters,
        learn: learn,
        curator: Curator::try_from,
        example: example,
    };
}
