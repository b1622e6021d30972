//! Encoders and decoders trained through noise: Algorithm 1 of Cheng, Tang and Chinchali, and the benchmarks
//! `privacy-agnostic` and `task-agnostic` of their Section A.7.4.

use crate::PAPER;
use crate::affine::affine;
use crate::chain::{Chain, unfit};
use crate::latent::{LatentMechanism, predict};
use crate::noise::NoiseKind;
use crate::set::Latents;
use crate::task::released_by;
use crate::training::{Hidden, Training, TrainingParameters, checked_latent_dim, differentiable_task};
use ndarray::{Array1, Array2, ArrayView2};
use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, Descriptor, Designed, DifferentiableTask, Domain, Error, Example, Output, Randomness,
    Result, Table, register,
};
use scumble_neural::{Activation, Batches, Network};
use serde::Deserialize;
use std::sync::Arc;

const NAME: &str = "task-aware-gradient";

/// Parameters of `task-aware-gradient`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of latents, Z: half the number of features by default.
    latent_dim: Option<usize>,
    /// Weight η of ‖θ_e‖² in the objective, where θ_e are the encoder's parameters. With η = 0 the encoder
    /// grows without bound.
    #[serde(default = "by_default")]
    eta: f64,
    /// Noise on latents: "laplace" (the default), "gaussian", which needs δ > 0, or "priv-unit".
    #[serde(default)]
    noise: NoiseKind,
    /// Networks and steps of the training.
    #[serde(default)]
    training: TrainingParameters,
}

fn by_default() -> f64 {
    1e-3
}

impl Training {
    /// Returns the settings of Section A.8 (Cheng, Tang and Chinchali).
    pub(crate) fn from_paper() -> Self {
        Self { epochs: 2000, steps: 15, ..Self::default() }
    }
}

impl Default for Training {
    fn default() -> Self {
        Self {
            encoder_hidden: 0,
            decoder_hidden: 0,
            hidden: Hidden::Logistic,
            task_hidden: None,
            task_epochs: 1000,
            epochs: 2000,
            steps: 1,
            batch_size: None,
            learning_rate: 1e-3,
            seed: 1,
        }
    }
}

/// Training data, task and settings of a training.
pub(crate) struct Trainer<'a> {
    pub(crate) plugin: &'static str,
    pub(crate) table: &'a Table,
    pub(crate) task: &'a dyn DifferentiableTask,
    pub(crate) training: &'a Training,
    pub(crate) noise: NoiseKind,
    pub(crate) budget: Budget,
    /// Set into which latents are moved; `None` for the set that [`Latents::from_points`] returns for the
    /// training records' latents.
    pub(crate) set: Option<&'a Domain>,
}

/// A run of Algorithm 1 (Cheng, Tang and Chinchali).
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Weight η of ‖θ_e‖² in the objective; `None` leaves the encoder's parameters θ_e unchanged.
    pub(crate) eta: Option<f64>,
    /// True if latents receive noise.
    pub(crate) is_noisy: bool,
}

impl Trainer<'_> {
    /// Runs Algorithm 1 (Cheng, Tang and Chinchali). Every epoch draws noise that is calibrated to the
    /// current encoder. With this noise, encoder and decoder make `steps` gradient steps.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the loss became infinite or not a number; the error states the epoch.
    pub(crate) fn run(&self, chain: &mut Chain, Run { eta, is_noisy }: Run) -> Result<()> {
        let Training { epochs, steps, batch_size, seed, .. } = *self.training;
        let (n, latents) = (self.table.len(), chain.encoder.architecture().outputs());
        let ones = Array1::ones(latents);
        let mut encoder_optimiser =
            self.training.adam().start(chain.encoder.parameters().len()).map_err(self.wrong())?;
        let mut decoder_optimiser =
            self.training.adam().start(chain.decoder.parameters().len()).map_err(self.wrong())?;
        let size = batch_size.unwrap_or(n).min(n);
        let mut batches = Batches::new(n, size, seed).map_err(self.wrong())?;
        let mut stream = Randomness::seeded(seed).streams().stream(0);
        let (unit, mut scale) = (self.noise.unit_scale(self.budget, latents)?, 0.0);
        for epoch in 1..=epochs {
            // The sensitivity of an encoder that does not change is computed once.
            if is_noisy && (epoch == 1 || eta.is_some()) {
                scale = unit * self.noise.diameter(&self.latents(&chain.encoder)?.set);
            }
            let drawn: Vec<Vec<usize>> = batches.shuffled().take(steps).map(<[usize]>::to_vec).collect();
            let noise: Vec<Array2<f64>> = drawn
                .iter()
                .map(|rows| self.noise.drawn((rows.len(), latents), &mut stream) * scale)
                .collect();
            for (rows, noise) in drawn.iter().zip(&noise).cycle().take(steps) {
                let loss = match size < n {
                    true => chain.mean_loss(self.task, &self.table.select(rows)?, &ones, noise.view())?,
                    false => chain.mean_loss(self.task, self.table, &ones, noise.view())?,
                };
                if !loss.is_finite() {
                    return Err(Error::Diverged { mechanism: self.plugin.into(), epoch });
                }
                let Chain { encoder, decoder, gradients, .. } = chain;
                if let Some(eta) = eta {
                    let pulls = gradients.encoder.iter_mut().zip(encoder.parameters());
                    pulls.for_each(|(slope, parameter)| *slope += 2.0 * eta * parameter);
                    encoder_optimiser.step(encoder.parameters_mut(), &gradients.encoder).map_err(unfit)?;
                }
                decoder_optimiser.step(decoder.parameters_mut(), &gradients.decoder).map_err(unfit)?;
            }
        }
        // The last step may also have overflowed.
        let without_noise = Array2::zeros((n, latents));
        let loss = chain.mean_loss(self.task, self.table, &ones, without_noise.view())?;
        let networks = [&chain.encoder, &chain.decoder];
        if !loss.is_finite() || networks.iter().any(|network| network.check_finite().is_err()) {
            return Err(Error::Diverged { mechanism: self.plugin.into(), epoch: epochs });
        }
        Ok(())
    }

    /// Returns the set into which a release would move latents.
    fn latents(&self, encoder: &Network<f64>) -> Result<Latents> {
        let of_records = || predict(encoder, self.table.records().view());
        match (self.set, self.noise) {
            (Some(set), _) => Ok(Latents { origin: Array1::zeros(set.dim()), set: set.clone() }),
            (None, NoiseKind::Laplace) => Latents::from_points(of_records()?.view()),
            (None, NoiseKind::Gaussian | NoiseKind::PrivUnit) => Latents::ball(of_records()?.view()),
        }
    }

    pub(crate) fn wrong(&self) -> impl Fn(scumble_neural::Error) -> Error + use<> {
        let plugin = self.plugin;
        move |problem| Error::parameter(plugin, problem)
    }

    /// Builds the mechanism from the trained networks.
    pub(crate) fn designed(&self, brief: &Brief, chain: Chain) -> Result<LatentMechanism> {
        let Chain { mut encoder, mut decoder, .. } = chain;
        let Latents { set, origin } = self.latents(&encoder)?;
        if origin.iter().any(|x| *x != 0.0) {
            // The encoder's last layer subtracts the origin from the latents, and the decoder's first layer
            // adds it.
            let first =
                decoder.weights(0).map(|weights| weights.dot(&origin)).unwrap_or_else(|| origin.clone());
            let weight_count = first.len() * origin.len();
            let bias = &mut decoder.parameters_mut()[weight_count..weight_count + first.len()];
            bias.iter_mut().zip(&first).for_each(|(x, more)| *x += more);
            let parameters = encoder.parameters_mut();
            let start = parameters.len() - origin.len();
            parameters[start..].iter_mut().zip(&origin).for_each(|(x, less)| *x -= less);
        }
        released_by(brief, (self.noise, self.budget), encoder, set, decoder)
    }
}

/// The records of the volunteers (people whose records train the networks), the task, and the noise of a
/// training with the budget that it spends.
pub(crate) struct Lesson<'b> {
    plugin: &'static str,
    pub(crate) table: &'b Table,
    task: Arc<dyn DifferentiableTask>,
    noise: NoiseKind,
    budget: Budget,
}

impl Lesson<'_> {
    /// Returns a trainer with latents in `set`. If `set` is `None`, the latents of the training records
    /// determine the set.
    pub(crate) fn trainer<'a>(&'a self, training: &'a Training, set: Option<&'a Domain>) -> Trainer<'a> {
        let Self { plugin, table, task, noise, budget } = self;
        Trainer { plugin, table, task: &**task, training, noise: *noise, budget: *budget, set }
    }

    /// Returns the number of latents Z, by default half the number of features. Refuses a number that is not
    /// between 1 and the number of features.
    pub(crate) fn latent_dim(&self, requested: Option<usize>) -> Result<usize> {
        let d = self.table.columns().len();
        checked_latent_dim(self.plugin, requested.unwrap_or(d.div_ceil(2)), d, "the number of features")
    }
}

/// Collects the volunteers' records, the task and the budget of a training from `brief`, and checks them.
///
/// # Errors
/// Same errors as [`Brief::unclaimed_volunteers`] and [`differentiable_task`]; [`Error::NotApplicable`] if
/// there are no features or no volunteers, or for Gaussian noise without δ, [`Error::Budget`] if ε is too
/// small for any noise.
pub(crate) fn lesson<'b>(
    plugin: &'static str,
    noise: NoiseKind,
    brief: &'b Brief,
    training: &Training,
) -> Result<Lesson<'b>> {
    let table = brief.unclaimed_volunteers(plugin)?;
    if table.columns().is_empty() || table.is_empty() {
        return Err(Error::not_applicable(plugin, "there is no feature, or no volunteer, to learn from"));
    }
    let budget = noise.spent(plugin, brief.budget)?;
    // Fail before training if no noise meets ε.
    noise.unit_scale(budget, 1)?;
    let task = differentiable_task(plugin, brief, table, training)?;
    Ok(Lesson { plugin, table, task, noise, budget })
}

/// Checks that `value` is finite and not negative.
///
/// # Errors
/// [`Error::Parameter`] if `value` is negative, infinite or a NaN.
pub(crate) fn not_negative(plugin: &str, name: &str, value: f64) -> Result<f64> {
    Error::check(plugin, name, value, "finite and not negative", value.is_finite() && value >= 0.0)
}

fn design(
    Parameters { latent_dim, eta, noise, training }: Parameters,
    brief: &Brief,
) -> Result<LatentMechanism> {
    let run = Run { eta: Some(not_negative(NAME, "eta", eta)?), is_noisy: true };
    trained((NAME, noise), latent_dim, &training, brief, &[run])
}

impl Trainer<'_> {
    /// Creates an untrained encoder with `latents` outputs and last activation `last`, and an untrained
    /// decoder.
    pub(crate) fn start(&self, latents: usize, last: Activation) -> Result<Chain> {
        let d = self.table.columns().len();
        let Training { encoder_hidden, decoder_hidden, .. } = *self.training;
        let encoder = self.training.network(d, encoder_hidden, (latents, last), 1)?;
        let decoder = self.training.network(latents, decoder_hidden, (d, Activation::Identity), 2)?;
        Ok(Chain::new(encoder, decoder))
    }
}

/// Designs encoder and decoder by the `runs` of Algorithm 1 (Cheng, Tang and Chinchali), one after the other.
pub(crate) fn trained(
    (plugin, noise): (&'static str, NoiseKind),
    latent_dim: Option<usize>,
    training: &TrainingParameters,
    brief: &Brief,
    runs: &[Run],
) -> Result<LatentMechanism> {
    let training = training.or(Training::from_paper());
    let lesson = lesson(plugin, noise, brief, &training)?;
    let latents = lesson.latent_dim(latent_dim)?;
    let trainer = lesson.trainer(&training, None);
    let mut chain = trainer.start(latents, Activation::Identity)?;
    runs.iter().try_for_each(|run| trainer.run(&mut chain, *run))?;
    trainer.designed(brief, chain)
}

/// Designs a mechanism of the plugin `task-agnostic` with a trained decoder. The encoder is the identity.
pub(crate) fn task_agnostic(
    plugin: &'static str,
    set: Option<&Domain>,
    training: &TrainingParameters,
    brief: &Brief,
) -> Result<LatentMechanism> {
    let training = training.or(Training::from_paper());
    let lesson = lesson(plugin, NoiseKind::Laplace, brief, &training)?;
    let d = lesson.table.columns().len();
    let trainer = lesson.trainer(&training, set);
    let mut chain = trainer.start(d, Activation::Identity)?;
    chain = Chain::new(affine(&Array2::eye(d), Array1::zeros(d).view())?, chain.decoder);
    trainer.run(&mut chain, Run { eta: None, is_noisy: true })?;
    trainer.designed(brief, chain)
}

/// Estimates the expected loss of a mechanism's releases of `table`.
///
/// The estimate is the mean over `draws` releases (at least one), with the random seeds `seed`, `seed` + 1
/// and so on.
///
/// # Errors
/// [`Error::Shape`] if the columns of `table` do not fit the mechanism or the task.
pub fn expected_loss(
    mechanism: &Designed,
    task: &dyn DifferentiableTask,
    table: &Table,
    draws: usize,
    seed: u64,
) -> Result<f64> {
    let loss = |estimates: ArrayView2<f64>| -> Result<f64> {
        Ok(task.losses(estimates, table)?.0.mean().unwrap_or(f64::NAN))
    };
    let mut sum = 0.0;
    let draws = draws.max(1);
    for draw in 0..draws {
        let mut randomness = Randomness::seeded(seed.wrapping_add(draw as u64));
        sum += loss(mechanism.release(table, &mut randomness)?.table.records().view())?;
    }
    Ok(sum / draws as f64)
}

/// Builds an example with a short training. With the settings of Cheng, Tang and Chinchali, a training takes
/// half a minute.
pub(crate) fn trained_example(parameters: serde_json::Value) -> Result<Example> {
    Ok(Example { parameters, ..Example::numbers()?.with_public_volunteers() })
}

register! {
    /// The plugin `task-aware-gradient`.
    pub const TASK_AWARE_GRADIENT = {
        name: NAME,
        summary: "encoder and decoder trained together with fresh noise, for any task with a gradient \
                  (Algorithm 1)",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers().slow(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: || trained_example(serde_json::json!({
            "latent_dim": 2, "training": {"epochs": 20, "steps": 5, "task_epochs": 20, "learning_rate": 0.01}
        })),
    };
}
