//! Checks that the plugin conforms, that an audit does not refute its claim, and that audits refute faulty
//! variants.

use plugin_template::noise::PLUGIN;
use scumble::adversary::{caught, check};
use scumble::core::{Brief, Budget, Designed, Domain, LocalMechanism, RecordDomain, TargetDomain};
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
