//! Linear encoders with the best linear decoder: Theorem 1 of Cheng, Tang and Chinchali, and the benchmarks
//! `privacy-agnostic` and `task-agnostic` of their Section A.7.

use crate::PAPER;
use crate::affine::affine;
use crate::gradient::{self, Run};
use crate::latent::LatentMechanism;
use crate::noise::NoiseKind;
use crate::sample::{Sample, eigen, squared_norm};
use crate::set::{Latents, Sensitivity};
use crate::task::{ignores_everything, linear_task, released_by};
use crate::training::{TrainingParameters, checked_latent_dim};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use schemars::JsonSchema;
use scumble_core::{Brief, Budget, Descriptor, Domain, Error, Example, Output, Result, Task, register};
use scumble_kkt::Waterfilling;
use scumble_noise::LaplaceNoise;
use serde::Deserialize;

/// A linear encoder v = A(x − c) from records x of n features to Z latents v, with the map A (Z × n) and the
/// centre c (n values).
pub(crate) struct Encoder<'s> {
    pub(crate) map: Array2<f64>,
    pub(crate) center: ArrayView1<'s, f64>,
}

impl Encoder<'_> {
    /// Returns −Ac (Z values), the constant term of the latents v = Ax − Ac of a record x (see [`Encoder`]).
    fn constant(&self) -> Array1<f64> {
        -self.map.dot(&self.center)
    }

    /// Computes the Z latents of each of the N `records` (N × n features). The result has the shape N × Z.
    fn encode(&self, records: ArrayView2<f64>) -> Array2<f64> {
        (&records - &self.center).dot(&self.map.t())
    }

    /// Builds the mechanism. Its Laplace noise is calibrated to the set of `latents` at the ε of `brief`. Its
    /// decoder is the best linear one for this noise (Cheng, Tang and Chinchali, Proposition 1).
    pub(crate) fn designed(
        &self,
        brief: &Brief,
        sample: &Sample,
        latents: Latents,
    ) -> Result<LatentMechanism> {
        let Latents { set, origin } = latents;
        let epsilon = brief.budget.epsilon();
        let variance = match epsilon {
            f64::INFINITY => 0.0,
            epsilon => LaplaceNoise::calibrated(&set, epsilon)?.variance(),
        };
        let decoder = sample.best_decoder(&self.map, variance);
        // Let o be the origin of the set of latents. The latents of a record x are then v = A(x − c) − o.
        // With the decoder matrix D and the mean μ of the records, the estimate is x̂ = μ + D(v + o − A(μ −
        // c)).
        let off_center = self.map.dot(&(sample.mean() - &self.center));
        let constant = sample.mean() + &decoder.dot(&(&origin - &off_center));
        let encoder = affine(&self.map, (self.constant() - &origin).view())?;
        let spent = (NoiseKind::Laplace, Budget::pure(epsilon)?);
        released_by(brief, spent, encoder, set, affine(&decoder, constant.view())?)
    }
}

/// The matrix K of a task (m outputs × n features) in whitened coordinates: P = KL (m × r). Here r is the
/// rank of the covariance of the records, and L (n × r) is a matrix with LLᵀ equal to this covariance.
///
/// The *principal components of the task* are the coordinates of a whitened record along the eigenvectors of
/// PᵀP with nonzero eigenvalues, in descending order of these eigenvalues.
pub(crate) struct Whitened {
    /// Pseudoinverse L⁺ (r × n) of the matrix L that whitens records (see [`Whitened`]).
    inverse: Array2<f64>,
    /// The r eigenvalues of PᵀP for the whitened matrix P of the task (see [`Whitened`]), in descending
    /// order. They are zero in directions that the task ignores.
    pub(crate) eigenvalues: Array1<f64>,
    /// Eigenvectors of PᵀP (r × r), as columns, for the whitened matrix P of the task (see [`Whitened`]).
    vectors: Array2<f64>,
}

impl Whitened {
    /// Whitens the matrix `k` of a task by the covariance of `sample`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the task ignores every direction in which records vary, or if the squared
    /// entries of `k`, times the variances of the columns, overflow.
    pub(crate) fn new(plugin: &str, sample: &Sample, k: &Array2<f64>) -> Result<Self> {
        let (l, inverse) = sample.whitening();
        let p = k.dot(&l);
        let (values, vectors) = eigen(&p.t().dot(&p));
        let largest = values.first().copied().unwrap_or(0.0);
        // Total loss if all columns varied independently. If the largest eigenvalue is below 10⁻¹⁴ times this
        // loss, it is only a rounding error.
        let alone = (k * k).dot(&sample.covariance().diag()).sum();
        if !alone.is_finite() {
            let reason = "the numbers of the task and the records are too large: their squares overflow";
            return Err(Error::not_applicable(plugin, reason));
        }
        if values.is_empty() || largest <= 1e-14 * alone {
            return Err(ignores_everything(plugin));
        }
        Ok(Self { inverse, eigenvalues: values.mapv(|x| if x > 1e-14 * largest { x } else { 0.0 }), vectors })
    }

    /// Returns the number of latents Z: by default the number of nonzero eigenvalues of the whitened task,
    /// which is also the maximum.
    ///
    /// # Errors
    /// Same errors as [`checked_latent_dim`].
    pub(crate) fn latent_dim(&self, plugin: &str, requested: Option<usize>) -> Result<usize> {
        let rank = self.eigenvalues.iter().filter(|value| **value > 0.0).count();
        checked_latent_dim(
            plugin,
            requested.unwrap_or(rank),
            rank,
            "the number of directions that vary and affect \
                                                                  the task",
        )
    }

    /// Returns the encoder's map ΣQᵀL⁺ (Z × n), which is UΣQᵀL⁺ of Proposition 2 (Cheng, Tang and Chinchali)
    /// with U = I. Σ has the Z values `singular` on its diagonal. Q has the eigenvectors of the whitened task
    /// as columns, and L⁺ whitens records (see [`Whitened`]).
    pub(crate) fn map(&self, singular: &[f64]) -> Array2<f64> {
        let vectors = self.vectors.slice(ndarray::s![.., ..singular.len()]);
        let scaled = &vectors * &ArrayView1::from(singular);
        scaled.t().dot(&self.inverse)
    }

    /// Returns r_max, the largest norm of a whitened record h = L⁺(x − μ), for the records x of `sample` and
    /// their mean μ. L⁺ whitens records (see [`Whitened`]).
    pub(crate) fn radius(&self, sample: &Sample) -> f64 {
        let h = (sample.records() - sample.mean()).dot(&self.inverse.t());
        h.outer_iter().map(squared_norm).fold(0.0, f64::max).sqrt()
    }
}

/// Parameters of `task-aware-linear`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Linear {
    /// Maximum number of latents, Z. Up to this maximum (by default all principal components of the task),
    /// the design chooses the number for the least loss.
    latent_dim: Option<usize>,
    /// Records whose latents define the set of latents: the volunteers' ("empirical", the default), or all
    /// records of the domain ("domain"). Latents outside the set are moved into it.
    #[serde(default)]
    sensitivity: Sensitivity,
}

/// Parameters of `privacy-agnostic`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of latents, Z: all principal components of the task by default, and half the number of features
    /// with `training`.
    latent_dim: Option<usize>,
    /// Records whose latents define the set of latents: the volunteers' ("empirical", the default), or all
    /// records of the domain ("domain"). Latents outside the set are moved into it.
    #[serde(default)]
    sensitivity: Sensitivity,
    /// Networks and steps, for trained networks instead of closed forms.
    training: Option<TrainingParameters>,
}

/// Parameters of `task-agnostic`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfFeatures {
    /// Records that define the set of released features before noise: all records of the domain ("domain",
    /// the default), or the volunteers' ("empirical"). Features outside the set are moved into it.
    sensitivity: Option<Sensitivity>,
    /// Networks and steps, for a trained decoder instead of the best linear one.
    training: Option<TrainingParameters>,
}

fn latents(encoder: &Encoder, sample: &Sample, sensitivity: Sensitivity, domain: &Domain) -> Result<Latents> {
    match sensitivity {
        Sensitivity::Empirical => Latents::from_points(encoder.encode(sample.records().view()).view()),
        Sensitivity::Domain => Latents::from_domain(encoder.map.view(), encoder.constant().view(), domain),
    }
}

const LINEAR: &str = "task-aware-linear";

/// Designs the mechanism in the three steps of Theorem 1 (Cheng, Tang and Chinchali). First, the whitened
/// records of the volunteers are bounded by the smallest ball about 0 that contains them, of radius r_max.
/// Second, the best encoder for this ball is computed (Propositions 2 to 4). Third, the noise is calibrated
/// to the set of the encoder's latents. The decoder is the best linear one for this noise.
fn task_aware(Linear { latent_dim, sensitivity }: Linear, brief: &Brief) -> Result<LatentMechanism> {
    let table = brief.unclaimed_volunteers(LINEAR)?;
    let sample = Sample::new(table.records().view())?;
    let whitened = Whitened::new(LINEAR, &sample, &linear_task(LINEAR, brief, table, &sample)?)?;
    let latent_dim = whitened.latent_dim(LINEAR, latent_dim)?;
    // Divide before squaring, because the square of a very small or large ε is not a finite positive float.
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

/// Designs an encoder that computes the first Z principal components of the task (see [`Whitened`]), all at
/// the same scale. This encoder would be optimal without noise. By default, Z is the number of all components
/// with a nonzero eigenvalue.
fn privacy_agnostic(
    Parameters { latent_dim, sensitivity, training }: Parameters,
    brief: &Brief,
) -> Result<LatentMechanism> {
    if let Some(training) = training {
        if sensitivity == Sensitivity::Domain {
            let problem = "a trained encoder has no sensitivity \"domain\", because its latents are \
                           projected into the range of the volunteers' latents";
            return Err(Error::parameter(PRIVACY, problem));
        }
        // Train encoder and decoder without noise, and then the decoder with noise.
        let runs = [Run { eta: Some(0.0), is_noisy: false }, Run { eta: None, is_noisy: true }];
        return gradient::trained((PRIVACY, NoiseKind::Laplace), latent_dim, &training, brief, &runs);
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

/// Designs Laplace noise on the features themselves, and a decoder. The decoder is the best linear one for
/// this noise (Cheng, Tang and Chinchali, Corollary 2), or a trained network if `training` is given.
fn task_agnostic(OfFeatures { sensitivity, training }: OfFeatures, brief: &Brief) -> Result<LatentMechanism> {
    let in_domain = sensitivity != Some(Sensitivity::Empirical);
    if let Some(training) = training {
        let set = in_domain.then(|| brief.domain.features());
        return gradient::task_agnostic(TASK, set, &training, brief);
    }
    let sample = Sample::new(brief.unclaimed_volunteers(TASK)?.records().view())?;
    let n = brief.domain.columns().len();
    if n == 0 {
        return Err(Error::not_applicable(TASK, "there is no feature to protect"));
    }
    let origin = Array1::zeros(n);
    let encoder = Encoder { map: Array2::eye(n), center: origin.view() };
    let latents = match in_domain {
        true => Latents { set: brief.domain.features().clone(), origin: origin.clone() },
        false => Latents::from_points(sample.records().view())?,
    };
    encoder.designed(brief, &sample, latents)
}

/// Example with three numeric features, a task of two linear combinations of them, and volunteers whose data
/// are public.
pub(crate) fn example() -> Result<Example> {
    let mut example = Example::numbers()?.with_public_volunteers();
    example.brief.task = Task::Linear(ndarray::array![[1.0, 0.5, 0.0], [0.0, 0.5, 0.5]]);
    Ok(example)
}

register! {
    /// The plugin `task-aware-linear`.
    pub const TASK_AWARE_LINEAR = {
        name: LINEAR,
        summary: "linear latents, scaled by their importance for the task, with Laplace noise (Theorem 1)",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Linear,
        learn: |parameters, brief: &Brief| Ok(task_aware(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: example,
    };
}

register! {
    /// The plugin `privacy-agnostic`.
    pub const PRIVACY_AGNOSTIC = {
        name: PRIVACY,
        summary: "the task's principal components at equal scale, with Laplace noise; the encoder is \
                  designed without noise",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(privacy_agnostic(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: example,
    };
}

register! {
    /// The plugin `task-agnostic`.
    pub const TASK_AGNOSTIC = {
        name: TASK,
        summary: "Laplace noise on the features themselves, then the best linear decoder for volunteers' \
                  records",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: OfFeatures,
        learn: |parameters, brief: &Brief| Ok(task_agnostic(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: example,
    };
}
