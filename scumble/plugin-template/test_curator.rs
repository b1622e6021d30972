//! Checks that the plugin conforms, and that an audit does not refute its claim.

use plugin_template::curator::PLUGIN;

#[test]
fn it_conforms_and_the_audit_does_not_refute_its_claim() {
    scumble_testing::conformance::check(&PLUGIN).unwrap();
    scumble::adversary::check(&PLUGIN).unwrap();
}
