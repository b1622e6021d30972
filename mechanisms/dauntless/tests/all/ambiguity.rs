//! Inputs with equal and with different output distributions.
//!
//! A quick audit errs with its stated false-alarm rate. It detects a difference of 2 % in the probability of
//! an event.

use crate::common::{brief, designed, people, seeded, table_of};
use ndarray::{Array2, array};
use rand_core::RngCore;
use scumble_adversary::{Effort, Finding, Verdict, same_distribution};
use scumble_core::{Designed, Table, Target};
use scumble_dauntless::{DAUNTLESS_MIX, PERFECT_SECRECY};
use serde_json::json;

const MEMBERS: &str = "the same distribution";

fn compared(mechanism: &Designed, tables: [&Table; 2]) -> Finding {
    let draw = |side: usize, stream: &mut scumble_core::Stream| {
        let released = seeded(mechanism, tables[side], stream.next_u64()).table;
        let mut values: Vec<f64> = released.records().iter().copied().collect();
        match released.target() {
            Target::Vector(vectors) => values.extend(vectors),
            Target::Class(classes) => values.extend(classes.iter().map(|class| *class as f64)),
            _ => {}
        }
        Some(values)
    };
    same_distribution("dauntless-mix", MEMBERS, draw, Effort { samples: 20_000, ..Effort::quick() })
}

fn mechanism(weights: &str, mixed: usize) -> Designed {
    let parameters = json!({"weights": weights, "mixed": mixed, "mixing_weights": "equal"});
    designed(&DAUNTLESS_MIX, parameters, &brief(people(2, 2), None))
}

fn three() -> Table {
    table_of(array![[0.6, 0.1], [-0.2, 0.5], [0.3, -0.7]], array![0, 1, 0])
}

/// The same records, rotated by 50 degrees.
fn turned(table: &Table) -> Table {
    let (sine, cosine) = 50f64.to_radians().sin_cos();
    with_records(table, table.records().dot(&array![[cosine, sine], [-sine, cosine]]))
}

fn with_records(table: &Table, records: Array2<f64>) -> Table {
    Table::new(table.columns().to_vec(), records, table.target().clone()).unwrap()
}

#[test]
fn a_table_and_the_same_turned_have_one_distribution_under_normal_weights() {
    for mixed in [1, 2] {
        let found = compared(&mechanism("gaussian", mixed), [&three(), &turned(&three())]);
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
    }
}

#[test]
fn a_table_whose_distances_differ_has_another_distribution() {
    let table = three();
    let mut moved = table.records().clone();
    moved[[2, 0]] = -0.3;
    let found = compared(&mechanism("gaussian", 1), [&table, &with_records(&table, moved)]);
    assert_eq!(found.verdict, Verdict::Broken, "{found}");
}

#[test]
fn uniform_weights_tell_a_table_from_the_same_turned_and_nothing_is_claimed_of_it() {
    let mechanism = mechanism("uniform", 1);
    // Points of a square are denser in directions near its corners than near its sides.
    let along = table_of(array![[1.0, 0.0]], array![0]);
    let across = with_records(&along, array![[0.5f64.sqrt(), 0.5f64.sqrt()]]);
    let found = compared(&mechanism, [&along, &across]);
    assert_eq!(found.verdict, Verdict::Broken, "{found}");
    assert!(!mechanism.guarantee().to_string().contains("unitary"));
}

#[test]
fn classes_that_exchange_their_names_cannot_be_told_apart_and_other_classes_can() {
    let table = three();
    let with = |classes| table.clone().with_target(Target::Class(classes)).unwrap();
    for mixed in [1, 2] {
        let mechanism = mechanism("inverse-uniform", mixed);
        let found = compared(&mechanism, [&table, &with(array![1, 0, 1])]);
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
        let found = compared(&mechanism, [&table, &with(array![0, 0, 0])]);
        assert_eq!(found.verdict, Verdict::Broken, "{found}");
    }
}

#[test]
fn whatever_the_records_are_the_same_leaves_under_perfect_secrecy() {
    let mechanism = designed(&PERFECT_SECRECY, json!({}), &brief(people(2, 2), None));
    let (one, other) = (three(), with_records(&three(), array![[0.0, 0.0], [1.0, 1.0], [-1.0, 0.2]]));
    let found = compared(&mechanism, [&one, &other]);
    assert_eq!(found.verdict, Verdict::Holds, "{found}");
    assert_eq!(seeded(&mechanism, &one, 1).table, seeded(&mechanism, &other, 2).table);
}
