//! Answers of PrivUnit against closed forms, values of PrivUnit on the whole sphere, and the distribution in
//! its privacy proof.

use approx::assert_abs_diff_eq;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_oracles::{Answer, Error, PrivUnit};
use std::f64::consts::FRAC_2_PI;

const SEED: u64 = 21;

#[test]
fn two_candidates_on_a_circle_shrink_as_the_closed_form_says() {
    for epsilon in [0.1f64, 1.0, 4.0] {
        let oracle = PrivUnit::new(2, 2, epsilon).unwrap();
        assert_abs_diff_eq!(oracle.shrinkage(), FRAC_2_PI * (epsilon / 2.0).tanh(), epsilon = 1e-8);
    }
    assert_abs_diff_eq!(PrivUnit::new(2, 2, f64::INFINITY).unwrap().shrinkage(), FRAC_2_PI, epsilon = 1e-9);
}

/// The reference values are those of PrivUnit on the whole sphere with the best cap. Another program computed
/// them by integrating over caps.
#[test]
fn few_candidates_are_nearly_as_good_as_the_sphere() {
    let sphere_shrinkages = [
        (8, 0.5, 0.0726),
        (8, 4.0, 0.5121),
        (17, 1.0, 0.0976),
        (17, 2.0, 0.1917),
        (17, 4.0, 0.3603),
        (64, 2.0, 0.0985),
    ];
    for (dim, epsilon, best) in sphere_shrinkages {
        let oracle = PrivUnit::best(dim, epsilon).unwrap();
        let ratio = oracle.shrinkage() / best;
        assert!((0.97..1.001).contains(&ratio), "{dim} dimensions, ε = {epsilon}: {ratio} with {oracle:?}");
    }
    // For a best cap of e^−8, a thousand candidates are few.
    let oracle = PrivUnit::best(17, 8.0).unwrap();
    assert!((0.96..1.001).contains(&(oracle.shrinkage() / 0.6042)), "{oracle:?}");
}

/// The mean of n answers is within six standard errors of the vector in each dimension; chance exceeds them
/// once in 10⁷. The test detects an ε that is a tenth larger than the ε of the shrinkage.
#[test]
fn the_mean_of_answers_is_the_vector_over_the_shrinkage() {
    const ANSWERS: usize = 40_000;
    let vector = [0.8, -0.6, 0.0, 0.0];
    let mean = |oracle: &PrivUnit| {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        let mut mean = [0.0; 4];
        for _ in 0..ANSWERS {
            let direction = oracle.direction(oracle.answer(&mut rng, &vector)).unwrap();
            mean.iter_mut().zip(direction).for_each(|(mean, x)| *mean += x / ANSWERS as f64);
        }
        mean
    };
    for epsilon in [1.0, 3.0, f64::INFINITY] {
        let oracle = PrivUnit::new(4, 64, epsilon).unwrap();
        let error = 6.0 * (oracle.variance() / ANSWERS as f64).sqrt();
        for (mean, expected) in mean(&oracle).iter().zip(vector) {
            assert_abs_diff_eq!(mean / oracle.shrinkage(), expected, epsilon = error);
        }
    }
    let (oracle, larger) = (PrivUnit::new(4, 64, 3.0).unwrap(), PrivUnit::new(4, 64, 3.3).unwrap());
    let error = 6.0 * (oracle.variance() / ANSWERS as f64).sqrt();
    assert!((mean(&larger)[0] / oracle.shrinkage() - vector[0]).abs() > error, "a larger ε is not seen");
}

/// The share of answers that support the vector is the coin's, e^ε s : K − s, within six standard errors.
#[test]
fn the_cap_is_answered_with_odds_of_e_to_the_epsilon() {
    const ANSWERS: usize = 50_000;
    let oracle = PrivUnit::new(3, 16, 1.5).unwrap();
    let (cap, others) = (oracle.cap() as f64, (oracle.candidates() - oracle.cap()) as f64);
    let expected = cap * 1.5f64.exp() / (cap * 1.5f64.exp() + others);
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let vector = [0.0, 0.6, -0.8];
    let supporting =
        (0..ANSWERS).filter(|_| oracle.supports(oracle.answer(&mut rng, &vector), &vector)).count();
    let error = 6.0 * (expected * (1.0 - expected) / ANSWERS as f64).sqrt();
    assert_abs_diff_eq!(supporting as f64 / ANSWERS as f64, expected, epsilon = error);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The privacy proof needs only a cap of the same size for every vector. Probabilities of one answer then
    /// have the ratio 1 or e^ε.
    #[test]
    fn a_cap_has_as_many_candidates_whatever_the_vector(
        vector in prop::collection::vec(prop_oneof![-1.0..1.0f64, Just(0.0), Just(f64::NAN), Just(1e300)], 5),
        seed in 0u64..1 << 48,
        epsilon in 0.05..9.0f64,
    ) {
        let oracle = PrivUnit::new(5, 32, epsilon).unwrap();
        let supports = |candidate: &u64| oracle.supports(Answer { seed, candidate: *candidate }, &vector);
        prop_assert_eq!((0..32).filter(supports).count(), oracle.cap());
    }
}

#[test]
fn what_is_no_direction_is_refused() {
    assert!(matches!(PrivUnit::best(1, 1.0), Err(Error::Dimensions { dim: 1, .. })));
    assert!(matches!(PrivUnit::new(3, 7, 1.0), Err(Error::Candidates { candidates: 7, .. })));
    assert!(matches!(PrivUnit::new(3, 1 << 20, 1.0), Err(Error::Candidates { .. })));
    for epsilon in [0.0, -1.0, f64::NAN, 1e-30] {
        assert!(matches!(PrivUnit::best(3, epsilon), Err(Error::Epsilon { .. })), "{epsilon}");
    }
    let oracle = PrivUnit::new(3, 8, 1.0).unwrap();
    let refused = oracle.direction(Answer { seed: 5, candidate: 8 }).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the answer 8 to the seed 5 is not a direction: candidates are numbered from 0 to below 8, seeds to \
         below 2^48"
    );
    assert!(oracle.direction(Answer { seed: 1 << 48, candidate: 0 }).is_err());
}
