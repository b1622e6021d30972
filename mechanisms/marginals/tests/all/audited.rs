//! The audit: what is claimed holds, nearly all of it is seen, and what is wrong on purpose is caught.

use scumble_adversary::{Effort, Verdict, audit_plugin};
use scumble_marginals::{ADAPTIVE_MARGINALS, MST, NOISY_MARGINALS};

#[test]
fn nearly_all_of_the_claimed_epsilon_is_seen() {
    for (plugin, least) in [(NOISY_MARGINALS, 0.6), (MST, 0.2), (ADAPTIVE_MARGINALS, 0.2)] {
        for finding in audit_plugin(&plugin, Effort::quick()).unwrap() {
            assert_ne!(finding.verdict, Verdict::Broken, "{finding}");
            let (seen, claimed) = (finding.lower_bound.unwrap(), finding.claimed.unwrap());
            println!("{}: {seen} of {claimed}", plugin.name);
            assert!(seen >= least * claimed, "{}: {seen} of {claimed}", plugin.name);
        }
    }
}
