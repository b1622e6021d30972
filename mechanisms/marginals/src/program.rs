//! What a mechanism of this crate is: which tables are counted, what is asked of them, and what is made of the answers.

use crate::answers::Answers;
use crate::columns::Columns;
use crate::counts::{Clique, Wanted};
use crate::network::{Network, Order};
use crate::residuals::{Measured, Residuals};
use scumble_core::levels::draw;
use scumble_core::{Result, Stream};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What differs between the mechanisms of this crate. It sees records by answers alone.
pub(crate) trait Program:
    Clone + Debug + Serialize + for<'de> Deserialize<'de> + Send + Sync + 'static
{
    /// The name of the plugin.
    const NAME: &'static str;
    /// Whether it chooses what it measures.
    const CHOOSES: bool;

    /// That it fits such columns.
    ///
    /// # Errors
    /// [`Error::Parameter`](scumble_core::Error::Parameter), [`Error::NotApplicable`](scumble_core::Error::NotApplicable).
    fn check(&self, columns: &Columns) -> Result<()>;

    /// All tables that it may ask for: they are counted in one pass.
    fn tables(&self, columns: &Columns) -> Wanted;

    /// Asks; `total` is how many records there are, where that is public.
    ///
    /// # Errors
    /// As [`Answers`].
    fn ask(&self, columns: &Columns, total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered>;
}

/// Noisy tables, and which columns go together in the records that are made of them.
pub(crate) struct Answered {
    /// The levels of each column, as they were measured.
    pub(crate) levels: Vec<usize>,
    pub(crate) measured: Vec<Measured>,
    /// Which columns go together; those of none are by themselves.
    pub(crate) cliques: Vec<Clique>,
    /// As of [`Model`].
    pub(crate) merged: Vec<Vec<Vec<(u32, f64)>>>,
}

impl Answered {
    /// What records are like; `total` is how many there are, where that is public.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted).
    pub(crate) fn model(self, total: Option<f64>) -> Result<Model> {
        let columns = self.levels.len();
        let cliques: Vec<Clique> = self.cliques.into_iter().chain((0..columns).map(|at| vec![at])).collect();
        let order = Order::of(&cliques).unwrap_or_else(|| Order::apart(columns));
        let residuals = Residuals::of(&self.levels, &self.measured, total)?;
        Ok(Model { network: Network::fit(&self.levels, order, &residuals)?, merged: self.merged })
    }
}

/// What records are like: a network, and the levels that its levels stand for where some were merged.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) network: Network,
    /// For each column and each of its levels in the network, the levels that it stands for with their shares; empty where none were merged.
    pub(crate) merged: Vec<Vec<Vec<(u32, f64)>>>,
}

impl Model {
    /// The levels of so many records: a column of as many values each.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted).
    pub(crate) fn draw(&self, records: usize, stream: &mut Stream) -> Result<Vec<Vec<u32>>> {
        let mut columns = self.network.draw(records, stream)?;
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
