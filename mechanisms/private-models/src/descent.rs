//! Gradient descent on noisy sums of the clipped gradients of all records. Gradients and sums consist of
//! integers.

use crate::coefficients::softmax;
use crate::encoding::{Encoding, ONE};
use crate::noise::{STEP, SumNoise};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use scumble_accounting::gaussian;
use scumble_core::{Budget, Error, PrivacyProfile, Result, Stream, interrupt, local};
use std::io::{Read, Seek, Write};
use tempfile::SpooledTempFile;

/// Parameters of the gradient descent of a logistic regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// Number of gradient steps; each step uses all records.
    pub(crate) steps: usize,
    /// C, the upper limit for the norm of a record's gradient.
    pub(crate) clipping_norm: f64,
    /// Learning rate: the factor by which the mean gradient is multiplied in a step of the weights.
    pub(crate) learning_rate: f64,
}

/// Largest number of bytes of packed records in memory. Beyond it, all packed records are in a temporary
/// file.
const IN_MEMORY: usize = 1 << 24;
/// Number of bytes of packed records that are read at a time. If this is less than one block of consecutive
/// records per thread, one block per thread is read.
const AT_ONCE: usize = 1 << 22;

/// Training records as packed integers. Every step reads them from the first to the last.
///
/// If the records take more than [`IN_MEMORY`] bytes, they are in a temporary file without a name, which only
/// its owner may read. Memory use is then independent of the number of records.
pub(crate) struct Lesson<'e> {
    encoding: &'e Encoding,
    packed: SpooledTempFile,
    records: usize,
    /// Number of coordinates of an encoded record z ([`Encoding`]) without the target: 1 + d for d features.
    width: usize,
    /// Number of outputs: one for two classes, else one per class.
    outputs: usize,
}

impl<'e> Lesson<'e> {
    /// Creates training data without records.
    pub(crate) fn new(encoding: &'e Encoding, outputs: usize) -> Self {
        let width = 1 + encoding.layout.columns.len();
        Self { encoding, packed: SpooledTempFile::new(IN_MEMORY), records: 0, width, outputs }
    }

    /// Adds flat records.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records, [`Error::NonFinite`] for a NaN or an
    /// infinity. [`Error::TemporaryFile`] if the temporary file cannot be written, [`Error::Interrupted`]
    /// after an interrupt.
    pub(crate) fn add(&mut self, records: &[f64]) -> Result<()> {
        for block in self.encoding.packed(records)? {
            self.packed.write_all(&block).map_err(Error::TemporaryFile)?;
            self.records += block.len() / self.encoding.packed_width();
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.records
    }

    /// Returns the sum of the clipped gradients of all records at `weights` (outputs × (1 + d) for d
    /// features), as integers in units of 2⁻⁴⁰.
    ///
    /// Each clipped gradient is a vector of integers in units of 2⁻⁴⁰. Its ℓ₂ norm is at most C =
    /// `clipping_norm`, despite float errors. The sums over two tables that differ in one replaced record are
    /// therefore at most 2C apart.
    ///
    /// # Errors
    /// [`Error::TemporaryFile`] if the temporary file cannot be read, [`Error::Interrupted`] after an
    /// interrupt.
    pub(crate) fn gradient(&mut self, weights: &Array2<f64>, clipping_norm: f64) -> Result<Vec<i128>> {
        let Self { encoding, width, .. } = *self;
        let count = self.outputs * width;
        let classes = encoding.width() - width;
        let block_sum = |packed: &[u8]| {
            let (mut sum, mut whole) = (vec![0i64; count], vec![0; encoding.width()]);
            for record in packed.chunks_exact(encoding.packed_width()) {
                encoding.unpack(record, &mut whole);
                let (z, class) = whole.split_at(width);
                let class = class.iter().position(|x| *x == ONE).unwrap_or(classes);
                let residuals = clipped(&residuals(weights, z, class), z, clipping_norm);
                for (sums, residual) in sum.chunks_exact_mut(width).zip(residuals) {
                    sums.iter_mut().zip(z).for_each(|(sum, z)| *sum += residual * z);
                }
            }
            sum
        };
        let block = local::BLOCK * encoding.packed_width();
        let mut sum = vec![0i128; count];
        // Several blocks, and the sum of each block, are in memory at the same time.
        let blocks = (AT_ONCE / block.max(count * size_of::<i64>())).max(rayon::current_num_threads());
        let mut packed = vec![0; (blocks * block).min(self.records * encoding.packed_width())];
        self.packed.rewind().map_err(Error::TemporaryFile)?;
        let mut left = self.records * encoding.packed_width();
        while left > 0 {
            interrupt::check()?;
            let packed = &mut packed[..left.min(blocks * block)];
            self.packed.read_exact(packed).map_err(Error::TemporaryFile)?;
            left -= packed.len();
            for block_sum in packed.par_chunks(block).map(block_sum).collect::<Vec<_>>() {
                sum.iter_mut().zip(block_sum).for_each(|(sum, more)| *sum += i128::from(more));
            }
        }
        Ok(sum)
    }
}

/// Returns the residual of each output for a record: the predicted probability less the indicator of the true
/// class.
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

/// Returns the residuals as integers in units of 2⁻²⁰. They are scaled down such that the gradient, the
/// products of the residuals with `z`, has a norm of at most `norm`.
///
/// The norm is checked on the integers. A gradient that is still too long, or that is not a number, becomes
/// zero.
fn clipped(residuals: &[f64], z: &[i64], norm: f64) -> Vec<i64> {
    let length = |numbers: &[i64]| numbers.iter().map(|&x| i128::from(x) * i128::from(x)).sum::<i128>();
    let z_squared = length(z);
    let found = residuals.iter().map(|r| r * r).sum::<f64>().sqrt() * (z_squared as f64).sqrt() / ONE as f64;
    let share = (norm / found).min(1.0) * ONE as f64;
    // Casts round toward zero, and NaN becomes zero.
    let steps: Vec<i64> = residuals.iter().map(|r| ((r * share) as i64).clamp(-ONE, ONE)).collect();
    let most = (norm / STEP).floor() as i128;
    let is_short = length(&steps).checked_mul(z_squared).is_some_and(|square| square <= most * most);
    if is_short { steps } else { vec![0; residuals.len()] }
}

/// Returns the noise for each step on the sum of gradients, which has `dim` coordinates. All steps of
/// `schedule` together are within `budget`.
///
/// # Errors
/// [`Error::Budget`] for δ = 0, and if the noise would need a σ above 2⁵⁹ lattice steps.
pub(crate) fn noise_of_steps(dim: usize, schedule: Schedule, budget: Budget) -> Result<SumNoise> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let refused = Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta };
    let mu = gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)?;
    // Compared to continuous noise, noise on a lattice increases μ of Gaussian differential privacy by a few
    // billionths, and by more if the noise is small.
    for margin in [1e-9, 1e-7, 1e-5, 1e-3, 1e-1] {
        let each = mu * (1.0 - margin) / (schedule.steps as f64).sqrt();
        let noise = SumNoise::for_mu(dim, 2.0 * schedule.clipping_norm, each)?;
        let all =
            (1..schedule.steps).fold(noise.profile(), |all: PrivacyProfile, _| all.with(&noise.profile()));
        if all.delta(epsilon) <= delta {
            return Ok(noise);
        }
    }
    Err(Error::Budget {
        name: "epsilon",
        range: "large enough, together with δ, for this number of steps",
        value: epsilon,
    })
}

/// Runs gradient descent on noisy sums of gradients, with the steps of `schedule`. Returns the mean of the
/// weights over the second half of the steps, and the noisy sums of all steps in order.
///
/// # Errors
/// Same errors as [`Lesson::gradient`].
pub(crate) fn descend(
    lesson: &mut Lesson,
    schedule: Schedule,
    noise: Option<&SumNoise>,
    stream: &mut Stream,
) -> Result<(Array2<f64>, Vec<f64>)> {
    let mut path = Path::new(lesson, schedule);
    let mut sums = vec![];
    for _ in 0..schedule.steps {
        let gradient = lesson.gradient(&path.weights, schedule.clipping_norm)?;
        let noisy = match noise {
            Some(noise) => noise.added(&gradient, stream),
            None => gradient.iter().map(|sum| *sum as f64 * STEP).collect(),
        };
        path.step(&noisy);
        sums.extend(noisy);
    }
    Ok((path.mean(), sums))
}

/// Logarithm of the probability density of the noisy sums `sums` of all steps if the training records are
/// those of `lesson`, up to a constant.
///
/// # Errors
/// Same errors as [`Lesson::gradient`].
pub(crate) fn log_likelihood(
    lesson: &mut Lesson,
    schedule: Schedule,
    noise: &SumNoise,
    sums: &[f64],
) -> Result<f64> {
    let mut path = Path::new(lesson, schedule);
    let mut total = 0.0;
    for noisy in sums.chunks(path.weights.len()) {
        let gradient = lesson.gradient(&path.weights, schedule.clipping_norm)?;
        total += noise.log_likelihood(&gradient, noisy);
        path.step(noisy);
    }
    Ok(total)
}

/// State of the descent: the current weights, and their sum over the second half of the steps.
struct Path {
    weights: Array2<f64>,
    /// Sum of the weights over the second half of the steps.
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
