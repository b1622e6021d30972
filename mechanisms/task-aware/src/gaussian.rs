//! Design `task-aware-gaussian`: linear latents with Gaussian noise, clipped to an ℓ₂ norm that is chosen for
//! the least loss.

use crate::PAPER;
use crate::affine::affine;
use crate::clipped::decoder;
use crate::latent::LatentMechanism;
use crate::linear::{Whitened, example};
use crate::noise::NoiseKind;
use crate::sample::{Sample, squared_norm};
use crate::task::{linear_task, released_by};
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use schemars::JsonSchema;
use scumble_core::{Brief, Budget, Descriptor, Domain, Error, Example, Output, Result, register};
use scumble_kkt::Waterfilling;
use serde::Deserialize;

const NAME: &str = "task-aware-gaussian";

/// Smallest and largest clipping norm that the design tries, and the ratio of one norm to the one before. The
/// unit is the root mean square of the norm of the latents.
const CLIPPING: [f64; 3] = [0.1, 20.0, 1.1];

/// Parameters of `task-aware-gaussian`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Maximum number of latents, Z. Up to this maximum (by default all principal components of the task),
    /// the design chooses the number for the least loss.
    latent_dim: Option<usize>,
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

    /// Best linear decoder (m × Z) for `outputs` (N × m) from these latents with noise of this `variance`,
    /// the means of the latents, and the loss per record.
    fn decoded(&self, outputs: &Array2<f64>, variance: f64) -> (Array2<f64>, Array1<f64>, f64) {
        let (n, width) = self.latents.dim();
        let means = self.latents.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(width));
        let centered = &self.latents - &means;
        let decoder = decoder(&centered, outputs, &Array1::from_elem(width, variance));
        let errors = outputs - &centered.dot(&decoder.t());
        let square = |matrix: &Array2<f64>| matrix.iter().map(|x| x * x).sum::<f64>();
        let loss = square(&errors) / n as f64 + variance * square(&decoder);
        (decoder, means, loss)
    }
}

/// Designs latents v = Σu with the principal components u of the task (see [`Whitened`]), and Gaussian noise.
///
/// Let Σᵢσᵢ² = 1. The mean squared norm of v is then 1. Latents that are clipped to the norm κ lie in a ball
/// of diameter 2κ. They receive noise of variance c = (2κs)², where s is the standard deviation of noise for
/// diameter 1. Apart from clipping, the loss is Σ λᵢc/(σᵢ² + c), and water-filling minimises it
/// ([`Waterfilling`]; Proposition 4 of Cheng, Tang and Chinchali, with another c). The design tries each κ of
/// a grid. For each, it computes the loss of the best linear decoder on the volunteers' records, with
/// clipping. The least loss decides.
fn design(Parameters { latent_dim }: Parameters, brief: &Brief) -> Result<LatentMechanism> {
    let budget = NoiseKind::Gaussian.spent(NAME, brief.budget)?;
    let unit = NoiseKind::Gaussian.unit_scale(budget)?;
    let table = brief.unclaimed_volunteers(NAME)?;
    let sample = Sample::new(table.records().view())?;
    let k = linear_task(NAME, brief, table, &sample)?;
    let whitened = Whitened::new(NAME, &sample, &k)?;
    let most = whitened.latent_dim(NAME, latent_dim)?;
    let eigenvalues = whitened.eigenvalues.to_vec();
    let centered = sample.records() - sample.mean();
    let outputs = centered.dot(&k.t());
    let components = centered.dot(&whitened.map(&vec![1.0; most]).t());
    let variance = |norm: f64| (2.0 * norm * unit).powi(2);
    let [least, largest, ratio] = CLIPPING;
    let norms = std::iter::successors(Some(least), |norm| Some(norm * ratio)).take_while(|x| *x <= largest);
    // Without noise nothing is clipped.
    let norms: Vec<f64> = if unit > 0.0 { norms.collect() } else { vec![f64::INFINITY] };
    let mut best: Option<(f64, Clipped)> = None;
    for norm in norms {
        let noise = if unit > 0.0 { variance(norm).min(1e300) } else { 0.0 };
        let filled = Waterfilling::with_latent_dim(&eigenvalues, noise, most)
            .map_err(|problem| Error::not_applicable(NAME, problem.to_string()))?;
        let singular: Vec<f64> =
            filled.sigma_squared().iter().take(filled.rank()).map(|x| x.sqrt()).collect();
        let clipped = Clipped::new(singular, norm, &components);
        let (_, _, loss) = clipped.decoded(&outputs, noise);
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, clipped));
        }
    }
    let Some((_, mut clipped)) = best else {
        return Err(Error::not_applicable(NAME, "no clipping norm has a finite loss"));
    };
    // No latent reaches a norm of infinity, or a norm beyond the largest one of the volunteers.
    let reached = clipped.latents.outer_iter().map(squared_norm).fold(0.0, f64::max).sqrt();
    clipped.norm = clipped.norm.min(reached);
    let noise = if unit > 0.0 { variance(clipped.norm) } else { 0.0 };
    let (decoder, means, _) = clipped.decoded(&centered, noise);
    let map = whitened.map(&clipped.singular);
    let encoder = affine(&map, (-map.dot(sample.mean())).view())?;
    let set = Domain::l2_ball(map.nrows(), clipped.norm)?;
    let constant = sample.mean() - &decoder.dot(&means);
    released_by(brief, budget, encoder, set, affine(&decoder, constant.view())?)
}

/// The example of the linear designs, with δ = 10⁻⁵.
fn gaussian_example() -> Result<Example> {
    let mut example = example()?;
    example.brief.budget = Budget::new(example.brief.budget.epsilon(), 1e-5)?;
    Ok(example)
}

register! {
    /// The plugin `task-aware-gaussian`.
    pub const TASK_AWARE_GAUSSIAN = {
        name: NAME,
        summary: "linear latents, scaled by their importance for the task and clipped to an ℓ₂ norm, with \
                  Gaussian noise",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: gaussian_example,
    };
}
