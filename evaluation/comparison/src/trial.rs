//! One trial of a cell (one mechanism at one ε): a release, and all scores on it.

use super::adversary::{audited, scores_without_rows};
use super::cells::Cell;
use super::data::scored;
use super::fidelity::fidelity;
use super::prediction::Predicted;
use super::reference::LearnsFrom;
use super::scored::Scored;
use super::split::Split;
use super::stacked::{FEWEST, Two, crossed};
use super::tuning::ask;
use super::{Comparison, Error, Metric, Model, Result, Scorer};
use scumble_adversary::membership;
use scumble_classic::Identity;
use scumble_core::{Designed, Randomness, Release, Table, Target};
use scumble_records::Values;
use scumble_records::stream::layout;
use std::time::{Duration, Instant};

/// Release of a cell in one trial.
struct Trial<'a> {
    comparison: &'a Comparison,
    cell: &'a Cell,
    /// Number of the trial, counted from 0.
    number: usize,
    split: Split,
    train: Table,
    test: Table,
    /// Release of the mechanism.
    seen: Release,
    /// Training data of models: the release, or synthetic records that are drawn from its reports. The values
    /// are rounded as in a file of the release.
    learned: Release,
    /// Test records, as they would have been released without noise.
    viewed: Table,
    /// Time to release the training records, and to map the test records to `viewed`.
    releasing: Duration,
}

impl<'a> Trial<'a> {
    fn new(comparison: &'a Comparison, cell: &'a Cell, number: usize) -> Result<Self> {
        let start = Instant::now();
        let split = comparison.split(number);
        let table = &comparison.data.table;
        let train = match cell.learns_from {
            LearnsFrom::Release => split.train(table)?,
            LearnsFrom::Clean(records) => split.some_of_train(records, table)?,
            LearnsFrom::Volunteers => table.select(&comparison.volunteers())?,
        };
        let test = split.test(table)?;
        let mut randomness = Randomness::seeded(split.noise_seed);
        let seen = match cell.learns_from {
            LearnsFrom::Release => cell
                .mechanism()
                .release(&split.released(&comparison.data, cell.mechanism())?, &mut randomness)?,
            _ => cell.mechanism().release(&train, &mut randomness)?,
        };
        let collected = seen.collected(train.len(), &mut randomness.streams().stream(0))?;
        let learned = match &collected {
            Some(collected) => comparison.as_in_file(cell, collected)?,
            None => comparison.as_in_file(cell, &seen)?,
        };
        let viewed = comparison.viewed_as_in_file(&seen, &test)?;
        let releasing = start.elapsed();
        Ok(Self { comparison, cell, number, split, train, test, seen, learned, viewed, releasing })
    }

    fn scored(&self, scorer: &Scorer) -> Result<Scored> {
        let start = Instant::now();
        let scored = self.scores(scorer)?;
        Ok(Scored { seconds: (self.releasing + start.elapsed()).as_secs_f64(), ..scored })
    }

    /// Scores, without the time of the release and the scorer.
    fn scores(&self, scorer: &Scorer) -> Result<Scored> {
        Ok(match scorer {
            Scorer::Model(model) if model.is_tuned() => {
                let (predicted, chosen) = self.predicted_by_chosen(model)?;
                Scored { chosen: Some(chosen), ..self.scores_of(&predicted) }
            }
            Scorer::Model(model) if self.comparison.stacks(self.cell) => {
                self.scores_of(&self.stacked(model)?)
            }
            Scorer::Model(model) => self.scores_of(&self.predicted(model, &self.test, &self.viewed)?),
            Scorer::Adversary(adversary) => {
                let (mechanism, seed) = (self.cell.mechanism(), self.split.noise_seed);
                Scored::from_scores(match mechanism.releases().is_aligned() {
                    true => adversary.scores(&self.train, &self.seen, seed)?,
                    false => {
                        let released = self.split.released(&self.comparison.data, mechanism)?;
                        scores_without_rows(mechanism, &released, &self.seen, seed)?
                    }
                })
            }
            Scorer::Membership => {
                let randomness = Randomness::seeded(self.split.noise_seed);
                let advantage = membership(self.cell.mechanism(), &self.train, &self.test, randomness)?;
                Scored::from_scores([(Metric::Membership, advantage.unwrap_or(f64::NAN))])
            }
            Scorer::Table => {
                let domain = &self.comparison.data.domain;
                Scored::from_scores(fidelity(domain, &self.train, Some(&self.learned.table)))
            }
            Scorer::Audit => {
                let name = self.cell.candidate.plugin.name;
                let shown = audited(name, self.cell.mechanism(), self.comparison.seed)?;
                Scored::from_scores([(Metric::Audited, shown)])
            }
        })
    }

    /// Scores of predictions for the test records.
    fn scores_of(&self, predicted: &Predicted) -> Scored {
        scored(&self.comparison.data, predicted, self.test.target(), &self.split.test)
    }

    /// Predictions for `records` by a model that learns from the release. `viewed` has these records as they
    /// would have been released without noise.
    ///
    /// If the release has a key that decodes predictions, and decoding changes them, the class scores are
    /// dropped, because they belong to the predictions before decoding.
    fn predicted(&self, model: &Model, records: &Table, viewed: &Table) -> Result<Predicted> {
        if let Some(released) = self.seen.key.model() {
            return Ok(Predicted::by(released, records)?);
        }
        let Predicted { target, scores } =
            model.predict(&self.learned, viewed).map_err(|error| Error::Trial {
                model: model.to_string(),
                mechanism: self.cell.to_string(),
                trial: self.number + 1,
                source: error.into(),
            })?;
        let read = self.seen.key.read(records, target.clone())?;
        Ok(Predicted { scores: scores.filter(|_| read == target), target: read })
    }

    /// Combined predictions for the test records, by a model that learns from the release and one that learns
    /// from the volunteers.
    fn stacked(&self, model: &Model) -> Result<Predicted> {
        let (comparison, rows) = (self.comparison, self.comparison.volunteers());
        let both = comparison.data.table.select(&[&rows[..], &self.split.test].concat())?;
        let released = self.predicted(model, &both, &comparison.viewed_as_in_file(&self.seen, &both)?)?;
        let volunteers = comparison.data.table.select(&rows)?;
        let learned = |train: &Table, records: &Table| {
            let identity = Designed::local(Identity::new(comparison.data.domain.clone()));
            let release = identity.release(train, &mut Randomness::seeded(0))?;
            model.predict(&release, records)
        };
        let own = crossed(&volunteers, &self.test, learned)?;
        Ok(Two { released: &released, own: &own, truth: volunteers.target() }.stacked())
    }

    /// Predictions for the test records by the model's option (combination of hyper-parameters) that private
    /// validation chooses, and the option's index.
    fn predicted_by_chosen(&self, model: &Model) -> Result<(Predicted, usize)> {
        let asked = self.split.asked.len();
        // One table has the people who answer, and then the test records, so that each option learns only
        // once.
        let both = self.comparison.data.table.select(&[&self.split.asked[..], &self.split.test].concat())?;
        let viewed = self.comparison.viewed_as_in_file(&self.seen, &both)?;
        let options = model.options();
        let all = options.iter().map(|option| self.predicted(option, &both, &viewed));
        let all: Vec<Predicted> = all.collect::<Result<_>>()?;
        let right: Vec<Vec<bool>> =
            all.iter().map(|predicted| right(&predicted.target, both.target(), asked)).collect();
        let epsilon = self.cell.epsilon.unwrap_or(f64::INFINITY);
        let chosen = ask(&right, epsilon, self.split.answer_seed)?;
        Ok((all[chosen].without_first(asked), chosen))
    }
}

impl Comparison {
    /// Release with the values that its file would have. Integers, dates and ordered levels are rounded, and
    /// one-hot groups become one level.
    fn as_in_file(&self, cell: &Cell, release: &Release) -> Result<Release> {
        let is_model = release.key.model().is_some();
        let Some(schema) = self.data.columns.as_ref().filter(|_| !is_model) else {
            return Ok(release.clone());
        };
        let decoder = schema.decoder(&layout(&release.table, &self.data.domain), Some(&self.data.target));
        let decoder = decoder.with_values_in(cell.mechanism().releases().values_in());
        let noise = decoder.noise(&release.noise);
        Ok(Release { table: decoder.settled_table(&release.table)?, noise, ..release.clone() })
    }

    /// Records as they would have been released without noise. One-hot groups become one level, as in the
    /// release's file.
    fn viewed_as_in_file(&self, release: &Release, records: &Table) -> Result<Table> {
        let viewed = release.key.view(records)?;
        let Some(schema) = &self.data.columns else { return Ok(viewed) };
        let decoder = schema.decoder(&layout(&viewed, &self.data.domain), Some(&self.data.target));
        Ok(decoder.with_values(Values::Drawn).settled_table(&viewed)?)
    }

    /// Returns true if models of a cell's release also learn from the volunteers' records.
    pub(super) fn stacks(&self, cell: &Cell) -> bool {
        let has_labels = !self.splitting.unlabelled && self.splitting.volunteers(&self.data) >= FEWEST;
        has_labels && !self.release_alone && cell.learns_from.is_release()
    }

    /// Runs trial `number` of a cell. Releases once for all scorers without scores in `before`, and calls
    /// `on_scored` with the index and the scores of each of these scorers.
    pub(super) fn trial(
        &self,
        cell: &Cell,
        number: usize,
        before: Vec<Option<Scored>>,
        on_scored: impl Fn(usize, &Scored) -> Result<()>,
    ) -> Result<Vec<Scored>> {
        if before.iter().all(Option::is_some) {
            return Ok(before.into_iter().flatten().collect());
        }
        let trial = Trial::new(self, cell, number)?;
        let score = |at: usize| {
            let scorer = &cell.scorers[at];
            if !(scorer.takes_part_in(number) && scorer.is_beside(cell.mechanism().releases().learner())) {
                return Ok(Scored::default());
            }
            let scored = trial.scored(scorer)?;
            on_scored(at, &scored)?;
            Ok(scored)
        };
        before.into_iter().enumerate().map(|(at, found)| found.map_or_else(|| score(at), Ok)).collect()
    }
}

/// Correctness of each of the first `count` predictions of classes; empty for any other kind of target.
fn right(predicted: &Target, truth: &Target, count: usize) -> Vec<bool> {
    match (predicted, truth) {
        (Target::Class(predicted), Target::Class(truth)) => {
            predicted.iter().zip(truth).take(count).map(|(predicted, truth)| predicted == truth).collect()
        }
        _ => vec![],
    }
}
