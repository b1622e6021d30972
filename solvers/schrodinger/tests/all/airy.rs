//! The solver with Airy functions: against closed forms, and against the ground states by shooting.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use proptest::prelude::*;
use scumble_schrodinger::{Error, GroundState, airy};

/// The first zero of Ai, negated.
const ZERO: f64 = 2.338107410459767;

#[test]
fn a_linear_potential_takes_any_number_of_pieces() {
    for pieces in [1, 2, 7, 100] {
        let energy = airy::ground_energy(|n| n, 1.0, 0.0, 30.0, pieces).unwrap();
        assert!((energy - ZERO).abs() < 1e-12, "{pieces}: {energy}");
        // Mirrored, steeper and higher: (slope²/ϑ)^{1/3}.
        let energy = airy::ground_energy(|n| 5.0 - 3.0 * n, 0.5, -20.0, 2.0, pieces).unwrap();
        let expected = -1.0 + ZERO * (9.0f64 / 0.5).cbrt();
        assert!((energy - expected).abs() < 1e-12, "{pieces}: {energy} and {expected}");
    }
}

#[test]
fn walls_alone_make_a_sine() {
    for pieces in [1, 2, 50] {
        let energy = airy::ground_energy(|_| 7.0, 2.0, -1.0, 3.0, pieces).unwrap();
        let expected = 7.0 + (std::f64::consts::PI / 4.0).powi(2) / 2.0;
        assert!((energy - expected).abs() < 1e-13, "{pieces}: {energy}");
    }
}

#[test]
fn it_converges_to_the_ground_state_as_the_square_of_a_piece() {
    for (lambda, weight, lower, upper) in [
        (4.0, 2.0, -1.0, 3.0),
        (1.0, 1.0, -10.0, 10.0),
        (100.0, 3.0, 0.5, 2.0),
        (1e8, 2.0, -1.0, 0.02),
        (1e4, 1.0, -1.0, 1.0),
    ] {
        let exact = GroundState::new(lambda, weight, lower, upper).unwrap().mu();
        let potential = |n: f64| lambda / 4.0 * n * n;
        let by = |pieces| airy::ground_energy(potential, weight, lower, upper, pieces).unwrap();
        let pieces = 4000;
        let [coarse, fine] = [by(pieces / 2), by(pieces)];
        // An interpolated square exceeds the square by h²/6 times its factor on average: h²·λ/24.
        let step = (upper - lower) / pieces as f64;
        let expected = step * step * lambda / 24.0;
        assert!(((fine - exact) / expected - 1.0).abs() < 0.01, "{fine} and {exact}: not by {expected}");
        assert!(((coarse - exact) / (fine - exact) - 4.0).abs() < 0.02, "{coarse}, {fine} and {exact}");
        let extrapolated = (4.0 * fine - coarse) / 3.0;
        assert_relative_eq!(extrapolated, exact, max_relative = 1e-9);
    }
}

#[test]
fn barriers_and_double_wells_are_as_they_are() {
    // Two wells that are independent up to about e^−60 have the deeper one's energy. The second potential has
    // a wall so high that nothing tunnels.
    let wells = |n: f64| 50.0 * (n.abs() - 4.0).powi(2) + if n < 0.0 { 1.0 } else { 0.0 };
    let energy = airy::ground_energy(wells, 1.0, -8.0, 8.0, 6000).unwrap();
    let step = 16.0 / 6000.0;
    assert_abs_diff_eq!(energy, 50f64.sqrt() + step * step * 100.0 / 12.0, epsilon = 1e-6);
    for height in [1e6, 1e12, 1e200] {
        let walled = |n: f64| if n.abs() < 1.0 { 0.0 } else { height };
        let energy = airy::ground_energy(walled, 1.0, -5.0, 5.0, 1000).unwrap();
        // The wall rises over one piece, from 0.99 to 1, to a slope of 100 times its height.
        assert!(energy > 2.0 && energy < (std::f64::consts::PI / 1.98).powi(2) + 1e-9, "{height}: {energy}");
    }
}

#[test]
fn what_has_no_ground_state_is_named() {
    let refusal = |potential: fn(f64) -> f64, weight, lower, upper, pieces| {
        airy::ground_energy(potential, weight, lower, upper, pieces).unwrap_err()
    };
    assert_eq!(
        refusal(|n| 1.0 / n, 1.0, -1.0, 1.0, 2).to_string(),
        "the potential must be finite, and at 0 it is inf"
    );
    assert_eq!(refusal(|n| n, 1.0, -1.0, 1.0, 0).to_string(), "pieces must be one or more, and 0 is not");
    assert!(matches!(refusal(|n| n, -1.0, -1.0, 1.0, 3), Error::Parameter { .. }));
    assert!(matches!(refusal(|n| n, 1.0, 1.0, 1.0, 3), Error::Interval { .. }));
    assert!(matches!(refusal(|_| f64::NAN, 1.0, 0.0, 1.0, 3), Error::Potential { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_agrees_with_the_ground_state(
        lambda in -3.0..5.0f64, weight in -2.0..2.0f64, lower in -3.0..3.0f64, width in 0.1..6.0f64,
    ) {
        let (lambda, weight) = (10f64.powf(lambda), 10f64.powf(weight));
        let exact = GroundState::new(lambda, weight, lower, lower + width).unwrap().mu();
        let by_airy =
            airy::ground_energy(|n| lambda / 4.0 * n * n, weight, lower, lower + width, 500).unwrap();
        let step = width / 500.0;
        // The interpolated potential is larger, by at most λh²/16.
        prop_assert!(by_airy > exact * (1.0 - 1e-10), "{by_airy} and {exact}");
        prop_assert!(by_airy < exact * (1.0 + 1e-10) + lambda * step * step / 16.0, "{by_airy} and {exact}");
    }

    #[test]
    fn no_number_is_too_wild(
        values in prop::collection::vec(any::<f64>(), 1..6),
        weight in any::<f64>(),
        lower in any::<f64>(),
        upper in any::<f64>(),
    ) {
        let at = std::cell::Cell::new(0);
        let potential = |_| {
            at.set(at.get() + 1);
            values[at.get() % values.len()]
        };
        let (lower, upper) = (lower.min(upper), lower.max(upper));
        if let Ok(energy) = airy::ground_energy(potential, weight.abs(), lower, upper, 5) {
            prop_assert!(energy.is_finite());
        }
    }
}
