//! The conformance suite, on every plugin.

use scumble_dauntless::{DAUNTLESS_INFERENCE, DAUNTLESS_MIX, PERFECT_SECRECY};
use scumble_testing::conformance;

#[test]
fn every_plugin_conforms() {
    for plugin in [&DAUNTLESS_MIX, &DAUNTLESS_INFERENCE, &PERFECT_SECRECY] {
        conformance::check(plugin).unwrap();
    }
}

#[test]
fn no_audit_breaks_what_is_claimed() {
    for plugin in [&DAUNTLESS_MIX, &DAUNTLESS_INFERENCE, &PERFECT_SECRECY] {
        scumble_adversary::check(plugin).unwrap();
    }
}
