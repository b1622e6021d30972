//! Faulty variants of mixing and transformation, of their queries, and of perfect secrecy.

use super::effort;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::accounting::pac::{Setting, corollary_1};
use scumble::adversary::{Effort, Finding, Verdict, audit};
use scumble::core::{
    Brief, Budget, Design, Designed, Domain, Plugin, Randomness, RecordDomain, Release, Table, Target,
    TargetDomain, Unit, Volunteers,
};
use scumble::dauntless::{DAUNTLESS_INFERENCE, DAUNTLESS_MIX, PERFECT_SECRECY};
use scumble_integration_tests::{
    DauntlessFault as Fault, DauntlessVariant, resistance, wrong_answers, wrong_budget, wrong_mixtures,
};
use serde_json::{Value, json};

/// Number of columns: enough for a budget of two samples on a grid that is fine enough for a recovery to
/// count.
const DIM: usize = 20;

fn people(dim: usize) -> RecordDomain {
    let features = Domain::product(vec![Domain::interval(-1.0, 1.0).unwrap(); dim]).unwrap();
    let levels = vec!["no".into(), "yes".into()];
    scumble_testing::records(features, TargetDomain::Class { levels })
}

/// Draws `n` uniform records, of the two classes in turn.
fn crowd(dim: usize, n: usize, seed: u64) -> Table {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let records = Array2::from_shape_simple_fn((n, dim), || rng.gen_range(-1.0..1.0));
    let classes = (0..n).map(|row| row % 2).collect();
    Table::new(people(dim).columns().to_vec(), records, Target::Class(classes)).unwrap()
}

fn designed(plugin: &Plugin, parameters: Value, dim: usize, public: Option<Table>) -> Designed {
    design(plugin, parameters, dim, public).into_mechanism()
}

fn design(plugin: &Plugin, parameters: Value, dim: usize, public: Option<Table>) -> Design {
    let volunteers = public.map_or(Volunteers::None, Volunteers::Public);
    let brief = Brief { volunteers, ..Brief::new(people(dim), Budget::pure(1.0).unwrap()) };
    plugin.design(&parameters, &brief).unwrap()
}

/// Parameters within the budget: two samples, each of a private record and a public one.
fn setting() -> Value {
    json!({"samples": 2, "error": 5e-5, "confidence_gap": 0.2, "bits": 24, "most_condition": 1e5})
}

fn mix() -> Designed {
    mix_design().into_mechanism()
}

fn mix_design() -> Design {
    design(&DAUNTLESS_MIX, setting(), DIM, Some(crowd(DIM, 4, 1)))
}

fn inference(queries: usize) -> Designed {
    inference_design(queries).into_mechanism()
}

fn inference_design(queries: usize) -> Design {
    let parameters = json!({"queries": queries, "training": setting()});
    design(&DAUNTLESS_INFERENCE, parameters, DIM, Some(crowd(DIM, 4, 1)))
}

fn fresh(mechanism: &Designed, table: &Table) -> Release {
    mechanism.release(table, &mut Randomness::from_os().unwrap()).unwrap()
}

fn attacked(mechanism: &Designed, table: &Table) -> Vec<Finding> {
    audit("the mechanism", mechanism, Some(table), Effort { samples: 40_000, ..effort() }).unwrap()
}

#[track_caller]
fn holds(mechanism: &Designed, table: &Table) {
    for finding in attacked(mechanism, table) {
        assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
    }
}

/// Returns the audit's sentences about a faulty variant; panics if the audit does not catch it.
#[track_caller]
fn caught(honest: &Designed, fault: Fault, table: &Table) -> String {
    let what = format!("{fault:?}");
    let findings = attacked(&Designed::curator(DauntlessVariant::new(honest, fault)), table);
    let broken = findings.iter().filter(|finding| finding.verdict == Verdict::Broken);
    let sentences: Vec<String> = broken.map(Finding::to_string).collect();
    assert!(!sentences.is_empty(), "the faulty variant passed: {what}\n{findings:?}");
    sentences.join("\n")
}

#[test]
fn a_transformation_that_releases_share_is_caught() {
    let (honest, table) = (mix(), crowd(DIM, 6, 2));
    let pac = resistance(&fresh(&honest, &table)).unwrap();
    // 2.33 by an independent implementation (Python), before rounding down.
    assert!(pac.spent == 2.0 && pac.budget == 2.0, "{pac:?}");
    // The variant without a fault releases as the honest mechanism does.
    holds(&Designed::curator(DauntlessVariant::new(&honest, Fault::None)), &table);
    for fault in [Fault::OneSeed, Fault::OneTransformation] {
        let sentences = caught(&honest, fault.clone(), &table);
        assert!(sentences.contains("claims no recovery within 0.00005"), "{sentences}");
        assert!(sentences.contains("learned from the key of another release"), "{sentences}");
    }
}

/// The theorem allows no sample of so large an error. With two thousand, least squares on the public parts of
/// the release itself recover its mixtures.
#[test]
fn a_budget_beyond_the_theorems_is_caught_by_the_public_parts_of_the_release() {
    let parameters = json!({"error": 0.5, "confidence_gap": 0.2, "bits": 24, "most_condition": 1e5});
    let honest = designed(&DAUNTLESS_MIX, parameters, DIM, Some(crowd(DIM, 2_000, 1)));
    let table = crowd(DIM, 2_000, 2);
    assert_eq!(resistance(&fresh(&honest, &table)).unwrap().budget, 0.0);
    let sentences = caught(&honest, Fault::Budget(3_000.0), &table);
    assert!(sentences.contains("learned from the public parts of 2000 mixtures"), "{sentences}");
}

/// Lemma 1 holds for normal weights, if all mixed records are rotated together.
#[test]
fn a_table_that_is_told_from_the_same_turned_is_caught() {
    let gaussian = || json!({"weights": "gaussian"});
    let (honest, table) = (designed(&DAUNTLESS_MIX, gaussian(), 2, None), crowd(2, 6, 2));
    let turns = |mechanism: &Designed| {
        let effort = Effort { samples: 400_000, ..effort() };
        let findings = audit("the mechanism", mechanism, Some(&table), effort).unwrap();
        findings.into_iter().find(|finding| finding.claim.contains("unitary U")).unwrap()
    };
    let held = turns(&Designed::curator(DauntlessVariant::new(&honest, Fault::None)));
    assert_eq!(held.verdict, Verdict::Holds, "{held}");
    let uniform = designed(&DAUNTLESS_MIX, json!({"weights": "uniform"}), 2, None);
    let public = designed(&DAUNTLESS_MIX, gaussian(), 2, Some(crowd(2, 4, 1)));
    for (what, other) in [("uniform weights", uniform), ("public records", public)] {
        let finding = turns(&Designed::curator(DauntlessVariant::new(&honest, Fault::By(other))));
        assert_eq!(finding.verdict, Verdict::Broken, "{what} passed: {finding}");
        assert!(
            finding.to_string().contains("claims the same output distribution for all tables X·U"),
            "{finding}"
        );
    }
}

#[test]
fn labels_that_tell_the_names_of_their_classes_are_caught() {
    let table = crowd(2, 6, 2);
    let unmixed = designed(&DAUNTLESS_MIX, json!({}), 2, None);
    holds(&unmixed, &table);
    let mixed = designed(&DAUNTLESS_MIX, json!({"mixed": 2}), 2, None);
    for (honest, fault) in [(mixed, Fault::OneHot), (unmixed, Fault::LongVectors)] {
        let sentences = caught(&honest, fault, &table);
        assert!(sentences.contains("permutation of the classes' names"), "{sentences}");
    }
}

/// Public records disclose which class has which name, unless they contain equally many records of both
/// classes.
#[test]
fn names_of_classes_that_public_records_show_are_caught_where_they_are_claimed_to_be_hidden() {
    let two_classes = |records: usize, second: usize, seed: u64| {
        let classes = (0..records).map(|row| usize::from(row < second)).collect();
        crowd(2, records, seed).with_target(Target::Class(classes)).unwrap()
    };
    let private = two_classes(10, 1, 2);
    let with = |second| {
        designed(&DAUNTLESS_MIX, json!({"label_dim": 6, "layers": []}), 2, Some(two_classes(10, second, 1)))
    };
    let honest = with(1);
    assert!(honest.guarantee().claims.iter().all(|claim| claim.protects != Unit::Label));
    let sentences = caught(&honest, Fault::NamesHidden, &private);
    assert!(sentences.contains("permutation of the classes' names"), "{sentences}");
    // Equally many public records of both classes: nothing is disclosed.
    let findings =
        attacked(&Designed::curator(DauntlessVariant::new(&with(5), Fault::NamesHidden)), &private);
    let permutation_finding = findings.iter().find(|finding| finding.claim.contains("permutation")).unwrap();
    assert_eq!(permutation_finding.verdict, Verdict::Holds, "{permutation_finding}");
}

#[test]
fn what_is_mixed_otherwise_than_the_theorem_says_is_caught() {
    let (honest, table, public, known) = (mix(), crowd(DIM, 6, 2), crowd(DIM, 4, 1), crowd(DIM, 80, 3));
    let wrong = |mechanism: &Designed| wrong_mixtures(mechanism, &table, &public, &known).unwrap();
    assert_eq!(wrong(&honest), Vec::<String>::new());
    let problems = |fault: Fault| wrong(&Designed::curator(DauntlessVariant::new(&honest, fault))).join("\n");
    assert_eq!(problems(Fault::None), "");
    let records = public.records().clone();
    let unmixed = problems(Fault::Weighted(records.clone(), 1.0));
    assert!(unmixed.starts_with("the private record 1 leaves unmixed, as sample 1"), "{unmixed}");
    for share in [0.0, 0.4, 0.9] {
        let unequal = problems(Fault::Weighted(records.clone(), share));
        assert!(unequal.contains("no mixture in equal shares"), "{unequal}");
    }
    let twice = problems(Fault::UsedTwice(records));
    assert_eq!(twice, "the private record 1 is in 2 samples, and the claim is for one each");
}

#[test]
fn a_budget_that_is_not_the_theorems_and_queries_that_are_not_counted_are_caught() {
    let table = crowd(DIM, 6, 2);
    let wrong = |design: &Design, fault| {
        let variant = Designed::curator(DauntlessVariant::new(design.mechanism(), fault));
        wrong_budget(design.state(), &fresh(&variant, &table)).join("\n")
    };
    for design in [mix_design(), inference_design(3)] {
        let honest = fresh(design.mechanism(), &table);
        assert_eq!(wrong_budget(design.state(), &honest), Vec::<String>::new());
        assert_eq!(wrong(&design, Fault::None), "");
        let pac = resistance(&honest).unwrap();
        let one_more = wrong(&design, Fault::Budget(pac.budget + 1.0));
        assert!(one_more.contains("and Corollary 1 allows"), "{one_more}");
        // The budget as the paper prints it (errata D11).
        let variance = 1.0 / 12.0;
        let printed = Setting {
            error: pac.error,
            delta: pac.confidence_gap,
            dim: DIM as u64,
            beta: 1.0,
            public_variance: variance,
            private_variance: variance,
        };
        let printed = corollary_1(&printed, 24.0 * DIM as f64).unwrap().budget_as_printed.floor();
        assert!(printed > pac.budget, "{printed} for {pac:?}");
        assert!(wrong(&design, Fault::Budget(printed)).contains("Corollary 1 allows"));
    }
    // A training and the queries to its model share one budget.
    let uncounted = wrong(&inference_design(3), Fault::QueriesUncounted);
    assert_eq!(
        uncounted,
        "it counts 2 samples, and 2 leave and 3 may be asked for: both tell of one transformation"
    );
}

#[test]
fn a_key_that_answers_more_than_it_counts_or_hides_less_is_caught() {
    const MOST: usize = 80;
    let honest = inference(MOST);
    let (table, queries) = (crowd(DIM, MOST + 4, 2), crowd(DIM, MOST + 1, 4));
    let wrong = |mechanism: &Designed| {
        wrong_answers(mechanism, &fresh(mechanism, &table).key, &queries, MOST).unwrap()
    };
    assert_eq!(wrong(&honest), Vec::<String>::new());
    let problems = |fault| wrong(&Designed::curator(DauntlessVariant::new(&honest, fault))).join("\n");
    assert_eq!(problems(Fault::None), "");
    assert_eq!(problems(Fault::KeyUncounted), "it answers more queries than are counted against its budget");
    assert_eq!(problems(Fault::KeyForgets), "it forgets what it has answered when it is saved and loaded");
    let partner = problems(Fault::OnePartner);
    assert!(partner.contains("share the private record that should hide each of them"), "{partner}");
}

#[test]
fn variants_of_perfect_secrecy_are_caught() {
    let (honest, table) = (designed(&PERFECT_SECRECY, json!({}), 3, None), crowd(3, 6, 2));
    holds(&honest, &table);
    holds(&Designed::curator(DauntlessVariant::new(&honest, Fault::None)), &table);
    for fault in [Fault::View, Fault::Gram, Fault::Raw] {
        let sentences = caught(&honest, fault, &table);
        assert!(sentences.contains("claims perfect secrecy for the features"), "{sentences}");
    }
    // The labels are released in the clear, but a claim for the whole record covers them too.
    let labels = caught(&honest, Fault::LabelsToo, &table);
    assert!(labels.contains(&format!("claims perfect secrecy for {}", Unit::Record)), "{labels}");
}
