//! Random bits that noise consumes, compared with its entropy and with the rate of the generator.

use crate::{Contestant, Result, threads};
use rand::{Error, RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;
use std::f64::consts::{E, LN_2, PI};

/// Number of bytes drawn at a time, as in bulk draws of noise.
const AT_A_TIME: usize = 4096;

/// Creates a contestant that draws raw ChaCha20 output: `bits` bits for each of `values` values.
pub(crate) fn raw(name: &str, bits: f64, values: usize) -> Contestant {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    Contestant::timed(name, values, move || {
        take(&mut rng, bits * values as f64);
        Ok(())
    })
}

/// Creates a contestant that draws `bits` raw bits, divided equally among `threads` threads. Its time is for
/// all these bits together.
pub(crate) fn raw_on(threads: usize, bits: f64) -> Result<Contestant> {
    let pool = threads::pool(threads)?;
    let mut streams: Vec<_> = (0..threads as u64).map(ChaCha20Rng::seed_from_u64).collect();
    let name = format!("raw ChaCha20, as many bits as the exact noise takes, {}", threads::named(threads));
    Ok(Contestant::timed(name, 1, move || {
        pool.install(|| streams.par_iter_mut().for_each(|rng| take(rng, bits / threads as f64)));
        Ok(())
    }))
}

fn take(rng: &mut ChaCha20Rng, bits: f64) {
    let mut bytes = [0; AT_A_TIME];
    for _ in 0..(bits / 8.0 / AT_A_TIME as f64).ceil() as usize {
        rng.fill_bytes(&mut bytes);
        std::hint::black_box(&mut bytes);
    }
}

/// Returns the mean number of random bits that a call of `draw` uses.
pub(crate) fn bits_per_draw<T>(draws: usize, mut draw: impl FnMut(&mut Counted) -> T) -> f64 {
    let mut rng = Counted { rng: ChaCha20Rng::seed_from_u64(1), bytes: 0 };
    (0..draws).for_each(|_| drop(draw(&mut rng)));
    8.0 * rng.bytes as f64 / draws as f64
}

/// Generator that counts the drawn bytes.
pub(crate) struct Counted {
    rng: ChaCha20Rng,
    bytes: u64,
}

impl RngCore for Counted {
    fn next_u32(&mut self) -> u32 {
        self.bytes += 4;
        self.rng.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.bytes += 8;
        self.rng.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.bytes += bytes.len() as u64;
        self.rng.fill_bytes(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

/// Returns the entropy in bits of the discrete Laplace distribution of scale t: −log₂ tanh(1/(2t)) +
/// 1/(t·sinh(1/t)·ln 2).
pub(crate) fn laplace_entropy(scale: f64) -> f64 {
    let rate = 1.0 / scale;
    -(rate / 2.0).tanh().log2() + rate / (rate.sinh() * LN_2)
}

/// Returns log₂ σ√(2πe), an approximation of the entropy in bits of the discrete Gaussian distribution of
/// scale σ. Its error is negligible from σ = 2 on.
pub(crate) fn gaussian_entropy(scale: f64) -> f64 {
    (scale * (2.0 * PI * E).sqrt()).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the entropy by its definition, for a distribution with these weights at 0, ±1, ±2, ….
    fn entropy(weight: impl Fn(f64) -> f64) -> f64 {
        let weights: Vec<f64> = (-1000..=1000).map(|k| weight(f64::from(k))).collect();
        let mass: f64 = weights.iter().sum();
        let shares = weights.iter().map(|weight| weight / mass).filter(|share| *share > 0.0);
        shares.map(|share| -share * share.log2()).sum()
    }

    #[test]
    fn entropies_are_those_of_the_definition() {
        for scale in [0.5, 2.0, 20.0] {
            let defined = entropy(|k| (-k.abs() / scale).exp());
            assert!((laplace_entropy(scale) - defined).abs() < 1e-9, "{scale}: {defined}");
        }
        for scale in [2.0, 20.0] {
            let defined = entropy(|k| (-0.5 * (k / scale).powi(2)).exp());
            assert!((gaussian_entropy(scale) - defined).abs() < 1e-9, "{scale}: {defined}");
        }
    }

    #[test]
    fn every_way_to_draw_is_counted() {
        let bits = bits_per_draw(10, |rng| {
            rng.next_u32();
            rng.next_u64();
            rng.fill_bytes(&mut [0; 5]);
            rng.try_fill_bytes(&mut [0; 7]).unwrap();
        });
        assert_eq!(bits, 8.0 * (4 + 8 + 5 + 7) as f64);
    }
}
