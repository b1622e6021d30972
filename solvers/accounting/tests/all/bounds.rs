//! The bounds of privacy loss distributions against closed forms, and against each other.

use approx::assert_relative_eq;
use scumble_accounting::{Neighbours, Run, gaussian, loss, renyi};
use std::f64::consts::FRAC_1_SQRT_2;

const BOTH: [Neighbours; 2] = [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne];

#[track_caller]
fn brackets(what: &str, bounds: loss::Bounds, exact: f64, relative: f64) {
    let loss::Bounds { lower, upper } = bounds;
    assert!(lower <= exact && exact <= upper, "{what}: {exact} is not within [{lower}, {upper}]");
    assert!(upper - lower <= relative * exact, "{what}: [{lower}, {upper}] is wide for {exact}");
}

#[test]
fn without_sampling_they_bracket_the_gaussian_mechanism() {
    for (sigma, steps) in [(0.8, 1), (5.0, 1), (20.0, 300), (40.0, 10_000)] {
        let run = Run::new(1.0, sigma, steps).unwrap();
        for (neighbours, sensitivity) in BOTH.into_iter().zip([1.0, 2.0]) {
            let mu = sensitivity * (steps as f64).sqrt() / sigma;
            for delta in [0.05, 1e-6, 1e-50, 1e-200] {
                let exact = gaussian::epsilon(mu, delta).unwrap();
                if exact > 0.01 {
                    let what = format!("ε of σ = {sigma}, {steps} steps, {neighbours:?}, δ = {delta}");
                    brackets(&what, loss::epsilon(&[run], delta, neighbours).unwrap(), exact, 6e-3);
                }
            }
            for epsilon in [0.5 * mu, 5.0 * mu] {
                let what = format!("δ of σ = {sigma}, {steps} steps, {neighbours:?}, ε = {epsilon}");
                let bounds = loss::delta(&[run], epsilon, neighbours).unwrap();
                brackets(&what, bounds, gaussian::delta(mu, epsilon), 0.05);
            }
        }
    }
}

/// P(N(center, σ²) > x).
fn above(x: f64, center: f64, sigma: f64) -> f64 {
    libm::erfc((x - center) / sigma * FRAC_1_SQRT_2) / 2.0
}

/// δ(ε) of one sampled step, for either neighbouring relation: the half-space of larger loss.
fn one_step(q: f64, sigma: f64, epsilon: f64, neighbours: Neighbours) -> f64 {
    let mixed = |x: f64, side: f64| (1.0 - q) * above(x, 0.0, sigma) + q * above(x, side, sigma);
    let at = |ratio: f64| sigma * sigma * ((ratio - 1.0 + q) / q).ln() + 0.5;
    match neighbours {
        Neighbours::AddOrRemoveOne => {
            let x = at(epsilon.exp());
            let added = mixed(x, 1.0) - epsilon.exp() * above(x, 0.0, sigma);
            let removed = if (-epsilon).exp() > 1.0 - q {
                let x = at((-epsilon).exp());
                (1.0 - above(x, 0.0, sigma)) - epsilon.exp() * (1.0 - mixed(x, 1.0))
            } else {
                0.0
            };
            added.max(removed)
        }
        Neighbours::ReplaceOne => {
            // The point where the loss is ε, by bisection.
            let density =
                |x: f64, side: f64| 1.0 - q + q * ((side * 2.0 * x - 1.0) / (2.0 * sigma * sigma)).exp();
            let (mut low, mut high) = (0.0, 50.0 * sigma);
            for _ in 0..200 {
                let x = 0.5 * (low + high);
                if (density(x, 1.0) / density(x, -1.0)).ln() < epsilon { low = x } else { high = x }
            }
            mixed(low, 1.0) - epsilon.exp() * mixed(low, -1.0)
        }
    }
}

#[test]
fn one_sampled_step_is_its_closed_form() {
    for (q, sigma) in [(0.5, 1.0), (0.1, 0.6), (0.01, 0.5), (0.9, 2.0)] {
        let run = Run::new(q, sigma, 1).unwrap();
        for neighbours in BOTH {
            for epsilon in [0.05, 0.3, 1.0, 2.0] {
                let exact = one_step(q, sigma, epsilon, neighbours);
                if exact > 1e-9 {
                    let what = format!("δ({epsilon}) of one step, q = {q}, σ = {sigma}, {neighbours:?}");
                    brackets(&what, loss::delta(&[run], epsilon, neighbours).unwrap(), exact, 0.05);
                }
            }
        }
    }
}

#[test]
fn runs_of_several_kinds_are_accounted_together() {
    let run = |q, sigma, steps| Run::new(q, sigma, steps).unwrap();
    for neighbours in BOTH {
        let whole = loss::epsilon(&[run(0.02, 1.2, 600)], 1e-6, neighbours).unwrap();
        let parts = loss::epsilon(&[run(0.02, 1.2, 200), run(0.02, 1.2, 400)], 1e-6, neighbours).unwrap();
        assert_relative_eq!(whole.upper, parts.upper, max_relative = 1e-6);
        // Unsampled Gaussian steps of different noise equal one step of μ² = Σ1/σ².
        let mixed = loss::epsilon(&[run(1.0, 10.0, 3), run(1.0, 25.0, 8)], 1e-6, Neighbours::AddOrRemoveOne);
        let exact = gaussian::epsilon((3.0 / 100.0 + 8.0 / 625.0f64).sqrt(), 1e-6).unwrap();
        brackets("two kinds of steps", mixed.unwrap(), exact, 6e-3);
        let more = loss::epsilon(&[run(0.02, 1.2, 600), run(0.5, 5.0, 10)], 1e-6, neighbours).unwrap();
        assert!(more.lower > whole.upper, "{more:?} is no more than {whole:?}");
        let by_renyi = renyi::epsilon(&[run(0.02, 1.2, 600), run(0.5, 5.0, 10)], 1e-6, neighbours).unwrap();
        assert!(more.upper < by_renyi);
    }
}

#[test]
fn small_sampling_rates_keep_their_bounds_together_and_their_memory_small() {
    let bounds = |q, sigma, steps, delta| {
        loss::epsilon(&[Run::new(q, sigma, steps).unwrap()], delta, Neighbours::AddOrRemoveOne).unwrap()
    };
    let rare = bounds(1e-4, 0.7, 100_000, 1e-8);
    assert!((0.70..0.75).contains(&rare.lower) && (0.70..0.75).contains(&rare.upper), "{rare:?}");
    let rarer = bounds(1e-8, 1.0, 1_000_000, 1e-5);
    assert!(rarer.lower <= rarer.upper && rarer.upper < 0.3, "{rarer:?}");
}

#[test]
fn losses_beyond_the_floats_are_not_cut_off() {
    // e^355 squared overflows. The values are independent, to five digits.
    for (q, delta, neighbours, exact) in [
        (0.5, 1e-16, Neighbours::AddOrRemoveOne, 361.24),
        (0.001, 1e-30, Neighbours::AddOrRemoveOne, 409.29),
        (0.5, 1e-20, Neighbours::ReplaceOne, 382.94),
    ] {
        let bounds = loss::epsilon(&[Run::new(q, 0.05, 1).unwrap()], delta, neighbours).unwrap();
        assert!(bounds.upper >= exact - 0.01 && bounds.upper < 1.01 * exact, "{exact}: {bounds:?}");
    }
}

#[test]
fn renyi_divergences_see_the_far_peak_of_a_replacement_that_is_nearly_always_sampled() {
    let run = Run::new(0.99999, 5.0, 1).unwrap();
    let by_renyi = renyi::epsilon(&[run], 1e-250, Neighbours::ReplaceOne).unwrap();
    assert!(by_renyi >= 13.538, "{by_renyi}");
}
