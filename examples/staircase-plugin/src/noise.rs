//! The discrete staircase distribution.

use scumble::core::{Result, Stream};
use scumble::sampling::{Geometric, Rational, bernoulli_exp, uniform_below, with_random_sign};
use std::num::NonZeroU64;

/// The staircase distribution on the integers (Geng and Viswanath 2014), with b = e^−ε, sensitivity Δ and 1 ≤
/// r ≤ Δ. P(kΔ + j) ∝ b^k for 0 ≤ j < r and ∝ b^(k+1) for r ≤ j < Δ, and the same for negative integers.
///
/// Two copies shifted by at most Δ differ by a factor of at most e^ε at every integer.
#[derive(Debug, Clone)]
pub(crate) struct Staircase {
    epsilon: Rational,
    /// Distribution of the number of whole stairs between zero and a draw.
    stairs: Geometric,
    sensitivity: NonZeroU64,
    /// r: number of integers of the top step on its side of zero.
    top: u64,
}

impl Staircase {
    /// Creates the distribution for `epsilon` and `sensitivity`; the top step takes the share `step_share` of
    /// Δ.
    pub(crate) fn new(epsilon: f64, sensitivity: NonZeroU64, step_share: f64) -> Result<Self> {
        let top = (step_share * sensitivity.get() as f64).round() as u64;
        let epsilon = Rational::floor_of(epsilon)?;
        Ok(Self {
            epsilon,
            stairs: Geometric::new(epsilon.reciprocal()?)?,
            sensitivity,
            top: top.clamp(1, sensitivity.get()),
        })
    }

    /// Draws one exact sample: whole stairs and a position within one, with a random sign.
    pub(crate) fn sample(&self, stream: &mut Stream) -> i128 {
        with_random_sign(stream, |stream| {
            let within = loop {
                let proposal = uniform_below(stream, self.sensitivity);
                if proposal < self.top || bernoulli_exp(stream, self.epsilon) {
                    break i128::from(proposal);
                }
            };
            self.stairs.sample(stream) * i128::from(self.sensitivity.get()) + within
        })
    }

    /// Computes E k² from the moments of the two steps and of the geometric number of stairs.
    pub(crate) fn variance(&self) -> f64 {
        let b = (-self.epsilon.to_f64()).exp();
        let (delta, top) = (self.sensitivity.get() as f64, self.top as f64);
        // Σ j^m over 0 ≤ j < r, plus b times Σ j^m over r ≤ j < Δ.
        let moment = |sum: fn(f64) -> f64| sum(top) + b * (sum(delta) - sum(top));
        let zeroth = moment(|n| n);
        let first = moment(|n| n * (n - 1.0) / 2.0);
        let second = moment(|n| n * (n - 1.0) * (2.0 * n - 1.0) / 6.0);
        let squares = delta * delta * zeroth * b * (1.0 + b) / (1.0 - b).powi(3)
            + 2.0 * delta * first * b / (1.0 - b).powi(2)
            + second / (1.0 - b);
        let total = 2.0 * zeroth / (1.0 - b) - 1.0; // zero is counted once
        2.0 * squares / total
    }

    /// Computes E k⁴/(E k²)² by a sum over the stairs.
    pub(crate) fn kurtosis(&self) -> f64 {
        /// Stairs with a probability below e^−50 are negligible.
        const RARE: f64 = 50.0;
        let epsilon = self.epsilon.to_f64();
        let (delta, top) = (self.sensitivity.get() as f64, self.top as f64);
        // Σ j^m over 0 ≤ j < n.
        let fourth = |n: f64| n * (n - 1.0) * (2.0 * n - 1.0) * (3.0 * n * n - 3.0 * n - 1.0) / 30.0;
        let summed = |sum: &dyn Fn(f64) -> f64| -> f64 {
            let stair_term = |stair: u64| {
                let (low, weight) = (stair as f64 * delta, (-epsilon * stair as f64).exp());
                let step = sum(low + top) - sum(low);
                weight * (step + (-epsilon).exp() * (sum(low + delta) - sum(low + top)))
            };
            (0..(RARE / epsilon).ceil() as u64).map(stair_term).sum()
        };
        let total = 2.0 * summed(&|n| n) - 1.0; // zero is counted once
        2.0 * summed(&fourth) / total / self.variance().powi(2)
    }
}

/// Share γ of Δ that the top step takes for the least variance (Geng and Viswanath 2014).
///
/// With b = e^−ε, γ = −b/(1 − b) + (b − 2b² + 2b⁴ − b⁵)^(1/3)/(2^(1/3)·(1 − b)²).
pub(crate) fn best_step_share(epsilon: f64) -> f64 {
    if epsilon < 0.1 {
        return 0.5; // the limit; the formula would lose digits by cancellation
    }
    let b = (-epsilon).exp();
    let root = ((b - 2.0 * b.powi(2) + 2.0 * b.powi(4) - b.powi(5)) / 2.0).cbrt();
    let share = root / (1.0 - b).powi(2) - b / (1.0 - b);
    share.max(f64::MIN_POSITIVE) // b underflows to 0 at a large ε, and every step needs an integer
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble::core::{Domain, Randomness};
    use scumble::noise::LaplaceNoise;

    fn distribution(epsilon: f64, sensitivity: u64, share: f64) -> Staircase {
        Staircase::new(epsilon, NonZeroU64::new(sensitivity).unwrap(), share).unwrap()
    }

    /// Unnormalised probability of `k`.
    fn weight(epsilon: f64, sensitivity: u64, top: u64, k: i64) -> f64 {
        let (stairs, within) = (k.unsigned_abs() / sensitivity, k.unsigned_abs() % sensitivity);
        (-epsilon * (stairs + u64::from(within >= top)) as f64).exp()
    }

    #[test]
    fn a_shift_by_the_sensitivity_changes_the_odds_by_no_more_than_epsilon() {
        for (epsilon, sensitivity, top) in [(0.7, 5, 2), (2.0, 8, 1), (1.0, 3, 3)] {
            for k in -40..=40 {
                for shift in 0..=sensitivity as i64 {
                    let ratio =
                        weight(epsilon, sensitivity, top, k) / weight(epsilon, sensitivity, top, k + shift);
                    assert!(ratio <= epsilon.exp() * (1.0 + 1e-12), "{k} + {shift}: {ratio}");
                }
            }
        }
    }

    /// Checks that every count is within 5.5 standard deviations of its expectation: a false-alarm rate below
    /// 10⁻⁶ for 21 cells. A top step that is wider by one integer is rejected.
    #[test]
    fn draws_follow_the_distribution() {
        let (epsilon, sensitivity, draws) = (1.0, 5, 400_000);
        let staircase = distribution(epsilon, sensitivity, 0.4);
        assert_eq!(staircase.top, 2);
        let mut stream = Randomness::seeded(4).streams().stream(0);
        let mut counts = [0usize; 21];
        for _ in 0..draws {
            let k = staircase.sample(&mut stream);
            if k.abs() <= 10 {
                counts[(k + 10) as usize] += 1;
            }
        }
        let follows = |top: u64| {
            let total: f64 = (-200..=200).map(|k| weight(epsilon, sensitivity, top, k)).sum();
            counts.iter().zip(-10..).all(|(&count, k)| {
                let expected = draws as f64 * weight(epsilon, sensitivity, top, k) / total;
                (count as f64 - expected).abs() < 5.5 * expected.sqrt()
            })
        };
        assert!(follows(2), "seed 4: {counts:?}");
        assert!(!follows(3), "seed 4: the test cannot tell a wider step");
    }

    #[test]
    fn the_moments_are_sums_over_the_distribution() {
        let (mut total, mut squares, mut fourths) = (0.0, 0.0, 0.0);
        for k in -2000..=2000i64 {
            total += weight(0.5, 9, 4, k);
            squares += weight(0.5, 9, 4, k) * (k * k) as f64;
            fourths += weight(0.5, 9, 4, k) * (k as f64).powi(4);
        }
        let distribution = distribution(0.5, 9, 4.0 / 9.0);
        let closed = distribution.variance();
        assert!((closed / (squares / total) - 1.0).abs() < 1e-9, "{closed}");
        let kurtosis = fourths / total / closed.powi(2);
        assert!((distribution.kurtosis() / kurtosis - 1.0).abs() < 1e-9, "{kurtosis}");
    }

    #[test]
    fn it_beats_laplace_where_epsilon_is_large_and_no_other_step_beats_it() {
        let sensitivity = 1 << 20;
        let variance = |epsilon, share| {
            distribution(epsilon, sensitivity, share).variance() / (sensitivity as f64).powi(2)
        };
        for (epsilon, gain) in [(0.01, 1.0), (1.0, 1.04), (4.0, 1.9), (8.0, 9.2)] {
            let best = variance(epsilon, best_step_share(epsilon));
            let laplace = LaplaceNoise::calibrated(&Domain::unit_box(1), epsilon).unwrap().variance();
            assert!(laplace > gain * best, "ε = {epsilon}: {laplace} and {best}");
            for share in 1..100 {
                let other = variance(epsilon, share as f64 / 100.0);
                assert!(other > best * (1.0 - 1e-6), "ε = {epsilon}: {share} % has {other}, the best {best}");
            }
        }
    }
}
