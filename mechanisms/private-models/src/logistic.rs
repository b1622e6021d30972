//! Mechanism that releases a logistic regression.

use crate::coefficients::Coefficients;
use crate::descent::{Lesson, Schedule, descend, log_likelihood, noise_of_steps};
use crate::encoding::Encoding;
use crate::noise::{SumNoise, spent};
use schemars::JsonSchema;
use scumble_accounting::gaussian;
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Descriptor, Error, Evidence, Example, Guarantee,
    Neighbours, Outcome, Output, Randomness, RecordDomain, ReleasedModel, Releases, Result, Statistics,
    Table, TargetDomain, in_blocks, register, size,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const NAME: &str = "private-logistic";

/// Logistic regression of all records under central differential privacy, by gradient descent on noisy sums
/// of clipped gradients.
///
/// Every step uses every record. The gradient of a record is clipped to the norm C and rounded to a lattice.
/// An exact check on the lattice ensures that the norm of the rounded gradient is at most C. Sums of integers
/// are exact. The sums over two tables that differ in one replaced record are at most 2C apart in ℓ₂. Each
/// sum gets discrete Gaussian noise, so the steps compose like Gaussian mechanisms. The release is the mean
/// of the weights over the second half of the steps. For two classes, the model predicts the logit of the
/// second class. For more classes, it predicts one logit per class.
///
/// The default number of steps is nμ/(3√p), limited to the range from 10 to 200. Here n is the number of
/// records, p is the number of weights, and μ-Gaussian differential privacy corresponds to the budget. By
/// default, C is ½ and the learning rate is 16. At an infinite ε, there is no noise and no privacy claim.
///
/// ```
/// use scumble_core::{Budget, CuratorMechanism, Randomness};
/// use scumble_private_models::{PRIVATE_LOGISTIC, PrivateLogistic};
///
/// let example = (PRIVATE_LOGISTIC.example)()?;
/// let mechanism = PrivateLogistic::new(example.brief.domain, Budget::new(1.0, 1e-6)?)?;
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.columns()[..2], ["intercept", "coefficient of size"]);
/// let shares = release.key.model().unwrap().scores(&example.table)?;
/// assert_eq!(shares.dim(), (40, 2));
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PrivateLogistic {
    state: State,
    encoding: Encoding,
    /// Number of outputs: one for two classes, else one per class.
    outputs: usize,
    /// μ of the Gaussian differential privacy that corresponds to the budget; infinite at ε = ∞.
    mu: f64,
    /// Schedule (steps, C and learning rate) of the descent for a table of one record, and the noise of its
    /// steps. Any table with the same schedule uses this noise again. `None` at ε = ∞.
    cached_noise: Option<(Schedule, SumNoise)>,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    budget: Budget,
    parameters: Parameters,
}

/// Parameters of the mechanism.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of steps over all records. The default follows a public rule from the number of records and the
    /// budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    /// C, the upper limit for the norm of a record's gradient, from 0.001 to 1000. The default is 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clipping_norm: Option<f64>,
    /// Learning rate: factor of the mean gradient in a step of the weights, above zero and at most 1000. The
    /// default is 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learning_rate: Option<f64>,
}

/// Upper limit for the number of steps; more take too long.
const MOST_STEPS: usize = 100_000;

impl Parameters {
    fn check(&self) -> Result<()> {
        if let Some(steps) = self.steps {
            let (range, fits) = (format!("from 1 to {MOST_STEPS}"), (1..=MOST_STEPS).contains(&steps));
            Error::check(NAME, "steps", steps, &range, fits)?;
        }
        if let Some(norm) = self.clipping_norm {
            Error::check(NAME, "clipping_norm", norm, "from 0.001 to 1000", (1e-3..=1e3).contains(&norm))?;
        }
        if let Some(rate) = self.learning_rate {
            let fits = rate > 0.0 && rate <= 1e3;
            Error::check(NAME, "learning_rate", rate, "above zero and at most 1000", fits)?;
        }
        Ok(())
    }
}

impl TryFrom<State> for PrivateLogistic {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        state.parameters.check()?;
        let encoding = Encoding::for_domain(NAME, &state.domain)?;
        let TargetDomain::Class { levels } = state.domain.target() else {
            return Err(Error::not_applicable(
                NAME,
                "it learns a category, and the target is not a category",
            ));
        };
        let outputs = if levels.len() == 2 { 1 } else { levels.len() };
        size::check_held(NAME, "the number of columns, times classes,", &[encoding.width(), outputs], 64)?;
        let mut made = Self { state, encoding, outputs, mu: f64::INFINITY, cached_noise: None };
        if made.state.budget.epsilon().is_finite() {
            let budget = spent(made.state.budget)?;
            made.mu = gaussian::mu(budget.epsilon(), budget.delta()).unwrap_or(0.0);
            let schedule = made.schedule(1);
            made.cached_noise = made.noise(schedule)?.map(|noise| (schedule, noise));
        }
        Ok(made)
    }
}

impl PrivateLogistic {
    /// Creates the mechanism that releases a logistic regression of records of `domain` within `budget`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features that are neither numbers within their own bounds nor categories,
    /// and for a target that is not a class. [`Error::Budget`] for δ = 0, and if the noise would need a σ
    /// above 2⁵⁹ lattice steps.
    pub fn new(domain: RecordDomain, budget: Budget) -> Result<Self> {
        State { domain, budget, parameters: Parameters::default() }.try_into()
    }

    /// Number of weights.
    fn weights(&self) -> usize {
        self.outputs * (1 + self.state.domain.columns().len())
    }

    /// Returns the number of steps, the clipping norm C and the learning rate for `records` records. The
    /// number of records is public.
    fn schedule(&self, records: usize) -> Schedule {
        let Parameters { steps, clipping_norm, learning_rate } = self.state.parameters;
        let by_rule = records as f64 * self.mu / (3.0 * (self.weights() as f64).sqrt());
        Schedule {
            steps: steps.unwrap_or(by_rule.clamp(10.0, 200.0) as usize),
            clipping_norm: clipping_norm.unwrap_or(0.5),
            learning_rate: learning_rate.unwrap_or(16.0),
        }
    }

    fn noise(&self, schedule: Schedule) -> Result<Option<SumNoise>> {
        if self.mu == f64::INFINITY {
            return Ok(None);
        }
        match &self.cached_noise {
            Some((cached, noise)) if *cached == schedule => Ok(Some(noise.clone())),
            _ => noise_of_steps(self.weights(), schedule, spent(self.state.budget)?).map(Some),
        }
    }

    /// Returns the training data that consist of the records of `table`.
    fn lesson(&self, table: &Table) -> Result<Lesson<'_>> {
        let mut lesson = Lesson::new(&self.encoding, self.outputs);
        in_blocks(&self.encoding.layout, table, |records| lesson.add(records))?;
        Ok(lesson)
    }

    /// Learns the model from the training data `lesson`. Returns the model, and the noisy sums of gradients
    /// of all steps in order.
    fn learned(&self, lesson: &mut Lesson, randomness: &mut Randomness) -> Result<(Coefficients, Vec<f64>)> {
        let schedule = self.schedule(lesson.len());
        let noise = self.noise(schedule)?;
        let mut stream = randomness.streams().stream(0);
        let (weights, sums) = descend(lesson, schedule, noise.as_ref(), &mut stream)?;
        Ok((Coefficients::new(&self.state.domain, &self.encoding, &weights)?, sums))
    }
}

/// Accumulator of the records of a release.
struct Gathered<'m> {
    mechanism: &'m PrivateLogistic,
    lesson: Lesson<'m>,
}

impl Accumulator for Gathered<'_> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        self.lesson.add(records)
    }

    fn release(mut self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let guarantee = self.mechanism.guarantee().under(randomness.provenance());
        let (model, _) = self.mechanism.learned(&mut self.lesson, randomness)?;
        model.outcome(guarantee)
    }
}

impl CuratorMechanism for PrivateLogistic {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let Ok(budget) = spent(self.state.budget) else { return Guarantee::nothing(&self.state.domain) };
        if self.mu == f64::INFINITY {
            let discloses = vec!["the model trained on all records, without noise".into()];
            return Guarantee { discloses, ..Guarantee::default() };
        }
        let dp = CentralDp::new(budget.epsilon(), budget.delta(), Neighbours::ReplaceOne);
        let theorem = "gradients clipped to C, as integers: two sums that differ in one record lie 2C apart \
                       in ℓ₂, and with discrete Gaussian noise (Canonne, Kamath and Steinke 2020) steps \
                       compose by μ² = Σμᵢ² (Dong, Roth and Su 2022, Corollary 3.3); δ(ε) by Balle and Wang \
                       (2018), Theorem 8, plus what the lattice adds";
        Guarantee::for_curator(Neighbours::ReplaceOne, [(dp, theorem.to_owned())])
    }

    fn releases(&self) -> Releases {
        Releases::Model { family: "logistic" }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        Box::new(Gathered { mechanism: self, lesson: Lesson::new(&self.encoding, self.outputs) })
    }

    fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        Ok(Arc::new(Coefficients::from_table(&self.state.domain, table)?))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: self.mu.is_finite().then_some(self), ..Evidence::default() }
    }
}

/// Statistics through which an audit attacks a release: the noisy sums of gradients of all steps, in order.
impl Statistics for PrivateLogistic {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        Ok(self.learned(&mut self.lesson(table)?, randomness)?.1)
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let mut lesson = self.lesson(table)?;
        let schedule = self.schedule(lesson.len());
        scumble_core::check_width(schedule.steps * self.weights(), drawn.len())?;
        match self.noise(schedule)? {
            Some(noise) => log_likelihood(&mut lesson, schedule, &noise, drawn),
            None => Ok(0.0),
        }
    }
}

fn design(parameters: Parameters, brief: &Brief) -> Result<PrivateLogistic> {
    brief.budget.check_for_gaussian(NAME)?;
    State { domain: brief.domain.clone(), budget: brief.budget, parameters }.try_into()
}

register! {
    /// The plugin `private-logistic`.
    pub const PRIVATE_LOGISTIC = {
        name: NAME,
        summary: "a logistic regression in place of the records, by descent on noisy sums of clipped \
                  gradients",
        paper: "Bassily, Smith and Thakurta, Private empirical risk minimization (2014); Abadi and others, \
                Deep learning with differential privacy (2016), with every record in every step",
        descriptor: Descriptor::new(Output::Model),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        curator: PrivateLogistic::try_from,
        example: Example::mixed,
    };
}
