//! The plugin passes the conformance suite, and refuses what it does not take.

use plugin_template::PLUGIN;
use scumble::registry::{Error, Example};
use serde_json::json;

#[test]
fn it_passes_the_conformance_suite() {
    scumble_testing::conformance::check(&PLUGIN).unwrap();
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
