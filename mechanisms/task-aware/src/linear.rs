//! Linear encoders with the best linear decoder: Theorem 1, and both benchmark approaches (Section A.7).

use crate::PAPER;
use crate::affine::affine;
use crate::gradient::{self, Run};
use crate::latent::LatentLaplace;
use crate::sample::{Sample, eigen, squared_norm};
use crate::set::{Latents, Sensitivity};
use crate::task::{ignores_everything, linear_task, released_by};
use crate::training::TrainingParameters;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use schemars::JsonSchema;
use scumble_core::{Brief, Descriptor, Domain, Error, Example, Output, Result, Task, register};
use scumble_kkt::Waterfilling;
use scumble_noise::LaplaceNoise;
use serde::Deserialize;

/// A linear encoder v = A(x − μ) (Z × n), and where its latents lie.
pub(crate) struct Encoder<'s> {
    pub(crate) map: Array2<f64>,
    pub(crate) center: ArrayView1<'s, f64>,
}

impl Encoder<'_> {
    /// The constant c of v = Ax + c.
    fn constant(&self) -> Array1<f64> {
        -self.map.dot(&self.center)
    }

    /// The latents (N × Z) of `records` (N × n).
    fn of(&self, records: ArrayView2<f64>) -> Array2<f64> {
        (&records - &self.center).dot(&self.map.t())
    }

    /// The released form: with the noise that ε asks for on these latents, and the decoder that is best for it (Proposition 1).
    pub(crate) fn designed(&self, brief: &Brief, sample: &Sample, latents: Latents) -> Result<LatentLaplace> {
        let Latents { set, origin } = latents;
        let epsilon = brief.budget.epsilon();
        let variance = match epsilon {
            f64::INFINITY => 0.0,
            epsilon => LaplaceNoise::calibrated(&set, epsilon)?.variance(),
        };
        let decoder = sample.best_decoder(&self.map, variance);
        // x̂ = μ + D(v + o − A(μ − c)), where o was taken from the latents v = A(x − c) − o.
        let off_center = self.map.dot(&(sample.mean() - &self.center));
        let constant = sample.mean() + &decoder.dot(&(&origin - &off_center));
        let encoder = affine(&self.map, (self.constant() - &origin).view())?;
        released_by(brief, encoder, set, affine(&decoder, constant.view())?)
    }
}

/// The task in whitened coordinates: P = KL (m × r).
pub(crate) struct Whitened {
    /// L⁺ (r × n).
    inverse: Array2<f64>,
    /// λ, the eigenvalues of PᵀP (r values), largest first, and zero where the task does not care.
    pub(crate) eigenvalues: Array1<f64>,
    /// Q, their vectors (r × r).
    vectors: Array2<f64>,
}

impl Whitened {
    /// # Errors
    /// [`Error::NotApplicable`] where nothing that varies counts.
    pub(crate) fn new(plugin: &str, sample: &Sample, k: &Array2<f64>) -> Result<Self> {
        let (l, inverse) = sample.whitening();
        let p = k.dot(&l);
        let (values, vectors) = eigen(&p.t().dot(&p));
        let largest = values.first().copied().unwrap_or(0.0);
        // What would count if all columns varied by themselves: of it rounding leaves nothing below this share.
        let alone = (k * k).dot(&sample.covariance().diag()).sum();
        if !alone.is_finite() {
            let reason = "the task's and the records' numbers are too large to be squared";
            return Err(Error::not_applicable(plugin, reason));
        }
        if values.is_empty() || largest <= 1e-14 * alone {
            return Err(ignores_everything(plugin));
        }
        Ok(Self { inverse, eigenvalues: values.mapv(|x| if x > 1e-14 * largest { x } else { 0.0 }), vectors })
    }

    /// Z, by default how many eigenvalues are not zero, and no more than these.
    ///
    /// # Errors
    /// As [`checked_latent_dim`].
    pub(crate) fn latent_dim(&self, plugin: &str, wanted: Option<usize>) -> Result<usize> {
        let rank = self.eigenvalues.iter().filter(|value| **value > 0.0).count();
        checked_latent_dim(plugin, wanted.unwrap_or(rank), rank, "the directions that vary and count")
    }

    /// ΣQᵀL⁺ (Z × n), Proposition 2 with U = I: the map with these singular values (Z).
    pub(crate) fn map(&self, singular: &[f64]) -> Array2<f64> {
        let vectors = self.vectors.slice(ndarray::s![.., ..singular.len()]);
        let scaled = &vectors * &ArrayView1::from(singular);
        scaled.t().dot(&self.inverse)
    }

    /// r_max, the radius of the smallest centred ball that holds all h of the sample.
    pub(crate) fn radius(&self, sample: &Sample) -> f64 {
        let h = (sample.records() - sample.mean()).dot(&self.inverse.t());
        h.outer_iter().map(squared_norm).fold(0.0, f64::max).sqrt()
    }
}

/// Z, between 1 and `most`, the number of `what`.
///
/// # Errors
/// [`Error::Parameter`] for another.
pub(crate) fn checked_latent_dim(plugin: &str, latents: usize, most: usize, what: &str) -> Result<usize> {
    if (1..=most).contains(&latents) {
        return Ok(latents);
    }
    let problem = format!("latent_dim must lie between 1 and {most}, {what}, and {latents} does not");
    Err(Error::parameter(plugin, problem))
}

/// Parameters of `task-aware-linear`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Linear {
    /// Z, how many latents there are at most. By default as many as are worth it.
    latent_dim: Option<usize>,
    /// Whose latents need not be moved into the set on which the claim holds: the volunteers' ("empirical", the default), or those of the whole domain
    /// ("domain").
    #[serde(default)]
    sensitivity: Sensitivity,
}

/// Parameters of `privacy-agnostic`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Z, how many latents there are: all principal components of the task by default, and with `training` half as many as features.
    latent_dim: Option<usize>,
    /// Whose latents need not be moved into the set on which the claim holds: the volunteers' ("empirical", the default), or those of the whole domain
    /// ("domain").
    #[serde(default)]
    sensitivity: Sensitivity,
    /// Networks and steps, for networks that are trained in place of closed forms.
    training: Option<TrainingParameters>,
}

/// Parameters of `task-agnostic`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfFeatures {
    /// Whose features need not be moved into the set on which the claim holds: those of the whole domain ("domain", the default), or the volunteers'
    /// ("empirical").
    sensitivity: Option<Sensitivity>,
    /// Networks and steps, for a decoder that is trained in place of the best linear one.
    training: Option<TrainingParameters>,
}

fn latents(encoder: &Encoder, sample: &Sample, sensitivity: Sensitivity, domain: &Domain) -> Result<Latents> {
    match sensitivity {
        Sensitivity::Empirical => Latents::of_points(encoder.of(sample.records().view()).view()),
        Sensitivity::Domain => Latents::of_domain(encoder.map.view(), encoder.constant().view(), domain),
    }
}

const LINEAR: &str = "task-aware-linear";

/// Theorem 1's three steps: the ball of radius r_max, the encoder that is best for it (Propositions 2 to 4), and the noise that the true set
/// of latents asks for, with the decoder that is best for that noise.
fn task_aware(Linear { latent_dim, sensitivity }: Linear, brief: &Brief) -> Result<LatentLaplace> {
    let table = brief.unclaimed_volunteers(LINEAR)?;
    let sample = Sample::new(table.records().view())?;
    let whitened = Whitened::new(LINEAR, &sample, &linear_task(LINEAR, brief, table, &sample)?)?;
    let latent_dim = whitened.latent_dim(LINEAR, latent_dim)?;
    // Two ratios, so that no ε is too small or too large to be squared.
    let ratio = whitened.radius(&sample) / brief.budget.epsilon();
    let noise = (8.0 * ratio * ratio).min(1e300);
    let eigenvalues = whitened.eigenvalues.to_vec();
    let filled = Waterfilling::with_latent_dim(&eigenvalues, noise, latent_dim)
        .map_err(|problem| Error::not_applicable(LINEAR, problem.to_string()))?;
    let singular: Vec<f64> = filled.sigma_squared().iter().take(filled.rank()).map(|x| x.sqrt()).collect();
    let encoder = Encoder { map: whitened.map(&singular), center: sample.mean().view() };
    let latents = latents(&encoder, &sample, sensitivity, brief.domain.features())?;
    encoder.designed(brief, &sample, latents)
}

const PRIVACY: &str = "privacy-agnostic";

/// The task's Z principal components, all at one scale: the encoder of a design without noise. Without a `latent_dim` all of them.
fn privacy_agnostic(
    Parameters { latent_dim, sensitivity, training }: Parameters,
    brief: &Brief,
) -> Result<LatentLaplace> {
    if let Some(training) = training {
        if sensitivity == Sensitivity::Domain {
            let problem = "a trained encoder has no sensitivity \"domain\": its latents are moved to where the volunteers' are";
            return Err(Error::parameter(PRIVACY, problem));
        }
        // Encoder and decoder without noise, and then the decoder with it.
        let runs = [Run { eta: Some(0.0), is_noisy: false }, Run { eta: None, is_noisy: true }];
        return gradient::trained(PRIVACY, latent_dim, &training, brief, &runs);
    }
    let table = brief.unclaimed_volunteers(PRIVACY)?;
    let sample = Sample::new(table.records().view())?;
    let whitened = Whitened::new(PRIVACY, &sample, &linear_task(PRIVACY, brief, table, &sample)?)?;
    let latent_dim = whitened.latent_dim(PRIVACY, latent_dim)?;
    let encoder = Encoder { map: whitened.map(&vec![1.0; latent_dim]), center: sample.mean().view() };
    let latents = latents(&encoder, &sample, sensitivity, brief.domain.features())?;
    encoder.designed(brief, &sample, latents)
}

const TASK: &str = "task-agnostic";

/// The features themselves, noise, and the best decoder (Corollary 2).
fn task_agnostic(OfFeatures { sensitivity, training }: OfFeatures, brief: &Brief) -> Result<LatentLaplace> {
    let of_domain = sensitivity != Some(Sensitivity::Empirical);
    if let Some(training) = training {
        let set = of_domain.then(|| brief.domain.features());
        return gradient::task_agnostic(TASK, set, &training, brief);
    }
    let sample = Sample::new(brief.unclaimed_volunteers(TASK)?.records().view())?;
    let n = brief.domain.columns().len();
    if n == 0 {
        return Err(Error::not_applicable(TASK, "there is no feature to protect"));
    }
    let origin = Array1::zeros(n);
    let encoder = Encoder { map: Array2::eye(n), center: origin.view() };
    let latents = match of_domain {
        true => Latents { set: brief.domain.features().clone(), origin: origin.clone() },
        false => Latents::of_points(sample.records().view())?,
    };
    encoder.designed(brief, &sample, latents)
}

/// Three numbers of which two combinations count, of volunteers whose data are public.
pub(crate) fn example() -> Result<Example> {
    let mut example = Example::numbers()?.with_public_volunteers();
    example.brief.task = Task::Linear(ndarray::array![[1.0, 0.5, 0.0], [0.0, 0.5, 0.5]]);
    Ok(example)
}

register! {
    /// The plugin `task-aware-linear`.
    pub const TASK_AWARE_LINEAR = {
        name: LINEAR,
        summary: "linear latents, scaled by what the task needs of each, with Laplace noise (Theorem 1)",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Linear,
        learn: |parameters, brief: &Brief| Ok(task_aware(parameters, brief)?.into_parts()),
        local: LatentLaplace::try_from,
        example: example,
    };
}

register! {
    /// The plugin `privacy-agnostic`.
    pub const PRIVACY_AGNOSTIC = {
        name: PRIVACY,
        summary: "the task's principal components at equal scale, with Laplace noise: an encoder designed without it",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(privacy_agnostic(parameters, brief)?.into_parts()),
        local: LatentLaplace::try_from,
        example: example,
    };
}

register! {
    /// The plugin `task-agnostic`.
    pub const TASK_AGNOSTIC = {
        name: TASK,
        summary: "Laplace noise on the features themselves, then the best linear decoder of volunteers' records",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: OfFeatures,
        learn: |parameters, brief: &Brief| Ok(task_agnostic(parameters, brief)?.into_parts()),
        local: LatentLaplace::try_from,
        example: example,
    };
}
