//! Tests of rows with noisy moments.

use crate::variant::Variant;
use linfa::ParamGuard;
use linfa::traits::{Fit, Predict};
use ndarray::{Array1, Array2, Axis, array};
use scumble_adversary::{Effort, Finding, Verdict, audit};
use scumble_core::levels::{CountedLevel, CountedTable};
use scumble_core::{
    Budget, CuratorMechanism, Designed, Domain, Error, Neighbours, Randomness, RecordDomain, Table, Target,
    TargetDomain,
};
use scumble_linear::RidgeParams;
use scumble_private_models::{NOISY_MOMENTS, NoisyMoments};
use scumble_testing::records;
use serde_json::json;

const SEED: u64 = 11;

fn numbers(dim: usize) -> RecordDomain {
    records(Domain::unit_box(dim), TargetDomain::Real { lower: -1.0, upper: 3.0 })
}

/// `n` records about a line.
fn people(n: usize, dim: usize) -> Table {
    let x = Array2::from_shape_fn((n, dim), |(row, column)| {
        (0.1 + [0.754_877_67, 0.569_840_29][column] * (row + 1) as f64).fract()
    });
    let y: Array1<f64> =
        x.outer_iter().map(|x| 0.5 + 1.5 * x[0] - x[dim - 1] + 0.3 * (40.0 * x[0]).sin()).collect();
    Table::new(numbers(dim).columns().to_vec(), x, Target::Real(y)).unwrap()
}

fn noisy_moments(domain: RecordDomain, epsilon: f64, delta: f64, neighbours: Neighbours) -> NoisyMoments {
    NoisyMoments::new(domain, Budget::new(epsilon, delta).unwrap(), neighbours).unwrap()
}

fn released(mechanism: &NoisyMoments, table: &Table) -> Table {
    mechanism.release(table, &mut Randomness::seeded(SEED)).unwrap().table
}

fn fitted(table: &Table) -> impl Fn(&Array2<f64>) -> Array1<f64> {
    let dataset: linfa::Dataset<f64, f64, ndarray::Ix1> = table.clone().try_into().unwrap();
    let model = RidgeParams::default().check().unwrap().fit(&dataset).unwrap();
    move |x| model.predict(x)
}

/// With a thousandth of the relevant noise, the rows have the moments of the records, and ridge regression
/// learns the same from both.
#[test]
fn ridge_learns_from_the_rows_what_it_learns_from_the_records() {
    let people = people(4000, 2);
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne] {
        let rows = released(&noisy_moments(numbers(2), 900.0, 1e-6, neighbours), &people);
        assert!(rows.len().abs_diff(4000) < 5, "{}", rows.len());
        let grid = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.4, 0.9]];
        let off = fitted(&rows)(&grid) - fitted(&people)(&grid);
        assert!(off.iter().all(|off| off.abs() < 2e-3), "seed {SEED}: {off}");
        let mean = rows.records().mean_axis(Axis(0)).unwrap() - people.records().mean_axis(Axis(0)).unwrap();
        assert!(mean.iter().all(|off| off.abs() < 1e-3), "seed {SEED}: {mean}");
    }
}

/// Rows of a class have its mean, and all rows have one covariance about it.
#[test]
fn rows_of_a_class_have_its_moments() {
    let n = 6000;
    let x = Array2::from_shape_fn((n, 2), |(row, column)| {
        let uniform = (0.1 + [0.754_877_67, 0.569_840_29][column] * (row + 1) as f64).fract();
        if row % 3 == 0 && column == 0 { 0.5 + uniform / 2.0 } else { uniform / 2.0 }
    });
    let levels = vec!["no".into(), "yes".into()];
    let domain = records(Domain::unit_box(2), TargetDomain::Class { levels });
    let classes: Array1<usize> = (0..n).map(|row| usize::from(row % 3 == 0)).collect();
    let people = Table::new(numbers(2).columns().to_vec(), x, Target::Class(classes)).unwrap();
    let rows = released(&noisy_moments(domain, 900.0, 1e-6, Neighbours::ReplaceOne), &people);
    let mean = |table: &Table, class: usize| {
        let Target::Class(classes) = table.target() else { panic!("{:?}", table.target()) };
        let own: Vec<usize> = (0..table.len()).filter(|row| classes[*row] == class).collect();
        (own.len(), table.records().select(Axis(0), &own).mean_axis(Axis(0)).unwrap())
    };
    for class in [0, 1] {
        let ((count, expected), (drawn, found)) = (mean(&people, class), mean(&rows, class));
        assert!(count.abs_diff(drawn) < 10, "seed {SEED}: {drawn} of {count}");
        assert!(
            (&found - &expected).iter().all(|off| off.abs() < 1e-3),
            "seed {SEED}: {found} is not {expected}"
        );
    }
}

fn attacked(mechanism: &Designed, table: &Table) -> Vec<Finding> {
    audit("the mechanism", mechanism, Some(table), Effort { samples: 400_000, ..Effort::quick() }).unwrap()
}

fn sentence(variant: &Designed, table: &Table) -> String {
    let broken = attacked(variant, table).into_iter().filter(|finding| finding.verdict == Verdict::Broken);
    let sentences: Vec<String> = broken.map(|finding| finding.to_string()).collect();
    assert!(!sentences.is_empty(), "the faulty variant passed");
    sentences.join("\n")
}

/// Returns a mechanism with the share `share` of the noise at ε = 1.
fn with_less_noise(neighbours: Neighbours, share: f64) -> NoisyMoments {
    let scale = |epsilon: f64| noisy_moments(numbers(1), epsilon, 0.01, neighbours).scale().unwrap();
    let target = share * scale(1.0);
    let (mut low, mut high) = (1.0, 100.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if scale(middle) > target { low = middle } else { high = middle }
    }
    noisy_moments(numbers(1), high, 0.01, neighbours)
}

#[test]
fn noise_for_too_small_a_sensitivity_is_caught() {
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne] {
        let honest = noisy_moments(numbers(1), 1.0, 0.01, neighbours);
        for finding in attacked(&Designed::curator(honest.clone()), &people(40, 1)) {
            assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
        }
        // Half of the noise; the noise for (u) alone, without the intercept; and the noise for the longest
        // record of a sample in the middle of its bounds.
        let whole = honest.sensitivity(Neighbours::ReplaceOne);
        let with_sample = 1.0 + 2.0 * 0.5 * 0.5;
        for share in [0.5, (whole - 1.0) / whole, with_sample / whole] {
            let variant = Variant::designed(honest.clone(), with_less_noise(neighbours, share));
            let sentence = sentence(&variant, &people(40, 1));
            assert!(sentence.contains("is spent"), "{neighbours:?}, {share}: {sentence}");
        }
    }
}

/// Over the corners of the domain, the sums of two neighbours reach the claimed distance, and do not exceed
/// it.
#[test]
fn the_sensitivity_is_reached_and_not_exceeded() {
    let features = Domain::product([Domain::unit_box(3), Domain::one_hot(2).unwrap()]).unwrap();
    let columns: Vec<String> = ["a", "b", "c", "d=1", "d=2"].map(str::to_owned).to_vec();
    let target = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let domain = RecordDomain::new(columns.clone(), features, target).unwrap();
    let corner = |code: usize| {
        let bit = |at: usize| (code >> at & 1) as f64;
        let record = array![[bit(0), bit(1), bit(2), bit(3), 1.0 - bit(3)]];
        Table::new(columns.clone(), record, Target::Class(array![code >> 4 & 1])).unwrap()
    };
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddOrRemoveOne] {
        // This mechanism has no noise.
        let mechanism = noisy_moments(domain.clone(), f64::INFINITY, 0.0, neighbours);
        let sums = |code: usize| sums(&mechanism, &corner(code));
        let mut most: f64 = 0.0;
        for one in 0..32 {
            let one = sums(one);
            let others: Vec<Vec<f64>> = match neighbours {
                Neighbours::ReplaceOne => (0..32).map(sums).collect(),
                Neighbours::AddOrRemoveOne => vec![vec![0.0; one.len()]],
            };
            for other in others {
                most = most.max(one.iter().zip(&other).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt());
            }
        }
        let claimed = mechanism.sensitivity(neighbours);
        assert!(most <= claimed && most > 0.95 * claimed, "{neighbours:?}: {most} of {claimed}");
    }
}

/// Sums of a table, from a mechanism without noise.
fn sums(mechanism: &NoisyMoments, table: &Table) -> Vec<f64> {
    use scumble_core::Statistics;
    mechanism.draw(table, &mut Randomness::seeded(SEED)).unwrap()
}

#[test]
fn a_record_more_or_less_costs_less_than_one_that_is_replaced_and_both_are_claimed() {
    let guarantee = noisy_moments(numbers(2), 1.0, 1e-6, Neighbours::AddOrRemoveOne).guarantee();
    let (epsilon, delta) = guarantee.cost(scumble_core::Unit::Record);
    assert!((1.2..1.5).contains(&epsilon) && delta == 1e-6, "{epsilon}");
    assert_eq!(guarantee.epsilon(), Some(1.0));
    assert!(guarantee.discloses.is_empty());
    let replaced = noisy_moments(numbers(2), 1.0, 1e-6, Neighbours::ReplaceOne).guarantee();
    assert_eq!(replaced.cost(scumble_core::Unit::Record), (1.0, 1e-6));
    assert_eq!(replaced.discloses, ["the number of records"]);
}

#[test]
fn what_has_no_such_moments_is_refused() {
    let refused = |features: Domain, target: TargetDomain| {
        let budget = Budget::new(1.0, 1e-6).unwrap();
        NoisyMoments::new(records(features, target), budget, Neighbours::ReplaceOne).unwrap_err()
    };
    let ball = refused(Domain::l2_ball(2, 1.0).unwrap(), TargetDomain::None);
    assert_eq!(
        ball.to_string(),
        "noisy-moments does not apply: x1 is neither a number within bounds of its own nor a category"
    );
    let vector = refused(Domain::unit_box(1), TargetDomain::Vector { domain: Domain::unit_box(2) });
    assert!(matches!(vector, Error::NotApplicable { .. }), "{vector}");
    assert!(matches!(refused(Domain::empty(), TargetDomain::None), Error::NotApplicable { .. }));
    let pure = NoisyMoments::new(numbers(1), Budget::pure(1.0).unwrap(), Neighbours::ReplaceOne);
    assert!(matches!(pure, Err(Error::Budget { .. })), "{pure:?}");
}

/// Draws the tables of the example's moments at this ε and for this neighbouring relation, from a seed.
fn tables(epsilon: f64, neighbours: &str) -> impl Fn(u64) -> Vec<CountedTable> {
    let example = (NOISY_MOMENTS.example)().unwrap();
    let brief = example.brief.with_budget(Budget::new(epsilon, 1e-5).unwrap());
    let design = NOISY_MOMENTS.design(&json!({ "neighbours": neighbours }), &brief).unwrap();
    move |seed| {
        design.mechanism().release(&example.table, &mut Randomness::seeded(seed)).unwrap().noisy_tables
    }
}

/// Over 600 releases, a correlation of independent noise has a standard error of 4 %, and a variance one of
/// 6 %. The test takes five of them.
#[test]
fn noise_of_the_tables_is_independent_and_as_large_as_stated() {
    const RELEASES: u64 = 600;
    for neighbours in ["replace-one", "add-or-remove-one"] {
        let (exact, drawn) = (tables(f64::INFINITY, neighbours)(0), tables(1.0, neighbours));
        let squares = |table: &CountedTable| Array2::zeros((table.counts.len(), table.counts.len()));
        let mut sums: Vec<Array2<f64>> = exact.iter().map(squares).collect();
        for seed in 0..RELEASES {
            for ((table, exact), sums) in drawn(seed).iter().zip(&exact).zip(&mut sums) {
                assert_eq!((&table.columns, &table.levels), (&exact.columns, &exact.levels));
                let off = table.counts.iter().zip(&exact.counts).map(|(noisy, exact)| noisy - exact);
                let scaled = off.collect::<Array1<f64>>() / table.deviation;
                *sums += &(scaled.view().insert_axis(Axis(1)).dot(&scaled.view().insert_axis(Axis(0))));
            }
        }
        for (table, sums) in exact.iter().zip(&sums) {
            let covariance = sums / RELEASES as f64;
            for ((i, j), value) in covariance.indexed_iter() {
                let (expected, most) = if i == j { (1.0, 0.3) } else { (0.0, 0.21) };
                assert!((value - expected).abs() < most, "{neighbours} {:?} {i} {j}: {value}", table.columns);
            }
        }
    }
}

/// Without noise, the tables have the counts of the levels, and the means and the squares of the numbers.
#[test]
fn tables_of_exact_moments_have_the_counts_and_the_means() {
    let table = (NOISY_MOMENTS.example)().unwrap().table;
    let tables = tables(f64::INFINITY, "replace-one")(0);
    let names = tables.iter().map(|table| table.columns.clone()).collect::<Vec<_>>();
    let records = table.len() as f64;
    for table in &tables {
        assert!((table.counts.iter().sum::<f64>() - records).abs() < 1e-9, "{:?}", table.columns);
    }
    let size = table.records().column(0);
    let of_size = &tables[names.iter().position(|columns| columns == &[0]).unwrap()];
    let [CountedLevel::End(lower), _, CountedLevel::End(upper)] = of_size.levels[0][..] else { panic!() };
    let place = |x: &f64| (x - lower) / (upper - lower);
    let sum: f64 = size.iter().map(place).sum();
    let squares: f64 = size.iter().map(|x| place(x) * place(x)).sum();
    let found = (of_size.counts[2] + of_size.counts[1] / 2.0, of_size.counts[2]);
    assert!((found.0 - sum).abs() < 1e-4 && (found.1 - squares).abs() < 1e-4, "{found:?} {sum} {squares}");
}
