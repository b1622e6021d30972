//! Amplification by shuffling, against published values and against data sets small enough to enumerate every
//! report.

use approx::assert_relative_eq;
use proptest::prelude::*;
use scumble_accounting::shuffle::Shuffle;
use std::collections::HashMap;

fn shuffle(epsilon_local: f64, people: u64) -> Shuffle {
    Shuffle::new(epsilon_local, people).unwrap()
}

/// At δ = 10⁻⁶, the values of published code for the clones of Feldman, McMillan and Talwar, and ours.
#[test]
fn epsilon_is_below_what_published_code_gives() {
    for (people, epsilon_local, published, ours) in [
        (1_279, 0.5, 0.0647, 0.05494),
        (1_279, 1.0, 0.1670, 0.1303),
        (1_279, 2.0, 0.4941, 0.3470),
        (1_279, 4.0, 3.922, 1.4814),
        (32_561, 0.5, 0.01121, 0.00954),
        (32_561, 1.0, 0.02874, 0.02286),
        (32_561, 2.0, 0.08400, 0.06072),
        (32_561, 4.0, 0.3196, 0.2160),
    ] {
        let upper = shuffle(epsilon_local, people).epsilon(1e-6).unwrap().upper;
        assert!(upper < published, "{people} people at {epsilon_local}: {upper}, published {published}");
        assert!(upper < ours && upper > 0.999 * ours, "{people} people at {epsilon_local}: {upper}");
    }
}

/// The bounds of randomised response with three levels or more meet: one is a proof, the other uses data.
#[test]
fn for_randomised_response_the_bounds_meet() {
    for (people, epsilon_local, levels) in [
        (1_279, 1.0, 3),
        (1_279, 4.0, 3),
        (32_561, 2.0, 3),
        (5_000, 1.0, 10),
        (5_000, 6.0, 100),
        (200_000, 3.0, 5),
    ] {
        let randomised = shuffle(epsilon_local, people).with_levels(levels).unwrap();
        let bounds = randomised.epsilon(1e-6).unwrap();
        assert!(bounds.upper < 1.003 * bounds.lower, "{randomised:?}: {bounds:?}");
        let any = shuffle(epsilon_local, people).epsilon(1e-6).unwrap().upper;
        assert!(bounds.upper < any, "{randomised:?}: {bounds:?}, of any randomiser {any}");
    }
}

#[test]
fn for_one_person_the_randomiser_alone_protects() {
    for epsilon_local in [0.1, 1.0, 5.0, 30.0] {
        let odds = f64::exp(epsilon_local);
        for (levels, delta) in [(None, 1e-6), (None, 0.01), (Some(2), 1e-3), (Some(7), 1e-6)] {
            let alone = shuffle(epsilon_local, 1);
            let others = levels.map_or(1.0, |levels| levels as f64 - 1.0);
            let bounds =
                levels.map_or(alone, |levels| alone.with_levels(levels).unwrap()).epsilon(delta).unwrap();
            // p/(p + k − 1) − e^ε/(p + k − 1) = δ.
            let exact = (odds - delta * (odds + others)).ln();
            assert!(bounds.lower <= exact && exact <= bounds.upper, "{exact}: {bounds:?}");
            assert_relative_eq!(bounds.upper, exact, max_relative = 1e-6);
            assert_relative_eq!(bounds.lower, exact, max_relative = 1e-6);
        }
    }
}

/// The distribution of the histogram of reports, from the randomiser's rows that the people use.
fn histogram(rows: &[&[f64]]) -> HashMap<Vec<u8>, f64> {
    let outputs = rows[0].len();
    let mut distribution = HashMap::from([(vec![0_u8; outputs], 1.0)]);
    for row in rows {
        let mut next = HashMap::new();
        for (counts, p) in &distribution {
            for (output, q) in row.iter().enumerate() {
                let mut counts = counts.clone();
                counts[output] += 1;
                *next.entry(counts).or_insert(0.0) += p * q;
            }
        }
        distribution = next;
    }
    distribution
}

/// δ(ε) of the shuffled reports by a randomiser with one row per value, over all data sets of `people` people
/// and their neighbours.
fn exact(randomiser: &[Vec<f64>], people: u32, epsilon: f64) -> f64 {
    let values = randomiser.len();
    let mut most = 0.0_f64;
    for others in 0..values.pow(people - 1) {
        let others = (0..people - 1).map(|person| &*randomiser[others / values.pow(person) % values]);
        let others: Vec<&[f64]> = others.collect();
        let distributions: Vec<_> =
            randomiser.iter().map(|row| histogram(&[&others[..], &[row]].concat())).collect();
        for p in &distributions {
            for q in &distributions {
                most = most.max(p.iter().map(|(counts, p)| (p - epsilon.exp() * q[counts]).max(0.0)).sum());
            }
        }
    }
    most
}

fn randomised_response(epsilon_local: f64, levels: usize) -> Vec<Vec<f64>> {
    let odds = epsilon_local.exp();
    let row = |value| move |level| if level == value { odds } else { 1.0 };
    let total = odds + levels as f64 - 1.0;
    (0..levels).map(|value| (0..levels).map(|level| row(value)(level) / total).collect()).collect()
}

#[test]
fn the_bounds_hold_of_every_data_set_of_randomised_response() {
    for (levels, most_people) in [(2, 6), (3, 6), (4, 4)] {
        for people in 1..=most_people {
            for (epsilon_local, epsilon) in
                [(0.5, 0.1), (0.5, 0.45), (2.0, 0.0), (2.0, 0.5), (2.0, 1.5), (5.0, 3.0)]
            {
                let exact = exact(&randomised_response(epsilon_local, levels), people, epsilon);
                let any = shuffle(epsilon_local, people.into());
                let own = any.with_levels(levels as u64).unwrap().delta(epsilon).unwrap();
                let any = any.delta(epsilon).unwrap();
                let what =
                    format!("{levels} levels, {people} people, ε₀ = {epsilon_local}, ε = {epsilon}: {exact}");
                assert!(exact <= own.upper * (1.0 + 1e-12), "{what}, {own:?}");
                assert!(own.lower <= exact * (1.0 + 1e-12), "{what}, {own:?}");
                assert!(own.upper <= any.upper * (1.0 + 1e-6), "{what}, {own:?}, {any:?}");
            }
        }
    }
}

/// Step 1 of the proof, with only sums of positive numbers: E(G₁ + … + Gₙ)₊/n, where G has these values with
/// these probabilities. Counts of all but the last value are enumerated.
fn by_blanket(values: &[(f64, f64); 4], people: usize) -> f64 {
    let size = people + 1;
    let at = |[a, b, c]: [usize; 3]| (a * size + b) * size + c;
    let mut masses = vec![0.0; size.pow(3)];
    masses[0] = 1.0;
    let all = |most: usize| {
        (0..=most)
            .flat_map(move |a| (0..=most - a).flat_map(move |b| (0..=most - a - b).map(move |c| [a, b, c])))
    };
    for person in 0..people {
        let mut next = vec![0.0; masses.len()];
        for counts in all(person) {
            let mass = masses[at(counts)];
            next[at(counts)] += mass * values[3].1;
            for value in 0..3 {
                let mut more = counts;
                more[value] += 1;
                next[at(more)] += mass * values[value].1;
            }
        }
        masses = next;
    }
    let sum =
        |counts: [usize; 3]| counts.iter().zip(values).map(|(count, (value, _))| *count as f64 * value).sum();
    all(people).map(|counts| masses[at(counts)] * f64::max(sum(counts), 0.0)).sum::<f64>() / people as f64
}

/// The bound equals this expectation, down to δ of 10⁻⁵⁰ and to odds of e^60.
#[test]
fn the_upper_bound_is_the_expectation_that_the_proof_ends_with() {
    for epsilon_local in [0.3, 1.0, 4.0, 60.0] {
        for (people, share) in
            [(1, 0.5), (2, 0.01), (5, 0.3), (8, 0.1), (9, 0.7), (40, 0.2), (40, 0.5), (60, 0.95)]
        {
            let (p, factor) = (f64::exp(epsilon_local), f64::exp(share * epsilon_local));
            for levels in [2_u64, 3, 10] {
                let k = levels as f64;
                let all = p + k - 1.0;
                let values = [
                    (p - factor, 1.0 / all),
                    (1.0 - p * factor, 1.0 / all),
                    (1.0 - factor, (k - 2.0) / all),
                    (0.0, (p - 1.0) / all),
                ];
                let randomised = shuffle(epsilon_local, people as u64).with_levels(levels).unwrap();
                let bound = randomised.delta(share * epsilon_local).unwrap().upper;
                assert_relative_eq!(bound, by_blanket(&values, people), max_relative = 1e-6);
            }
        }
    }
}

/// Values down to 10⁻²⁵⁰ are reproduced.
#[test]
fn the_least_deltas_have_their_digits() {
    for (people, epsilon_local, levels) in [(400, 1.0, 3), (400, 3.0, 5), (1_000, 2.0, 3)] {
        let randomised = shuffle(epsilon_local, people).with_levels(levels).unwrap();
        for delta in [1e-20, 1e-80, 1e-250] {
            let bounds = randomised.epsilon(delta).unwrap();
            assert!(bounds.upper < 1.1 * bounds.lower, "{randomised:?}, δ = {delta}: {bounds:?}");
            let again = randomised.delta(bounds.upper).unwrap();
            assert!(
                again.lower <= delta && again.upper < 1.1 * delta,
                "{randomised:?}, δ = {delta}: {again:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any randomiser of three values and four reports is within the bound for its own ε₀, as the theorem
    /// says.
    #[test]
    fn the_bound_holds_of_any_randomiser(
        weights in prop::collection::vec(prop::collection::vec(0.1..1.0_f64, 4), 3),
        people in 1..6_u32,
        share in 0.0..0.9_f64,
    ) {
        let randomiser: Vec<Vec<f64>> = weights
            .iter()
            .map(|row| row.iter().map(|weight| weight / row.iter().sum::<f64>()).collect())
            .collect();
        let log_ratio = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| (p / q).ln()).fold(0.0, f64::max);
        let pairs = randomiser.iter().flat_map(|p| randomiser.iter().map(move |q| log_ratio(p, q)));
        let epsilon_local = pairs.fold(0.0, f64::max);
        let exact = exact(&randomiser, people, share * epsilon_local);
        let bound = shuffle(epsilon_local, people.into()).delta(share * epsilon_local).unwrap().upper;
        prop_assert!(exact <= bound * (1.0 + 1e-9) + 1e-14, "{exact} beyond {bound} at ε₀ = {epsilon_local}");
    }

    /// The lower bound is at most the upper, and neither exceeds the local ε. ε falls with people and δ, and
    /// rises with the local ε.
    #[test]
    fn bounds_are_in_order_and_monotone(
        epsilon_local in 0.0..12.0_f64,
        people in 1..1_000_u64,
        exponent in -30.0..-0.2_f64,
        levels in prop::option::of(2..20_u64),
    ) {
        let delta = 10f64.powf(exponent);
        let bounds = |epsilon_local, people, delta| {
            let any = shuffle(epsilon_local, people);
            levels.map_or(any, |levels| any.with_levels(levels).unwrap()).epsilon(delta).unwrap()
        };
        let base = bounds(epsilon_local, people, delta);
        prop_assert!(0.0 <= base.lower && base.lower <= base.upper && base.upper <= epsilon_local);
        let slack = |epsilon: f64| epsilon * (1.0 + 1e-6) + 1e-9 * epsilon_local;
        for more_private in [
            bounds(epsilon_local, people + 50, delta),
            bounds(epsilon_local, people, 1.5 * delta),
            bounds(0.9 * epsilon_local, people, delta),
        ] {
            prop_assert!(more_private.upper <= slack(base.upper), "{more_private:?} above {base:?}");
        }
    }
}

#[test]
fn what_is_beyond_the_floats_is_still_answered() {
    for (epsilon_local, people, delta) in [
        (100.0, 2, 1e-6),
        (700.0, 1_000, 1e-9),
        (1e308, 1_000, 1e-6),
        (1e-300, 10, 1e-6),
        (1.0, 1_000, 1e-300),
        (1e-4, 1_000_000, 1e-6),
        (20.0, 1_000_000_000, 1e-9),
        (40.0, 10_000_000_000, 0.5),
    ] {
        for levels in [None, Some(2), Some(3), Some(1 << 53)] {
            let any = shuffle(epsilon_local, people);
            let randomised = levels.map_or(any, |levels| any.with_levels(levels).unwrap());
            let bounds = randomised.epsilon(delta).unwrap();
            let ordered =
                0.0 <= bounds.lower && bounds.lower <= bounds.upper && bounds.upper <= epsilon_local;
            assert!(ordered, "{randomised:?}, δ = {delta}: {bounds:?}");
        }
    }
    // With such a large local ε, nothing hides a person.
    assert!(shuffle(100.0, 2).epsilon(1e-6).unwrap().lower > 99.9);
    let nothing = shuffle(0.0, 7).epsilon(1e-6).unwrap();
    assert_eq!((nothing.lower, nothing.upper), (0.0, 0.0));
    assert_eq!(shuffle(1.0, 7).delta(1.0).unwrap().upper, 0.0);
}

#[test]
fn what_is_no_question_is_refused() {
    for epsilon_local in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = Shuffle::new(epsilon_local, 10).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("the local epsilon is {epsilon_local}, and must be zero or more, and finite")
        );
    }
    for people in [0, 10_000_000_001, u64::MAX] {
        let refused = Shuffle::new(1.0, people).unwrap_err().to_string();
        assert!(
            refused.starts_with("the number of people is ") && refused.contains("1 to 10^10"),
            "{refused}"
        );
    }
    for levels in [0, 1, u64::MAX] {
        assert!(shuffle(1.0, 10).with_levels(levels).is_err(), "{levels}");
    }
    for delta in [0.0, -1.0, 1.0, 2.0, f64::NAN, f64::INFINITY, 1e-301] {
        assert!(shuffle(1.0, 10).epsilon(delta).is_err(), "{delta}");
    }
    for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(shuffle(1.0, 10).delta(epsilon).is_err(), "{epsilon}");
    }
}
