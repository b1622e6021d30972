//! Checks of the settings of a comparison.

use super::data::misfit;
use super::split::check_share;
use super::{Candidate, Comparison, Error, Result};
use scumble_core::{Budget, TargetDomain};
use serde_json::Value;

/// Largest number of trials.
const MOST_TRIALS: usize = 100_000;

impl Comparison {
    /// Checks all settings.
    ///
    /// # Errors
    /// [`Error::Data`] for a setting that is out of range or does not fit the data, and for a mechanism,
    /// model or metric that is listed twice. [`Error::Core`] for an invalid budget.
    pub(super) fn check_settings(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Data(problem));
        check_trials(self.trials)?;
        check_epsilons(&self.epsilons, self.delta)?;
        for (at, candidate) in self.candidates.iter().enumerate() {
            let is_the_same = |before: &Candidate| {
                before.plugin.name == candidate.plugin.name && before.given() == candidate.given()
            };
            if self.candidates[..at].iter().any(is_the_same) {
                return refuse(format!("the mechanism {:?} is listed twice", candidate.plugin.name));
            }
        }
        for (at, model) in self.models.iter().enumerate() {
            if !model.fits(self.data.domain.target()) {
                return Err(misfit(&self.data, &format!("the model {:?}", model.name())));
            }
            if self.models[..at].contains(model) {
                return refuse(format!("the model {model} is listed twice"));
            }
        }
        for (at, metric) in self.metrics.iter().enumerate() {
            if !metric.fits(self.data.domain.target()) {
                return Err(misfit(&self.data, &format!("the metric {:?}", metric.name())));
            }
            if self.metrics[..at].contains(metric) {
                return refuse(format!("the metric {metric} is listed twice"));
            }
        }
        if self.models.is_empty() || !self.metrics.iter().any(|metric| metric.is_of_model()) {
            return refuse(
                "a comparison needs at least one model and at least one metric of its predictions".into(),
            );
        }
        self.adversary.check()?;
        self.splitting.check(&self.data)?;
        self.check_tuning()?;
        check_share("label_share", self.label_share)
    }

    /// Checks the parameters whose values the comparison chooses. A mechanism's parameter needs a non-empty
    /// list of values, and volunteers with labels. A model's hyper-parameter needs volunteers with labels or,
    /// if the target is a class, private validation ([`validation`](crate::validation)).
    fn check_tuning(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Data(problem));
        let is_tuned = |candidate: &&Candidate| !candidate.tune.is_empty();
        let lists = self
            .candidates
            .iter()
            .flat_map(|candidate| candidate.tune.iter().map(move |list| (candidate, list)));
        for (candidate, (parameter, values)) in lists {
            let name = candidate.plugin.name;
            if values.is_empty() {
                return refuse(format!(
                    "the mechanism {name:?}: the list of values for {parameter} is empty"
                ));
            }
            if !matches!(candidate.parameters, Value::Null | Value::Object(_)) {
                return refuse(format!("the mechanism {name:?}: its parameters are not an object"));
            }
        }
        let has_labelled_volunteers = self.splitting.volunteers > 0.0 && !self.splitting.unlabelled;
        if let (false, Some(candidate)) = (has_labelled_volunteers, self.candidates.iter().find(is_tuned)) {
            let name = candidate.plugin.name;
            return refuse(format!(
                "the mechanism {name:?} is tuned on volunteers with labels, and there are none: set [split] \
                 volunteers, for example to 0.3"
            ));
        }
        let Some(model) = self.models.iter().find(|model| model.is_tuned()) else {
            return Ok(());
        };
        let name = model.name();
        match (self.splitting.validation, self.data.domain.target()) {
            (0.0, _) if !has_labelled_volunteers => refuse(format!(
                "the model {name:?} is tuned on volunteers with labels or by private validation, and there \
                 is neither: set [split] volunteers, for example to 0.3, or validation, for example to 0.2"
            )),
            (0.0, _) | (_, TargetDomain::Class { .. }) => Ok(()),
            _ => refuse(format!(
                "the model {name:?} cannot be tuned by private validation, which needs classes, and {:?} is \
                 a number: tune it on volunteers",
                self.data.target
            )),
        }
    }
}

/// Checks the number of trials.
///
/// # Errors
/// [`Error::Data`] for zero, or for more than 100,000.
pub(super) fn check_trials(trials: usize) -> Result<()> {
    if (1..=MOST_TRIALS).contains(&trials) {
        return Ok(());
    }
    Err(Error::Data(format!("a comparison needs between 1 and {MOST_TRIALS} trials, not {trials}")))
}

/// Checks the budgets.
///
/// # Errors
/// [`Error::Data`] if `epsilons` is empty or has the same ε twice. [`Error::Core`] for an invalid ε or δ.
pub(super) fn check_epsilons(epsilons: &[f64], delta: f64) -> Result<()> {
    if epsilons.is_empty() {
        return Err(Error::Data("a comparison needs one epsilon or more".into()));
    }
    for (at, &epsilon) in epsilons.iter().enumerate() {
        Budget::new(epsilon, delta)?;
        if epsilons[..at].contains(&epsilon) {
            return Err(Error::Data(format!("epsilon {epsilon} is listed twice")));
        }
    }
    Ok(())
}
