//! The staircase mechanism of Geng and Viswanath (2014) as a stranger would add it to scumble.
//!
//! For one number it is the ε-private noise of least variance: at small ε it is Laplace's, at large ε far better. Here
//! every number of a record takes it at ε/d. `main.rs` is `scumble` with this mechanism; the tests run the conformance
//! suite.

mod noise;

use noise::Staircase;
use schemars::JsonSchema;
use scumble::registry::{
    AdditiveNoise, Brief, Distance, Domain, Error, Example, Factor, Guarantee, Law, LocalDp, LocalMechanism,
    Mechanism, Noise, Notion, Perturbation, Randomness, RecordDomain, Release, Result, Stream, Table,
    TargetDomain, local, number, register,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

const NAME: &str = "staircase";

/// Each number is rounded to one of so many equal steps between its bounds: the sensitivity of the integer. The sampler
/// may need as many proposals a draw, so it is no larger.
const STEPS: NonZeroU64 = NonZeroU64::new(1 << 12).unwrap();

/// The step of `x` between its bounds, on the integers: whatever the floats say, it lies in 0..=STEPS.
fn step_of(x: f64, (lower, upper): (f64, f64)) -> i128 {
    let place = ((x - lower) / (upper - lower) * STEPS.get() as f64).round();
    (place as i128).clamp(0, i128::from(STEPS.get()))
}

fn value_of(step: i128, (lower, upper): (f64, f64)) -> f64 {
    lower + step as f64 / STEPS.get() as f64 * (upper - lower)
}

/// Staircase noise on every number of a record, each at ε/d. A class label leaves in clear.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct StaircaseMechanism {
    domain: RecordDomain,
    epsilon: f64,
    step_share: Option<f64>,
    /// The bounds of the numbers that take noise: they come first in a flat record.
    bounds: Vec<(f64, f64)>,
    /// None at ε = ∞.
    law: Option<Staircase>,
}

/// What is saved: the rest is derived, and so checked again, when it is loaded.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    domain: RecordDomain,
    #[serde(with = "number")]
    epsilon: f64,
    step_share: Option<f64>,
}

impl TryFrom<Saved> for StaircaseMechanism {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        Self::new(saved.domain, saved.epsilon, saved.step_share)
    }
}

impl From<StaircaseMechanism> for Saved {
    fn from(mechanism: StaircaseMechanism) -> Self {
        Self { domain: mechanism.domain, epsilon: mechanism.epsilon, step_share: mechanism.step_share }
    }
}

/// The share γ of Δ that the top step takes for the least variance (Geng and Viswanath 2014): with b = e^−ε,
/// γ = −b/(1 − b) + (b − 2b² + 2b⁴ − b⁵)^(1/3)/(2^(1/3)·(1 − b)²).
fn best_step_share(epsilon: f64) -> f64 {
    if epsilon < 0.1 {
        return 0.5; // the limit; the formula would cancel
    }
    let b = (-epsilon).exp();
    let root = ((b - 2.0 * b.powi(2) + 2.0 * b.powi(4) - b.powi(5)) / 2.0).cbrt();
    root / (1.0 - b).powi(2) - b / (1.0 - b)
}

impl StaircaseMechanism {
    /// The mechanism on records of `domain` at ε = `epsilon`, with the best steps or the ones given.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] unless all features are numbers; [`Error::Budget`] unless ε > 0 and the share lies
    /// strictly between zero and one.
    pub fn new(domain: RecordDomain, epsilon: f64, step_share: Option<f64>) -> Result<Self> {
        let noisy = match domain.target() {
            TargetDomain::Class { .. } => domain.features().clone(),
            _ => domain.flat().clone(),
        };
        let bounds: Option<Vec<(f64, f64)>> = noisy
            .factors()
            .map(|(_, factor)| match factor {
                Factor::Interval { lower, upper } => Some((*lower, *upper)),
                _ => None,
            })
            .collect();
        let bounds = bounds
            .filter(|bounds| !bounds.is_empty())
            .ok_or_else(|| Error::not_applicable(NAME, "it takes records of numbers"))?;
        let budget = scumble::registry::Budget::pure(epsilon)?;
        if let Some(share) = step_share {
            budget.split(share)?; // refuses a share outside (0, 1)
        }
        let of_each = budget.divide(bounds.len())?.epsilon();
        let law = match of_each {
            f64::INFINITY => None,
            of_each => {
                let share = step_share.unwrap_or_else(|| best_step_share(of_each));
                Some(Staircase::new(of_each, STEPS, share)?)
            }
        };
        Ok(Self { domain, epsilon, step_share, bounds, law })
    }

    fn leaves_label(&self) -> bool {
        matches!(self.domain.target(), TargetDomain::Class { .. })
    }
}

#[typetag::serde(name = "staircase")]
impl Mechanism for StaircaseMechanism {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        if self.law.is_none() {
            return Guarantee::nothing(&self.domain);
        }
        let theorem = "the staircase mechanism (Geng and Viswanath 2014) on integers, every number at an equal share of ε";
        let claim = [(Notion::LocalDp(LocalDp::pure(self.epsilon)), theorem.to_owned())];
        match self.leaves_label() {
            true => Guarantee::of_features(&self.domain, claim),
            false => Guarantee::of_records(claim),
        }
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        local::release(self, table, randomness)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        Some(self)
    }
}

impl LocalMechanism for StaircaseMechanism {
    fn range(&self) -> Domain {
        self.domain.flat().clone()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = self.domain.projected(record)?;
        for (x, bounds) in point.iter_mut().zip(&self.bounds) {
            *x = value_of(step_of(*x, *bounds), *bounds).clamp(bounds.0, bounds.1);
        }
        Ok(point)
    }

    /// Takes each number's step, an integer, and adds an integer.
    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let width = self.domain.flat().dim();
        if point.len() != width {
            return Err(Error::shape(format!(
                "a point has {} values where the range has {width}",
                point.len()
            )));
        }
        let Some(law) = &self.law else {
            return Ok(());
        };
        for (x, bounds) in point.iter_mut().zip(&self.bounds) {
            *x = value_of(step_of(*x, *bounds) + law.sample(stream), *bounds);
        }
        Ok(())
    }

    /// In the units of each number; two numbers that lie Δ apart cost the whole share of ε.
    fn perturbation(&self) -> Vec<Perturbation> {
        let of = |law: &Staircase| {
            let widths = || self.bounds.iter().map(|(lower, upper)| upper - lower);
            let (steps, share) = (STEPS.get() as f64, self.epsilon / self.bounds.len() as f64);
            Perturbation::Additive(AdditiveNoise {
                coordinates: 0..self.bounds.len(),
                distance: Distance::L1,
                scales: widths().map(|width| width / share).collect(),
                sensitivity: self.epsilon,
                variances: widths().map(|width| law.variance() * (width / steps).powi(2)).collect(),
                kurtosis: law.kurtosis(),
                steps: widths().map(|width| width / steps).collect(),
            })
        };
        self.law.iter().map(of).collect()
    }

    fn noise(&self) -> Noise {
        let steps = STEPS.get() as f64;
        let of = |bounds: &[(f64, f64)]| match &self.law {
            None => Law::Exact { width: bounds.len() },
            Some(law) => {
                let deviation = law.variance().sqrt() / steps;
                let variance = bounds.iter().map(|(lower, upper)| (deviation * (upper - lower)).powi(2));
                Law::Additive { variance: variance.collect() }
            }
        };
        let (features, target) = self.bounds.split_at(self.domain.columns().len());
        Noise {
            features: vec![of(features)],
            target: match self.domain.layout().target.width() {
                width if self.leaves_label() => Law::Exact { width },
                _ => of(target),
            },
        }
    }
}

/// Parameters of `staircase`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// The share of the sensitivity that the top step takes, strictly between 0 and 1. By default the one of least variance.
    step_share: Option<f64>,
}

fn design(parameters: Parameters, brief: &Brief) -> Result<StaircaseMechanism> {
    StaircaseMechanism::new(brief.domain.clone(), brief.budget.epsilon(), parameters.step_share)
}

register! {
    /// The plugin `staircase`.
    pub const STAIRCASE = {
        name: NAME,
        summary: "staircase noise on every number, at ε/d each",
        paper: "Geng and Viswanath, The optimal mechanism in differential privacy (2014)",
        side: Local,
        pace: Quick,
        parameters: Parameters,
        design: design,
        example: Example::numbers,
    };
}
