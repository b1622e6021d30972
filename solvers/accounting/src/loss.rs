//! Privacy loss distributions: upper and lower bounds on δ(ε) of many steps.
//!
//! A step is one release of a mechanism, such as a sampled sum with Gaussian noise. Its privacy loss is put
//! on a grid in two ways. P and Q are the dominating pair of output distributions of the step. A *cell* is an
//! interval of outputs, and a grid point is a value of the loss. For the upper bound, the mass of each cell
//! between two grid points is split between both points. P and Q thus keep their masses ("connect the dots",
//! Doroshenko and others 2022). The true pair of distributions is a post-processing of the resulting pair.
//! For the lower bound, all outputs in one cell are merged, which is post-processing of the true pair. Each
//! cell extends just so far to both sides of a grid point that the loss of the merged output is the point's
//! loss. Laplace noise and randomised response instead get a slightly smaller ε, at a grid point.
//!
//! Steps compose by convolution, through Fourier transforms. First, the distribution is tilted: the mass at
//! each loss l is multiplied by e^(tl), with t such that the mean lies at the ε for which δ(ε) is computed.
//! Small δ are then as accurate as large ones. The sum of losses is kept in a finite window. The errors of
//! the transforms and of the window are bounded, then added to the upper δ and subtracted from the lower δ.

use crate::error::{check, check_epsilon};
use crate::pair::{Cut, Pair};
use crate::part::{directions, steps};
use crate::renyi::{Conversion, Tilted};
use crate::search::least;
use crate::step::Step;
use crate::{Neighbours, Part, Result, Run};
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

/// Lower and upper bounds on a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// A lower bound.
    pub lower: f64,
    /// An upper bound.
    pub upper: f64,
}

/// Bounds on the least ε for which the parts together are (ε, δ)-differentially private.
///
/// The upper bound is a proof. No proof can give an ε below the lower bound, because the mechanisms on some
/// neighbouring data sets satisfy no smaller ε. For fixed-size batches and replace one record, the bounds of
/// many steps differ, because the upper bound allows for both orders of the neighbours in each step.
///
/// ```
/// use scumble_accounting::{Neighbours, Run, loss};
///
/// let epsilon = loss::epsilon(&[Run::new(0.01, 1.0, 1000)?], 1e-5, Neighbours::AddOrRemoveOne)?;
/// assert!(epsilon.lower < 1.8283 && 1.8281 < epsilon.upper && epsilon.upper < 1.84);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 10⁻³⁰⁰ ≤ δ < 1. For a smaller δ, masses underflow
/// unnoticed.
pub fn epsilon<P: Copy + Into<Part>>(parts: &[P], delta: f64, neighbours: Neighbours) -> Result<Bounds> {
    check_not_lost(delta)?;
    Ok(largest(parts, neighbours, 0.0, |steps, known| {
        // The profile falls to the probability of an infinite loss, and reaches it at the largest finite
        // loss.
        let infinite = infinite(&steps);
        if infinite >= delta {
            let epsilon = if infinite > delta { f64::INFINITY } else { largest_loss(&steps) };
            return Bounds { lower: epsilon.max(known.lower), upper: epsilon.max(known.upper) };
        }
        let rough = Rough::at(steps, delta);
        if rough.epsilon <= known.upper {
            return known;
        }
        let (question, rough) = rough.refined(delta);
        let lower = question.composed(Side::Below).epsilon(delta);
        let upper = question.composed(Side::Above).epsilon(delta).min(rough);
        Bounds { lower: lower.max(known.lower), upper: upper.max(known.upper) }
    }))
}

/// The least ε for which the parts together are ε-differentially private: the sum of the largest losses. It
/// is infinite if a part has Gaussian noise or a δ of its own.
pub fn pure_epsilon<P: Copy + Into<Part>>(parts: &[P], neighbours: Neighbours) -> f64 {
    let pure = |steps: Vec<(Step, u64)>| {
        if infinite(&steps) > 0.0 { f64::INFINITY } else { largest_loss(&steps) }
    };
    (0..directions(parts, neighbours)).map(|at| pure(steps(parts, neighbours, at))).fold(0.0, f64::max)
}

/// The sum of the largest finite losses of all steps.
fn largest_loss(steps: &[(Step, u64)]) -> f64 {
    steps.iter().map(|(step, count)| *count as f64 * step.largest_loss()).sum()
}

/// The probability that the loss of a step is infinite.
fn infinite(steps: &[(Step, u64)]) -> f64 {
    steps.iter().fold(0.0, |sum, (step, count)| sum + (1.0 - sum) * repeated(step.infinite(), *count))
}

/// The probability that an event of the probability `once` occurs in `count` independent trials.
fn repeated(once: f64, count: u64) -> f64 {
    if count == 1 { once } else { -(count as f64 * (-once).ln_1p()).exp_m1() }
}

/// The upper bound of [`epsilon`], in only one of the directions in which neighbours differ. `direction` is
/// its index in [`Run::pairs`].
pub(crate) fn epsilon_above(run: Run, delta: f64, neighbours: Neighbours, direction: usize) -> f64 {
    let (question, rough) = Rough::at(steps(&[run], neighbours, direction), delta).refined(delta);
    question.composed(Side::Above).epsilon(delta).min(rough)
}

/// A faster, looser upper bound on ε than [`epsilon_above`].
pub(crate) fn epsilon_roughly(run: Run, delta: f64, neighbours: Neighbours, direction: usize) -> f64 {
    Rough::at(steps(&[run], neighbours, direction), delta).epsilon
}

/// Returns whether [`epsilon_above`] is at most `most`. Tries a coarse grid first.
pub(crate) fn is_at_most(most: f64, run: Run, delta: f64, neighbours: Neighbours, direction: usize) -> bool {
    let rough = Rough::at(steps(&[run], neighbours, direction), delta);
    rough.epsilon <= most || rough.refined(delta).0.composed(Side::Above).epsilon(delta) <= most
}

/// A fast upper bound on ε.
struct Rough {
    steps: Vec<(Step, u64)>,
    epsilon: f64,
}

impl Rough {
    /// Bounds ε at `delta` by Rényi divergences and the largest loss, and by a coarse grid centred at the ε
    /// that they give. The smaller bound counts.
    fn at(steps: Vec<(Step, u64)>, delta: f64) -> Self {
        let (finite, largest) = (delta - infinite(&steps), largest_loss(&steps));
        let conversion = Conversion { steps, log_delta: finite.ln() };
        let (tilt, by_renyi) = conversion.least();
        let known = by_renyi.min(largest);
        let question = Question::new(conversion.steps, tilt, known, finite);
        let question = Question { fine: 8.0 * question.fine, ..question };
        let epsilon = question.composed(Side::Above).epsilon(delta).min(known);
        Self { steps: question.steps, epsilon }
    }

    /// The settings of a computation that gives a tighter bound on ε, and the fast bound on ε.
    fn refined(self, delta: f64) -> (Question, f64) {
        let tilt = tilt_to(&self.steps, self.epsilon);
        let finite = delta - infinite(&self.steps);
        (Question::new(self.steps, tilt, self.epsilon, finite), self.epsilon)
    }
}

pub(crate) fn check_not_lost(delta: f64) -> Result<()> {
    check("delta", delta, "at least 1e-300 and below one", (1e-300..1.0).contains(&delta))
}

/// Bounds on the least δ for which the parts together are (ε, δ)-differentially private.
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε ≥ 0 is finite.
pub fn delta<P: Copy + Into<Part>>(parts: &[P], epsilon: f64, neighbours: Neighbours) -> Result<Bounds> {
    check_epsilon(epsilon)?;
    let infinite = infinite(&steps(parts, neighbours, 0));
    Ok(largest(parts, neighbours, infinite, |steps, known| {
        if largest_loss(&steps) <= epsilon {
            return known;
        }
        let tilt = tilt_to(&steps, epsilon);
        let moment: f64 =
            steps.iter().map(|(step, count)| *count as f64 * Tilted::at(step, tilt).log_moment).sum();
        // The bound on δ from the Rényi divergence of order 1 + tilt. It inverts the bound on ε in
        // `renyi.rs`.
        let order = 1.0 + tilt;
        let by_renyi = (moment - tilt * epsilon - order.ln() + tilt * (tilt / order).ln()).exp();
        let question = Question::new(steps, tilt, epsilon, by_renyi.clamp(1e-300, 1.0));
        let lower = question.composed(Side::Below).delta(epsilon);
        let upper = question.composed(Side::Above).delta(epsilon).min(infinite + by_renyi);
        // The true δ may underflow, but is never zero.
        let upper = upper.max(f64::MIN_POSITIVE);
        Bounds { lower: lower.max(known.lower), upper: upper.max(known.upper) }
    }))
}

/// The approximate tilt t that moves the mean of the sum of losses to `mean`. A tilt multiplies the mass at
/// each loss l by e^(tl). Any tilt gives valid bounds, and a tilt near the exact one gives tight bounds.
fn tilt_to(steps: &[(Step, u64)], mean: f64) -> f64 {
    const MOST: f64 = 1e4; // for a `mean` that the losses never or rarely reach
    let reaches = |tilt: f64| {
        let means = steps.iter().map(|(step, count)| *count as f64 * Tilted::at(step, tilt).mean);
        means.sum::<f64>() >= mean
    };
    let mut tilt = 1e-3;
    while tilt < MOST && !reaches(2.0 * tilt) {
        tilt *= 2.0;
    }
    let mut step = tilt / 2.0;
    for _ in 0..5 {
        if !reaches(tilt + step) {
            tilt += step;
        }
        step /= 2.0;
    }
    tilt
}

/// The largest bounds over the directions in which neighbours differ, and at least `least`. Given the steps
/// in a direction and the largest bounds so far, `widened` returns the larger bounds.
fn largest<P: Copy + Into<Part>>(
    parts: &[P],
    neighbours: Neighbours,
    least: f64,
    widened: impl Fn(Vec<(Step, u64)>, Bounds) -> Bounds,
) -> Bounds {
    let known = Bounds { lower: least, upper: least };
    (0..directions(parts, neighbours))
        .fold(known, |known, direction| widened(steps(parts, neighbours, direction), known))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

/// The steps, the tilt and the accuracy of a computation of δ(ε).
struct Question {
    steps: Vec<(Step, u64)>,
    tilt: f64,
    /// Minus the logarithm of the mass that may be left out at either end of the losses of a step.
    log_tail: f64,
    /// The largest allowed distance between grid points.
    fine: f64,
    /// The distance from the least to the largest loss of a step.
    widest: f64,
    /// The standard deviation of the tilted sum of losses.
    deviation: f64,
}

/// The largest number of grid points for the loss of a step.
const MOST: f64 = (1u64 << 19) as f64;

/// The largest number of grid points of the window, the interval that holds the sum of losses.
const WIDEST_WINDOW: usize = 1 << 21;

/// The initial width of the window, in standard deviations of the tilted sum of losses.
const WIDTH: f64 = 20.0;

impl Question {
    /// Creates the computation at (`epsilon`, `delta`). `tilt` sets the mean of the sum of losses.
    fn new(steps: Vec<(Step, u64)>, tilt: f64, epsilon: f64, delta: f64) -> Self {
        let count: f64 = steps.iter().map(|(_, count)| *count as f64).sum();
        let variance: f64 =
            steps.iter().map(|(step, count)| *count as f64 * Tilted::at(step, tilt).variance).sum();
        let log_tail = count.ln() - delta.ln() + 30.0; // e⁻³⁰ of δ, over all steps
        let widest = steps.iter().map(|(step, _)| {
            let (least, largest) = step.range(log_tail);
            largest - least
        });
        // On a grid with distance h between points, splitting or merging changes the variance of a step's
        // loss by about h²/6. The step's contribution to ε changes by half of this variance change times
        // (`tilt` + 1). Both relative changes stay below about one in three thousand. For a tiny ε, its
        // absolute change stays below a ten-millionth.
        let fine = (0.004 * epsilon.max(1e-4) / (tilt + 1.0)).min(0.002 * variance) / count;
        let (fine, widest) = (fine.sqrt(), widest.fold(0.0, f64::max));
        Self { steps, tilt, log_tail, fine, widest, deviation: variance.sqrt() }
    }

    fn composed(&self, side: Side) -> Composed {
        let (grid, log_tail) = (self.grid(side), self.log_tail);
        let losses = self
            .steps
            .iter()
            .map(|(step, count)| (Losses::new(step, grid, log_tail, side).tilted(self.tilt), *count));
        Composed::new(&losses.collect::<Vec<_>>(), self, side)
    }

    /// The distance between grid points, for the upper or the lower bound, as `side` says.
    fn grid(&self, side: Side) -> f64 {
        // For the lower bound, some points must lie between zero and the loss of a record that was not
        // sampled: most of the mass is in this interval.
        let unsampled = self.steps.iter().map(|(step, _)| -(-step.sampling_rate()).ln_1p() / 4.0);
        let fine = match side {
            Side::Above => self.fine,
            Side::Below => unsampled.fold(self.fine, f64::min),
        };
        // The index of the grid point of any sum of losses stays below 2⁵², so that floats count it exactly.
        let farthest = self.steps.iter().map(|(step, count)| {
            let (least, largest) = step.range(self.log_tail);
            *count as f64 * least.abs().max(largest.abs())
        });
        let counted = farthest.sum::<f64>() / 2f64.powi(52);
        let window = WIDTH * self.deviation / WIDEST_WINDOW as f64;
        let least = (self.widest / MOST).max(window).max(counted).max(1e-12);
        match side {
            Side::Above => fine.max(least),
            Side::Below => self.aligned(fine, least),
        }
    }

    /// The larger of the distances `fine` and `least`, or a distance near it.
    ///
    /// The lower bound rounds the largest losses of Laplace noise and randomised response down to grid
    /// points. With the returned distance, the sum of these differences is the least of many candidates.
    fn aligned(&self, fine: f64, least: f64) -> f64 {
        const MOST_CANDIDATES: usize = 1000;
        let grid = fine.max(2.0 * least);
        let atoms = || self.steps.iter().filter_map(|(step, count)| Some((step.atom()?, *count as f64)));
        let shortfall = |grid: f64| -> f64 {
            atoms().map(|(loss, count)| count * (loss - grid * (loss / grid).floor())).sum()
        };
        // All parts of a loss that are at most `grid`, and at least half of it.
        let candidates = atoms().flat_map(|(loss, _)| {
            let (first, last) = ((loss / grid).ceil() as u64, (2.0 * loss / grid).floor() as u64);
            // Slightly less than a part of the loss, so that rounding keeps the loss at or above its point.
            (first..=last)
                .take(MOST_CANDIDATES)
                .map(move |parts| (loss / parts as f64 * (1.0 - 1e-12)).clamp(0.5 * grid, grid))
        });
        candidates
            .min_by(|one, other| shortfall(*one).total_cmp(&shortfall(*other)))
            .unwrap_or(fine.max(least))
    }
}

/// The loss of one step on a grid: `mass[i]` is the probability of the loss (`first` + i)·`grid` under P, the
/// first distribution of the step's dominating pair.
struct Losses {
    grid: f64,
    first: i64,
    mass: Vec<f64>,
    infinite: f64,
}

impl Losses {
    fn new(step: &Step, grid: f64, log_tail: f64, side: Side) -> Self {
        match (*step, side) {
            (Step::Gaussian(pair), Side::Above) => Self::above(&pair, grid, log_tail),
            (Step::Gaussian(pair), Side::Below) => Self::below(&pair, grid, log_tail),
            (Step::FixedSize { sampling_rate, sigma }, Side::Above) => {
                let [removed, added] = Step::orders(sampling_rate, sigma);
                let [removed, added] = [removed, added].map(|pair| Self::above(&pair, grid, log_tail));
                removed.with_losses_below_zero(&added)
            }
            // One order of the neighbours in all steps.
            (Step::FixedSize { sampling_rate, sigma }, Side::Below) => {
                Self::below(&Step::orders(sampling_rate, sigma)[0], grid, log_tail)
            }
            (Step::Laplace { epsilon }, Side::Above) => Self::laplace_above(epsilon, grid),
            (Step::Laplace { epsilon }, Side::Below) => Self::laplace_below(epsilon, grid),
            (Step::Response { .. }, Side::Above) => {
                Self::zero(step.atom().unwrap_or(0.0), grid).with_atoms(step)
            }
            (Step::Response { epsilon, levels, infinite }, Side::Below) => {
                // Response of a smaller ε is post-processing of response of a larger ε.
                let epsilon = (epsilon / grid).floor() * grid;
                Self::zero(epsilon, grid).with_atoms(&Step::Response { epsilon, levels, infinite })
            }
        }
    }

    /// No mass, on the grid points from −`largest` to `largest` and one more at either end.
    fn zero(largest: f64, grid: f64) -> Self {
        let last = (largest / grid).floor() as i64 + 1;
        Self { grid, first: -last, mass: vec![0.0; 2 * last as usize + 1], infinite: 0.0 }
    }

    /// Adds the finite losses of a positive probability, and the probability of an infinite loss.
    fn with_atoms(mut self, step: &Step) -> Self {
        for (loss, log_mass) in step.atoms() {
            let point = (loss / self.grid).floor();
            self.split(point as i64, log_mass.exp(), -(point * self.grid - loss).exp_m1());
        }
        self.infinite += step.infinite();
        self
    }

    /// Adds the mass of a cell between the grid point `point` and the next. The cell has the mass p under P
    /// and q under Q, with 1 − (q/p)·e^l = `rest` at the point's loss l.
    ///
    /// p is split into u at the loss l and v at the loss l + h, with u + v = p and u·e^−l + v·e^−(l + h) = q.
    fn split(&mut self, point: i64, p: f64, rest: f64) {
        let ahead = if p > 0.0 { (p * rest / -(-self.grid).exp_m1()).clamp(0.0, p) } else { 0.0 };
        let at = (point - self.first) as usize;
        self.mass[at] += p - ahead;
        self.mass[at + 1] += ahead;
    }

    /// Laplace noise, each cell split between two grid points.
    fn laplace_above(epsilon: f64, grid: f64) -> Self {
        let mut losses = Self::zero(epsilon, grid).with_atoms(&Step::Laplace { epsilon });
        for point in losses.first..-losses.first {
            let loss = point as f64 * grid;
            let (from, to) = (loss.max(-epsilon), (loss + grid).min(epsilon));
            if from < to {
                // The cell has the loss (`from` + `to`)/2.
                losses.split(point, laplace_mass(epsilon, from, to), -(loss - 0.5 * (from + to)).exp_m1());
            }
        }
        losses
    }

    /// Laplace noise of the next smaller ε on the grid. It is post-processing of Laplace noise: added noise
    /// that is zero or Laplace noise of the larger scale gives the larger scale.
    fn laplace_below(epsilon: f64, grid: f64) -> Self {
        let last = (epsilon / grid).floor() as i64;
        let epsilon = last as f64 * grid;
        let mut losses = Self::zero(epsilon, grid);
        let origin = -losses.first;
        let mut add = |point: i64, p: f64| losses.mass[(origin + point) as usize] += p;
        for (point, (_, log_mass)) in [last, -last].into_iter().zip(Step::Laplace { epsilon }.atoms()) {
            add(point, log_mass.exp());
        }
        // A cell of one grid step around a point has the loss of the point. The half cells at both ends are
        // rounded down.
        for point in 1 - last..last {
            let loss = point as f64 * grid;
            add(point, laplace_mass(epsilon, loss - 0.5 * grid, loss + 0.5 * grid));
        }
        if last > 0 {
            add(last - 1, laplace_mass(epsilon, epsilon - 0.5 * grid, epsilon));
            add(-last, laplace_mass(epsilon, -epsilon, 0.5 * grid - epsilon));
        }
        losses
    }

    /// Replaces the masses of negative losses by the masses of `other`, on the same grid. The loss zero gets
    /// the rest of the mass.
    fn with_losses_below_zero(self, other: &Self) -> Self {
        // A bound on the rounding error of the sum of all masses.
        const ROUNDING: f64 = 1e-12;
        let below = &other.mass[..(-other.first).clamp(0, other.mass.len() as i64) as usize];
        let above = &self.mass[((1 - self.first).max(0) as usize).min(self.mass.len())..];
        let known = below.iter().chain(above).sum::<f64>() + self.infinite;
        let zero = (1.0 - known).max(0.0) + ROUNDING;
        let gap = vec![0.0; (-other.first - below.len() as i64).max(0) as usize];
        let mass = [below, &gap, &[zero], above].concat();
        Self { grid: self.grid, first: other.first, mass, infinite: self.infinite }
    }

    fn above(pair: &Pair, grid: f64, log_tail: f64) -> Self {
        let (from, to) = pair.reach(log_tail);
        let first = (pair.loss(from) / grid).floor() as i64;
        let last = (pair.loss(to) / grid).ceil() as i64;
        let mut losses = Self { grid, first, mass: vec![0.0; (last - first + 1) as usize], infinite: 0.0 };
        let cut = |point: i64| pair.cut(pair.at_loss(point as f64 * grid));
        let mut lower = cut(first);
        // Losses before the first point are rounded up to it, and losses after the last become infinite.
        losses.mass[0] = pair.between(&pair.cut(f64::NEG_INFINITY), &lower).0;
        for point in first..last {
            let upper = cut(point + 1);
            let (p, q) = pair.between(&lower, &upper);
            let rest = if q > 0.0 { -((q / p).ln() + point as f64 * grid).exp_m1() } else { 1.0 };
            losses.split(point, p, rest);
            lower = upper;
        }
        losses.infinite = pair.between(&lower, &pair.cut(f64::INFINITY)).0;
        losses
    }

    fn below(pair: &Pair, grid: f64, log_tail: f64) -> Self {
        let (from, to) = pair.reach(log_tail);
        let first = (pair.loss(from) / grid).floor() as i64;
        let last = (pair.loss(to) / grid).ceil() as i64;
        let mut mass = vec![0.0; (last - first + 1) as usize];
        let cut = |loss: f64| pair.cut(pair.at_loss(loss * grid));
        // Adds the P-mass of a cell to the grid point below the cell's loss, or to `most` if `most` is lower.
        // A Q-mass that underflows is replaced by the least float, which only lowers the loss.
        let round_down = |(p, q): (f64, f64), most: i64, mass: &mut [f64]| {
            let point = ((p / q.max(f64::MIN_POSITIVE)).ln() / grid).floor().min(most as f64) - first as f64;
            if p > 0.0 && point >= 0.0 {
                mass[point as usize] += p;
            }
        };
        // Cells are made from left to right. Each extends beyond a grid point until the loss of the cell
        // equals the point's loss, or hardly exceeds it.
        let (mut lower, mut point, mut end) = (pair.cut(f64::NEG_INFINITY), first, first as f64 - 1.0);
        while point < last {
            let start = point as f64;
            let reaching = |width: f64| {
                let upper = cut(start + width);
                let (p, q) = pair.between(&lower, &upper);
                Reaching { width, beyond: (p / q.max(f64::MIN_POSITIVE)).ln() / grid - start, p, upper }
            };
            if let Some(found) = reach(start - end, last as f64 - start, reaching) {
                mass[(point - first) as usize] += found.p;
                (lower, end) = (found.upper, start + found.width);
            } else {
                // No cell is wide enough: the mass before the point outweighs the mass after it.
                let upper = cut(start + 0.5);
                round_down(pair.between(&lower, &upper), point, &mut mass);
                (lower, end) = (upper, start + 0.5);
            }
            point = end.floor() as i64 + 1;
        }
        // All remaining outputs are one cell.
        round_down(pair.between(&lower, &pair.cut(f64::INFINITY)), last, &mut mass);
        Self { grid, first, mass, infinite: 0.0 }
    }

    /// The masses at each loss l times e^(tl), t = `tilt`, scaled to a sum of one. Logarithms are added
    /// before the exponential, because e^(tl) may overflow.
    fn tilted(&self, tilt: f64) -> TiltedLosses {
        let Self { grid, first, infinite, .. } = *self;
        let loss = |at: usize| (first + at as i64) as f64 * grid;
        let mut mass: Vec<f64> =
            self.mass.iter().enumerate().map(|(at, p)| p.ln() + tilt * loss(at)).collect();
        let unit = mass.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        mass.iter_mut().for_each(|exponent| *exponent = (*exponent - unit).exp());
        let sum: f64 = mass.iter().sum();
        mass.iter_mut().for_each(|p| *p /= sum);
        TiltedLosses { grid, first, mass, infinite, log_moment: unit + sum.ln() }
    }
}

/// The probability of the losses from `from` to `to` under P, for Laplace noise. Both ends lie from −ε to ε.
fn laplace_mass(epsilon: f64, from: f64, to: f64) -> f64 {
    -0.5 * ((to - epsilon) / 2.0).exp() * ((from - to) / 2.0).exp_m1()
}

/// A cell (interval of outputs) that extends `width` grid steps beyond its grid point. `upper` holds the
/// tails of P and Q at its upper end, and `p` is its P-mass. `beyond` is the loss of the cell, the logarithm
/// of its P-mass over its Q-mass, minus the point's loss, in grid steps.
struct Reaching {
    width: f64,
    beyond: f64,
    p: f64,
    upper: Cut,
}

/// The cell (interval of outputs) whose loss equals the loss of its grid point, or exceeds it by a negligible
/// amount. The loss of a cell is the logarithm of its P-mass over its Q-mass.
///
/// The search uses secants, because the loss of a cell grows with its width. The lower end of the cell lies
/// `before` grid steps below the point. Returns `None` if the loss of a cell that extends `most` steps beyond
/// the point is still too small.
fn reach(before: f64, most: f64, reaching: impl Fn(f64) -> Reaching) -> Option<Reaching> {
    const NEAR: f64 = 1e-5;
    // The loss of a cell is approximately the loss at its middle.
    let (mut short, mut below, mut width) = (0.0, -0.5 * before, before);
    let mut found: Option<Reaching> = None;
    for _ in 0..60 {
        let tried = reaching(width);
        if tried.beyond >= 0.0 {
            if tried.beyond <= NEAR {
                return Some(tried);
            }
            found = Some(tried);
        } else if found.is_none() && width >= most {
            return None;
        } else {
            (short, below) = (width, tried.beyond);
        }
        width = match &found {
            Some(far) => {
                let secant = short + (far.width - short) * (NEAR / 2.0 - below) / (far.beyond - below);
                let is_within = secant > short && secant < far.width;
                if is_within { secant } else { 0.5 * (short + far.width) }
            }
            None => 2.0 * width,
        };
    }
    found
}

/// The loss of one step on a grid. The mass at each loss l is multiplied by e^(tl), for a tilt t, and scaled
/// to a total of one.
struct TiltedLosses {
    grid: f64,
    first: i64,
    mass: Vec<f64>,
    /// The mass of infinite loss, not tilted.
    infinite: f64,
    /// ln Σ p·e^(tl) over all finite losses l, with their masses p before the tilt.
    log_moment: f64,
}

impl TiltedLosses {
    fn mean(&self) -> f64 {
        let points = self.mass.iter().enumerate();
        points.map(|(at, p)| (self.first + at as i64) as f64 * self.grid * p).sum()
    }

    /// ln Σ p·e^(sl) over the tilted masses p at losses l, for s = `steepness`. Horner's rule runs from both
    /// ends to the loss nearest to zero.
    fn log_moment_of(&self, steepness: f64) -> f64 {
        let ratio = (steepness * self.grid).exp();
        let middle = usize::try_from(-self.first).unwrap_or(0).min(self.mass.len());
        let (below, above) = self.mass.split_at(middle);
        let above = above.iter().rev().fold(0.0, |sum, p| sum * ratio + p);
        let below = below.iter().fold(0.0, |sum, p| (sum + p) / ratio);
        (above + below).ln() + steepness * (self.first + middle as i64) as f64 * self.grid
    }
}

/// δ(ε) at all points of a window of the grid.
struct Composed {
    side: Side,
    grid: f64,
    first: i64,
    /// For each grid point: the mass at larger losses, and δ(ε) with ε at the point.
    behind: Vec<(f64, f64)>,
    infinite: f64,
    /// The logarithm of the rounding and truncation error of δ(0). The error of δ(ε) is smaller by a factor
    /// of e^(tε), for t = `tilt`.
    log_error: f64,
    tilt: f64,
}

impl Composed {
    fn new(losses: &[(TiltedLosses, u64)], question: &Question, side: Side) -> Self {
        let (tilt, grid) = (question.tilt, question.grid(side));
        let summed = |measure: &dyn Fn(&TiltedLosses) -> f64| -> f64 {
            losses.iter().map(|(losses, count)| *count as f64 * measure(losses)).sum()
        };
        let (log_moment, middle) = (summed(&|losses| losses.log_moment), summed(&TiltedLosses::mean));
        // By Chernoff's bound, a negligible mass of the tilted sum lies beyond either end of the window,
        // `before` and `after` the mean.
        let tail = |sign: f64, distance: f64| {
            let steepness = [0.25, 0.5, 1.0, 2.0, 4.0, 16.0].map(|factor| sign * factor * 20.0 / distance);
            let exponents =
                steepness.map(|s| summed(&|losses| losses.log_moment_of(s)) - s * (middle + sign * distance));
            exponents.into_iter().fold(0.0, f64::min).exp()
        };
        let far = |sign: f64, widest: f64| {
            let mut distance = (0.25 * WIDTH * question.deviation).max(64.0 * grid).min(widest);
            while tail(sign, distance) > 1e-14 && distance < widest {
                distance = (1.2 * distance).min(widest);
            }
            distance
        };
        let widest = WIDEST_WINDOW as f64 * grid;
        let before = far(-1.0, 0.5 * widest);
        let after = far(1.0, widest - before);
        let size = transformed_well((((before + after) / grid) as usize + 2).max(1024));
        let (tilted, rounding) = convolve(losses, size);

        // Let t be the tilt and h the distance between grid points. The error of δ is at most the error per
        // point times Σ e^(−tmh), over the points m. By Cauchy and Schwarz, it is also at most the total
        // error times the square root of Σ e^(−2tmh).
        let points = |tilt: f64| (-1.0 / (-tilt * grid).exp_m1()).min(size as f64);
        let rounding = (rounding.per_point * points(tilt)).min(rounding.total * points(2.0 * tilt).sqrt());
        let error = 2.0 * (tail(-1.0, before) + tail(1.0, after)) + rounding;

        let first = ((middle - before) / grid).floor() as i64;
        let mut behind = vec![(0.0, 0.0); size];
        let (mut mass, mut delta) = (0.0, 0.0);
        for at in (0..size).rev() {
            // δ(l) = Σ p·(1 − e^(l − l′)), over losses l′ > l of mass p, is computed from δ(l + h), with
            // positive terms only.
            delta = -(-grid).exp_m1() * mass + (-grid).exp() * delta;
            behind[at] = (mass, delta);
            let point = first + at as i64;
            let p = tilted[point.rem_euclid(size as i64) as usize];
            if p > 0.0 {
                mass += p * (log_moment - tilt * point as f64 * grid).exp();
            }
        }
        let infinite = losses
            .iter()
            .fold(0.0, |sum, (losses, count)| sum + (1.0 - sum) * repeated(losses.infinite, *count));
        Self { side, grid, first, behind, infinite, log_error: error.ln() + log_moment, tilt }
    }

    /// The upper or lower bound on δ(ε), by `side`.
    fn delta(&self, epsilon: f64) -> f64 {
        // The accumulated relative rounding error of the masses.
        const ROUNDING: f64 = 1e-7;
        let place = epsilon / self.grid - self.first as f64;
        let at = place.ceil();
        let exact = if place < 0.0 {
            // For ε below the window, only the monotonicity of δ gives a bound.
            match self.side {
                Side::Above => return 1.0,
                Side::Below => self.behind[0].1,
            }
        } else if let Some((_, delta)) = self.behind.get(at as usize) {
            // Between two points, δ follows from the next point and its mass.
            let step = (at - place) * self.grid;
            let own = (at as usize).checked_sub(1).map_or(0.0, |before| self.behind[before].0);
            -(-step).exp_m1() * own + (-step).exp() * delta
        } else {
            0.0
        };
        // If the error is NaN, `min` and `max` return the trivial bounds 1 and 0.
        let error = (self.log_error - self.tilt * epsilon).exp();
        match self.side {
            Side::Above => (exact * (1.0 + ROUNDING) + error + self.infinite).min(1.0),
            Side::Below => ((exact * (1.0 - ROUNDING) - error).max(0.0) + self.infinite).min(1.0),
        }
    }

    /// The least ε at which the bound on δ(ε) is at most `delta`.
    fn epsilon(&self, delta: f64) -> f64 {
        let last = (self.first + self.behind.len() as i64).max(1);
        let at = |point: i64| point as f64 * self.grid;
        let is_met = |epsilon: f64| self.delta(epsilon) <= delta;
        match self.side {
            Side::Above => least(0.0, at(last), is_met).unwrap_or(f64::INFINITY),
            // At small ε, the lower bound may lose all digits and be too small. So the search starts from
            // large ε.
            Side::Below => match (self.first.max(0)..last).rev().find(|&point| !is_met(at(point))) {
                Some(point) => least(at(point), at(point + 1), is_met).unwrap_or(at(point)),
                None => 0.0,
            },
        }
    }
}

/// A size of at least `least` that is twice a size with a fast Fourier transform.
fn transformed_well(least: usize) -> usize {
    let power = least.next_power_of_two();
    [power / 16 * 9, power / 8 * 5, power / 4 * 3].into_iter().find(|size| *size >= least).unwrap_or(power)
}

/// The rounding error of a convolution: the largest error of one point, and the root of the sum of all
/// squared errors.
struct Rounding {
    per_point: f64,
    total: f64,
}

/// The tilted mass of the sum of all losses at each grid point, with indices modulo `size`, and the error of
/// these masses.
///
/// For the unit roundoff u, a transform of n points has an error below 7u·log₂n times the norm of its input
/// (Higham 2002, Theorem 24.2). The transform of the losses of one step is raised to the power of the number
/// of steps. Each product in this power has a relative error below 3u (Higham, Theorem 3.6).
fn convolve(losses: &[(TiltedLosses, u64)], size: usize) -> (Vec<f64>, Rounding) {
    // The result of a failed transform. It cannot occur, because the planner made buffers of the right
    // length.
    const LOST: Rounding = Rounding { per_point: f64::INFINITY, total: f64::INFINITY };
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
    let mut product = vec![Complex::new(1.0, 0.0); size / 2 + 1];
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let mut spectra = vec![];
    for (losses, count) in losses {
        let mut folded = vec![0.0; size];
        for (at, p) in losses.mass.iter().enumerate() {
            folded[(losses.first + at as i64).rem_euclid(size as i64) as usize] += p;
        }
        let own = norm(&folded);
        let mut spectrum = forward.make_output_vec();
        if forward.process(&mut folded, &mut spectrum).is_err() {
            return (vec![0.0; size], LOST);
        }
        let mut radii = vec![0.0; spectrum.len()];
        // The power is computed by squaring; values that would underflow on the way are set to zero.
        let least = (-1400.0 / *count as f64).exp();
        for ((total, value), kept) in product.iter_mut().zip(spectrum).zip(&mut radii) {
            let squared = value.norm_sqr();
            *total *= if squared > least { value.powu(*count as u32) } else { Complex::ZERO };
            *kept = squared.sqrt();
        }
        spectra.push((*count as f64 * own, radii));
    }
    // The error of one factor is multiplied by all other factors. By Cauchy and Schwarz, the result is at
    // most the norm of the error times the norm of the product of the other factors.
    let others = |radii: &[f64]| {
        let rest = product.iter().zip(radii).map(|(all, own)| (all.norm() / own).min(1.0).powi(2));
        (2.0 * rest.sum::<f64>() / size as f64).sqrt()
    };
    let errors: f64 = spectra.iter().map(|(own, radii)| own * others(radii)).sum();
    // Over all points together, the norm of the result is at most the norm of the factor's error times the
    // largest value of the other factors, which is one.
    let errors_of_all: f64 = spectra.iter().map(|(own, _)| own).sum();
    // The first and the last value are real up to rounding, and the inverse transform requires real values.
    let last = product.len() - 1;
    product[0].im = 0.0;
    product[last].im = 0.0;
    let mut sum = inverse.make_output_vec();
    if inverse.process(&mut product, &mut sum).is_err() {
        return (vec![0.0; size], LOST);
    }
    sum.iter_mut().for_each(|value| *value /= size as f64);
    let factors: f64 = losses.iter().map(|(_, count)| *count as f64).sum();
    let rounding_error = |errors: f64| {
        let transforms = 5.0 * (size as f64).log2() * (errors + norm(&sum));
        f64::EPSILON * (transforms + 2.0 * factors * norm(&sum))
    };
    let rounding = Rounding { per_point: rounding_error(errors), total: rounding_error(errors_of_all) };
    sum.iter_mut().for_each(|value| *value = value.max(0.0));
    (sum, rounding)
}
