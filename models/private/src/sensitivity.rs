//! How far apart one record can bring two sums on the lattice, and how much noise that leaves.

use crate::rows::MOST_ROWS;
use crate::{NoiseKind, PrivateTraining};
use scumble_neural::Real;

/// A step of the lattice is the largest power of two that is at most this times the noise's standard deviation.
const FINENESS: f64 = 1.0 / (1u64 << 20) as f64;

/// Variance of the discrete noise, in steps², that is spent on being discrete: r² with r = 4.
const SMOOTHING: f64 = 16.0;

/// No sample is larger than [`Sensitivity::capacity`] but with probability 2⁻¹⁰⁰.
const LOG_TAIL: f64 = 100.0 * std::f64::consts::LN_2;

/// The probability that a sample is larger than there is room for, at most: 2⁻¹⁰⁰.
pub(crate) const TAIL: f64 = f64::from_bits((1023 - 100) << 52);

/// Rounds a few operations in `f64` up, with room to spare.
const UP: f64 = 1.0 + 1e-12;

/// What is known of a step's sum of clipped gradients, for p parameters in numbers of unit roundoff u.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sensitivity {
    /// A sample that is larger adds nothing: that has a probability of at most [`TAIL`].
    pub capacity: usize,
    /// How far a record moves the sum, rounding errors and all, before it is put on the lattice; in units of the gradient, ℓ₂.
    pub of_sum: f64,
    /// √p: the most that two vectors move further apart when they are rounded, in steps.
    pub of_rounding: f64,
}

/// Where integers stand for gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lattice {
    /// The distance of neighbouring points, a power of two.
    pub step: f64,
    /// The scale of the noise, in steps: at least 2²⁰.
    pub scale: u64,
}

impl Sensitivity {
    /// For steps of `training` on so many `records` and `parameters` in numbers of type `T`.
    pub fn of<T: Real>(training: &PrivateTraining, records: usize, parameters: usize) -> Self {
        let (clip, p) = (training.clipping_norm, parameters as f64);
        let capacity = capacity(training.expected_batch, records);
        // What enters was found to have a squared norm of C² at most. That was a sum of at most p squares, of products of such sums,
        // in f64: 2p + 64 roundings up at most, and what each square may lose below the least float times an ‖a‖² within the floats.
        let longest = (clip * clip * (1.0 + (2.0 * p + 64.0) * f64::EPSILON) + p * 2f64.powi(-49)).sqrt();
        // A number of a chunk's sum is rounded at most once a row, and once a chunk when chunks are added up: it is off by no more than
        // γₖ·Σ|gᵢ|, and as a vector by γₖ·Σ‖gᵢ‖; what a product loses below the least float comes on top.
        let roundings = (capacity.min(MOST_ROWS) + capacity.div_ceil(MOST_ROWS) + 4) as f64;
        let unit: f64 = 0.5 * Into::<f64>::into(T::epsilon());
        let gamma = roundings * unit / (1.0 - roundings * unit);
        let least_float: f64 = Into::<f64>::into(T::min_positive_value()) * 2.0 * unit;
        let error = capacity as f64 * (gamma * longest + p.sqrt() * least_float);
        // The sum with the record, and the sum without it.
        Self { capacity, of_sum: (longest + 2.0 * error) * UP, of_rounding: p.sqrt() * UP }
    }

    /// The noise multiplier of a Gaussian mechanism with real numbers that costs no less than what is done.
    pub fn effective_noise_multiplier(&self, training: &PrivateTraining) -> f64 {
        match training.noise {
            NoiseKind::Exact => {
                let Lattice { step, scale } = Lattice::of(training);
                let scale = scale as f64;
                (scale * scale - SMOOTHING).sqrt() / (self.of_sum / step + self.of_rounding) / UP
            }
            NoiseKind::FloatingPoint => training.noise_deviation() / self.of_sum / UP,
            NoiseKind::None => 0.0,
        }
    }
}

impl Lattice {
    pub fn of(training: &PrivateTraining) -> Self {
        let deviation = training.noise_deviation();
        let step = largest_power_of_two(deviation * FINENESS);
        // Exact but for the rounding up: a power of two divides it.
        Self { step, scale: (deviation / step).ceil() as u64 }
    }
}

/// The largest power of two that is at most `value`, which is a normal number.
fn largest_power_of_two(value: f64) -> f64 {
    f64::from_bits(value.to_bits() >> 52 << 52)
}

/// The least number that a Poisson sample of `expected` of `records` exceeds with probability e^−[`LOG_TAIL`] at most: by Chernoff's
/// bound, P(X ≥ b) ≤ exp(−(b·ln(b/μ) − b + μ)).
fn capacity(expected: usize, records: usize) -> usize {
    let mean = expected as f64;
    let is_rare = |b: f64| b * (b / mean).ln() - b + mean >= LOG_TAIL * UP;
    // The exponent is 3·μ·x²/(6 + 2x) at least for b = μ·(1 + x), so this is enough.
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

    /// The exact tail of the binomial distribution, term by term.
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
