//! Mechanisms that multiply records by a secret matrix: releases, views by the key, and refusals.

use ndarray::{Array2, array};
use scumble_core::{
    Brief, Budget, CentralDp, CuratorMechanism, Designed, Domain, Error, Neighbours, Notion, Randomness,
    RecordDomain, Release, Table, Target, TargetDomain, Unit,
};
use scumble_dauntless::{
    ColumnSpace, MULTIPLICATIVE_DP, MultiplicativeDp, SINGULAR_VALUE_OBFUSCATION, SingularValueObfuscation,
};
use serde_json::json;

fn numbers(dim: usize) -> RecordDomain {
    scumble_testing::records(Domain::unit_box(dim), TargetDomain::Real { lower: 0.0, upper: 1.0 })
}

fn table(records: Array2<f64>) -> Table {
    let columns = numbers(records.ncols()).columns().to_vec();
    let target = Target::Real(records.sum_axis(ndarray::Axis(1)) / records.ncols() as f64);
    Table::new(columns, records, target).unwrap()
}

/// `n` records of three numbers.
fn people(n: usize) -> Table {
    let at = |row: usize, column: usize| {
        (0.1 + [0.754_877_67, 0.569_840_29, 0.618_033_99][column] * (row + 1) as f64).fract()
    };
    table(Array2::from_shape_fn((n, 3), |(row, column)| at(row, column)))
}

fn release(mechanism: &Designed, table: &Table) -> Release {
    mechanism.release(table, &mut Randomness::seeded(7)).unwrap()
}

fn largest(values: &Array2<f64>) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// X̂X̂ᵀ is the projection onto the column space for every draw, and the key maps the records to X̂.
#[test]
fn a_column_space_is_released_and_nothing_else_of_the_records() {
    let mechanism = ColumnSpace::new(numbers(3)).unwrap();
    let people = people(9);
    let x = people.records();
    let Release { table: released, key, .. } = release(&Designed::curator(mechanism.clone()), &people);
    let basis = released.records();
    assert_eq!(released.columns(), ["released 1", "released 2", "released 3"]);
    assert_eq!(released.target(), people.target());
    assert!(largest(&(basis.t().dot(basis) - Array2::<f64>::eye(3))) < 1e-13);
    assert!(largest(&(basis.dot(&basis.t().dot(x)) - x)) < 1e-13);
    let view = key.view(&people).unwrap();
    assert!(largest(&(view.records() - basis)) < 1e-12);
    // The view of the mean of two records lies halfway between their views.
    let mean = table((&x.slice(ndarray::s![..1, ..]) + &x.slice(ndarray::s![1..2, ..])) / 2.0);
    let seen = key.view(&mean).unwrap();
    let halfway = (&basis.slice(ndarray::s![..1, ..]) + &basis.slice(ndarray::s![1..2, ..])) / 2.0;
    assert!(largest(&(seen.records() - &halfway)) < 1e-12);
}

#[test]
fn features_that_depend_on_each_other_are_released_in_their_rank() {
    let dependent = table(array![[0.1, 0.2, 0.3], [0.4, 0.1, 0.5], [0.3, 0.3, 0.6], [0.2, 0.7, 0.9]]);
    let few = table(array![[0.1, 0.9, 0.3], [0.4, 0.1, 0.7]]);
    for mechanism in [
        &Designed::curator(ColumnSpace::new(numbers(3)).unwrap()),
        &Designed::curator(SingularValueObfuscation::new(numbers(3), 1.0).unwrap()),
    ] {
        for table in [&dependent, &few] {
            let Release { table: released, key, .. } = release(mechanism, table);
            assert_eq!(released.columns(), ["released 1", "released 2"]);
            let off = key.view(table).unwrap().records() - released.records();
            assert!(largest(&off) < 1e-12 * largest(released.records()).max(1.0), "{off}");
        }
        let zero = mechanism.release(&table(Array2::zeros((4, 3))), &mut Randomness::seeded(1)).unwrap_err();
        assert!(matches!(zero, Error::NotApplicable { .. }), "{zero}");
        assert!(zero.to_string().contains("every record is zero"), "{zero}");
    }
}

/// Each released column is a multiple of a left singular vector: the vectors are released exactly, orthogonal
/// to each other.
#[test]
fn obfuscated_singular_values_leave_the_singular_vectors_as_they_are() {
    let people = people(20);
    let mechanism = SingularValueObfuscation::new(numbers(3), 0.5).unwrap();
    let gram = people.records().t().dot(people.records());
    let unit = |table: &Table| {
        let mut records = table.records().clone();
        for mut column in records.columns_mut() {
            let length = column.dot(&column).sqrt();
            column /= length;
        }
        records
    };
    let [one, other] =
        [1, 2].map(|seed| mechanism.release(&people, &mut Randomness::seeded(seed)).unwrap().table);
    assert_ne!(one, other);
    let (one, other) = (unit(&one), unit(&other));
    assert!(largest(&(&one - &other)) < 1e-12);
    assert!(largest(&(one.t().dot(&one) - Array2::<f64>::eye(3))) < 1e-12);
    // UᵀXXᵀU = Σ², whose sum is the trace of XᵀX.
    let squares = one.t().dot(people.records()).mapv(|x| x * x).sum();
    assert!((squares / gram.diag().sum() - 1.0).abs() < 1e-12);
}

fn claimed(mechanism: &Designed) -> CentralDp {
    match &mechanism.guarantee().claims[..] {
        [claim] => {
            assert_eq!(claim.protects, Unit::Features);
            let Notion::CentralDp(dp) = &claim.notion else { panic!("{claim}") };
            dp.clone()
        }
        claims => panic!("{claims:?}"),
    }
}

/// v for B = √3, n = 1000, d′ = 3 at (1, 10⁻⁶), by an independent minimisation over the split of δ (SciPy).
#[test]
fn the_least_v_is_claimed_for_and_the_claim_is_within_its_budget() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let mechanism = MultiplicativeDp::new(numbers(3), budget, 1000, 3).unwrap();
    assert!((mechanism.v() / LEAST_V - 1.0).abs() < 1e-4, "{}", mechanism.v());
    let dp = claimed(&Designed::curator(mechanism.clone()));
    assert!(dp.epsilon <= 1.0 && dp.epsilon > 1.0 - 1e-9, "{dp:?}");
    assert!(dp.delta <= 1e-6 && dp.delta > 1e-6 * (1.0 - 1e-9), "{dp:?}");
    assert_eq!(dp.neighbours, Neighbours::ReplaceOne);
    // More records need a smaller v, and more columns a larger one.
    let v = |records, dim| MultiplicativeDp::new(numbers(3), budget, records, dim).unwrap().v();
    assert!(v(100_000, 3) < v(1000, 3) && v(1000, 3) < v(100, 3));
    assert!(v(1000, 1) < v(1000, 3) && v(1000, 3) < v(1000, 30));
}

const LEAST_V: f64 = 337.1530478316126;

#[test]
fn what_leaves_is_the_view_with_noise_of_v_beside_it() {
    const SEED: u64 = 7;
    let n = 20_000;
    let mechanism = MultiplicativeDp::new(numbers(3), Budget::new(2.0, 1e-3).unwrap(), 1000, 4).unwrap();
    let people = people(n);
    let Release { table: released, key, noise, .. } = release(&Designed::curator(mechanism.clone()), &people);
    let off = released.records() - key.view(&people).unwrap().records();
    let variance = off.mapv(|x| x * x).mean().unwrap();
    let expected = mechanism.v() * mechanism.v();
    // The variance of 80,000 numbers has a standard deviation of 0.5 %; the tolerance is five of them.
    assert!((variance / expected - 1.0).abs() < 0.025, "seed {SEED}: {variance} is not {expected}");
    assert!((noise.feature_variance().unwrap()[3] / expected - 1.0).abs() < 1e-12);
    // The key gives the same view after it is saved and loaded.
    let saved = scumble_custody::key::save(&key, "a passphrase").unwrap().unwrap();
    let mechanism = Designed::curator(mechanism);
    let again = scumble_custody::key::load(&saved, "a passphrase", &mechanism, "key.json").unwrap();
    let again = again.view(&people).unwrap();
    assert_eq!(again, key.view(&people).unwrap());
    assert_eq!(format!("{key:?}"), "Secret(..)");
}

#[test]
fn fewer_records_than_are_claimed_for_are_refused_and_more_are_not() {
    let mechanism = MultiplicativeDp::new(numbers(3), Budget::new(1.0, 1e-3).unwrap(), 150, 3).unwrap();
    let refused = mechanism.release(&people(149), &mut Randomness::seeded(1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "multiplicative-dp does not apply: it is designed for 150 records or more, and the table has 149: \
         fewer records cost a larger ε"
    );
    assert_eq!(release(&Designed::curator(mechanism.clone()), &people(150)).table.len(), 150);
    assert_eq!(release(&Designed::curator(mechanism.clone()), &people(151)).table.len(), 151);
}

#[test]
fn what_cannot_be_designed_is_said_in_one_sentence() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let refused =
        |records, dim| MultiplicativeDp::new(numbers(3), budget, records, dim).unwrap_err().to_string();
    for (message, expected) in [
        (
            refused(60, 3),
            "the number of records is 60, and must be more than 4 ln(16/delta0), or the theorem does not \
             apply",
        ),
        (refused(0, 3), "records, the minimum number of records, must be one or more"),
        (refused(1000, 0), "dim, the number of released columns, must be one or more"),
    ] {
        assert!(message.contains(expected) && message.contains("multiplicative-dp"), "{message}");
    }
    let wide = MultiplicativeDp::new(numbers(3), budget, 1000, 1 << 24).unwrap_err().to_string();
    assert_eq!(
        wide,
        "the parameters of \"multiplicative-dp\": dim, for this number of records, asks for 134217728000 \
         bytes at once, and at most 8589934592 are allowed"
    );
    let pure =
        MultiplicativeDp::new(numbers(3), Budget::pure(1.0).unwrap(), 1000, 3).unwrap_err().to_string();
    assert_eq!(pure, "delta must be above zero for a random factor, and 0 is not");
    let point = scumble_testing::records(Domain::interval(1.0, 1.0).unwrap(), TargetDomain::None);
    let point = MultiplicativeDp::new(point, budget, 1000, 3).unwrap_err().to_string();
    assert!(point.contains("nothing to hide"), "{point}");
    for tau in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = SingularValueObfuscation::new(numbers(3), tau).unwrap_err().to_string();
        assert!(message.contains("tau must be above zero"), "{message}");
    }
    let bare = RecordDomain::new(vec![], Domain::empty(), TargetDomain::None).unwrap();
    assert!(ColumnSpace::new(bare.clone()).is_err() && SingularValueObfuscation::new(bare, 1.0).is_err());

    let brief = Brief::new(numbers(3), budget);
    let without = MULTIPLICATIVE_DP.design(&json!({}), &brief).unwrap_err().to_string();
    assert!(without.contains("needs the parameter records"), "{without}");
    let mistyped = MULTIPLICATIVE_DP.design(&json!({"recods": 10}), &brief).unwrap_err().to_string();
    assert!(mistyped.contains("did you mean \"records\"?"), "{mistyped}");
    assert!(SINGULAR_VALUE_OBFUSCATION.design(&json!({"tau": 0}), &brief).is_err());
    assert!(MULTIPLICATIVE_DP.design(&json!({"records": -5}), &brief).is_err());
}

#[test]
fn cards_say_what_is_disclosed_and_no_epsilon_where_there_is_none() {
    let card = |mechanism: &Designed| mechanism.guarantee().to_string();
    let space = card(&Designed::curator(ColumnSpace::new(numbers(3)).unwrap()));
    assert!(space.contains("same output distribution") && space.contains("linear relation"), "{space}");
    assert!(
        space.contains("all records, exactly, to an adversary that knows") && !space.contains('ε'),
        "{space}"
    );
    let obfuscation = card(&Designed::curator(SingularValueObfuscation::new(numbers(3), 0.01).unwrap()));
    assert!(obfuscation.starts_with("guarantee  nothing"), "{obfuscation}");
    assert!(obfuscation.contains("no differential privacy") && obfuscation.contains("left singular vectors"));
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let private = card(&Designed::curator(MultiplicativeDp::new(numbers(3), budget, 1000, 3).unwrap()));
    assert!(private.contains("the table has 1000 records or more") && private.contains("label"), "{private}");
    // Without a target the claim protects records.
    let alone = RecordDomain::new(vec!["x".into()], Domain::unit_box(1), TargetDomain::None).unwrap();
    let alone = MultiplicativeDp::new(alone, budget, 1000, 1).unwrap().guarantee();
    assert_eq!(alone.claims[0].protects, Unit::Record);
    assert!(alone.epsilon().unwrap() <= 1.0);
}
