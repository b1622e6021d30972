//! Each sampler against its distribution by Pearson's χ², with a faulty variant that must be rejected.
//!
//! The false-alarm rate is 10⁻⁶ a test. The smallest error that each test must detect is a parameter 5 % off.
//! The test proves that it does: the same draws are compared with the wrong distribution and must fail.

use approx::assert_relative_eq;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_sampling::{
    DiscreteGaussian, DiscreteLaplace, Geometric, Rational, bernoulli, bernoulli_exp, randomized_response,
    subset, uniform_below,
};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::num::NonZeroU64;

const SEED: u64 = 20_240_601;
const DRAWS: usize = 1_000_000;
const FALSE_ALARM: f64 = 1e-6;

/// Counts of `draws` in {0, …, cells − 1}. The last cell counts all larger draws too.
fn histogram(cells: usize, mut draw: impl FnMut(&mut ChaCha20Rng) -> usize) -> Vec<usize> {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let mut counts = vec![0; cells];
    for _ in 0..DRAWS {
        counts[draw(&mut rng).min(cells - 1)] += 1;
    }
    counts
}

fn is_accepted(counts: &[usize], distribution: &[f64]) -> bool {
    assert_eq!(counts.len(), distribution.len());
    assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-9, "a distribution sums to one");
    let total: usize = counts.iter().sum();
    let statistic: f64 = counts
        .iter()
        .zip(distribution)
        .map(|(&seen, p)| {
            let expected = p * total as f64;
            assert!(expected > 20.0, "χ² needs full cells, this one expects {expected}");
            (seen as f64 - expected).powi(2) / expected
        })
        .sum();
    let degrees = (distribution.len() - 1) as f64;
    ChiSquared::new(degrees).unwrap().cdf(statistic) < 1.0 - FALSE_ALARM
}

#[track_caller]
fn follows_and_rejects(counts: &[usize], distribution: &[f64], wrong: &[f64]) {
    assert!(
        is_accepted(counts, distribution),
        "seed {SEED}: the draws {counts:?} do not follow {distribution:?}"
    );
    assert!(!is_accepted(counts, wrong), "seed {SEED}: the test cannot tell {distribution:?} from {wrong:?}");
}

fn coin(p: f64) -> [f64; 2] {
    [1.0 - p, p]
}

#[test]
fn uniform_integers_are_uniform() {
    for bound in [3u64, 7, 16, 100] {
        let n = NonZeroU64::new(bound).unwrap();
        let counts = histogram(bound as usize, |rng| uniform_below(rng, n) as usize);
        let distribution = vec![1.0 / bound as f64; bound as usize];
        // Tilted from 5 % too rare at the first integer to 5 % too common at the last.
        let tilted: Vec<f64> = (0..bound)
            .map(|k| (1.0 + 0.05 * (2.0 * k as f64 / (bound - 1) as f64 - 1.0)) / bound as f64)
            .collect();
        follows_and_rejects(&counts, &distribution, &tilted);
    }
}

#[test]
fn uniform_integers_reach_both_ends_of_64_bits() {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let one = NonZeroU64::new(1).unwrap();
    assert_eq!(uniform_below(&mut rng, one), 0);
    let all = NonZeroU64::MAX;
    let draws: Vec<u64> = (0..64).map(|_| uniform_below(&mut rng, all)).collect();
    assert!(draws.iter().any(|&k| k >= 1 << 63) && draws.iter().any(|&k| k < 1 << 63));
}

#[test]
fn bernoulli_has_its_rational_bias() {
    for (numerator, denominator) in [(1, 3), (2, 7), (1, 2)] {
        let p = Rational::new(numerator, denominator).unwrap();
        let counts = histogram(2, |rng| bernoulli(rng, p) as usize);
        follows_and_rejects(&counts, &coin(p.to_f64()), &coin(p.to_f64() * 1.05));
    }
}

/// All eight subsets of three elements, at probabilities whose digits end with the first one, and at others
/// whose digits never end.
#[test]
fn a_subset_has_each_by_itself_with_its_probability() {
    for (numerator, denominator) in [(2, 7), (130, 256), (1, 20), (9, 10)] {
        let p = Rational::new(numerator, denominator).unwrap();
        let mut chosen = vec![];
        let counts = histogram(8, |rng| {
            subset(rng, 3, p, &mut chosen);
            chosen.iter().map(|at| 1 << at).sum()
        });
        let distribution = |p: f64| -> Vec<f64> {
            let in_all =
                |set: u32| p.powi(set.count_ones() as i32) * (1.0 - p).powi(set.count_zeros() as i32 - 29);
            (0..8).map(in_all).collect()
        };
        follows_and_rejects(&counts, &distribution(p.to_f64()), &distribution(p.to_f64() * 1.05));
    }
}

#[test]
fn bernoulli_is_certain_at_zero_and_one() {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let (never, always) = (Rational::new(0, 5).unwrap(), Rational::new(5, 5).unwrap());
    for _ in 0..1000 {
        assert!(!bernoulli(&mut rng, never) && bernoulli(&mut rng, always));
        assert!(bernoulli_exp(&mut rng, never), "exp(0) is one");
    }
}

#[test]
fn bernoulli_exp_has_its_exponential_bias() {
    for gamma in [0.05, 0.5, 1.0, 1.75, 3.25] {
        let exact = Rational::floor_of(gamma).unwrap();
        let counts = histogram(2, |rng| bernoulli_exp(rng, exact) as usize);
        follows_and_rejects(&counts, &coin((-gamma).exp()), &coin((-gamma * 1.05).exp()));
    }
}

#[test]
fn randomized_response_keeps_the_truth_e_to_the_epsilon_times_as_often() {
    // The other levels have odds above and below one. Their number is a power of two or not.
    for (levels, epsilon) in [(2u64, 1.0), (5, 0.5), (10, 2.0), (9, 3.0), (6, 3.5), (12, 4.25)] {
        let distribution = |epsilon: f64| -> Vec<f64> {
            let total = epsilon.exp() + levels as f64 - 1.0;
            (0..levels).map(|level| if level == 1 { epsilon.exp() } else { 1.0 } / total).collect()
        };
        let n = NonZeroU64::new(levels).unwrap();
        let exact = Rational::floor_of(epsilon).unwrap();
        let counts = histogram(levels as usize, |rng| randomized_response(rng, 1, n, exact) as usize);
        follows_and_rejects(&counts, &distribution(epsilon), &distribution(epsilon * 1.05));
    }
}

#[test]
fn geometric_has_its_distribution_for_whole_and_broken_scales() {
    for (numerator, denominator, reach) in [(1, 1, 8), (2, 5, 3), (7, 2, 24)] {
        let exact = Rational::new(numerator, denominator).unwrap();
        let geometric = Geometric::new(exact).unwrap();
        let counts = histogram(reach + 1, |rng| geometric.sample(rng) as usize);
        let distribution = |scale: f64| -> Vec<f64> {
            let q = (-1.0 / scale).exp();
            let below = (0..reach).map(|k| (1.0 - q) * q.powi(k as i32));
            below.chain([q.powi(reach as i32)]).collect()
        };
        follows_and_rejects(&counts, &distribution(exact.to_f64()), &distribution(exact.to_f64() * 1.05));
    }
}

#[test]
fn the_truth_among_millions_of_levels_comes_at_once() {
    // A uniform proposal would hit the truth once in sixteen million times.
    let n = NonZeroU64::new(1 << 24).unwrap();
    let epsilon = Rational::new(34, 1).unwrap();
    let odds = 2f64.powi(24) * (-34f64).exp();
    let counts = histogram(2, |rng| usize::from(randomized_response(rng, 12345, n, epsilon) == 12345));
    assert!(odds < 1e-6 && counts[1] > counts[0], "{counts:?}");
}

#[test]
fn an_answer_about_no_level_is_uniform_and_comes_at_once() {
    let n = NonZeroU64::new(5).unwrap();
    let large = Rational::new(100, 1).unwrap();
    let counts = histogram(5, |rng| randomized_response(rng, 7, n, large) as usize);
    follows_and_rejects(&counts, &[0.2; 5], &[0.21, 0.2, 0.2, 0.2, 0.19]);
}

/// Compares draws around zero at a scale with `exact`, which has both tails beyond `reach` in its end cells.
#[track_caller]
fn follows_at(
    scale: Rational,
    reach: i128,
    mut draw: impl FnMut(&mut ChaCha20Rng) -> i128,
    exact: fn(f64, i128) -> Vec<f64>,
) {
    let counts = histogram(2 * reach as usize + 1, |rng| (draw(rng).clamp(-reach, reach) + reach) as usize);
    follows_and_rejects(&counts, &exact(scale.to_f64(), reach), &exact(scale.to_f64() * 1.05, reach));
}

/// The probabilities P(−reach), …, P(reach), with both tails in the end cells.
fn laplace_distribution(scale: f64, reach: i128) -> Vec<f64> {
    let q = (-1.0 / scale).exp();
    (-reach..=reach)
        .map(|k| {
            let p = (1.0 - q) / (1.0 + q) * q.powi(k.unsigned_abs() as i32);
            if k.abs() == reach { p / (1.0 - q) } else { p }
        })
        .collect()
}

#[test]
fn discrete_laplace_has_its_distribution_for_whole_and_broken_scales() {
    for (numerator, denominator, reach) in [(1, 1, 7), (1, 3, 2), (5, 2, 15), (20, 1, 60)] {
        let exact = Rational::new(numerator, denominator).unwrap();
        let distribution = DiscreteLaplace::new(exact).unwrap();
        follows_at(exact, reach, |rng| distribution.sample(rng), laplace_distribution);
    }
}

/// The probabilities P(−reach), …, P(reach), with both tails in the end cells.
fn gaussian_distribution(scale: f64, reach: i128) -> Vec<f64> {
    let weight = |k: i128| (-0.5 * (k as f64 / scale).powi(2)).exp();
    let far = reach + (40.0 * scale).ceil() as i128;
    let total: f64 = (-far..=far).map(weight).sum();
    (-reach..=reach)
        .map(|k| if k.abs() == reach { (reach..=far).map(weight).sum() } else { weight(k) } / total)
        .collect()
}

#[test]
fn discrete_gaussian_has_its_distribution_for_whole_and_broken_scales() {
    for (numerator, denominator, reach) in [(1, 2, 2), (1, 1, 3), (5, 2, 9), (61, 3, 70)] {
        let exact = Rational::new(numerator, denominator).unwrap();
        let distribution = DiscreteGaussian::new(exact).unwrap();
        follows_at(exact, reach, |rng| distribution.sample(rng), gaussian_distribution);
    }
}

#[test]
fn variance_is_the_sum_over_the_distribution() {
    let summed = |distribution: Vec<f64>, reach: i128| -> f64 {
        (-reach..=reach).zip(distribution).map(|(k, p)| (k * k) as f64 * p).sum()
    };
    for (scale, reach) in [(Rational::new(1, 2).unwrap(), 60), (Rational::new(3, 1).unwrap(), 200)] {
        let laplace = DiscreteLaplace::new(scale).unwrap().variance();
        let sum = summed(laplace_distribution(scale.to_f64(), reach), reach);
        assert_relative_eq!(laplace, sum, max_relative = 1e-9);
    }
    for (numerator, denominator) in [(1, 3), (1, 1), (39, 10), (41, 10)] {
        let scale = Rational::new(numerator, denominator).unwrap();
        let gaussian = DiscreteGaussian::new(scale).unwrap().variance();
        let sum = summed(gaussian_distribution(scale.to_f64(), 200), 200);
        assert_relative_eq!(gaussian, sum, max_relative = 1e-12);
    }
}

#[test]
fn a_scale_of_zero_or_beyond_59_bits_is_refused() {
    for (numerator, denominator) in [(0, 1), ((1 << 59) + 1, 1), (u64::MAX, 31)] {
        let scale = Rational::new(numerator, denominator).unwrap();
        for refused in [DiscreteLaplace::new(scale).err(), DiscreteGaussian::new(scale).err()] {
            let message = refused.unwrap().to_string();
            assert!(message.contains(&format!("{numerator}/{denominator}")), "{message}");
        }
    }
}

#[test]
fn a_seed_gives_these_very_draws() {
    fn draws(mut draw: impl FnMut(&mut ChaCha20Rng) -> i128) -> Vec<i128> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        (0..8).map(|_| draw(&mut rng)).collect()
    }
    let (ten, fine) = (Rational::new(10, 1).unwrap(), Rational::new(1 << 40, 1).unwrap());
    let laplace = |scale| DiscreteLaplace::new(scale).unwrap();
    let gaussian = |scale| DiscreteGaussian::new(scale).unwrap();
    assert_eq!(draws(|rng| Geometric::new(ten).unwrap().sample(rng)), [0, 22, 2, 4, 0, 15, 0, 16]);
    assert_eq!(draws(|rng| laplace(ten).sample(rng)), [0, 22, 2, -4, 0, -15, 0, 16]);
    assert_eq!(draws(|rng| gaussian(ten).sample(rng)), [1, 20, 11, -14, 3, -8, 7, 15]);
    assert_eq!(
        draws(|rng| laplace(fine).sample(rng)),
        [
            289767392252,
            2365191944050,
            826585841430,
            -40582826200,
            26709413506,
            -851333319073,
            1076629015238,
            756381143748
        ]
    );
    assert_eq!(
        draws(|rng| gaussian(fine).sample(rng)),
        [
            83624665033,
            247492201121,
            212276419873,
            -569127051078,
            621242063676,
            -955342436715,
            959245373312,
            368693812566
        ]
    );
}
