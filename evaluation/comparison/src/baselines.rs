//! Models that learn from no release, for comparison with models that do. They learn from some or all
//! training records in the clear, or from the records of volunteers (people who allow this).

use super::cells::Cell;
use super::evidence::Sample;
use super::reference::{Knows, LearnsFrom, Reference};
use super::scored::Scored;
use super::tuning::Rehearsal;
use super::{Candidate, Comparison, Metric, Result, Scorer};
use scumble_classic::IDENTITY;
use scumble_core::{Brief, Budget, TargetDomain, Volunteers};
use serde_json::Value;

/// Smallest number of records on a learning curve.
const FEWEST: usize = 20;

impl Comparison {
    /// Numbers of training records at which the learning curve (a model's score by this number) is measured.
    /// The first number is the larger of [`FEWEST`] and twice the number of classes. It is repeatedly
    /// doubled, and the last number is the number of training records of a trial.
    fn clean_sizes(&self) -> Vec<usize> {
        let (released, _) = self.split(0).sizes();
        let classes = match self.data.domain.target() {
            TargetDomain::Class { levels } => levels.len(),
            _ => 1,
        };
        let fewest = FEWEST.max(2 * classes);
        let doubled = std::iter::successors(Some(fewest), |size| Some(2 * size));
        doubled.take_while(|size| *size < released).chain([released]).collect()
    }

    /// One [`Cell`] for each set of records that models learn from instead of a release. Each cell scores all
    /// models of the comparison.
    pub(super) fn reference_cells(
        &self,
        volunteers: &Volunteers,
        rehearsal: Option<&Rehearsal>,
    ) -> Result<Vec<Cell>> {
        let from_volunteers = rehearsal.and(volunteers.table()).map(|_| LearnsFrom::Volunteers);
        let clean = self.clean_sizes().into_iter().map(LearnsFrom::Clean);
        let candidate = Candidate::new(IDENTITY);
        let scorers = self.chosen_scorers(&candidate, rehearsal, f64::INFINITY)?;
        let scorers: Vec<Scorer> =
            scorers.into_iter().filter(|scorer| matches!(scorer, Scorer::Model(_))).collect();
        let brief = Brief::new(self.data.domain.clone(), Budget::pure(f64::INFINITY)?);
        let designed = IDENTITY.design(&Value::Null, &brief)?;
        let cell = |learns_from: LearnsFrom| Cell {
            parameters: candidate.given(),
            candidate: candidate.clone(),
            design: None,
            epsilon: None,
            designed: designed.clone(),
            tuned: None,
            scorers: scorers.clone(),
            shuffled: None,
            learns_from,
        };
        Ok(clean.chain(from_volunteers).map(cell).collect())
    }

    /// One [`Reference`] (score without a release) for each model, metric and set of training data. `scored`
    /// has the scores of all trials, cell by cell in the order of `cells`. `baseline` returns, for a metric,
    /// the scores of the majority-class or mean baseline in all trials.
    pub(super) fn references(
        &self,
        cells: &[Cell],
        scored: &[Vec<Scored>],
        baseline: impl Fn(Metric) -> Sample,
        volunteers: usize,
    ) -> Vec<Reference> {
        let models = self.scorers().into_iter().enumerate();
        let models: Vec<(usize, Scorer)> =
            models.filter(|(_, scorer)| matches!(scorer, Scorer::Model(_))).collect();
        let mut references = vec![];
        for (at, scorer) in &models {
            for &metric in self.metrics.iter().filter(|metric| metric.is_of_model()) {
                references.push(Reference::new((Knows::Guess, 0), scorer, metric, baseline(metric)));
                for (cell, trials) in cells.iter().zip(scored.chunks(self.trials)) {
                    let knows = match cell.learns_from {
                        LearnsFrom::Clean(records) => (Knows::Clean, records),
                        LearnsFrom::Volunteers => (Knows::Volunteers, volunteers),
                        LearnsFrom::Release => continue,
                    };
                    let trials: Vec<&Scored> = trials.iter().map(|scorers| &scorers[*at]).collect();
                    references.push(Reference::new(knows, scorer, metric, Sample::new(metric, &trials)));
                }
            }
        }
        references
    }
}
