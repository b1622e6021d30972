//! Refused volunteers and trainings, and defaults of trainings.

use scumble_core::{Error, Plugin, Volunteers};
use scumble_task_aware::{
    PRIVACY_AGNOSTIC, TASK_AGNOSTIC, TASK_AWARE_BOUNDED, TASK_AWARE_CLIPPED, TASK_AWARE_GAUSSIAN,
    TASK_AWARE_GRADIENT, TASK_AWARE_LINEAR, TASK_AWARE_PRIV_UNIT,
};
use serde_json::{Value, json};

const ALL: [Plugin; 8] = [
    PRIVACY_AGNOSTIC,
    TASK_AGNOSTIC,
    TASK_AWARE_BOUNDED,
    TASK_AWARE_CLIPPED,
    TASK_AWARE_GAUSSIAN,
    TASK_AWARE_GRADIENT,
    TASK_AWARE_LINEAR,
    TASK_AWARE_PRIV_UNIT,
];

/// No design here claims anything for volunteers, so people with a privacy guarantee may not be volunteers.
#[test]
fn private_volunteers_are_refused() {
    for plugin in ALL {
        let mut example = (plugin.example)().unwrap();
        example.brief.volunteers = Volunteers::Private(example.table.clone());
        let refused = plugin.design(&example.parameters, &example.brief);
        assert!(matches!(refused, Err(Error::PrivateVolunteers { .. })), "{}: {refused:?}", plugin.name);
    }
}

#[test]
fn what_is_not_said_of_a_training_is_the_mechanisms_own() {
    let design = |parameters: Value| {
        let example = (TASK_AWARE_GRADIENT.example)().unwrap();
        let design = TASK_AWARE_GRADIENT.design(&parameters, &example.brief).unwrap();
        design.state().to_string()
    };
    let short = design(json!({"training": {"epochs": 2, "task_epochs": 3}}));
    assert_eq!(short, design(json!({"training": {"epochs": 2, "task_epochs": 3, "steps": 15}})));
    assert_ne!(short, design(json!({"training": {"epochs": 2, "task_epochs": 3, "steps": 1}})));
}

/// Latents of a trained encoder are moved into the set of the volunteers' latents, so `sensitivity` "domain"
/// would have no effect.
#[test]
fn a_trained_encoder_has_no_sensitivity_of_the_domain() {
    let example = (PRIVACY_AGNOSTIC.example)().unwrap();
    let parameters = json!({"sensitivity": "domain", "training": {"epochs": 1}});
    let refused = PRIVACY_AGNOSTIC.design(&parameters, &example.brief).unwrap_err().to_string();
    assert!(refused.contains("sensitivity"), "{refused}");
}
