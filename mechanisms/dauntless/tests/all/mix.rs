//! Releases, views and readings by the key, and cards.

use crate::common::{brief, crowd, designed, fresh, names, people, seeded};
use ndarray::{Array1, Array2};
use scumble_core::{
    Designed, Domain, Error, Guarantee, Notion, PacResistance, Randomness, RecordDomain, Release, ShapedBy,
    Table, Target, TargetDomain, Unit,
};
use scumble_dauntless::{DAUNTLESS_INFERENCE, DAUNTLESS_MIX};
use serde_json::{Value, json};

fn pac(guarantee: &Guarantee) -> Option<PacResistance> {
    guarantee.claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) => Some(pac),
        _ => None,
    })
}

fn with_public(parameters: Value, public: usize) -> Designed {
    designed(&DAUNTLESS_MIX, parameters, &brief(people(6, 3), Some(crowd(6, public, 9))))
}

fn vectors(release: &Release) -> Array2<f64> {
    let Target::Vector(vectors) = release.table.target() else {
        panic!("the released labels are not vectors")
    };
    vectors.clone()
}

#[test]
fn a_release_has_as_many_records_as_were_asked_for_and_values_on_the_grid() {
    let mechanism = with_public(json!({"samples": 7, "bits": 3, "label_dim": 5}), 20);
    let release = seeded(&mechanism, &crowd(6, 30, 1), 2);
    assert_eq!((release.table.records().dim(), vectors(&release).dim()), ((7, 6), (7, 5)));
    assert!(release.table.records().iter().all(|x| (x * 4.0).fract() == 0.0 && (-1.0..1.0).contains(x)));
}

#[test]
fn the_key_is_as_good_after_it_was_saved_and_names_the_release_that_it_belongs_to() {
    let table = crowd(6, 30, 1);
    for activation in ["identity", "relu", "sigmoid", "tanh"] {
        let parameters = json!({"weights": "gaussian", "layers": [9, 4], "activation": activation});
        let mechanism = with_public(parameters, 30);
        let (release, other) = (seeded(&mechanism, &table, 2), seeded(&mechanism, &table, 3));
        let saved = scumble_custody::key::save(&release.key, "a passphrase").unwrap().unwrap();
        let key = scumble_custody::key::load(&saved, "a passphrase", &mechanism, "key.json").unwrap();
        let view = key.view(&table).unwrap();
        assert_eq!(view, release.key.view(&table).unwrap());
        assert_eq!(key.read(&table, view.target().clone()).unwrap(), *table.target());
        scumble_custody::key::check_release(&key, &release.table, "key.json").unwrap();
        let refused =
            scumble_custody::key::check_release(&key, &other.table, "key.json").unwrap_err().to_string();
        assert!(refused.contains("belongs to another release"), "{refused}");
    }
}

/// Without mixing, the released rows are the views of the records.
#[test]
fn what_is_not_mixed_leaves_as_its_view() {
    let table = crowd(6, 30, 1);
    let mechanism = designed(&DAUNTLESS_MIX, json!({}), &brief(people(6, 3), None));
    let release = seeded(&mechanism, &table, 2);
    let view = release.key.view(&table).unwrap();
    let mut left: Vec<Vec<u64>> = rows(release.table.records());
    let mut seen = rows(view.records());
    left.sort();
    seen.sort();
    assert_eq!(left, seen);
}

fn rows(records: &Array2<f64>) -> Vec<Vec<u64>> {
    records.outer_iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn the_card_counts_samples_against_the_budget_and_says_when_it_is_exceeded() {
    // Three samples are within the budget.
    let mechanism = with_public(json!({"error": 1e-6, "bits": 1, "samples": 3}), 400);
    let within = pac(&fresh(&mechanism, &crowd(6, 3, 1)).guarantee).unwrap();
    assert!(within.spent == 3.0 && within.budget >= 3.0, "{within:?}");
    let mechanism = with_public(json!({"error": 1e-6, "bits": 1}), 400);
    let release = fresh(&mechanism, &crowd(6, 300, 1));
    let beyond = pac(&release.guarantee).unwrap();
    assert!(beyond.spent == 300.0 && beyond.budget == within.budget);
    assert!(
        release.guarantee.to_string().contains("NO resistance to recovery any more"),
        "{}",
        release.guarantee
    );
    assert!(
        release.guarantee.to_string().starts_with("WARNING    300 samples are spent"),
        "{}",
        release.guarantee
    );
    // The card for a number of records is known before any release.
    assert_eq!(mechanism.guarantee_of(300), release.guarantee);
    assert!(mechanism.guarantee().warnings().is_empty() && mechanism.guarantee_of(3).warnings().is_empty());
    assert!(release.guarantee.epsilon().is_none());
    // The theorem gives no budget at such an error.
    let vacuous = with_public(json!({"error": 1.0, "samples": 1}), 400);
    // The design's card already warns.
    let card = vacuous.guarantee().to_string();
    assert!(
        card.starts_with("WARNING    the budget is vacuous")
            && card.contains("guarantee  NO resistance to recovery"),
        "{card}"
    );
    let vacuous = fresh(&vacuous, &crowd(6, 3, 1)).guarantee;
    assert_eq!(pac(&vacuous).unwrap().budget, 0.0);
    assert!(vacuous.warnings()[0].starts_with("the budget is vacuous"), "{vacuous}");
}

#[test]
fn outside_of_the_theorem_there_is_no_budget_and_the_card_says_why() {
    let table = crowd(6, 30, 1);
    for (parameters, public, why) in [
        // The middle of the domain is at most √6 from a record, and half as far from a mixture with a known
        // public half.
        (json!({"error": 1.23}), 30, "the baseline is at least as accurate"),
        (json!({"weights": "uniform"}), 30, "not the inverse"),
        (json!({"layers": [6, 6]}), 30, "exactly one layer"),
        (json!({"mixed": 4}), 300, "one private record with one public one"),
        (json!({"mixing_weights": "random"}), 30, "not equal"),
        (json!({"samples": 31}), 60, "more than once"),
        (json!({}), 29, "more than once"),
    ] {
        let guarantee = fresh(&with_public(parameters, public), &table).guarantee;
        assert!(pac(&guarantee).is_none());
        assert!(guarantee.discloses.iter().any(|line| line.contains(why)), "{why}: {guarantee}");
    }
    let unmixed = fresh(&designed(&DAUNTLESS_MIX, json!({}), &brief(people(6, 3), None)), &table).guarantee;
    assert!(
        pac(&unmixed).is_none()
            && unmixed.to_string().contains("as many private records as there are columns")
    );
}

/// A flag that is rarely set is guessed exactly, so the baseline has no error.
#[test]
fn no_budget_is_claimed_of_levels_or_of_a_column_with_one_value() {
    for (features, dim) in [
        (Domain::product(vec![Domain::one_hot(2).unwrap(); 20]).unwrap(), 40),
        (Domain::product([Domain::unit_box(2), Domain::one_hot(3).unwrap()]).unwrap(), 5),
        (Domain::product([Domain::unit_box(2), Domain::interval(1.0, 1.0).unwrap()]).unwrap(), 3),
        (Domain::l2_ball(4, 1.0).unwrap(), 4),
    ] {
        let domain = RecordDomain::new(names(dim), features, TargetDomain::None).unwrap();
        let record = domain.features().l2_farthest()[0].clone();
        let records = Array2::from_shape_fn((30, dim), |(_, column)| record[column]);
        let table = Table::new(names(dim), records, Target::None).unwrap();
        let mechanism = designed(&DAUNTLESS_MIX, json!({"samples": 1}), &brief(domain, Some(table.clone())));
        let guarantee = fresh(&mechanism, &table).guarantee;
        assert!(pac(&guarantee).is_none(), "{guarantee}");
        assert!(
            guarantee.discloses.iter().any(|line| line.contains("may be guessed exactly")),
            "{guarantee}"
        );
        assert!(mechanism.guarantee().each_release.is_empty(), "{}", mechanism.guarantee());
    }
}

#[test]
fn a_budget_is_said_to_be_one_for_records_that_are_normal() {
    let mechanism = with_public(json!({"error": 1e-6, "bits": 1, "samples": 3}), 400);
    let release = fresh(&mechanism, &crowd(6, 3, 1)).guarantee;
    assert!(release.summary().contains("if records are independent and normal"), "{}", release.summary());
    let card = release.to_string();
    assert!(card.contains("a calculation, not a proof") && !card.contains("Proven while"), "{card}");
    assert!(card.contains("records with bounds are never normal"), "{card}");
    let design = mechanism.guarantee().to_string();
    assert!(
        design.contains("if records were independent and normal, which bounded records are not"),
        "{design}"
    );
}

/// Public records disclose their classes, and exchanging the names of private ones does not change these.
#[test]
fn names_of_classes_are_claimed_to_be_hidden_only_where_no_public_record_shows_them() {
    let label_claims = |mechanism: &Designed| {
        let guarantee = mechanism.guarantee();
        let claims = guarantee.claims.iter().any(|claim| claim.protects == Unit::Label);
        (claims, guarantee.discloses.join("; "))
    };
    let (claims, disclosed) = label_claims(&with_public(json!({}), 20));
    assert!(
        !claims && disclosed.contains("and the classes' names") && !disclosed.contains("names are hidden")
    );
    for parameters in [json!({}), json!({"mixed": 2})] {
        let alone = designed(&DAUNTLESS_MIX, parameters, &brief(people(6, 3), None));
        let (claims, disclosed) = label_claims(&alone);
        assert!(claims && disclosed.contains("only the classes' names are hidden"), "{disclosed}");
    }
    // Public records that are available but not mixed in disclose nothing.
    let (claims, _) = label_claims(&with_public(json!({"mixed": 1}), 20));
    assert!(claims);
}

#[test]
fn a_design_that_holds_public_records_says_that_they_shaped_it() {
    let shaped_by = |mechanism: &Designed| mechanism.guarantee().shaped_by;
    assert_eq!(shaped_by(&with_public(json!({}), 20)), ShapedBy::PublicVolunteers);
    assert_eq!(shaped_by(&with_public(json!({"mixed": 1}), 20)), ShapedBy::PublicKnowledge);
}

#[test]
fn sizes_are_refused_when_designed_loaded_and_released() {
    let public = || Some(crowd(6, 20, 9));
    for (parameters, asks) in [
        (json!({"samples": 1u64 << 62}), "samples asks for"),
        (
            json!({"samples": 1_000_000_000_000u64}),
            "samples asks for 48000000000000 bytes at once, and at most 8589934592 are allowed",
        ),
        (json!({"label_dim": 1u64 << 60}), "label_dim asks for"),
        (json!({"label_dim": 10_000_000_000u64}), "label_dim asks for"),
        (json!({"layers": vec![8192; 20], "weights": "uniform"}), "layers asks for"),
    ] {
        let refused = DAUNTLESS_MIX.design(&parameters, &brief(people(6, 3), public())).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { .. }) && refused.to_string().contains(asks), "{refused}");
    }
    let queries = json!({"queries": 1u64 << 62});
    let refused = DAUNTLESS_INFERENCE.design(&queries, &brief(people(6, 3), public())).unwrap_err();
    assert!(refused.to_string().contains("queries asks for"), "{refused}");
    // A saved design.
    let saved = DAUNTLESS_MIX.design(&json!({}), &brief(people(6, 3), public())).unwrap();
    for (name, value) in [("samples", 1u64 << 62), ("label_dim", 1 << 60), ("queries", 1 << 62)] {
        let mut forged = saved.state().clone();
        forged[name] = value.into();
        let refused = (DAUNTLESS_MIX.build)(&forged).unwrap_err().to_string();
        assert!(refused.contains(&format!("{name} asks for")), "{refused}");
    }
    // Sizes that depend on the number of records are checked at the release.
    let wide = with_public(json!({"label_dim": 40_000_000}), 20);
    let refused = wide.release(&crowd(6, 30, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(refused.contains("samples asks for"), "{refused}");
}

#[test]
fn what_cannot_be_is_said_before_anything_is_released() {
    let public = || Some(crowd(6, 20, 9));
    let refused = |parameters: Value, public: Option<Table>| {
        DAUNTLESS_MIX.design(&parameters, &brief(people(6, 3), public)).unwrap_err().to_string()
    };
    for (parameters, why) in [
        (json!({"label_dim": 2}), "label_dim must be 3 or more"),
        (json!({"layers": [4]}), "an inverse is square"),
        (json!({"layers": [0], "weights": "uniform"}), "widths between"),
        (json!({"bits": 0}), "bits must be"),
        (json!({"samples": 0}), "one mixed record or more"),
        (json!({"mixed": 0}), "one mixed record or more"),
        (json!({"error": 0.0}), "error must be"),
        (json!({"error": "much"}), "invalid type"),
        (json!({"confidence_gap": 0.5}), "confidence_gap must lie"),
        (json!({"private_variance": -1.0}), "private_variance must be"),
        (
            json!({"private_variance": 1e12}),
            "private_variance must be at most 1, and 1000000000000 is not: within its bounds the column \
             \"x1\"",
        ),
        (json!({"public_variance": 1.01}), "public_variance must be at most 1, and 1.01 is not"),
        (json!({"most_condition": 1.0}), "most_condition must be"),
    ] {
        let message = refused(parameters, public());
        assert!(message.contains(why), "{message}");
    }
    // One more part than there are records of a kind.
    let many = with_public(json!({"mixed": 42}), 20);
    let message = many.release(&crowd(6, 30, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("one mixed record needs 21 public records, and there are 20"), "{message}");
    let many = with_public(json!({"mixed": 8}), 20);
    let message = many.release(&crowd(6, 3, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("one mixed record needs 4 private records, and there are 3"), "{message}");
    // No matrix has singular values this close to each other.
    let singular = with_public(json!({"most_condition": 1.0 + 1e-9}), 20);
    let message = singular.release(&crowd(6, 30, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("random matrices had singular values within"), "{message}");
    let outside = crowd(6, 30, 1).with_target(Target::Class(Array1::from_elem(30, 3))).unwrap();
    let message =
        with_public(json!({}), 20).release(&outside, &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("class number 3"), "{message}");
}

fn with_queries(queries: usize, more: Value) -> Designed {
    let parameters = json!({"queries": queries, "training": more});
    designed(&DAUNTLESS_INFERENCE, parameters, &brief(people(6, 3), Some(crowd(6, 200, 9))))
}

#[test]
fn queries_count_against_the_budget_of_the_release_and_past_it_none_is_answered() {
    let mechanism = with_queries(10, json!({"samples": 20, "error": 1e-6, "bits": 1}));
    let table = crowd(6, 30, 1);
    let release = fresh(&mechanism, &table);
    assert_eq!(pac(&release.guarantee).unwrap().spent, 30.0);
    let queries = crowd(6, 14, 2);
    let some = |rows: std::ops::Range<usize>| queries.select(&rows.collect::<Vec<_>>()).unwrap();
    let first = release.key.view(&some(0..6)).unwrap();
    // Repeated queries get the same answers and count once, also after the key is saved and loaded.
    assert_eq!(release.key.view(&some(0..6)).unwrap(), first);
    let saved = scumble_custody::key::save(&release.key, "a passphrase").unwrap().unwrap();
    let key = scumble_custody::key::load(&saved, "a passphrase", &mechanism, "key.json").unwrap();
    assert_eq!(key.view(&some(0..6)).unwrap(), first);
    let refused = key.view(&some(4..14)).unwrap_err();
    assert!(matches!(refused, Error::Spent { most: 10, answered: 6, asked: 8 }), "{refused}");
    // Refused queries were not counted: four are left.
    key.view(&some(6..10)).unwrap();
    assert!(key.view(&some(10..11)).is_err());
    let message = DAUNTLESS_INFERENCE.design(&json!({"queries": 0}), &brief(people(6, 3), None)).unwrap_err();
    assert!(message.to_string().contains("queries must be one or more"));
}

/// A perfect model predicts f(T(½(x + x′))) = ½(y + y′); then 2(f − ½y′) is y.
#[test]
fn the_answer_of_a_perfect_model_is_the_class_of_the_query() {
    let mechanism = with_queries(40, json!({"samples": 20, "label_dim": 8}));
    let release = seeded(&mechanism, &crowd(6, 60, 1), 5);
    let queries = crowd(6, 40, 2);
    let Target::Vector(own) = release.key.view(&queries).unwrap().target().clone() else { panic!() };
    // The partner of each query shows in the reading of the query's own vector, 2y − y′.
    let read = |predicted: Array2<f64>| release.key.read(&queries, Target::Vector(predicted)).unwrap();
    let classes = |target: &Target| match target {
        Target::Class(classes) => classes.to_vec(),
        _ => panic!("classes are read"),
    };
    let truth = classes(queries.target());
    let bases: Vec<Array1<f64>> = (0..3)
        .map(|class| {
            truth
                .iter()
                .position(|other| *other == class)
                .map_or(Array1::zeros(8), |row| own.row(row).to_owned())
        })
        .collect();
    // One of the classes is that of the query's partner: with it the answer is the query's own class.
    for (row, class) in truth.iter().enumerate() {
        let right = bases.iter().filter(|partner| partner.iter().any(|x| *x != 0.0)).any(|partner| {
            let mut predicted = own.clone();
            predicted.row_mut(row).assign(&((&own.row(row) + partner) / 2.0));
            classes(&read(predicted))[row] == *class
        });
        assert!(right, "query {row}");
    }
    let narrow = release.key.read(&queries, Target::Vector(Array2::zeros((40, 3)))).unwrap_err().to_string();
    assert!(narrow.contains("40 × 3, and the released labels are 40 × 8"), "{narrow}");
    let wide = Table::new(names(7), Array2::zeros((1, 7)), Target::Class(Array1::zeros(1))).unwrap();
    assert!(release.key.view(&wide).unwrap_err().to_string().contains("7 columns, and the design expects 6"));
}
