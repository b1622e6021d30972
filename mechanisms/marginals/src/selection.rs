//! Choosing one of some candidates by the exponential mechanism, exactly.

use scumble_core::{Result, Stream};
use scumble_sampling::{Rational, bernoulli_exp, uniform_below};
use std::num::NonZeroU64;

/// Binary digits of a rate behind the point.
const DIGITS: u32 = 40;

/// The exponential mechanism (McSherry and Talwar 2007) on whole-numbered scores: a candidate with score u is chosen with probability ∝ exp(ε·u/2Δ).
///
/// The rate ε/2Δ is rounded down to 40 binary digits, and then the distribution is exact: a candidate is proposed uniformly at random and kept with probability
/// exp(−rate·(max u − u)), until one is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection {
    /// rate·2⁴⁰.
    rate: u64,
}

impl Selection {
    /// Of ε-bounded range where one record changes no score by more than `sensitivity`, Δ.
    pub(crate) fn new(epsilon: f64, sensitivity: u64) -> Self {
        let rate = epsilon / (2.0 * sensitivity.max(1) as f64) * 2f64.powi(DIGITS as i32);
        // A cast truncates, and saturates far beyond what any score needs.
        Self { rate: rate as u64 }
    }

    /// The place of one of the scores, of which there is one or more.
    pub(crate) fn choose(self, scores: &[i64], stream: &mut Stream) -> Result<usize> {
        let best = scores.iter().copied().max().unwrap_or_default();
        let Some(count) = NonZeroU64::new(scores.len() as u64) else { return Ok(0) };
        loop {
            let proposed = uniform_below(stream, count) as usize;
            let exponent = u128::from(self.rate) * u128::from(best.abs_diff(scores[proposed]));
            let whole = u64::try_from(exponent >> DIGITS).unwrap_or(u64::MAX);
            let rest = (exponent & ((1 << DIGITS) - 1)) as u64;
            let kept = bernoulli_exp(stream, Rational::new(whole, 1)?)
                && bernoulli_exp(stream, Rational::new(rest, 1 << DIGITS)?);
            if kept {
                return Ok(proposed);
            }
        }
    }

    /// The logarithm of the probability of a choice.
    pub(crate) fn log_likelihood(self, scores: &[i64], chosen: usize) -> f64 {
        let best = scores.iter().copied().max().unwrap_or_default();
        let rate = self.rate as f64 / 2f64.powi(DIGITS as i32);
        let log_weight = |score: i64| -rate * best.abs_diff(score) as f64;
        let all: f64 = scores.iter().map(|score| log_weight(*score).exp()).sum();
        scores.get(chosen).map_or(f64::NEG_INFINITY, |score| log_weight(*score) - all.ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    /// 40,000 choices: within five standard errors of the closed form, false with probability 3·10⁻⁶.
    #[test]
    fn candidates_are_chosen_in_proportion_to_their_weights() {
        let scores = [30, 0, -12, 31, 25];
        let selection = Selection::new(0.8, 4);
        let weights = scores.map(|score| (0.1 * f64::from(score as i32)).exp());
        let mut stream = Randomness::seeded(2).streams().stream(0);
        let mut counts = [0.0; 5];
        const CHOICES: f64 = 40_000.0;
        for _ in 0..CHOICES as usize {
            counts[selection.choose(&scores, &mut stream).unwrap()] += 1.0;
        }
        for (at, (weight, count)) in weights.iter().zip(counts).enumerate() {
            let share = weight / weights.iter().sum::<f64>();
            let error = (CHOICES * share * (1.0 - share)).sqrt();
            assert!((count - CHOICES * share).abs() < 5.0 * error, "{at}: {count} of {share}");
            assert!((selection.log_likelihood(&scores, at) - share.ln()).abs() < 1e-9);
        }
    }

    #[test]
    fn without_privacy_the_best_is_chosen() {
        let selection = Selection::new(f64::INFINITY, 1);
        let mut stream = Randomness::seeded(2).streams().stream(0);
        assert!((0..100).all(|_| selection.choose(&[7, 8, -9], &mut stream).unwrap() == 1));
    }
}
