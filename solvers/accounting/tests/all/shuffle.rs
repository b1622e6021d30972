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

/// Randomiser of pairs of a question and an answer. Each question has a matrix of the values × answers that
/// says which answers support which values. With the density of an unsupported answer, each answer of a
/// question has the same probability `common`, or those of unary encoding.
struct Asked {
    supports: Vec<Vec<bool>>,
    common: Vec<f64>,
}

impl Asked {
    /// Subset selection: an answer is a set of `size` of `levels` levels; randomised response for one.
    fn sets(levels: usize, size: u32) -> Self {
        let sets: Vec<usize> = (0..1 << levels).filter(|set: &usize| set.count_ones() == size).collect();
        let supports = (0..levels).map(|level| sets.iter().map(|set| set >> level & 1 == 1).collect());
        Self { supports: supports.collect(), common: vec![1.0; sets.len()] }
    }

    /// Unary encoding: an answer is any set, with the density p^−size of one that does not support the value.
    fn unary(levels: usize, odds: f64) -> Self {
        let supports = |level: usize| (0..1 << levels).map(|set: usize| set >> level & 1 == 1).collect();
        let common = (0..1_usize << levels).map(|set| odds.powi(-(set.count_ones() as i32)));
        Self { supports: (0..levels).map(supports).collect(), common: common.collect() }
    }

    /// Hadamard response: half of four or eight answers support a level.
    fn hadamard(levels: usize) -> Self {
        let answers = (levels + 1).next_power_of_two();
        let is_even = |level: usize, answer: usize| ((level + 1) & answer).count_ones().is_multiple_of(2);
        let supports = (0..levels).map(|level| (0..answers).map(|answer| is_even(level, answer)).collect());
        Self { supports: supports.collect(), common: vec![1.0; answers] }
    }

    /// Probability s that an answer of the common part supports the first value.
    fn support(&self) -> f64 {
        let supported = self.common.iter().zip(&self.supports[0]).filter(|(_, supports)| **supports);
        supported.map(|(common, _)| common).sum::<f64>() / self.common.iter().sum::<f64>()
    }

    fn row(&self, value: usize, odds: f64) -> Vec<f64> {
        let density = |(common, supports): (&f64, &bool)| if *supports { odds * common } else { *common };
        let row: Vec<f64> = self.common.iter().zip(&self.supports[value]).map(density).collect();
        let all: f64 = row.iter().sum();
        row.iter().map(|density| density / all).collect()
    }
}

/// Rows of the randomiser that asks one of the questions, each equally often, for all values of all.
fn asking(questions: &[Asked], odds: f64) -> Vec<Vec<f64>> {
    let mut values: Vec<Vec<usize>> = vec![vec![]];
    for question in questions {
        let more = |value: &Vec<usize>| {
            let value = value.clone();
            (0..question.supports.len()).map(move |level| [&value[..], &[level]].concat())
        };
        values = values.iter().flat_map(more).collect();
    }
    let share = 1.0 / questions.len() as f64;
    let row = |value: &Vec<usize>| {
        let rows = questions.iter().zip(value).flat_map(|(question, level)| question.row(*level, odds));
        rows.map(|probability| probability * share).collect()
    };
    values.iter().map(row).collect()
}

/// The bound holds of every data set. It is below that of any randomiser, unless half of the answers support
/// a value. Without the condition s ≤ ½ on the answers, it would not hold.
#[test]
fn the_bound_of_supported_answers_holds_of_every_data_set() {
    let levels = |questions: &[Asked], odds: f64| {
        let odds_of = |question: &Asked| 1.0 / (odds - 1.0 + 1.0 / question.support());
        let a = questions.iter().map(odds_of).sum::<f64>() / questions.len() as f64;
        1.0 / a - (odds - 1.0)
    };
    for (epsilon_local, epsilon) in [(0.5, 0.1), (2.0, 0.5), (2.0, 1.5), (4.0, 1.0)] {
        let odds = f64::exp(epsilon_local);
        let sets = |levels, size| Asked::sets(levels, size);
        for (questions, most_people) in [
            (vec![sets(4, 1)], 4),
            (vec![sets(4, 2)], 4),
            (vec![Asked::unary(2, odds)], 5),
            (vec![Asked::unary(3, odds)], 3),
            (vec![Asked::hadamard(3)], 4),
            (vec![sets(2, 1), sets(3, 1)], 3),
            (vec![Asked::unary(2, odds), sets(3, 1)], 3),
        ] {
            let randomiser = asking(&questions, odds);
            let levels = levels(&questions, odds);
            for people in 1..=most_people {
                let exact = exact(&randomiser, people, epsilon);
                let any = shuffle(epsilon_local, people.into());
                let own = any.with_support(levels * (1.0 - 1e-12)).map_or(f64::NAN, |own| {
                    let bounds = own.delta(epsilon).unwrap();
                    assert_eq!(bounds.lower, 0.0);
                    bounds.upper
                });
                let any = any.delta(epsilon).unwrap().upper;
                let what = format!("{levels} levels, {people} people, {epsilon_local}, {epsilon}: {exact}");
                // Exactly two levels have the bound of any randomiser.
                let own = if levels < 2.0 + 1e-9 { any } else { own };
                assert!(exact <= own * (1.0 + 1e-12), "{what}, {own}");
                assert!(own <= any * (1.0 + 1e-6), "{what}, {own}, {any}");
            }
        }
    }
    // Two of three levels: more people would say "none of both" less often than "both".
    let odds = f64::exp(2.0);
    let crowded = vec![Asked::sets(3, 2)];
    assert!(crowded[0].support() > 0.5);
    assert!(shuffle(2.0, 3).with_support(levels(&crowded, odds)).is_err());
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
