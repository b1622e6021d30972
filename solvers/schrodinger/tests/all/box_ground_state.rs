//! Ground states in boxes: against sums of one-dimensional ground states, against Gaussians, and against
//! other methods.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, array};
use proptest::prelude::*;
use scumble_schrodinger::{BoxGroundState, Error, GroundState};

fn solved(lambda: f64, weights: &Array2<f64>, bounds: &[(f64, f64)], tolerance: f64) -> BoxGroundState {
    BoxGroundState::new(lambda, weights.view(), bounds, tolerance).unwrap()
}

#[test]
fn a_diagonal_matrix_separates() {
    for (lambda, weights, bounds) in [
        (4.0, vec![2.0, 0.5], vec![(-1.0, 3.0), (0.5, 2.0)]),
        (0.0, vec![1.0, 1.0, 4.0], vec![(-1.0, 1.0), (0.0, 3.0), (2.0, 3.0)]),
        (1.0, vec![1.0, 1e8], vec![(-100.0, 100.0), (-100.0, 1.0)]),
        (25.0, vec![3.0], vec![(-0.3, 1.0)]),
    ] {
        let axes: Vec<GroundState> = weights
            .iter()
            .zip(&bounds)
            .map(|(weight, (lower, upper))| GroundState::new(lambda, *weight, *lower, *upper).unwrap())
            .collect();
        let whole = solved(lambda, &Array2::from_diag(&ndarray::Array1::from(weights)), &bounds, 1e-10);
        let mu: f64 = axes.iter().map(GroundState::mu).sum();
        assert_relative_eq!(whole.mu(), mu, max_relative = 1e-10);
        assert_abs_diff_eq!(whole.objective() / mu, 4.0, epsilon = 1e-9);
        for (at, axis) in axes.iter().enumerate() {
            assert_abs_diff_eq!(whole.mean()[at], axis.mean(), epsilon = 1e-7);
            assert_relative_eq!(whole.second_moments()[[at, at]], axis.second_moment(), max_relative = 1e-7);
            assert_relative_eq!(
                whole.fisher_information()[[at, at]],
                axis.fisher_information(),
                max_relative = 1e-7
            );
        }
        let places: Vec<f64> = axes.iter().map(GroundState::mean).collect();
        let product: f64 = axes.iter().zip(&places).map(|(axis, n)| axis.density(*n)).product();
        assert_relative_eq!(whole.density(&places).unwrap(), product, max_relative = 1e-6);
    }
}

#[test]
fn in_a_wide_box_it_is_the_gaussian_of_theorem_2_4() {
    // Π = A², so that Π^{−1/2} = A⁻¹ and V = A⁻¹/√λ.
    for (root, lambda) in [
        (array![[2.0, 0.7], [0.7, 1.0]], 9.0),
        (array![[1.0, -0.9], [-0.9, 1.0]], 1.0),
        (array![[1.5, 0.3, 0.2], [0.3, 1.0, -0.4], [0.2, -0.4, 2.0]], 0.25),
    ] {
        let weights = root.dot(&root);
        let d = root.nrows();
        let whole = solved(lambda, &weights, &vec![(-300.0, 250.0); d], 1e-9);
        let variance = whole.second_moments();
        let identity = variance.dot(&root) * f64::sqrt(lambda);
        for i in 0..d {
            for j in 0..d {
                assert_abs_diff_eq!(identity[[i, j]], if i == j { 1.0 } else { 0.0 }, epsilon = 1e-5);
            }
            assert_abs_diff_eq!(whole.mean()[i], 0.0, epsilon = 1e-6);
        }
        // I is the inverse of V, and μ = ½√λ·Tr(Π^{−1/2}).
        let product = whole.fisher_information().dot(&variance);
        assert!((product - Array2::<f64>::eye(d)).iter().all(|entry| entry.abs() < 1e-5));
        assert_abs_diff_eq!(whole.mu(), lambda * variance.diag().sum() / 2.0, epsilon = 1e-6);
        assert_abs_diff_eq!(whole.objective() / whole.mu(), 4.0, epsilon = 1e-9);
    }
}

/// Chebyshev collocation at 48 × 48 points by scipy, and extrapolated finite differences at 400 × 400 points,
/// agree on these values to 10⁻⁷ and 10⁻⁶.
#[test]
fn coupled_axes_agree_with_collocation() {
    for (lambda, weights, bounds, mu) in [
        (1.0, array![[2.0, 0.8], [0.8, 1.0]], [(-1.0, 2.0), (-0.5, 1.5)], 4.4647629466),
        (30.0, array![[1.0, -0.6], [-0.6, 1.0]], [(0.2, 2.0), (-1.0, 1.0)], 16.915815226),
    ] {
        let whole = solved(lambda, &weights, &bounds, 1e-8);
        assert_abs_diff_eq!(whole.mu(), mu, epsilon = 1e-7);
        assert!(whole.error_estimate() < 2e-7);
        assert_abs_diff_eq!(whole.objective() / whole.mu(), 4.0, epsilon = 1e-9);
    }
}

/// Chebyshev collocation at 9³, 11³ and 13³ points by scipy: 6.5815504, 6.5815622 and 6.5815635.
#[test]
fn three_coupled_axes_agree_with_collocation() {
    let weights = array![[2.0, 0.6, 0.2], [0.6, 1.0, -0.3], [0.2, -0.3, 1.5]];
    let bounds = [(-1.0, 1.5), (-1.0, 1.0), (-0.5, 2.0)];
    for tolerance in [1e-5, 1e-6, 1e-7] {
        let whole = solved(5.0, &weights, &bounds, tolerance);
        // The result is an upper bound, within the estimate. Collocation leaves an error of about 5·10⁻⁷.
        let excess = whole.mu() - 6.5815635;
        assert!(excess > -5e-7 && excess < whole.error_estimate() + 5e-7, "{excess:e} at {tolerance:e}");
        assert_abs_diff_eq!(whole.objective() / whole.mu(), 4.0, epsilon = 1e-8);
    }
}

#[test]
fn a_tight_tolerance_proves_a_loose_one_right() {
    let weights = array![[1.0, 0.9], [0.9, 1.0]];
    let bounds = [(-1.0, 1.0), (-1.0, 2.0)];
    let [loose, tight] = [1e-4, 1e-8].map(|tolerance| solved(3.0, &weights, &bounds, tolerance));
    assert!(loose.mu() >= tight.mu() - 1e-10);
    assert!(loose.mu() - tight.mu() <= loose.error_estimate(), "{} and {}", loose.mu(), tight.mu());
}

#[test]
fn outside_of_the_box_there_is_nothing() {
    let whole = solved(1.0, &array![[2.0, 0.8], [0.8, 1.0]], &[(-1.0, 2.0), (-0.5, 1.5)], 1e-6);
    for n in [[-1.0, 0.0], [0.0, 1.5], [9.0, 0.0], [f64::NAN, 0.0]] {
        assert_eq!(whole.density(&n).unwrap(), 0.0);
    }
    assert!(whole.density(&[0.3, 0.3]).unwrap() > 0.1);
    assert_eq!(whole.density(&[0.0]).unwrap_err().to_string(), "a place has 1 values, and the box has 2");
    // The density sums to one.
    let steps = 200;
    let sum: f64 = (0..steps * steps)
        .map(|at| {
            let [x, y] = [at / steps, at % steps].map(|at| (at as f64 + 0.5) / steps as f64);
            whole.density(&[-1.0 + 3.0 * x, -0.5 + 2.0 * y]).unwrap()
        })
        .sum();
    assert_abs_diff_eq!(sum * 6.0 / (steps * steps) as f64, 1.0, epsilon = 1e-6);
}

#[test]
fn what_has_no_ground_state_is_named() {
    let refusal = |lambda, weights: Array2<f64>, bounds: &[(f64, f64)]| {
        BoxGroundState::new(lambda, weights.view(), bounds, 1e-6).unwrap_err()
    };
    let unit = [(-1.0, 1.0), (-1.0, 1.0)];
    assert_eq!(
        refusal(1.0, array![[1.0, 2.0], [2.0, 1.0]], &unit).to_string(),
        "the matrix of weights must be symmetric and positive definite, and it is not"
    );
    for weights in [
        array![[1.0, 0.5], [0.4, 1.0]],
        array![[1.0, 1.0], [1.0, 1.0]],
        array![[0.0, 0.0], [0.0, 1.0]],
        array![[f64::NAN, 0.0], [0.0, 1.0]],
        array![[f64::INFINITY, 0.0], [0.0, 1.0]],
    ] {
        assert_eq!(refusal(1.0, weights, &unit), Error::NotPositiveDefinite);
    }
    assert_eq!(refusal(1.0, array![[1.0]], &unit).to_string(), "weights are 1 x 1 for 2 pairs of bounds");
    assert!(matches!(refusal(1.0, Array2::zeros((0, 0)), &[]), Error::Shape(_)));
    assert!(matches!(refusal(-1.0, array![[1.0]], &[(0.0, 1.0)]), Error::Parameter { .. }));
    assert!(matches!(refusal(1.0, array![[1.0]], &[(1.0, 0.0)]), Error::Interval { .. }));
    // This matrix is so nearly singular that a million products of states do not suffice.
    let weights = array![[1.0, 1.0 - 1e-9], [1.0 - 1e-9, 1.0]];
    assert!(matches!(refusal(1.0, weights, &unit), Error::NotConverged { .. }));
    let eight = Array2::eye(8);
    assert!(matches!(refusal(1.0, eight, &[(-1.0, 1.0); 8]), Error::NotConverged { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_objective_is_four_mu(
        lambda in -2.0..3.0f64, ratio in -1.0..1.0f64, coupling in -0.8..0.8f64,
        lower in prop::array::uniform2(-2.0..1.0f64), width in prop::array::uniform2(0.5..4.0f64),
    ) {
        let (lambda, root) = (10f64.powf(lambda), 10f64.powf(ratio));
        let weights = array![[1.0, coupling * root], [coupling * root, root * root]];
        let bounds = [0, 1].map(|at| (lower[at], lower[at] + width[at]));
        let whole = solved(lambda, &weights, &bounds, 1e-6);
        prop_assert!((whole.objective() / (4.0 * whole.mu()) - 1.0).abs() < 1e-8);
        // The product of the axes' states is an upper bound.
        let determinant = root * root * (1.0 - coupling * coupling);
        let product: f64 = [root * root, 1.0]
            .into_iter()
            .zip(bounds)
            .map(|(other, (lower, upper))| {
                GroundState::new(lambda, determinant / other, lower, upper).unwrap().mu()
            })
            .sum();
        prop_assert!(whole.mu() <= product * (1.0 + 1e-9), "{} and {product}", whole.mu());
    }

    #[test]
    fn no_number_is_too_wild(
        lambda in any::<f64>(),
        weights in prop::array::uniform4(any::<f64>()),
        bounds in prop::array::uniform4(any::<f64>()),
    ) {
        let [a, b, c, d] = weights;
        let bounds = [
            (bounds[0].min(bounds[1]), bounds[0].max(bounds[1])),
            (bounds[2].min(bounds[3]), bounds[2].max(bounds[3])),
        ];
        for weights in [array![[a, b], [c, d]], array![[a.abs(), 0.0], [0.0, d.abs()]]] {
            if let Ok(whole) = BoxGroundState::new(lambda.abs(), weights.view(), &bounds, 0.5) {
                prop_assert!(whole.mu() > 0.0 && whole.mu().is_finite());
            }
        }
    }
}
