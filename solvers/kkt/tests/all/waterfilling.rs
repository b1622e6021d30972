//! Water-filling against its KKT conditions, a root found by argmin, and the numbers of the paper's third
//! figure.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use argmin::core::{CostFunction, Executor, State};
use argmin::solver::brent::BrentRoot;
use proptest::prelude::*;
use scumble_kkt::{Error, Waterfilling, decoding_loss, equal_power_loss};

#[test]
fn figure_3_has_the_numbers_of_the_reference() {
    // ε, Z', σ² of the first and of the others, and the losses for r = 1: task-aware, task-agnostic,
    // privacy-agnostic with Z = 2. Another implementation of (11) to (13) as printed computed them; the third
    // setting to 60 digits.
    for (others, epsilon, rank, first, rest, aware, agnostic, privacy_agnostic) in [
        (0.0, 1.0, 1, 1.0, 0.0, 3.5555555555555554, 3.878787878787879, 3.764705882352941),
        (0.0, 2.0, 1, 1.0, 0.0, 2.6666666666666665, 3.5555555555555554, 3.2),
        (0.0, 4.0, 1, 1.0, 0.0, 1.3333333333333333, 2.6666666666666665, 2.0),
        (0.0, 8.0, 1, 1.0, 0.0, 0.4444444444444444, 1.3333333333333333, 0.8),
        (0.0, 16.0, 1, 1.0, 0.0, 0.12121212121212122, 0.4444444444444444, 0.23529411764705882),
        (0.0, 100.0, 1, 1.0, 0.0, 0.00319744204636291, 0.012759170653907496, 0.006389776357827476),
        (1.0, 1.0, 1, 1.0, 0.0, 6.555555555555555, 6.787878787878788, 6.705882352941177),
        (1.0, 2.0, 1, 1.0, 0.0, 5.666666666666666, 6.222222222222221, 6.0),
        (1.0, 4.0, 4, 0.7, 0.1, 4.166666666666666, 4.666666666666666, 4.5),
        (1.0, 8.0, 4, 0.475, 0.175, 2.083333333333333, 2.333333333333333, 3.0),
        (1.0, 16.0, 4, 0.41875, 0.19375, 0.6944444444444444, 0.7777777777777777, 2.2941176470588234),
        (1.0, 100.0, 4, 0.40048, 0.19984, 0.019936204146730464, 0.022328548644338118, 2.0079872204472844),
        (2.0, 2.0, 4, 0.8833951691533667, 0.0388682769488777, 8.660125055217142, 8.88888888888889, 8.8),
    ] {
        let eigenvalues = [4.0, others, others, others];
        let noise = 8.0 / (epsilon * epsilon);
        let filled = Waterfilling::new(&eigenvalues, noise).unwrap();
        assert_eq!(filled.rank(), rank);
        for (share, expected) in filled.sigma_squared().iter().zip([first, rest, rest, rest]) {
            assert_abs_diff_eq!(*share, expected, epsilon = 1e-12);
        }
        assert_relative_eq!(filled.loss(), aware, max_relative = 1e-12);
        assert_relative_eq!(
            decoding_loss(&eigenvalues, filled.sigma_squared(), noise).unwrap(),
            aware,
            max_relative = 1e-12
        );
        assert_relative_eq!(
            equal_power_loss(&eigenvalues, noise, 4).unwrap(),
            agnostic,
            max_relative = 1e-12
        );
        assert_relative_eq!(
            equal_power_loss(&eigenvalues, noise, 2).unwrap(),
            privacy_agnostic,
            max_relative = 1e-12
        );
    }
}

/// Σ max(0, m·√(λᵢc) − c) − 1 with m = 1/√ν: the power allocated at a multiplier minus the available power.
#[derive(Clone)]
struct Allocated {
    eigenvalues: Vec<f64>,
    noise: f64,
}

impl CostFunction for Allocated {
    type Param = f64;
    type Output = f64;

    fn cost(&self, m: &f64) -> Result<f64, argmin::core::Error> {
        let level = |lambda: &f64| (m * (lambda * self.noise).sqrt() - self.noise).max(0.0);
        Ok(self.eigenvalues.iter().map(level).sum::<f64>() - 1.0)
    }
}

impl Allocated {
    /// The allocation at the root found by argmin's loop.
    fn by_argmin(&self) -> Vec<f64> {
        let largest = self.eigenvalues.iter().copied().fold(0.0, f64::max);
        let most = 2.0 * (1.0 + self.noise) / (largest * self.noise).sqrt();
        let run = Executor::new(self.clone(), BrentRoot::new(0.0, most, 1e-15 * most))
            .configure(|state| state.param(0.0).max_iters(500))
            .timer(false)
            .run()
            .unwrap();
        let m = run.state.get_best_param().unwrap();
        self.eigenvalues
            .iter()
            .map(|lambda| (m * (lambda * self.noise).sqrt() - self.noise).max(0.0))
            .collect()
    }
}

/// Eigenvalues over a few orders of magnitude, some equal and some zero.
fn eigenvalues() -> impl Strategy<Value = Vec<f64>> {
    let eigenvalue = prop_oneof![
        1 => Just(0.0),
        2 => prop::sample::select(vec![0.25, 1.0, 4.0]),
        4 => (-4.0..4.0f64).prop_map(|power| 10f64.powf(power)),
    ];
    prop::collection::vec(eigenvalue, 1..12)
}

proptest! {
    #[test]
    fn the_allocation_is_argmins(mut eigenvalues in eigenvalues(), power in -3.0..3.0f64) {
        eigenvalues.push(1.0);
        let allocated = Allocated { eigenvalues, noise: 10f64.powf(power) };
        let filled = Waterfilling::new(&allocated.eigenvalues, allocated.noise).unwrap();
        let theirs = allocated.by_argmin();
        for (ours, theirs) in filled.sigma_squared().iter().zip(&theirs) {
            prop_assert!((ours - theirs).abs() < 1e-8, "{ours} and {theirs}");
        }
        let their_loss = decoding_loss(&allocated.eigenvalues, &theirs, allocated.noise).unwrap();
        prop_assert!((filled.loss() / their_loss - 1.0).abs() < 1e-8, "{} and {their_loss}", filled.loss());
    }

    /// The allocation is feasible, stationary where σᵢ² > 0, and worth at most ν elsewhere.
    #[test]
    fn the_conditions_of_kkt_hold(mut eigenvalues in eigenvalues(), power in -6.0..6.0f64) {
        eigenvalues.push(0.5);
        let c = 10f64.powf(power);
        let filled = Waterfilling::new(&eigenvalues, c).unwrap();
        let (sigma_squared, nu) = (filled.sigma_squared(), filled.multiplier());
        prop_assert!((sigma_squared.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        prop_assert_eq!(sigma_squared.iter().filter(|share| **share > 0.0).count(), filled.rank());
        for (lambda, share) in eigenvalues.iter().zip(sigma_squared) {
            let gain = lambda * (c / (share + c)) / (share + c);
            if *share > 0.0 {
                // The effect of the share's last digit at a slope of 2/(σ² + c).
                prop_assert!((gain / nu - 1.0).abs() < 1e-12 + 1e-14 / c, "{gain} and {nu}");
            } else {
                prop_assert!(*share == 0.0 && gain <= nu * (1.0 + 1e-12), "{gain} and {nu}");
            }
        }
        let again = decoding_loss(&eigenvalues, sigma_squared, c).unwrap();
        prop_assert!((filled.loss() / again - 1.0).abs() < 1e-9, "{} and {again}", filled.loss());
    }

    #[test]
    fn no_other_allocation_loses_less(
        eigenvalues in eigenvalues(),
        weights in prop::collection::vec(0.0..1.0f64, 12),
        power in -3.0..3.0f64,
        latent_dim in 1usize..12,
    ) {
        let (n, c) = (eigenvalues.len(), 10f64.powf(power));
        let total = weights[..n].iter().sum::<f64>() + 1e-9;
        let other: Vec<f64> = weights[..n].iter().map(|weight| weight / total).collect();
        let least = Waterfilling::new(&eigenvalues, c).unwrap().loss() * (1.0 - 1e-12);
        prop_assert!(least <= decoding_loss(&eigenvalues, &other, c).unwrap());
        let latent_dim = latent_dim.min(n);
        let capped = Waterfilling::with_latent_dim(&eigenvalues, c, latent_dim).unwrap();
        prop_assert!(capped.rank() <= latent_dim && least <= capped.loss());
        prop_assert!(capped.loss() * (1.0 - 1e-12) <= equal_power_loss(&eigenvalues, c, latent_dim).unwrap());
    }

    #[test]
    fn the_order_and_the_units_of_eigenvalues_change_nothing(
        eigenvalues in eigenvalues(), power in -3.0..3.0f64, scale in -900i32..900, turn in 0usize..12,
    ) {
        let c = 10f64.powf(power);
        let filled = Waterfilling::new(&eigenvalues, c).unwrap();
        let unit = 4f64.powi(scale / 2);
        let mut turned: Vec<f64> = eigenvalues.iter().map(|lambda| lambda * unit).collect();
        turned.rotate_left(turn % eigenvalues.len());
        let turned_filled = Waterfilling::new(&turned, c).unwrap();
        let mut shares = turned_filled.sigma_squared().to_vec();
        shares.rotate_right(turn % eigenvalues.len());
        prop_assert_eq!(shares, filled.sigma_squared());
        prop_assert!((turned_filled.loss() - filled.loss() * unit).abs() <= 1e-14 * turned_filled.loss());
    }

    #[test]
    fn nothing_leaves_the_floats(
        powers in prop::collection::vec(-300.0..300.0f64, 1..12),
        noise in -300.0..300.0f64,
        latent_dim in 1usize..12,
    ) {
        let eigenvalues: Vec<f64> = powers.iter().map(|power| 10f64.powf(*power)).collect();
        let (n, c) = (eigenvalues.len(), 10f64.powf(noise));
        let filled = Waterfilling::with_latent_dim(&eigenvalues, c, latent_dim.min(n)).unwrap();
        prop_assert!(filled.rank() >= 1 && filled.multiplier().is_finite());
        prop_assert!((filled.sigma_squared().iter().sum::<f64>() - 1.0).abs() < 1e-14);
        prop_assert!(filled.sigma_squared().iter().all(|share| (0.0..=1.0).contains(share)));
        let largest = eigenvalues.iter().copied().fold(0.0, f64::max);
        let (least, most) = (largest * (c / (1.0 + c)) * (1.0 - 1e-14), eigenvalues.iter().sum::<f64>());
        prop_assert!((least..=most * (1.0 + 1e-14)).contains(&filled.loss()), "{} of {most}", filled.loss());
    }
}

#[test]
fn digits_survive_noise_of_any_size() {
    // For λ = 1 + x and 1 the first share is ½ + (½ + c)·(√(1 + x) − 1)/(√(1 + x) + 1), where all digits
    // count.
    for (x, c, first) in [
        (2f64.powi(-50), 2f64.powi(49), 0.625),
        (2f64.powi(-50), 2f64.powi(51), 1.0),
        (2f64.powi(-40), 2f64.powi(40), 0.75),
        (2f64.powi(-52), 1e300, 1.0),
        (0.0, 1e300, 0.5),
    ] {
        let filled = Waterfilling::new(&[1.0, 1.0 + x], c).unwrap();
        assert_relative_eq!(filled.sigma_squared()[1], first, max_relative = 1e-12);
        assert_relative_eq!(
            filled.sigma_squared()[0] + filled.sigma_squared()[1],
            1.0,
            epsilon = 0.0,
            max_relative = 1e-15
        );
        assert_relative_eq!(filled.loss(), 2.0, max_relative = 1e-12);
    }
    for (eigenvalues, c, loss) in [
        ([1e300, 1e-300], 1e-300, 1.0),
        ([1e300, 1e300], 1e300, 2e300),
        ([1e-300, 1e-300], 1e300, 2e-300),
        ([1e300, 0.0], 1e-310, 1e-10),
        ([f64::MAX, 0.0], 1.0, f64::MAX / 2.0),
    ] {
        assert_relative_eq!(
            Waterfilling::new(&eigenvalues, c).unwrap().loss(),
            loss,
            epsilon = 0.0,
            max_relative = 1e-12
        );
    }
}

#[test]
fn without_noise_nothing_is_lost_and_shares_are_in_proportion_to_roots() {
    let filled = Waterfilling::new(&[1.0, 0.0, 9.0, 4.0], 0.0).unwrap();
    assert_eq!(filled.sigma_squared(), [1.0 / 6.0, 0.0, 0.5, 1.0 / 3.0]);
    assert_eq!((filled.rank(), filled.loss(), filled.multiplier()), (3, 0.0, 0.0));
    let capped = Waterfilling::with_latent_dim(&[1.0, 0.0, 9.0, 4.0], 0.0, 2).unwrap();
    assert_eq!(capped.sigma_squared(), [0.0, 0.0, 0.6, 0.4]);
    assert_eq!((capped.rank(), capped.loss()), (2, 1.0));
    assert_eq!(decoding_loss(&[1.0, 2.0], &[0.0, 0.5], 0.0), Ok(1.0));
    assert_eq!(equal_power_loss(&[1.0, 2.0], 0.0, 1), Ok(1.0));
}

#[test]
fn equal_eigenvalues_stand_or_fall_together() {
    for c in [0.0, 1e-9, 1.0, 1e9, 1e300] {
        let filled = Waterfilling::new(&[3.0; 5], c).unwrap();
        assert_eq!(filled.rank(), 5);
        for share in filled.sigma_squared() {
            assert_relative_eq!(*share, 0.2, epsilon = 0.0, max_relative = 1e-15);
        }
        assert_relative_eq!(
            filled.loss(),
            equal_power_loss(&[3.0; 5], c, 5).unwrap(),
            epsilon = 0.0,
            max_relative = 1e-15
        );
    }
    // Of three equal eigenvalues for one component, the first is taken.
    let capped = Waterfilling::with_latent_dim(&[1.0, 2.0, 2.0, 2.0], 1.0, 1).unwrap();
    assert_eq!(capped.sigma_squared(), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(capped.loss(), 6.0);
}

#[test]
fn where_nothing_weighs_nothing_is_allocated() {
    for c in [0.0, 2.0] {
        let filled = Waterfilling::new(&[0.0, -0.0], c).unwrap();
        assert_eq!((filled.rank(), filled.loss(), filled.multiplier()), (0, 0.0, 0.0));
        assert_eq!(filled.sigma_squared(), [0.0, 0.0]);
        assert!(filled.loss().is_sign_positive() && filled.multiplier().is_sign_positive());
    }
}

#[test]
fn what_is_no_problem_is_one_sentence() {
    let refusal =
        |eigenvalues: &[f64], noise: f64| Waterfilling::new(eigenvalues, noise).unwrap_err().to_string();
    for (error, expected) in [
        (refusal(&[], 1.0), "there are no eigenvalues, and at least one is needed"),
        (
            refusal(&[1.0, -2.0], 1.0),
            "eigenvalue 1, counted from 0, must be finite and not negative, and -2 is not",
        ),
        (
            refusal(&[f64::NAN], 1.0),
            "eigenvalue 0, counted from 0, must be finite and not negative, and NaN is not",
        ),
        (
            refusal(&[f64::INFINITY], 1.0),
            "eigenvalue 0, counted from 0, must be finite and not negative, and inf is not",
        ),
        (refusal(&[1.0], -1.0), "the noise's variance must be finite and not negative, and -1 is not"),
        (refusal(&[1.0], f64::NAN), "the noise's variance must be finite and not negative, and NaN is not"),
        (
            refusal(&[1.0], f64::INFINITY),
            "the noise's variance must be finite and not negative, and inf is not",
        ),
    ] {
        assert_eq!(error, expected);
    }
    for latent_dim in [0, 3] {
        let expected = Error::LatentDim { latent_dim, most: 2 };
        assert_eq!(Waterfilling::with_latent_dim(&[1.0, 1.0], 1.0, latent_dim), Err(expected.clone()));
        assert_eq!(equal_power_loss(&[1.0, 1.0], 1.0, latent_dim), Err(expected));
    }
    assert!(matches!(decoding_loss(&[1.0], &[1.0, 2.0], 1.0), Err(Error::Shape(_))));
    assert!(matches!(decoding_loss(&[1.0], &[-1.0], 1.0), Err(Error::Parameter { name: "a power", .. })));
    assert!(matches!(equal_power_loss(&[], 1.0, 1), Err(Error::Shape(_))));
}
