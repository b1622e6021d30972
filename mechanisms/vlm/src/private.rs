//! A guarantee for the volunteers: the whole model is trained by DP-Adam or DP-SGD.

use crate::NAME;
use crate::training::{Lesson, PosteriorScale, Trained, wrong};
use crate::validation::{positive, some};
use schemars::JsonSchema;
use scumble_accounting::Neighbours;
use scumble_accounting::calibrate::{self, Target};
use scumble_core::{CentralDp, Error, Randomness, Result, check_delta, size};
use scumble_neural::{Adam, Optimiser, Sgd};
use scumble_private::{PrivateTraining, Spent};
use scumble_task_aware::VolunteersClaim;
use serde::Deserialize;

/// What is guaranteed to volunteers, and how: encoder and decoder are trained together with per-example gradients that are clipped,
/// summed over a Poisson sample, and given exact Gaussian noise.
///
/// The paper trains the two by turns, one of them without privacy on the same records (Section 3.1, stages 1 and 2). The gradients of the other
/// then depend on all records through the first, and no clipping bounds what one record does to them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolunteerGuaranteeParameters {
    /// ε of the whole design.
    pub epsilon: f64,
    /// δ of the whole design: 10⁻⁵ by default.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// The neighbouring relation of sets of volunteers: replace-one by default. A design tells how many volunteers
    /// there are, unless `records` does.
    #[serde(default)]
    pub neighbours: NeighboursParameter,
    /// How many volunteers there are at most, a number that is public by declaration: sampling rate and noise are made for so many, however
    /// many there are, and more are refused. Needed under add/remove one.
    pub records: Option<usize>,
    /// σ, the noise's standard deviation over the clipping norm; by default the least with which each volunteer is seen `epochs` times.
    pub noise_multiplier: Option<f64>,
    /// How often each volunteer is expected to be seen, where the noise multiplier is not given: 40 by default.
    pub epochs: Option<f64>,
    /// How many volunteers are expected in a step: 512 by default, or all where they are fewer.
    pub expected_batch: Option<usize>,
    /// What the norm of a volunteer's gradient is clipped to: 1 by default.
    pub clipping_norm: Option<f64>,
    /// Adam by default.
    #[serde(default)]
    pub optimiser: Descent,
    /// 0.0005 by default.
    pub learning_rate: Option<f64>,
    /// From what noise and samples are drawn: a known seed voids the guarantee, and is for experiments.
    pub seed: Option<u64>,
}

fn usual_delta() -> f64 {
    1e-5
}

/// The neighbouring relation of sets of volunteers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeighboursParameter {
    /// Add or remove one volunteer.
    AddOrRemoveOne,
    /// Replace one volunteer's record.
    #[default]
    ReplaceOne,
}

impl From<NeighboursParameter> for Neighbours {
    fn from(parameter: NeighboursParameter) -> Self {
        match parameter {
            NeighboursParameter::AddOrRemoveOne => Self::AddOrRemoveOne,
            NeighboursParameter::ReplaceOne => Self::ReplaceOne,
        }
    }
}

/// By what parameters are moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Descent {
    /// DP-Adam.
    #[default]
    Adam,
    /// DP-SGD.
    Sgd,
}

/// What is guaranteed to volunteers, checked, for so many of them.
pub(crate) struct VolunteerGuarantee {
    target: Target,
    training: PrivateTraining,
    /// How often each is expected to be seen, where the noise multiplier follows from it.
    epochs: Option<f64>,
    /// How many there are, and how many the design says there are at most.
    volunteers: usize,
    stated: usize,
    seed: Option<u64>,
}

fn broken(problem: scumble_private::Error) -> Error {
    match problem {
        scumble_private::Error::Network(scumble_neural::Error::Parameter { .. }) => {
            Error::Diverged { mechanism: NAME.into(), epoch: 1 }
        }
        scumble_private::Error::Network(scumble_neural::Error::Interrupted(interrupted)) => {
            interrupted.into()
        }
        problem => refused(problem),
    }
}

fn refused(problem: impl ToString) -> Error {
    Error::parameter(NAME, problem)
}

impl VolunteerGuarantee {
    /// # Errors
    /// [`Error::Parameter`] for what is out of its range.
    pub(crate) fn new(wanted: &VolunteerGuaranteeParameters, volunteers: usize) -> Result<Self> {
        let stated = stated(wanted, volunteers)?;
        let learning_rate = positive("learning_rate", wanted.learning_rate.unwrap_or(5e-4))?;
        let target = Target {
            epsilon: positive("epsilon", wanted.epsilon)?,
            delta: wanted.delta,
            neighbours: wanted.neighbours.into(),
        };
        let epochs = match wanted.noise_multiplier {
            Some(_) => None,
            None => Some(positive("epochs", wanted.epochs.unwrap_or(40.0))?),
        };
        let training = PrivateTraining {
            expected_batch: some("expected_batch", wanted.expected_batch.unwrap_or(512.min(stated)))?,
            noise_multiplier: wanted.noise_multiplier.unwrap_or(1.0),
            clipping_norm: wanted.clipping_norm.unwrap_or(1.0),
            optimiser: match wanted.optimiser {
                Descent::Adam => Optimiser::Adam(Adam { learning_rate, ..Adam::default() }),
                Descent::Sgd => Optimiser::Sgd(Sgd { learning_rate, ..Sgd::default() }),
            },
            ..PrivateTraining::default()
        };
        training.check().map_err(refused)?;
        check_delta(wanted.delta, stated)?;
        Ok(Self { target, training, epochs, volunteers, stated, seed: wanted.seed })
    }

    /// Whether it holds: a known seed voids it.
    pub(crate) fn is_kept(&self) -> bool {
        self.seed.is_none()
    }

    /// Trains encoder and decoder together until ε is spent.
    ///
    /// # Errors
    /// [`Error::Parameter`] where not even one step fits the target, with what could be reached, and for a posterior whose scale is learned;
    /// [`Error::Diverged`] where training left the finite numbers.
    pub(crate) fn train(&self, lesson: &Lesson) -> Result<(Trained, Option<VolunteersClaim>)> {
        let (PosteriorScale::Fixed(scale) | PosteriorScale::Learned(scale)) = lesson.scale;
        let start = lesson.shape.start::<f32>(lesson.seed).map_err(wrong)?;
        let parameters = start.iter().map(|network| network.parameters().len()).sum();
        let (training, spent) = self.schedule(parameters)?;
        let mut randomness = match self.seed {
            None => Randomness::from_os()?,
            Some(seed) => Randomness::seeded(seed),
        };
        let streams = randomness.streams();
        // What a record's latents are moved by is no secret, but each record's own.
        let mut of_latents = streams.stream(1);
        let bound = lesson.bound();
        let [encoder, decoder] = &start;
        let per_example = |networks: &_, rows: &[usize], passes: &mut _| {
            let found = bound.descend(networks, scale as f32, rows, 1.0, &mut of_latents, passes)?;
            Ok(f64::from(found.loss))
        };
        let networks = training
            .fit_among(
                [encoder, decoder],
                [self.volunteers, self.stated],
                spent.steps,
                per_example,
                &mut streams.stream(0),
                |_| (),
            )
            .map_err(broken)?;
        let claim = self.is_kept().then(|| claim(&training, self.stated, &spent));
        Ok((Trained { networks, scale }, claim))
    }

    /// The noise, and what is spent by as many steps as it lasts for.
    fn schedule(&self, parameters: usize) -> Result<(PrivateTraining, Spent)> {
        let (mut training, n) = (self.training, self.stated);
        let Target { epsilon, delta, neighbours } = self.target;
        let spent = |training: &PrivateTraining, steps| {
            training.spent::<f32>(n, parameters, steps, delta, neighbours).map_err(refused)
        };
        let Some(epochs) = self.epochs else {
            let steps = training.steps_within::<f32>(n, parameters, self.target).map_err(refused)?;
            return Ok((training, spent(&training, steps)?));
        };
        let rate = (training.expected_batch as f64 / n as f64).min(1.0);
        let steps = (epochs / rate).ceil().max(1.0) as u64;
        size::check_steps(NAME, "volunteers.epochs", &[usize::try_from(steps).unwrap_or(usize::MAX)])?;
        training.noise_multiplier = calibrate::noise_multiplier(rate, steps, self.target).map_err(refused)?;
        // Rounding costs about a thousandth of it, and more where samples or networks are large.
        for _ in 0..MOST_RAISES {
            training.noise_multiplier *= RAISE;
            let spent = spent(&training, steps)?;
            if spent.epsilon <= epsilon {
                return Ok((training, spent));
            }
        }
        Err(refused(format!(
            "no noise gives ε = {epsilon} at δ = {delta:e} with samples of {} and networks of {parameters} parameters, of whose gradients' rounding alone \
             tells too much: fewer epochs or a smaller expected_batch may help",
            training.expected_batch
        )))
    }
}

/// The noise multiplier is raised by this, so often at most, until it pays for rounding.
const RAISE: f64 = 1.002;
const MOST_RAISES: usize = 50;

/// Said once of a design, however many trainings it consists of: their costs are added up in its claim.
const ONLY_DESIGN: &str = "nothing else was learned from these volunteers than what this design claims for: each further design of them, tried or \
                           kept, adds its ε and δ";

/// How many volunteers the design says there are at most.
///
/// # Errors
/// [`Error::Parameter`] where it must be said and is not, or is too few; [`Error::TooLarge`].
fn stated(wanted: &VolunteerGuaranteeParameters, volunteers: usize) -> Result<usize> {
    match (wanted.records, wanted.neighbours) {
        (Some(records), _) if records < volunteers => Err(refused(format!(
            "records, how many volunteers there are at most, is {records}, and there are {volunteers}"
        ))),
        (Some(records), _) => {
            size::check_held(NAME, "volunteers.records", &[records], size_of::<usize>())?;
            Ok(records)
        }
        (None, NeighboursParameter::ReplaceOne) => Ok(volunteers),
        (None, NeighboursParameter::AddOrRemoveOne) => Err(refused(
            "whether somebody volunteered is not hidden by a design that tells how many did: add-or-remove-one needs volunteers.records, a public \
             number of volunteers that there are at most",
        )),
    }
}

/// The claim for those who were trained on.
fn claim(training: &PrivateTraining, volunteers: usize, spent: &Spent) -> VolunteersClaim {
    let theorem = format!(
        "{} steps of the Poisson-sampled Gaussian mechanism (Abadi and others 2016) on encoder and decoder together, each volunteer in a \
         step with probability {}/{volunteers}, with discrete noise of multiplier {:.4}, which counts as {:.4} once rounding is paid for, composed by privacy loss distributions \
         (Koskela, Jälkö and Honkela 2020); by Rényi divergences ε = {:.3}",
        spent.steps,
        training.expected_batch,
        spent.noise_multiplier,
        spent.effective_noise_multiplier,
        spent.epsilon_by_renyi
    );
    let of_training = training.assumes().into_iter().map(str::to_owned);
    let mut assumes = vec![ONLY_DESIGN.to_owned()];
    assumes.push(match spent.neighbours {
        Neighbours::AddOrRemoveOne => format!(
            "there are at most {volunteers} volunteers, which is public; more are refused, and that shows. What is to be hidden is whether \
             somebody volunteered; for what a known volunteer's record says, ε is that of replacement, up to twice as large"
        ),
        Neighbours::ReplaceOne => "how many volunteers there are is public; what is to be hidden is what the record of each one says, not that it \
                                   is there"
            .into(),
    });
    assumes.extend(of_training);
    VolunteersClaim { dp: CentralDp::new(spent.epsilon, spent.delta, spent.neighbours), theorem, assumes }
}
