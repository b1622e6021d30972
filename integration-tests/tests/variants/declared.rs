//! Faults of many columns: samples do not show them, but a mechanism's description of its noise does.

use super::{boxed, broken, caught, effort, findings, numbers, records, shared};
use scumble::adversary::{Coupled, CoupledUnit, Effort, Verdict, audit};
use scumble::classic::{Gaussian, Identity, Laplace, RandomizedResponse};
use scumble::core::{Budget, Designed, Domain, TargetDomain};
use scumble::noise::Noisy;
use scumble_testing::{Fault, Faulty};
use std::f64::consts::SQRT_2;

fn laplace(columns: usize, epsilon: f64) -> Noisy<Laplace> {
    Laplace::new(numbers(columns), epsilon).unwrap()
}

fn gaussian(columns: usize, epsilon: f64, delta: f64) -> Noisy<Gaussian> {
    Gaussian::new(numbers(columns), Budget::new(epsilon, delta).unwrap()).unwrap()
}

#[test]
fn noise_short_by_the_root_of_two_is_caught_on_twenty_and_on_a_hundred_columns() {
    for columns in [20, 100] {
        let short = laplace(columns, SQRT_2);
        let sentence = caught(&laplace(columns, 1.0), Fault::By(boxed(short)));
        assert!(sentence.contains(&format!("the noise of {columns} coordinates together")), "{sentence}");
        assert!(sentence.contains("and such noise spends ε = 1."), "{sentence}");
        let honest = gaussian(columns, 1.0, 1e-6);
        let sigma = honest.scale() / SQRT_2;
        let delta = scumble::accounting::gaussian::delta((columns as f64).sqrt() / sigma, 1.0);
        let sentence = caught(&honest, Fault::By(boxed(gaussian(columns, 1.0, delta))));
        assert!(sentence.contains("the noise is too small"), "{sentence}");
    }
}

#[test]
fn a_sensitivity_short_by_a_twentieth_is_caught_on_twenty_columns() {
    let honest = laplace(20, 1.0);
    let narrow = Domain::product(vec![Domain::interval(0.0, 0.95).unwrap(); 20]).unwrap();
    let short = || boxed(Laplace::new(records(narrow.clone(), TargetDomain::None), 1.0).unwrap());
    // The variant describes the honest noise, but adds less.
    let fault = || Fault::Unmoved(boxed(honest.clone()), short());
    let sentence = caught(&honest, fault());
    assert!(sentence.contains("the noise is too small"), "{sentence}");
    // The variant describes its true noise: two records lie farther apart than the noise was made for.
    let sentence = broken(&Faulty::new(&shared(&honest), fault()).describing(short()));
    assert!(sentence.contains("the sensitivity is too small"), "{sentence}");
    // The honest mechanism holds: the found ε equals the declared ε.
    let [finding] = &findings(Faulty::new(&shared(&honest), Fault::None))[..] else { panic!("one claim") };
    assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
    let Coupled { unit, declared, found } = finding.coupled.unwrap();
    assert_eq!(unit, CoupledUnit::Epsilon);
    assert!((declared - 1.0).abs() < 1e-6 && (found - declared).abs() < 1e-6, "{found} of {declared}");
}

/// A variant that spends more than it claims, according to its own description.
#[test]
fn a_description_that_contradicts_the_claim_is_caught() {
    let honest = &laplace(2, 1.0);
    let other = || boxed(laplace(2, 1.1));
    let sentence = broken(&Faulty::new(&shared(honest), Fault::By(other())).describing(other()));
    assert!(sentence.contains("noise of the declared scale spends ε = 1.1"), "{sentence}");
}

/// Bennett's test counts all groups together: each of twenty groups keeps its level at ε = 1.1 in place of 1.
#[test]
fn levels_that_are_kept_too_often_are_caught_in_twenty_groups_together() {
    let groups = |epsilon| RandomizedResponse::new(super::groups(&[3; 20]), epsilon).unwrap();
    let sentence = caught(&groups(20.0), Fault::By(boxed(groups(22.0))));
    assert!(sentence.contains("levels are kept too often"), "{sentence}");
}

/// Samples alone find an unchanged release within 1,000 draws; the description of the noise finds it in 128
/// draws.
#[test]
fn a_gross_fault_ends_an_audit_within_hundreds_of_draws() {
    let honest = laplace(2, 1.0);
    let bare = Faulty::new(&shared(&honest), Fault::By(boxed(Identity::new(numbers(2)))));
    let effort = Effort::full();
    let found =
        audit("the mechanism", &Designed::local(bare.clone().silent()), None, effort).unwrap().remove(0);
    assert_eq!(found.verdict, Verdict::Broken, "{found}");
    assert!(found.samples < 1_000, "{}", found.samples);
    let found = audit("the mechanism", &Designed::local(bare.clone()), None, effort).unwrap().remove(0);
    assert!(found.because.contains("in 128 draws"), "{found}");
}

/// Checks that, from the same bets, the lower bound on ε is looser than the bound on μ for Gaussian noise.
#[test]
fn the_mu_of_gaussian_noise_is_shown_nearly_whole() {
    let [finding] =
        &audit("the mechanism", &Designed::local(gaussian(1, 1.0, 0.01)), None, effort()).unwrap()[..]
    else {
        panic!("one claim")
    };
    let (claimed, shown) = (finding.mu_claimed.unwrap(), finding.mu_shown.unwrap());
    assert!(
        (claimed / scumble::accounting::gaussian::mu(1.0, 0.01).unwrap() - 1.0).abs() < 1e-4,
        "{claimed}"
    );
    assert!((0.85 * claimed..claimed).contains(&shown), "{shown} of {claimed}");
    assert!(finding.lower_bound.unwrap() / finding.claimed.unwrap() < shown / claimed, "{finding:?}");
}
