//! ℓ₂ sensitivity of a training step's sum of clipped gradients, rounded to a lattice, and the resulting
//! effective noise multiplier.

use crate::rows::MOST_ROWS;
use crate::{NoiseKind, PrivateTraining};
use scumble_neural::Real;

/// Upper bound on the lattice step divided by the noise's standard deviation. The lattice step is the largest
/// power of two within this bound.
const FINENESS: f64 = 1.0 / (1u64 << 20) as f64;

/// Variance r² with r = 4, in squared lattice steps, which privacy accounting subtracts from the variance of
/// discrete noise. Discrete noise of variance σ² is post-processed continuous noise of variance σ² − r², up
/// to a factor of e^(±10⁻¹⁰⁰) in its probabilities.
const SMOOTHING: f64 = 16.0;

/// Negative logarithm of [`TAIL`], the bound on the probability that a sample exceeds
/// [`Sensitivity::capacity`]: 100·ln 2.
const LOG_TAIL: f64 = 100.0 * std::f64::consts::LN_2;

/// Upper bound on the probability that a sample exceeds the capacity: 2⁻¹⁰⁰.
pub(crate) const TAIL: f64 = f64::from_bits((1023 - 100) << 52);

/// Factor that enlarges a bound by more than the rounding errors of a few `f64` operations.
const UP: f64 = 1.0 + 1e-12;

/// Sensitivity of a step's sum of clipped gradients, for p parameters in floating-point numbers of unit
/// roundoff u.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sensitivity {
    /// Largest number of records in a sample that enters the sum. A larger sample adds nothing, and has a
    /// probability of at most [`TAIL`].
    pub capacity: usize,
    /// Upper bound on the ℓ₂ distance by which one record moves the sum, before rounding to the lattice. It
    /// includes floating-point errors and is in units of the gradient.
    pub sum_distance: f64,
    /// Upper bound on the ℓ₂ distance that rounding two sums to the lattice can add, in lattice steps: √p.
    pub rounding_distance: f64,
}

/// Lattice to which gradients are rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lattice {
    /// Distance between neighbouring points, a power of two.
    pub step: f64,
    /// Scale parameter σ of the discrete Gaussian noise, in lattice steps: at least 2²⁰.
    pub scale: u64,
}

impl Sensitivity {
    /// Computes the sensitivity for steps of `training` on `records` records, with `parameters` numbers of
    /// type `T`.
    pub fn for_training<T: Real>(training: &PrivateTraining, records: usize, parameters: usize) -> Self {
        let (clip, p) = (training.clipping_norm, parameters as f64);
        let capacity = capacity(training.expected_batch, records);
        // Every gradient that enters the sum had a computed squared norm of at most C², for the clipping norm
        // C. This norm is computed in `f64` from sums of at most p squares, for p parameters, and products of
        // two of these sums. It is rounded at most 2p + 64 times. Each square may also underflow. It then
        // loses at most the least float times the squared norm of a layer's input, which is within the range
        // of floats.
        let longest = (clip * clip * (1.0 + (2.0 * p + 64.0) * f64::EPSILON) + p * 2f64.powi(-49)).sqrt();
        // A coordinate of the sum is rounded at most k times: once per row of a chunk, and once per chunk
        // when chunks are added up. Its error is at most γₖ·Σ|gᵢ| over the gradients' values gᵢ in this
        // coordinate, with γₖ = ku/(1 − ku) for unit roundoff u. The error of the vector is at most γₖ times
        // the sum of the gradients' norms. The loss of a product by underflow is added.
        let roundings = (capacity.min(MOST_ROWS) + capacity.div_ceil(MOST_ROWS) + 4) as f64;
        let unit: f64 = 0.5 * Into::<f64>::into(T::epsilon());
        let gamma = roundings * unit / (1.0 - roundings * unit);
        let least_float: f64 = Into::<f64>::into(T::min_positive_value()) * 2.0 * unit;
        let error = capacity as f64 * (gamma * longest + p.sqrt() * least_float);
        // The factor 2 counts the error of the sum with the record and the error of the sum without it.
        Self { capacity, sum_distance: (longest + 2.0 * error) * UP, rounding_distance: p.sqrt() * UP }
    }

    /// Noise multiplier of a Gaussian mechanism in real numbers whose privacy loss is at least that of
    /// `training`.
    pub fn effective_noise_multiplier(&self, training: &PrivateTraining) -> f64 {
        match training.noise {
            NoiseKind::Exact => {
                let Lattice { step, scale } = Lattice::for_training(training);
                let scale = scale as f64;
                (scale * scale - SMOOTHING).sqrt() / (self.sum_distance / step + self.rounding_distance) / UP
            }
            NoiseKind::FloatingPoint => training.noise_deviation() / self.sum_distance / UP,
            NoiseKind::None => 0.0,
        }
    }
}

impl Lattice {
    pub fn for_training(training: &PrivateTraining) -> Self {
        let deviation = training.noise_deviation();
        let step = largest_power_of_two(deviation * FINENESS);
        // The division by a power of two is exact, so only `ceil` rounds.
        Self { step, scale: (deviation / step).ceil() as u64 }
    }
}

/// Largest power of two that is at most `value`, a normal number.
fn largest_power_of_two(value: f64) -> f64 {
    f64::from_bits(value.to_bits() >> 52 << 52)
}

/// Smallest number of records that a Poisson sample exceeds with probability at most e^−[`LOG_TAIL`], if
/// `expected` of `records` records are expected in the sample.
///
/// It follows from Chernoff's bound for a sample of X records with mean μ, P(X ≥ b) ≤ exp(−(b·ln(b/μ) − b +
/// μ)).
fn capacity(expected: usize, records: usize) -> usize {
    let mean = expected as f64;
    let is_rare = |b: f64| b * (b / mean).ln() - b + mean >= LOG_TAIL * UP;
    // For b = μ·(1 + x), b·ln(b/μ) − b + μ is at least 3·μ·x²/(6 + 2x). At b = `enough`, this lower bound
    // exceeds `LOG_TAIL`.
    let enough = mean + (2.0 * mean * LOG_TAIL).sqrt() + LOG_TAIL + 4.0;
    let (mut short, mut long) = (expected, enough.ceil() as usize);
    while long - short > 1 {
        let middle = short + (long - short) / 2;
        if is_rare(middle as f64) { long = middle } else { short = middle }
    }
    long.min(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_two_is_at_most_a_number_and_more_than_half_of_it() {
        for value in [1.0, 1.5, 1.999, 2.0, 1e-300, 3e7] {
            let power = largest_power_of_two(value);
            assert!(power <= value && value < 2.0 * power, "{power} for {value}");
        }
    }

    #[test]
    fn the_tail_is_two_to_the_minus_100() {
        assert_eq!(TAIL, 2f64.powi(-100));
        assert!((LOG_TAIL + TAIL.ln()).abs() < 1e-12);
    }

    /// Compares with the exact tail of the binomial distribution, term by term.
    #[test]
    fn a_sample_is_hardly_ever_larger_than_there_is_room_for() {
        for (expected, records) in [(64_usize, 60_000_usize), (1, 100), (5, 7), (256, 3000), (100, 100)] {
            let room = capacity(expected, records);
            assert!((expected..=records).contains(&room));
            let q = expected as f64 / records as f64;
            let mut log_choose = 0.0;
            let mut tail = 0.0;
            for k in 0..=records {
                if k > 0 {
                    log_choose += ((records - k + 1) as f64).ln() - (k as f64).ln();
                }
                if k > room {
                    tail += (log_choose + k as f64 * q.ln() + (records - k) as f64 * (-q).ln_1p()).exp();
                }
            }
            assert!(tail <= TAIL, "{tail:e} beyond {room} of {records}");
        }
    }
}
