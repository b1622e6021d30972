//! Answers of oracles against closed forms and against the distribution in their privacy proof.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_oracles::{Counts, Error, Kind, MOST_LEVELS, Oracle};
use std::collections::BTreeMap;

const SEED: u64 = 20;

fn answers(oracle: &Oracle, level: u64, count: usize) -> BTreeMap<Vec<u64>, u64> {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let (mut counts, mut answer) = (BTreeMap::new(), vec![0; oracle.words()]);
    for _ in 0..count {
        oracle.answer(&mut rng, level, &mut answer);
        assert_eq!(oracle.check(&answer), Ok(()), "{oracle:?}");
        *counts.entry(answer.clone()).or_default() += 1;
    }
    counts
}

/// The probability of an answer, in closed form.
fn probability(oracle: &Oracle, level: u64, answer: &[u64]) -> f64 {
    let (k, e) = (oracle.levels() as f64, oracle.epsilon().exp());
    let supports = oracle.supports(answer, level);
    match oracle.kind() {
        Kind::RandomizedResponse => (if supports { e } else { 1.0 }) / (e + k - 1.0),
        Kind::HadamardResponse => {
            (if supports { e } else { 1.0 }) / (e + 1.0) / (k + 1.0).log2().ceil().exp2() * 2.0
        }
        Kind::UnaryEncoding => (0..oracle.levels())
            .map(|other| match (other == level, oracle.supports(answer, other)) {
                (true, _) => 0.5,
                (false, true) => 1.0 / (e + 1.0),
                (false, false) => e / (e + 1.0),
            })
            .product(),
        Kind::SubsetSelection => {
            let size: u32 = answer.iter().map(|word| word.count_ones()).sum();
            let choose =
                |n: f64, r: u32| (0..r).map(|at| (n - f64::from(at)) / f64::from(at + 1)).product::<f64>();
            let size_over = f64::from(size) / k;
            (if supports { e } else { 1.0 }) / choose(k, size) / (size_over * e + 1.0 - size_over)
        }
    }
}

/// Pearson's χ² of the answers of `oracle` against the probabilities of `claimed`, divided by its quantile at
/// 10⁻⁶ (Wilson and Hilferty).
fn misfit(oracle: &Oracle, claimed: &Oracle, level: u64) -> f64 {
    const ANSWERS: usize = 100_000;
    let counts = answers(oracle, level, ANSWERS);
    let expected = |answer: &[u64]| ANSWERS as f64 * probability(claimed, level, answer);
    let square =
        |(answer, &count): (&Vec<u64>, &u64)| (count as f64 - expected(answer)).powi(2) / expected(answer);
    let free = (counts.len() - 1) as f64;
    let quantile = free * (1.0 - 2.0 / (9.0 * free) + 4.7534 * (2.0 / (9.0 * free)).sqrt()).powi(3);
    counts.iter().map(square).sum::<f64>() / quantile
}

/// The test fails by chance once in a million runs, and rejects an ε that is a tenth too large.
#[test]
fn answers_have_the_probabilities_that_the_papers_say() {
    for kind in Kind::ALL {
        for levels in [2, 3, 6] {
            let at = |epsilon| Oracle::new(kind, levels, epsilon).unwrap();
            for level in [0, levels - 1] {
                let found = misfit(&at(1.0), &at(1.0), level);
                assert!(found < 1.0, "{kind} over {levels} levels: its ε is not the one it claims ({found})");
                let found = misfit(&at(1.1), &at(1.0), level);
                assert!(found > 1.0, "{kind} over {levels} levels: ε = 1.1 passes for 1 ({found})");
            }
        }
    }
}

/// The privacy proof from counts alone, within six standard errors: an answer is e^ε times as likely for a
/// level that it supports.
#[test]
fn an_answer_is_exp_epsilon_times_as_likely_for_what_it_supports() {
    const ANSWERS: usize = 100_000;
    for kind in Kind::ALL {
        let oracle = Oracle::new(kind, 100, 2.0).unwrap();
        let supporting = |level| -> f64 {
            let counts = answers(&oracle, level, ANSWERS);
            counts
                .iter()
                .filter(|(answer, _)| oracle.supports(answer, 7))
                .map(|(_, count)| *count as f64)
                .sum()
        };
        let (own, other) = (supporting(7) / ANSWERS as f64, supporting(60) / ANSWERS as f64);
        let error = 6.0 * 0.5 / (ANSWERS as f64).sqrt();
        assert_abs_diff_eq!(own, oracle.p(), epsilon = error);
        assert_abs_diff_eq!(other, oracle.q(), epsilon = error);
    }
}

#[test]
fn variances_are_those_of_the_papers() {
    for epsilon in [0.1_f64, 1.0, 4.0] {
        let e = epsilon.exp();
        for levels in [2, 10, 1000] {
            let variance = |kind| Oracle::new(kind, levels, epsilon).unwrap().variance(0.0);
            let k = levels as f64;
            let squared = (e - 1.0).powi(2);
            assert_relative_eq!(
                variance(Kind::RandomizedResponse),
                (e + k - 2.0) / squared,
                max_relative = 1e-9
            );
            assert_relative_eq!(variance(Kind::UnaryEncoding), 4.0 * e / squared, max_relative = 1e-9);
            assert_relative_eq!(
                variance(Kind::HadamardResponse),
                (e + 1.0).powi(2) / squared,
                max_relative = 1e-9
            );
        }
    }
    // Subset selection with sets of one level is randomised response. Ye and Barg's example has k = 10 and
    // sets of three at ε = 1.
    let one = Oracle::new(Kind::SubsetSelection, 3, 3.0).unwrap();
    assert_relative_eq!(
        one.variance(0.0),
        Oracle::new(Kind::RandomizedResponse, 3, 3.0).unwrap().variance(0.0),
        max_relative = 1e-9
    );
}

#[test]
fn the_best_is_randomised_response_for_few_levels_and_subsets_for_many() {
    for (levels, epsilon, expected) in [
        (2, 0.1, Kind::RandomizedResponse),
        (2, 5.0, Kind::RandomizedResponse),
        (12, 4.0, Kind::RandomizedResponse),
        (12, 1.0, Kind::SubsetSelection),
        (1000, 1.0, Kind::SubsetSelection),
        (1000, 8.0, Kind::RandomizedResponse),
    ] {
        let best = Oracle::best(levels, epsilon).unwrap();
        assert_eq!(best.kind(), expected, "{levels} levels at ε = {epsilon}");
        for kind in Kind::ALL {
            let other = Oracle::new(kind, levels, epsilon).unwrap();
            assert!(best.total_variance() <= other.total_variance() * (1.0 + 1e-9), "{other:?}");
        }
    }
}

/// The mean of 200 estimates, each from 500 answers, is within six of its standard errors, and their variance
/// is within a half.
#[test]
fn frequencies_are_unbiased_and_as_noisy_as_said() {
    const PEOPLE: u64 = 500;
    const TRIALS: usize = 200;
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    for kind in Kind::ALL {
        let oracle = Oracle::new(kind, 60, 1.5).unwrap();
        let mut answer = vec![0; oracle.words()];
        let mut estimates = vec![];
        for _ in 0..TRIALS {
            let mut counts = Counts::new(&oracle);
            for person in 0..PEOPLE {
                oracle.answer(&mut rng, if person % 5 == 0 { 59 } else { person % 50 }, &mut answer);
                counts.add(&oracle, &answer).unwrap();
            }
            estimates.push(counts.frequencies(&oracle)[59]);
        }
        let mean = estimates.iter().sum::<f64>() / TRIALS as f64;
        let variance = estimates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / TRIALS as f64;
        let claimed = oracle.standard_error(0.2, PEOPLE as f64);
        assert_abs_diff_eq!(mean, 0.2, epsilon = 6.0 * claimed / (TRIALS as f64).sqrt());
        assert!(
            (0.5..1.5).contains(&(variance / claimed.powi(2))),
            "{oracle:?}: {variance}, and {} is said",
            claimed.powi(2)
        );
    }
}

#[test]
fn without_a_bound_on_epsilon_the_answer_is_the_level() {
    for kind in Kind::ALL {
        let oracle = Oracle::new(kind, 9, f64::INFINITY).unwrap();
        assert!((0..9).all(|level| answers(&oracle, level, 20) == BTreeMap::from([(vec![level], 20)])));
        assert_eq!((oracle.p(), oracle.q()), (1.0, 0.0));
    }
}

#[test]
fn questions_and_answers_that_are_none_are_refused() {
    for levels in [0, MOST_LEVELS + 1, u64::MAX] {
        assert!(matches!(Oracle::best(levels, 1.0), Err(Error::Levels { .. })), "{levels}");
    }
    for epsilon in [0.0, -1.0, f64::NAN, 1e-300, f64::NEG_INFINITY] {
        assert!(matches!(Oracle::best(5, epsilon), Err(Error::Epsilon { .. })), "{epsilon}");
    }
    let refused = |kind, answer: &[u64]| {
        let oracle = Oracle::new(kind, 50, 1.0).unwrap();
        let error = Counts::new(&oracle).add(&oracle, answer).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        refused(Kind::RandomizedResponse, &[50]),
        "randomised response over 50 levels gives no such answer: [50] is outside"
    );
    refused(Kind::HadamardResponse, &[64]);
    refused(Kind::UnaryEncoding, &[0, 4]);
    refused(Kind::UnaryEncoding, &[1 << 48, 0]);
    refused(Kind::UnaryEncoding, &[0]);
    refused(Kind::SubsetSelection, &[1, 0]);
}

proptest! {
    #[test]
    fn every_oracle_keeps_within_its_levels(
        levels in 1u64..200,
        epsilon in 0.01_f64..12.0,
        level in 0u64..300,
        seed: u64,
    ) {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        for kind in Kind::ALL {
            let oracle = Oracle::new(kind, levels, epsilon).unwrap();
            let mut answer = vec![0; oracle.words()];
            oracle.answer(&mut rng, level, &mut answer);
            prop_assert_eq!(oracle.check(&answer), Ok(()));
            prop_assert!((0.0..=1.0).contains(&oracle.q()) && oracle.q() < oracle.p());
        }
    }
}
