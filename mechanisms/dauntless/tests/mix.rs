//! What leaves, what the key makes of it, and what the card says.

mod common;

use common::{brief, crowd, designed, fresh, names, people, seeded};
use ndarray::{Array1, Array2};
use scumble_dauntless::{DAUNTLESS_INFERENCE, DAUNTLESS_MIX};
use scumble_registry::{
    Error, Guarantee, Key, Mechanism, Notion, PacResistance, Randomness, Release, Table, Target,
};
use serde_json::{Value, json};

fn pac(guarantee: &Guarantee) -> Option<PacResistance> {
    guarantee.claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) => Some(pac),
        _ => None,
    })
}

fn with_public(parameters: Value, public: usize) -> Box<dyn Mechanism> {
    designed(&DAUNTLESS_MIX, parameters, &brief(people(6, 3), Some(crowd(6, public, 9))))
}

fn vectors(release: &Release) -> Array2<f64> {
    let Target::Vector(vectors) = release.table.target() else { panic!("labels leave as vectors") };
    vectors.clone()
}

#[test]
fn a_release_has_as_many_records_as_were_asked_for_and_values_on_the_grid() {
    let mechanism = with_public(json!({"samples": 7, "bits": 3, "label_dim": 5}), 20);
    let release = seeded(&*mechanism, &crowd(6, 30, 1), 2);
    assert_eq!((release.table.records().dim(), vectors(&release).dim()), ((7, 6), (7, 5)));
    assert!(release.table.records().iter().all(|x| (x * 4.0).fract() == 0.0 && (-1.0..1.0).contains(x)));
}

#[test]
fn the_key_is_as_good_after_it_was_saved_and_names_the_release_that_it_belongs_to() {
    let table = crowd(6, 30, 1);
    for activation in ["identity", "relu", "sigmoid", "tanh"] {
        let parameters = json!({"weights": "gaussian", "layers": [9, 4], "activation": activation});
        let mechanism = with_public(parameters, 30);
        let (release, other) = (seeded(&*mechanism, &table, 2), seeded(&*mechanism, &table, 3));
        let saved = release.key.save("a passphrase").unwrap().unwrap();
        let key = Key::load(&saved, "a passphrase", "key.json").unwrap();
        let view = key.view(&table).unwrap();
        assert_eq!(view, release.key.view(&table).unwrap());
        assert_eq!(key.read(&table, view.target().clone()).unwrap(), *table.target());
        key.check_release(&release.table, "key.json").unwrap();
        let refused = key.check_release(&other.table, "key.json").unwrap_err().to_string();
        assert!(refused.contains("belongs to another release"), "{refused}");
    }
}

/// Without mixing each record's view is what left.
#[test]
fn what_is_not_mixed_leaves_as_its_view() {
    let table = crowd(6, 30, 1);
    let mechanism = designed(&DAUNTLESS_MIX, json!({}), &brief(people(6, 3), None));
    let release = seeded(&*mechanism, &table, 2);
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
    // Twice the budget of these, or all of it.
    let mechanism = with_public(json!({"error": 1e-6, "bits": 1, "samples": 3}), 400);
    let within = pac(&fresh(&*mechanism, &crowd(6, 3, 1)).guarantee).unwrap();
    assert!(within.spent == 3.0 && within.budget >= 3.0, "{within:?}");
    let mechanism = with_public(json!({"error": 1e-6, "bits": 1}), 400);
    let release = fresh(&*mechanism, &crowd(6, 300, 1));
    let beyond = pac(&release.guarantee).unwrap();
    assert!(beyond.spent == 300.0 && beyond.budget == within.budget);
    assert!(release.guarantee.to_string().contains("NOTHING ANY MORE"), "{}", release.guarantee);
    assert!(
        release.guarantee.to_string().starts_with("WARNING    300 samples are spent"),
        "{}",
        release.guarantee
    );
    // So much is plain before anything is released.
    assert_eq!(mechanism.guarantee_of(300), release.guarantee);
    assert!(mechanism.guarantee().warnings().is_empty() && mechanism.guarantee_of(3).warnings().is_empty());
    assert!(release.guarantee.epsilon().is_none());
    // At such an error the theorem says nothing.
    let vacuous = with_public(json!({"error": 10.0, "samples": 1}), 400);
    // Of which the design's card warns already.
    let card = vacuous.guarantee().to_string();
    assert!(
        card.starts_with("WARNING    the budget is vacuous") && card.contains("promises   NOTHING"),
        "{card}"
    );
    let vacuous = fresh(&*vacuous, &crowd(6, 3, 1)).guarantee;
    assert_eq!(pac(&vacuous).unwrap().budget, 0.0);
    assert!(vacuous.warnings()[0].starts_with("the budget is vacuous"), "{vacuous}");
}

#[test]
fn outside_of_the_theorem_there_is_no_budget_and_the_card_says_why() {
    let table = crowd(6, 30, 1);
    for (parameters, public, why) in [
        (json!({"weights": "uniform"}), 30, "no inverse"),
        (json!({"layers": [6, 6]}), 30, "not one layer"),
        (json!({"mixed": 4}), 300, "one private record with one public one"),
        (json!({"mixing_weights": "random"}), 30, "not equal"),
        (json!({"samples": 31}), 60, "more than once"),
        (json!({}), 29, "more than once"),
    ] {
        let guarantee = fresh(&*with_public(parameters, public), &table).guarantee;
        assert!(pac(&guarantee).is_none());
        assert!(guarantee.discloses.iter().any(|line| line.contains(why)), "{why}: {guarantee}");
    }
    let unmixed = fresh(&*designed(&DAUNTLESS_MIX, json!({}), &brief(people(6, 3), None)), &table).guarantee;
    assert!(pac(&unmixed).is_none() && unmixed.to_string().contains("as many of them as there are columns"));
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
        (json!({"most_condition": 1.0}), "most_condition must be"),
    ] {
        let message = refused(parameters, public());
        assert!(message.contains(why), "{message}");
    }
    // One more part than there are records of a kind.
    let many = with_public(json!({"mixed": 42}), 20);
    let message = many.release(&crowd(6, 30, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("21 public records make one mixed record, and there are 20"), "{message}");
    let many = with_public(json!({"mixed": 8}), 20);
    let message = many.release(&crowd(6, 3, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("4 private records make one mixed record, and there are 3"), "{message}");
    // No matrix has singular values that lie so near to each other.
    let singular = with_public(json!({"most_condition": 1.0 + 1e-9}), 20);
    let message = singular.release(&crowd(6, 30, 1), &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("a singular draw"), "{message}");
    let outside = crowd(6, 30, 1).with_target(Target::Class(Array1::from_elem(30, 3))).unwrap();
    let message =
        with_public(json!({}), 20).release(&outside, &mut Randomness::seeded(1)).unwrap_err().to_string();
    assert!(message.contains("class number 3"), "{message}");
}

fn asked(queries: usize, more: Value) -> Box<dyn Mechanism> {
    let parameters = json!({"queries": queries, "training": more});
    designed(&DAUNTLESS_INFERENCE, parameters, &brief(people(6, 3), Some(crowd(6, 200, 9))))
}

#[test]
fn queries_count_against_the_budget_of_the_release_and_past_it_none_is_answered() {
    let mechanism = asked(10, json!({"samples": 20, "error": 1e-6, "bits": 1}));
    let table = crowd(6, 30, 1);
    let release = fresh(&*mechanism, &table);
    assert_eq!(pac(&release.guarantee).unwrap().spent, 30.0);
    let queries = crowd(6, 14, 2);
    let some = |rows: std::ops::Range<usize>| queries.select(&rows.collect::<Vec<_>>()).unwrap();
    let first = release.key.view(&some(0..6)).unwrap();
    // Asked again, they are answered as before, and count once; also by who saved the key in between.
    assert_eq!(release.key.view(&some(0..6)).unwrap(), first);
    let saved = release.key.save("a passphrase").unwrap().unwrap();
    let key = Key::load(&saved, "a passphrase", "key.json").unwrap();
    assert_eq!(key.view(&some(0..6)).unwrap(), first);
    let refused = key.view(&some(4..14)).unwrap_err();
    assert!(matches!(refused, Error::Spent { most: 10, answered: 6, asked: 8 }), "{refused}");
    // What was refused was not counted: four are left.
    key.view(&some(6..10)).unwrap();
    assert!(key.view(&some(10..11)).is_err());
    let message = DAUNTLESS_INFERENCE.design(&json!({"queries": 0}), &brief(people(6, 3), None)).unwrap_err();
    assert!(message.to_string().contains("queries must be one or more"));
}

/// f(T(½(x + x′))) = ½(y + y′) is what a perfect model says: then 2(f − ½y′) is y.
#[test]
fn the_answer_of_a_perfect_model_is_the_class_of_the_query() {
    let mechanism = asked(40, json!({"samples": 20, "label_dim": 8}));
    let release = seeded(&*mechanism, &crowd(6, 60, 1), 5);
    let queries = crowd(6, 40, 2);
    let Target::Vector(own) = release.key.view(&queries).unwrap().target().clone() else { panic!() };
    // Which partner each has shows in what a model that says the query's own vector is read as: 2y − y′.
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
    // For each query one of the classes is its partner's: with it the answer is the query's own class.
    for (row, class) in truth.iter().enumerate() {
        let right = bases.iter().filter(|partner| partner.iter().any(|x| *x != 0.0)).any(|partner| {
            let mut predicted = own.clone();
            predicted.row_mut(row).assign(&((&own.row(row) + partner) / 2.0));
            classes(&read(predicted))[row] == *class
        });
        assert!(right, "query {row}");
    }
    let narrow = release.key.read(&queries, Target::Vector(Array2::zeros((40, 3)))).unwrap_err().to_string();
    assert!(narrow.contains("40 × 3 where 40 × 8"), "{narrow}");
    let wide = Table::new(names(7), Array2::zeros((1, 7)), Target::Class(Array1::zeros(1))).unwrap();
    assert!(release.key.view(&wide).unwrap_err().to_string().contains("7 columns where 6"));
}
