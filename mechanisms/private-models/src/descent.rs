//! Descent by noisy sums of all records' clipped gradients, on integers.

use crate::coefficients::softmax;
use crate::encoding::{Encoding, ONE};
use crate::noise::{STEP, SumNoise};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use scumble_accounting::gaussian;
use scumble_core::{Budget, Error, PrivacyProfile, Result, Stream, interrupt, local};
use std::io::{Read, Seek, Write};
use tempfile::SpooledTempFile;

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

/// Bytes of packed records in memory; more of them go to a temporary file.
const IN_MEMORY: usize = 1 << 24;
/// Bytes of packed records that are read at once, or a block for each thread.
const AT_ONCE: usize = 1 << 22;

/// Records as integers, packed, which every step reads from the first to the last. Beyond [`IN_MEMORY`] they
/// lie in a temporary file that has no name and that its owner alone may read, so that memory does not grow
/// with them.
pub(crate) struct Lesson<'e> {
    encoding: &'e Encoding,
    packed: SpooledTempFile,
    records: usize,
    /// The coordinates of z without the target.
    width: usize,
    /// One for two classes, else one a class.
    outputs: usize,
}

impl<'e> Lesson<'e> {
    /// A lesson of no record yet.
    pub(crate) fn new(encoding: &'e Encoding, outputs: usize) -> Self {
        let width = 1 + encoding.layout.columns.len();
        Self { encoding, packed: SpooledTempFile::new(IN_MEMORY), records: 0, width, outputs }
    }

    /// Adds flat records.
    ///
    /// # Errors
    /// [`Error::Shape`] for values that are no whole number of records; [`Error::NonFinite`];
    /// [`Error::TemporaryFile`]; [`Error::Interrupted`].
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

    /// The sum of all records' clipped gradients at these weights (outputs × (1 + d)), in steps of 2⁻⁴⁰: each a vector of integers, no longer than
    /// C, whatever floats say of it. So two sums that differ in one record lie 2C apart at most.
    ///
    /// # Errors
    /// [`Error::TemporaryFile`]; [`Error::Interrupted`].
    pub(crate) fn gradient(&mut self, weights: &Array2<f64>, clipping_norm: f64) -> Result<Vec<i128>> {
        let Self { encoding, width, .. } = *self;
        let count = self.outputs * width;
        let classes = encoding.width() - width;
        let of_block = |packed: &[u8]| {
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
        // Blocks, and the sums of each, are held at once.
        let blocks = (AT_ONCE / block.max(count * size_of::<i64>())).max(rayon::current_num_threads());
        let mut packed = vec![0; (blocks * block).min(self.records * encoding.packed_width())];
        self.packed.rewind().map_err(Error::TemporaryFile)?;
        let mut left = self.records * encoding.packed_width();
        while left > 0 {
            interrupt::check()?;
            let packed = &mut packed[..left.min(blocks * block)];
            self.packed.read_exact(packed).map_err(Error::TemporaryFile)?;
            left -= packed.len();
            for of_block in packed.par_chunks(block).map(of_block).collect::<Vec<_>>() {
                sum.iter_mut().zip(of_block).for_each(|(sum, more)| *sum += i128::from(more));
            }
        }
        Ok(sum)
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
///
/// # Errors
/// As [`Lesson::gradient`].
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

/// The logarithm of the probability of all noisy sums, were they of this lesson.
///
/// # Errors
/// As [`Lesson::gradient`].
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
