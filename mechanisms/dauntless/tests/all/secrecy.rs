//! Perfect secrecy: the release is a constant, and a model can still be learned from it.

use crate::common::{brief, crowd, designed, fresh, people, seeded, table_of};
use ndarray::{Array1, Array2, Axis, concatenate};
use scumble_core::{Notion, Randomness, Table, Target, Unit};
use scumble_dauntless::{Improvement, PERFECT_SECRECY, PerfectSecrecy};
use serde_json::json;

fn map_of(table: &Table, v: f64, improvement: Improvement) -> scumble_dauntless::SecretMap {
    let mechanism = PerfectSecrecy::new(people(table.columns().len(), 2), v, improvement).unwrap();
    mechanism.map(table, &mut Randomness::seeded(1)).unwrap()
}

/// ±1 by class.
fn signs(table: &Table) -> Array2<f64> {
    let Target::Class(classes) = table.target() else { panic!("the target is not a class") };
    classes.mapv(|class| 2.0 * class as f64 - 1.0).insert_axis(Axis(1))
}

/// Least squares of signs on records and a constant: the normal equations, solved by elimination.
fn least_squares(table: &Table) -> Array1<f64> {
    let records = concatenate![Axis(1), *table.records(), Array2::ones((table.len(), 1))];
    let mut squares = records.t().dot(&records);
    let mut right = records.t().dot(&signs(table)).column(0).to_owned();
    let d = right.len();
    for pivot in 0..d {
        for row in 0..d {
            if row != pivot {
                let factor = squares[[row, pivot]] / squares[[pivot, pivot]];
                for column in 0..d {
                    squares[[row, column]] -= factor * squares[[pivot, column]];
                }
                right[row] -= factor * right[pivot];
            }
        }
    }
    (0..d).map(|at| right[at] / squares[[at, at]]).collect()
}

#[test]
fn the_identity_leaves_and_is_perfectly_secret_of_the_features_alone() {
    let mechanism = designed(&PERFECT_SECRECY, json!({}), &brief(people(3, 2), None));
    let release = fresh(&mechanism, &crowd(3, 30, 1));
    assert_eq!(*release.table.records(), Array2::<f64>::eye(30));
    assert_eq!(release.table.target(), crowd(3, 30, 1).target());
    let claim = &release.guarantee.claims[0];
    assert_eq!(
        (&claim.notion, claim.protects),
        (&Notion::PerfectSecrecy(scumble_core::PerfectSecrecy {}), Unit::Features)
    );
    assert!(release.guarantee.discloses.iter().any(|line| line.contains("label")));
    assert!(release.guarantee.epsilon().is_none());
}

/// With hardly any improvement, a fit of the labels on the identity, converted by the map, is the least
/// squares fit on the records.
#[test]
fn without_improvement_a_model_of_the_identity_is_that_of_the_records() {
    let table = crowd(4, 200, 2);
    let map = map_of(&table, 1e-9, Improvement::Add);
    let folded = map.fold(signs(&table).view()).unwrap();
    let expected = least_squares(&table);
    for (one, other) in folded.column(0).iter().zip(&expected) {
        assert!((one - other).abs() < 1e-6, "{folded} {expected}");
    }
}

/// A ridge of XW: the filters 1/(σ + v) and 1/max(σ, v) agree if no singular value is small, and differ if
/// one is.
#[test]
fn the_two_improvements_are_what_they_say() {
    assert_eq!((Improvement::Add.apply(3.0, 1.0), Improvement::Raise.apply(3.0, 1.0)), (4.0, 3.0));
    assert_eq!((Improvement::Add.apply(0.5, 1.0), Improvement::Raise.apply(0.5, 1.0)), (1.5, 1.0));
    let table = crowd(4, 200, 2);
    let fold = |improvement| map_of(&table, 1e-3, improvement).fold(signs(&table).view()).unwrap();
    let (add, raise) = (fold(Improvement::Add), fold(Improvement::Raise));
    let expected = least_squares(&table);
    // Raising large singular values changes nothing; adding shrinks by 10⁻³ of singular values in the
    // hundreds.
    for ((add, raise), expected) in add.iter().zip(&raise).zip(&expected) {
        assert!(
            (raise - expected).abs() < 1e-9 && (add - expected).abs() > 1e-9 && (add - expected).abs() < 1e-3
        );
    }
}

#[test]
fn the_view_of_the_records_is_their_own_row_of_the_hat_matrix() {
    let mechanism = designed(&PERFECT_SECRECY, json!({"v": 1e-9}), &brief(people(2, 2), None));
    let table = crowd(2, 12, 3);
    let view = seeded(&mechanism, &table, 4).key.view(&table).unwrap();
    assert_eq!(view.records().dim(), (12, 12));
    // X̃ has rank 3: T(X) is the projection on its columns, of trace 3, and not the identity itself.
    let trace: f64 = view.records().diag().sum();
    assert!((trace - 3.0).abs() < 1e-6, "{trace}");
    let twice = view.records().dot(view.records());
    assert!((&twice - view.records()).iter().all(|x| x.abs() < 1e-6));
}

/// A duplicated column, a constant column, and fewer records than columns: the map has the rank of the
/// records.
#[test]
fn records_of_lower_rank_are_mapped_in_it() {
    let narrow = crowd(1, 40, 5);
    let twice = concatenate![Axis(1), *narrow.records(), *narrow.records(), Array2::from_elem((40, 1), 0.5)];
    let Target::Class(classes) = narrow.target().clone() else { unreachable!() };
    let table = table_of(twice, classes);
    let map = map_of(&table, 1e-9, Improvement::Add);
    let folded = map.fold(signs(&table).view()).unwrap();
    let predicted = map.apply(&table, folded.view()).unwrap();
    let expected = least_squares(&narrow);
    for (row, predicted) in narrow.records().outer_iter().zip(predicted.column(0)) {
        assert!((row[0] * expected[0] + expected[1] - predicted).abs() < 1e-6);
    }
    let few = crowd(10, 3, 6);
    let map = map_of(&few, 1e-9, Improvement::Raise);
    let predicted = map.apply(&few, map.fold(signs(&few).view()).unwrap().view()).unwrap();
    assert!((predicted - signs(&few)).iter().all(|x| x.abs() < 1e-6));
}

#[test]
fn many_records_are_mapped_without_a_matrix_of_their_number_squared() {
    let table = crowd(20, 30_000, 7);
    let map = map_of(&table, 1.0, Improvement::Add);
    let folded = map.fold(signs(&table).view()).unwrap();
    let predicted = map.apply(&table, folded.view()).unwrap();
    let right = predicted
        .iter()
        .zip(signs(&table).iter())
        .filter(|(one, other)| one.signum() == other.signum())
        .count();
    assert!(right > 29_000, "{right}");
    let mechanism = designed(&PERFECT_SECRECY, json!({}), &brief(people(20, 2), None));
    let refused = mechanism.release(&table, &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(refused.contains("30000 × 30000 values is too large to write"), "{refused}");
}
