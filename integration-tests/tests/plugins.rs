//! The registry as a user meets it: the list of plugins, and the conformance of each.

use scumble::registry::{Registry, conformance};

/// A plugin that the linker dropped, or one that nobody announced, changes this list.
#[test]
fn the_built_in_plugins_are_these() {
    let registry = Registry::installed().unwrap();
    let names: Vec<&str> = registry.iter().map(|plugin| plugin.name).collect();
    assert_eq!(
        names,
        [
            "column-space",
            "dauntless-inference",
            "dauntless-mix",
            "direct",
            "duchi",
            "fisher-bounded",
            "fisher-correlated",
            "fisher-gaussian",
            "gaussian",
            "identity",
            "laplace",
            "multiplicative-dp",
            "perfect-secrecy",
            "piecewise",
            "privacy-agnostic",
            "randomized-response",
            "singular-value-obfuscation",
            "task-agnostic",
            "task-aware-bounded",
            "task-aware-clipped",
            "task-aware-gradient",
            "task-aware-linear",
            "vlm"
        ]
    );
}

#[test]
fn every_plugin_conforms() {
    for plugin in Registry::installed().unwrap().iter() {
        conformance::check(plugin).unwrap();
    }
}

#[test]
fn a_mistyped_name_gets_the_nearest() {
    let registry = Registry::installed().unwrap();
    let message = registry.get("randomised-response").unwrap_err().to_string();
    assert_eq!(
        message,
        "there is no mechanism \"randomised-response\"; did you mean \"randomized-response\"?"
    );
}

#[test]
fn a_name_that_stands_twice_is_an_error() {
    let mut registry = Registry::installed().unwrap();
    let twin = *registry.get("laplace").unwrap();
    assert!(registry.add(twin).unwrap_err().to_string().contains("laplace"));
}
