//! Upper bounds on the accuracy of classifiers of private records.

use approx::assert_relative_eq;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_accounting::ceiling::{best_accuracy, laplace_accuracy};

/// Equation 28 by an independent quadrature in forty digits and more.
#[test]
fn the_ceiling_of_laplace_noise_is_that_of_other_solvers() {
    for (classes, epsilon, accuracy) in [
        (2, 1.0, 0.6967346701436835),
        (10, 2.0, 0.26249600355620123),
        (10, 4.0, 0.5134681233469623),
        (100, 8.0, 0.4139868129084575),
        (1_000_000, 27.0, 0.48212629196964985),
        (1_000_000, 30.0, 0.7820104476166989),
        (1_000_000, 60.0, 0.999_999_583_576_692_3),
    ] {
        assert_relative_eq!(laplace_accuracy(classes, epsilon).unwrap(), accuracy, max_relative = 1e-12);
    }
}

/// Equation 10, summed as printed.
fn alternating(classes: u64, epsilon: f64) -> f64 {
    let others = (classes / 2 - 1) as f64;
    let half = (-epsilon / 2.0).exp();
    let mut binomial = 1.0;
    let mut sum = -(epsilon + 1.0) / 8.0 * (classes as f64 - 2.0) * half;
    for j in (0..classes / 2).map(|j| j as f64) {
        if j != 1.0 {
            let sign = if j % 2.0 == 0.0 { 1.0 } else { -1.0 };
            sum += binomial * sign / (1.0 - j) * ((-j * epsilon / 2.0).exp() / (1.0 + j) - half / 2.0);
        }
        binomial *= (others - j) / (j + 1.0);
    }
    sum
}

#[test]
fn with_few_classes_it_is_the_alternating_sum() {
    for classes in (2..=16).step_by(2) {
        for epsilon in [0.0, 0.1, 1.0, 5.0, 20.0] {
            assert_relative_eq!(
                laplace_accuracy(classes, epsilon).unwrap(),
                alternating(classes, epsilon),
                max_relative = 1e-11
            );
        }
    }
}

/// The accuracy of the best classifier itself, on 10⁵ records of class one at the first vertex.
///
/// It is right where the coordinate of largest size is the first, and positive. Five standard deviations give
/// a false alarm in 10⁶ runs; an error of 0.008 in the ceiling would be detected.
#[test]
fn it_is_how_often_the_best_classifier_is_right() {
    const SEED: u64 = 28;
    const DRAWS: u32 = 100_000;
    for (classes, epsilon) in [(2, 1.0), (4, 0.5), (10, 2.0), (10, 6.0), (40, 8.0)] {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        let mut laplace = || {
            let size: f64 = -(1.0 - rng.gen_range(0.0..1.0_f64)).ln() * 2.0 / epsilon;
            if rng.gen_bool(0.5) { size } else { -size }
        };
        let is_right = |_: &u32| {
            let first = 1.0 + laplace();
            // All coordinates are drawn, whichever is the largest.
            (1..classes / 2).map(|_| laplace().abs()).fold(0.0, f64::max) < first
        };
        let right = f64::from((0..DRAWS).filter(is_right).count() as u32) / f64::from(DRAWS);
        let accuracy = laplace_accuracy(classes, epsilon).unwrap();
        let deviation = (accuracy * (1.0 - accuracy) / f64::from(DRAWS)).sqrt();
        assert!(
            (right - accuracy).abs() < 5.0 * deviation,
            "seed {SEED}: {classes} classes at {epsilon}: {right} is not {accuracy} ± {deviation}"
        );
    }
}

#[test]
fn without_a_budget_there_is_chance_and_without_noise_certainty() {
    for classes in [2, 10, 1_000_000, u64::MAX - 1] {
        for ceiling in [laplace_accuracy, best_accuracy] {
            assert_relative_eq!(
                ceiling(classes, 0.0).unwrap(),
                1.0 / classes as f64,
                epsilon = 0.0,
                max_relative = 1e-12
            );
            assert_eq!(ceiling(classes, f64::INFINITY).unwrap(), 1.0);
            assert_relative_eq!(ceiling(classes, 1e6).unwrap(), 1.0, max_relative = 1e-12);
        }
    }
}

#[test]
fn the_ceiling_of_any_mechanism_is_that_of_randomised_response() {
    assert_relative_eq!(best_accuracy(2, 1.0).unwrap(), 0.7310585786300049, max_relative = 1e-15);
    assert_relative_eq!(best_accuracy(10, 2.0).unwrap(), 0.4508530603792838, max_relative = 1e-12);
    assert_relative_eq!(best_accuracy(3, 1e-300).unwrap(), 1.0 / 3.0, max_relative = 1e-15);
}

proptest! {
    #[test]
    fn laplace_noise_stays_between_chance_and_what_privacy_allows(
        axes in 1..500_000_u64,
        epsilon in 0.0..100.0_f64,
    ) {
        let accuracy = laplace_accuracy(2 * axes, epsilon).unwrap();
        let more = laplace_accuracy(2 * axes, epsilon + 0.1).unwrap();
        prop_assert!(accuracy >= 0.5 / axes as f64 * (1.0 - 1e-10));
        prop_assert!(accuracy <= best_accuracy(2 * axes, epsilon).unwrap() * (1.0 + 1e-10));
        prop_assert!(accuracy <= more * (1.0 + 1e-10));
    }
}

#[test]
fn what_is_no_question_is_refused() {
    for classes in [0, 1, 3] {
        let refused = laplace_accuracy(classes, 1.0).unwrap_err().to_string();
        assert_eq!(refused, format!("the number of classes is {classes}, and must be even, and two or more"));
    }
    assert!(best_accuracy(3, 1.0).is_ok() && best_accuracy(1, 1.0).is_err());
    for epsilon in [-1.0, f64::NAN] {
        let refused = laplace_accuracy(2, epsilon).unwrap_err().to_string();
        assert_eq!(refused, format!("epsilon is {epsilon}, and must be zero or more"));
        assert!(best_accuracy(2, epsilon).is_err());
    }
}
