//! Mechanism that releases a model learned by noisy gradient descent.

use crate::basis::{Basis, Grids};
use crate::coefficients::{Coefficients, of_weights, output_count, released};
use crate::descent::{Descent, StepNoise, descend, log_likelihood};
use crate::encoding::Encoding;
use crate::lesson::{Lesson, REACH};
use crate::noise::spent;
use crate::schedule::Schedule;
use crate::shapes::{Deviation, Shapes};
use ndarray::Array2;
use schemars::JsonSchema;
use scumble_accounting::{gaussian, search};
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Error, Evidence, Guarantee, Neighbours, Outcome,
    Randomness, RecordDomain, ReleasedModel, Releases, Result, Statistics, Table, TargetDomain, in_blocks,
    size,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name of the plugin for logistic regressions.
pub(crate) const LOGISTIC: &str = "private-logistic";
/// Name of the plugin for additive models.
pub(crate) const ADDITIVE: &str = "private-additive";

/// Model of all records under central differential privacy, learned by gradient descent on noisy sums of
/// clipped gradients. The model is linear in features of the record.
///
/// Every step uses every record. The gradient of a record is clipped to the norm C and rounded to a lattice.
/// An exact check on the lattice ensures that the norm of the rounded gradient is at most C. Sums of integers
/// are exact. The sums over two tables that differ in one replaced record are at most 2C apart in ℓ₂, and
/// over two tables that differ by one additional record at most C. Each sum gets discrete Gaussian noise, so
/// the steps compose like Gaussian mechanisms. The model has the mean of the weights over the second half of
/// the steps. For classes, further noisy steps calibrate it: they multiply the weights of each output by a
/// factor and move its intercept, so that the released probabilities fit the records. For a number, the model
/// predicts the number. For two classes, it predicts the logit of the second class. For more classes, it
/// predicts one logit per class.
///
/// At an infinite ε, there is no noise and no privacy claim.
///
/// ```
/// use scumble_core::{Budget, CuratorMechanism, Randomness};
/// use scumble_private_models::{GradientModel, PRIVATE_LOGISTIC};
///
/// let example = (PRIVATE_LOGISTIC.example)()?;
/// let mechanism = GradientModel::logistic(example.brief.domain, Budget::new(1.0, 1e-6)?)?;
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.columns()[..2], ["intercept", "coefficient of size"]);
/// let shares = release.key.model().unwrap().scores(&example.table)?;
/// assert_eq!(shares.dim(), (40, 2));
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GradientModel {
    state: State,
    basis: Basis,
    /// Number of outputs: one for a number or two classes, else one per class.
    outputs: usize,
    /// μ of [`Parameters::mu`].
    mu: f64,
    /// Noise of the descent for a table of one record, with its [`levels`]. Any table with the same levels
    /// uses this noise again. `None` at ε = ∞.
    cached_noise: Option<(Levels, StepNoise)>,
    /// Claims, the first for the relation of the parameters.
    claims: Vec<CentralDp>,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) family: Family,
    pub(crate) domain: RecordDomain,
    pub(crate) budget: Budget,
    pub(crate) parameters: Parameters,
}

/// Family of a model, and with it the features of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Family {
    /// Each number is a feature. Targets are classes.
    Logistic,
    /// Each number has features on knots, and pairs of columns have some. Targets are classes or numbers.
    Additive(Grids),
}

/// Parameters of the descent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    /// Neighbouring relation: "replace-one" record (the default; the number of records is public), or
    /// "add-or-remove-one", which needs `records`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) neighbours: Option<Neighbours>,
    /// Public estimate of the number of records. The rules for the descent use it in place of that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) records: Option<usize>,
    /// Number of steps over all records. The default follows a public rule from the number of records and the
    /// budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) steps: Option<usize>,
    /// C, the upper limit for the norm of a record's gradient, from 0.001 to 1000. The default is 1 for an
    /// additive model of classes, else 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clipping_norm: Option<f64>,
    /// Learning rate: factor of the mean gradient in a step of the weights, above zero and at most 1000. The
    /// default follows a public rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) learning_rate: Option<f64>,
    /// Momentum: share of the previous step of the weights that is added to the next, from 0 to 0.99. The
    /// default follows a public rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) momentum: Option<f64>,
    /// Number of steps of the calibration of a model of classes after the descent, 0 for none. The default
    /// follows a public rule from the number of records and the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calibration_steps: Option<usize>,
}

/// Upper limit for the number of steps; more take too long.
const MOST_STEPS: usize = 100_000;
/// Upper limit for a stated number of records.
const MOST_RECORDS: usize = 1_000_000_000_000;

impl Parameters {
    fn check(&self, plugin: &str) -> Result<()> {
        match self.records {
            Some(records) => {
                let (range, fits) =
                    (format!("from 1 to {MOST_RECORDS}"), (1..=MOST_RECORDS).contains(&records));
                Error::check(plugin, "records", records, &range, fits)?;
            }
            None if self.neighbours() == Neighbours::AddOrRemoveOne => {
                let problem = "a design for add-or-remove-one hides the number of records, so that it needs \
                               records, a public number of about as many";
                return Err(Error::parameter(plugin, problem));
            }
            None => {}
        }
        for (name, least, steps) in
            [("steps", 1, self.steps), ("calibration_steps", 0, self.calibration_steps)]
        {
            let Some(steps) = steps else { continue };
            let (range, fits) =
                (format!("from {least} to {MOST_STEPS}"), (least..=MOST_STEPS).contains(&steps));
            Error::check(plugin, name, steps, &range, fits)?;
        }
        if let Some(norm) = self.clipping_norm {
            Error::check(plugin, "clipping_norm", norm, "from 0.001 to 1000", (1e-3..=1e3).contains(&norm))?;
        }
        if let Some(rate) = self.learning_rate {
            let fits = rate > 0.0 && rate <= 1e3;
            Error::check(plugin, "learning_rate", rate, "above zero and at most 1000", fits)?;
        }
        if let Some(momentum) = self.momentum {
            Error::check(plugin, "momentum", momentum, "from 0 to 0.99", (0.0..=0.99).contains(&momentum))?;
        }
        Ok(())
    }

    pub(crate) fn neighbours(&self) -> Neighbours {
        self.neighbours.unwrap_or(Neighbours::ReplaceOne)
    }

    /// μ of the Gaussian differential privacy that corresponds to `budget` under the relation "replace one
    /// record", for noise that needs all of `budget` under the relation of these parameters. Infinite at ε =
    /// ∞.
    ///
    /// # Errors
    /// Returns no error for a valid budget.
    pub(crate) fn mu(&self, budget: Budget) -> Result<f64> {
        if budget.epsilon() == f64::INFINITY {
            return Ok(f64::INFINITY);
        }
        let budget = spent(budget)?;
        let mu = gaussian::mu(budget.epsilon(), budget.delta()).unwrap_or(0.0);
        // A replaced record changes a sum by up to two gradients, an added one by one.
        Ok(if self.neighbours() == Neighbours::AddOrRemoveOne { 2.0 * mu } else { mu })
    }

    /// The schedule `rule`, with the parameters that are given.
    fn in_place_of(&self, rule: Schedule) -> Schedule {
        Schedule {
            steps: self.steps.unwrap_or(rule.steps),
            clipping_norm: self.clipping_norm.unwrap_or(rule.clipping_norm),
            learning_rate: self.learning_rate.unwrap_or(rule.learning_rate),
            momentum: self.momentum.unwrap_or(rule.momentum),
            calibration_steps: self.calibration_steps.unwrap_or(rule.calibration_steps),
            ..rule
        }
    }
}

impl Family {
    /// Name of the plugin.
    pub(crate) fn plugin(&self) -> &'static str {
        match self {
            Self::Logistic => LOGISTIC,
            Self::Additive(_) => ADDITIVE,
        }
    }

    /// Features of records of `domain`.
    fn basis(&self, domain: &RecordDomain) -> Result<Basis> {
        let grids = match self {
            Self::Logistic => None,
            Self::Additive(grids) => Some(grids),
        };
        Basis::new(self.plugin(), domain, grids)
    }

    /// Schedule by a public rule.
    fn rule(&self, records: usize, basis: &Basis, mu: f64) -> Schedule {
        match self {
            Self::Logistic => Schedule::logistic(records, mu),
            Self::Additive(_) => Schedule::additive(records, basis.squared_norm(), basis.has_classes(), mu),
        }
    }
}

impl TryFrom<State> for GradientModel {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let plugin = state.family.plugin();
        state.parameters.check(plugin)?;
        if let (Family::Logistic, TargetDomain::Real { .. } | TargetDomain::None) =
            (&state.family, state.domain.target())
        {
            let problem = "it learns a category, and the target is not a category";
            return Err(Error::not_applicable(plugin, problem));
        }
        if let (Some(1..), TargetDomain::Real { .. }) =
            (state.parameters.calibration_steps, state.domain.target())
        {
            let problem = "a model of a number is not calibrated, so that calibration_steps can only be 0";
            return Err(Error::parameter(plugin, problem));
        }
        let basis = state.family.basis(&state.domain)?;
        let outputs = output_count(&state.domain);
        size::check_held(plugin, "the number of features, times classes,", &[basis.width(), outputs], 64)?;
        let mu = state.parameters.mu(state.budget)?;
        let mut made = Self { state, basis, outputs, mu, cached_noise: None, claims: vec![] };
        // A release that could not be saved, such as two coefficients of one name, is refused at the design.
        made.outcome(&Array2::zeros((outputs, made.basis.width())), None)?;
        let schedule = made.schedule(1);
        if let Some(noise) = made.noise(schedule)? {
            made.claims = made.claims_of(schedule, &noise)?;
            made.cached_noise = Some((levels(schedule), noise));
        }
        Ok(made)
    }
}

impl GradientModel {
    /// Creates the mechanism that releases a logistic regression of records of `domain` within `budget`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features that are neither numbers within their own bounds nor categories,
    /// and for a target that is not a class. [`Error::Budget`] for δ = 0, and if the noise would need a σ
    /// above 2⁵⁹ lattice steps.
    pub fn logistic(domain: RecordDomain, budget: Budget) -> Result<Self> {
        State { family: Family::Logistic, domain, budget, parameters: Parameters::default() }.try_into()
    }

    /// State of the mechanism that a plugin designs for the domain and the budget of `brief`.
    ///
    /// # Errors
    /// Same errors as [`logistic`](Self::logistic).
    pub(crate) fn design(family: Family, parameters: Parameters, brief: &Brief) -> Result<State> {
        brief.budget.check_for_gaussian(family.plugin())?;
        let state = State { family, domain: brief.domain.clone(), budget: brief.budget, parameters };
        Ok(Self::try_from(state)?.state)
    }

    /// Numbers of outputs and of features.
    fn shape(&self) -> (usize, usize) {
        (self.outputs, self.basis.width())
    }

    /// Claims for `noise` on the sums of gradients of `schedule`. The relation that adds or removes one
    /// record implies a claim for the relation that replaces one, with the smallest ε up to a millionth.
    fn claims_of(&self, schedule: Schedule, noise: &StepNoise) -> Result<Vec<CentralDp>> {
        let budget = spent(self.state.budget)?;
        let delta = budget.delta();
        let own = CentralDp::new(budget.epsilon(), delta, self.state.parameters.neighbours());
        if own.neighbours == Neighbours::ReplaceOne {
            return Ok(vec![own]);
        }
        let is_enough = |epsilon: f64| {
            let budget = Budget::new(epsilon, delta);
            let needed = budget.and_then(|budget| self.step_noise(schedule, Neighbours::ReplaceOne, budget));
            needed.is_ok_and(|needed| needed.descent.scale() <= noise.descent.scale())
        };
        let epsilon = search::nearly_least(1e-6, 1e6, 1e-6, is_enough).ok_or(Error::Budget {
            name: "epsilon",
            range: "large enough for a claim about replacing one record",
            value: budget.epsilon(),
        })?;
        Ok(vec![own, CentralDp::new(epsilon, delta, Neighbours::ReplaceOne)])
    }

    /// Returns the schedule of the descent for `records` records, unless the parameters state a public number
    /// of records. Without such a number, the number of records is public.
    fn schedule(&self, records: usize) -> Schedule {
        let records = self.state.parameters.records.unwrap_or(records);
        self.state.parameters.in_place_of(self.state.family.rule(records, &self.basis, self.mu))
    }

    fn step_noise(&self, schedule: Schedule, neighbours: Neighbours, budget: Budget) -> Result<StepNoise> {
        StepNoise::new(self.shape(), schedule, neighbours, &self.state.domain, budget)
    }

    fn noise(&self, schedule: Schedule) -> Result<Option<StepNoise>> {
        if self.mu == f64::INFINITY {
            return Ok(None);
        }
        match &self.cached_noise {
            Some((cached, noise)) if *cached == levels(schedule) => Ok(Some(noise.clone())),
            _ => {
                let neighbours = self.state.parameters.neighbours();
                self.step_noise(schedule, neighbours, spent(self.state.budget)?).map(Some)
            }
        }
    }

    /// Returns the training data that consist of the records of `table`.
    fn lesson(&self, table: &Table) -> Result<Lesson<'_>> {
        let mut lesson = Lesson::new(&self.basis, self.outputs);
        in_blocks(&self.state.domain.layout(), table, |records, shares| lesson.add(records, shares))?;
        Ok(lesson)
    }

    /// Learns from the training data `lesson`.
    fn learned(&self, lesson: &mut Lesson, randomness: &mut Randomness) -> Result<Learned> {
        let schedule = self.schedule(lesson.people());
        let noise = self.noise(schedule)?;
        let mut stream = randomness.streams().stream(0);
        let Descent { weights, factors, sums } = descend(lesson, schedule, noise.as_ref(), &mut stream)?;
        let deviation = noise.map(|noise| Deviation {
            weight: noise.descent.scale() * schedule.noise_gain(),
            factor: noise.calibration.scale() * schedule.calibration(self.outputs).noise_gain() / REACH,
            factors,
        });
        Ok(Learned { weights, deviation, sums })
    }

    /// Release of the model with these weights, and with what is known about their noise.
    fn outcome(
        &self,
        weights: &Array2<f64>,
        deviation: Option<&Deviation>,
    ) -> Result<(Table, Arc<dyn ReleasedModel>)> {
        let domain = &self.state.domain;
        Ok(match self.state.family {
            Family::Logistic => {
                let encoding = Encoding::for_domain(LOGISTIC, domain)?;
                let model = Coefficients::new(domain, &encoding, weights)?;
                let own = of_weights(&encoding, domain.columns().len());
                let own: Vec<f64> = own.outer_iter().map(|row| row.dot(&row).sqrt()).collect();
                let deviations = deviation.map(|deviation| deviation.of(model.matrix(), &own, 1.0));
                let model = model.with_deviations(deviations);
                (model.table()?, Arc::new(model))
            }
            Family::Additive(_) => {
                let model = Shapes::new(domain, &self.basis, weights, deviation)?;
                (model.table()?, Arc::new(model))
            }
        })
    }
}

/// Number of steps, C, and number of calibration steps. The noise of a descent depends on no other numbers of
/// its schedule.
type Levels = (usize, f64, usize);

fn levels(schedule: Schedule) -> Levels {
    (schedule.steps, schedule.clipping_norm, schedule.calibration_steps)
}

/// Result of a descent.
struct Learned {
    /// Weights (outputs × features).
    weights: Array2<f64>,
    /// Bounds on the noise of the weights; `None` at ε = ∞.
    deviation: Option<Deviation>,
    /// Noisy sums of gradients of all steps, in order.
    sums: Vec<f64>,
}

fn theorem(neighbours: Neighbours) -> String {
    let (differ, distance) = match neighbours {
        Neighbours::ReplaceOne => ("differ in one record", "2C"),
        Neighbours::AddOrRemoveOne => ("differ by one additional record", "C"),
    };
    format!(
        "gradients clipped to C, as integers: two sums that {differ} lie {distance} apart in ℓ₂, and with \
         discrete Gaussian noise (Canonne, Kamath and Steinke 2020) steps compose by μ² = Σμᵢ² (Dong, Roth \
         and Su 2022, Corollary 3.3); δ(ε) by Balle and Wang (2018), Theorem 8, plus what the lattice adds"
    )
}

/// Accumulator of the records of a release.
struct Gathered<'m> {
    mechanism: &'m GradientModel,
    lesson: Lesson<'m>,
}

impl Accumulator for Gathered<'_> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        self.lesson.add(records, None)
    }

    fn add_shares(&mut self, records: &[f64], shares: &[u16]) -> Result<()> {
        self.lesson.add(records, Some(shares))
    }

    fn release(mut self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let guarantee = self.mechanism.guarantee().under(randomness.provenance());
        let Learned { weights, deviation, .. } = self.mechanism.learned(&mut self.lesson, randomness)?;
        let (table, model) = self.mechanism.outcome(&weights, deviation.as_ref())?;
        Ok(released(table, guarantee, model))
    }
}

impl CuratorMechanism for GradientModel {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        if self.mu == f64::INFINITY {
            let discloses = vec!["the model trained on all records, without noise".into()];
            return Guarantee { discloses, ..Guarantee::default() };
        }
        let notions = self.claims.iter().map(|dp| (dp.clone(), theorem(dp.neighbours)));
        Guarantee::for_curator(self.state.parameters.neighbours(), notions)
    }

    fn releases(&self) -> Releases {
        let learner = match self.state.domain.target() {
            TargetDomain::Class { .. } => "logistic",
            _ => "ridge",
        };
        match self.state.family {
            Family::Logistic => Releases::Model { family: "logistic", learner },
            Family::Additive(_) => Releases::Model { family: "additive", learner },
        }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        Box::new(Gathered { mechanism: self, lesson: Lesson::new(&self.basis, self.outputs) })
    }

    fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        Ok(match self.state.family {
            Family::Logistic => Arc::new(Coefficients::from_table(&self.state.domain, table)?),
            Family::Additive(_) => Arc::new(Shapes::from_table(&self.state.domain, &self.basis, table)?),
        })
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: self.mu.is_finite().then_some(self), ..Evidence::default() }
    }
}

/// Statistics through which an audit attacks a release: the noisy sums of gradients of all steps, in order.
impl Statistics for GradientModel {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        Ok(self.learned(&mut self.lesson(table)?, randomness)?.sums)
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let mut lesson = self.lesson(table)?;
        let schedule = self.schedule(lesson.people());
        let of_output = schedule.steps * self.basis.width() + schedule.calibration_steps * 2;
        scumble_core::check_width(self.outputs * of_output, drawn.len())?;
        match self.noise(schedule)? {
            Some(noise) => log_likelihood(&mut lesson, schedule, &noise, drawn),
            None => Ok(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PRIVATE_ADDITIVE;
    use crate::noise::STEP;
    use scumble_adversary::{Effort, Verdict, audit};
    use scumble_core::{Brief, Designed, Domain, Target, collected};
    use serde_json::json;

    /// Domain and table of forty records that consist of the intercept only, so that two classes have
    /// opposite gradients.
    fn intercepts() -> (RecordDomain, Table) {
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        let domain = RecordDomain::new(vec![], Domain::empty(), TargetDomain::Class { levels }).unwrap();
        let labels = (0..40).map(|row| usize::from(row % 3 == 0)).collect();
        (domain, Table::new(vec![], Array2::zeros((40, 0)), Target::Class(labels)).unwrap())
    }

    fn is_broken(variant: &Designed, table: &Table) -> bool {
        let effort = Effort { samples: 100_000, ..Effort::quick() };
        let findings = audit("a variant", variant, Some(table), effort).unwrap();
        findings.iter().any(|finding| finding.verdict == Verdict::Broken)
    }

    /// A variant without clipping: the noise is for C = ¼, and the gradients have their own norm of ½.
    #[test]
    fn a_descent_without_clipping_is_caught() {
        let (domain, table) = intercepts();
        let brief = Brief::new(domain, Budget::new(1.0, 0.01).unwrap());
        let parameters = json!({"steps": 1, "clipping_norm": 0.25, "calibration_steps": 0});
        let design = PRIVATE_ADDITIVE.design(&parameters, &brief).unwrap();
        let honest: &GradientModel = design.mechanism().downcast_ref().unwrap();
        let is_caught = |norm: f64| {
            let mut variant = honest.clone();
            variant.state.parameters.clipping_norm = Some(norm);
            variant.cached_noise = variant.cached_noise.map(|(_, noise)| ((1, norm, 0), noise));
            is_broken(&Designed::curator(variant), &table)
        };
        assert!(!is_caught(0.25) && is_caught(1e3));
    }

    /// A variant whose noise pays for the descent only.
    #[test]
    fn a_calibration_without_budget_is_caught() {
        let (domain, table) = intercepts();
        let brief = Brief::new(domain, Budget::new(1.0, 0.01).unwrap());
        let design = PRIVATE_ADDITIVE.design(&json!({"steps": 1, "calibration_steps": 5}), &brief).unwrap();
        let honest: &GradientModel = design.mechanism().downcast_ref().unwrap();
        let mut variant = honest.clone();
        let free = Schedule { calibration_steps: 0, ..variant.schedule(40) };
        let noise = variant.step_noise(free, Neighbours::ReplaceOne, brief.budget).unwrap();
        variant.cached_noise = variant.cached_noise.map(|(levels, _)| (levels, noise));
        assert!(!is_broken(&Designed::curator(honest.clone()), &table));
        assert!(is_broken(&Designed::curator(variant), &table));
    }

    /// A variant whose momentum sees gradients that are not clipped, and get no noise.
    #[derive(Debug, Clone)]
    struct UnclippedMomentum(GradientModel);

    impl CuratorMechanism for UnclippedMomentum {
        fn domain(&self) -> &RecordDomain {
            self.0.domain()
        }

        fn guarantee(&self) -> Guarantee {
            self.0.guarantee()
        }

        fn releases(&self) -> Releases {
            self.0.releases()
        }

        fn start(&self) -> Box<dyn Accumulator + '_> {
            collected(self.domain(), |table, randomness| {
                let mut lesson = self.0.lesson(table)?;
                let schedule = self.0.schedule(lesson.people());
                let Schedule { records, steps, clipping_norm, learning_rate, momentum, .. } = schedule;
                let (noise, mut stream) = (self.0.noise(schedule)?.unwrap(), randomness.streams().stream(0));
                let rate = learning_rate / records as f64;
                let mut weights = Array2::zeros((1, 1));
                for _ in 0..steps {
                    let whole = lesson.gradient(&weights, 1e3)?[0] as f64 * STEP;
                    let noisy =
                        noise.descent.added(&lesson.gradient(&weights, clipping_norm)?, &mut stream)[0];
                    weights -= rate * (noisy + momentum * whole);
                }
                let (table, model) = self.0.outcome(&weights, None)?;
                released(table, self.guarantee(), model).release()
            })
        }
    }

    #[test]
    fn momentum_of_unclipped_gradients_is_caught() {
        let (domain, table) = intercepts();
        let brief = Brief::new(domain, Budget::new(1.0, 0.01).unwrap());
        let parameters = json!({"steps": 2, "clipping_norm": 0.05, "momentum": 0.9, "calibration_steps": 0});
        let design = PRIVATE_ADDITIVE.design(&parameters, &brief).unwrap();
        let honest: &GradientModel = design.mechanism().downcast_ref().unwrap();
        assert!(!is_broken(&Designed::curator(honest.clone()), &table));
        assert!(is_broken(&Designed::curator(UnclippedMomentum(honest.clone())), &table));
    }

    /// A direction of the weights in which the loss is flat has the noise of all steps.
    #[test]
    fn the_gain_of_the_noise_has_a_closed_form_in_short_descents() {
        let gain = |steps, momentum| {
            let rule = Schedule::logistic(10, 1.0);
            Schedule { steps, learning_rate: 20.0, momentum, ..rule }.noise_gain()
        };
        // With r = η/n = 2: one step; two steps, and the second is released; three steps, and the mean of the
        // second and third is released.
        let expected = [
            2.0,
            2.0 * (1.5f64.powi(2) + 1.0).sqrt(),
            2.0 * (1.625f64.powi(2) + 1.25f64.powi(2) + 0.25).sqrt(),
        ];
        for (steps, expected) in (1..).zip(expected) {
            assert!((gain(steps, 0.5) - expected).abs() < 1e-12, "{steps} steps: {}", gain(steps, 0.5));
        }
        assert!((gain(2, 0.0) - 8f64.sqrt()).abs() < 1e-12);
    }
}
