//! Faulty variants: the audit, which the plugin itself passes, catches mechanisms that claim ε but release at
//! a larger ε.

use scumble::adversary::{Effort, Finding, Verdict, audit, caught};
use scumble::core::{
    Brief, Budget, DescribedNoise, Designed, Domain, Example, LocalMechanism, NoParameters, RecordDomain,
    Result, Stream, TargetDomain,
};
use scumble::noise::{AdditiveNoise, LaplaceNoise, register};
use scumble_testing::{Fault, Faulty};
use serde_json::Value;
use staircase_plugin::STAIRCASE;
use std::sync::Arc;

/// Creates staircase noise at `epsilon` on `numbers` numbers.
fn at(epsilon: f64, numbers: usize) -> Arc<dyn LocalMechanism> {
    let columns = (1..=numbers).map(|at| format!("x{at}")).collect();
    let domain = RecordDomain::new(columns, Domain::unit_box(numbers), TargetDomain::None).unwrap();
    let brief = Brief::new(domain, Budget::pure(epsilon).unwrap());
    match STAIRCASE.design(&Value::Null, &brief).unwrap().into_mechanism() {
        Designed::Local(staircase) => staircase,
        Designed::Curator(_) => unreachable!("each person runs it"),
    }
}

#[test]
fn the_claim_holds_and_most_of_it_is_seen() {
    for (numbers, share) in [(1, 0.9), (2, 0.7)] {
        let findings = audit("staircase", &at(1.0, numbers).into(), None, Effort::quick()).unwrap();
        let finding: &Finding = &findings[0];
        assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
        assert!(finding.lower_bound.unwrap() > share, "{finding}");
    }
}

#[test]
fn noise_for_a_larger_epsilon_is_caught_by_samples_and_by_what_it_says_of_itself() {
    // Noise for a larger ε: by an eighth, by √2, and the whole ε for each of two numbers.
    for (numbers, epsilon) in [(1, 1.125), (1, 2f64.sqrt()), (2, 2.0)] {
        let short = || Faulty::new(&at(1.0, numbers), Fault::By(at(epsilon, numbers)));
        caught(short().silent()).unwrap();
        let sentence = caught(short()).unwrap();
        assert!(sentence.contains("the noise is too small"), "{sentence}");
    }
}

/// Noise for the middle half of the bounds, applied to points that were not moved into this half.
#[derive(Debug, Clone)]
pub struct Unclamped(LaplaceNoise, Domain);

impl AdditiveNoise for Unclamped {
    const NAME: &'static str = "unclamped";
    const THEOREM: &'static str = "none: the clamp is forgotten";
    type Parameters = NoParameters;

    fn calibrate(_parameters: &NoParameters, set: &Domain, budget: Budget) -> Result<Self> {
        let middle = Domain::product(vec![Domain::interval(0.25, 0.75)?; set.dim()])?;
        Ok(Self(LaplaceNoise::calibrated(&middle, budget.epsilon())?, middle))
    }

    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let mut clamped = point.to_vec();
        self.1.project(&mut clamped)?;
        let clean = clamped.clone();
        self.0.add(&mut clamped, stream)?;
        point.iter_mut().zip(clamped.iter().zip(&clean)).for_each(|(x, (noisy, clean))| *x += noisy - clean);
        Ok(())
    }

    fn described(&self) -> DescribedNoise {
        self.0.described(0)
    }
}

register! {
    /// A deliberately faulty plugin.
    pub const UNCLAMPED = {
        name: Unclamped::NAME,
        summary: "noise for the middle of the bounds on numbers anywhere within them",
        paper: "none",
        noise: Unclamped,
        example: Example::numbers,
    };
}

#[test]
fn a_forgotten_clamp_is_told_as_a_sensitivity_that_is_too_small() {
    let refused = scumble::adversary::check(&UNCLAMPED).unwrap_err().to_string();
    assert!(refused.contains("the sensitivity is too small"), "{refused}");
}
