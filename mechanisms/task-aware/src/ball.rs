//! Designs `task-aware-gaussian` and `task-aware-priv-unit`: linear latents, clipped to an ℓ₂ norm that is
//! chosen for the least loss, with Gaussian noise or PrivUnit.

use crate::PAPER;
use crate::affine::affine;
use crate::clipped::{PATIENCE, decoder_from};
use crate::latent::LatentMechanism;
use crate::linear::{Whitened, example};
use crate::noise::{LatentNoise, NoiseKind};
use crate::sample::{Sample, squared_norm};
use crate::task::{linear_task, released_by};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use schemars::JsonSchema;
use scumble_core::{Brief, Budget, Descriptor, Domain, Error, Example, Output, Result, register};
use scumble_kkt::Waterfilling;
use serde::Deserialize;

/// Smallest and largest clipping norm that the design tries, and the ratio of one norm to the one before. The
/// unit is the root mean square of the norm of the latents.
const CLIPPING: [f64; 3] = [0.1, 20.0, 1.1];

/// Parameters of both designs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Maximum number of latents, Z. Up to this maximum (by default all principal components of the task),
    /// the design chooses the number for the least loss.
    latent_dim: Option<usize>,
}

/// Second moment E ṽṽᵀ = ρ·vvᵀ + c·I of the noisy latents ṽ, for latents v.
#[derive(Clone, Copy)]
struct SecondMoment {
    /// ρ, 1 for additive noise.
    along: f64,
    /// c, the variance of additive noise.
    variance: f64,
}

impl SecondMoment {
    /// Returns the second moment for `latents` latents in a ball of radius ½.
    fn of_unit_ball(kind: NoiseKind, latents: usize, budget: Budget) -> Result<Self> {
        let noise = LatentNoise::calibrated(kind, &Domain::l2_ball(latents, 0.5)?, budget)?;
        let (along, variance) = noise.map_or((1.0, 0.0), |noise| noise.second_moment());
        Ok(Self { along, variance })
    }

    /// Returns the second moment for a ball of radius `norm`, from that for radius ½. The variance is at most
    /// 10³⁰⁰, and 0 without noise.
    fn scaled(self, norm: f64) -> Self {
        let variance = if self.variance > 0.0 { (4.0 * norm * norm * self.variance).min(1e300) } else { 0.0 };
        Self { variance, ..self }
    }
}

/// Clipped latents of the volunteers.
struct Clipped {
    /// The Z factors σ of the task's principal components.
    singular: Vec<f64>,
    /// Largest ℓ₂ norm of a record's latents; latents beyond it are moved towards 0.
    norm: f64,
    /// The Z latents of each of N records (N × Z), after clipping.
    latents: Array2<f64>,
}

impl Clipped {
    /// Multiplies the first Z of the task's `components` (N × Z or more) by the Z factors `singular`, and
    /// clips the result to the ℓ₂ norm `norm`.
    fn new(singular: Vec<f64>, norm: f64, components: &Array2<f64>) -> Self {
        let mut latents = &components.slice(s![.., ..singular.len()]) * &ArrayView1::from(&singular);
        for mut row in latents.outer_iter_mut() {
            let size = squared_norm(row.view()).sqrt();
            if size > norm {
                row *= norm / size;
            }
        }
        Self { singular, norm, latents }
    }

    /// Best linear decoder (m × Z) for `outputs` (N × m) from these latents with noise, the means of the
    /// latents, and the loss per record.
    fn decoded(&self, outputs: &Array2<f64>, noise: SecondMoment) -> (Array2<f64>, Array1<f64>, f64) {
        let (n, width) = self.latents.dim();
        let means = self.latents.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(width));
        let centered = &self.latents - &means;
        let mut own = self.latents.t().dot(&self.latents) * ((noise.along - 1.0) / n as f64)
            + centered.t().dot(&centered) / n as f64;
        own.diag_mut().mapv_inplace(|x| x + noise.variance);
        let decoder = decoder_from(&own, &centered, outputs);
        let square = |matrix: &Array2<f64>| matrix.iter().map(|x| x * x).sum::<f64>();
        let errors = square(&(outputs - &centered.dot(&decoder.t())))
            + (noise.along - 1.0) * square(&self.latents.dot(&decoder.t()));
        let loss = errors / n as f64 + noise.variance * square(&decoder);
        (decoder, means, loss)
    }
}

/// Designs latents v = Σu with the principal components u of the task (see [`Whitened`]), and noise of this
/// `kind` on an ℓ₂ ball.
///
/// Let Σᵢσᵢ² = 1. The mean squared norm of v is then 1. Latents that are clipped to the norm κ lie in a ball
/// of radius κ. Their noise has the variance c, proportional to κ². Apart from clipping, the loss is Σ
/// λᵢc/(σᵢ² + c), and water-filling minimises it ([`Waterfilling`]; Proposition 4 of Cheng, Tang and
/// Chinchali, with another c). For PrivUnit this neglects that the noise along a record's latents differs
/// from the noise across them. The design tries each κ of a grid. For each, it computes the loss of the best
/// linear decoder on the volunteers' records, with clipping and the exact second moment of the noisy latents.
/// The least loss decides. PrivUnit's c depends on the number of latents too, so the design also tries each
/// number, up to [`PATIENCE`] numbers after the best.
fn design(
    (plugin, kind): (&'static str, NoiseKind),
    Parameters { latent_dim }: Parameters,
    brief: &Brief,
) -> Result<LatentMechanism> {
    let budget = kind.spent(plugin, brief.budget)?;
    let table = brief.unclaimed_volunteers(plugin)?;
    let sample = Sample::new(table.records().view())?;
    let k = linear_task(plugin, brief, table, &sample)?;
    let whitened = Whitened::new(plugin, &sample, &k)?;
    let most = whitened.latent_dim(plugin, latent_dim)?;
    let eigenvalues = whitened.eigenvalues.to_vec();
    let centered = sample.records() - sample.mean();
    let outputs = centered.dot(&k.t());
    let components = centered.dot(&whitened.map(&vec![1.0; most]).t());
    let [least, largest, ratio] = CLIPPING;
    let norms = std::iter::successors(Some(least), |norm| Some(norm * ratio)).take_while(|x| *x <= largest);
    let norms: Vec<f64> = norms.collect();
    let mut best: Option<(f64, Clipped, SecondMoment)> = None;
    let mut try_out = |latents: usize| -> Result<bool> {
        let unit = SecondMoment::of_unit_ball(kind, latents, budget)?;
        let before = best.as_ref().map(|(loss, ..)| *loss);
        // Without noise nothing is clipped.
        for norm in if unit.variance > 0.0 { &norms[..] } else { &[f64::INFINITY] } {
            let noise = unit.scaled(*norm);
            let filled = Waterfilling::with_latent_dim(&eigenvalues, noise.variance, latents)
                .map_err(|problem| Error::not_applicable(plugin, problem.to_string()))?;
            if kind == NoiseKind::PrivUnit && filled.rank() < latents && latents > 1 {
                // Fewer latents have less noise.
                continue;
            }
            let singular = filled.sigma_squared().iter().take(filled.rank()).map(|x| x.sqrt()).collect();
            let clipped = Clipped::new(singular, *norm, &components);
            let (_, _, loss) = clipped.decoded(&outputs, noise);
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, clipped, unit));
            }
        }
        Ok(best.as_ref().map(|(loss, ..)| *loss) != before)
    };
    if kind == NoiseKind::PrivUnit && budget.epsilon().is_finite() {
        let mut in_vain = 0;
        for latents in 1..=most {
            in_vain = if try_out(latents)? { 0 } else { in_vain + 1 };
            if in_vain == PATIENCE {
                break;
            }
        }
    } else {
        try_out(most)?;
    }
    let Some((_, mut clipped, unit)) = best else {
        return Err(Error::not_applicable(plugin, "no clipping norm has a finite loss"));
    };
    // No latent reaches a norm of infinity, or a norm beyond the largest one of the volunteers.
    let reached = clipped.latents.outer_iter().map(squared_norm).fold(0.0, f64::max).sqrt();
    clipped.norm = clipped.norm.min(reached);
    let (decoder, means, _) = clipped.decoded(&centered, unit.scaled(clipped.norm));
    let map = whitened.map(&clipped.singular);
    let encoder = affine(&map, (-map.dot(sample.mean())).view())?;
    let set = Domain::l2_ball(map.nrows(), clipped.norm)?;
    let constant = sample.mean() - &decoder.dot(&means);
    released_by(brief, (kind, budget), encoder, set, affine(&decoder, constant.view())?)
}

/// The example of the linear designs, with δ = 10⁻⁵.
fn gaussian_example() -> Result<Example> {
    let mut example = example()?;
    example.brief.budget = Budget::new(example.brief.budget.epsilon(), 1e-5)?;
    Ok(example)
}

const GAUSSIAN: &str = "task-aware-gaussian";

register! {
    /// The plugin `task-aware-gaussian`.
    pub const TASK_AWARE_GAUSSIAN = {
        name: GAUSSIAN,
        summary: "linear latents, scaled by their importance for the task and clipped to an ℓ₂ norm, with \
                  Gaussian noise",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| {
            Ok(design((GAUSSIAN, NoiseKind::Gaussian), parameters, brief)?.into_parts())
        },
        local: LatentMechanism::try_from,
        example: gaussian_example,
    };
}

const PRIV_UNIT: &str = "task-aware-priv-unit";

register! {
    /// The plugin `task-aware-priv-unit`.
    pub const TASK_AWARE_PRIV_UNIT = {
        name: PRIV_UNIT,
        summary: "linear latents, scaled by their importance for the task and clipped to an ℓ₂ norm, \
                  estimated from a random direction (PrivUnit)",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| {
            Ok(design((PRIV_UNIT, NoiseKind::PrivUnit), parameters, brief)?.into_parts())
        },
        local: LatentMechanism::try_from,
        example: example,
    };
}
