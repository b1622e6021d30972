//! Cells of a comparison. A cell is one candidate that applies to the data, designed at one budget ε.

use super::outcome::{Failed, LABEL_SHARE, SHUFFLED};
use super::reference::LearnsFrom;
use super::shuffler::Shuffled;
use super::tuning::Rehearsal;
use super::{
    Candidate, Chosen, Comparison, DesignCall, Error, Model, Result, Scorer, Skipped, Tunable, Tuned, TunedOn,
};
use rayon::prelude::*;
use scumble_core::{
    Brief, Budget, Design, Designed, Guarantee, Notion, Registry, Releases, Unit, Volunteers, number,
};
use scumble_custody::{Arrangement, asked};
use serde_json::Value;
use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, PoisonError};

/// Candidate that was designed at one budget, with the models, adversaries and other [`Scorer`]s of its
/// releases.
pub(super) struct Cell {
    /// Candidate with the chosen parameters.
    pub(super) candidate: Candidate,
    /// Parameters, as the outcome lists them: the given ones, with all candidate values of a tuned parameter.
    /// If they apply, the label's share of ε and a mark for shuffled reports are included.
    pub(super) parameters: Value,
    /// Call that makes this design; `None` if the data have no schema.
    pub(super) design: Option<DesignCall>,
    pub(super) epsilon: Option<f64>,
    pub(super) designed: Design,
    /// Choice of the mechanism's parameters on volunteers' records, if one was made.
    pub(super) tuned: Option<Tuned>,
    /// Scorers of the cell. Hyper-parameters that were chosen on volunteers' records are fixed to the chosen
    /// values.
    pub(super) scorers: Vec<Scorer>,
    pub(super) learns_from: LearnsFrom,
    /// Shuffling of the reports, if any. The `epsilon` of the cell is then the central ε of the shuffled
    /// reports.
    pub(super) shuffled: Option<Shuffled>,
}

/// Text for people: the mechanism and its budget.
impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.candidate.plugin.name)?;
        self.epsilon.map_or(Ok(()), |epsilon| write!(formatter, " at ε = {}", number::short(epsilon)))
    }
}

impl Cell {
    pub(super) fn mechanism(&self) -> &Designed {
        self.designed.mechanism()
    }

    /// Describes the failure of this cell in the trial with index `trial`, counted from 0.
    pub(super) fn failed(&self, trial: usize, error: &Error) -> Failed {
        Failed {
            mechanism: self.candidate.plugin.name.into(),
            parameters: self.parameters.clone(),
            epsilon: self.epsilon,
            trial: trial + 1,
            reason: error.to_string(),
        }
    }
}

/// Candidate that applies to the data, and the inputs for the design of its cells.
struct Entered<'a> {
    comparison: &'a Comparison,
    candidate: &'a Candidate,
    options: Vec<Candidate>,
    brief: &'a Brief,
    rehearsal: Option<&'a Rehearsal<'a>>,
    arrangement: Arrangement,
    /// Guarantee of the mechanism without a separate label mechanism.
    guarantee: Guarantee,
}

impl Entered<'_> {
    /// Cell at `epsilon` of the option (combination of parameter values) with the best score on volunteers'
    /// records. `probes` has an earlier design of each option. The option's design is reused if it has the
    /// budget `epsilon` or claims no differential privacy, provided that no separate mechanism releases the
    /// label.
    fn cell_at(&self, epsilon: f64, probes: &Mutex<Vec<Option<Design>>>) -> Result<Cell> {
        let place = self.comparison.best_of(&self.options, self.rehearsal, epsilon)?;
        // A mechanism without differential privacy makes the same claims at every budget.
        let is_probed = epsilon == self.comparison.probe_epsilon() || !self.guarantee.has_dp();
        let probe = match self.arrangement {
            Arrangement::Alone if is_probed => {
                probes.lock().unwrap_or_else(PoisonError::into_inner)[place].take()
            }
            _ => None,
        };
        let designed = probe.map_or_else(|| self.design(&self.options[place], epsilon), Ok)?;
        self.cell(&self.options[place], epsilon, designed, None)
    }

    fn design(&self, option: &Candidate, epsilon: f64) -> Result<Design> {
        let Candidate { plugin, parameters, .. } = option;
        let brief = self.comparison.brief_at(self.brief, epsilon)?;
        let registry = Registry::installed()?;
        let share = self.comparison.label_share;
        let design = self.arrangement.design(&registry, plugin, parameters, &brief, share);
        design.map_err(|error| named(option, epsilon, error))
    }

    /// Cell of a mechanism whose reports have the local ε `local`, and the central ε `epsilon` after
    /// shuffling.
    ///
    /// The result is `None` if no shuffling bound is known for the mechanism, or if its parameters are chosen
    /// by scores on volunteers' records.
    fn shuffled_at(&self, epsilon: f64, local: f64) -> Result<Option<Cell>> {
        let shuffled = self.comparison.shuffled();
        if !self.candidate.tune.is_empty()
            || self.guarantee.local_dp(Unit::for_features(&self.brief.domain)).is_none()
        {
            return Ok(None);
        }
        let (local, designed) = self.designed_for_shuffler(epsilon, local)?;
        if designed.mechanism().shuffled(shuffled.people, shuffled.delta).is_err() {
            return Ok(None);
        }
        let mut cell = self.cell(self.candidate, local, designed, Some(shuffled))?;
        cell.parameters[SHUFFLED] = true.into();
        Ok(Some(Cell { epsilon: Some(epsilon), ..cell }))
    }

    /// Design with the central ε `epsilon` after shuffling, and its local ε: at least `local`, which suffices
    /// for any mechanism. The bound of the mechanism itself may allow more. It depends on the local ε, so a
    /// few designs are tried.
    fn designed_for_shuffler(&self, epsilon: f64, local: f64) -> Result<(f64, Design)> {
        const TRIES: usize = 4;
        let levels = |design: &Design| match design.mechanism() {
            Designed::Local(mechanism) => mechanism.shuffled_levels(),
            Designed::Curator(_) => None,
        };
        let mut best = (local, self.design(self.candidate, local)?);
        let mut least = f64::INFINITY;
        for _ in 0..TRIES {
            let Some(own) = levels(&best.1) else { break };
            least = least.min(own);
            let larger = self.comparison.local_epsilon(epsilon, Some(least))?.filter(|local| *local > best.0);
            let Some(larger) = larger else { break };
            let design = self.design(self.candidate, larger)?;
            match levels(&design) {
                Some(own) if own >= least => {
                    best = (larger, design);
                    least = f64::INFINITY; // the next bound is that of this design
                }
                Some(own) => least = own, // its oracle has fewer levels
                None => break,
            }
        }
        Ok(best)
    }

    /// Cell of the option `chosen`, which was designed at `epsilon`, with or without shuffled reports.
    fn cell(
        &self,
        chosen: &Candidate,
        epsilon: f64,
        designed: Design,
        shuffled: Option<Shuffled>,
    ) -> Result<Cell> {
        let Self { comparison, candidate, arrangement, guarantee, .. } = self;
        let is_completed = *arrangement == Arrangement::WithLabel;
        let mut parameters = candidate.given();
        if is_completed {
            parameters[LABEL_SHARE] = comparison.label_share.into();
        }
        let protects = arrangement.protects(guarantee);
        Ok(Cell {
            design: comparison.design_call(
                chosen,
                protects,
                is_completed,
                epsilon,
                designed.mechanism(),
                shuffled,
            ),
            parameters,
            epsilon: guarantee.has_dp().then_some(epsilon),
            designed,
            tuned: (!candidate.tune.is_empty()).then(|| Tuned {
                what: Tunable::Mechanism,
                on: TunedOn::Volunteers,
                people: comparison.splitting.volunteers(&comparison.data),
                chosen: vec![Chosen { parameters: chosen.chosen_of(candidate), trials: comparison.trials }],
            }),
            scorers: comparison.chosen_scorers(chosen, self.rehearsal, epsilon)?,
            learns_from: LearnsFrom::Release,
            shuffled,
            candidate: chosen.clone(),
        })
    }
}

impl Comparison {
    /// Cells of every candidate that applies to the data, at every budget, and the candidates that do not
    /// apply. All cores design.
    pub(super) fn cells(
        &self,
        volunteers: &Volunteers,
        rehearsal: Option<&Rehearsal>,
    ) -> Result<(Vec<Cell>, Vec<Skipped>)> {
        let mut cells = vec![];
        let mut skipped = vec![];
        let shuffled = self.shuffled_epsilons()?;
        let designed = self
            .candidates
            .par_iter()
            .map(|candidate| self.cells_of(candidate, volunteers, rehearsal, &shuffled));
        for (candidate, own) in self.candidates.iter().zip(designed.collect::<Vec<_>>()) {
            match own {
                Ok(own) => cells.extend(own),
                Err(Error::Core(scumble_core::Error::NotApplicable { reason, .. })) => {
                    let (mechanism, parameters) = (candidate.plugin.name.into(), candidate.given());
                    let is_taught = candidate.plugin.descriptor.needs_volunteers;
                    let lacks_volunteers = is_taught && volunteers.table().is_none();
                    skipped.push(Skipped { mechanism, parameters, reason, lacks_volunteers });
                }
                Err(error) => return Err(error),
            }
        }
        let is_lost = |candidate: &&Candidate| {
            candidate.is_named
                && !cells.iter().any(|cell: &Cell| cell.candidate.plugin.name == candidate.plugin.name)
        };
        if let Some(lost) = self.candidates.iter().find(is_lost)
            && let Some(why) = skipped.iter().find(|skipped| skipped.mechanism == lost.plugin.name)
        {
            let Skipped { mechanism, reason, lacks_volunteers, .. } = why.clone();
            return Err(Error::LeftOut { mechanism, reason, lacks_volunteers });
        }
        Ok((cells, skipped))
    }

    fn cells_of(
        &self,
        candidate: &Candidate,
        volunteers: &Volunteers,
        rehearsal: Option<&Rehearsal>,
        shuffled: &[(f64, f64)],
    ) -> Result<Vec<Cell>> {
        let brief = Brief {
            volunteers: volunteers.clone(),
            task: self.task.clone(),
            people: Some(self.splitting.released(&self.data)),
            bins: self.data.bins(),
            ..Brief::new(self.data.domain.clone(), Budget::pure(1.0)?)
        };
        let options = candidate.options();
        let probes = self.probes(&options, &brief)?;
        check_alike(candidate, &probes)?;
        self.check_learned(candidate, probes[0].mechanism())?;
        self.check_learner(candidate, probes[0].mechanism())?;
        let (name, guarantee) = (candidate.plugin.name, probes[0].mechanism().guarantee());
        let requested = asked(self.protect, &candidate.parameters);
        let arrangement = Arrangement::choose(name, &guarantee, self.data.domain.target(), requested)?;
        let entered = Entered {
            comparison: self,
            candidate,
            options,
            brief: &brief,
            rehearsal,
            arrangement,
            guarantee,
        };
        let probes = Mutex::new(probes.into_iter().map(Some).collect());
        if !entered.guarantee.has_dp() {
            return Ok(vec![entered.cell_at(self.probe_epsilon(), &probes)?]);
        }
        let own = self.epsilons.par_iter().map(|&epsilon| entered.cell_at(epsilon, &probes));
        let mut cells: Vec<Cell> = own.collect::<Result<_>>()?;
        let through_shuffler =
            shuffled.par_iter().map(|&(epsilon, local)| entered.shuffled_at(epsilon, local));
        cells.extend(through_shuffler.collect::<Result<Vec<_>>>()?.into_iter().flatten());
        Ok(cells)
    }

    fn brief_at(&self, brief: &Brief, epsilon: f64) -> scumble_core::Result<Brief> {
        Budget::new(epsilon, self.delta).map(|budget| brief.with_budget(budget))
    }

    /// Budget ε of [`probes`](Self::probes), which show the kind of a mechanism's claims. It is the first
    /// finite budget of the comparison, or 1 without a finite budget. At an infinite budget, mechanisms
    /// claim nothing.
    fn probe_epsilon(&self) -> f64 {
        self.epsilons.iter().copied().find(|epsilon| epsilon.is_finite()).unwrap_or(1.0)
    }

    /// Design of every option at [`probe_epsilon`](Self::probe_epsilon). The guarantee of a design shows the
    /// kind of claims that its option makes.
    fn probes(&self, options: &[Candidate], brief: &Brief) -> Result<Vec<Design>> {
        let epsilon = self.probe_epsilon();
        let probe = |option: &Candidate| {
            let brief = self.brief_at(brief, epsilon)?;
            let Candidate { plugin, parameters, .. } = option;
            let design = plugin.design(parameters, &brief).map_err(|error| named(option, epsilon, error))?;
            Ok(design)
        };
        options.iter().map(probe).collect()
    }

    /// Checks that every model can learn from the releases of this mechanism.
    fn check_learned(&self, candidate: &Candidate, probe: &Designed) -> Result<()> {
        if probe.releases() == Releases::Tables {
            let reason = "it releases tables of counts, and no rows that a model learns from";
            return Err(scumble_core::Error::not_applicable(candidate.plugin.name, reason).into());
        }
        let Some(model) = self
            .models
            .iter()
            .find(|model| !model.learns(probe.releases().target(probe.domain().layout().target)))
        else {
            return Ok(());
        };
        let reason =
            format!("it releases labels as vectors, and the model {:?} does not learn vectors", model.name());
        Err(scumble_core::Error::not_applicable(candidate.plugin.name, reason).into())
    }

    /// Index of the option (combination of parameter values) with the best score of the first model on
    /// volunteers' records; 0 if `rehearsal`, which computes these scores, is `None`.
    fn best_of(&self, options: &[Candidate], rehearsal: Option<&Rehearsal>, epsilon: f64) -> Result<usize> {
        let Some(rehearsal) = rehearsal.filter(|_| options.len() > 1) else {
            return Ok(0);
        };
        let model = self.models[0].options().remove(0);
        let pairs: Vec<(Candidate, Model)> =
            options.iter().map(|option| (option.clone(), model.clone())).collect();
        rehearsal.best(&pairs, epsilon)
    }

    /// Checks, for a mechanism that releases a model, that the comparison has the learner beside which this
    /// model is scored, such as logistic regression.
    fn check_learner(&self, candidate: &Candidate, probe: &Designed) -> Result<()> {
        match probe.releases().learner() {
            Some(learner) if !self.models.iter().any(|model| model.name() == learner) => {
                let reason =
                    format!("it releases a model, and the learner beside it, {learner:?}, is not compared");
                Err(scumble_core::Error::not_applicable(candidate.plugin.name, reason).into())
            }
            _ => Ok(()),
        }
    }

    /// Scorers of this candidate's releases. With a `rehearsal`, a model with hyper-parameters to choose is
    /// replaced by its option with the best score on volunteers' records. It is not replaced if each trial
    /// chooses its option by private validation ([`validation`](crate::validation)).
    pub(super) fn chosen_scorers(
        &self,
        candidate: &Candidate,
        rehearsal: Option<&Rehearsal>,
        epsilon: f64,
    ) -> Result<Vec<Scorer>> {
        let chosen = |scorer: Scorer| match (scorer, rehearsal) {
            (Scorer::Model(model), Some(rehearsal))
                if model.is_tuned() && self.splitting.validation == 0.0 =>
            {
                let mut options = model.options();
                let pairs: Vec<(Candidate, Model)> =
                    options.iter().map(|option| (candidate.clone(), option.clone())).collect();
                Ok(Scorer::Model(options.remove(rehearsal.best(&pairs, epsilon)?)))
            }
            (scorer, _) => Ok(scorer),
        };
        self.scorers().into_iter().map(chosen).collect()
    }
}

/// Adds the mechanism's name and ε to a design's error about its budget. Other errors keep their message.
fn named(candidate: &Candidate, epsilon: f64, error: scumble_core::Error) -> Error {
    match error {
        // The error's numbers are shares of the budget, so the budget is added.
        scumble_core::Error::Budget { .. } => {
            let (name, epsilon) = (candidate.plugin.name, number::short(epsilon));
            Error::Data(format!("{name} at ε = {epsilon}: {error}"))
        }
        error => error.into(),
    }
}

/// Checks that all options make the same kind of claims, so that their scores may decide between them.
fn check_alike(candidate: &Candidate, probes: &[Design]) -> Result<()> {
    let guarantee = probes[0].mechanism().guarantee();
    for other in &probes[1..] {
        let other = other.mechanism().guarantee();
        if claimed(&other) != claimed(&guarantee) {
            return Err(Error::Data(format!(
                "{}: scores cannot choose between options with different guarantees: {}, and {}",
                candidate.plugin.name,
                guarantee.summary(),
                other.summary()
            )));
        }
    }
    Ok(())
}

/// Protected unit and privacy notion of each claim, without the claimed numbers.
fn claimed(guarantee: &Guarantee) -> Vec<(Unit, Discriminant<Notion>)> {
    guarantee.claims.iter().map(|claim| (claim.protects, discriminant(&claim.notion))).collect()
}
