//! All claims rest on the range that `encode` declares: whatever the record, it never leaves it.

use proptest::prelude::*;
use scumble::registry::{Budget, Registry};

/// A number as it may stand in somebody's file: near the domain, far from it, next to nothing, or a bound by a hair.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        -2.0..3.0_f64,
        -1e300..1e300_f64,
        -1e-300..1e-300_f64,
        prop::sample::select(vec![0.0, -0.0, 1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1.0 + f64::EPSILON]),
    ]
}

proptest! {
    #[test]
    fn no_record_is_encoded_outside_the_declared_range(
        numbers in prop::collection::vec(number(), 16), epsilon in 0.01..10.0_f64,
    ) {
        for plugin in Registry::installed().unwrap().iter() {
            let example = (plugin.example)().unwrap();
            let brief = example.brief.with_budget(Budget::new(epsilon, 1e-6).unwrap());
            let design = plugin.design(&example.parameters, &brief).unwrap();
            let Some(local) = design.mechanism().as_local() else {
                continue; // a curator's mechanism has no range
            };
            let record = &numbers[..local.domain().flat().dim()];
            let point = local.encode(record);
            let within = point.as_ref().is_ok_and(|point| local.range().contains(point));
            prop_assert!(within, "{}: {record:?} became {point:?}", plugin.name);
            // Nor does it move what lies there.
            let point = point.unwrap();
            if local.domain().flat() == &local.range() {
                prop_assert_eq!(local.encode(&point).unwrap(), point);
            }
        }
    }
}
