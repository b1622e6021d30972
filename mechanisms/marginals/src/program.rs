//! Interface of this crate's mechanisms: the tables to count, the questions about these tables, and the model
//! that is fitted to the answers.

use crate::answers::Answers;
use crate::columns::Columns;
use crate::counts::{Clique, TablePlan};
use crate::network::{Network, Order};
use crate::pool::Pool;
use crate::residuals::{Measured, Residuals};
use scumble_core::levels::draw;
use scumble_core::{Result, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// The steps in which the mechanisms of this crate differ. A program learns about records only from
/// [`Answers`].
pub(crate) trait Program:
    Clone + Debug + Serialize + for<'de> Deserialize<'de> + Send + Sync + 'static
{
    /// Name of the plugin.
    const NAME: &'static str;
    /// True if the choice of the tables depends on the records.
    const CHOOSES: bool;

    /// Number of parties that add noise to each table. The noise of one party suffices for the guarantee, so
    /// that it holds against the other.
    const SERVERS: u16 = 1;

    /// Returns whether the program merges the levels of refined grids. Such a program first measures the
    /// table of each single column.
    fn merges(&self) -> bool;

    /// Checks that the program fits `columns`.
    ///
    /// # Errors
    /// [`Error::Parameter`](scumble_core::Error::Parameter) if a parameter of the program does not fit
    /// `columns`, [`Error::NotApplicable`](scumble_core::Error::NotApplicable) if the program does not apply
    /// to them.
    fn check(&self, columns: &Columns) -> Result<()>;

    /// Returns all tables that the program may ask for; they are counted in one pass.
    fn tables(&self, columns: &Columns) -> TablePlan;

    /// Asks `answers` for the noisy tables and the choices of the program. `total` is the number of records,
    /// if it is public.
    ///
    /// # Errors
    /// Same errors as the methods of [`Answers`].
    fn ask(&self, columns: &Columns, total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered>;
}

/// Noisy tables, and the groups of dependent columns for drawing records.
pub(crate) struct Answered {
    /// Number of levels of each column in the measured tables, after any merging of levels.
    pub(crate) levels: Vec<usize>,
    pub(crate) measured: Vec<Measured>,
    /// Groups of dependent columns without a cycle; a column in no group is independent of the others.
    pub(crate) cliques: Vec<Clique>,
    /// Same as [`Model::merged`].
    pub(crate) merged: Vec<Vec<Vec<(u32, f64)>>>,
}

impl Answered {
    /// Fits the model of records. `total` is the number of records, if it is public. Measured tables beyond
    /// the groups of dependent columns need a pool, whose records are drawn with `stream`.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn model(self, total: Option<f64>, stream: &mut Stream) -> Result<Model> {
        let columns = self.levels.len();
        let cliques: BTreeSet<Clique> =
            self.cliques.into_iter().chain((0..columns).map(|at| vec![at])).collect();
        let order = Order::from_cliques(&cliques).unwrap_or_else(|| Order::separate(columns));
        let residuals = Residuals::from_measured(&self.levels, &self.measured, total)?;
        let measured: BTreeSet<&Clique> = self.measured.iter().map(|table| &table.clique).collect();
        let has_cycle = !measured.iter().all(|clique| cliques.contains(*clique) || order.holds(clique));
        let network = Network::fit(&self.levels, order, &residuals)?;
        let pool = has_cycle.then(|| {
            let tables: Vec<Clique> =
                measured.into_iter().filter(|clique| clique.len() > 1).cloned().collect();
            Pool::fit(&self.levels, &network, &tables, &residuals, stream)
        });
        Ok(Model { network, pool: pool.transpose()?, merged: self.merged })
    }
}

/// Model from which records are drawn: a network for the levels, a pool of records if the measured tables
/// form a cycle, and the original levels of each merged level.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) network: Network,
    pool: Option<Pool>,
    /// For each column and each of its levels in the network, the original levels with their weights. One
    /// original level is drawn in proportion to the weights. Empty if no levels were merged.
    pub(crate) merged: Vec<Vec<Vec<(u32, f64)>>>,
}

impl Model {
    /// Draws the levels of `records` records, as columns of `records` values each.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn draw(&self, records: usize, stream: &mut Stream) -> Result<Vec<Vec<u32>>> {
        let mut columns = match &self.pool {
            Some(pool) => pool.draw(records, stream),
            None => self.network.draw(records, stream)?,
        };
        for (column, merged) in columns.iter_mut().zip(&self.merged) {
            let mut rows: Vec<Vec<usize>> = vec![vec![]; merged.len()];
            column.iter().enumerate().for_each(|(row, level)| rows[*level as usize].push(row));
            for (rows, levels) in rows.iter().zip(merged) {
                let shares: Vec<f64> = levels.iter().map(|(_, share)| *share).collect();
                for (&row, at) in rows.iter().zip(draw::levels(&shares, rows.len(), stream)) {
                    column[row] = levels[at].0;
                }
            }
        }
        Ok(columns)
    }
}
