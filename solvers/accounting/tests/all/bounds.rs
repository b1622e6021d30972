//! The bounds of privacy loss distributions against closed forms, and against each other.

use approx::assert_relative_eq;
use scumble_accounting::{Neighbours, Part, Run, Sampling, gaussian, loss, renyi};
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

/// δ(ε) of Laplace noise: the interval of outputs with the larger losses.
fn laplace_delta(own: f64, epsilon: f64) -> f64 {
    if epsilon < own { -((epsilon - own) / 2.0).exp_m1() } else { 0.0 }
}

/// δ(ε) of `count` randomised responses with two levels: a sum over the number of true reports.
fn response_delta(own: f64, count: i32, epsilon: f64) -> f64 {
    let lie = 1.0 / (1.0 + own.exp());
    let mut binomial = 1.0;
    let mut sum = 0.0;
    for lies in 0..=count {
        let loss = own * f64::from(count - 2 * lies);
        let probability = binomial * lie.powi(lies) * (1.0 - lie).powi(count - lies);
        sum += probability * -(epsilon - loss).min(0.0).exp_m1();
        binomial *= f64::from(count - lies) / f64::from(lies + 1);
    }
    sum
}

#[test]
fn one_part_of_each_kind_is_its_closed_form() {
    let neighbours = Neighbours::AddOrRemoveOne;
    for own in [0.01, 0.1, 1.0, 5.0] {
        let laplace = [Part::laplace(own, 1).unwrap()];
        let response = [Part::randomised_response(own, 2, 30).unwrap()];
        for share in [0.0, 0.2, 0.7, 0.99] {
            let epsilon = share * own;
            let bounds = loss::delta(&laplace, epsilon, neighbours).unwrap();
            brackets(&format!("δ({epsilon}) of {laplace:?}"), bounds, laplace_delta(own, epsilon), 5e-3);
            let epsilon = 15.0 * epsilon;
            let bounds = loss::delta(&response, epsilon, neighbours).unwrap();
            let exact = response_delta(own, 30, epsilon);
            brackets(&format!("δ({epsilon}) of {response:?}"), bounds, exact, 0.01);
        }
        // δ = 1 − e^((ε − own)/2)
        let delta = laplace_delta(own, 0.5 * own);
        brackets("ε of Laplace noise", loss::epsilon(&laplace, delta, neighbours).unwrap(), 0.5 * own, 5e-3);
        assert_eq!(loss::pure_epsilon(&laplace, neighbours), own);
        assert_eq!(loss::delta(&laplace, own, neighbours).unwrap().upper, 0.0);
    }
    let gaussian = [Part::gaussian(6.0, 9).unwrap()];
    let exact = gaussian::epsilon(0.5, 1e-6).unwrap();
    brackets("9 Gaussians", loss::epsilon(&gaussian, 1e-6, neighbours).unwrap(), exact, 6e-3);
    let solved = [Part::gaussian_for(exact, 1e-6, 1).unwrap()];
    brackets("a solved Gaussian", loss::epsilon(&solved, 1e-6, neighbours).unwrap(), exact, 6e-3);
    // A mechanism that is known by its (ε, δ) alone has the larger ε below δ and no finite ε above it.
    let known = [Part::guaranteed(0.3, 1e-6, 1).unwrap()];
    let exact = loss::Bounds { lower: 0.3, upper: 0.3 };
    assert_eq!(loss::epsilon(&known, 1e-6, neighbours).unwrap(), exact);
    assert_eq!(loss::epsilon(&known, 0.9e-6, neighbours).unwrap().lower, f64::INFINITY);
    let bounds = loss::delta(&known, 0.1, neighbours).unwrap();
    brackets("δ of (ε, δ)", bounds, 1e-6 + (1.0 - 1e-6) * response_delta(0.3, 1, 0.1), 5e-3);
}

/// The values are from a separate program, which convolves interpolated privacy profiles on a grid.
#[test]
fn unlike_parts_are_accounted_together() {
    let run = Run::new(0.01, 1.0, 1000).unwrap();
    let [laplace, response] =
        [Part::laplace(0.1, 3), Part::randomised_response(0.5, 2, 1)].map(Result::unwrap);
    let many = [Part::laplace(0.137, 40).unwrap(), Part::randomised_response(0.0731, 5, 60).unwrap()];
    let all = [Part::gaussian(2.0, 10).unwrap(), laplace, response, run.into()];
    let approximate = [
        Part::gaussian(4.0, 2).unwrap(),
        Part::guaranteed(0.3, 1e-7, 2).unwrap(),
        Part::laplace(0.25, 1).unwrap(),
    ];
    let neighbours = Neighbours::AddOrRemoveOne;
    for (parts, exact) in [(&many[..], 4.28467), (&all, 9.0551), (&approximate, 2.270782)] {
        let bounds = loss::epsilon(parts, 1e-6, neighbours).unwrap();
        brackets(&format!("{parts:?}"), bounds, exact, 2e-3);
        let delta = loss::delta(parts, exact, neighbours).unwrap();
        brackets(&format!("δ of {parts:?}"), delta, 1e-6, 0.02);
    }
    assert_relative_eq!(loss::pure_epsilon(&[laplace, response], neighbours), 0.8, max_relative = 1e-15);
    assert_eq!(loss::pure_epsilon(&all, neighbours), f64::INFINITY);
    // A training alone is the same in both forms.
    let alone: [Part; 1] = [run.into()];
    assert_eq!(loss::epsilon(&alone, 1e-5, neighbours), loss::epsilon(&[run], 1e-5, neighbours));
}

/// One step attains the bound, and many steps do not. The values are from a separate program, which convolves
/// interpolated privacy profiles: the larger profile of both orders, and the profile of one order.
#[test]
fn fixed_size_batches_are_bounded_for_both_orders_of_the_neighbours() {
    for (q, sigma, steps, delta, one_order, both) in [
        (0.05, 3.0, 1, 1e-6, 0.50197, 0.50197),
        (0.3, 6.0, 20, 1e-5, 1.98651, 2.03166),
        (0.01, 2.0, 1000, 1e-5, 1.8282, 2.1990),
        (0.01, 1.0, 1000, 1e-5, 13.3605, 14.8204),
    ] {
        let run = Run::new(q, sigma, steps).unwrap().with_sampling(Sampling::FixedSize);
        let bounds = loss::epsilon(&[run], delta, Neighbours::ReplaceOne).unwrap();
        assert_relative_eq!(bounds.lower, one_order, max_relative = 2e-3);
        assert_relative_eq!(bounds.upper, both, max_relative = 1e-3);
        assert!(bounds.upper <= renyi::epsilon(&[run], delta, Neighbours::ReplaceOne).unwrap());
        // Data sets of different sizes differ in one order, as for Poisson sampling and half the noise.
        let halved = Run::new(q, sigma / 2.0, steps).unwrap();
        let [fixed_size, poisson] =
            [run, halved].map(|run| loss::epsilon(&[run], delta, Neighbours::AddOrRemoveOne).unwrap());
        assert_eq!(fixed_size, poisson);
        assert!(fixed_size.upper <= 1.001 * bounds.upper);
    }
    // Without sampling, it is the Gaussian mechanism.
    let run = Run::new(1.0, 3.0, 5).unwrap().with_sampling(Sampling::FixedSize);
    let exact = gaussian::epsilon(2.0 * 5f64.sqrt() / 3.0, 1e-6).unwrap();
    brackets("all records", loss::epsilon(&[run], 1e-6, Neighbours::ReplaceOne).unwrap(), exact, 6e-3);
    let by_renyi = renyi::divergence(&run, 4.0, Neighbours::ReplaceOne).unwrap();
    assert_relative_eq!(by_renyi, 4.0 * 4.0 / (2.0 * 9.0), max_relative = 1e-9);
}

#[test]
fn parts_at_the_ends_of_their_ranges_have_bounds() {
    let parts = [
        vec![Part::laplace(700.0, 3).unwrap()],
        vec![Part::laplace(1e-9, 3).unwrap(), Part::randomised_response(0.0, 3, 2).unwrap()],
        vec![Part::randomised_response(700.0, 1 << 53, 1).unwrap()],
        vec![Part::guaranteed(0.0, 1e-7, 3).unwrap(), Part::laplace(0.2, 1_000_000).unwrap()],
        vec![Part::guaranteed(1e-9, 0.999, 1_000_000_000).unwrap(), Part::gaussian(0.05, 1).unwrap()],
        vec![Part::gaussian(1e6, 1).unwrap(), Part::laplace(1e-9, 1).unwrap()],
    ];
    for parts in parts {
        for delta in [1e-300, 1e-12, 0.5] {
            let bounds = loss::epsilon(&parts, delta, Neighbours::ReplaceOne).unwrap();
            assert!(bounds.lower <= bounds.upper, "{parts:?} at {delta}: {bounds:?}");
        }
        for epsilon in [0.0, 1.0, 1e3, f64::MAX] {
            let bounds = loss::delta(&parts, epsilon, Neighbours::ReplaceOne).unwrap();
            assert!(
                bounds.lower <= bounds.upper && bounds.upper <= 1.0,
                "{parts:?} at {epsilon}: {bounds:?}"
            );
        }
    }
    for refused in [
        Part::laplace(-1.0, 1),
        Part::laplace(f64::NAN, 1),
        Part::laplace(1e-10, 1),
        Part::laplace(701.0, 1),
        Part::laplace(1.0, 0),
        Part::randomised_response(1.0, 1, 1),
        Part::guaranteed(1.0, 1.0, 1),
        Part::guaranteed(f64::INFINITY, 0.0, 1),
        Part::gaussian(0.0, 1),
        Part::gaussian_for(1.0, 0.0, 1),
    ] {
        assert!(refused.is_err(), "{refused:?}");
    }
}
