//! Properties of the calculators of Dauntless, for any numbers.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use proptest::prelude::*;
use scumble_accounting::multiplicative::{ColumnDistribution, Deltas, Release};
use scumble_accounting::pac::{self, Setting};

const IMAGES: Setting =
    Setting { error: 0.001, delta: 0.1, dim: 784, beta: 50.0, public_variance: 1.0, private_variance: 1.0 };

/// A budget of Corollary 1 for an output of eight bits per coordinate.
fn data_budget(setting: Setting) -> f64 {
    pac::corollary_1(&setting, 8.0 * setting.dim as f64).unwrap().budget
}

/// A budget of Theorem 3, and the denominator of its printed form.
fn weight_budget(setting: Setting, out_dim: u64) -> (f64, f64) {
    let found = pac::theorem_3(&setting, out_dim).unwrap();
    let weights = (setting.dim * out_dim) as f64;
    let sample_bits = (weights * (setting.beta / found.packing_width).log2() - 1.0) / found.budget_as_printed;
    (found.budget, sample_bits)
}

#[test]
fn a_budget_falls_as_recovery_counts_farther_off_and_fails_more_often() {
    let errors = [1e-4, 5e-4, 1e-3, 2e-3].map(|error| data_budget(Setting { error, ..IMAGES }));
    assert!(errors.is_sorted_by(|near, far| near > far), "{errors:?}");
    let deltas = [0.01, 0.05, 0.1, 0.2].map(|delta| data_budget(Setting { delta, ..IMAGES }));
    assert!(deltas.is_sorted_by(|seldom, often| seldom > often), "{deltas:?}");
}

#[test]
fn the_entropy_of_private_records_raises_both_budgets() {
    let variances = [0.1, 0.5, 1.0, 10.0];
    let data = variances.map(|private_variance| data_budget(Setting { private_variance, ..IMAGES }));
    assert!(data.is_sorted_by(|less, more| less < more), "{data:?}");
    let small = Setting { dim: 12, beta: 10.0, ..IMAGES };
    let weights =
        variances.map(|private_variance| weight_budget(Setting { private_variance, ..small }, 12).0);
    assert!(weights.is_sorted_by(|less, more| less < more), "{weights:?}");
}

/// The result at image scale (errata D3): at an error of a tenth nothing can be packed.
#[test]
fn a_budget_is_vacuous_where_nothing_can_be_packed() {
    let vacuous = pac::corollary_1(&Setting { error: 0.1, ..IMAGES }, 6272.0).unwrap();
    assert!(vacuous.packing_width > IMAGES.beta && vacuous.is_vacuous() && vacuous.budget == 0.0);
    assert!(!pac::corollary_1(&IMAGES, 6272.0).unwrap().is_vacuous());
    // A budget of less than one sample is vacuous.
    let less = pac::corollary_1(&IMAGES, 1e7).unwrap();
    assert!(less.budget > 0.0 && less.is_vacuous(), "{less:?}");
    let weights = pac::theorem_3(&Setting { error: 100.0, dim: 4, ..IMAGES }, 4).unwrap();
    assert!(weights.packing_width > IMAGES.beta && weights.is_vacuous() && weights.budget == 0.0);
}

/// The closed forms of one dimension: ½log₂E = E log₂|u| = −1/ln 2 for u uniform on [−1, 1]. h(g·u) is the
/// entropy of the density E₁(x²/2)/√(8π), integrated elsewhere.
#[test]
fn what_a_sample_tells_is_never_taken_for_less() {
    let alone = Setting { dim: 1, public_variance: 0.0, ..IMAGES };
    let exact = ENTROPY_OF_A_PRODUCT - 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E).log2()
        + 1.0 / 2f64.ln();
    let (_, sample_bits) = weight_budget(alone, 1);
    assert!((exact..1.45 * exact).contains(&sample_bits), "{sample_bits} for {exact}");
    // By Jensen's inequality a sample reveals at least ½d′log₂(d/3) − ½log₂(d!/(d − d′)!/3^d′) bits.
    for (dim, out_dim) in [(2, 1), (5, 3), (16, 16), (40, 10)] {
        let (_, sample_bits) = weight_budget(Setting { dim, public_variance: 0.0, ..IMAGES }, out_dim);
        let factors = (dim - out_dim + 1..=dim).map(|factor| (factor as f64 / dim as f64).log2());
        let jensen = -factors.sum::<f64>() / 2.0;
        assert!(
            sample_bits > jensen && sample_bits < jensen + 1.5 + out_dim as f64 / 2.0,
            "{dim} × {out_dim}: {sample_bits}, {jensen}"
        );
    }
}

/// The entropy, in bits, of a product of a standard Gaussian number and a number uniform on [−1, 1].
const ENTROPY_OF_A_PRODUCT: f64 = 1.0944938786630356;

#[test]
fn what_is_no_setting_is_named() {
    let refused = |setting: Setting| pac::corollary_1(&setting, 64.0).unwrap_err().to_string();
    for (setting, named) in [
        (Setting { error: 0.0, ..IMAGES }, "the error is 0"),
        (Setting { delta: 0.5, ..IMAGES }, "delta is 0.5, and must be strictly between zero and one half"),
        (Setting { delta: f64::NAN, ..IMAGES }, "delta is NaN"),
        (Setting { dim: 0, ..IMAGES }, "the dimension is 0"),
        (Setting { beta: -1.0, ..IMAGES }, "beta is -1"),
        (Setting { private_variance: 0.0, ..IMAGES }, "the private variance is 0"),
        (Setting { public_variance: f64::INFINITY, ..IMAGES }, "the public variance is inf"),
    ] {
        assert!(refused(setting).contains(named), "{}", refused(setting));
    }
    assert!(pac::corollary_1(&IMAGES, 0.0).is_err());
    let small = Setting { dim: 4, ..IMAGES };
    assert!(pac::theorem_3(&small, 0).is_err() && pac::theorem_3(&small, 5).is_err());
    let wide = pac::theorem_3(&Setting { dim: 5000, ..IMAGES }, 10).unwrap_err().to_string();
    assert!(wide.contains("5000, and must be at most 4096"), "{wide}");
}

const DELTAS: Deltas = Deltas { direction: 1e-9, radius: 1e-9, composition: 1e-6 };

#[test]
fn multiplicative_privacy_grows_with_v_and_with_the_records() {
    let epsilon = |records, v| {
        Release::new(1.0, records, 10).unwrap().epsilon(v, ColumnDistribution::Gaussian, DELTAS).unwrap()
    };
    // Beyond 10⁸ the quantile is replaced by a bound on it, so the two are not comparable.
    for records in [&[100, 120, 200, 1000, 30_000, 1_000_000, 100_000_000][..], &[100_000_001, 1 << 40]] {
        let epsilons: Vec<f64> = records.iter().map(|&records| epsilon(records, 100.0)).collect();
        assert!(epsilons.is_sorted_by(|fewer, more| fewer > more), "{epsilons:?}");
    }
    assert_relative_eq!(epsilon(100_000_001, 100.0), epsilon(100_000_000, 100.0), max_relative = 1e-3);
    let by_v = [1.0, 10.0, 100.0, 1e6].map(|v| epsilon(1000, v));
    assert!(by_v.is_sorted_by(|less, more| less > more), "{by_v:?}");
}

#[test]
fn a_gaussian_matrix_is_a_radial_one_whatever_its_variance() {
    // The quantile of χ² with 200 degrees of freedom, exceeded with probability 10⁻⁹ (SciPy, 1.17).
    let quantile: f64 = 344.1420796090935;
    let release = Release::new(1.0, 200, 3).unwrap();
    let gaussian = release.epsilon(50.0, ColumnDistribution::Gaussian, DELTAS).unwrap();
    for variance in [0.01, 1.0, 9.0] {
        let radial =
            ColumnDistribution::Radial { lipschitz: 0.5 / variance, radius: (variance * quantile).sqrt() };
        let ratio = release.epsilon(50.0, radial, DELTAS).unwrap() / gaussian;
        assert_abs_diff_eq!(ratio, 1.0, epsilon = 1e-7);
    }
}

#[test]
fn too_few_records_are_an_error_of_their_own() {
    let release = |records| Release::new(1.0, records, 4).unwrap();
    // 4·ln(16/10⁻⁹) = 93.98.
    let refused = release(93).epsilon(1e6, ColumnDistribution::Gaussian, DELTAS).unwrap_err().to_string();
    assert!(
        refused.contains("the number of records is 93, and must be more than 4 ln(16/delta0)"),
        "{refused}"
    );
    assert!(release(94).epsilon(1e6, ColumnDistribution::Gaussian, DELTAS).is_ok());
    let refused = release(40).least_v(1.0, 1e-6).unwrap_err().to_string();
    assert!(refused.contains("the number of records is 40"), "{refused}");
    assert!(
        Release::new(0.0, 100, 1).is_err()
            && Release::new(1.0, 0, 1).is_err()
            && Release::new(1.0, 9, 0).is_err()
    );
    assert!(
        release(100).epsilon(0.0, ColumnDistribution::Gaussian, DELTAS).is_err()
            && release(100).gaussian(-1.0, 1e-6).is_err()
    );
    assert!(release(100).least_v(0.0, 1e-6).is_err() && release(100).least_v(1.0, 0.0).is_err());
    assert!(
        release(1000)
            .epsilon(1.0, ColumnDistribution::Gaussian, Deltas { composition: 1.0, ..DELTAS })
            .is_err()
    );
    assert!(
        release(1000)
            .epsilon(1.0, ColumnDistribution::Gaussian, Deltas { direction: 0.0, ..DELTAS })
            .is_err()
    );
    let zero = ColumnDistribution::Radial { lipschitz: 0.0, radius: 1.0 };
    assert!(release(1000).epsilon(1.0, zero, DELTAS).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_least_v_meets_its_target_and_no_less_does(
        epsilon in 0.05..10.0_f64,
        exponent in 3.0..12.0_f64,
        records in 300u64..100_000,
        columns in 1u64..900,
    ) {
        let (release, delta) = (Release::new(2.0, records, columns).unwrap(), 10f64.powf(-exponent));
        let (v, private) = release.least_v(epsilon, delta).unwrap();
        prop_assert!(private.epsilon <= epsilon && private.deltas.total(columns) <= delta);
        // At this v no other split of δ that was tried is better, and no smaller v is.
        let best = release.gaussian(v, delta).unwrap();
        prop_assert!(best.epsilon > epsilon * (1.0 - 1e-4), "{best:?}");
        prop_assert!(release.gaussian(v * 0.999, delta).unwrap().epsilon > epsilon);
        for share in [0.1, 0.5, 0.9] {
            let each = delta / 2.0 / columns as f64;
            let deltas =
                Deltas { direction: each * share, radius: each * (1.0 - share), composition: delta / 2.0 };
            let halves = release.epsilon(v, ColumnDistribution::Gaussian, deltas);
            prop_assert!(halves.is_err() || halves.unwrap() > best.epsilon * (1.0 - 1e-6));
        }
    }
}
