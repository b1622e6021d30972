//! Training records, and sums over all of them of clipped gradients. Gradients and sums consist of integers.

use crate::basis::{Basis, Packed};
use crate::coefficients::softmax;
use crate::encoding::{ONE, in_blocks_of_records, whole_steps};
use crate::noise::STEP;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use scumble_core::{Error, PARTS, Result, interrupt, local};
use std::io::{Read, Seek, Write};
use tempfile::SpooledTempFile;

/// Largest number of bytes of packed records in memory. Beyond it, all packed records are in a temporary
/// file.
const IN_MEMORY: usize = 1 << 24;
/// Number of bytes of packed records that are read at a time. If this is less than one block of consecutive
/// records per thread, one block per thread is read.
const AT_ONCE: usize = 1 << 22;
/// Output of a model at which the feature that a calibration makes of it reaches 1.
pub(crate) const REACH: f64 = 3.0;

/// Training records as packed integers. Every step reads them from the first to the last. The records of a
/// person have the weight of one record together.
///
/// If the records take more than [`IN_MEMORY`] bytes, they are in a temporary file without a name, which only
/// its owner may read. Memory use is then independent of the number of records.
pub(crate) struct Lesson<'b> {
    pub(crate) basis: &'b Basis,
    /// Parts of each record in its person's weight, and the packed record.
    packed: SpooledTempFile,
    records: usize,
    /// Parts of all people, [`PARTS`] each.
    parts: u64,
    /// Number of outputs: one for a number or two classes, else one per class.
    pub(crate) outputs: usize,
}

impl<'b> Lesson<'b> {
    /// Creates training data without records.
    pub(crate) fn new(basis: &'b Basis, outputs: usize) -> Self {
        Self { basis, packed: SpooledTempFile::new(IN_MEMORY), records: 0, parts: 0, outputs }
    }

    /// Adds flat records. `shares` has the parts of each record in the weight of its person, of [`PARTS`] in
    /// all; `None` if each record is a person's only one.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records, [`Error::NonFinite`] for a NaN or an
    /// infinity. [`Error::TemporaryFile`] if the temporary file cannot be written, [`Error::Interrupted`]
    /// after an interrupt.
    pub(crate) fn add(&mut self, records: &[f64], shares: Option<&[u16]>) -> Result<()> {
        let blocks = in_blocks_of_records(self.basis.flat_width(), records, shares, |block| {
            let mut packed = Vec::with_capacity(block.size_hint().0 * self.record_width());
            let mut parts = 0;
            for (record, share) in block {
                packed.extend(share.to_le_bytes());
                self.basis.pack(&mut record.to_vec(), &mut packed)?;
                parts += u64::from(share);
            }
            Ok((packed, parts))
        })?;
        for (packed, parts) in blocks {
            self.packed.write_all(&packed).map_err(Error::TemporaryFile)?;
            self.records += packed.len() / self.record_width();
            self.parts += parts;
        }
        Ok(())
    }

    /// Number of people.
    pub(crate) fn people(&self) -> usize {
        self.parts.div_ceil(PARTS.into()) as usize
    }

    /// Bytes of a packed record with its parts.
    fn record_width(&self) -> usize {
        size_of::<u16>() + self.basis.packed_width()
    }

    /// Returns the sum of the clipped gradients of all records at `weights` (outputs × features), as integers
    /// in units of 2⁻⁴⁰. The loss is the logistic loss for classes, and half the squared error for numbers.
    ///
    /// Each clipped gradient is a vector of integers in units of 2⁻⁴⁰. Its ℓ₂ norm is at most C =
    /// `clipping_norm`, despite float errors. A person adds the mean of the clipped gradients of their
    /// records, weighted by shares. The sums over two tables that differ in one replaced person are therefore
    /// at most 2C apart, and [`rounding`](crate::noise::rounding) more if people have several records.
    ///
    /// # Errors
    /// [`Error::TemporaryFile`] if the temporary file cannot be read, [`Error::Interrupted`] after an
    /// interrupt.
    pub(crate) fn gradient(&mut self, weights: &Array2<f64>, clipping_norm: f64) -> Result<Vec<i128>> {
        let basis = self.basis;
        self.sum(weights.len(), |(record, share), residuals, sum| {
            basis.outputs(weights, &record, residuals);
            basis.subtract_target(&record, residuals);
            clip(residuals, |_| record.squared_norm(), clipping_norm);
            for (sums, residual) in sum.chunks_exact_mut(basis.width()).zip(residuals) {
                let residual = *residual as i64 * share;
                sums[0] += residual * ONE;
                record.entries().for_each(|(at, value)| sums[at] += residual * value);
            }
        })
    }

    /// Returns the sum of the clipped gradients of all records with respect to `lines` (outputs × 2), as
    /// [`gradient`](Self::gradient) does with respect to weights. A line has an intercept and a slope. The
    /// model's output o becomes the intercept plus the slope times o/[`REACH`]. The features of a record for
    /// its gradient are 1 and o/[`REACH`], clamped to [−1, 1].
    ///
    /// # Errors
    /// Same errors as [`gradient`](Self::gradient).
    pub(crate) fn gradient_of_lines(
        &mut self,
        weights: &Array2<f64>,
        lines: &Array2<f64>,
        clipping_norm: f64,
    ) -> Result<Vec<i128>> {
        let basis = self.basis;
        self.sum(lines.len(), |(record, share), residuals, sum| {
            basis.outputs(weights, &record, residuals);
            let whole = |output: &f64| ((output / REACH).clamp(-1.0, 1.0) * ONE as f64) as i64;
            let features: Vec<i64> = residuals.iter().map(whole).collect();
            for (output, line) in residuals.iter_mut().zip(lines.outer_iter()) {
                *output = line[0] + line[1] * *output / REACH;
            }
            basis.subtract_target(&record, residuals);
            clip(residuals, |output| (ONE * ONE + features[output].pow(2)) as u64, clipping_norm);
            for ((sums, residual), feature) in sum.chunks_exact_mut(2).zip(residuals).zip(features) {
                let residual = *residual as i64 * share;
                sums[0] += residual * ONE;
                sums[1] += residual * feature;
            }
        })
    }

    /// Returns the sums of `count` integers over all people. `add` adds those of a record, times its parts,
    /// and has a buffer of its own.
    fn sum(
        &mut self,
        count: usize,
        add: impl Fn((Packed, i64), &mut Vec<f64>, &mut [i64]) + Sync,
    ) -> Result<Vec<i128>> {
        let basis = self.basis;
        let record_width = self.record_width();
        let block_sum = |packed: &[u8]| {
            let (mut sum, mut buffer) = (vec![0i64; count], vec![]);
            for record in packed.chunks_exact(record_width) {
                let (share, record) = record.split_first_chunk().unwrap_or((&[0; 2], &[]));
                let share = u16::from_le_bytes(*share).into();
                add((basis.unpacked(record), share), &mut buffer, &mut sum);
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
        Ok(sum.into_iter().map(whole_steps).collect())
    }
}

impl Basis {
    /// Writes the outputs of the model with `weights` (outputs × features) for a record into `outputs`.
    fn outputs(&self, weights: &Array2<f64>, record: &Packed, outputs: &mut Vec<f64>) {
        let output = |weights: ArrayView1<f64>| {
            let constant = weights[0] * ONE as f64;
            record.entries().fold(constant, |sum, (at, value)| sum + weights[at] * value as f64) / ONE as f64
        };
        outputs.clear();
        outputs.extend(weights.outer_iter().map(output));
    }

    /// Replaces the outputs for a record by residuals: the predicted probability less the indicator of the
    /// true class, or the predicted number less the true one.
    fn subtract_target(&self, record: &Packed, outputs: &mut [f64]) {
        if !self.has_classes() {
            outputs.iter_mut().for_each(|output| *output -= record.number());
        } else if let [output] = outputs {
            *output = 1.0 / (1.0 + (-*output).exp()) - record.class() as f64;
        } else {
            softmax(outputs);
            if let Some(own) = outputs.get_mut(record.class()) {
                *own -= 1.0;
            }
        }
    }
}

/// Replaces the residuals by whole multiples of 2⁻²⁰, in these units. They are scaled down such that the
/// gradient, the products of the residuals with the features, has a norm of at most `norm`. `features` gives
/// the squared norm of the features for an output, in units of 2⁻⁴⁰.
///
/// The norm is checked on integers. A gradient that is still too long, or that is not a number, becomes zero.
fn clip(residuals: &mut [f64], features: impl Fn(usize) -> u64, norm: f64) {
    let square = |(output, residual): (usize, &f64)| residual * residual * features(output) as f64;
    let found = residuals.iter().enumerate().map(square).sum::<f64>().sqrt() / ONE as f64;
    let share = (norm / found).min(1.0) * ONE as f64;
    let mut squares = Some(0i128);
    for (output, residual) in residuals.iter_mut().enumerate() {
        // Casts round toward zero, and NaN becomes zero.
        let whole = ((*residual * share) as i64).clamp(-ONE, ONE);
        let square = i128::from(whole * whole).checked_mul(features(output).into());
        squares = squares.zip(square).and_then(|(sum, square)| sum.checked_add(square));
        *residual = whole as f64;
    }
    let most = (norm / STEP).floor() as i128;
    if squares.is_none_or(|squares| squares > most * most) {
        residuals.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Grids;
    use ndarray::s;
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
            let mut lesson = Lesson::new(&basis, 3);
            let mut record = [x, 0.0, 0.0, 0.0];
            record[1 + class] = 1.0;
            lesson.add(&record, None).unwrap();
            let squared = |sum: i128| (sum as f64 * STEP).powi(2);
            let length = |sums: Vec<i128>| sums.into_iter().map(squared).sum::<f64>().sqrt();
            let lines = weights.slice(s![.., ..2]).to_owned();
            let mut gradient = |norm| {
                [lesson.gradient(&weights, norm), lesson.gradient_of_lines(&weights, &lines, norm)]
                    .map(|sum| length(sum.unwrap()))
            };
            for (clipped, whole) in gradient(norm).into_iter().zip(gradient(1e3)) {
                prop_assert!(clipped <= norm * (1.0 + 1e-12), "{} of {}", clipped, norm);
                let off = (clipped - whole.min(norm)).abs();
                prop_assert!(off < 1e-4, "{} of {} and {}", clipped, whole, norm);
            }
        }
    }
}
