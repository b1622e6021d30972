//! Standard normal numbers that anybody can reproduce from a seed, and the cosines of uniform directions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::f64::consts::TAU;

/// A sequence of independent standard normal numbers that follows from a seed.
///
/// Words of ChaCha8 become normal numbers by the transform of Box and Muller (1958). This code and the
/// definition of ChaCha specify the numbers fully, so programs with other versions of libraries compute the
/// same numbers.
pub(crate) struct Normals {
    rng: ChaCha8Rng,
}

impl Normals {
    /// The numbers of the frame of `seed`.
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self::keyed(seed, 0)
    }

    /// The numbers of the public code `number`.
    pub(crate) fn for_code(number: u64) -> Self {
        Self::keyed(number, 1)
    }

    fn keyed(seed: u64, purpose: u8) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose;
        Self { rng: ChaCha8Rng::from_seed(key) }
    }

    /// Fills `numbers`.
    pub(crate) fn fill(&mut self, numbers: &mut [f64]) {
        for pair in numbers.chunks_mut(2) {
            let normal = self.normal_pair();
            pair.copy_from_slice(&normal[..pair.len()]);
        }
    }

    fn normal_pair(&mut self) -> [f64; 2] {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (TAU * self.uniform()).sin_cos();
        [radius * cos, radius * sin]
    }

    /// Draws a midpoint of one of 2⁵² equal parts of (0, 1) uniformly. It is never 0 or 1, so no radius
    /// √(−2·ln u) of the transform of Box and Muller, for the uniform number u, is zero or infinite.
    fn uniform(&mut self) -> f64 {
        ((self.rng.next_u64() >> 12) as f64 + 0.5) * (-52f64).exp2()
    }
}

/// Expected sum of the powers, with exponent `power`, of the s largest of `pairs` independent numbers
/// distributed as |⟨u, V⟩|, for each s = 0, …, `pairs`.
///
/// V is a uniform direction of `dim` dimensions and u is any unit vector. For each pair of opposite
/// directions, the number is the inner product of u with the direction of the pair that is nearer to u.
pub(crate) fn largest_cosines(dim: usize, pairs: usize, power: i32) -> Vec<f64> {
    /// The even number of intervals of Simpson's rule over the angle φ in [0, π/2], where the density is
    /// proportional to sin^(d−2) φ for d = `dim`.
    const INTERVALS: usize = 2048;
    let step = std::f64::consts::FRAC_PI_2 / INTERVALS as f64;
    let density = |angle: f64| angle.sin().powi(dim as i32 - 2);
    // The integral of the density up to the end of each interval, by Simpson's rule on each interval.
    let mut below = vec![0.0];
    for at in 0..INTERVALS {
        let from = at as f64 * step;
        let area = density(from) + 4.0 * density(from + step / 2.0) + density(from + step);
        below.push(below[at] + area * step / 6.0);
    }
    let all = below[INTERVALS];
    let ln_choose = ln_choose(pairs - 1);
    let mut sums = vec![0.0; pairs + 1];
    for (at, below) in below.iter().enumerate() {
        let angle = at as f64 * step;
        let weight = match at {
            0 | INTERVALS => 1.0,
            _ if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let contribution =
            pairs as f64 * angle.cos().powi(power) * density(angle) / all * weight * step / 3.0;
        let (inside, outside) = ((below / all).ln(), (1.0 - below / all).max(0.0).ln());
        let mut at_most = 0.0;
        for (others, ln_choose) in ln_choose.iter().enumerate() {
            // `others` of the other pairs are nearer to u than this pair.
            let power = |count: usize, ln: f64| if count == 0 { 0.0 } else { count as f64 * ln };
            at_most += (ln_choose + power(others, inside) + power(pairs - 1 - others, outside)).exp();
            sums[others + 1] += contribution * at_most;
        }
    }
    sums
}

/// The logarithms of the binomial coefficients of `n` over 0, …, `n`.
fn ln_choose(n: usize) -> Vec<f64> {
    let mut ln = vec![0.0];
    for k in 1..=n {
        ln.push(ln[k - 1] + ((n - k + 1) as f64 / k as f64).ln());
    }
    ln
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn cosines_are_those_of_closed_forms() {
        use std::f64::consts::{FRAC_2_PI, PI};
        // One direction: the mean of |cos| on a circle, and the mean of a uniform number on a sphere.
        assert_relative_eq!(largest_cosines(2, 1, 1)[1], FRAC_2_PI, max_relative = 1e-9);
        assert_relative_eq!(largest_cosines(3, 1, 1)[1], 0.5, max_relative = 1e-9);
        assert_relative_eq!(largest_cosines(4, 1, 1)[1], 4.0 / (3.0 * PI), max_relative = 1e-9);
        // Order statistics of uniform numbers: the largest of n has the mean n/(n + 1), the next has
        // (n − 1)/(n + 1).
        for (at, sum) in largest_cosines(3, 512, 1).iter().enumerate() {
            let expected = (0..at).map(|rank| (512 - rank) as f64 / 513.0).sum::<f64>();
            assert_relative_eq!(*sum, expected, max_relative = 1e-6);
        }
        // The square of the k-th smallest of n uniform numbers has the mean k·(k + 1)/((n + 1)·(n + 2)). In d
        // dimensions, the mean square of one direction is 1/d.
        for (at, sum) in largest_cosines(3, 512, 2).iter().enumerate() {
            let square = |rank: usize| ((512 - rank) * (513 - rank)) as f64 / (513.0 * 514.0);
            assert_relative_eq!(*sum, (0..at).map(square).sum::<f64>(), max_relative = 1e-6);
        }
        for dim in [2, 5, 40] {
            assert_relative_eq!(largest_cosines(dim, 1, 2)[1], 1.0 / dim as f64, max_relative = 1e-9);
        }
    }

    #[test]
    fn a_seed_has_the_numbers_that_it_had() {
        let fill = |mut normals: Normals| {
            let mut numbers = [0.0; 3];
            normals.fill(&mut numbers);
            numbers
        };
        let first = fill(Normals::from_seed(7));
        assert_eq!(first, fill(Normals::from_seed(7)));
        assert_ne!(first, fill(Normals::from_seed(8)));
        assert_ne!(first, fill(Normals::for_code(7)));
    }
}
