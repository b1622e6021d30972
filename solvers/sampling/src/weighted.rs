//! Distributions defined by a table of integers.

use crate::{Error, Result};
use rand_core::RngCore;
use std::sync::Arc;

/// The distribution P(k) = wₖ/Σw on {0, …, K − 1} for integers wₖ.
///
/// A draw consists of a uniform integer below Σw. The result is the index at which the running sum of the wₖ
/// first exceeds this integer, found in log₂ K comparisons. Cloning a distribution is free.
///
/// ```
/// use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};
/// use scumble_sampling::Weighted;
///
/// let distribution = Weighted::new(&[1, 0, 3])?;
/// let mut rng = ChaCha20Rng::seed_from_u64(7);
/// let draws: Vec<usize> = (0..400).map(|_| distribution.sample(&mut rng)).collect();
/// assert!(!draws.contains(&1));
/// assert!((70..130).contains(&draws.iter().filter(|&&k| k == 0).count()));
/// # Ok::<(), scumble_sampling::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Weighted {
    /// The running sums w₀, w₀ + w₁, …, Σw.
    sums: Arc<[u128]>,
}

impl Weighted {
    /// Creates the distribution of `weights` (K values).
    ///
    /// # Errors
    /// [`Error::NoWeight`] if all weights are zero, or `weights` is empty.
    pub fn new(weights: &[u64]) -> Result<Self> {
        let sums: Arc<[u128]> = weights
            .iter()
            .scan(0u128, |sum, &weight| {
                *sum += u128::from(weight);
                Some(*sum)
            })
            .collect();
        if sums.last().is_none_or(|total| *total == 0) {
            return Err(Error::NoWeight { length: weights.len() });
        }
        Ok(Self { sums })
    }

    /// One draw.
    #[inline]
    pub fn sample<R: RngCore + ?Sized>(&self, rng: &mut R) -> usize {
        let total = self.sums.last().copied().unwrap_or(1);
        let mask = u128::MAX >> (total - 1).leading_zeros().min(127);
        loop {
            // The candidate is uniform by rejection, and takes one word, or two if `total` needs more than 64
            // bits.
            let high = if mask > u128::from(u64::MAX) { u128::from(rng.next_u64()) << 64 } else { 0 };
            let candidate = (high | u128::from(rng.next_u64())) & mask;
            if candidate < total {
                return self.sums.partition_point(|sum| *sum <= candidate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn weights_of_nothing_are_refused() {
        assert_eq!(Weighted::new(&[]).unwrap_err(), Error::NoWeight { length: 0 });
        assert_eq!(Weighted::new(&[0, 0]).unwrap_err(), Error::NoWeight { length: 2 });
    }

    #[test]
    fn one_weight_is_always_drawn() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        for weights in [vec![1], vec![0, 0, 5], vec![u64::MAX], vec![0, u64::MAX, 0]] {
            let distribution = Weighted::new(&weights).unwrap();
            let at = weights.iter().position(|weight| *weight > 0).unwrap();
            assert!((0..50).all(|_| distribution.sample(&mut rng) == at), "{weights:?}");
        }
    }

    /// χ² of 10⁵ draws for each of three tables. The false-alarm rate is 10⁻⁶ a table (the 1 − 10⁻⁶ quantile
    /// of χ² with 4 degrees of freedom is 33.4).
    #[test]
    fn draws_have_the_weights_of_the_table() {
        const DRAWS: usize = 100_000;
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let large = 1u64 << 62;
        for weights in [[1, 2, 3, 4, 5], [large, large - 1, large / 2, large / 3, large / 7], [7, 1, 7, 1, 7]]
        {
            let distribution = Weighted::new(&weights).unwrap();
            let mut counts = [0usize; 5];
            (0..DRAWS).for_each(|_| counts[distribution.sample(&mut rng)] += 1);
            let total: f64 = weights.iter().map(|weight| *weight as f64).sum();
            let chi_squared: f64 = counts
                .iter()
                .zip(weights)
                .map(|(count, weight)| {
                    let expected = DRAWS as f64 * weight as f64 / total;
                    (*count as f64 - expected).powi(2) / expected
                })
                .sum();
            assert!(chi_squared < 33.4, "{weights:?}: {counts:?}, χ² = {chi_squared}");
        }
    }
}
