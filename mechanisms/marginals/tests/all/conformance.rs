//! The conformance suite, on every plugin.

use scumble_marginals::{ADAPTIVE_MARGINALS, MST, NOISY_MARGINALS};
use scumble_testing::conformance;

#[test]
fn every_plugin_conforms() {
    for plugin in [&NOISY_MARGINALS, &MST, &ADAPTIVE_MARGINALS] {
        conformance::check(plugin).unwrap();
    }
}
