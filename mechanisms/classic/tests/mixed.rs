//! Tests of `piecewise`, `duchi` and `hybrid` on records of numbers and levels, and audits of them and of
//! faulty variants.

use scumble_adversary::{Effort, Verdict, audit_plugin, caught};
use scumble_classic::{DUCHI, Estimator, HYBRID, PIECEWISE, SampledNumbers};
use scumble_core::{
    Brief, Budget, Composed, Domain, Error, LocalMechanism, NoiseDistribution, Plugin, Protect, Randomness,
    RecordDomain, Table, Target, TargetDomain, Unit,
};
use scumble_testing::{Fault, Faulty};
use serde_json::json;
use std::sync::Arc;

const ALL: [Plugin; 3] = [PIECEWISE, DUCHI, HYBRID];

/// Checks the audited lower bound on ε, which is wrong once in a million audits.
#[test]
fn most_of_the_claimed_epsilon_is_seen_on_numbers_and_levels() {
    for plugin in ALL {
        let findings = audit_plugin(&plugin, Effort { samples: 100_000, ..Effort::quick() }).unwrap();
        assert!(findings.iter().all(|finding| finding.verdict == Verdict::Holds), "{findings:?}");
        let seen = findings[0].lower_bound.unwrap();
        assert!(seen >= 0.8, "{}: ε ≥ {seen} of 1 is seen", plugin.name);
    }
}

fn records(names: &[&str], features: impl IntoIterator<Item = Domain>, target: TargetDomain) -> RecordDomain {
    let columns = names.iter().map(|&name| name.to_owned()).collect();
    RecordDomain::new(columns, Domain::product(features).unwrap(), target).unwrap()
}

/// Domain of a number and a group of three levels.
fn people() -> RecordDomain {
    let names = ["size", "colour=red", "colour=green", "colour=blue"];
    records(&names, [Domain::unit_box(1), Domain::one_hot(3).unwrap()], TargetDomain::None)
}

fn local(plugin: &Plugin, domain: RecordDomain, epsilon: f64, k: usize) -> Arc<dyn LocalMechanism> {
    let brief = Brief::new(domain, Budget::pure(epsilon).unwrap());
    scumble_testing::local(plugin.design(&json!({ "k": k }), &brief).unwrap())
}

/// With k = 2 both attributes are answered, at ε/2 each. The faulty variant answers for the level at ε.
#[test]
fn levels_answered_at_the_whole_epsilon_are_caught() {
    let whole = people();
    let part = |columns: &[usize]| whole.restrict(columns).unwrap();
    for plugin in ALL {
        let honest = local(&plugin, people(), 1.0, 2);
        let parts = vec![local(&plugin, part(&[0]), 0.5, 1), local(&plugin, part(&[1, 2, 3]), 1.0, 1)];
        let wrong = Composed::over(people(), parts).unwrap();
        let sentence = caught(Faulty::new(&honest, Fault::By(Arc::new(wrong)))).unwrap();
        assert!(sentence.contains("claims ε = 1 local differential privacy"), "{sentence}");
    }
}

/// Checks that every answer is at most e^ε times as likely for one record as for another.
#[test]
fn no_answer_has_larger_odds_than_claimed() {
    let corners: Vec<Vec<f64>> = [0.0, 0.3, 1.0]
        .into_iter()
        .flat_map(|size| {
            (0..3).map(move |level| {
                let mut record = vec![size, 0.0, 0.0, 0.0];
                record[1 + level] = 1.0;
                record
            })
        })
        .collect();
    for (plugin, k) in ALL.into_iter().flat_map(|plugin| [(plugin, 1), (plugin, 2)]) {
        let mechanism = local(&plugin, people(), 1.4, k);
        let mut stream = Randomness::seeded(6).streams().stream(0);
        for at in 0..2000 {
            let mut released = corners[at % corners.len()].clone();
            mechanism.perturb(&mut released, &mut stream).unwrap();
            let log_likelihood = |record: &Vec<f64>| mechanism.log_likelihood(record, &released).unwrap();
            let likelihoods: Vec<f64> = corners.iter().map(log_likelihood).collect();
            let most = likelihoods.iter().copied().fold(f64::MIN, f64::max);
            let least = likelihoods.iter().copied().fold(f64::MAX, f64::min);
            assert!(
                most - least <= 1.4 + 1e-9,
                "{} with k = {k}: {released:?} has {likelihoods:?}",
                plugin.name
            );
        }
    }
}

/// `n` people: half are red, a third green and a sixth blue; their mean size is 1/2.
fn table(n: usize) -> Table {
    let rows = ndarray::Array2::from_shape_fn((n, 4), |(row, column)| match column {
        0 => (row % 101) as f64 / 100.0,
        level => f64::from(u8::from([0, 0, 0, 1, 1, 2][row % 6] == level - 1)),
    });
    let names = people().columns().to_vec();
    Table::new(names, rows, Target::None).unwrap()
}

#[test]
fn means_and_frequencies_are_estimated_from_a_release_whatever_k() {
    const SEED: u64 = 8;
    for (plugin, k) in ALL.into_iter().flat_map(|plugin| [(plugin, 1), (plugin, 2)]) {
        let mechanism = local(&plugin, people(), 2.0, k);
        let release = mechanism.release(&table(60_600), &mut Randomness::seeded(SEED)).unwrap();
        // False alarms are rarer than one in 10⁸.
        let estimator = Estimator::new(&*mechanism, &release.table, &release.noise, 1.0 - 1e-8).unwrap();
        for (column, truth) in
            [("size", 0.5), ("colour=red", 0.5), ("colour=green", 1.0 / 3.0), ("colour=blue", 1.0 / 6.0)]
        {
            let mean = estimator.mean(column).unwrap();
            assert!(
                mean.lower <= truth && truth <= mean.upper,
                "seed {SEED}, {} with k = {k}: {column} is {mean:?}, not {truth}",
                plugin.name
            );
            assert!(mean.upper - mean.lower < 0.3, "{} with k = {k}: {mean:?}", plugin.name);
        }
    }
}

#[test]
fn a_group_is_one_attribute_and_has_a_distribution_of_its_own() {
    let mechanism = local(&PIECEWISE, people(), 2.0, 2);
    let noise = mechanism.noise();
    assert_eq!(noise.features.iter().map(NoiseDistribution::width).collect::<Vec<_>>(), [1, 3]);
    let pairs: Vec<f64> = noise
        .features
        .iter()
        .map(|distribution| match distribution {
            NoiseDistribution::Unbiased { pairs, .. } => *pairs,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pairs, [1.0, 0.0]);
    let theorem = &mechanism.guarantee().claims[0].theorem;
    for part in ["piecewise mechanism", "levels by randomised response", "each of 2 attributes"] {
        assert!(theorem.contains(part), "{theorem}");
    }
}

#[test]
fn what_is_neither_a_number_nor_a_group_is_refused_by_its_name() {
    let names = ["size", "east", "north"];
    let features = [Domain::unit_box(1), Domain::l2_ball(2, 1.0).unwrap()];
    let tied = records(&names, features, TargetDomain::None);
    let refused = SampledNumbers::piecewise(tied, 1.0).unwrap_err();
    assert!(matches!(refused, Error::NotApplicable { .. }), "{refused:?}");
    assert!(refused.to_string().contains("ties column \"east\" to others"), "{refused}");
}

#[test]
fn a_class_label_is_left_to_randomised_response() {
    let class = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let domain = records(&["size"], [Domain::unit_box(1)], class);
    let features = SampledNumbers::hybrid(domain, 1.0).unwrap();
    assert!(features.guarantee().local_dp(Unit::Features).is_some());
    for protect in [Protect::Record, Protect::Label] {
        let refused = features.clone().protecting(protect).unwrap_err();
        assert!(refused.to_string().contains("must be released as a class"), "{refused}");
    }
}

#[test]
fn a_numeric_label_is_an_attribute_beside_levels() {
    let real = TargetDomain::Real { lower: 0.0, upper: 10.0 };
    let domain = records(&["colour=red", "colour=green"], [Domain::one_hot(2).unwrap()], real);
    let mechanism = SampledNumbers::duchi(domain, 1.0).unwrap();
    assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 1.0);
    assert_eq!((mechanism.noise().features.len(), mechanism.noise().target.width()), (1, 1));
}

#[test]
fn a_saved_design_of_numbers_and_levels_loads_the_same() {
    let mechanism = SampledNumbers::hybrid(people(), 1.0).unwrap();
    let brief = Brief::new(people(), Budget::pure(1.0).unwrap());
    let saved = HYBRID.design(&json!({}), &brief).unwrap().state().to_string();
    let loaded = (HYBRID.build)(&saved.parse().unwrap()).unwrap();
    assert_eq!(loaded.downcast_ref::<SampledNumbers>().unwrap().noise(), mechanism.noise());
}
