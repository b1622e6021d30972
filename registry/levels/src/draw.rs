//! Records from distributions: levels in the numbers that were estimated, in an order by chance.

use rand::Rng;
use rand::seq::SliceRandom;
use scumble_core::Stream;

/// A uniform number of [0, 1).
pub fn uniform(stream: &mut Stream) -> f64 {
    stream.r#gen()
}

/// `count` levels in these shares, as near as whole numbers come to them, in a random order. Uniform where the shares are all zero.
pub fn levels(shares: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
    let total: f64 = shares.iter().sum();
    let share = |level: usize| if total > 0.0 { shares[level] / total } else { 1.0 / shares.len() as f64 };
    // Systematic sampling: one uniform number places a comb of `count` teeth over the shares.
    let offset = uniform(stream);
    let (mut drawn, mut sum, mut level) = (Vec::with_capacity(count), share(0), 0);
    for tooth in 0..count {
        let at = (tooth as f64 + offset) / count as f64;
        while at >= sum && level + 1 < shares.len() {
            level += 1;
            sum += share(level);
        }
        drawn.push(level);
    }
    drawn.shuffle(stream);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    #[test]
    fn levels_come_in_their_shares() {
        let mut stream = Randomness::seeded(3).streams().stream(0);
        let count = |shares: &[f64], of: usize, stream: &mut Stream| {
            levels(shares, of, stream).iter().fold(vec![0; shares.len()], |mut counts, &level| {
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
