//! Properties that every accountant must have, for any method.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scumble_accounting::calibrate::{self, Target};
use scumble_accounting::{Neighbours, Result, Run, Sampling, gaussian, loss, renyi};
use std::cell::RefCell;

const BOTH: [Neighbours; 2] = [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne];

/// A function from runs, δ or ε, and the neighbours, to ε or δ.
type Answer = fn(&[Run], f64, Neighbours) -> Result<f64>;

/// One accountant.
struct Accountant {
    name: &'static str,
    answer: Answer,
    /// True if the accountant supports sampling.
    samples: bool,
    /// The relative and absolute error: two answers to nearly the same question may be in the wrong order by
    /// this amount. A tiny ε or δ is bounded, but not tightly.
    slack: (f64, f64),
}

// The last two of each are the upper and the lower bound.

/// Accountants from δ to ε.
const EPSILONS: [Accountant; 4] = [
    Accountant { name: "ε in closed form", answer: closed_epsilon, samples: false, slack: (1e-9, 0.0) },
    Accountant {
        name: "ε by Rényi divergences",
        answer: renyi::epsilon,
        samples: true,
        slack: (1e-6, 1e-12),
    },
    Accountant {
        name: "ε from above",
        answer: |runs, delta, neighbours| Ok(epsilon_bounds(runs, delta, neighbours)?.upper),
        samples: true,
        slack: (2e-3, 5e-3),
    },
    Accountant {
        name: "ε from below",
        answer: |runs, delta, neighbours| Ok(epsilon_bounds(runs, delta, neighbours)?.lower),
        samples: true,
        slack: (5e-3, 5e-3),
    },
];

/// Accountants from ε to δ.
const DELTAS: [Accountant; 3] = [
    Accountant { name: "δ in closed form", answer: closed_delta, samples: false, slack: (1e-9, 0.0) },
    Accountant {
        name: "δ from above",
        answer: |runs, epsilon, neighbours| Ok(loss::delta(runs, epsilon, neighbours)?.upper),
        samples: true,
        slack: (0.05, 1e-6),
    },
    Accountant {
        name: "δ from below",
        answer: |runs, epsilon, neighbours| Ok(loss::delta(runs, epsilon, neighbours)?.lower),
        samples: true,
        slack: (0.05, 1e-6),
    },
];

/// A question for bounds on ε, and its answer.
type Answered = (Vec<Run>, f64, Neighbours, loss::Bounds);

thread_local! {
    /// The last question and answer. Both bounds come from one computation, which takes long.
    static LAST: RefCell<Option<Answered>> = const { RefCell::new(None) };
}

fn epsilon_bounds(runs: &[Run], delta: f64, neighbours: Neighbours) -> Result<loss::Bounds> {
    LAST.with_borrow_mut(|last| match last {
        Some((r, d, n, bounds)) if r == runs && *d == delta && *n == neighbours => Ok(*bounds),
        _ => {
            let bounds = loss::epsilon(runs, delta, neighbours)?;
            *last = Some((runs.to_vec(), delta, neighbours, bounds));
            Ok(bounds)
        }
    })
}

/// Unsampled steps equal one release by the Gaussian mechanism, of μ² = ΣΔ²/σ². A replaced record moves the
/// sum twice as far.
fn mu(runs: &[Run], neighbours: Neighbours) -> f64 {
    let sensitivity = if neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
    sensitivity
        * runs.iter().map(|run| run.steps() as f64 / run.noise_multiplier().powi(2)).sum::<f64>().sqrt()
}

fn closed_epsilon(runs: &[Run], delta: f64, neighbours: Neighbours) -> Result<f64> {
    gaussian::epsilon(mu(runs, neighbours), delta)
}

fn closed_delta(runs: &[Run], epsilon: f64, neighbours: Neighbours) -> Result<f64> {
    Ok(gaussian::delta(mu(runs, neighbours), epsilon))
}

fn run(q: f64, sigma: f64, steps: u64) -> Run {
    Run::new(q, sigma, steps).unwrap()
}

impl Accountant {
    /// The answer, checked to be a number and not negative.
    #[track_caller]
    fn answer(&self, runs: &[Run], at: f64, neighbours: Neighbours) -> f64 {
        let runs: Vec<Run> = runs
            .iter()
            .map(
                |&given| {
                    if self.samples { given } else { run(1.0, given.noise_multiplier(), given.steps()) }
                },
            )
            .collect();
        let answer = (self.answer)(&runs, at, neighbours);
        let what = format!("{} of {runs:?} at {at:e} for {neighbours:?}", self.name);
        let answer = answer.unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        assert!(answer >= 0.0 && answer.is_finite(), "{what}: {answer}");
        answer
    }
}

/// A question: runs, δ or ε, and the neighbours.
type Question<'a> = (&'a [Run], f64, Neighbours);

#[track_caller]
fn costs(accountants: &[Accountant], question: Question) -> Vec<f64> {
    accountants.iter().map(|accountant| accountant.answer(question.0, question.1, question.2)).collect()
}

/// Checks that the answer to `less` is at most the answer to `more`.
#[track_caller]
fn is_in_order(accountants: &[Accountant], less: Question, more: Question) {
    let (cost, larger) = (costs(accountants, less), costs(accountants, more));
    are_in_order(accountants, (less, &cost), (more, &larger));
}

/// Checks the order for every accountant, up to its slack. Also checks, without slack, that no upper bound on
/// the larger answer is below a lower bound on the smaller.
#[track_caller]
fn are_in_order(accountants: &[Accountant], less: (Question, &[f64]), more: (Question, &[f64])) {
    let ((less, costs), (more, larger)) = (less, more);
    for ((accountant, cost), larger) in accountants.iter().zip(costs).zip(larger) {
        let most = larger * (1.0 + accountant.slack.0) + accountant.slack.1;
        assert!(*cost <= most, "{}: {cost} of {less:?} is more than {larger} of {more:?}", accountant.name);
    }
    let (refuted, proven) = (costs[costs.len() - 1], larger[larger.len() - 2]);
    assert!(refuted <= proven, "{less:?} costs {refuted} at least, and {more:?} {proven} at most");
}

/// Questions within an everyday range, half of them without sampling.
fn questions() -> impl Strategy<Value = (Run, f64, Neighbours)> {
    let rates = prop_oneof![Just(1.0), (-6.0..-0.1_f64).prop_map(f64::exp)];
    let numbers = (rates, -0.3..2.5_f64, 0.0..7.0_f64, -30.0..-2.0_f64);
    (numbers, prop::sample::select(&BOTH)).prop_map(|((q, log_sigma, log_steps, log_delta), neighbours)| {
        (run(q, log_sigma.exp(), log_steps.exp() as u64), log_delta.exp(), neighbours)
    })
}

/// Checks that more steps, less noise and more sampling do not lower the answer. A replaced record costs at
/// least as much as a removed one.
fn grows_with_what_costs(accountants: &[Accountant], one: Run, at: f64, neighbours: Neighbours, factor: f64) {
    let (q, sigma, steps) = (one.sampling_rate(), one.noise_multiplier(), one.steps());
    let more_steps = (steps as f64 * factor).ceil() as u64;
    let base: Question = (&[one], at, neighbours);
    let base_costs = costs(accountants, base);
    for more in
        [run(q, sigma, more_steps), run(q, sigma / factor, steps), run((q * factor).min(1.0), sigma, steps)]
    {
        if more != one {
            let more: Question = (&[more], at, neighbours);
            are_in_order(accountants, (base, &base_costs), (more, &costs(accountants, more)));
        }
    }
    is_in_order(accountants, (&[one], at, BOTH[0]), (&[one], at, BOTH[1]));
}

/// A configuration with fixed questions. The errors of bounds on tiny values were only observed, not proven.
fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A slight increase, where numerical errors could reverse the order, or a large one.
fn factors() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.001), 1.05..1.8_f64]
}

/// An ε at which δ is neither zero nor one.
fn epsilon_near(one: Run, delta: f64, neighbours: Neighbours) -> f64 {
    renyi::epsilon(&[one], delta, neighbours).unwrap().clamp(1e-3, 100.0)
}

proptest! {
    #![proptest_config(seeded(6))]

    #[test]
    fn epsilon_grows_with_what_costs_and_falls_with_delta(
        (one, delta, neighbours) in questions(),
        factor in factors(),
    ) {
        grows_with_what_costs(&EPSILONS, one, delta, neighbours, factor);
        is_in_order(&EPSILONS, (&[one], delta * factor, neighbours), (&[one], delta, neighbours));
    }

    #[test]
    fn delta_grows_with_what_costs_and_falls_with_epsilon(
        (one, delta, neighbours) in questions(),
        factor in factors(),
    ) {
        let epsilon = epsilon_near(one, delta, neighbours);
        grows_with_what_costs(&DELTAS, one, epsilon, neighbours, factor);
        is_in_order(&DELTAS, (&[one], epsilon * factor, neighbours), (&[one], epsilon, neighbours));
    }

    #[test]
    fn another_run_costs_no_less((one, delta, _) in questions(), (other, _, neighbours) in questions()) {
        let (alone, together, epsilon) =
            (&[one][..], &[one, other][..], epsilon_near(one, delta, neighbours));
        is_in_order(&EPSILONS, (alone, delta, neighbours), (together, delta, neighbours));
        is_in_order(&DELTAS, (alone, epsilon, neighbours), (together, epsilon, neighbours));
    }

    /// Each upper bound is at least each lower bound, and without sampling the closed form is between them.
    #[test]
    fn the_accountants_agree_on_what_can_be_true(
        log_q in -7.0..0.0_f64,
        log_sigma in -0.7..3.0_f64,
        log_steps in 0.0..9.0_f64,
        log_delta in -40.0..-1.0_f64,
    ) {
        let (sigma, steps, delta) = (log_sigma.exp(), log_steps.exp() as u64, log_delta.exp());
        for (q, neighbours) in [
            (log_q.exp(), BOTH[0]),
            (log_q.exp(), BOTH[1]),
            (1.0, BOTH[0]),
            (1.0, BOTH[1]),
        ] {
            let one = [run(q, sigma, steps)];
            let bounds = loss::epsilon(&one, delta, neighbours).unwrap();
            let by_renyi = renyi::epsilon(&one, delta, neighbours).unwrap();
            let what = format!("{one:?} {neighbours:?} δ = {delta}: {bounds:?}, {by_renyi} by Rényi");
            prop_assert!(bounds.lower <= bounds.upper && bounds.lower <= by_renyi, "{what}");
            prop_assert!(bounds.upper <= by_renyi, "{what}: the worse of two proofs");
            if q == 1.0 {
                let exact = closed_epsilon(&one, delta, neighbours).unwrap();
                prop_assert!(bounds.lower <= exact && exact <= bounds.upper, "{what}: {exact} in closed \
                    form");
                if exact > 0.0 {
                    let at = loss::delta(&one, exact, neighbours).unwrap();
                    prop_assert!(at.lower <= delta && delta <= at.upper * (1.0 + 1e-8), "{what}: {at:?} at \
                        {exact}");
                }
            } else if bounds.upper > 0.01 && bounds.upper < 1e3 {
                let at = loss::delta(&one, bounds.upper, neighbours).unwrap();
                prop_assert!(at.lower <= delta * (1.0 + 1e-6), "{what}: {at:?} at the upper ε");
            }
        }
    }

    /// The closed form is fast, so it is checked over the whole range.
    #[test]
    fn the_closed_form_is_monotone_over_its_whole_range(
        log_mu in -30.0..12.0_f64,
        log_delta in -600.0..-1e-9_f64,
        log_epsilon in -30.0..12.0_f64,
        log_factor in 1e-6..2.0_f64,
    ) {
        let (mu, delta, epsilon, factor) =
            (log_mu.exp(), log_delta.exp(), log_epsilon.exp(), log_factor.exp());
        let exact = gaussian::epsilon(mu, delta).unwrap();
        prop_assert!(exact <= gaussian::epsilon(mu * factor, delta).unwrap());
        prop_assert!(exact >= gaussian::epsilon(mu, (delta * factor).min(0.9999999)).unwrap());
        let largest = gaussian::mu(epsilon, delta).unwrap();
        prop_assert!(largest.is_finite() && largest >= 0.0, "{largest}");
        prop_assert!(largest <= gaussian::mu(epsilon * factor, delta).unwrap());
        prop_assert!(largest <= gaussian::mu(epsilon, (delta * factor).min(0.9999999)).unwrap());
        let at = gaussian::delta(mu, epsilon);
        let slack = 1.0 + 1e-10;
        prop_assert!((0.0..=1.0).contains(&at), "{at}");
        prop_assert!(at <= gaussian::delta(mu * factor, epsilon) * slack);
        prop_assert!(at * slack >= gaussian::delta(mu, epsilon * factor));
    }

    #[test]
    fn a_renyi_divergence_grows_with_its_order_and_with_what_costs(
        (one, _, neighbours) in questions(),
        log_order in -4.0..4.0_f64,
        factor in prop_oneof![Just(1.001), 1.05..3.0_f64],
    ) {
        let (q, sigma, order) = (one.sampling_rate(), one.noise_multiplier(), 1.0 + log_order.exp());
        let divergence =
            |q: f64, sigma, order| renyi::divergence(&run(q.min(1.0), sigma, 1), order, neighbours).unwrap();
        let base = divergence(q, sigma, order);
        let larger = [
            divergence(q, sigma, order * factor),
            divergence(q * factor, sigma, order),
            divergence(q, sigma / factor, order),
        ];
        for more in larger {
            prop_assert!(0.0 <= base && base <= more * (1.0 + 1e-9) + 1e-12, "{one:?} at {order} by \
                {factor}: {base} {larger:?}");
        }
    }
}

#[test]
fn nothing_costs_nothing() {
    for neighbours in BOTH {
        let by_renyi = renyi::epsilon(&[], 1e-6, neighbours).unwrap();
        let (epsilon, delta) = (
            loss::epsilon::<Run>(&[], 1e-6, neighbours).unwrap(),
            loss::delta::<Run>(&[], 0.0, neighbours).unwrap(),
        );
        let all = [by_renyi, epsilon.lower, epsilon.upper, delta.lower, delta.upper];
        assert_eq!(all, [0.0; 5], "{neighbours:?}");
    }
}

/// The answers at the ends of the range are numbers.
#[test]
fn at_the_edges_there_is_a_number() {
    for (q, sigma, steps) in EDGES {
        let one = [run(q, sigma, steps)];
        for neighbours in BOTH {
            is_in_order(&EPSILONS, (&one, 1.0 - f64::EPSILON, neighbours), (&one, 1e-100, neighbours));
            is_in_order(&DELTAS, (&one, 1e-3, neighbours), (&one, 0.0, neighbours));
            for accountant in &DELTAS {
                let at = accountant.answer(&one, 0.0, neighbours);
                assert!(at <= 1.0, "{} of {one:?} at ε = 0 is {at}", accountant.name);
            }
        }
    }
}

/// Sampling rate, noise multiplier and steps, each at an end of its range.
const EDGES: [(f64, f64, u64); 5] =
    [(1.0, 0.05, 1), (1.0, 1e6, 1), (1e-12, 1.0, 1), (1e-12, 1e6, 1), (1e-8, 1e6, 1_000_000_000)];

#[test]
fn far_out_there_is_a_number() {
    costs(&DELTAS, (&[run(0.01, 4.0, 1)], 5.0, BOTH[0]));
    costs(&DELTAS, (&[run(0.905, 0.77, 8), run(0.838, 10.94, 5)], 27.5, BOTH[0]));
    for (sigma, steps, epsilon) in [(1.0, 1, 700.0), (1e3, 1, 1.0), (1.0, 1000, 1e10), (0.05, 1, f64::MAX)] {
        for neighbours in BOTH {
            is_in_order(
                &DELTAS,
                (&[run(1.0, sigma, steps)], epsilon, neighbours),
                (&[run(1.0, sigma, steps)], 0.0, neighbours),
            );
        }
    }
    for sigma in [0.05, 1.0, 1e3] {
        costs(&EPSILONS, (&[run(1.0, sigma, 1)], 1e-300, BOTH[0]));
    }
}

const NO_DELTAS: [f64; 8] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1e-9, 1.0, 1.0 + f64::EPSILON];
const NO_EPSILONS: [f64; 5] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-300, -1.0];
const NO_RATES: [f64; 9] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -0.1, 1.0 + f64::EPSILON, 1e-320, 0.9e-12];
const NO_MULTIPLIERS: [f64; 7] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 0.0499999999, 1_000_000.1];
const NO_STEPS: [u64; 3] = [0, 1_000_000_001, u64::MAX];

#[track_caller]
fn is_refused<T: std::fmt::Debug>(what: &str, given: impl std::fmt::Debug, answer: Result<T>) {
    assert!(answer.is_err(), "{what} took {given:?}, and said {answer:?}");
}

#[test]
fn what_is_out_of_range_is_refused_and_never_a_number() {
    for q in NO_RATES {
        is_refused("a run at a rate", q, Run::new(q, 1.0, 1));
    }
    for sigma in NO_MULTIPLIERS {
        is_refused("a run with noise", sigma, Run::new(0.5, sigma, 1));
    }
    for steps in NO_STEPS {
        is_refused("a run of steps", steps, Run::new(0.5, 1.0, steps));
    }
    let one = run(1.0, 1.0, 1);
    for neighbours in BOTH {
        for delta in NO_DELTAS {
            for accountant in &EPSILONS {
                is_refused(accountant.name, delta, (accountant.answer)(&[one], delta, neighbours));
            }
            is_refused("ε of no runs", delta, loss::epsilon::<Run>(&[], delta, neighbours));
            is_refused("ε of no runs", delta, renyi::epsilon(&[], delta, neighbours));
        }
        for epsilon in NO_EPSILONS {
            is_refused("δ of a run", epsilon, loss::delta(&[one], epsilon, neighbours));
            is_refused("δ of no runs", epsilon, loss::delta::<Run>(&[], epsilon, neighbours));
        }
        for order in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, 0.5, -2.0, 100_000.1] {
            is_refused("a divergence", order, renyi::divergence(&one, order, neighbours));
        }
    }
    for mu in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
        is_refused("ε of μ", mu, gaussian::epsilon(mu, 1e-5));
    }
    for epsilon in NO_EPSILONS {
        is_refused("μ at ε", epsilon, gaussian::mu(epsilon, 1e-5));
    }
    for delta in NO_DELTAS {
        is_refused("μ at δ", delta, gaussian::mu(1.0, delta));
    }
}

#[test]
fn nothing_is_calibrated_from_what_is_out_of_range() {
    let target = Target { epsilon: 1.0, delta: 1e-5, neighbours: Neighbours::AddOrRemoveOne };
    let no_epsilons = NO_EPSILONS.map(|epsilon| Target { epsilon, ..target });
    let no_deltas = NO_DELTAS.map(|delta| Target { delta, ..target });
    for target in no_epsilons.into_iter().chain(no_deltas) {
        is_refused("the noise", target, calibrate::noise_multiplier(Sampling::Poisson, 0.5, 1, target));
        is_refused("the rate", target, calibrate::sampling_rate(Sampling::Poisson, 1.0, 1, target));
        is_refused("the steps", target, calibrate::steps(Sampling::Poisson, 0.5, 1.0, target));
    }
    for q in NO_RATES {
        is_refused("the noise", q, calibrate::noise_multiplier(Sampling::Poisson, q, 1, target));
        is_refused("the steps", q, calibrate::steps(Sampling::Poisson, q, 1.0, target));
    }
    for sigma in NO_MULTIPLIERS {
        is_refused("the rate", sigma, calibrate::sampling_rate(Sampling::Poisson, sigma, 1, target));
        is_refused("the steps", sigma, calibrate::steps(Sampling::Poisson, 0.5, sigma, target));
    }
    for steps in NO_STEPS {
        is_refused("the noise", steps, calibrate::noise_multiplier(Sampling::Poisson, 0.5, steps, target));
        is_refused("the rate", steps, calibrate::sampling_rate(Sampling::Poisson, 1.0, steps, target));
    }
}

/// Checks that a run meets the target, that it provably uses nearly all of it, and that a one percent
/// costlier run does not meet it.
#[track_caller]
fn is_safe_and_nearly_tight(what: &str, target: Target, found: Run, costlier: Run) {
    let epsilon = |one| loss::epsilon(&[one], target.delta, target.neighbours).unwrap();
    let (found, costlier) = (epsilon(found), epsilon(costlier));
    assert!(found.upper <= target.epsilon, "{what} for {target:?}: {found:?} is too much");
    assert!(found.lower >= 0.98 * target.epsilon, "{what} for {target:?}: {found:?} wastes the target");
    assert!(costlier.upper > target.epsilon, "{what} for {target:?}: {costlier:?} would do as well");
}

#[test]
fn the_largest_rate_and_the_last_step_meet_their_target_and_nearly_use_it_up() {
    for (epsilon, delta, neighbours, q, sigma, steps) in [
        (1.5, 1e-5, Neighbours::AddOrRemoveOne, 0.2, 4.0, 100),
        (3.0, 1e-7, Neighbours::ReplaceOne, 0.3, 8.0, 100),
    ] {
        let target = Target { epsilon, delta, neighbours };
        let most = calibrate::sampling_rate(Sampling::Poisson, sigma, steps, target).unwrap();
        is_safe_and_nearly_tight("the rate", target, run(most, sigma, steps), run(most * 1.01, sigma, steps));
        let last = calibrate::steps(Sampling::Poisson, q, sigma, target).unwrap();
        let more = last + 1 + last / 100;
        is_safe_and_nearly_tight("the steps", target, run(q, sigma, last), run(q, sigma, more));
    }
}

#[test]
fn the_least_noise_meets_its_target_and_nearly_uses_it_up() {
    let target = Target { epsilon: 3.0, delta: 1e-7, neighbours: Neighbours::ReplaceOne };
    let least = calibrate::noise_multiplier(Sampling::Poisson, 0.3, 100, target).unwrap();
    is_safe_and_nearly_tight("the noise", target, run(0.3, least, 100), run(0.3, least * 0.99, 100));
}

#[test]
fn without_sampling_a_calibration_is_on_the_safe_side_of_the_closed_form() {
    for (epsilon, delta, steps) in [(0.5, 1e-6, 1), (3.0, 1e-9, 40)] {
        for neighbours in BOTH {
            let target = Target { epsilon, delta, neighbours };
            let found = calibrate::noise_multiplier(Sampling::Poisson, 1.0, steps, target).unwrap();
            let sigma =
                found * mu(&[run(1.0, found, steps)], neighbours) / gaussian::mu(epsilon, delta).unwrap();
            assert!(
                found >= sigma && found <= 1.01 * sigma,
                "{target:?}, {steps} steps: {found}, and {sigma} is right"
            );
        }
    }
}
