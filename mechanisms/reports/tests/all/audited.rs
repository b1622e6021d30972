//! Audits of the mechanisms that make reports, and of faulty variants of them.

use rand::{Rng, RngCore};
use scumble_adversary::{Effort, Verdict, audit_plugin, caught};
use scumble_core::{
    Domain, Guarantee, Layout, LocalMechanism, Noise, Plugin, RecordDomain, Result, Stream, Unit, largest,
};
use scumble_oracles::{Answer, PrivUnit};
use scumble_reports::{
    DIRECTION_REPORT, DirectionReport, GRADIENT_REPORT, GradientReport, LEARNED_CODES, PAIR_RESPONSE,
    PairResponse,
};
use scumble_sampling::{Rational, randomized_response};
use scumble_testing::{Fault, Faulty};
use std::any::Any;
use std::num::NonZeroU64;
use std::sync::Arc;

const ALL: [Plugin; 4] = [PAIR_RESPONSE, LEARNED_CODES, DIRECTION_REPORT, GRADIENT_REPORT];

/// Checks the audited lower bound on ε, which is wrong once in a million audits.
#[test]
fn nearly_all_of_the_claimed_epsilon_is_seen() {
    for plugin in ALL {
        let findings = audit_plugin(&plugin, Effort { samples: 200_000, ..Effort::quick() }).unwrap();
        assert!(findings.iter().all(|finding| finding.verdict == Verdict::Holds), "{findings:?}");
        let seen = findings[0].lower_bound.unwrap();
        assert!(seen >= 0.95, "{}: ε ≥ {seen} of 1 is seen", plugin.name);
    }
}

/// Returns the plugin's example at this ε.
fn at(plugin: &Plugin, epsilon: f64) -> Arc<dyn LocalMechanism> {
    let mut example = (plugin.example)().unwrap();
    if plugin.name == PAIR_RESPONSE.name {
        example.parameters = serde_json::json!({"bins": 3}); // the same for every ε
    }
    let brief = example.brief.with_budget(scumble_core::Budget::pure(epsilon).unwrap());
    scumble_testing::local(plugin.design(&example.parameters, &brief).unwrap())
}

/// Randomised response with the probabilities of an ε that is a fifth larger than the claim.
#[test]
fn odds_of_a_larger_epsilon_are_caught() {
    for plugin in ALL {
        caught(Faulty::new(&at(&plugin, 1.0), Fault::By(at(&plugin, 1.2)))).unwrap();
    }
}

/// Fault of [`Wrong`].
#[derive(Debug, Clone, Copy)]
enum Flaw {
    /// A person with the last label is asked only about odd-numbered columns, so the question discloses what
    /// the answer hides.
    AskedByLabel,
    /// The label is answered a second time besides the answer with the code. Each of the two answers costs ε.
    LabelBeside,
    /// The label picks one of two opposite directions, and the pair of directions holds the honest answer.
    LabelBySide,
    /// The cap of PrivUnit consists of all candidates within a fixed distance of the record's direction,
    /// whatever their number.
    UnnormalisedCap,
}

/// Faulty mechanism with the claim of an honest one.
#[derive(Debug, Clone)]
struct Wrong {
    honest: Arc<dyn LocalMechanism>,
    flaw: Flaw,
}

impl Wrong {
    fn label(&self, point: &[f64]) -> usize {
        // The label has two levels, and its group is last.
        let groups: Vec<_> = self.honest.range().factors().map(|(at, factor)| (at, factor.dim())).collect();
        let (at, _) = groups.into_iter().rfind(|(_, dim)| *dim == 2).unwrap();
        largest(&point[at])
    }

    fn oracle(&self) -> &PrivUnit {
        let honest: &dyn Any = &*self.honest;
        let directions = honest.downcast_ref().map(DirectionReport::oracle);
        directions.or(honest.downcast_ref().map(GradientReport::oracle)).unwrap()
    }

    fn is_near(&self, answer: Answer, point: &[f64]) -> bool {
        const NEAR: f64 = 0.4;
        let direction = self.oracle().direction(answer).unwrap();
        let norm = point.iter().map(|x| x * x).sum::<f64>().sqrt();
        direction.iter().zip(point).map(|(a, b)| a * b).sum::<f64>() >= NEAR * norm
    }

    /// Splits the candidates of a seed into near and far ones.
    fn sides(&self, seed: u64, point: &[f64]) -> (Vec<u64>, Vec<u64>) {
        let candidates = 0..self.oracle().candidates() as u64;
        candidates.partition(|&candidate| self.is_near(Answer { seed, candidate }, point))
    }

    /// Probability of the cap, if it had the honest size.
    fn cap_probability(&self) -> f64 {
        let oracle = self.oracle();
        let odds = oracle.cap() as f64 * oracle.epsilon().exp();
        odds / (odds + (oracle.candidates() - oracle.cap()) as f64)
    }
}

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
        if let Flaw::UnnormalisedCap = self.flaw {
            let seed = stream.next_u64() >> 16;
            let (near, far) = self.sides(seed, point);
            let is_near = far.is_empty() || !near.is_empty() && stream.gen_bool(self.cap_probability());
            let side = if is_near { near } else { far };
            point[0] = seed as f64;
            point[1] = side[stream.gen_range(0..side.len())] as f64;
            return Ok(());
        }
        let clean = point.to_vec();
        let label = match self.flaw {
            // The first coordinate holds the frequency of the first label.
            Flaw::LabelBySide => usize::from(point[0] == 0.0),
            _ => self.label(point),
        };
        self.honest.perturb(point, stream)?;
        let answered = |stream: &mut Stream| {
            let (two, one) = (NonZeroU64::new(2).unwrap(), Rational::new(1, 1).unwrap());
            randomized_response(stream, label as u64, two, one) as f64
        };
        match self.flaw {
            Flaw::AskedByLabel => {
                while label == 1 && point[0] % 2.0 == 0.0 {
                    point.copy_from_slice(&clean);
                    self.honest.perturb(point, stream)?;
                }
            }
            Flaw::LabelBeside => point[1] = answered(stream),
            Flaw::LabelBySide => point[1] += answered(stream) - point[1] % 2.0,
            Flaw::UnnormalisedCap => {}
        }
        Ok(())
    }

    fn layout(&self) -> Layout {
        self.honest.layout()
    }

    fn noise(&self) -> Noise {
        self.honest.noise()
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let Flaw::UnnormalisedCap = self.flaw else { return None };
        let answer = Answer { seed: released[0] as u64, candidate: released[1] as u64 };
        let (near, far) = self.sides(answer.seed, point);
        Some(match (near.len(), far.len()) {
            (0, all) | (all, 0) => -(all as f64).ln(),
            (near_count, _) if self.is_near(answer, point) => {
                (self.cap_probability() / near_count as f64).ln()
            }
            (_, far_count) => ((1.0 - self.cap_probability()) / far_count as f64).ln(),
        })
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        self.honest.worst_pairs(unit)
    }
}

#[test]
fn a_question_that_depends_on_the_record_is_caught() {
    caught(Wrong { honest: at(&PAIR_RESPONSE, 1.0), flaw: Flaw::AskedByLabel }).unwrap();
}

#[test]
fn a_label_that_is_reported_beside_the_code_and_not_with_it_is_caught() {
    caught(Wrong { honest: at(&LEARNED_CODES, 1.0), flaw: Flaw::LabelBeside }).unwrap();
}

#[test]
fn a_label_that_the_side_of_a_direction_says_is_caught() {
    caught(Wrong { honest: at(&DIRECTION_REPORT, 1.0), flaw: Flaw::LabelBySide }).unwrap();
}

#[test]
fn a_cap_of_as_many_directions_as_are_near_is_caught() {
    for plugin in [DIRECTION_REPORT, GRADIENT_REPORT] {
        caught(Wrong { honest: at(&plugin, 1.0), flaw: Flaw::UnnormalisedCap }).unwrap();
    }
}

/// Bins made for the records at hand are a design shaped by them. A design for other bounds releases other
/// values of the same record.
#[test]
fn a_design_for_other_bounds_is_another_design() {
    let with_upper = |upper: f64| {
        let features = Domain::interval(0.0, upper).unwrap();
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        let target = scumble_core::TargetDomain::Class { levels };
        let domain = RecordDomain::new(vec!["x".into()], features, target).unwrap();
        PairResponse::new(domain, 1.0, 4, None).unwrap()
    };
    let record = [0.4, 1.0, 0.0];
    assert_ne!(with_upper(1.0).encode(&record).unwrap(), with_upper(0.5).encode(&record).unwrap());
    // The domain clips: a record outside of it is reported as its projection.
    assert_eq!(
        with_upper(0.5).encode(&[0.9, 1.0, 0.0]).unwrap(),
        with_upper(0.5).encode(&[0.5, 1.0, 0.0]).unwrap()
    );
}
