//! Design `task-aware-bounded`: an encoder with bounded outputs and a decoder, trained together with fresh
//! noise in every step.

use crate::PAPER;
use crate::chain::{Chain, unfit};
use crate::gradient::{Trainer, lesson, not_negative, trained_example};
use crate::latent::LatentMechanism;
use crate::noise::NoiseKind;
use crate::set::between;
use crate::training::{Hidden, Training, TrainingParameters};
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use schemars::JsonSchema;
use scumble_core::{
    Brief, Descriptor, DifferentiableTask, Error, Output, Randomness, Result, Stream, Table, register,
};
use scumble_neural::{Activation, Batches, Network};
use serde::Deserialize;

const NAME: &str = "task-aware-bounded";

/// Parameters of `task-aware-bounded`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of latents, Z: half the number of features by default.
    latent_dim: Option<usize>,
    /// Weight of ‖θ‖²/2 in the objective, for the parameters θ of encoder and decoder. By default the best of
    /// five candidates, judged by the loss on a held-out quarter of the volunteers.
    weight_decay: Option<f64>,
    /// Networks and steps of the training. Every step draws new noise, and an epoch uses each volunteer once:
    /// `steps` has no effect.
    #[serde(default)]
    training: TrainingParameters,
}

fn by_default() -> Training {
    Training { hidden: Hidden::Relu, epochs: 4000, learning_rate: 3e-3, ..Training::default() }
}

/// Candidates for the weight decay.
const DECAYS: [f64; 5] = [0.0, 3e-4, 1e-3, 3e-3, 1e-2];
/// Reciprocal of the fraction of the volunteers (people whose records train the networks) who are held out to
/// choose the weight decay.
const ONE_OF: usize = 4;
/// Number of noise draws for each held-out volunteer.
const DRAWS: usize = 100;

/// An encoder and a decoder, where the last activation of the encoder is tanh, so that its outputs lie in
/// [−1, 1]. Each latent is one output times a trained factor, the half-width of the latent's interval. The
/// half-widths sum to ½, so the set of latents has ℓ₁ diameter 1.
struct Bounded {
    chain: Chain,
    /// Logarithms of the half-widths of the intervals of the Z latents, up to an additive constant.
    logs: Array1<f64>,
}

impl Bounded {
    /// Returns the half-widths of the intervals of the Z latents, which sum to ½.
    fn half_widths(&self) -> Array1<f64> {
        let largest = self.logs.fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let weights = self.logs.mapv(|x| (x - largest).exp());
        &weights / (2.0 * weights.sum())
    }

    /// Trains the encoder, the decoder and the half-widths of the latents' intervals on the records of
    /// `trainer`.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the loss became infinite or not a number; the error states the epoch.
    fn trained(trainer: &Trainer, latents: usize, weight_decay: f64) -> Result<Self> {
        let Training { epochs, batch_size, seed, .. } = *trainer.training;
        let n = trainer.table.len();
        let mut own = Self { chain: trainer.start(latents, Activation::Tanh)?, logs: Array1::zeros(latents) };
        let adam = |parameters| trainer.training.adam().start::<f64>(parameters).map_err(trainer.wrong());
        let mut encoder_optimiser = adam(own.chain.encoder.parameters().len())?;
        let mut decoder_optimiser = adam(own.chain.decoder.parameters().len())?;
        let mut width_optimiser = adam(latents)?;
        let size = batch_size.unwrap_or(n).min(n);
        let mut batches = Batches::new(n, size, seed).map_err(trainer.wrong())?;
        let mut stream = Randomness::seeded(seed).streams().stream(0);
        let diverged = |epoch| Error::Diverged { mechanism: NAME.into(), epoch };
        for epoch in 1..=epochs {
            // The learning rate is constant in the first half of the epochs, and falls linearly in the second
            // half. Weight decay grows linearly over the first half, because early decay stops a network from
            // learning anything.
            let done = (epoch - 1) as f64 / epochs as f64;
            let (left, decay) = (2.0 * (1.0 - done), weight_decay * (2.0 * done).min(1.0));
            for stepper in [&mut encoder_optimiser, &mut decoder_optimiser, &mut width_optimiser] {
                stepper.set_learning_rate(trainer.training.learning_rate * left.min(1.0)).map_err(unfit)?;
            }
            let drawn: Vec<Vec<usize>> = batches.shuffled().map(<[usize]>::to_vec).collect();
            for rows in &drawn {
                let batch = if size < n { Some(trainer.table.select(rows)?) } else { None };
                let loss = own.step(trainer, batch.as_ref().unwrap_or(trainer.table), &mut stream)?;
                if !loss.is_finite() {
                    return Err(diverged(epoch));
                }
                let half_widths = own.half_widths();
                let Chain { encoder, decoder, gradients, .. } = &mut own.chain;
                for (slopes, network) in
                    [(&mut gradients.encoder, &*encoder), (&mut gradients.decoder, &*decoder)]
                {
                    slopes
                        .iter_mut()
                        .zip(network.parameters())
                        .for_each(|(slope, parameter)| *slope += decay * parameter);
                }
                encoder_optimiser.step(encoder.parameters_mut(), &gradients.encoder).map_err(unfit)?;
                decoder_optimiser.step(decoder.parameters_mut(), &gradients.decoder).map_err(unfit)?;
                // The half-widths are h = softmax(t)/2 for the logarithms t, so ∂h_j/∂t_k = h_j(δ_jk − 2h_k),
                // with Kronecker's δ.
                let pull = half_widths.dot(&gradients.scales);
                let slopes = &half_widths * &(&gradients.scales - 2.0 * pull);
                if let (Some(logs), Some(slopes)) = (own.logs.as_slice_mut(), slopes.as_slice()) {
                    width_optimiser.step(logs, slopes).map_err(unfit)?;
                }
            }
        }
        match own.step(trainer, trainer.table, &mut stream)?.is_finite() {
            true => Ok(own),
            false => Err(diverged(epochs)),
        }
    }

    fn step(&mut self, trainer: &Trainer, batch: &Table, stream: &mut Stream) -> Result<f64> {
        let scales = self.half_widths();
        let noise =
            trainer.noise.drawn((batch.len(), scales.len()), stream) * trainer.budget.epsilon().recip();
        self.chain.mean_loss(trainer.task, batch, &scales, noise.view())
    }

    /// Estimates the mean loss on `table` over draws of noise.
    fn loss(&mut self, task: &dyn DifferentiableTask, table: &Table, epsilon: f64) -> Result<f64> {
        let scales = self.half_widths();
        let mut stream = Randomness::seeded(0).streams().stream(1);
        let mut sum = 0.0;
        for _ in 0..DRAWS {
            let noise = NoiseKind::Laplace.drawn((table.len(), scales.len()), &mut stream) * epsilon.recip();
            sum += self.chain.mean_loss(task, table, &scales, noise.view())?;
        }
        Ok(sum / DRAWS as f64)
    }
}

/// Returns the weight decay in [`DECAYS`] with the least loss on the records of volunteers who are held out
/// from training.
fn chosen(trainer: &Trainer, latents: usize) -> Result<f64> {
    let (kept, others): (Vec<usize>, Vec<usize>) =
        (0..trainer.table.len()).partition(|row| row % ONE_OF == 0);
    if others.is_empty() {
        return Ok(DECAYS[0]);
    }
    let (kept, others) = (trainer.table.select(&kept)?, trainer.table.select(&others)?);
    let losses: Vec<Result<f64>> = DECAYS
        .par_iter()
        .map(|decay| {
            let mut bounded = Bounded::trained(&Trainer { table: &others, ..*trainer }, latents, *decay)?;
            bounded.loss(trainer.task, &kept, trainer.budget.epsilon())
        })
        .collect();
    // Candidates that diverge are skipped.
    let finite = DECAYS.iter().zip(&losses).filter_map(|(decay, loss)| {
        loss.as_ref().ok().filter(|loss| loss.is_finite()).map(|loss| (*decay, *loss))
    });
    match finite.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((decay, _)) => Ok(decay),
        None => Err(losses
            .into_iter()
            .find_map(Result::err)
            .unwrap_or(Error::Diverged { mechanism: NAME.into(), epoch: 1 })),
    }
}

fn design(
    Parameters { latent_dim, weight_decay, training }: Parameters,
    brief: &Brief,
) -> Result<LatentMechanism> {
    let training = training.or(by_default());
    let lesson = lesson(NAME, NoiseKind::Laplace, brief, &training)?;
    let latents = lesson.latent_dim(latent_dim)?;
    let trainer = lesson.trainer(&training, None);
    let weight_decay = match weight_decay {
        Some(decay) => not_negative(NAME, "weight_decay", decay)?,
        None => chosen(&trainer, latents)?,
    };
    let bounded = Bounded::trained(&trainer, latents, weight_decay)?;
    let half_widths = bounded.half_widths();
    let Chain { encoder, decoder, .. } = bounded.chain;
    let set = between(half_widths.iter().map(|half| (-half, *half)))?;
    lesson.trainer(&training, Some(&set)).designed(brief, Chain::new(scaled(encoder, &half_widths)?, decoder))
}

/// Appends a layer to the network that multiplies its outputs by `scales`.
fn scaled(network: Network<f64>, scales: &Array1<f64>) -> Result<Network<f64>> {
    let latents = scales.len();
    let architecture = network.architecture().clone().layer(latents, Activation::Identity);
    let mut parameters = network.into_parameters();
    parameters.extend(Array2::from_diag(scales));
    parameters.extend(vec![0.0; latents]);
    Network::from_parameters(architecture, parameters).map_err(unfit)
}

register! {
    /// The plugin `task-aware-bounded`.
    pub const TASK_AWARE_BOUNDED = {
        name: NAME,
        summary: "latents bounded by construction, encoder and decoder trained together through fresh noise",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers().slow(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: || trained_example(serde_json::json!({
            "latent_dim": 2, "weight_decay": 1e-3,
            "training": {"epochs": 100, "task_epochs": 20, "learning_rate": 0.01}
        })),
    };
}
