//! A comparison is run: all trials of all cells, on all cores.

use super::cells::Cell;
use super::data::{blind_guesses, check_learnable, score};
use super::fidelity::fidelity;
use super::prediction::Predicted;
use super::rows::mean_and_sd;
use super::scored::Scored;
use super::stored::Stored;
use super::{Comparison, Error, Metric, Outcome, Result, Skipped};
use rayon::prelude::*;
use scumble_store::Store;
use std::collections::BTreeMap;
use std::path::Path;

impl Comparison {
    /// Runs it on all cores. `on_start` hears how many trials there will be, `on_trial` of each one's end.
    ///
    /// The same seed gives the same scores whatever the number of threads.
    ///
    /// # Errors
    /// [`Error`] for settings out of range, too few records or classes, and whatever stops a mechanism or model.
    pub fn run(&self, on_start: impl FnOnce(u64), on_trial: impl Fn() + Sync) -> Result<Outcome> {
        self.run_with(None, on_start, on_trial)
    }

    /// The same, where trials that stand in the file `store` are taken from it, and the others are added to it.
    ///
    /// # Errors
    /// As [`run`](Self::run), and where the store cannot be read or written, or another run is at work on it: it holds all that
    /// was finished before.
    pub fn resume(
        &self,
        store: &Path,
        on_start: impl FnOnce(u64),
        on_trial: impl Fn() + Sync,
    ) -> Result<Outcome> {
        self.run_with(Some(store), on_start, on_trial)
    }

    fn run_with(
        &self,
        store: Option<&Path>,
        on_start: impl FnOnce(u64),
        on_trial: impl Fn() + Sync,
    ) -> Result<Outcome> {
        check_learnable(&self.data)?;
        self.check_settings()?;
        let (cells, skipped) = self.cells()?;
        if let (true, Some(Skipped { mechanism, reason, .. })) = (cells.is_empty(), skipped.first()) {
            return Err(Error::Data(format!(
                "nothing is left to compare: {mechanism} is left out: {reason}"
            )));
        }
        on_start((cells.len() * self.trials) as u64);
        // Whatever is refused leaves no file behind.
        let stored = store.map(|file| Stored::new(Store::open(file)?, self, &cells)).transpose()?;
        let scored = self.scored(&cells, stored.as_ref(), on_trial)?;
        let blind_guesses = self.blind_guesses()?;
        let split = self.split(0);
        let (train_records, test_records) = split.sizes();
        Ok(Outcome {
            rows: self.rows(&cells, &scored, train_records, split.asked())?,
            skipped,
            blind_guess: self.metrics.first().map_or(f64::NAN, |metric| blind_guesses[metric]),
            blind_guesses,
            train_records,
            test_records,
            volunteers: self.splitting.volunteers(&self.data),
            asked: split.asked(),
        })
    }

    /// What everybody scored in all trials of the first cell, then of the next.
    fn scored(
        &self,
        cells: &[Cell],
        stored: Option<&Stored>,
        on_trial: impl Fn() + Sync,
    ) -> Result<Vec<Vec<Scored>>> {
        let jobs: Vec<(usize, usize)> =
            (0..cells.len()).flat_map(|cell| (0..self.trials).map(move |trial| (cell, trial))).collect();
        // Each job draws its split again: to hold them all would take the data times the trials.
        jobs.par_iter()
            .map(|&(cell, trial)| {
                let before = stored.map(|stored| stored.find(cell, trial)).transpose()?;
                let before = before.unwrap_or_else(|| vec![None; cells[cell].scorers.len()]);
                let scored = self.trial(&cells[cell], trial, before, |scorer, scored| match stored {
                    Some(stored) => stored.add(cell, trial, scorer, scored),
                    None => Ok(()),
                })?;
                on_trial();
                Ok(scored)
            })
            .collect()
    }

    /// The mean score of guessing, by every metric that is asked for: of a table, by records that are spread evenly over their public bounds.
    fn blind_guesses(&self) -> Result<BTreeMap<Metric, f64>> {
        let targets = self.data.table.part(&self.data.domain.without_features())?;
        let mut scores: BTreeMap<Metric, Vec<f64>> =
            self.metrics.iter().map(|&metric| (metric, vec![])).collect();
        for trial in 0..self.trials {
            let split = self.split(trial);
            let (train, test) = (split.train(&targets)?, split.test(&targets)?);
            let guesses = Predicted::of(blind_guesses(train.target(), test.len()));
            let of_table = match self.metrics.iter().any(|metric| metric.is_of_table()) {
                true => fidelity(&self.data.domain, &split.train(&self.data.table)?, None),
                false => vec![],
            };
            for (metric, score) in score(&self.data, &guesses, test.target()).chain(of_table) {
                scores.entry(metric).and_modify(|scores| scores.push(score));
            }
        }
        let mean = |metric: Metric, scores: &[f64]| match metric {
            // Without a release she guesses the mean, whose error is the variance, and tells nothing apart.
            Metric::UnbiasedError => 1.0,
            _ if metric.is_of_adversary() => 0.0,
            // Who guesses has one score for all records.
            Metric::Auc => 0.5,
            _ => mean_and_sd(scores).0,
        };
        Ok(scores.into_iter().map(|(metric, scores)| (metric, mean(metric, &scores))).collect())
    }
}
