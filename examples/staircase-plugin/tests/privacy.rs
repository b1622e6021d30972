//! The claim is attacked at both ends of the range, and so is a broken twin.

use scumble::registry::{Domain, LocalMechanism, Randomness, RecordDomain, TargetDomain};
use staircase_plugin::StaircaseMechanism;

const SEED: u64 = 13;
const SAMPLES: u32 = 200_000;

/// A lower bound on ε from how often the lower end and the upper one are released at or below the lower end: e^ε times as
/// often at most. Five standard errors each way, a false-alarm rate of 10⁻⁶; at ε = 1 an error of 5 % is seen.
fn epsilon_at_least(epsilon: f64) -> f64 {
    let domain = RecordDomain::new(vec!["x".into()], Domain::unit_box(1), TargetDomain::None).unwrap();
    let mechanism = StaircaseMechanism::new(domain, epsilon, None).unwrap();
    let share_below = |end: f64, block| {
        let mut stream = Randomness::seeded(SEED).streams().stream(block);
        let below = (0..SAMPLES).filter(|_| {
            let mut point = mechanism.encode(&[end]).unwrap();
            mechanism.perturb(&mut point, &mut stream).unwrap();
            point[0] <= 0.0
        });
        let share = below.count() as f64 / f64::from(SAMPLES);
        (share, 5.0 * (share * (1.0 - share) / f64::from(SAMPLES)).sqrt())
    };
    let ((p, p_error), (q, q_error)) = (share_below(0.0, 0), share_below(1.0, 1));
    ((p - p_error) / (q + q_error)).ln()
}

#[test]
fn the_claim_holds_and_an_epsilon_five_percent_larger_is_caught() {
    let measured = epsilon_at_least(1.0);
    assert!(measured <= 1.0, "seed {SEED}: ε is at least {measured}, and 1 is claimed");
    assert!(measured > 0.9, "seed {SEED}: the attack only sees {measured}");
    for twin in [1.05, 2f64.sqrt()] {
        let measured = epsilon_at_least(twin);
        assert!(measured > 1.0, "seed {SEED}: noise for ε = {twin} passed for ε = 1: {measured}");
    }
}
