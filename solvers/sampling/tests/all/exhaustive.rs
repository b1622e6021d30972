//! All sequences of a coin's first words, with their probabilities in fractions. The results that they decide
//! bound the coin's distribution from both sides.

use num_bigint::BigUint;
use num_rational::Ratio;
use rand_core::{Error, RngCore};
use scumble_sampling::{Rational, bernoulli, bernoulli_exp, randomized_response, subset};
use std::num::NonZeroU64;

/// A generator that returns given words below 2^BITS; the tests enumerate all sequences. After the last word
/// it returns arbitrary words, and the result is not counted.
struct Script<'a> {
    words: &'a [u64],
    taken: usize,
}

const BITS: u32 = 3; // every bound in these tests fits
const LENGTH: usize = 6;

impl RngCore for Script<'_> {
    fn next_u64(&mut self) -> u64 {
        let word = self.words.get(self.taken).copied();
        self.taken += 1;
        word.unwrap_or((self.taken as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 29)
    }
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }
    fn fill_bytes(&mut self, _bytes: &mut [u8]) {
        unreachable!("the samplers take words")
    }
    fn try_fill_bytes(&mut self, _bytes: &mut [u8]) -> Result<(), Error> {
        unreachable!("the samplers take words")
    }
}

/// The probability of each result below `results` that the first words decide, and the probability that they
/// decide none.
fn decided(results: usize, mut draw: impl FnMut(&mut Script) -> usize) -> (Vec<f64>, f64) {
    let mut counts = vec![0u64; results];
    let all = 1u64 << (BITS as usize * LENGTH);
    for way in 0..all {
        let words: Vec<u64> = (0..LENGTH).map(|at| way >> (BITS as usize * at) & ((1 << BITS) - 1)).collect();
        let mut script = Script { words: &words, taken: 0 };
        let result = draw(&mut script);
        if script.taken <= LENGTH {
            counts[result] += 1;
        }
    }
    let fraction = |count: u64| {
        let fraction = Ratio::new(BigUint::from(count), BigUint::from(all));
        num_traits::ToPrimitive::to_f64(&fraction).unwrap()
    };
    let open = fraction(all - counts.iter().sum::<u64>());
    (counts.into_iter().map(fraction).collect(), open)
}

/// The decided results bound the distribution, and little probability is undecided. A distribution 5 % off is
/// outside the bounds.
#[track_caller]
fn brackets(draw: impl FnMut(&mut Script) -> usize, distribution: &[f64], wrong: &[f64]) {
    let (decided, open) = decided(distribution.len(), draw);
    let holds = |distribution: &[f64]| {
        distribution
            .iter()
            .zip(&decided)
            .all(|(p, least)| (*least - 1e-15..=least + open + 1e-15).contains(p))
    };
    assert!(holds(distribution), "{distribution:?} is not between {decided:?} and {open} more");
    assert!(!holds(wrong), "{wrong:?} lies between {decided:?} and {open} more");
}

#[test]
fn every_coin_of_small_fractions() {
    for denominator in 2..=8u64 {
        for numerator in 1..denominator {
            let p = Rational::new(numerator, denominator).unwrap();
            let distribution = |p: f64| [1.0 - p, p];
            brackets(
                |rng| bernoulli(rng, p).into(),
                &distribution(p.to_f64()),
                &distribution(p.to_f64() * 1.05),
            );
        }
    }
}

#[test]
fn every_exponential_coin_of_small_fractions() {
    for (numerator, denominator) in [(1, 2), (1, 4), (3, 4), (2, 5)] {
        let gamma = Rational::new(numerator, denominator).unwrap();
        let distribution = |gamma: f64| [1.0 - (-gamma).exp(), (-gamma).exp()];
        brackets(
            |rng| bernoulli_exp(rng, gamma).into(),
            &distribution(gamma.to_f64()),
            &distribution(gamma.to_f64() + 0.2),
        );
    }
}

#[test]
fn every_answer_among_few_levels() {
    let levels = NonZeroU64::new(3).unwrap();
    let distribution = |epsilon: f64| {
        let others = 1.0 / (epsilon.exp() + 2.0);
        [others, 1.0 - 2.0 * others, others]
    };
    let epsilon = Rational::new(1, 2).unwrap();
    brackets(
        |rng| randomized_response(rng, 1, levels, epsilon) as usize,
        &distribution(0.5),
        &distribution(1.5),
    );
}

/// Two given bytes in sequence, then zeros.
struct Bytes {
    bytes: [u8; 2],
    taken: usize,
}

impl RngCore for Bytes {
    fn next_u32(&mut self) -> u32 {
        unreachable!("a subset takes bytes")
    }
    fn next_u64(&mut self) -> u64 {
        unreachable!("a subset takes bytes")
    }
    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.bytes.get(self.taken).copied().unwrap_or(0);
            self.taken += 1;
        }
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

/// With all values of the first two bytes, followed by zeros, U takes every multiple of 2⁻¹⁶. Those multiples
/// below p are chosen.
#[test]
fn one_is_chosen_where_a_uniform_number_lies_below_p() {
    let probabilities = [
        (64, 60_000),
        (0, 3),
        (1, 256),
        (70, 65_536),
        (69, 65_536),
        (1, 3),
        (65_535, 65_536),
        (u64::MAX - 1, u64::MAX),
    ];
    for (numerator, denominator) in probabilities {
        let p = Rational::new(numerator, denominator).unwrap();
        let mut chosen = vec![];
        for uniform in 0..=u16::MAX {
            subset(&mut Bytes { bytes: uniform.to_be_bytes(), taken: 0 }, 1, p, &mut chosen);
            let below = u128::from(uniform) * u128::from(denominator) < u128::from(numerator) << 16;
            assert_eq!(!chosen.is_empty(), below, "{uniform}/2^16 and {numerator}/{denominator}");
        }
    }
    let mut chosen = vec![];
    subset(&mut Bytes { bytes: [255; 2], taken: 0 }, 3, Rational::new(7, 7).unwrap(), &mut chosen);
    assert_eq!(chosen, [0, 1, 2]);
}
