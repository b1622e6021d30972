//! Comparison with values of independent solvers.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use scumble_accounting::multiplicative::{ColumnDistribution, Deltas, Release};
use scumble_accounting::pac::{self, Setting};
use scumble_accounting::{Neighbours, Run, gaussian, loss, renyi};

/// ε, δ, and the least σ for ℓ₂ sensitivity 1.
const ANALYTIC_GAUSSIAN: [(f64, f64, f64); 3] =
    [(0.5, 1e-5, 7.031826675582517), (1.0, 1e-5, 3.7306316348159463), (1.0, 1e-9, 5.495266157238276)];

/// Sampling rate, noise multiplier, steps at δ = 10⁻⁵, and three values of ε. The first is by Rényi
/// divergences, the second by a pessimistic privacy loss distribution of step 10⁻⁴, the third by the same for
/// a replaced record.
const DP_SGD: [(f64, f64, u64, [f64; 3]); 3] = [
    (0.0014222222222222223, 0.7, 3515, [2.054302999685342, 1.2287288879830371, 1.4319466947400603]),
    (0.01, 1.0, 1000, [2.101366525420273, 1.8282436455855091, 2.8434458118173023]),
    (0.004266666666666667, 1.1, 14100, [2.6003429394461106, 2.385210788696457, 4.227934940594099]),
];
const DELTA: f64 = 1e-5;

/// Small samples: sampling rate, noise multiplier, steps, δ, and ε. ε is from dp-accounting 0.6, a
/// pessimistic privacy loss distribution of step 2·10⁻⁵ where it had converged.
const SMALL_SAMPLES: [(f64, f64, u64, f64, f64); 3] = [
    (4e-4, 0.7, 10_000, 1e-5, 0.48084),
    (4e-4, 0.5, 2_500, 1e-5, 2.32317),
    (4e-4, 0.6, 50_000, 1e-6, 2.44116),
];

#[test]
fn the_upper_bound_of_small_samples_is_within_a_part_in_five_hundred() {
    for (rate, sigma, steps, delta, reference) in SMALL_SAMPLES {
        let run = Run::new(rate, sigma, steps).unwrap();
        let epsilon = loss::epsilon(&[run], delta, Neighbours::AddOrRemoveOne).unwrap();
        assert!(epsilon.lower <= reference, "{epsilon:?} proves the reference {reference} wrong");
        assert_relative_eq!(epsilon.upper, reference, max_relative = 2e-3);
        assert_relative_eq!(epsilon.lower, reference, max_relative = 5e-3);
    }
}

#[test]
fn the_analytic_gaussian_mechanism() {
    for (epsilon, delta, sigma) in ANALYTIC_GAUSSIAN {
        assert_relative_eq!(1.0 / gaussian::mu(epsilon, delta).unwrap(), sigma, max_relative = 1e-9);
        assert_relative_eq!(gaussian::epsilon(1.0 / sigma, delta).unwrap(), epsilon, max_relative = 1e-9);
    }
}

#[test]
fn renyi_accounting() {
    for (rate, sigma, steps, [by_renyi, ..]) in DP_SGD {
        let run = Run::new(rate, sigma, steps).unwrap();
        assert_relative_eq!(
            renyi::epsilon(&[run], DELTA, Neighbours::AddOrRemoveOne).unwrap(),
            by_renyi,
            max_relative = 1e-3
        );
    }
}

#[test]
fn privacy_loss_distributions() {
    for (rate, sigma, steps, [_, add_remove, replace]) in DP_SGD {
        let run = Run::new(rate, sigma, steps).unwrap();
        for (neighbours, reference) in
            [(Neighbours::AddOrRemoveOne, add_remove), (Neighbours::ReplaceOne, replace)]
        {
            let epsilon = loss::epsilon(&[run], DELTA, neighbours).unwrap();
            assert_abs_diff_eq!(epsilon.upper / reference, 1.0, epsilon = 0.01);
            assert!(epsilon.lower <= epsilon.upper, "{epsilon:?}");
            assert!(epsilon.lower <= reference, "{epsilon:?} proves the reference {reference} wrong");
            assert_abs_diff_eq!(epsilon.lower / epsilon.upper, 1.0, epsilon = 0.005);
        }
    }
}

/// Corollary 1 at τ_a = τ_p = 1: ε, δ, d, β, log₂|𝒦|; Δ and c of the printed form, and the two budgets.
const COROLLARY_1: [(f64, f64, u64, f64, f64, [f64; 4]); 4] = [
    (
        0.01,
        0.1,
        16,
        1.0,
        64.0,
        [0.15608274666639174, 13.046196425883652, 9.513638306759258, 3.4237135671589907],
    ),
    (
        0.001,
        0.1,
        784,
        50.0,
        6272.0,
        [7.129382046124052, 6162.807109744633, 259.188327410674, 99.35384427347536],
    ),
    (0.1, 0.1, 784, 50.0, 6272.0, [712.9382046124049, 6162.807109746477, 0.0, 0.0]),
    (
        0.001,
        0.01,
        784,
        50.0,
        6272.0,
        [3.7356210008558755, 5860.808835993832, 345.191184966682, 229.56688741400765],
    ),
];

#[test]
fn the_budget_of_mixed_samples() {
    for (error, delta, dim, beta, output_bits, [width, norm, as_printed, budget]) in COROLLARY_1 {
        let setting = Setting { error, delta, dim, beta, public_variance: 1.0, private_variance: 1.0 };
        let found = pac::corollary_1(&setting, output_bits).unwrap();
        assert_relative_eq!(found.packing_width, width, max_relative = 1e-8);
        assert_relative_eq!(found.norm_bound.unwrap(), norm, max_relative = 1e-5);
        assert_eq!(found.is_vacuous(), budget == 0.0, "{found:?}");
        if budget == 0.0 {
            assert_eq!([found.budget, found.budget_as_printed], [0.0; 2]);
            continue;
        }
        assert_relative_eq!(found.budget_as_printed, as_printed, max_relative = 1e-8);
        assert_relative_eq!(found.budget, budget, max_relative = 1e-8);
        assert!(found.budget <= budget, "a budget is rounded down: {found:?}");
    }
}

/// Theorem 3 at τ_a = τ_p = 1: ε, δ, d = d′, β; Δ, the two budgets, and k. The budgets' entropies were drawn
/// to about three digits.
const THEOREM_3: [(f64, f64, u64, f64, [f64; 4]); 2] = [
    (0.1, 0.1, 16, 1.0, [0.11035167061515151, 40.22032413459087, 17.09523994717836, 2.430361144846212]),
    (1.0, 0.1, 784, 50.0, [1.1035167061515152, 3527.4435305935363, 1802.2164343591778, 2.915608524451703]),
];

#[test]
fn the_budget_that_hides_a_transformation() {
    for (error, delta, dim, beta, [width, as_printed, budget, factor]) in THEOREM_3 {
        let setting = Setting { error, delta, dim, beta, public_variance: 1.0, private_variance: 1.0 };
        let found = pac::theorem_3(&setting, dim).unwrap();
        assert_eq!(found.norm_bound, None);
        assert_relative_eq!(found.packing_width, width, max_relative = 1e-12);
        assert_relative_eq!(found.markov_factor, factor, max_relative = 1e-4);
        assert_abs_diff_eq!(found.budget_as_printed / as_printed, 1.0, epsilon = 0.01);
        assert_abs_diff_eq!(found.budget / budget, 1.0, epsilon = 0.01);
    }
}

/// Theorem 5 with Gaussian W at δ₀ = δᵣ = 10⁻⁹ and δ̃ = 10⁻⁶: B, v, n and d′; ε₀, ε, δ.
const THEOREM_5: [(f64, f64, u64, u64, [f64; 3]); 2] = [
    (0.0012755102040816326, 13.0, 60_000, 784, [0.005213953508812149, 0.7887722274205069, 2.568e-6]),
    (1.0, 1e4, 20_000, 784, [0.005611988142739018, 0.8507480921108777, 2.568e-6]),
];

#[test]
fn multiplicative_noise() {
    let deltas = Deltas { direction: 1e-9, radius: 1e-9, composition: 1e-6 };
    for (sensitivity, v, records, columns, [column_epsilon, epsilon, delta]) in THEOREM_5 {
        let release = Release::new(sensitivity, records, columns).unwrap();
        let found = release.epsilon(v, ColumnDistribution::Gaussian, deltas).unwrap();
        assert_relative_eq!(
            release.column_epsilon(v, ColumnDistribution::Gaussian, deltas).unwrap(),
            column_epsilon,
            max_relative = 1e-8
        );
        assert_relative_eq!(found, epsilon, max_relative = 1e-8);
        assert!(found >= epsilon, "ε is rounded up: {found}");
        assert_relative_eq!(deltas.total(columns), delta, epsilon = 0.0, max_relative = 1e-12);
    }
}
