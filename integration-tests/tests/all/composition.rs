//! Composed mechanisms: their output, its order, their keys, and their refusals.

use ndarray::{Array2, array};
use scumble::classic::{Identity, LAPLACE, Laplace, RANDOMIZED_RESPONSE, RandomizedResponse};
use scumble::core::{
    Accumulator, Brief, Budget, Composed, CuratorMechanism, Design, Designed, Domain, Error, Example,
    Guarantee, Key, LocalMechanism, NoiseDistribution, Plugin, Randomness, RecordDomain, Registry, Release,
    Releases, Result, Secret, Side, Table, Target, TargetDomain, Unit, Volunteers, collected, composed,
};
use scumble::custody::ShippedDesign;
use scumble_integration_tests::Offset;
use serde_json::Value;
use std::sync::Arc;

fn class() -> TargetDomain {
    TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
}

/// Domain of two numbers around a group of three levels, with a class.
fn people() -> RecordDomain {
    let features =
        Domain::product([Domain::unit_box(1), Domain::one_hot(3).unwrap(), Domain::unit_box(1)]).unwrap();
    let columns = ["size", "colour=r", "colour=g", "colour=b", "weight"];
    RecordDomain::new(columns.map(String::from).to_vec(), features, class()).unwrap()
}

fn table() -> Table {
    let records = array![[0.25, 1.0, 0.0, 0.0, 0.75], [0.5, 0.0, 0.0, 1.0, 1.0]];
    Table::new(people().columns().to_vec(), records, Target::Class(array![1, 0])).unwrap()
}

fn boxed(mechanism: impl LocalMechanism) -> Arc<dyn LocalMechanism> {
    Arc::new(mechanism)
}

fn epsilon(guarantee: &Guarantee, unit: Unit) -> Option<f64> {
    guarantee.local_dp(unit).map(|dp| dp.epsilon)
}

#[test]
fn parts_release_their_columns_side_by_side_and_the_target_last() {
    let numbers = people().restrict(&[4, 0]).unwrap();
    let colour = people().restrict(&[1, 2, 3]).unwrap();
    let composed = Composed::over(
        people(),
        vec![
            boxed(Laplace::new(numbers, 1.0).unwrap()),
            boxed(RandomizedResponse::new(people().without_features(), 0.5).unwrap()),
            boxed(RandomizedResponse::new(colour, 0.25).unwrap()),
        ],
    )
    .unwrap();
    assert_eq!(epsilon(&composed.guarantee(), Unit::Record), Some(1.75));
    let composed = Designed::local(composed);
    let release = composed.release(&table(), &mut Randomness::seeded(1)).unwrap();
    let columns = ["weight", "size", "colour=r", "colour=g", "colour=b"];
    assert_eq!(release.table.columns(), columns);
    let view = release.key.view(&table()).unwrap();
    assert_eq!(*view.records(), array![[0.75, 0.25, 1.0, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0, 1.0]]);
    assert_eq!(view.target(), table().target());
    let widths: Vec<usize> = release.noise.features.iter().map(NoiseDistribution::width).collect();
    assert_eq!(widths, [2, 3]);
    assert!(release.noise.label_flip().is_some());
}

#[test]
fn a_record_released_twice_costs_twice_and_its_columns_are_told_apart() {
    let weight = || people().restrict(&[4]).unwrap();
    let twice = Composed::over(
        people().without_target(),
        vec![boxed(Laplace::new(weight(), 0.5).unwrap()), boxed(Laplace::new(weight(), 0.75).unwrap())],
    )
    .unwrap();
    assert_eq!(epsilon(&twice.guarantee(), Unit::Record), Some(1.25));
    let clean = table().with_target(Target::None).unwrap();
    let release = twice.release(&clean, &mut Randomness::seeded(1)).unwrap();
    assert_eq!(release.table.columns(), ["weight", "weight (part 2)"]);
    let (first, second) = (release.table.records()[[0, 0]], release.table.records()[[0, 1]]);
    assert_ne!(first, second, "both parts drew the same noise");
}

#[test]
fn one_part_without_a_claim_leaves_the_record_without_one() {
    let size = Identity::new(people().restrict(&[0]).unwrap());
    let weight = Laplace::new(people().restrict(&[4]).unwrap(), 1.0).unwrap();
    let composed = Composed::over(people().without_target(), vec![boxed(size), boxed(weight)]).unwrap();
    let guarantee = composed.guarantee();
    assert!(guarantee.claims.is_empty(), "{guarantee}");
    assert_eq!(guarantee.discloses.len(), 1);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let labels = || boxed(RandomizedResponse::new(people().without_features(), 1.0).unwrap());
    let features = || boxed(Laplace::new(people().without_target(), 1.0).unwrap());
    let unrelated = RecordDomain::new(vec!["age".into()], Domain::unit_box(1), TargetDomain::None).unwrap();
    let wider =
        RecordDomain::new(vec!["size".into()], Domain::interval(0.0, 2.0).unwrap(), TargetDomain::None);
    let unrelated = || boxed(Laplace::new(unrelated.clone(), 1.0).unwrap());
    let wider = || boxed(Laplace::new(wider.as_ref().unwrap().clone(), 1.0).unwrap());
    for (parts, why) in [
        (vec![], "no part"),
        (vec![labels(), labels()], "the target twice"),
        (vec![features(), unrelated()], "a column that is not there"),
        (vec![wider()], "another domain of a column"),
    ] {
        assert!(Composed::over(people(), parts).is_err(), "{why} was accepted");
    }
    assert!(Composed::over(people().without_target(), vec![labels()]).is_err());
    let people_of = |part: RecordDomain| Laplace::new(part, 1.0).unwrap();
    let labels = || RandomizedResponse::new(people().without_features(), 1.0).unwrap();
    let features = || people_of(people().without_target());
    assert!(Composed::features_with_labels(labels(), features()).is_err());
    let composed = Composed::features_with_labels(features(), labels()).unwrap();
    assert!(composed.perturb(&mut [0.0; 3], &mut Randomness::seeded(1).streams().stream(0)).is_err());
    assert!(composed.encode(&[0.0; 3]).is_err() && composed.decode(vec![0.0; 99]).is_err());
}

#[test]
fn a_curator_among_the_parts_makes_the_key_secret_and_the_key_can_be_saved() {
    let labels = RandomizedResponse::new(people().without_features(), 1.0).unwrap();
    let parts = vec![Designed::curator(Offset::new(people().without_target())), labels.into()];
    let composed = composed(people(), parts).unwrap();
    assert_eq!(composed.side(), Side::Curator);
    let release = composed.release(&table(), &mut Randomness::from_os().unwrap()).unwrap();
    assert_eq!(epsilon(&release.guarantee, Unit::Record), None);
    assert_eq!(epsilon(&release.guarantee, Unit::Label), Some(1.0));
    assert_eq!(release.guarantee.discloses, ["all differences of records"]);
    let Key::Secret(secret) = &release.key else { panic!("the key of a curator is secret") };

    let saved = secret.state().unwrap();
    let loaded = Key::Secret(Secret::from_state(&saved, &composed).unwrap());
    let view = loaded.view(&table()).unwrap();
    let difference: Array2<f64> = view.records() - release.table.records();
    assert!(difference.iter().all(|d| d.abs() < 1e-6), "the saved key gives another view");
    assert_eq!(view.target(), table().target());
}

#[test]
fn a_composition_is_saved_with_its_parts_and_checked_when_it_is_read() {
    let example = Example::mixed().unwrap();
    let parts = example.brief.domain.each_factor().map(|column| {
        let brief = example.brief.for_part(column.unwrap().0).unwrap();
        let plugin = if brief.domain.columns().len() > 1 { RANDOMIZED_RESPONSE } else { LAPLACE };
        plugin.design(&Value::Null, &brief.with_budget(Budget::pure(0.25).unwrap())).unwrap()
    });
    let design = Design::composed(example.brief.domain.without_target(), parts.collect()).unwrap();
    let registry = Registry::installed().unwrap();
    let saved = ShippedDesign::from(design.clone()).to_json().unwrap();
    let loaded = ShippedDesign::from_json(&saved, "design.json", &registry).unwrap();
    assert_eq!(loaded.mechanism().guarantee(), design.mechanism().guarantee());
    for (from, to, named) in [
        ("scumble-design-3", "scumble-design-9", "scumble-design-9"),
        ("\"plugin\": \"laplace\"", "\"plugin\": \"laplce\"", "did you mean \"laplace\"?"),
        ("\"plugin\": \"laplace\"", "\"plugin\": \"gaussian\"", "gaussian"),
        ("\"plugin\": \"laplace\"", "\"plugin\": \"identity\"", "unknown field"),
        ("\"plugin_version\": \"", "\"plugin_version\": \"9.", "is installed"),
        ("\"parameters\": {}", "\"parameter\": {}", "parameter"),
        ("\"epsilon\": 0.25", "\"epsilon\": -0.25", "-0.25"),
        ("\"epsilon\": 0.25", "\"epsilon\": 2.5", "changed after it was saved"),
        ("\"weight\"", "\"wait\"", "there is no column"),
        ("{", "", "line"),
    ] {
        let changed = saved.replacen(from, to, 1);
        assert_ne!(changed, saved, "{from} is not in the design");
        let message = ShippedDesign::from_json(&changed, "design.json", &registry).unwrap_err().to_string();
        assert!(message.contains(named), "{from} became {to}: {message}");
    }
}

#[test]
fn a_design_shaped_by_private_volunteers_is_not_saved_without_a_claim_for_them() {
    use scumble::core::{CentralDp, Claim, Neighbours, Notion, ShapedBy};
    #[derive(Debug)]
    struct Shaped {
        inner: Identity,
        protected: bool,
    }
    impl CuratorMechanism for Shaped {
        fn domain(&self) -> &RecordDomain {
            self.inner.domain()
        }
        fn guarantee(&self) -> Guarantee {
            let central = Claim {
                notion: Notion::CentralDp(CentralDp::new(1.0, 1e-5, Neighbours::AddOrRemoveOne)),
                protects: Unit::Volunteer,
                theorem: "DP-SGD".into(),
            };
            Guarantee {
                claims: if self.protected { vec![central] } else { vec![] },
                shaped_by: ShapedBy::PrivateVolunteers,
                ..Guarantee::nothing(self.domain())
            }
        }
        fn releases(&self) -> Releases {
            Releases::with_key(self.domain())
        }

        fn start(&self) -> Box<dyn Accumulator + '_> {
            collected(self.domain(), |table, randomness| self.release_all(table, randomness))
        }
    }

    impl Shaped {
        fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
            Ok(self.inner.release(table, randomness)?.with_key(Key::None))
        }
    }
    fn shaped(state: &Value, protected: bool) -> Result<Designed> {
        Ok(Designed::curator(Shaped { inner: Identity::new(Error::read_state(state)?), protected }))
    }
    type Build = dyn Fn(&Value) -> Result<Designed> + Sync;
    fn plugin(name: &'static str, build: &'static Build) -> Plugin {
        Plugin { name, build, ..scumble::classic::IDENTITY }
    }
    let claims_nothing = plugin("claims-nothing", &|state| shaped(state, false));
    let claims = plugin("claims", &|state| shaped(state, true));
    let brief = Brief::new(people(), Budget::pure(1.0).unwrap());
    let save =
        |plugin: &Plugin, brief: &Brief| ShippedDesign::from(plugin.design(&Value::Null, brief)?).to_json();
    let refusal = |saved: scumble::custody::Result<String>| saved.unwrap_err().to_string();
    assert!(refusal(save(&claims_nothing, &brief)).contains("private volunteers"));
    assert!(save(&claims, &brief).is_ok());
    // A design that had private volunteers is not saved either, whatever it claims. The same applies to a
    // composition of such a design with a part that has a claim.
    let at_hand = Brief { volunteers: Volunteers::Private(table()), ..brief.clone() };
    assert!(refusal(save(&scumble::classic::IDENTITY, &at_hand)).contains("private volunteers"));
    let whole = people();
    let parts = vec![
        claims.design(&Value::Null, &at_hand.for_part(whole.without_target()).unwrap()).unwrap(),
        scumble::classic::RANDOMIZED_RESPONSE
            .design(&Value::Null, &at_hand.for_part(whole.without_features()).unwrap())
            .unwrap(),
    ];
    let composed = Design::composed(whole, parts).unwrap_err().to_string();
    assert!(composed.contains("randomized-response"), "{composed}");
    // Each part's δ of 10⁻⁵ is one in 100,000; the sum for two parts is one in 50,000.
    let among = |volunteers: usize| {
        let rows: Vec<usize> = (0..volunteers).map(|row| row % table().len()).collect();
        let brief =
            Brief { volunteers: Volunteers::Private(table().select(&rows).unwrap()), ..brief.clone() };
        let part =
            || claims.design(&Value::Null, &brief.for_part(people().without_target()).unwrap()).unwrap();
        Design::composed(people().without_target(), vec![part(), part()])
    };
    assert!(among(40_000).is_ok());
    let too_many = among(60_000).unwrap_err();
    assert!(matches!(too_many, Error::DeltaOfVolunteers { volunteers: 60_000, .. }), "{too_many}");
}
