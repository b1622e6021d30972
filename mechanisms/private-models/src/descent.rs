//! Gradient descent on noisy sums of the clipped gradients of all records. Gradients and sums consist of
//! integers.

use crate::basis::{Basis, Packed};
use crate::coefficients::softmax;
use crate::encoding::{ONE, in_blocks_of_records};
use crate::noise::{STEP, SumNoise};
use crate::schedule::Schedule;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use scumble_accounting::gaussian;
use scumble_core::{Budget, Error, Neighbours, PrivacyProfile, Result, Stream, interrupt, local};
use std::io::{Read, Seek, Write};
use tempfile::SpooledTempFile;

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
pub(crate) struct Lesson<'b> {
    basis: &'b Basis,
    packed: SpooledTempFile,
    records: usize,
    /// Number of outputs: one for a number or two classes, else one per class.
    outputs: usize,
}

impl<'b> Lesson<'b> {
    /// Creates training data without records.
    pub(crate) fn new(basis: &'b Basis, outputs: usize) -> Self {
        Self { basis, packed: SpooledTempFile::new(IN_MEMORY), records: 0, outputs }
    }

    /// Adds flat records.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records, [`Error::NonFinite`] for a NaN or an
    /// infinity. [`Error::TemporaryFile`] if the temporary file cannot be written, [`Error::Interrupted`]
    /// after an interrupt.
    pub(crate) fn add(&mut self, records: &[f64]) -> Result<()> {
        let width = self.basis.flat_width();
        let blocks = in_blocks_of_records(width, records, |block| {
            let mut packed = Vec::with_capacity(block.len() / width.max(1) * self.basis.packed_width());
            block
                .chunks_exact(width)
                .try_for_each(|record| self.basis.pack(&mut record.to_vec(), &mut packed))?;
            Ok(packed)
        })?;
        for block in blocks {
            self.packed.write_all(&block).map_err(Error::TemporaryFile)?;
            self.records += block.len() / self.basis.packed_width();
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.records
    }

    /// Returns the sum of the clipped gradients of all records at `weights` (outputs × features), as integers
    /// in units of 2⁻⁴⁰. The loss is the logistic loss for classes, and half the squared error for numbers.
    ///
    /// Each clipped gradient is a vector of integers in units of 2⁻⁴⁰. Its ℓ₂ norm is at most C =
    /// `clipping_norm`, despite float errors. The sums over two tables that differ in one replaced record are
    /// therefore at most 2C apart.
    ///
    /// # Errors
    /// [`Error::TemporaryFile`] if the temporary file cannot be read, [`Error::Interrupted`] after an
    /// interrupt.
    pub(crate) fn gradient(&mut self, weights: &Array2<f64>, clipping_norm: f64) -> Result<Vec<i128>> {
        let (basis, count) = (self.basis, weights.len());
        let record_width = basis.packed_width();
        let block_sum = |packed: &[u8]| {
            let (mut sum, mut residuals) = (vec![0i64; count], vec![]);
            for record in packed.chunks_exact(record_width) {
                let record = basis.unpacked(record);
                basis.residuals(weights, &record, &mut residuals);
                clip(&mut residuals, record.squared_norm(), clipping_norm);
                for (sums, residual) in sum.chunks_exact_mut(basis.width()).zip(&residuals) {
                    let residual = *residual as i64;
                    sums[0] += residual * ONE;
                    record.entries().for_each(|(at, value)| sums[at] += residual * value);
                }
            }
            sum
        };
        let block = local::BLOCK * record_width;
        let mut sum = vec![0i128; count];
        // Several blocks, and the sum of each block, are in memory at the same time.
        let blocks = (AT_ONCE / block.max(count * size_of::<i64>())).max(rayon::current_num_threads());
        let mut packed = vec![0; (blocks * block).min(self.records * record_width)];
        self.packed.rewind().map_err(Error::TemporaryFile)?;
        let mut left = self.records * record_width;
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

impl Basis {
    /// Writes the residual of each output for a record into `residuals`: the predicted probability less the
    /// indicator of the true class, or the predicted number less the true one.
    fn residuals(&self, weights: &Array2<f64>, record: &Packed, residuals: &mut Vec<f64>) {
        let output = |weights: ArrayView1<f64>| {
            let constant = weights[0] * ONE as f64;
            record.entries().fold(constant, |sum, (at, value)| sum + weights[at] * value as f64) / ONE as f64
        };
        residuals.clear();
        residuals.extend(weights.outer_iter().map(output));
        if !self.has_classes() {
            residuals.iter_mut().for_each(|output| *output -= record.number());
        } else if let [output] = &mut residuals[..] {
            *output = 1.0 / (1.0 + (-*output).exp()) - record.class() as f64;
        } else {
            softmax(residuals);
            if let Some(own) = residuals.get_mut(record.class()) {
                *own -= 1.0;
            }
        }
    }
}

/// Replaces the residuals by whole multiples of 2⁻²⁰, in these units. They are scaled down such that the
/// gradient, the products of the residuals with the features, has a norm of at most `norm`. `features` is the
/// squared norm of the features in units of 2⁻⁴⁰.
///
/// The norm is checked on integers. A gradient that is still too long, or that is not a number, becomes zero.
fn clip(residuals: &mut [f64], features: u64, norm: f64) {
    let found = residuals.iter().map(|r| r * r).sum::<f64>().sqrt() * (features as f64).sqrt() / ONE as f64;
    let share = (norm / found).min(1.0) * ONE as f64;
    let mut squares = 0i128;
    for residual in residuals.iter_mut() {
        // Casts round toward zero, and NaN becomes zero.
        let whole = ((*residual * share) as i64).clamp(-ONE, ONE);
        squares += i128::from(whole * whole);
        *residual = whole as f64;
    }
    let most = (norm / STEP).floor() as i128;
    if squares.checked_mul(features.into()).is_none_or(|square| square > most * most) {
        residuals.fill(0.0);
    }
}

/// Returns the noise for each step on the sum of gradients, which has `dim` coordinates. The sums of two
/// tables that are `neighbours` differ by at most one clipped gradient, or by two if a record is replaced.
/// All steps of `schedule` together are within `budget`.
///
/// # Errors
/// [`Error::Budget`] for δ = 0, and if the noise would need a σ above 2⁵⁹ lattice steps.
pub(crate) fn noise_of_steps(
    dim: usize,
    schedule: Schedule,
    neighbours: Neighbours,
    budget: Budget,
) -> Result<SumNoise> {
    let distance = match neighbours {
        Neighbours::AddOrRemoveOne => schedule.clipping_norm,
        Neighbours::ReplaceOne => 2.0 * schedule.clipping_norm,
    };
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let refused = Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta };
    let mu = gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)?;
    // Compared to continuous noise, noise on a lattice increases μ of Gaussian differential privacy by a few
    // billionths, and by more if the noise is small.
    for margin in [1e-9, 1e-7, 1e-5, 1e-3, 1e-1] {
        let each = mu * (1.0 - margin) / (schedule.steps as f64).sqrt();
        let noise = SumNoise::for_mu(dim, distance, each)?;
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
    /// Last step of the weights.
    last: Array2<f64>,
    /// Sum of the weights over the second half of the steps.
    sum: Array2<f64>,
    schedule: Schedule,
    done: usize,
}

impl Path {
    fn new(lesson: &Lesson, schedule: Schedule) -> Self {
        let zero = Array2::zeros((lesson.outputs, lesson.basis.width()));
        Self { weights: zero.clone(), last: zero.clone(), sum: zero, schedule, done: 0 }
    }

    fn step(&mut self, gradient: &[f64]) {
        let Schedule { records, learning_rate, momentum, .. } = self.schedule;
        let rate = learning_rate / records as f64;
        self.last.iter_mut().zip(gradient).for_each(|(last, g)| *last = momentum * *last - rate * g);
        self.weights += &self.last;
        self.done += 1;
        if self.done > self.schedule.steps - self.schedule.averaged() {
            self.sum += &self.weights;
        }
    }

    fn mean(&self) -> Array2<f64> {
        &self.sum / self.schedule.averaged().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Grids;
    use ndarray::Array2;
    use proptest::prelude::*;
    use scumble_core::{Domain, TargetDomain};

    proptest! {
        /// The gradient of one record is at most C long, and is zero or C long if it was longer.
        #[test]
        fn the_gradient_of_a_record_is_clipped(
            x in 0.0f64..=1.0,
            class in 0usize..3,
            weights in proptest::collection::vec(-100.0f64..100.0, 3 * 6),
            norm in 1e-3f64..4.0,
        ) {
            let levels = (0..3).map(|level| level.to_string()).collect();
            let domain = scumble_testing::records(Domain::unit_box(1), TargetDomain::Class { levels });
            let grids = Grids { knots: vec![vec![0.0, 0.3, 0.9, 1.0]], pairs: vec![] };
            let basis = Basis::new("a test", &domain, Some(&grids)).unwrap();
            let weights = Array2::from_shape_vec((3, basis.width()), weights).unwrap();
            let length = |norm: f64| {
                let mut lesson = Lesson::new(&basis, 3);
                let mut record = [x, 0.0, 0.0, 0.0];
                record[1 + class] = 1.0;
                lesson.add(&record).unwrap();
                let gradient = lesson.gradient(&weights, norm).unwrap();
                gradient.into_iter().map(|g| (g as f64 * STEP).powi(2)).sum::<f64>().sqrt()
            };
            let (clipped, whole) = (length(norm), length(1e3));
            prop_assert!(clipped <= norm * (1.0 + 1e-12), "{} of {}", clipped, norm);
            prop_assert!((clipped - whole.min(norm)).abs() < 1e-4, "{} of {} and {}", clipped, whole, norm);
        }
    }
}
