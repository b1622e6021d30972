//! The public functions at and beyond the ends of their ranges: each returns a number or an error, and never
//! panics.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use scumble_accounting::calibrate::{self, Target};
use scumble_accounting::multiplicative::{ColumnDistribution, Deltas, Release};
use scumble_accounting::pac::{self, Setting};
use scumble_accounting::{
    Neighbours, Run, Sampling, Shifted, ShiftedComposition, binomial, ceiling, gaussian, loss, renyi,
};

/// Problematic numbers, and some ordinary ones.
fn number() -> impl Strategy<Value = f64> {
    let edges = [
        0.0,
        -0.0,
        5e-324,
        1e-320,
        f64::MIN_POSITIVE,
        1e-300,
        1e-12,
        1e-9,
        f64::EPSILON,
        0.05,
        0.5,
        1.0 - f64::EPSILON,
        1.0,
        2.0,
        37.0,
        709.0,
        1e3,
        1e6,
        1e9,
        1e15,
        1e19,
        1e100,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -1.0,
    ];
    prop_oneof![4 => select(edges.to_vec()), 1 => 0.0..10.0_f64, 1 => any::<f64>()]
}

fn whole() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => select(vec![
            0,
            1,
            2,
            3,
            1000,
            77_777,
            1 << 20,
            1_000_000_000,
            1 << 32,
            1 << 53,
            u64::MAX - 1,
            u64::MAX,
        ]),
        1 => any::<u64>(),
    ]
}

fn neighbours() -> impl Strategy<Value = Neighbours> {
    select(vec![Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne])
}

/// Runs at the ends of their ranges.
fn run() -> impl Strategy<Value = Run> {
    let rates = select(vec![1e-12, 1e-9, 1e-5, 0.01, 0.5, 1.0 - f64::EPSILON, 1.0]);
    let noise = select(vec![0.05, 0.06, 0.3, 1.0, 40.0, 1e6]);
    let steps = select(vec![1, 2, 1000, 77_777, 1_000_000_000]);
    (rates, noise, steps).prop_map(|(q, sigma, steps)| Run::new(q, sigma, steps).unwrap())
}

fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(22),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A privacy loss is sound if it is a number and not negative.
fn is_sound(epsilon: f64) -> bool {
    epsilon >= 0.0
}

proptest! {
    #![proptest_config(seeded(300))]

    #[test]
    fn closed_forms_are_numbers_or_sentences(
        a in number(),
        b in number(),
        c in number(),
        n in whole(),
        m in whole(),
    ) {
        if a >= 0.0 && b.is_finite() {
            let delta = gaussian::delta(a, b);
            prop_assert!((0.0..=1.0).contains(&delta), "{a}, {b}: {delta}");
        }
        prop_assert!(gaussian::epsilon(a, b).is_ok_and(is_sound) || gaussian::epsilon(a, b).is_err());
        prop_assert!(gaussian::mu(a, b).is_ok_and(is_sound) || gaussian::mu(a, b).is_err());
        let accuracies = [ceiling::laplace_accuracy(n, a), ceiling::best_accuracy(n, a)];
        for accuracy in accuracies.into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&accuracy), "{n}, {a}: {accuracy}");
        }
        let (count, trials) = ((n % (1 << 24)) as usize, (m % (1 << 24)) as usize);
        let (least, most) = (binomial::at_least(count, trials, a), binomial::at_most(count, trials, a));
        prop_assert!((0.0..=1.0).contains(&least) && (0.0..=1.0).contains(&most), "{count} of {trials} at \
            {a}: {least}, {most}");
        let _ = Run::new(a, b, n);
        if let Ok(release) = Release::new(a, n, m) {
            let deltas = Deltas { direction: b, radius: c, composition: b };
            for distribution in [
                ColumnDistribution::Gaussian,
                ColumnDistribution::Radial { lipschitz: a, radius: b },
            ] {
                let found = release.epsilon(c, distribution, deltas);
                prop_assert!(found.as_ref().map_or(true, |epsilon| is_sound(*epsilon)), "{a} {n} {m} {b} \
                    {c}: {found:?}");
            }
            let _ = (release.gaussian(b, c), release.least_v(b, c));
        }
    }

    #[test]
    fn tables_of_integers_are_numbers_or_sentences(
        weights in prop::collection::vec(prop_oneof![whole(), 0..5_u64], 0..6),
        shift in whole(),
        widest in number(),
        at in number(),
        count in 0..70usize,
    ) {
        let mut weights = weights;
        weights.sort_unstable();
        if let Ok(distribution) = Shifted::new(weights, shift as usize) {
            prop_assert!(
                distribution.delta(at).is_err()
                    || distribution.delta(at).is_ok_and(|delta| (0.0..=1.0).contains(&delta))
            );
            if let Ok(together) = ShiftedComposition::new([(&distribution, count)], widest) {
                prop_assert!(
                    together.delta(at).is_err()
                        || together.delta(at).is_ok_and(|delta| (0.0..=1.0).contains(&delta))
                );
                prop_assert!(together.epsilon(at).is_err() || together.epsilon(at).is_ok_and(is_sound));
            }
        }
    }

    #[test]
    fn budgets_of_samples_are_numbers_or_sentences(
        error in number(), delta in number(), dim in whole(), beta in number(), public_variance in number(),
        private_variance in number(), bits in number(),
    ) {
        let setting = Setting { error, delta, dim, beta, public_variance, private_variance };
        let found = pac::corollary_1(&setting, bits);
        prop_assert!(found.as_ref().map_or(true, |found| found.budget >= 0.0), "{setting:?}, {bits}: \
            {found:?}");
    }
}

// One case takes a second or two. Dozens of them, run by hand, pass as well.
proptest! {
    #![proptest_config(seeded(1))]

    #[test]
    fn trainings_are_numbers_or_sentences(
        run in run(),
        other in run(),
        delta in select(vec![1e-300, 1e-100, 1e-5, 0.5, 1.0 - f64::EPSILON]),
        epsilon in select(vec![0.0, 5e-324, 1.0, 1e3, 1e9, 1e300, f64::MAX]),
        neighbours in neighbours(),
        is_alone: bool,
    ) {
        let runs = if is_alone { vec![run] } else { vec![run, other] };
        let found = loss::epsilon(&runs, delta, neighbours).unwrap();
        prop_assert!(found.lower >= 0.0 && found.lower <= found.upper, "{runs:?}: {found:?}");
        prop_assert!(found.upper <= renyi::epsilon(&runs, delta, neighbours).unwrap());
        let found = loss::delta(&runs, epsilon, neighbours).unwrap();
        prop_assert!(found.lower >= 0.0 && found.lower <= found.upper && found.upper <= 1.0, "{runs:?}: \
            {found:?}");
        prop_assert!(renyi::divergence(&run, 1.0 + delta, neighbours).unwrap() >= 0.0);
    }
}

/// The largest target needs almost nothing, and is solved at once.
#[test]
fn what_meets_any_target_is_found_at_once() {
    let target = Target { epsilon: 1e300, delta: 1e-300, neighbours: Neighbours::ReplaceOne };
    assert_eq!(calibrate::noise_multiplier(Sampling::Poisson, 0.5, 1_000_000, target).unwrap(), 0.05);
    assert_eq!(calibrate::sampling_rate(Sampling::Poisson, 0.05, 1_000_000, target).unwrap(), 1.0);
    assert_eq!(calibrate::steps(Sampling::Poisson, 0.5, 0.05, target).unwrap(), 1_000_000_000);
    let lost = Target { delta: 1e-301, ..target };
    assert!(
        calibrate::steps(Sampling::Poisson, 0.5, 0.05, lost)
            .unwrap_err()
            .to_string()
            .contains("at least 1e-300")
    );
}

#[test]
fn a_sampling_rate_near_nothing_is_refused() {
    let refused = Run::new(1e-320, 0.05, 77_777).unwrap_err().to_string();
    assert!(refused.contains("and must be at least 1e-12 and at most one"), "{refused}");
}

/// All orders are searched if the loss has an upper end. The search used to take ten seconds.
#[test]
fn the_direction_of_a_record_that_is_left_out_has_its_closed_form_at_every_order() {
    let (q, sigma) = (0.5, 0.05);
    let largest = -f64::ln_1p(-q);
    let run = Run::new(q, sigma, 1).unwrap();
    for order in [1e3, 1e4] {
        // With one added record ε is in the hundreds, and in the other direction at most ln 2. The larger one
        // is returned.
        let divergence = renyi::divergence(&run, order, Neighbours::AddOrRemoveOne).unwrap();
        assert!(divergence > largest, "{order}: {divergence}");
    }
}
