//! What an audit shows of mechanisms that make reports, and of faulty variants of them.

use scumble_adversary::{Effort, Verdict, audit_plugin, caught};
use scumble_core::{
    Designed, Domain, Guarantee, Layout, LocalMechanism, Noise, Plugin, RecordDomain, Result, Stream, Unit,
    largest,
};
use scumble_reports::{LEARNED_CODES, PAIR_RESPONSE, PairResponse};
use scumble_sampling::{Rational, randomized_response};
use scumble_testing::{Fault, Faulty, conformance};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

#[test]
fn they_pass_the_conformance_suite() {
    for plugin in [PAIR_RESPONSE, LEARNED_CODES] {
        conformance::check(&plugin).unwrap();
    }
}

/// A lower bound on ε that is wrong once in a million audits.
#[test]
fn nearly_all_of_the_claimed_epsilon_is_seen() {
    for plugin in [PAIR_RESPONSE, LEARNED_CODES] {
        let findings = audit_plugin(&plugin, Effort { samples: 200_000, ..Effort::quick() }).unwrap();
        assert!(findings.iter().all(|finding| finding.verdict == Verdict::Holds), "{findings:?}");
        let seen = findings[0].lower_bound.unwrap();
        assert!(seen >= 0.95, "{}: ε ≥ {seen} of 1 is seen", plugin.name);
    }
}

/// The plugin's example at this ε.
fn at(plugin: &Plugin, epsilon: f64) -> Box<dyn LocalMechanism> {
    let mut example = (plugin.example)().unwrap();
    if plugin.name == PAIR_RESPONSE.name {
        example.parameters = serde_json::json!({"bins": 3}); // whatever ε
    }
    let brief = example.brief.with_budget(scumble_core::Budget::pure(epsilon).unwrap());
    match plugin.design(&example.parameters, &brief).unwrap().into_mechanism() {
        Designed::Local(local) => local,
        Designed::Curator(_) => unreachable!("each person runs it"),
    }
}

/// Randomised response with the probabilities of an ε that is a fifth larger than what is claimed.
#[test]
fn odds_of_a_larger_epsilon_are_caught() {
    for plugin in [PAIR_RESPONSE, LEARNED_CODES] {
        caught(Faulty::of(&*at(&plugin, 1.0), Fault::By(at(&plugin, 1.2)))).unwrap();
    }
}

/// What is wrong with [`Wrong`].
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum How {
    /// A person with the last label is asked about the columns with odd numbers alone: that it was asked says what the answer hides.
    AskedByLabel,
    /// The label is answered for beside what it is answered for with: the one answer costs ε, and the other does too.
    LabelBeside,
}

/// A mechanism with the claim of an honest one.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Wrong {
    honest: Box<dyn LocalMechanism>,
    how: How,
}

impl Wrong {
    fn label(&self, point: &[f64]) -> usize {
        // Two labels, behind the groups of what is asked.
        let groups: Vec<_> = self.honest.range().factors().map(|(at, factor)| (at, factor.dim())).collect();
        let (at, _) = groups.into_iter().rfind(|(_, dim)| *dim == 2).unwrap();
        largest(&point[at])
    }
}

#[typetag::serde(name = "wrong-reports")]
impl LocalMechanism for Wrong {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.honest.guarantee()
    }

    fn range(&self) -> Domain {
        self.honest.range()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.honest.encode(record)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let (clean, label) = (point.to_vec(), self.label(point));
        self.honest.perturb(point, stream)?;
        match self.how {
            How::AskedByLabel => {
                while label == 1 && point[0] % 2.0 == 0.0 {
                    point.copy_from_slice(&clean);
                    self.honest.perturb(point, stream)?;
                }
            }
            How::LabelBeside => {
                let two = NonZeroU64::new(2).unwrap();
                let one = Rational::new(1, 1).unwrap();
                point[1] = randomized_response(stream, label as u64, two, one) as f64;
            }
        }
        Ok(())
    }

    fn layout(&self) -> Layout {
        self.honest.layout()
    }

    fn noise(&self) -> Noise {
        self.honest.noise()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        self.honest.worst_pairs(unit)
    }
}

#[test]
fn a_question_that_depends_on_the_record_is_caught() {
    caught(Wrong { honest: at(&PAIR_RESPONSE, 1.0), how: How::AskedByLabel }).unwrap();
}

#[test]
fn a_label_that_is_reported_beside_the_code_and_not_with_it_is_caught() {
    caught(Wrong { honest: at(&LEARNED_CODES, 1.0), how: How::LabelBeside }).unwrap();
}

/// Bins that are made for the records at hand are a design that they shaped: one for other bounds releases other things of the same record.
#[test]
fn a_design_for_other_bounds_is_another_design() {
    let of = |upper: f64| {
        let features = Domain::interval(0.0, upper).unwrap();
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        let target = scumble_core::TargetDomain::Class { levels };
        let domain = RecordDomain::new(vec!["x".into()], features, target).unwrap();
        PairResponse::new(domain, 1.0, 4, None).unwrap()
    };
    let record = [0.4, 1.0, 0.0];
    assert_ne!(of(1.0).encode(&record).unwrap(), of(0.5).encode(&record).unwrap());
    // What the clip of the domain is for: outside of it a record is reported as its projection.
    assert_eq!(of(0.5).encode(&[0.9, 1.0, 0.0]).unwrap(), of(0.5).encode(&[0.5, 1.0, 0.0]).unwrap());
}
