//! Rows of an outcome, from the trials of each cell (one mechanism at one ε). A row is the score of a cell by
//! one scorer (a model, an adversary or another scored object) and one metric. In private validation, people
//! answer by randomised response whether a model is right about them.

use super::adversary::variance;
use super::cells::Cell;
use super::evidence::{Gain, Sample};
use super::outcome::Against;
use super::reference::Knows;
use super::scored::Scored;
use super::shuffler::Shuffled;
use super::spread::mean_and_sd;
use super::tuning::{chosen_by_volunteers, with_asked};
use super::worth::at_most;
use super::{
    Chosen, Comparison, LearningCurve, Metric, Reference, Result, Row, Scorer, Trust, Tunable, Tuned,
    TunedOn, Worth,
};
use scumble_core::{Guarantee, ShapedBy, Unit};

impl Comparison {
    /// Rows of all scorers and metrics. `scored` has the scores of all trials, cell by cell in the order of
    /// `cells`. Each trial released `released` records, and `asked` people answered in private validation.
    pub(super) fn rows(
        &self,
        cells: &[Cell],
        scored: &[Vec<Scored>],
        released: usize,
        asked: usize,
    ) -> Result<Vec<Row>> {
        let mut rows = vec![];
        for (at, scorer) in self.scorers().iter().enumerate() {
            for &metric in self.metrics.iter().filter(|metric| scorer.is_scored_by(**metric)) {
                let variance = match metric {
                    Metric::UnbiasedError => variance(self.data.table.whole()?.records().view()),
                    // No other bound depends on the variance.
                    _ => f64::NAN,
                };
                for (cell, trials) in cells.iter().zip(scored.chunks(self.trials)) {
                    let trials = trials.iter().enumerate().filter(|(trial, _)| scorer.takes_part_in(*trial));
                    let scorer_trials: Vec<&Scored> = trials.map(|(_, scorers)| &scorers[at]).collect();
                    let tuned = self.tuned_model(cell, at, scorer, &scorer_trials, asked);
                    let row = self.row(cell, scorer, metric, &scorer_trials, tuned, released)?;
                    rows.push(Row { bound: metric.bound(&row.guarantee, variance), ..row });
                }
            }
        }
        Ok(rows)
    }

    /// Row of one cell, scorer and metric, from the scores in `trials`.
    fn row(
        &self,
        cell: &Cell,
        scorer: &Scorer,
        metric: Metric,
        trials: &[&Scored],
        tuned_model: Option<Tuned>,
        released: usize,
    ) -> Result<Row> {
        let Sample { scores, influences } = Sample::new(metric, trials);
        let (mean, sd) = mean_and_sd(&scores);
        let guarantee = cell.guarantee(released, tuned_model.as_ref())?;
        Ok(Row {
            mechanism: cell.candidate.plugin.name.into(),
            parameters: cell.parameters.clone(),
            design: cell.design.clone(),
            epsilon: cell.epsilon,
            trust: cell.trust(),
            scorer: scorer.clone(),
            metric,
            mean,
            sd,
            bound: None,
            trials: scores.len(),
            scores,
            influences,
            worth: None,
            adds: None,
            against: None,
            tuned: cell.tuned.iter().cloned().chain(tuned_model).collect(),
            guarantee,
            seconds: trials.iter().map(|scored| scored.seconds).sum(),
        })
    }

    /// Choice of a model's hyper-parameters. It was made once for this cell on volunteers' records, or in
    /// each trial by private validation. The result is `None` if no hyper-parameter is chosen.
    fn tuned_model(
        &self,
        cell: &Cell,
        at: usize,
        scorer: &Scorer,
        trials: &[&Scored],
        asked: usize,
    ) -> Option<Tuned> {
        let (Scorer::Model(tuned), Scorer::Model(own)) = (scorer, &cell.scorers[at]) else {
            return None;
        };
        if !tuned.is_tuned() {
            return None;
        }
        let what = Tunable::Model;
        if !own.is_tuned() {
            let chosen = vec![Chosen { parameters: own.chosen_of(tuned), trials: trials.len() }];
            let people = self.splitting.volunteers(&self.data);
            return Some(Tuned { what, on: TunedOn::Volunteers, people, chosen });
        }
        let counted = tuned.options().into_iter().enumerate().map(|(place, option)| Chosen {
            parameters: option.chosen_of(tuned),
            trials: trials.iter().filter(|scored| scored.chosen == Some(place)).count(),
        });
        let chosen = counted.filter(|chosen| chosen.trials > 0).collect();
        Some(Tuned { what, on: TunedOn::PrivateValidation, people: asked, chosen })
    }
}

impl Comparison {
    /// Adds to each [`Reference`] (score without a release), except for the baseline, the p-value of a
    /// significance test against the baseline.
    pub(super) fn judge_references(references: &mut [Reference], tested: usize) {
        let p_value = |own: &Reference| {
            let is_baseline = |other: &&Reference| {
                other.knows == Knows::Guess && other.scorer == own.scorer && other.metric == own.metric
            };
            let baseline = references.iter().find(is_baseline).filter(|_| own.knows != Knows::Guess)?;
            let influences = [&own.influences[..], &baseline.influences];
            let gain = Gain::new(own.metric, [&own.scores, &baseline.scores], influences, tested);
            Some(gain.map_or(1.0, |gain| gain.p_value()))
        };
        let p_values: Vec<Option<f64>> = references.iter().map(p_value).collect();
        references.iter_mut().zip(p_values).for_each(|(own, p_value)| own.p_value = p_value);
    }

    /// Adds to each row of a model its [`Worth`] in clean records, and a significance test ([`Against`])
    /// against the better of two predictions without a release. If a model learned from volunteers' records,
    /// also adds the number of clean records that would improve this model as much as the release does.
    pub(super) fn judge(&self, rows: &mut [Row], references: &[Reference], released: usize, tested: usize) {
        for rows in rows.chunk_by_mut(Row::is_scored_like) {
            let (scorer, metric) = (rows[0].scorer.clone(), rows[0].metric);
            let own = || references.iter().filter(|other| other.scorer == scorer && other.metric == metric);
            let without = own().filter(|other| other.knows != Knows::Clean);
            let Some(baseline) = without.min_by(|a, b| metric.best_first(a.mean, b.mean)) else {
                continue;
            };
            let clean = own().filter(|other| other.knows == Knows::Clean);
            let points: Vec<(usize, &[f64])> =
                clean.map(|other| (other.records, &other.scores[..])).collect();
            let guesses =
                own().find(|other| other.knows == Knows::Guess).map_or(&[][..], |other| &other.scores);
            let curve = LearningCurve::new(metric, guesses, &points, self.seed);
            for row in rows {
                let influences = [&row.influences[..], &baseline.influences];
                let gain = Gain::new(metric, [&row.scores, &baseline.scores], influences, tested);
                row.against = Some(Against {
                    baseline: baseline.knows,
                    gain: gain.map_or(f64::NAN, |gain| gain.mean),
                    p_value: gain.map_or(1.0, |gain| gain.p_value()),
                    standard_error: gain.map_or(f64::NAN, |gain| gain.standard_error),
                    degrees: gain.map_or(f64::NAN, |gain| gain.degrees),
                });
                let worth = curve.as_ref().and_then(|curve| curve.worth(&row.scores));
                let volunteers = own().find(|other| other.knows == Knows::Volunteers);
                row.adds = curve
                    .as_ref()
                    .zip(volunteers)
                    .and_then(|(curve, volunteers)| curve.added(&row.scores, &volunteers.scores));
                row.worth = worth.map(|worth| Worth { at_most: row.at_most(released), ..worth });
            }
        }
    }
}

impl Row {
    /// Upper bound on the [`Worth`] of a release with the row's guarantee, if one is known.
    ///
    /// A bound is known for local differential privacy of whole records with δ = 0, if neither volunteers'
    /// records nor private validation were used.
    fn at_most(&self, released: usize) -> Option<f64> {
        let dp = self.guarantee.local_dp(Unit::Record)?;
        let is_alone = self.guarantee.shaped_by == ShapedBy::PublicKnowledge && self.tuned.is_empty();
        let is_alone = is_alone && self.adds.is_none();
        (dp.delta == 0.0 && is_alone).then(|| at_most(released, dp.epsilon))
    }
}

impl Cell {
    fn trust(&self) -> Trust {
        match Trust::in_release(self.mechanism()) {
            Trust::Nobody if self.shuffled.is_some() => Trust::Shuffler,
            Trust::Curator if self.mechanism().releases().family().is_some() => Trust::Model,
            trust => trust,
        }
    }

    /// Guarantee of a release of `released` records. It includes the answers of people in private validation,
    /// and excludes volunteers on whose records the mechanism's parameters were chosen.
    fn guarantee(&self, released: usize, tuned_model: Option<&Tuned>) -> Result<Guarantee> {
        let release = match self.shuffled {
            Some(Shuffled { people, delta }) => self.mechanism().shuffled(people, delta)?,
            None => self.mechanism().guarantee_of(released),
        };
        let release = if self.tuned.is_some() { chosen_by_volunteers(release) } else { release };
        let is_asked = |tuned: &Tuned| tuned.on == TunedOn::PrivateValidation;
        match tuned_model.is_some_and(is_asked) {
            true => with_asked(&release, self.epsilon.unwrap_or(f64::INFINITY)),
            false => Ok(release),
        }
    }
}
