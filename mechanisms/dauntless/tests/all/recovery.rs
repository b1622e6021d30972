//! Records that an adversary with known plaintexts recovers.

use crate::common::{brief, crowd, designed, fresh, people, seeded};
use ndarray::{Array1, Array2, s};
use scumble_adversary::{
    Effort, Inversion, TransformationFit, Verdict, audit_design, mixtures_recovered, recovery,
};
use scumble_classifier::ClassifierParams;
use scumble_core::{Notion, PacResistance, Randomness, Table, Target};
use scumble_dauntless::DAUNTLESS_MIX;
use serde_json::json;

const DIM: usize = 8;

/// Share of 100 further records that are recovered within 0.01, given `pairs` known pairs.
fn recovered_of(weights: &str, pairs: usize) -> f64 {
    let parameters = json!({"weights": weights, "mixed": 1, "bits": 40});
    let mechanism = designed(&DAUNTLESS_MIX, parameters, &brief(people(DIM, 2), None));
    let table = crowd(DIM, pairs + 100, 5);
    let release = seeded(&mechanism, &table, 7);
    // The adversary matches records with released ones by the view or by other knowledge, here by the key.
    let view = release.key.view(&table).unwrap();
    let (known, private) = (table.records().slice(s![..pairs, ..]), table.records().slice(s![pairs.., ..]));
    let learned = Inversion::linear(view.records().slice(s![..pairs, ..]), known).unwrap();
    let recovered = learned.recover(view.records().slice(s![pairs.., ..]));
    Inversion::fraction_within(recovered.view(), private, 0.01)
}

#[test]
fn an_unmixed_linear_release_falls_with_as_many_pairs_as_there_are_columns_and_one() {
    for weights in ["uniform", "gaussian", "inverse-uniform"] {
        assert_eq!(recovered_of(weights, DIM + 1), 1.0, "{weights}");
        assert_eq!(recovered_of(weights, DIM / 2), 0.0, "{weights}");
    }
}

/// Inversion learned from released mixtures of `public` records with private ones of weight `hidden`.
fn inverted(public: &Table, released: &Array2<f64>, hidden: f64) -> Inversion {
    let known = public.records() * (1.0 - hidden);
    let mut fit = TransformationFit::new(public.records().view()).unwrap();
    fit.add(released.view(), known.view(), Array1::from_elem(known.nrows(), hidden).view()).unwrap();
    fit.invert().unwrap()
}

/// Recovery from public parts and their transformed mixtures, as in Corollary 1: the adversary knows the
/// public record of each sample.
fn attempt(mechanism: &scumble_core::Designed, samples: usize, seed: u64) -> f64 {
    let (public, private) = (crowd(DIM, samples, 2 * seed), crowd(DIM, samples + 1, 2 * seed + 1));
    let mixed = (public.records() + &private.records().slice(s![..samples, ..])) / 2.0;
    let release = seeded(mechanism, &private.select(&(0..samples).collect::<Vec<_>>()).unwrap(), seed);
    let as_table = |records: Array2<f64>| {
        let target = private.select(&(0..records.nrows()).collect::<Vec<_>>()).unwrap().target().clone();
        Table::new(private.columns().to_vec(), records, target).unwrap()
    };
    let released = release.key.view(&as_table(mixed)).unwrap();
    let learned = inverted(&public, released.records(), 0.5);
    // One more sample. The adversary knows only its released form.
    let unknown = private.records().slice(s![samples.., ..]).to_owned();
    let seen = release.key.view(&as_table(unknown.clone())).unwrap();
    let recovered = learned.recover(seen.records().view());
    Inversion::distances(recovered.view(), unknown.view())[0]
}

#[test]
fn within_its_budget_no_sample_is_recovered_and_far_beyond_nearly_all_are_nearly() {
    let parameters = json!({"bits": 4, "error": 1e-4, "confidence_gap": 0.2, "most_condition": 1e6});
    let mechanism = designed(&DAUNTLESS_MIX, parameters, &brief(people(DIM, 2), Some(crowd(DIM, 40, 3))));
    let release = fresh(&mechanism, &crowd(DIM, 2, 4));
    let claims = &release.guarantee.claims;
    let pac = claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) => Some(pac),
        _ => None,
    });
    let pac = pac.unwrap();
    assert!(pac.spent == 2.0 && pac.budget >= 2.0, "{pac:?}");
    let mut seeds = 0;
    let mut attempted = |_: &mut scumble_core::Stream| {
        seeds += 1;
        Ok(attempt(&mechanism, 2, seeds))
    };
    let found = recovery("dauntless-mix", &pac, 200, &mut attempted, Effort::quick()).unwrap();
    assert_eq!(found.verdict, Verdict::Holds, "{found}");
    assert!(found.lower_bound.unwrap() < 0.05);

    // With enough bits and thousands of samples, the public halves alone disclose the transformation.
    let parameters = json!({"bits": 40, "weights": "uniform"});
    let mechanism = designed(&DAUNTLESS_MIX, parameters, &brief(people(DIM, 2), Some(crowd(DIM, 40, 3))));
    let near = (1..=20).filter(|seed| attempt(&mechanism, 20_000, *seed) < 0.1).count();
    assert!(near >= 18, "{near} of 20");
}

#[test]
fn private_halves_of_a_release_are_reconstructed_from_many_mixtures_and_not_from_two() {
    let table = crowd(DIM, 400, 4);
    let recovered = |samples: usize, mixed: usize| {
        let parameters = json!({"samples": samples, "mixed": mixed, "bits": 40, "weights": "uniform"});
        let public = Some(crowd(DIM, 200, 3));
        let mechanism = designed(&DAUNTLESS_MIX, parameters, &brief(people(DIM, 2), public));
        let release = seeded(&mechanism, &table, 7);
        mixtures_recovered(&mechanism, &table, &release.table, 7).unwrap()
    };
    let [few, some, many] = [2, 100, 10_000].map(|samples| recovered(samples, 2).unwrap());
    assert!(few.abs() < 0.25 && few < some && some < many && many > 0.98, "{few}, {some}, {many}");
    assert_eq!(recovered(100, 1), None, "an unmixed record has no public part");
}

/// A budget that was spent ten thousand times over claims nothing, and the audit reports it.
#[test]
fn a_spent_budget_is_no_guarantee_to_break() {
    let pac = PacResistance { error: 10.0, confidence_gap: 0.1, budget: 2.0, spent: 20_000.0 };
    let found = recovery("dauntless-mix", &pac, 20, |_| Ok(0.0), Effort::quick()).unwrap();
    assert_eq!(found.verdict, Verdict::NothingClaimed);
}

/// Recovery by an adversary with 2,000 pairs from a release with negative values set to zero, by least
/// squares and by a network. For each attack: the share of 300 further records recovered within 0.3, and the
/// mean distance to a record. The adversary knows the public half of each mixture.
fn bent(is_mixed: bool) -> [(f64, f64); 2] {
    let dim = 4;
    let parameters =
        json!({"weights": "gaussian", "layers": [8], "activation": "relu", "mixed": 1, "bits": 40});
    let mechanism = designed(&DAUNTLESS_MIX, parameters, &brief(people(dim, 2), None));
    let release = seeded(&mechanism, &crowd(dim, 1, 1), 7);
    let (known, hidden) = (crowd(dim, 2_000, 2), crowd(dim, 2_000, 3));
    let (made_of, own) = match is_mixed {
        true => ((known.records() + hidden.records()) / 2.0, known.records() / 2.0),
        false => (known.records().clone(), known.records().clone()),
    };
    let mixtures = Table::new(known.columns().to_vec(), made_of, known.target().clone()).unwrap();
    let released = release.key.view(&mixtures).unwrap();
    let unknown = crowd(dim, 300, 4);
    let seen = release.key.view(&unknown).unwrap();
    let network = ClassifierParams::default().hidden(vec![64, 64]).epochs(60).seed(1);
    let network = Inversion::network(released.records().view(), own.view(), network).unwrap();
    // The network learns the public half of a mixture, and private halves have the same weight.
    let (hidden, scale) = if is_mixed { (0.5, 2.0) } else { (0.0, 1.0) };
    [(inverted(&known, released.records(), hidden), 1.0), (network, scale)].map(|(learned, scale)| {
        let recovered = learned.recover(seen.records().view()) * scale;
        let truth = unknown.records().view();
        let distances = Inversion::distances(recovered.view(), truth);
        (Inversion::fraction_within(recovered.view(), truth, 0.3), distances.mean().unwrap())
    })
}

/// The attack of Section A.4, with seeded draws.
#[test]
fn a_network_undoes_what_a_linear_map_does_not_and_mixing_impedes_both() {
    let [[linear, network], [mixed_linear, mixed_network]] = [bent(false), bent(true)];
    assert!(network.0 > 2.0 * linear.0, "{network:?} by a network, {linear:?} by least squares");
    assert!(network.1 < 0.65 * linear.1, "{network:?} by a network, {linear:?} by least squares");
    assert!(mixed_network.0 < 0.5 * network.0, "{mixed_network:?} mixed, {network:?} not");
    assert!(mixed_linear.1 > linear.1, "{mixed_linear:?} mixed, {linear:?} not");
}

/// The mixtures, public parts and weights that an audit attacks with are those of the release.
#[test]
fn an_audit_knows_the_public_parts_of_the_mixtures_of_the_release() {
    let public = crowd(DIM, 40, 3);
    for weights in ["equal", "random"] {
        let parameters = json!({"mixing_weights": weights, "mixed": 3, "samples": 10});
        let mechanism = designed(&DAUNTLESS_MIX, parameters, &brief(people(DIM, 2), Some(public.clone())));
        let table = crowd(DIM, 20, 4);
        let release = seeded(&mechanism, &table, 7);
        let mixtures = mechanism.evidence().mixtures.unwrap();
        assert_eq!(mixtures.public().unwrap(), public);
        let parts = mixtures.parts(&table, &mut Randomness::seeded(7)).unwrap();
        let classes = Target::Class(Array1::zeros(10));
        let mixed = Table::new(table.columns().to_vec(), parts.mixtures, classes).unwrap();
        assert_eq!(release.key.view(&mixed).unwrap().records(), release.table.records());
        for (known, hidden) in parts.known.outer_iter().zip(&parts.hidden) {
            let record = &known / (1.0 - hidden);
            let is_record =
                |other: ndarray::ArrayView1<f64>| (&record - &other).iter().all(|x| x.abs() < 1e-9);
            assert!(public.records().outer_iter().any(is_record), "{record}");
        }
        assert_eq!(parts.hidden.iter().all(|hidden| (hidden - 2.0 / 3.0).abs() < 1e-12), weights == "equal");
    }
    let unmixed = designed(&DAUNTLESS_MIX, json!({}), &brief(people(DIM, 2), None));
    assert!(unmixed.evidence().mixtures.is_none());
}

/// A saved design holds its public records, which an audit releases in place of private ones.
#[test]
fn a_saved_design_is_attacked_with_its_public_records() {
    let parameters = json!({"bits": 4, "error": 1e-4, "confidence_gap": 0.2, "most_condition": 1e6});
    let public = crowd(DIM, 40, 3);
    let design = DAUNTLESS_MIX.design(&parameters, &brief(people(DIM, 2), Some(public))).unwrap();
    let findings = audit_design(&design, Effort::quick()).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].verdict, Verdict::Holds, "{}", findings[0]);
    let expected = "learned from the public parts of 4 mixtures of the release";
    assert!(findings[0].because.contains(expected) && findings[0].claim.contains("4 of 4 samples"));
}
