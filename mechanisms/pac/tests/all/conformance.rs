//! The conformance suite on every statistic, and refused parameters.

use scumble_core::{Error, Example, Randomness};
use scumble_pac::PAC_STATISTICS;
use scumble_testing::conformance;
use serde_json::json;

#[test]
fn every_statistic_conforms() {
    for plugin in super::each_statistic() {
        conformance::check(&plugin).unwrap();
    }
}

#[test]
fn numbers_out_of_range_are_refused_by_name() {
    let example = Example::mixed().unwrap();
    for (parameters, says) in [
        (json!({ "nats": 0.0 }), "nats must be above zero"),
        (json!({ "sets": 7 }), "an even number"),
        (json!({ "sets": 0 }), "an even number"),
        (json!({ "statistic": "ridge", "ridge": -1.0 }), "ridge must be above zero"),
        (
            json!({ "statistic": "ridge", "bins": 4 }),
            "bins is a parameter of the statistic marginals, and the statistic is ridge",
        ),
        (json!({ "statistic": "components", "components": 99 }), "components must lie between 1 and 7"),
        (json!({ "statistic": "centers", "centers": 0 }), "centers must lie between 1 and 1024"),
        (json!({ "bins": 1 }), "bins must lie between 2 and 1024"),
    ] {
        let refused = PAC_STATISTICS.design(&parameters, &example.brief).unwrap_err();
        assert!(matches!(refused, Error::Parameter { .. }), "{refused}");
        assert!(refused.to_string().contains(says), "{refused}");
    }
}

#[test]
fn too_few_records_are_refused() {
    let example = Example::mixed().unwrap();
    let design = PAC_STATISTICS.design(&json!({}), &example.brief).unwrap();
    let three = example.table.select(&[0, 1, 2]).unwrap();
    let refused = design.mechanism().release(&three, &mut Randomness::seeded(1)).unwrap_err();
    assert!(refused.to_string().contains("3 records have no halves to hide"), "{refused}");
}
