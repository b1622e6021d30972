//! Tests of ambiguity sets and of resistance to recovery.

use scumble_adversary::{Effort, Verdict, recovery, same_distribution};
use scumble_core::{PacResistance, Stream};
use scumble_sampling::{DiscreteGaussian, Rational};

fn noise(sigma: u64) -> DiscreteGaussian {
    DiscreteGaussian::new(Rational::new(sigma, 1).unwrap()).unwrap()
}

#[test]
fn members_of_a_set_are_alike_and_a_longer_vector_is_told_apart() {
    // A vector times a Gaussian matrix has the same distribution as any other vector of its length
    // (errata D9).
    let distribution = noise(1 << 20);
    let audit = |other: [f64; 2]| {
        let draw = |side: usize, stream: &mut Stream| {
            let [x, y] = [[5.0, 0.0], other][side];
            // Rounding is needed: multiples of 5 would be distinguishable from sums of 3 and 4.
            let sum = |stream: &mut Stream| {
                x * distribution.sample(stream) as f64 + y * distribution.sample(stream) as f64
            };
            let mut column = || (sum(stream) / 65536.0).round();
            Some(vec![column(), column()])
        };
        same_distribution(
            "a transformation",
            "the same distribution for vectors of one length",
            draw,
            Effort::quick(),
        )
    };
    let alike = audit([3.0, 4.0]);
    assert_eq!((alike.verdict, alike.lower_bound), (Verdict::Holds, Some(0.0)), "{alike}");
    let longer = audit([3.0, 4.5]);
    assert_eq!(longer.verdict, Verdict::Broken, "{longer}");
    assert!(longer.to_string().contains("and the claim is broken"), "{longer}");
}

#[test]
fn an_output_that_is_refused_for_one_member_tells_them_apart() {
    let distribution = noise(9);
    let draw = |side: usize, stream: &mut Stream| {
        let output = vec![distribution.sample(stream) as f64];
        (side == 0 || output[0] < 20.0).then_some(output)
    };
    let finding = same_distribution("refuses", "perfect secrecy", draw, Effort::quick());
    assert_eq!(finding.verdict, Verdict::Broken, "{finding}");
}

#[test]
fn a_recovery_that_succeeds_too_often_breaks_resistance_to_it() {
    let distribution = noise(1 << 20);
    let attack = |confidence_gap: f64, spent: f64| {
        let pac = PacResistance { error: 1.0, confidence_gap, budget: 10.0, spent };
        // Within one of the record in some 68 % of attempts.
        let attempt =
            |stream: &mut Stream| Ok((distribution.sample(stream) as f64).abs() / f64::from(1 << 20));
        recovery("mixing", &pac, 20_000, attempt, Effort::quick()).unwrap()
    };
    assert_eq!(attack(0.3, 1.0).verdict, Verdict::Holds);
    let broken = attack(0.36, 1.0);
    assert_eq!(broken.verdict, Verdict::Broken, "{broken}");
    assert!((0.66..0.69).contains(&broken.lower_bound.unwrap()), "{broken}");
    assert_eq!(attack(0.36, 11.0).verdict, Verdict::NothingClaimed);
    // With this number of attempts, an adversary that always succeeds would be shown to succeed in 99.93 % of
    // cases.
    assert_eq!(attack(1e-4, 1.0).verdict, Verdict::Inconclusive);
}
