//! Tests that `encode` never leaves the range that it declares, for any record. All claims depend on this
//! range.

use proptest::prelude::*;
use scumble::core::{Budget, Designed, LocalMechanism, Registry};
use std::sync::Arc;

/// A number that a file may contain: near the domain, far from it, close to zero, or slightly beyond a bound.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        -2.0..3.0_f64,
        -1e300..1e300_f64,
        -1e-300..1e-300_f64,
        prop::sample::select(vec![0.0, -0.0, 1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1.0 + f64::EPSILON]),
    ]
}

/// Designs of every plugin's example, at budgets from small to large. A curator's mechanism has no range, and
/// is left out.
fn designs() -> Vec<(&'static str, Arc<dyn LocalMechanism>)> {
    let registry = Registry::installed().unwrap();
    let at = |epsilon| {
        registry.iter().map(move |plugin| {
            let example = (plugin.example)().unwrap();
            let brief = example.brief.with_budget(Budget::new(epsilon, 1e-6).unwrap());
            (plugin.name, plugin.design(&example.parameters, &brief).unwrap().into_mechanism())
        })
    };
    [0.01, 1.0, 10.0]
        .into_iter()
        .flat_map(at)
        .filter_map(|(name, design)| match design {
            Designed::Local(local) => Some((name, local)),
            Designed::Curator(_) => None,
        })
        .collect()
}

/// Checks that the result of `encode` is within the range, and that points in the range do not move.
fn stays(name: &str, local: &dyn LocalMechanism, numbers: &[f64]) -> Result<(), TestCaseError> {
    let record = &numbers[..local.domain().flat().dim()];
    let point = local.encode(record);
    let within = point.as_ref().is_ok_and(|point| local.range().contains(point));
    prop_assert!(within, "{name}: {record:?} became {point:?}");
    let point = point.unwrap();
    if local.domain().flat() == &local.range() {
        prop_assert_eq!(local.encode(&point).unwrap(), point);
    }
    Ok(())
}

#[test]
fn no_record_is_encoded_outside_the_declared_range() {
    // Training an encoder takes longer than encoding all of these records.
    let designs = designs();
    assert!(designs.len() >= 3 * 12);
    proptest!(|(numbers in prop::collection::vec(number(), 16))| {
        for (name, design) in &designs {
            stays(name, &**design, &numbers)?;
        }
    });
}
