//! The fast way and the definition give the same draws, from the same words.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_sampling::{DiscreteGaussian, DiscreteLaplace, Geometric, Rational};

const SEED: u64 = 3;

/// Scales from a thousandth of a lattice step to the largest scale. They include scales where one word mostly
/// decides, and scales where it never does.
fn scales() -> Vec<Rational> {
    let fractions = [(1, 1000), (1, 3), (1, 1), (7, 2), (50, 1), (12_345, 10), (1 << 30, 1), (1 << 40, 3)];
    let large = [(1 << 45, 1), ((1 << 55) + 1, 1), (1 << 59, 1), (u64::MAX, 32)];
    fractions.into_iter().chain(large).map(|(n, d)| Rational::new(n, d).unwrap()).collect()
}

fn agree(
    name: &str,
    scale: Rational,
    fast: impl Fn(&mut ChaCha20Rng) -> i128,
    slow: impl Fn(&mut ChaCha20Rng) -> i128,
) {
    let (mut one, mut other) = (ChaCha20Rng::seed_from_u64(SEED), ChaCha20Rng::seed_from_u64(SEED));
    for at in 0..20_000 {
        let (fast, slow) = (fast(&mut one), slow(&mut other));
        assert_eq!(fast, slow, "seed {SEED}: draw {at} of {name} of scale {scale:?}");
        assert_eq!(
            one.get_word_pos(),
            other.get_word_pos(),
            "seed {SEED}: the words after draw {at} of {name} of scale {scale:?}"
        );
    }
}

#[test]
fn the_fast_way_draws_what_the_definition_draws() {
    for scale in scales() {
        let distribution = Geometric::new(scale).unwrap();
        agree(
            "geometric",
            scale,
            |rng| distribution.sample(rng),
            |rng| distribution.sample_by_definition(rng),
        );
        let distribution = DiscreteLaplace::new(scale).unwrap();
        agree(
            "discrete Laplace",
            scale,
            |rng| distribution.sample(rng),
            |rng| distribution.sample_by_definition(rng),
        );
        let distribution = DiscreteGaussian::new(scale).unwrap();
        agree(
            "discrete Gaussian",
            scale,
            |rng| distribution.sample(rng),
            |rng| distribution.sample_by_definition(rng),
        );
    }
}

#[test]
fn draws_in_bulk_are_the_draws_one_by_one() {
    for scale in scales() {
        let (normal, laplace) = (DiscreteGaussian::new(scale).unwrap(), DiscreteLaplace::new(scale).unwrap());
        for (count, at_a_time) in [(1, 1), (500, 30), (20_000, 20_000), (20_000, 7)] {
            let generator = || ChaCha20Rng::seed_from_u64(SEED);
            let (mut one, mut other, mut filled) = (generator(), generator(), vec![0; count]);
            let (mut normals, mut laplaces) = (normal.draws(&mut one), laplace.draws(&mut other));
            let (mut defining, mut defining_too) = (generator(), generator());
            for filled in filled.chunks_mut(at_a_time) {
                normals.fill(filled);
                for draw in &*filled {
                    let defined = normal.sample_by_definition(&mut defining) as i64;
                    assert_eq!(*draw, defined, "seed {SEED}: a Gaussian draw of {count} of scale {scale:?}");
                }
                laplaces.fill(filled);
                for draw in &*filled {
                    let defined = laplace.sample_by_definition(&mut defining_too) as i64;
                    assert_eq!(*draw, defined, "seed {SEED}: a Laplace draw of {count} of scale {scale:?}");
                }
            }
        }
    }
}
