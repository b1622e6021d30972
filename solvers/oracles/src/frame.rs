//! Random frames: orthonormal vectors that anybody can reproduce from a seed.

use crate::directions::Normals;

/// Frame of `rank` orthonormal vectors of `dim` dimensions, uniform among all such frames.
///
/// It consists of the first columns of a uniform orthogonal matrix, a product of reflections (Stewart 1980;
/// Diaconis and Shahshahani 1987). Reflection k takes the unit vector k to the direction of a normal vector
/// of `dim` − k dimensions, and leaves the unit vectors before k unchanged. The matrix itself is never
/// computed: a reflection of a vector of n dimensions costs 4·n operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) dim: usize,
    pub(crate) rank: usize,
}

impl Frame {
    /// Inner products of `vector` (`dim` values) with the vectors of the frame of `seed`.
    pub(crate) fn coordinates(self, seed: u64, vector: &[f64]) -> Vec<f64> {
        let (mut normals, mut normal) = (Normals::from_seed(seed), vec![0.0; self.dim]);
        let mut coordinates = vector.to_vec();
        for at in 0..self.rank {
            normals.fill(&mut normal[at..]);
            reflect(&normal[at..], &mut coordinates[at..]);
        }
        coordinates.truncate(self.rank);
        coordinates
    }

    /// Sum of the vectors of the frame of `seed`, weighted by `coordinates` (`rank` values).
    pub(crate) fn vector(self, seed: u64, coordinates: &[f64]) -> Vec<f64> {
        let mut normals = Normals::from_seed(seed);
        let reflections: Vec<Vec<f64>> = (0..self.rank)
            .map(|at| {
                let mut normal = vec![0.0; self.dim - at];
                normals.fill(&mut normal);
                normal
            })
            .collect();
        let mut vector = coordinates.to_vec();
        vector.resize(self.dim, 0.0);
        for (at, normal) in reflections.iter().enumerate().rev() {
            reflect(normal, &mut vector[at..]);
        }
        vector
    }

    /// Mean length of the [`coordinates`](Self::coordinates) of a unit vector. Their squared length has a
    /// beta distribution with the parameters `rank`/2 and (`dim` − `rank`)/2.
    pub(crate) fn mean_length(self) -> f64 {
        mean_of_chi(self.rank) / mean_of_chi(self.dim)
    }
}

/// Mean of the length of `n` independent standard normal numbers, divided by √2: Γ((n + 1)/2)/Γ(n/2).
fn mean_of_chi(n: usize) -> f64 {
    (1..n).fold(std::f64::consts::PI.sqrt().recip(), |mean, n| n as f64 / (2.0 * mean))
}

/// Applies the orthogonal map F to `vector`. F takes the first unit vector to x/|x|, where x is `normal`, and
/// is its own inverse.
///
/// With the sign σ of the first coordinate of x and v = x + σ·|x|·e₁, F is −σ·(1 − 2·v·vᵀ/|v|²).
fn reflect(normal: &[f64], vector: &mut [f64]) {
    let ([first, ..], [start, ..]) = (normal, &*vector) else { return };
    let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
    let sign = 1f64.copysign(*first);
    let product = normal.iter().zip(&*vector).map(|(x, y)| x * y).sum::<f64>() + sign * length * start;
    let factor = product / (length * (length + first.abs()));
    for (y, x) in vector.iter_mut().zip(normal) {
        *y = sign * (factor * x - *y);
    }
    vector[0] += factor * length;
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn dot(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn frames_are_orthonormal_and_follow_from_the_seed() {
        for (dim, rank) in [(2, 2), (5, 3), (9, 9), (30, 1)] {
            let frame = Frame { dim, rank };
            let unit =
                |at: usize| (0..rank).map(|other| f64::from(u8::from(at == other))).collect::<Vec<_>>();
            let vectors: Vec<Vec<f64>> = (0..rank).map(|at| frame.vector(7, &unit(at))).collect();
            for (at, one) in vectors.iter().enumerate() {
                for (other, vector) in vectors.iter().enumerate() {
                    let expected = if at == other { 1.0 } else { 0.0 };
                    assert!((dot(one, vector) - expected).abs() < 1e-12, "{dim}, {rank}");
                }
            }
            let vector: Vec<f64> = (0..dim).map(|at| (at as f64).sin()).collect();
            for (coordinate, own) in frame.coordinates(7, &vector).iter().zip(&vectors) {
                assert!((coordinate - dot(&vector, own)).abs() < 1e-12);
            }
            assert_ne!(frame.vector(8, &unit(0)), vectors[0]);
        }
    }

    /// A uniform frame has moments that no rotation changes: E⟨e, r₁⟩² = 1/d, E⟨e, r₁⟩⁴ = 3/(d(d + 2)), and
    /// E⟨e, r₁⟩²⟨e, r₂⟩² = 1/(d(d + 2)), for any unit vector e. The tolerance is six standard errors.
    #[test]
    fn frames_are_uniform() {
        const FRAMES: u64 = 20_000;
        let (frame, dim) = (Frame { dim: 5, rank: 3 }, 5.0);
        let directions = [vec![1.0, 0.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, 0.0, 0.6, -0.8]];
        for vector in directions {
            let mut moments = [0.0; 4];
            let mut length = 0.0;
            for seed in 0..FRAMES {
                let found = frame.coordinates(seed, &vector);
                let (one, other) = (found[0], found[2]);
                let terms = [one, one.powi(2), one.powi(4), (one * other).powi(2)];
                moments.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term / FRAMES as f64);
                length += dot(&found, &found).sqrt() / FRAMES as f64;
            }
            let fourth = 1.0 / (dim * (dim + 2.0));
            for (moment, expected) in moments.iter().zip([0.0, 1.0 / dim, 3.0 * fourth, fourth]) {
                assert!((moment - expected).abs() < 6.0 * 0.45 / (FRAMES as f64).sqrt(), "{moments:?}");
            }
            assert!((length - frame.mean_length()).abs() < 6.0 * 0.2 / (FRAMES as f64).sqrt(), "{length}");
        }
    }

    #[test]
    fn mean_lengths_are_those_of_closed_forms() {
        // One coordinate of a circle and of a sphere, and all coordinates.
        assert_relative_eq!(Frame { dim: 2, rank: 1 }.mean_length(), std::f64::consts::FRAC_2_PI);
        assert_relative_eq!(Frame { dim: 3, rank: 1 }.mean_length(), 0.5, max_relative = 1e-12);
        assert_relative_eq!(Frame { dim: 4096, rank: 4096 }.mean_length(), 1.0);
        // For many dimensions, √(r/d)·(1 − 1/(4r) + 1/(4d)).
        let expected = 0.25 * (1.0 - 1.0 / 1024.0 + 1.0 / 16384.0);
        assert_relative_eq!(Frame { dim: 4096, rank: 256 }.mean_length(), expected, max_relative = 1e-6);
    }
}
