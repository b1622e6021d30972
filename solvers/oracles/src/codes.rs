//! Public codes: lists of unit vectors that are the same for everybody.

use crate::directions::Normals;
use std::sync::{Arc, OnceLock};

/// Upper bound on the numbers of all codes together, 8 MiB.
const MOST_NUMBERS: usize = 1 << 20;

/// Upper bound on the number of codes.
const MOST_CODES: usize = 1 << 12;

/// Codes of `pairs` unit vectors of `rank` dimensions. They are independent and uniform, and are drawn when
/// they are first used.
#[derive(Debug, Clone)]
pub(crate) struct Codes {
    rank: usize,
    pairs: usize,
    /// The coordinates of each code: those of all vectors along the first dimension, then along the second,
    /// and so on. Their number is a power of two.
    codes: Arc<[OnceLock<Vec<f64>>]>,
}

impl Codes {
    pub(crate) fn new(rank: usize, pairs: usize) -> Self {
        let most = (MOST_NUMBERS / (rank * pairs)).clamp(1, MOST_CODES);
        Self { rank, pairs, codes: (0..1 << most.ilog2()).map(|_| OnceLock::new()).collect() }
    }

    /// The code of `seed`.
    fn code(&self, seed: u64) -> &[f64] {
        let number = seed % self.codes.len() as u64;
        self.codes[number as usize].get_or_init(|| {
            let (mut normals, mut vector) = (Normals::for_code(number), vec![0.0; self.rank]);
            let mut code = vec![0.0; self.rank * self.pairs];
            for pair in 0..self.pairs {
                normals.fill(&mut vector);
                let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
                for (at, x) in vector.iter().enumerate() {
                    code[at * self.pairs + pair] = x / length;
                }
            }
            code
        })
    }

    /// Inner products of `vector` (`rank` values) with all vectors of the code of `seed`.
    pub(crate) fn products(&self, seed: u64, vector: &[f64]) -> Vec<f64> {
        let mut products = vec![0.0; self.pairs];
        for (x, along) in vector.iter().zip(self.code(seed).chunks_exact(self.pairs)) {
            products.iter_mut().zip(along).for_each(|(product, y)| *product += x * y);
        }
        products
    }

    /// The vector at index `pair` of the code of `seed`.
    pub(crate) fn vector(&self, seed: u64, pair: usize) -> Vec<f64> {
        self.code(seed).iter().skip(pair).step_by(self.pairs).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_unit_vectors_and_a_bounded_size() {
        for (rank, pairs) in [(2, 1), (3, 8), (17, 512), (77, 512)] {
            let codes = Codes::new(rank, pairs);
            assert!(codes.codes.len() * rank * pairs <= MOST_NUMBERS && codes.codes.len() >= 16);
            let vector = codes.vector(5, pairs - 1);
            assert_eq!(vector.len(), rank);
            let products = codes.products(5, &vector);
            assert!((products[pairs - 1] - 1.0).abs() < 1e-12 && products.len() == pairs);
            assert_ne!(codes.vector(5, 0), codes.vector(6, 0));
            assert_eq!(codes.vector(5 + (1 << 20), 0), codes.vector(5, 0));
        }
    }
}
