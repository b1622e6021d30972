//! Every plugin keeps house.

use scumble_registry::conformance;
use scumble_task_aware::{
    PRIVACY_AGNOSTIC, TASK_AGNOSTIC, TASK_AWARE_BOUNDED, TASK_AWARE_CLIPPED, TASK_AWARE_GRADIENT,
    TASK_AWARE_LINEAR,
};

#[test]
fn they_keep_house() {
    for plugin in [
        PRIVACY_AGNOSTIC,
        TASK_AGNOSTIC,
        TASK_AWARE_BOUNDED,
        TASK_AWARE_CLIPPED,
        TASK_AWARE_GRADIENT,
        TASK_AWARE_LINEAR,
    ] {
        conformance::check(&plugin).unwrap();
    }
}
