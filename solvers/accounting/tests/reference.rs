//! Against numbers of independent solvers.

use scumble_accounting::{Neighbours, Run, gaussian, loss, renyi};

/// ε, δ, and the least σ for ℓ₂ sensitivity 1.
const ANALYTIC_GAUSSIAN: [(f64, f64, f64); 3] =
    [(0.5, 1e-5, 7.031826675582517), (1.0, 1e-5, 3.7306316348159463), (1.0, 1e-9, 5.495266157238276)];

/// Sampling rate, noise multiplier, steps at δ = 10⁻⁵; ε by Rényi divergences, by a pessimistic privacy loss distribution of
/// step 10⁻⁴, and by that for a record that is replaced.
const DP_SGD: [(f64, f64, u64, [f64; 3]); 3] = [
    (0.0014222222222222223, 0.7, 3515, [2.054302999685342, 1.2287288879830371, 1.4319466947400603]),
    (0.01, 1.0, 1000, [2.101366525420273, 1.8282436455855091, 2.8434458118173023]),
    (0.004266666666666667, 1.1, 14100, [2.6003429394461106, 2.385210788696457, 4.227934940594099]),
];
const DELTA: f64 = 1e-5;

#[track_caller]
fn is_near(what: &str, found: f64, reference: f64, relative: f64) {
    let off = found / reference - 1.0;
    assert!(off.abs() <= relative, "{what} is {found}, the reference {reference}: {off:e} of it apart");
}

#[test]
fn the_analytic_gaussian_mechanism() {
    for (epsilon, delta, sigma) in ANALYTIC_GAUSSIAN {
        is_near("σ", 1.0 / gaussian::mu(epsilon, delta).unwrap(), sigma, 1e-9);
        is_near("ε", gaussian::epsilon(1.0 / sigma, delta).unwrap(), epsilon, 1e-9);
    }
}

#[test]
fn renyi_accounting() {
    for (rate, sigma, steps, [by_renyi, ..]) in DP_SGD {
        let run = Run::new(rate, sigma, steps).unwrap();
        is_near("ε", renyi::epsilon(&[run], DELTA, Neighbours::AddOrRemoveOne).unwrap(), by_renyi, 1e-3);
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
            is_near("ε from above", epsilon.upper, reference, 0.01);
            assert!(epsilon.lower <= epsilon.upper, "{epsilon:?}");
            assert!(epsilon.lower <= reference, "{epsilon:?} proves the reference {reference} wrong");
            is_near("ε from below", epsilon.lower, epsilon.upper, 0.005);
        }
    }
}
