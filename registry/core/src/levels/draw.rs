//! Random levels for synthetic records: in given proportions, and in random order.

use crate::Stream;
use rand::Rng;
use rand::seq::SliceRandom;

/// Draws a number uniformly from [0, 1).
pub fn uniform(stream: &mut Stream) -> f64 {
    stream.r#gen()
}

/// Share of each count in the sum of `counts`. A negative count has share 0. If no count is positive, all
/// shares are equal.
pub fn shares(counts: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let counts: Vec<f64> = counts.into_iter().map(|count| count.max(0.0)).collect();
    let sum: f64 = counts.iter().sum();
    let even = 1.0 / counts.len() as f64;
    counts.iter().map(|count| if sum > 0.0 { count / sum } else { even }).collect()
}

/// Draws `count` levels in random order, with frequencies proportional to `shares`. The number of draws of a
/// level is its expected number, rounded up or down at random. If no share is positive, the levels are
/// equally frequent.
pub fn levels(shares: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
    let shares = self::shares(shares.iter().copied());
    // Systematic sampling: the levels divide [0, 1) into intervals as long as their shares. `count` points at
    // equal distances, shifted by one random `offset`, draw the levels of the intervals that contain them.
    let offset = uniform(stream);
    let (mut drawn, mut sum, mut level) =
        (Vec::with_capacity(count), shares.first().copied().unwrap_or(1.0), 0);
    for tooth in 0..count {
        let at = (tooth as f64 + offset) / count as f64;
        while at >= sum && level + 1 < shares.len() {
            level += 1;
            sum += shares[level];
        }
        drawn.push(level);
    }
    drawn.shuffle(stream);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomness;

    #[test]
    fn levels_come_in_their_shares() {
        let mut stream = Randomness::seeded(3).streams().stream(0);
        let count = |shares: &[f64], total: usize, stream: &mut Stream| {
            levels(shares, total, stream).iter().fold(vec![0; shares.len()], |mut counts, &level| {
                counts[level] += 1;
                counts
            })
        };
        assert_eq!(count(&[0.5, 0.0, 0.25, 0.25], 400, &mut stream), [200, 0, 100, 100]);
        assert_eq!(count(&[0.0, 0.0], 100, &mut stream), [50, 50]);
        assert_eq!(count(&[3.0], 7, &mut stream), [7]);
        assert!(levels(&[0.5, 0.5], 0, &mut stream).is_empty());
    }
}
