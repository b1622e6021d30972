//! Finished trials of a comparison, and their keys (digests of all inputs of a trial) in a store. A trial is
//! a run of a cell, which is one mechanism at one ε.

use super::cells::Cell;
use super::reference::LearnsFrom;
use super::scored::Scored;
use super::{Comparison, Metric, Result, Scorer, Splitting, data};
use crate::store::{Key, Store};
use scumble_core::{Origin, number};
use serde::Serialize;
use serde_json::{Value, json};

/// [`Store`] of finished trials. The key of a trial is a digest of all inputs of its cell (one mechanism at
/// one ε), with the trial and the scorer.
pub(super) struct Stored<'a> {
    store: Store<Scored>,
    metrics: Vec<Metric>,
    cells: &'a [Cell],
    /// Key of each cell, from which the keys of its trials are computed.
    keys: Vec<Key>,
}

/// All inputs that the scores of a cell depend on, except for the trial's number and the scorer.
#[derive(Serialize)]
struct Everything<'a> {
    scumble: &'a str,
    data: &'a str,
    train_records: Option<usize>,
    splitting: &'a Splitting,
    seed: u64,
    origin: &'a Origin,
    state: &'a Value,
    #[serde(skip_serializing_if = "LearnsFrom::is_release")]
    learns_from: LearnsFrom,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_stacked: bool,
}

impl<'a> Stored<'a> {
    pub(super) fn new(store: Store<Scored>, comparison: &Comparison, cells: &'a [Cell]) -> Result<Self> {
        let data = data::digest(&comparison.data)?;
        let key = |cell: &Cell| {
            Ok(Key::from_content(&Everything {
                scumble: env!("CARGO_PKG_VERSION"),
                data: &data,
                train_records: comparison.data.train_records,
                splitting: &comparison.splitting,
                seed: comparison.seed,
                origin: cell.designed.origin(),
                state: cell.designed.state(),
                learns_from: cell.learns_from,
                is_stacked: comparison.stacks(cell),
            })?)
        };
        let metrics = Metric::fitting(comparison.data.domain.target()).collect();
        Ok(Self { store, metrics, cells, keys: cells.iter().map(key).collect::<Result<_>>()? })
    }

    fn key(&self, cell: usize, trial: usize, scorer: &Scorer) -> Result<Key> {
        Ok(Key::from_content(&(&self.keys[cell], trial, scorer))?)
    }

    /// Stored scores of each scorer in one trial; `None` for a scorer that lacks a score by one of its
    /// metrics.
    pub(super) fn find(&self, cell: usize, trial: usize) -> Result<Vec<Option<Scored>>> {
        let found = |scorer: &Scorer| {
            if !scorer.takes_part_in(trial) {
                return Ok(Some(Scored::default()));
            }
            let mut needed = self.metrics.iter().filter(|metric| scorer.is_scored_by(**metric));
            // A file of an earlier version may have scores without influences.
            let has = |scored: &Scored, metric: &Metric| {
                scored.scores.contains_key(metric)
                    && (!metric.is_of_model() || scored.influences.contains_key(metric))
            };
            let mut has_all = |scored: &&Scored| needed.all(|metric| has(scored, metric));
            Ok(self.store.find(&self.key(cell, trial, scorer)?).filter(|scored| has_all(scored)).cloned())
        };
        self.cells[cell].scorers.iter().map(found).collect()
    }

    pub(super) fn add(&self, cell: usize, trial: usize, scorer: usize, scored: &Scored) -> Result<()> {
        let described = &self.cells[cell];
        let scorer = &described.scorers[scorer];
        let words = json!({
            "mechanism": described.candidate.plugin.name,
            "parameters": described.parameters,
            "learns_from": described.learns_from,
            "epsilon": described.epsilon.map(number::to_json),
            "model": scorer,
            "trial": trial,
        });
        Ok(self.store.add(self.key(cell, trial, scorer)?, &words, scored)?)
    }
}
