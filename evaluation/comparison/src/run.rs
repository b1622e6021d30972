//! Run of a comparison: all trials of all cells (one mechanism at one ε), on all cores.

use super::cells::Cell;
use super::data::{baseline, check_learnable, scored};
use super::evidence::Sample;
use super::fidelity::fidelity;
use super::influence::GROUPS;
use super::prediction::Predicted;
use super::scored::Scored;
use super::spread::mean_and_sd;
use super::stored::Stored;
use super::tuning::Rehearsal;
use super::{Comparison, Error, Metric, Outcome, Result, Row, Skipped};
use crate::store::Store;
use rayon::prelude::*;
use scumble_core::{TargetDomain, interrupt};
use std::collections::BTreeMap;
use std::path::Path;

/// First failed trial of each cell, by the cell's index, with the error.
type Failures = BTreeMap<usize, (usize, Error)>;

impl Comparison {
    /// Runs the comparison on all cores.
    ///
    /// If a trial of a cell (one mechanism at one ε) fails, the means of this cell's scores are NaN, and all
    /// other trials continue. `on_start` receives the number of trials of all cells, and `on_trial` is called
    /// at the end of each trial. The same seed gives the same scores for any number of threads.
    ///
    /// # Errors
    /// [`Error::Data`] for settings out of range, for too few records or classes, and if no mechanism
    /// applies. [`Error::Core`] for an invalid budget or a failed design. If every cell with a release fails,
    /// the error of the first cell.
    pub fn run(&self, on_start: impl FnOnce(u64), on_trial: impl Fn() + Sync) -> Result<Outcome> {
        self.run_with(None, on_start, on_trial)
    }

    /// Runs the comparison, takes finished trials from the file `store`, and adds the others to it.
    ///
    /// # Errors
    /// Same errors as [`run`](Self::run), and [`Error::Store`] if the store cannot be read or written, or is
    /// open in another run. The store keeps all trials that were finished before an error.
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
        let volunteers = self.splitting.volunteered(&self.data, self.seed)?;
        let rehearsal = Rehearsal::new(self, &volunteers);
        let (mut cells, skipped) = self.cells(&volunteers, rehearsal.as_ref())?;
        if let (true, Some(Skipped { mechanism, reason, .. })) = (cells.is_empty(), skipped.first()) {
            return Err(Error::Data(format!(
                "nothing is left to compare: {mechanism} is left out: {reason}"
            )));
        }
        let released = cells.len();
        cells.extend(self.reference_cells(&volunteers, rehearsal.as_ref())?);
        on_start((cells.len() * self.trials) as u64);
        // The store is opened only now, because a refused comparison must not leave a file behind.
        let stored = store.map(|file| Stored::new(Store::open(file)?, self, &cells)).transpose()?;
        let (scored, mut failures) = self.scored(&cells, stored.as_ref(), on_trial)?;
        if (0..released).all(|cell| failures.contains_key(&cell))
            && let Some((_, error)) = failures.remove(&0)
        {
            return Err(error);
        }
        let failed = failures.into_iter().map(|(cell, (trial, error))| cells[cell].failed(trial, &error));
        let failed = failed.collect();
        let (release_scores, reference_scores) = scored.split_at(released * self.trials);
        let baseline_scores = self.baseline_scores()?;
        let split = self.split(0);
        let (train_records, test_records) = split.sizes();
        let volunteers = self.splitting.volunteers(&self.data);
        let metric_baseline = |metric: Metric| baseline_scores.get(&metric).cloned().unwrap_or_default();
        let mut references =
            self.references(&cells[released..], reference_scores, metric_baseline, volunteers);
        let tested = self.tested();
        Self::judge_references(&mut references, tested);
        let mut rows = self.rows(&cells[..released], release_scores, train_records, split.asked.len())?;
        self.judge(&mut rows, &references, train_records, tested);
        let baselines: BTreeMap<Metric, f64> =
            baseline_scores.iter().map(|(metric, sample)| (*metric, mean_and_sd(&sample.scores).0)).collect();
        Ok(Outcome {
            rows,
            references,
            skipped,
            failed,
            baseline: self.metrics.first().map_or(f64::NAN, |metric| baselines[metric]),
            baselines,
            train_records,
            test_records,
            volunteers,
            asked: split.asked.len(),
        })
    }

    /// Rows of a comparison with a single candidate, without the scores of models that learn from no release.
    /// These rows serve to compare options (combinations of parameter values) of the candidate or the model.
    pub(super) fn rehearse(&self) -> Result<Vec<Row>> {
        check_learnable(&self.data)?;
        self.check_settings()?;
        let volunteers = self.splitting.volunteered(&self.data, self.seed)?;
        let (cells, skipped) = self.cells(&volunteers, None)?;
        if let (true, Some(Skipped { mechanism, reason, .. })) = (cells.is_empty(), skipped.first()) {
            return Err(Error::Data(format!("{mechanism} is left out: {reason}")));
        }
        let (scored, failures) = self.scored(&cells, None, || ())?;
        if let Some((_, (_, error))) = failures.into_iter().next() {
            return Err(error);
        }
        let split = self.split(0);
        self.rows(&cells, &scored, split.sizes().0, split.asked.len())
    }

    /// Scores of all trials, cell by cell, and the first failure of each cell.
    fn scored(
        &self,
        cells: &[Cell],
        stored: Option<&Stored>,
        on_trial: impl Fn() + Sync,
    ) -> Result<(Vec<Vec<Scored>>, Failures)> {
        let jobs: Vec<(usize, usize)> =
            (0..cells.len()).flat_map(|cell| (0..self.trials).map(move |trial| (cell, trial))).collect();
        // Each job, which is one trial of one cell, draws its split again. Storing the splits of all trials
        // would take too much memory.
        let scored: Result<Vec<Result<Vec<Scored>>>> = jobs
            .par_iter()
            .map(|&(cell, trial)| {
                interrupt::check().map_err(scumble_core::Error::from)?;
                let before = stored.map(|stored| stored.find(cell, trial)).transpose()?;
                let before = before.unwrap_or_else(|| vec![None; cells[cell].scorers.len()]);
                let scored = self.trial(&cells[cell], trial, before, |scorer, scored| match stored {
                    Some(stored) => stored.add(cell, trial, scorer, scored),
                    None => Ok(()),
                });
                // An interrupted trial has not failed, and no further trial starts.
                interrupt::check().map_err(scumble_core::Error::from)?;
                on_trial();
                match scored {
                    // The store failed, so no later trial could be stored, and the run ends.
                    Err(error @ Error::Store(_)) => Err(error),
                    scored => Ok(scored),
                }
            })
            .collect();
        let mut failures = BTreeMap::new();
        let mut all = vec![];
        for ((cell, trial), scored) in jobs.into_iter().zip(scored?) {
            all.push(scored.unwrap_or_else(|error| {
                failures.entry(cell).or_insert((trial, error));
                vec![Scored::default(); cells[cell].scorers.len()]
            }));
        }
        Ok((all, failures))
    }

    /// Score of the baseline in each trial, by every requested metric.
    ///
    /// For accuracy it is the better score of two predictions: a random class, and the most frequent class of
    /// the training records. For a metric of tables it is the score of records that are spread uniformly over
    /// their public bounds.
    fn baseline_scores(&self) -> Result<BTreeMap<Metric, Sample>> {
        let targets = self.data.table.without_features().into();
        let mut trials = vec![];
        for trial in 0..self.trials {
            let split = self.split(trial);
            let (train, test) = (split.train(&targets)?, split.test(&targets)?);
            let predicted = Predicted::from_target(baseline(train.target(), test.len()));
            let mut of_trial = scored(&self.data, &predicted, test.target(), &split.test);
            if self.metrics.iter().any(|metric| metric.is_of_table()) {
                let table = fidelity(&self.data.domain, &split.train(&self.data.table)?, None);
                of_trial.scores.extend(Scored::from_scores(table).scores);
            }
            trials.push(of_trial);
        }
        let known = |metric: Metric, scores: &[f64]| match metric {
            // Without a release, an adversary's best estimate of a record is the mean. The mean squared error
            // is then the variance, and the advantage is zero.
            Metric::UnbiasedError => Some(1.0),
            _ if metric.is_of_adversary() => Some(0.0),
            // The baseline gives all records the same class scores.
            Metric::Auc => Some(0.5),
            Metric::Accuracy => match self.data.domain.target() {
                TargetDomain::Class { levels } => {
                    Some(1.0 / levels.len() as f64).filter(|even| *even > mean_and_sd(scores).0)
                }
                _ => None,
            },
            _ => None,
        };
        let sample = |metric: Metric| {
            let sample = Sample::new(metric, &trials.iter().collect::<Vec<_>>());
            match known(metric, &sample.scores) {
                Some(score) => Sample {
                    scores: vec![score; self.trials],
                    influences: vec![vec![0.0; GROUPS]; self.trials],
                },
                None => sample,
            }
        };
        Ok(self.metrics.iter().map(|&metric| (metric, sample(metric))).collect())
    }
}
