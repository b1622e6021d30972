//! Discrete Laplace and Gaussian on a fine lattice, where they agree with the continuous distributions to
//! about 10⁻¹². The tests are those of Kolmogorov and Smirnov, of moments, symmetry, tails, and the slope of
//! the logarithm.
//!
//! The false-alarm rate is 10⁻⁶ a test. The smallest error that each test must detect is a scale 5 % off, or
//! a sign 1 % off. The test proves that it does: the draws of such a distribution must fail.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use scumble_sampling::{DiscreteGaussian, DiscreteLaplace, Rational};
use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::erf::erfc;

const SEED: u64 = 5;
const DRAWS: usize = 2_000_000;
/// Number of standard deviations beyond which a normal variable falls, on either side, with probability 10⁻⁶.
const Z: f64 = 4.8916;
const SCALE: u64 = (1 << 40) + 12_345;

/// A symmetric distribution in units of its scale.
struct NoiseDistribution {
    name: &'static str,
    draw: fn(Rational, &mut ChaCha20Rng) -> Vec<f64>,
    /// The tail probability P(|X| > x).
    beyond: fn(f64) -> f64,
    /// The moments E X², E X⁴, E X⁸.
    moments: [f64; 3],
}

fn draws(mut draw: impl FnMut() -> i128) -> Vec<f64> {
    (0..DRAWS).map(|_| draw() as f64 / SCALE as f64).collect()
}

fn distributions() -> [NoiseDistribution; 2] {
    [
        NoiseDistribution {
            name: "discrete Laplace",
            draw: |scale, rng| {
                let distribution = DiscreteLaplace::new(scale).unwrap();
                draws(|| distribution.sample(rng))
            },
            beyond: |x| (-x).exp(),
            moments: [2.0, 24.0, 40_320.0],
        },
        NoiseDistribution {
            name: "discrete Gaussian",
            draw: |scale, rng| {
                let distribution = DiscreteGaussian::new(scale).unwrap();
                draws(|| distribution.sample(rng))
            },
            beyond: |x| erfc(x / 2f64.sqrt()),
            moments: [1.0, 3.0, 105.0],
        },
    ]
}

/// The distribution itself must pass, and the same distribution with a scale 5 % larger must fail.
fn passes_and_a_wrong_scale_fails(test: impl Fn(&NoiseDistribution, &[f64]) -> Result<(), String>) {
    for distribution in distributions() {
        let sample = |scale| (distribution.draw)(scale, &mut ChaCha20Rng::seed_from_u64(SEED));
        let right = Rational::new(SCALE, 1).unwrap();
        if let Err(why) = test(&distribution, &sample(right)) {
            panic!("seed {SEED}: {} does not have its distribution: {why}", distribution.name);
        }
        let wrong = Rational::new(SCALE / 20 * 21, 1).unwrap();
        assert!(
            test(&distribution, &sample(wrong)).is_err(),
            "seed {SEED}: {} 5 % too wide passes",
            distribution.name
        );
    }
}

fn within(what: &str, seen: f64, expected: f64, deviation: f64) -> Result<(), String> {
    let off = (seen - expected) / deviation;
    if off.abs() < Z {
        Ok(())
    } else {
        Err(format!("{what} is {seen}, not {expected}: {off} standard deviations off"))
    }
}

#[test]
fn the_distribution_function_is_that_of_the_distribution() {
    passes_and_a_wrong_scale_fails(|distribution, draws| {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let below = |x: f64| {
            if x < 0.0 { (distribution.beyond)(-x) / 2.0 } else { 1.0 - (distribution.beyond)(x) / 2.0 }
        };
        let n = DRAWS as f64;
        let gaps = sorted.iter().enumerate().map(|(at, &x)| {
            let p = below(x);
            (p - at as f64 / n).abs().max((p - (at + 1) as f64 / n).abs())
        });
        let distance = gaps.fold(0.0, f64::max);
        // Massart (1990): P(D > ε) ≤ 2·exp(−2nε²).
        let allowed = (2e6_f64.ln() / (2.0 * n)).sqrt();
        if distance < allowed {
            Ok(())
        } else {
            Err(format!("the distribution functions are {distance} apart"))
        }
    });
}

#[test]
fn second_and_fourth_moments_are_those_of_the_distribution() {
    passes_and_a_wrong_scale_fails(|distribution, draws| {
        let n = DRAWS as f64;
        let mean = |power: i32| draws.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        let [second, fourth, eighth] = distribution.moments;
        within("the mean", mean(1), 0.0, (second / n).sqrt())?;
        within("the mean square", mean(2), second, ((fourth - second * second) / n).sqrt())?;
        within("the mean fourth power", mean(4), fourth, ((eighth - fourth * fourth) / n).sqrt())
    });
}

#[test]
fn tails_are_as_heavy_as_they_should_be() {
    passes_and_a_wrong_scale_fails(|distribution, draws| {
        // Levels before the end of the ziggurat, at its end where the stairs begin, and after it.
        for level in [1e-2, 4e-4, 1e-4] {
            let from =
                (0..20_000).map(|at| at as f64 / 1000.0).find(|&x| (distribution.beyond)(x) < level).unwrap();
            let seen = draws.iter().filter(|x| x.abs() > from).count();
            let p = (distribution.beyond)(from);
            let n = DRAWS as f64;
            within(
                &format!("the number of draws beyond {from}"),
                seen as f64,
                n * p,
                (n * p * (1.0 - p)).sqrt(),
            )?;
        }
        Ok(())
    });
}

#[test]
fn the_logarithm_falls_as_it_should() {
    passes_and_a_wrong_scale_fails(|distribution, draws| {
        let mut counts = [0usize; 8];
        for cell in draws.iter().map(|x| (2.0 * x.abs()) as usize) {
            if let Some(count) = counts.get_mut(cell) {
                *count += 1;
            }
        }
        for (cell, pair) in counts.windows(2).enumerate() {
            let mass = |cell: usize| {
                (distribution.beyond)(cell as f64 / 2.0) - (distribution.beyond)((cell + 1) as f64 / 2.0)
            };
            let (one, other) = (pair[0] as f64, pair[1] as f64);
            let expected = (mass(cell) / mass(cell + 1)).ln();
            within(
                &format!("log-ratio {cell}"),
                (one / other).ln(),
                expected,
                (1.0 / one + 1.0 / other).sqrt(),
            )?;
        }
        Ok(())
    });
}

#[test]
fn positive_and_negative_draws_are_alike() {
    let is_fair = |negative: usize| {
        let p = negative as f64 / DRAWS as f64;
        (p - 0.5).abs() < Z * 0.5 / (DRAWS as f64).sqrt()
    };
    for distribution in distributions() {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        let draws = (distribution.draw)(Rational::new(SCALE, 1).unwrap(), &mut rng);
        let negative = draws.iter().filter(|x| **x < 0.0).count();
        assert!(
            is_fair(negative),
            "seed {SEED}: {negative} of {DRAWS} draws of {} are negative",
            distribution.name
        );
        // One in a hundred positive draws changes its sign.
        let turned = draws.iter().filter(|x| **x < 0.0 || rng.next_u32() % 100 == 0).count();
        assert!(!is_fair(turned), "seed {SEED}: a sign 1 % off passes");
        // The magnitude is independent of the sign: large draws are equally frequent on both sides.
        let large: Vec<&f64> = draws.iter().filter(|x| x.abs() > 2.0).collect();
        let negative = large.iter().filter(|x| ***x < 0.0).count();
        let distribution = Beta::new(negative as f64 + 0.5, (large.len() - negative) as f64 + 0.5).unwrap();
        let p = distribution.cdf(0.5);
        assert!(
            (5e-7..1.0 - 5e-7).contains(&p),
            "seed {SEED}: {negative} of {} large draws are negative",
            large.len()
        );
    }
}
