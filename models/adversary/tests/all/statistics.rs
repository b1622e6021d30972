//! Audits of a curator by its noisy counts: the distance of the audited bound to the claim, and the faults it
//! detects.
//!
//! The false-alarm rate is 10⁻⁶ per audit. The smallest error detected here is noise short by a factor of √2.

use crate::counts::{EPSILON, NoisyCounts, noisy_counts, table};
use scumble_adversary::{Effort, Finding, Verdict, audit};
use scumble_core::{Designed, Neighbours};

fn attack(counts: NoisyCounts) -> Finding {
    let effort = Effort { samples: 120_000, ..Effort::quick() };
    audit("counts", &Designed::curator(counts), Some(&table()), effort).unwrap().remove(0)
}

const BOTH: [Neighbours; 2] = [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne];

#[test]
fn what_statistics_show_comes_near_to_what_is_claimed_and_not_beyond() {
    for neighbours in BOTH {
        let finding = attack(noisy_counts(neighbours, 1.0));
        assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
        let bound = finding.lower_bound.unwrap();
        assert!((0.8 * EPSILON..=EPSILON).contains(&bound), "{bound} is shown for {neighbours:?}: {finding}");
        assert!(finding.because.contains("by statistics alone"), "{finding}");
    }
}

#[test]
fn too_little_noise_is_caught() {
    for neighbours in BOTH {
        for (what, share) in
            [("half the noise", 0.5), ("a column that counts for one coordinate", 0.5f64.sqrt())]
        {
            let finding = attack(noisy_counts(neighbours, share));
            assert_eq!(finding.verdict, Verdict::Broken, "{what} passed for {neighbours:?}: {finding}");
        }
    }
}

/// The statistics are honest, but the rows are not made from them: an audit attacks both.
#[test]
fn rows_that_are_not_made_of_the_statistics_are_caught() {
    for neighbours in BOTH {
        let finding = attack(noisy_counts(neighbours, 1.0).leaking());
        assert_eq!(finding.verdict, Verdict::Broken, "for {neighbours:?}: {finding}");
    }
}
