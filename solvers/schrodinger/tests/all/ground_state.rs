//! Ground states in one dimension: against numbers from confluent hypergeometric functions at 80 digits,
//! against limits, and for consistency.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use proptest::prelude::*;
use scumble_schrodinger::{Error, GroundState};

fn solved(lambda: f64, weight: f64, lower: f64, upper: f64) -> GroundState {
    GroundState::new(lambda, weight, lower, upper).unwrap()
}

struct Fact {
    /// The parameters λ, ϑ, a, b.
    parameters: [f64; 4],
    mu: f64,
    mean: f64,
    second_moment: f64,
    density: &'static [(f64, f64)],
}

/// Zeros at 80 digits, and integrals by mpmath.
///
/// The zeros satisfy the conditions w(a) = w(b) = 0 on e^{−x²/2}·M((1−E)/4, ½, x²) and
/// x·e^{−x²/2}·M((3−E)/4, 3/2, x²). Here x = n/ℓ, ℓ⁴ = 4/(λϑ) and μ = ½√(λ/ϑ)·E.
const FACTS: [Fact; 8] = [
    Fact {
        parameters: [4.0, 2.0, -1.0, 3.0],
        mu: 0.9349190898164348,
        mean: 0.283300035232835,
        second_moment: 0.3256609628089115,
        density: &[
            (2.0, 0.004806025162654918),
            (2.99, 2.97288164164426e-08),
            (-0.999, 1.1334973183210353e-06),
        ],
    },
    Fact {
        parameters: [1.0, 1.0, -10.0, 10.0],
        mu: 0.5,
        mean: 0.0,
        second_moment: 1.0,
        density: &[
            (9.0, 1.0278059471155349e-18),
            (9.9, 8.167674737173695e-23),
            (9.999, 7.53832610424764e-27),
            (-9.99, 7.544416524504136e-25),
        ],
    },
    Fact {
        parameters: [1e4, 2.0, -1.0, 0.02],
        mu: 93.42091919678731,
        mean: -0.11879450999004755,
        second_moment: 0.017496238739456986,
        density: &[
            (-0.05, 4.2650114265516095),
            (-0.4, 0.0015176732005392744),
            (0.0199, 1.1879443679212633e-05),
        ],
    },
    Fact {
        parameters: [100.0, 3.0, 0.5, 2.0],
        mu: 23.436698031977432,
        mean: 0.8079274151959817,
        second_moment: 0.6707158093201863,
        density: &[
            (0.51, 0.01209824942357434),
            (0.7, 2.6261194441427222),
            (1.2, 0.0959890719301018),
            (1.99, 1.0314817492137615e-10),
        ],
    },
    Fact {
        parameters: [100.0, 3.0, -2.0, -0.5],
        mu: 23.436698031977432,
        mean: -0.8079274151959817,
        second_moment: 0.6707158093201863,
        density: &[(-0.7, 2.6261194441427222)],
    },
    Fact {
        parameters: [1.0, 1.0, -0.01, 12.0],
        mu: 1.4920406814132945,
        mean: 1.5879598826832841,
        second_moment: 2.9761415634131723,
        density: &[(0.0, 7.9394045397994e-05), (1.0, 0.4873462333537194), (8.0, 6.262706630566137e-13)],
    },
    Fact {
        parameters: [50.0, 1.0, 2.0, 3.0],
        mu: 84.50250664416923,
        mean: 2.3824992156038167,
        second_moment: 5.702750247843891,
        density: &[(2.1, 0.561673513318526), (2.5, 1.6248269352883058), (2.95, 0.007645493575110907)],
    },
    Fact {
        parameters: [1e-6, 1.0, -3.0, 1.0],
        mu: 0.616850655758976,
        mean: -0.9999997191011087,
        second_moment: 1.5227632644925178,
        density: &[(0.0, 0.250000123074751), (0.9, 0.0030779166923768195)],
    },
];

#[test]
fn energies_moments_and_tails_are_those_of_hypergeometric_functions() {
    for Fact { parameters: [lambda, weight, lower, upper], mu, mean, second_moment, density } in FACTS {
        let state = solved(lambda, weight, lower, upper);
        assert_relative_eq!(state.mu(), mu, max_relative = 1e-13);
        assert_relative_eq!(state.second_moment(), second_moment, max_relative = 1e-12);
        assert_relative_eq!(state.objective(), 4.0 * mu, max_relative = 1e-12);
        assert_abs_diff_eq!(state.mean(), mean, epsilon = 1e-13);
        for &(n, expected) in density {
            assert_relative_eq!(state.density(n), expected, epsilon = 0.0, max_relative = 1e-11);
            assert_relative_eq!(state.amplitude(n).powi(2), expected, epsilon = 0.0, max_relative = 1e-11);
            assert_abs_diff_eq!(state.log_density(n), expected.ln(), epsilon = 1e-11);
        }
    }
}

#[test]
fn without_a_price_on_variance_it_is_a_cosine() {
    for (lower, upper, weight) in [(-1.0, 1.0, 1.0), (0.0, 1e-9, 3.0), (100.0, 300.0, 0.01)] {
        let state = solved(0.0, weight, lower, upper);
        let width = upper - lower;
        let pi = std::f64::consts::PI;
        assert_relative_eq!(state.mu(), (pi / width).powi(2) / weight, epsilon = 0.0, max_relative = 1e-13);
        assert_relative_eq!(
            state.fisher_information(),
            (2.0 * pi / width).powi(2),
            epsilon = 0.0,
            max_relative = 1e-13
        );
        assert_relative_eq!(state.mean(), (lower + upper) / 2.0, epsilon = 0.0, max_relative = 1e-13);
        assert_relative_eq!(
            state.variance(),
            width * width * (1.0 / 12.0 - 0.5 / pi.powi(2)),
            epsilon = 0.0,
            max_relative = 1e-13
        );
        assert_relative_eq!(
            state.density(lower + 0.25 * width),
            1.0 / width,
            epsilon = 0.0,
            max_relative = 1e-12
        );
    }
}

#[test]
fn far_from_the_bounds_it_is_a_gaussian() {
    for lambda in [1e-8f64, 1.0, 1e8, 1e16, 1e100, 1e250] {
        for weight in [1e-3, 1.0, 1e5] {
            let variance = 1.0 / (lambda * weight).sqrt();
            let far = 50.0 * variance.sqrt();
            for (lower, upper) in [(-far, far), (-1e30 * far, 3.0 * far)] {
                let state = solved(lambda, weight, lower, upper);
                assert_relative_eq!(
                    state.mu(),
                    (lambda / weight).sqrt() / 2.0,
                    epsilon = 0.0,
                    max_relative = 1e-13
                );
                assert_relative_eq!(state.variance(), variance, epsilon = 0.0, max_relative = 1e-12);
                assert_relative_eq!(
                    state.fisher_information(),
                    1.0 / variance,
                    epsilon = 0.0,
                    max_relative = 1e-12
                );
                for deviations in [0.0f64, 1.0, 10.0, 30.0, 37.0] {
                    let expected =
                        (-deviations.powi(2) / 2.0).exp() / (2.0 * std::f64::consts::PI * variance).sqrt();
                    assert_relative_eq!(
                        state.density(-deviations * variance.sqrt()),
                        expected,
                        epsilon = 0.0,
                        max_relative = 3e-12
                    );
                }
                assert_eq!(state.density(-45.0 * variance.sqrt()), 0.0);
            }
        }
    }
}

#[test]
fn at_an_edge_it_is_the_oscillator_s_first_odd_state() {
    // The density's root is n·e^{−n²/4σ²} on a half line.
    for (lambda, weight) in [(1.0f64, 1.0f64), (1e16, 0.5)] {
        let sigma = (1.0 / (lambda * weight)).powf(0.25);
        let state = solved(lambda, weight, 0.0, 60.0 * sigma);
        assert_relative_eq!(state.mu(), 1.5 * (lambda / weight).sqrt(), epsilon = 0.0, max_relative = 1e-13);
        assert_relative_eq!(state.second_moment(), 3.0 * sigma * sigma, epsilon = 0.0, max_relative = 1e-12);
        assert_relative_eq!(
            state.mean(),
            sigma * (8.0 / std::f64::consts::PI).sqrt(),
            epsilon = 0.0,
            max_relative = 1e-12
        );
        let density =
            |n: f64| n * n * (-n * n / (2.0 * sigma * sigma)).exp() * (2.0 / std::f64::consts::PI).sqrt();
        for deviations in [1e-6, 1.0, 20.0] {
            let n = deviations * sigma;
            assert_relative_eq!(
                state.density(n),
                density(n) / sigma.powi(3),
                epsilon = 0.0,
                max_relative = 1e-11
            );
        }
    }
}

#[test]
fn far_outside_of_zero_it_is_airys() {
    // −w″ + g·t·w has energy g^{2/3}·2.338…, and the remaining square adds ⟨t²⟩ = (8/15)·2.338…² to first
    // order.
    let airy = 2.338107410459767;
    for (lambda, weight, lower, upper) in
        [(1e6f64, 1.0f64, 1e3f64, 1.1e3f64), (1.0, 1e6, -1e5, -1e4), (1e30, 1.0, 1.0, 2.0)]
    {
        let state = solved(lambda, weight, lower, upper);
        let centre = f64::min(f64::abs(lower), f64::abs(upper));
        let length = (2.0 / (lambda * weight * centre)).cbrt();
        let bend = lambda * weight / 4.0 * length.powi(4);
        let excess = (airy + bend * 8.0 / 15.0 * airy * airy) / (weight * length * length);
        assert_relative_eq!(
            state.mu(),
            lambda * centre * centre / 4.0 + excess,
            epsilon = 0.0,
            max_relative = 1e-13
        );
        assert_relative_eq!((state.mean().abs() - centre) / length, 2.0 / 3.0 * airy, max_relative = 1e-4);
        assert_relative_eq!(
            state.fisher_information() * length * length,
            4.0 / 3.0 * airy,
            max_relative = 1e-4
        );
    }
}

#[test]
fn outside_of_the_interval_there_is_nothing() {
    let state = solved(1.0, 1.0, -1.0, 2.0);
    for n in [-1.0, 2.0, -1.1, 3.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!((state.density(n), state.amplitude(n)), (0.0, 0.0), "{n}");
        assert_eq!(state.log_density(n), f64::NEG_INFINITY);
    }
    assert_eq!(state.mass(2.0, 5.0), 0.0);
    assert_eq!(state.mass(1.0, 0.5), 0.0);
    assert_eq!(state.mass(f64::NAN, 1.0), 0.0);
    assert_relative_eq!(state.mass(-9.0, 9.0), 1.0, max_relative = 1e-14);
    assert_eq!(state.bounds(), (-1.0, 2.0));
    assert_eq!((state.lambda(), state.weight()), (1.0, 1.0));
}

#[test]
fn the_mass_of_a_gaussian_s_tail_is_its_own() {
    // scipy.stats.norm.sf. The effect of the wall 40 deviations out is below the range of floats.
    let state = solved(1.0, 1.0, -40.0, 40.0);
    for (from, expected) in
        [(0.0, 0.5), (1.0, 0.15865525393145707), (10.0, 7.61985302416052e-24), (30.0, 4.906713927148187e-198)]
    {
        assert_relative_eq!(state.mass(from, f64::INFINITY), expected, epsilon = 0.0, max_relative = 1e-12);
        assert_relative_eq!(
            state.mass(f64::NEG_INFINITY, -from),
            expected,
            epsilon = 0.0,
            max_relative = 1e-12
        );
    }
}

#[test]
fn what_has_no_ground_state_is_named() {
    let message = |lambda, weight, lower, upper| {
        GroundState::new(lambda, weight, lower, upper).unwrap_err().to_string()
    };
    assert_eq!(message(-1.0, 1.0, 0.0, 1.0), "lambda must be finite and not negative, and -1 is not");
    assert_eq!(message(f64::NAN, 1.0, 0.0, 1.0), "lambda must be finite and not negative, and NaN is not");
    assert_eq!(message(1.0, 0.0, 0.0, 1.0), "weight must be finite and positive, and 0 is not");
    assert_eq!(
        message(1.0, 1.0, 1.0, 1.0),
        "from 1 to 1 is not an interval: both bounds must be finite, and the lower one below the upper"
    );
    for (lower, upper) in [(1.0, 0.0), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
        assert!(matches!(GroundState::new(1.0, 1.0, lower, upper), Err(Error::Interval { .. })));
    }
    assert_eq!(
        message(0.0, 1.0, -1e308, 1e308),
        "the width of this ground state is outside the range of floats"
    );
    assert_eq!(message(0.0, 1.0, 0.0, 1e-200), "mu of this ground state is outside the range of floats");
}

prop_compose! {
    /// λ, ϑ, a and b over many orders of magnitude, with 0 inside, at the edge and outside.
    fn problem()(
        lambda in -12.0..12.0f64, weight in -6.0..6.0f64, lower in -10.0..10.0f64, log_width in -3.0..3.0f64,
    ) -> [f64; 4] {
        [10f64.powf(lambda), 10f64.powf(weight), lower, lower + 10f64.powf(log_width)]
    }
}

proptest! {
    #[test]
    fn the_objective_is_four_mu([lambda, weight, lower, upper] in problem()) {
        let state = solved(lambda, weight, lower, upper);
        let objective = state.objective() / (4.0 * state.mu());
        prop_assert!((objective - 1.0).abs() < 1e-9, "{objective}");
        prop_assert!((state.mass(lower, upper) - 1.0).abs() < 1e-12);
        prop_assert!(lower < state.mean() && state.mean() < upper);
        // The Cramér–Rao bound.
        prop_assert!(state.fisher_information() * state.variance() > 1.0 - 1e-12);
    }

    #[test]
    fn a_mirror_changes_nothing([lambda, weight, lower, upper] in problem()) {
        let (state, mirrored) =
            (solved(lambda, weight, lower, upper), solved(lambda, weight, -upper, -lower));
        prop_assert!((state.mu() / mirrored.mu() - 1.0).abs() < 1e-13);
        for at in 1..10 {
            let n = lower + (upper - lower) * f64::from(at) / 10.0;
            let (one, other) = (state.log_density(n), mirrored.log_density(-n));
            prop_assert!(one == other || (one - other).abs() < 1e-10, "{one} and {other}");
        }
    }

    /// A wider interval has a smaller μ, the minimum of the objective.
    #[test]
    fn more_room_costs_less([lambda, weight, lower, upper] in problem(), share in 0.1..0.99f64) {
        let wide = solved(lambda, weight, lower, upper).mu();
        let narrow = solved(lambda, weight, lower, lower + share * (upper - lower)).mu();
        prop_assert!(wide <= narrow * (1.0 + 1e-13), "{wide} and {narrow}");
    }

    #[test]
    fn densities_and_masses_of_cells_are_strictly_log_concave([lambda, weight, lower, upper] in problem()) {
        let state = solved(lambda, weight, lower, upper);
        let deviation = state.variance().sqrt();
        let (from, to) =
            (lower.max(state.mean() - 8.0 * deviation), upper.min(state.mean() + 8.0 * deviation));
        let width = (to - from) / 400.0;
        let centre = |at: usize| from + (at as f64 + 0.5) * width;
        let densities: Vec<f64> = (0..400).map(|at| state.log_density(centre(at))).collect();
        let masses: Vec<f64> = (0..400)
            .map(|at| state.mass(from + at as f64 * width, from + (at + 1) as f64 * width).ln())
            .collect();
        for logs in [densities, masses] {
            for three in logs.windows(3) {
                prop_assert!(three[0] + three[2] < 2.0 * three[1], "{three:?}");
            }
        }
    }

    /// The second difference of log w follows from the potential: (log w)″ = ϑ(λn²/4 − μ) − ((log w)′)².
    #[test]
    fn the_amplitude_solves_the_equation([lambda, weight, lower, upper] in problem(), at in 0.1..0.9f64) {
        let state = solved(lambda, weight, lower, upper);
        let deviation = state.variance().sqrt();
        let n = (state.mean() + 4.0 * (at - 0.5) * deviation)
            .clamp(lower + 0.1 * deviation, upper - 0.1 * deviation);
        let step = 2e-3 * deviation;
        let [before, center, after] = [n - step, n, n + step].map(|n| state.amplitude(n));
        let bend = (before - 2.0 * center + after) / (step * step);
        let left = -bend / weight + lambda / 4.0 * n * n * center;
        let size = state.mu() - lambda / 4.0 * 0f64.clamp(lower, upper).powi(2);
        let largest = center.max(state.amplitude(state.mean()));
        prop_assert!((left - state.mu() * center).abs() < 1e-3 * size * largest);
    }

    /// The values hold even below 10⁻³⁰⁰, to the precision of the floats in this range.
    #[test]
    fn no_number_is_too_wild(
        lambda in any::<f64>(),
        weight in any::<f64>(),
        lower in any::<f64>(),
        upper in any::<f64>(),
        n in any::<f64>(),
    ) {
        let bounds = if lower < upper { (lower, upper) } else { (upper, lower) };
        if let Ok(state) = GroundState::new(lambda.abs(), weight.abs(), bounds.0, bounds.1) {
            prop_assert!(state.mu() > 0.0 && state.mu().is_finite());
            prop_assert!(state.mean().is_finite() && state.second_moment().is_finite());
            prop_assert!((state.objective() / (4.0 * state.mu()) - 1.0).abs() < 1e-9);
            for n in [n, state.mean(), bounds.0.midpoint(bounds.1)] {
                prop_assert!(state.density(n) >= 0.0);
            }
        }
        let _ = GroundState::new(lambda, weight, lower, upper);
    }
}
