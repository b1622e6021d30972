//! Broken twins: what claims ε and releases at more must be caught by the audit that the honest plugin passes.

use scumble::adversary::{Effort, Finding, Verdict, audit};
use scumble::registry::{
    Domain, Guarantee, LocalMechanism, Mechanism, Noise, Randomness, RecordDomain, Release, Result, Stream,
    Table, TargetDomain, local,
};
use serde::{Deserialize, Serialize};
use staircase_plugin::StaircaseMechanism;

/// The claim of one mechanism, and the noise of another.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Twin {
    claims: StaircaseMechanism,
    releases: StaircaseMechanism,
}

#[typetag::serde(name = "staircase-twin")]
impl Mechanism for Twin {
    fn domain(&self) -> &RecordDomain {
        self.claims.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.claims.guarantee()
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        local::release(self, table, randomness)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        Some(self)
    }
}

impl LocalMechanism for Twin {
    fn range(&self) -> Domain {
        self.claims.range()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.claims.encode(record)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.releases.perturb(point, stream)
    }

    fn noise(&self) -> Noise {
        self.claims.noise()
    }
}

/// What the audit finds of a claim of ε = 1 for so many numbers, released at `epsilon`.
fn found(numbers: usize, epsilon: f64) -> Finding {
    let columns = (1..=numbers).map(|at| format!("x{at}")).collect();
    let domain = RecordDomain::new(columns, Domain::unit_box(numbers), TargetDomain::None).unwrap();
    let at = |epsilon| StaircaseMechanism::new(domain.clone(), epsilon, None).unwrap();
    let twin = Twin { claims: at(1.0), releases: at(epsilon) };
    audit("staircase", &twin, None, Effort::quick()).unwrap().remove(0)
}

#[test]
fn the_claim_holds_and_most_of_it_is_seen() {
    for (numbers, share) in [(1, 0.9), (2, 0.7)] {
        let finding = found(numbers, 1.0);
        assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
        assert!(finding.lower_bound.unwrap() > share, "{finding}");
    }
}

#[test]
fn noise_for_a_larger_epsilon_is_caught() {
    // By an eighth; by √2; and the whole ε for each of two numbers.
    for (numbers, epsilon) in [(1, 1.125), (1, 2f64.sqrt()), (2, 2.0)] {
        let finding = found(numbers, epsilon);
        assert_eq!(finding.verdict, Verdict::Broken, "noise for ε = {epsilon} passed: {finding}");
    }
}
