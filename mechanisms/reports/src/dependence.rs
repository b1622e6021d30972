//! Dependence of columns and the label in noisy answers. Collectors keep a part of it.

use scumble_oracles::{Counts, Oracle};

/// Covariances of a column's levels and the label, from noisy answers.
struct Dependence {
    /// Sum S of the squares of all covariances.
    squares: f64,
    /// Part of S that noise is expected to add.
    noise: f64,
    /// Standard deviation of S without a dependence.
    deviation: f64,
}

impl Dependence {
    /// Dependence in the answers about a column by `oracle`. `shares` has the share of each label.
    ///
    /// Noise with the variance v of each frequency adds v·((1 − πₗ)² + (L − 1)·πₗ²) to the square of the
    /// covariance of a level and the label l of L, where πₗ is the label's share.
    fn new(counts: &Counts, oracle: &Oracle, shares: &[f64]) -> Self {
        let labels = shares.len();
        let levels = (oracle.levels() as f64 / labels as f64).max(1.0);
        let answers = counts.answers() as f64;
        if answers == 0.0 {
            return Self { squares: 0.0, noise: 1.0, deviation: 1.0 };
        }
        let frequencies = counts.frequencies(oracle);
        let of_level = |row: &[f64]| -> f64 {
            let level: f64 = row.iter().sum();
            row.iter().zip(shares).map(|(pair, share)| (pair - level * share).powi(2)).sum()
        };
        let of_label = |share: &f64| (1.0 - share).powi(2) + share * share * (labels - 1) as f64;
        let noise = levels * shares.iter().map(of_label).sum::<f64>() * oracle.variance(0.0) / answers;
        let squares = frequencies.chunks(labels).map(of_level).sum();
        Self { squares, noise, deviation: noise * (2.0 / levels).sqrt() }
    }

    fn precision(&self) -> f64 {
        self.deviation.powi(-2)
    }
}

/// Part of the estimated dependence of each column and the label that is kept. It is 1 for the column that
/// keeps most.
///
/// Noise makes dependences look stronger than they are, most of all those of columns with many levels. The
/// strength t of a dependence is estimated by S less its noise, and drawn to the mean strength of all columns
/// by the precisions of both. The part t/(t + noise) of the covariances has the least expected squared error
/// (empirical Bayes). Only the relative part is kept. A common factor would leave less to learn than the
/// noise permits, if it hides most of the dependence of all columns.
///
/// `shares` has the share of each label. Without noise, all is kept.
pub(crate) fn kept(counted: &[Counts], oracles: &[Oracle], shares: &[f64]) -> Vec<f64> {
    let found = counted.iter().zip(oracles).map(|(counts, oracle)| Dependence::new(counts, oracle, shares));
    let found: Vec<Dependence> = found.collect();
    if found.iter().any(|of| of.noise <= 0.0) {
        return vec![1.0; found.len()];
    }
    let precisions: f64 = found.iter().map(Dependence::precision).sum();
    let weighted = found.iter().map(|of| of.precision() * (of.squares - of.noise)).sum::<f64>();
    let mean = (weighted / precisions).max(0.0);
    let part = |of: &Dependence| {
        // The strengths of columns are thought to differ by √2 times their mean.
        let (own, prior) = (of.precision(), 0.5 / (mean * mean).max(f64::MIN_POSITIVE));
        let strength = (own * (of.squares - of.noise).max(0.0) + prior * mean) / (own + prior);
        strength / (strength + of.noise)
    };
    let parts: Vec<f64> = found.iter().map(part).collect();
    let most = parts.iter().fold(0.0, |most: f64, part| most.max(*part));
    parts.iter().map(|part| if most > 0.0 { part / most } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    /// Answers at this ε about a column of two levels that depends on a binary label, and about one of twenty
    /// that does not.
    fn parts(epsilon: f64, people: u64, seed: u64) -> Vec<f64> {
        let mut stream = Randomness::seeded(seed).streams().stream(0);
        let oracles = [4, 40].map(|levels| Oracle::best(levels, epsilon).unwrap());
        let counted: Vec<Counts> = oracles
            .iter()
            .map(|oracle| {
                let mut counts = Counts::new(oracle);
                let mut answer = vec![0; oracle.words()];
                for person in 0..people {
                    let label = person % 2;
                    // Three of four people with the label 1 have the level 1.
                    let level = match oracle.levels() {
                        4 => u64::from((person / 2 % 4 == 0) != (label == 1)),
                        _ => person / 2 % 20,
                    };
                    oracle.answer(&mut stream, level * 2 + label, &mut answer);
                    counts.add(oracle, &answer).unwrap();
                }
                counts
            })
            .collect();
        kept(&counted, &oracles, &[0.5, 0.5])
    }

    #[test]
    fn little_is_kept_of_a_dependence_that_is_noise() {
        for seed in 0..20 {
            let parts = parts(1.0, 2000, seed);
            assert!(parts[0] == 1.0 && parts[1] < 0.7, "seed {seed}: {parts:?}");
        }
        assert_eq!(parts(f64::INFINITY, 200, 1), [1.0, 1.0]);
        assert!(parts(1.0, 0, 1).iter().all(|part| *part == 1.0), "no answers");
    }
}
