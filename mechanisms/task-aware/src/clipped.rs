//! Design `task-aware-clipped`: latents that are linear functions of the record's features. Each latent is
//! clipped to an interval that is chosen for the least loss (errata T5). An interval is called a *box* here.

use crate::PAPER;
use crate::affine::affine;
use crate::latent::LatentMechanism;
use crate::linear::{Whitened, example};
use crate::noise::NoiseKind;
use crate::sample::{Sample, solve_right, squared_norm};
use crate::set::between;
use crate::task::{linear_task, released_by};
use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use ndarray::{Array1, Array2, Axis, concatenate, s};
use schemars::JsonSchema;
use scumble_core::{Brief, Budget, Descriptor, Output, Result, register};
use serde::Deserialize;
use std::cell::{Cell, RefCell};

const NAME: &str = "task-aware-clipped";

/// Boxes of Z latents φ: the lower end and the width of each box, and the share of ε that its latent spends.
/// A latent with width w and share s receives noise of scale w/(sε). The shares sum to 1, so all latents
/// together spend ε.
#[derive(Debug, Clone)]
struct Boxes {
    lower: Array1<f64>,
    width: Array1<f64>,
    share: Array1<f64>,
}

/// Appends the box of a latent of standard deviation `deviation` to `flat`, in the format of
/// [`Boxes::from_flat`]. The box reaches from −`deviation` to `deviation`. The new latent's share of ε is a
/// tenth, or all of ε if it is the first latent.
fn with_one_more(flat: &Array1<f64>, deviation: f64) -> Array1<f64> {
    let part = |at: usize| {
        let latents = flat.len() / 3;
        flat.slice(s![at * latents..(at + 1) * latents]).to_owned()
    };
    let sum: f64 = part(2).mapv(f64::exp).sum();
    let share = if sum > 0.0 { (sum / 9.0).ln() } else { 0.0 };
    let one = |x: f64| Array1::from_elem(1, x);
    concatenate![Axis(0), part(0), one(-deviation), part(1), one((2.0 * deviation).ln()), part(2), one(share)]
}

/// Least logarithm of the ratio of a latent's share of ε to the largest share. [`MOST_LOG_WIDTH`] is the
/// largest absolute logarithm of a width. Noise would hide a latent with a smaller share, and a search beyond
/// these two limits may not terminate.
const LEAST_LOG_SHARE: f64 = -12.0;
const MOST_LOG_WIDTH: f64 = 40.0;

impl Boxes {
    /// Sets each box to the range of its column of `latents` (N records × Z latents), so that no latent is
    /// clipped.
    fn widen(&mut self, latents: &Array2<f64>) {
        for (at, column) in latents.axis_iter(Axis(1)).enumerate() {
            let (lower, upper) =
                column.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
            (self.lower[at], self.width[at]) = (lower, upper - lower);
        }
    }

    /// Builds the boxes of Z latents from 3Z unconstrained numbers: Z lower ends, Z logarithms of widths, and
    /// Z logarithms of shares up to an additive constant.
    fn from_flat(flat: &Array1<f64>) -> Self {
        let latents = flat.len() / 3;
        let part = |at: usize| flat.slice(s![at * latents..(at + 1) * latents]).to_owned();
        let (logs, largest) = (part(2), part(2).fold(f64::NEG_INFINITY, |a, b| a.max(*b)));
        let weights = logs.mapv(|x| (x - largest).max(LEAST_LOG_SHARE).exp());
        Self {
            lower: part(0),
            width: part(1).mapv(|x| x.clamp(-MOST_LOG_WIDTH, MOST_LOG_WIDTH).exp()),
            share: &weights / weights.sum(),
        }
    }

    fn clip(&self, latents: &Array2<f64>) -> Array2<f64> {
        let mut clipped = latents.clone();
        for (mut column, (lower, width)) in
            clipped.axis_iter_mut(Axis(1)).zip(self.lower.iter().zip(&self.width))
        {
            column.mapv_inplace(|x| x.clamp(*lower, lower + width));
        }
        clipped
    }

    /// Variance of each latent's noise, 2(w/(sε))² for a box of width w and a share s of ε.
    fn variance(&self, epsilon: f64) -> Array1<f64> {
        (&self.width / &self.share).mapv(|x| 2.0 * (x / epsilon).powi(2))
    }
}

type Searched<T> = std::result::Result<T, argmin::core::Error>;

/// Loss of boxes: E‖K(x̂ − x)‖² over the noise and the volunteers' records x. K is the task's matrix, and x̂
/// is the estimate of x by the best linear decoder for the clipped latents.
struct Problem<'p> {
    /// The Z latents of each of N records (N × Z), before clipping.
    latents: &'p Array2<f64>,
    /// The m centred task outputs K(x − μ) of each of N records x with mean μ (N × m), up to a constant
    /// factor.
    outputs: &'p Array2<f64>,
    epsilon: f64,
    /// Number of evaluations of the loss in the search so far. It is limited, because a line search over
    /// differences of rounding size would not terminate.
    tried: Cell<usize>,
    best: RefCell<Option<(Array1<f64>, f64)>>,
}

/// The best linear decoder for clipped latents, and its loss.
struct Decoded {
    /// Means of the Z latents, after clipping.
    means: Array1<f64>,
    /// Map from the Z centred latents to the m task outputs (m × Z).
    decoder: Array2<f64>,
    loss: f64,
    /// Gradient of the loss with respect to the Z clipped latents of each of N records (N × Z).
    slopes: Array2<f64>,
}

impl<'p> Problem<'p> {
    fn new(latents: &'p Array2<f64>, outputs: &'p Array2<f64>, epsilon: f64) -> Self {
        Self { latents, outputs, epsilon, tried: Cell::new(0), best: RefCell::new(None) }
    }

    fn decoded(&self, boxes: &Boxes) -> Decoded {
        let n = self.latents.nrows() as f64;
        let mut clipped = boxes.clip(self.latents);
        let means = clipped.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(clipped.ncols()));
        clipped -= &means;
        let decoder = decoder(&clipped, self.outputs, &boxes.variance(self.epsilon));
        let errors = clipped.dot(&decoder.t()) - self.outputs;
        let noise_loss: f64 = self.noise_cost(boxes, &decoder).sum();
        let loss = errors.iter().map(|x| x * x).sum::<f64>() / n + noise_loss;
        let slopes = errors.dot(&decoder) * (2.0 / n);
        Decoded { means, decoder, loss, slopes }
    }

    /// Checks that the search is within its limits.
    ///
    /// # Errors
    /// An error if the search has tried more than [`MOST_TRIED`] sets of boxes, or if a number of `flat` is
    /// not finite.
    fn check(&self, flat: &Array1<f64>) -> Searched<()> {
        if self.tried.get() <= MOST_TRIED && flat.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(argmin::core::Error::msg("the search exceeded its limit, or its numbers are not finite"))
    }

    /// Loss that the noise of each latent causes (Z values).
    fn noise_cost(&self, boxes: &Boxes, decoder: &Array2<f64>) -> Array1<f64> {
        let squares: Array1<f64> = decoder.axis_iter(Axis(1)).map(squared_norm).collect();
        boxes.variance(self.epsilon) * squares
    }
}

/// Computes the best linear decoder (m × Z) from the Z centred latents of N records (N × Z) to their m
/// `outputs` (N × m). Each latent has noise with its `variance` (Z values).
pub(crate) fn decoder(latents: &Array2<f64>, outputs: &Array2<f64>, variance: &Array1<f64>) -> Array2<f64> {
    let own = latents.t().dot(latents) / latents.nrows() as f64 + &Array2::from_diag(variance);
    decoder_from(&own, latents, outputs)
}

/// Same as [`decoder`], for noisy latents of the covariance `own` (Z × Z).
pub(crate) fn decoder_from(own: &Array2<f64>, latents: &Array2<f64>, outputs: &Array2<f64>) -> Array2<f64> {
    // Scale the diagonal to one, because latents may differ in size by orders of magnitude.
    let units = own.diag().mapv(|x| if x > 0.0 { x.sqrt().recip() } else { 0.0 });
    let scaled = (own * &units).t().to_owned() * &units;
    let with_outputs = outputs.t().dot(latents) / latents.nrows() as f64;
    solve_right(&(with_outputs * &units), &scaled) * &units
}

impl CostFunction for &Problem<'_> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, flat: &Array1<f64>) -> Searched<f64> {
        self.tried.set(self.tried.get() + 1);
        self.check(flat)?;
        let loss = self.decoded(&Boxes::from_flat(flat)).loss;
        if self.best.borrow().as_ref().is_none_or(|(_, least)| loss < *least) {
            self.best.replace(Some((flat.clone(), loss)));
        }
        Ok(loss)
    }
}

impl Gradient for &Problem<'_> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    /// Computes the gradient of the loss for a fixed decoder. The decoder minimises the loss, so its change
    /// contributes nothing to first order.
    fn gradient(&self, flat: &Array1<f64>) -> Searched<Array1<f64>> {
        self.check(flat)?;
        let boxes = Boxes::from_flat(flat);
        let Decoded { decoder, slopes, .. } = self.decoded(&boxes);
        let noise_costs = self.noise_cost(&boxes, &decoder);
        let columns = self.latents.axis_iter(Axis(1)).zip(slopes.axis_iter(Axis(1)));
        // Derivatives with respect to the lower and the upper ends of the boxes.
        let ends =
            columns.zip(boxes.lower.iter().zip(&boxes.width)).map(|((column, slopes), (lower, width))| {
                let sum = |is_beyond: &dyn Fn(f64) -> bool| -> f64 {
                    column.iter().zip(slopes).filter(|(x, _)| is_beyond(**x)).map(|(_, slope)| slope).sum()
                };
                (sum(&|x| x < *lower), sum(&|x| x > lower + width))
            });
        let (below, above): (Vec<f64>, Vec<f64>) = ends.unzip();
        let (below, above) = (Array1::from(below), Array1::from(above));
        let widths = &boxes.width * &above + &noise_costs * 2.0;
        let shares = (&boxes.share * noise_costs.sum() - &noise_costs) * 2.0;
        Ok(concatenate![Axis(0), &below + &above, widths, shares])
    }
}

/// Maximum number of sets of boxes that a search tries. A larger number of latents is used only if it reduces
/// the loss by more than the fraction [`WORTHWHILE`].
const MOST_TRIED: usize = 250;
const WORTHWHILE: f64 = 1e-6;
/// Number of consecutive added latents that bring no improvement, after which the search adds no more.
pub(crate) const PATIENCE: usize = 3;

/// Searches for the boxes of least loss from `start`. Returns them and their loss.
fn improved(problem: Problem, start: Array1<f64>) -> (Array1<f64>, f64) {
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), 10);
    let search = Executor::new(&problem, solver)
        .configure(|state| state.param(start.clone()).max_iters(MOST_TRIED as u64));
    // Ignore errors, because `problem.best` has the best boxes even after an error.
    let _ = search.run();
    let best = problem.best.take();
    best.unwrap_or_else(|| {
        let loss = problem.decoded(&Boxes::from_flat(&start)).loss;
        (start, loss)
    })
}

/// Parameters of `task-aware-clipped`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Maximum number of latents, Z. Up to this maximum (by default all principal components of the task),
    /// the design chooses the number for the least loss.
    latent_dim: Option<usize>,
}

/// Designs the intervals (boxes) to which the principal components of the task (see [`Whitened`]) are
/// clipped. Components are added one by one. The search ends after [`PATIENCE`] components in a row that do
/// not reduce the least loss so far.
fn design(Parameters { latent_dim }: Parameters, brief: &Brief) -> Result<LatentMechanism> {
    let table = brief.unclaimed_volunteers(NAME)?;
    let sample = Sample::new(table.records().view())?;
    let k = linear_task(NAME, brief, table, &sample)?;
    let whitened = Whitened::new(NAME, &sample, &k)?;
    let most = whitened.latent_dim(NAME, latent_dim)?;
    // For the search, scale the loss such that an estimate without latents has loss one.
    let size = whitened.eigenvalues.sum().sqrt();
    let roots: Vec<f64> = whitened.eigenvalues.iter().take(most).map(|value| value.sqrt() / size).collect();
    let map = whitened.map(&roots);
    let centered = sample.records() - sample.mean();
    let (all, outputs) = (centered.dot(&map.t()), centered.dot(&k.t()) / size);
    // The search needs a finite ε. For ε = ∞, the boxes are widened after the search, so that none clips a
    // latent.
    let epsilon = brief.budget.epsilon().min(1e12);
    let mut best: Option<(Array1<f64>, f64)> = None;
    let mut start = Array1::zeros(0);
    let mut in_vain = 0;
    for (at, root) in (0..most).zip(&roots) {
        start = with_one_more(&start, *root);
        let latents = all.slice(s![.., ..=at]).to_owned();
        let (flat, loss) = improved(Problem::new(&latents, &outputs, epsilon), start);
        start = flat.clone();
        let is_better = best.as_ref().is_none_or(|(_, least)| loss < least * (1.0 - WORTHWHILE));
        in_vain = if is_better { 0 } else { in_vain + 1 };
        if is_better {
            best = Some((flat, loss));
        }
        if in_vain == PATIENCE {
            break;
        }
    }
    let (flat, _) = best.unwrap_or((start, 0.0));
    let mut boxes = Boxes::from_flat(&flat);
    let latents = all.slice(s![.., ..boxes.lower.len()]).to_owned();
    if brief.budget.epsilon() == f64::INFINITY {
        boxes.widen(&latents);
    }
    let map = map.slice(s![..boxes.lower.len(), ..]).to_owned();
    let problem = Problem::new(&latents, &centered, brief.budget.epsilon());
    let Decoded { means, decoder, .. } = problem.decoded(&boxes);
    // Scale latents so that all have noise of the same scale: v = s(φ − lower)/w.
    let units = &boxes.share / &boxes.width;
    let constant = -(map.dot(sample.mean()) + &boxes.lower) * &units;
    let decoder = &decoder / &units;
    let at_means = (&means - &boxes.lower) * &units;
    let encoder = affine(&(map.t().to_owned() * &units).reversed_axes(), constant.view())?;
    let set = between(boxes.share.iter().map(|share| (0.0, *share)))?;
    let constant = sample.mean() - &decoder.dot(&at_means);
    let spent = (NoiseKind::Laplace, Budget::pure(brief.budget.epsilon())?);
    released_by(brief, spent, encoder, set, affine(&decoder, constant.view())?)
}

register! {
    /// The plugin `task-aware-clipped`.
    pub const TASK_AWARE_CLIPPED = {
        name: NAME,
        summary: "linear latents, each clipped to an interval chosen for the least loss, with Laplace noise",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: example,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns forty latents of three columns, and two outputs that partly depend on them.
    fn drawn() -> (Array2<f64>, Array2<f64>) {
        let wave = |row: usize, column: usize| ((row * (column + 2)) as f64 * 0.7 + column as f64).sin();
        let latents = Array2::from_shape_fn((40, 3), |(row, column)| wave(row, column) / (column + 1) as f64);
        let outputs = Array2::from_shape_fn((40, 2), |(row, column)| wave(row, column) + 0.3 * wave(row, 5));
        (latents, &outputs - &outputs.mean_axis(Axis(0)).unwrap_or_default())
    }

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let (latents, outputs) = drawn();
        let problem = Problem::new(&latents, &outputs, 2.0);
        let at = Array1::from(vec![-0.5, -0.3, -0.1, -0.2, -0.7, -1.5, 0.3, -0.4, 0.1]);
        let gradient = (&problem).gradient(&at).unwrap();
        let loss = |flat: &Array1<f64>| problem.decoded(&Boxes::from_flat(flat)).loss;
        for place in 0..at.len() {
            let moved = |by: f64| {
                let mut flat = at.clone();
                flat[place] += by;
                loss(&flat)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope - gradient[place]).abs() < 1e-7, "{place}: {slope} and {}", gradient[place]);
        }
    }

    #[test]
    fn a_search_ends_no_worse_than_it_began() {
        let (latents, outputs) = drawn();
        for epsilon in [1e-3, 1.0, 10.0, 1e6] {
            let start = (0..3).fold(Array1::zeros(0), |flat, at| with_one_more(&flat, 1.0 / (at + 1) as f64));
            let problem = Problem::new(&latents, &outputs, epsilon);
            let before = problem.decoded(&Boxes::from_flat(&start)).loss;
            let (found, after) = improved(problem, start);
            assert!(after <= before, "at ε = {epsilon}: {before} became {after}");
            assert!((Boxes::from_flat(&found).share.sum() - 1.0).abs() < 1e-12);
        }
    }

    /// With negligible noise nothing is clipped, and the loss equals the loss of a linear model.
    #[test]
    fn with_hardly_any_noise_it_is_least_squares() {
        let (latents, outputs) = drawn();
        let wide = Boxes {
            lower: Array1::from_elem(3, -9.0),
            width: Array1::from_elem(3, 18.0),
            share: Array1::from_elem(3, 1.0 / 3.0),
        };
        let problem = Problem::new(&latents, &outputs, 1e9);
        let centered = &latents - &latents.mean_axis(Axis(0)).unwrap_or_default();
        let fitted =
            centered.dot(&solve_right(&outputs.t().dot(&centered), &centered.t().dot(&centered)).t());
        let lost = (&outputs - &fitted).mapv(|x| x * x).sum() / 40.0;
        assert!((problem.decoded(&wide).loss - lost).abs() < 1e-9);
    }
}
