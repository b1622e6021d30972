//! Descent by noisy sums of all records' clipped gradients, on integers.

use crate::coefficients::softmax;
use crate::encoding::{Encoding, ONE};
use crate::noise::{STEP, SumNoise};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use scumble_accounting::gaussian;
use scumble_core::{Budget, Error, PrivacyProfile, Result, Stream, Table, Target, local};

/// How a logistic regression descends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// How many steps, over all records each.
    pub(crate) steps: usize,
    /// C: how long a record's gradient is at most.
    pub(crate) clipping_norm: f64,
    /// By how much weights move, times the mean gradient.
    pub(crate) learning_rate: f64,
}

/// Records as integers, and what their classes are.
pub(crate) struct Lesson {
    /// z without the target (n × (1 + d)), row after row, in steps of 2⁻²⁰.
    records: Vec<i64>,
    classes: Vec<usize>,
    width: usize,
    /// One for two classes, else one a class.
    outputs: usize,
}

impl Lesson {
    /// # Errors
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`] for a table that is not of the domain's shape.
    pub(crate) fn of(encoding: &Encoding, table: &Table, outputs: usize) -> Result<Self> {
        let Target::Class(classes) = table.target() else {
            return Err(Error::shape(format!(
                "the target is {} where a class is needed",
                table.target().kind()
            )));
        };
        let features = table.columns().len();
        let records = encoding.rows(table, 1 + features)?;
        Ok(Self { records, classes: classes.to_vec(), width: 1 + features, outputs })
    }

    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The sum of all records' clipped gradients at these weights (outputs × (1 + d)), in steps of 2⁻⁴⁰: each a vector of integers, no longer than
    /// C, whatever floats say of it. So two sums that differ in one record lie 2C apart at most.
    pub(crate) fn gradient(&self, weights: &Array2<f64>, clipping_norm: f64) -> Vec<i128> {
        let count = self.outputs * self.width;
        let of_block = |(records, classes): (&[i64], &[usize])| {
            let mut sum = vec![0i64; count];
            for (z, class) in records.chunks_exact(self.width).zip(classes) {
                let residuals = clipped(&residuals(weights, z, *class), z, clipping_norm);
                for (sums, residual) in sum.chunks_exact_mut(self.width).zip(residuals) {
                    sums.iter_mut().zip(z).for_each(|(sum, z)| *sum += residual * z);
                }
            }
            sum.into_iter().map(i128::from).collect::<Vec<i128>>()
        };
        let blocks =
            self.records.par_chunks(local::BLOCK * self.width).zip(self.classes.par_chunks(local::BLOCK));
        blocks.map(of_block).reduce(
            || vec![0; count],
            |mut one, other| {
                one.iter_mut().zip(other).for_each(|(sum, more)| *sum += more);
                one
            },
        )
    }
}

/// What the model says of a record, less what is so, by output.
fn residuals(weights: &Array2<f64>, z: &[i64], class: usize) -> Vec<f64> {
    let logit = |weights: ArrayView1<f64>| {
        weights.iter().zip(z).map(|(w, z)| w * *z as f64).sum::<f64>() / ONE as f64
    };
    let logits: Vec<f64> = weights.outer_iter().map(logit).collect();
    match logits[..] {
        [logit] => vec![1.0 / (1.0 + (-logit).exp()) - class as f64],
        _ => {
            let mut shares = softmax(ArrayView1::from(&logits)).to_vec();
            if let Some(own) = shares.get_mut(class) {
                *own -= 1.0;
            }
            shares
        }
    }
}

/// The residuals in steps of 2⁻²⁰, so that their products with z are no longer than the norm: that is seen on the integers, and what is longer all
/// the same, or no number, is left out.
fn clipped(residuals: &[f64], z: &[i64], norm: f64) -> Vec<i64> {
    let length = |numbers: &[i64]| numbers.iter().map(|&x| i128::from(x) * i128::from(x)).sum::<i128>();
    let of_record = length(z);
    let found = residuals.iter().map(|r| r * r).sum::<f64>().sqrt() * (of_record as f64).sqrt() / ONE as f64;
    let share = (norm / found).min(1.0) * ONE as f64;
    // Toward zero, and not a number becomes zero.
    let steps: Vec<i64> = residuals.iter().map(|r| ((r * share) as i64).clamp(-ONE, ONE)).collect();
    let most = (norm / STEP).floor() as i128;
    let is_short = length(&steps).checked_mul(of_record).is_some_and(|square| square <= most * most);
    if is_short { steps } else { vec![0; residuals.len()] }
}

/// The noise of so many steps on `dim` sums, each of records' vectors of norm C, which together are within the budget.
///
/// # Errors
/// [`Error::Budget`] for a δ of zero, and where noise would not fit 59 bits.
pub(crate) fn noise_of_steps(dim: usize, schedule: Schedule, budget: Budget) -> Result<SumNoise> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let refused = Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta };
    let mu = gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)?;
    // A lattice costs some billionths of μ, and more where the noise is small.
    for margin in [1e-9, 1e-7, 1e-5, 1e-3, 1e-1] {
        let each = mu * (1.0 - margin) / (schedule.steps as f64).sqrt();
        let noise = SumNoise::of_mu(dim, 2.0 * schedule.clipping_norm, each)?;
        let all =
            (1..schedule.steps).fold(noise.profile(), |all: PrivacyProfile, _| all.with(&noise.profile()));
        if all.delta(epsilon) <= delta {
            return Ok(noise);
        }
    }
    Err(Error::Budget {
        name: "epsilon", range: "large enough with its δ for so many steps", value: epsilon
    })
}

/// Descends in `steps`, on sums with noise; the weights' mean over the second half of the steps, and every noisy sum in turn.
pub(crate) fn descend(
    lesson: &Lesson,
    schedule: Schedule,
    noise: Option<&SumNoise>,
    stream: &mut Stream,
) -> (Array2<f64>, Vec<f64>) {
    let mut path = Path::new(lesson, schedule);
    let mut sums = vec![];
    for _ in 0..schedule.steps {
        let gradient = lesson.gradient(&path.weights, schedule.clipping_norm);
        let noisy = match noise {
            Some(noise) => noise.added(&gradient, stream),
            None => gradient.iter().map(|sum| *sum as f64 * STEP).collect(),
        };
        path.step(&noisy);
        sums.extend(noisy);
    }
    (path.mean(), sums)
}

/// The logarithm of the probability of all noisy sums, were they of this lesson.
pub(crate) fn log_likelihood(lesson: &Lesson, schedule: Schedule, noise: &SumNoise, sums: &[f64]) -> f64 {
    let mut path = Path::new(lesson, schedule);
    let mut total = 0.0;
    for noisy in sums.chunks(path.weights.len()) {
        let gradient = lesson.gradient(&path.weights, schedule.clipping_norm);
        total += noise.log_likelihood(&gradient, noisy);
        path.step(noisy);
    }
    total
}

/// Weights on their way.
struct Path {
    weights: Array2<f64>,
    /// Over the second half of the steps.
    sum: Array2<f64>,
    rate: f64,
    done: usize,
    steps: usize,
}

impl Path {
    fn new(lesson: &Lesson, schedule: Schedule) -> Self {
        let zero = Array2::zeros((lesson.outputs, lesson.width));
        let rate = schedule.learning_rate / lesson.len() as f64;
        Self { weights: zero.clone(), sum: zero, rate, done: 0, steps: schedule.steps }
    }

    fn step(&mut self, gradient: &[f64]) {
        self.weights.iter_mut().zip(gradient).for_each(|(weight, g)| *weight -= self.rate * g);
        self.done += 1;
        if self.done > self.steps / 2 {
            self.sum += &self.weights;
        }
    }

    fn mean(&self) -> Array2<f64> {
        &self.sum / (self.steps - self.steps / 2).max(1) as f64
    }
}
