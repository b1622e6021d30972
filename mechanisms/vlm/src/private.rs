//! Differential privacy for the volunteers, whose records train the model: DP-Adam or DP-SGD trains encoder
//! and decoder.

use crate::NAME;
use crate::training::{Lesson, PosteriorScale, Trained, wrong};
use crate::validation::{positive, some};
use schemars::JsonSchema;
use scumble_accounting::calibrate::{self, Target};
use scumble_accounting::{Neighbours, Sampling};
use scumble_core::{CentralDp, Error, Randomness, Result, check_delta, size};
use scumble_neural::{Adam, Optimiser, Sgd};
use scumble_private::{PrivateTraining, Spent};
use scumble_task_aware::VolunteersClaim;
use serde::Deserialize;

/// Differential privacy of the volunteers' records. Encoder and decoder are trained together: per-example
/// gradients are clipped, summed over a Poisson sample, and receive exact Gaussian noise.
///
/// In contrast, *Learning to Noise* trains encoder and decoder in turn on the same records, one of the two
/// without privacy (Section 3.1, stages 1 and 2). The gradients of the network trained second then depend on
/// all records through the first network, so clipping does not bound the influence of one record.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolunteerGuaranteeParameters {
    /// ε of the whole design.
    pub epsilon: f64,
    /// δ of the whole design: 10⁻⁵ by default.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// Neighbouring relation of sets of volunteers: "replace-one" (the default) or "add-or-remove-one". A
    /// design discloses the number of volunteers, unless `records` bounds it.
    #[schemars(with = "Option<String>")]
    pub neighbours: Option<Neighbours>,
    /// Public upper bound on the number of volunteers. The sampling rate and the noise depend on this bound
    /// and not on the true number. A larger number of volunteers is refused. The bound is required under
    /// add/remove one.
    pub records: Option<usize>,
    /// Noise multiplier σ: standard deviation of the noise divided by the clipping norm. By default the
    /// smallest σ that allows `epochs` epochs.
    pub noise_multiplier: Option<f64>,
    /// Expected number of uses of each volunteer in training, if the noise multiplier is not given: 40 by
    /// default.
    pub epochs: Option<f64>,
    /// Expected number of volunteers in a step: 512 by default, or all if there are fewer.
    pub expected_batch: Option<usize>,
    /// Upper bound on the norm of a volunteer's clipped gradient: 1 by default.
    pub clipping_norm: Option<f64>,
    /// Optimiser: Adam by default.
    #[serde(default)]
    pub optimiser: Descent,
    /// Learning rate, 0.0005 by default.
    pub learning_rate: Option<f64>,
    /// Random seed of the noise and the samples. A known seed voids the guarantee; use it for experiments
    /// only.
    pub seed: Option<u64>,
}

fn usual_delta() -> f64 {
    1e-5
}

/// Optimiser with differential privacy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Descent {
    /// DP-Adam.
    #[default]
    Adam,
    /// DP-SGD.
    Sgd,
}

/// Differential privacy for a known number of volunteers, with checked parameters of the private training.
pub(crate) struct VolunteerGuarantee {
    target: Target,
    training: PrivateTraining,
    /// Expected number of uses of each volunteer's record in training; `None` if the user sets the noise
    /// multiplier.
    epochs: Option<f64>,
    /// True number of volunteers. `stated` is the public upper bound on this number.
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
    /// Checks the parameters of the guarantee.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a value is outside its range, [`Error::DeltaOfVolunteers`] if δ is too large
    /// for the number of volunteers. Also the errors of [`stated`].
    pub(crate) fn new(parameters: &VolunteerGuaranteeParameters, volunteers: usize) -> Result<Self> {
        let stated = stated(parameters, volunteers)?;
        let learning_rate = positive("learning_rate", parameters.learning_rate.unwrap_or(5e-4))?;
        let target = Target {
            epsilon: positive("epsilon", parameters.epsilon)?,
            delta: parameters.delta,
            neighbours: neighbours(parameters),
        };
        let epochs = match parameters.noise_multiplier {
            Some(_) => None,
            None => Some(positive("epochs", parameters.epochs.unwrap_or(40.0))?),
        };
        let training = PrivateTraining {
            expected_batch: some("expected_batch", parameters.expected_batch.unwrap_or(512.min(stated)))?,
            noise_multiplier: parameters.noise_multiplier.unwrap_or(1.0),
            clipping_norm: parameters.clipping_norm.unwrap_or(1.0),
            optimiser: match parameters.optimiser {
                Descent::Adam => Optimiser::Adam(Adam { learning_rate, ..Adam::default() }),
                Descent::Sgd => Optimiser::Sgd(Sgd { learning_rate, ..Sgd::default() }),
            },
            ..PrivateTraining::default()
        };
        training.check().map_err(refused)?;
        check_delta(parameters.delta, stated)?;
        Ok(Self { target, training, epochs, volunteers, stated, seed: parameters.seed })
    }

    /// Returns whether the guarantee holds. It does not if the user sets the random seed.
    pub(crate) fn is_kept(&self) -> bool {
        self.seed.is_none()
    }

    /// Trains encoder and decoder together, for the number of steps that [`schedule`](Self::schedule)
    /// returns. Returns the networks, and the claim if the guarantee holds.
    ///
    /// # Errors
    /// [`Error::Parameter`] if one step already exceeds the target (ε, δ), with the achievable values, or if
    /// no noise multiplier meets the target; [`Error::Diverged`] if training overflows.
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
        // The noise on latents need not be secret, but it must be independent for each record.
        let mut latent_stream = streams.stream(1);
        let bound = lesson.bound();
        let [encoder, decoder] = &start;
        let per_example = |networks: &_, rows: &[usize], passes: &mut _| {
            let found = bound.descend(networks, scale as f32, rows, 1.0, &mut latent_stream, passes)?;
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

    /// Returns the training with its noise multiplier, and its number of steps with the (ε, δ) that they
    /// spend.
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
        training.noise_multiplier =
            calibrate::noise_multiplier(Sampling::Poisson, rate, steps, self.target).map_err(refused)?;
        // The rounding of gradients weakens the guarantee. To make up for it, the noise multiplier is raised
        // by `RAISE` until ε is met, more often for large samples or networks.
        for _ in 0..MOST_RAISES {
            training.noise_multiplier *= RAISE;
            let spent = spent(&training, steps)?;
            if spent.epsilon <= epsilon {
                return Ok((training, spent));
            }
        }
        Err(refused(format!(
            "no noise gives ε = {epsilon} at δ = {delta:e} with samples of {} and networks of {parameters} \
             parameters, because the rounding of the gradients alone costs too much; fewer epochs or a \
             smaller expected_batch may help",
            training.expected_batch
        )))
    }
}

/// Factor by which the noise multiplier is raised, at most `MOST_RAISES` times, to make up for the rounding
/// of gradients.
const RAISE: f64 = 1.002;
const MOST_RAISES: usize = 50;

/// Assumption of the claim for the volunteers: no other design was learned from their records. The claim adds
/// up the privacy losses of all trainings of one design.
const ONLY_DESIGN: &str = "nothing but this design was learned from these volunteers: each further design, \
                           tried or kept, adds its ε and δ";

fn neighbours(parameters: &VolunteerGuaranteeParameters) -> Neighbours {
    parameters.neighbours.unwrap_or(Neighbours::ReplaceOne)
}

/// Returns the public upper bound on the number of volunteers: `records` if it is set, else the true number.
///
/// # Errors
/// [`Error::Parameter`] if the bound is missing under add/remove one, or below the number of volunteers;
/// [`Error::TooLarge`] if indices of `records` records do not fit in memory.
fn stated(parameters: &VolunteerGuaranteeParameters, volunteers: usize) -> Result<usize> {
    match (parameters.records, neighbours(parameters)) {
        (Some(records), _) if records < volunteers => Err(refused(format!(
            "records, the maximum number of volunteers, is {records}, and there are {volunteers}"
        ))),
        (Some(records), _) => {
            size::check_held(NAME, "volunteers.records", &[records], size_of::<usize>())?;
            Ok(records)
        }
        (None, Neighbours::ReplaceOne) => Ok(volunteers),
        (None, Neighbours::AddOrRemoveOne) => Err(refused(
            "a design that discloses the number of volunteers does not hide whether somebody volunteered: \
             add-or-remove-one needs volunteers.records, a public maximum for the number of volunteers",
        )),
    }
}

/// Returns the claim of differential privacy for the volunteers: its (ε, δ), theorem and assumptions.
fn claim(training: &PrivateTraining, volunteers: usize, spent: &Spent) -> VolunteersClaim {
    let theorem = format!(
        "{} steps of the Gaussian mechanism with Poisson sampling (Abadi and others 2016) on encoder and \
         decoder together, each volunteer in a step with probability {}/{volunteers}, with discrete noise of \
         multiplier {:.4}, which counts as {:.4} because of rounding, composed by privacy loss distributions \
         (Koskela, Jälkö and Honkela 2020); by Rényi divergences ε = {:.3}",
        spent.steps,
        training.expected_batch,
        spent.noise_multiplier,
        spent.effective_noise_multiplier,
        spent.epsilon_by_renyi
    );
    let training_assumptions = training.assumes().into_iter().map(str::to_owned);
    let mut assumes = vec![ONLY_DESIGN.to_owned()];
    assumes.push(match spent.neighbours {
        Neighbours::AddOrRemoveOne => format!(
            "there are at most {volunteers} volunteers, and this maximum is public; more volunteers are \
             refused, and the refusal is visible. The claim hides whether somebody volunteered; for the \
             values of a known volunteer's record, ε is the ε of replacement, up to twice as large"
        ),
        Neighbours::ReplaceOne => "the number of volunteers is public; the claim hides the values of each \
                                   record, not its presence"
            .into(),
    });
    assumes.extend(training_assumptions);
    VolunteersClaim { dp: CentralDp::new(spent.epsilon, spent.delta, spent.neighbours), theorem, assumes }
}
