//! Checks that the plugin conforms, that an audit does not refute its claim, and that audits refute faulty
//! variants.

use plugin_template::local::PLUGIN;
use scumble::adversary::{caught, check};
use scumble::core::{
    Brief, Budget, Designed, Domain, Error, Example, LocalMechanism, RecordDomain, TargetDomain,
};
use scumble_testing::{Fault, Faulty, conformance};
use serde_json::json;
use std::sync::Arc;

/// Designs the mechanism for one number, at this ε.
fn at(epsilon: f64) -> Arc<dyn LocalMechanism> {
    let domain = RecordDomain::new(vec!["x".into()], Domain::unit_box(1), TargetDomain::None).unwrap();
    let brief = Brief::new(domain, Budget::pure(epsilon).unwrap());
    match PLUGIN.design(&json!({}), &brief).unwrap().into_mechanism() {
        Designed::Local(mechanism) => mechanism,
        Designed::Curator(_) => unreachable!("each person runs it"),
    }
}

#[test]
fn it_conforms_and_the_audit_does_not_refute_its_claim() {
    conformance::check(&PLUGIN).unwrap();
    check(&PLUGIN).unwrap();
}

#[test]
fn noise_for_twice_the_epsilon_is_refuted() {
    let faulty = || Faulty::new(&at(1.0), Fault::By(at(2.0)));
    caught(faulty()).unwrap();
    caught(faulty().silent()).unwrap(); // without a description of the noise
}

#[test]
fn a_number_without_noise_is_refuted() {
    caught(Faulty::new(&at(1.0), Fault::Bare(0))).unwrap();
}

#[test]
fn records_with_levels_do_not_apply() {
    let refused = PLUGIN.design(&json!({}), &Example::mixed().unwrap().brief).unwrap_err();
    assert!(matches!(refused, Error::NotApplicable { .. }), "{refused}");
}

#[test]
fn steps_outside_of_their_range_are_refused() {
    let brief = Example::numbers().unwrap().brief;
    for steps in [0, 65_537] {
        let refused = PLUGIN.design(&json!({ "steps": steps }), &brief).unwrap_err();
        assert!(matches!(refused, Error::Parameter { .. }), "{refused}");
    }
    PLUGIN.design(&json!({ "steps": 1 }), &brief).unwrap();
}
