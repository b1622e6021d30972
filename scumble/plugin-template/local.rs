//! `plugin-template-local`: a plugin for scumble, in which each person randomises their own record.
//!
//! In the generated code, each person rounds every number of their record to one of equal steps between its
//! public bounds. Discrete Laplace noise is added to the number of the step, an integer. Parts to replace:
//!
//! | part | place |
//! |---|---|
//! | the noise | `Mechanism::perturb` |
//! | the sensitivity | `TryFrom<State> for Mechanism`, and the bound in `Mechanism::step_of` |
//! | the proof | `THEOREM` |
//! | claims, disclosures and assumptions | `Mechanism::guarantee` |
//! | parameters | `Parameters` |
//!
//! `tests/privacy.rs` runs the conformance suite, and attacks the claim. A mechanism that only adds noise to
//! numbers can be shorter: `scumble new-plugin --kind noise`.

use schemars::JsonSchema;
use scumble::core::{
    ASSUMED, Brief, Budget, Claim, DescribedNoise, Descriptor, Distance, Error, Example, Guarantee, LocalDp,
    LocalMechanism, Noise, NoiseDistribution, Notion, Output, Perturbation, RecordDomain, Releases, Result,
    Stream, Unit, check_width, in_clear, register,
};
use scumble::sampling::{DiscreteLaplace, Rational};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Name of the mechanism in the registry.
const NAME: &str = "plugin-template-local";

/// PROOF: the theorem from which the claim follows, with its source; the card cites it. The code has to meet
/// the theorem's conditions. Here they are:
///
/// - the sensitivity is a statement about integers: n numbers, each clamped to 0..=steps, are at most n·steps
///   apart in ℓ₁;
/// - the noise is an exact integer of scale t ≥ n·steps/ε. Between two records, the probabilities of an
///   output differ by a factor of at most e^(n·steps/t) ≤ e^ε.
const THEOREM: &str = "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on \
                       integers, every number at an equal share of ε";

/// Allowed numbers of steps.
const STEPS: RangeInclusive<u32> = 1..=65_536;

/// Discrete Laplace noise on the numbers of a record, each rounded to a step between its bounds. A label
/// is released in the clear.
#[derive(Debug, Clone)]
pub struct Mechanism {
    state: State,
    /// The bounds of each number.
    bounds: Vec<(f64, f64)>,
    /// Noise that is added to each number, in steps; `None` at ε = ∞.
    noise: Option<DiscreteLaplace>,
}

/// State of a design, as saved in its file. It holds what a client needs, and nothing that can be derived
/// from these fields.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(with = "scumble::core::number")]
    epsilon: f64,
    steps: u32,
}

/// The only constructor: a saved design is loaded by it too, so every number in a file is checked again.
impl TryFrom<State> for Mechanism {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let is_usable = |bounds: &Vec<(f64, f64)>| {
            !bounds.is_empty() && bounds.iter().all(|(lower, upper)| (upper - lower).is_finite())
        };
        let bounds = state.domain.features().intervals().filter(is_usable);
        let bounds = bounds.ok_or_else(|| Error::not_applicable(NAME, "it takes records of numbers"))?;
        if !STEPS.contains(&state.steps) {
            let problem = format!(
                "steps must be a number from {} to {}, and {} is not",
                STEPS.start(),
                STEPS.end(),
                state.steps
            );
            return Err(Error::Parameter { plugin: NAME.into(), problem });
        }
        // SENSITIVITY: ε is divided by the largest ℓ₁ distance of two records, in steps. `divide` and
        // `floor_of` round down, toward more privacy.
        let number_budget = Budget::pure(state.epsilon)?.divide(bounds.len())?;
        let step_epsilon = number_budget.divide(state.steps as usize)?.epsilon();
        let noise = match step_epsilon {
            f64::INFINITY => None,
            epsilon => Some(DiscreteLaplace::new(Rational::floor_of(epsilon)?.reciprocal()?)?),
        };
        Ok(Self { state, bounds, noise })
    }
}

impl Mechanism {
    /// Returns the step of `x` between its bounds. The clamp is on the integer, so the step lies in 0..=steps
    /// for any floats.
    fn step_of(&self, x: f64, bounds: (f64, f64)) -> i128 {
        (self.place_of(x, bounds).round() as i128).clamp(0, i128::from(self.state.steps))
    }

    fn place_of(&self, x: f64, (lower, upper): (f64, f64)) -> f64 {
        (x - lower) / (upper - lower) * f64::from(self.state.steps)
    }

    fn value_of(&self, step: i128, (lower, upper): (f64, f64)) -> f64 {
        lower + step as f64 / f64::from(self.state.steps) * (upper - lower)
    }

    /// Width of a step of each number.
    fn widths(&self) -> impl Iterator<Item = f64> {
        self.bounds.iter().map(|(lower, upper)| (upper - lower) / f64::from(self.state.steps))
    }

    /// The variance of each number's noise.
    fn variances(&self, noise: &DiscreteLaplace) -> Vec<f64> {
        self.widths().map(|width| noise.variance() * width.powi(2)).collect()
    }
}

impl LocalMechanism for Mechanism {
    /// The records on which the guarantee holds.
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    /// Guarantee of a release: its claims, its exact disclosures, and the assumptions of the claims.
    fn guarantee(&self) -> Guarantee {
        if self.noise.is_none() {
            return Guarantee::nothing(self.domain());
        }
        Guarantee {
            claims: vec![Claim {
                notion: Notion::LocalDp(LocalDp::pure(self.state.epsilon)),
                protects: Unit::for_features(self.domain()),
                theorem: THEOREM.into(),
            }],
            discloses: in_clear(self.domain(), Unit::Label),
            assumes: ASSUMED.map(str::to_owned).to_vec(),
            ..Guarantee::default()
        }
    }

    /// Output of a release: a view (noisy encoded records), because `encode` moves numbers to steps. A
    /// mechanism without its own `encode` releases records, and does not need this method.
    fn releases(&self) -> Releases {
        Releases::View { secret: false, aligned: true, target: self.layout().target }
    }

    /// The noise-free view of a record: moved into the domain, and every number to the nearest step.
    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = self.domain().projected(record)?;
        for (x, bounds) in point.iter_mut().zip(&self.bounds) {
            *x = self.value_of(self.step_of(*x, *bounds), *bounds).clamp(bounds.0, bounds.1);
        }
        Ok(point)
    }

    /// NOISE: all privacy is here. Round to integers, bound them, and add integers drawn by
    /// `scumble::sampling`. Everything after this addition is post-processing.
    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        check_width(self.domain().flat().dim(), point.len())?;
        let Some(noise) = &self.noise else {
            return Ok(());
        };
        for (x, bounds) in point.iter_mut().zip(&self.bounds) {
            *x = self.value_of(self.step_of(*x, *bounds) + noise.sample(stream), *bounds);
        }
        Ok(())
    }

    /// The distribution of a release, given the noise-free view (the output of `encode`). Models that use
    /// this distribution learn better than models that ignore it.
    fn noise(&self) -> Noise {
        let features = match &self.noise {
            Some(noise) => NoiseDistribution::Additive { variance: self.variances(noise) },
            None => NoiseDistribution::Exact { width: self.bounds.len() },
        };
        let target = NoiseDistribution::Exact { width: self.domain().layout().target.width() };
        Noise { features: vec![features], target }
    }

    /// Optional: the logarithm of P(`released` | `point`), up to a constant. This method makes an audit
    /// stronger.
    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let noise = self.noise.as_ref()?;
        let numbers = point.iter().zip(released).zip(&self.bounds);
        let distances = numbers.map(|((x, released), bounds)| {
            (self.place_of(*released, *bounds) - self.step_of(*x, *bounds) as f64).abs()
        });
        Some(-distances.sum::<f64>() / noise.scale())
    }

    /// Optional: the description of the noise of `perturb`, which an audit checks.
    fn perturbation(&self) -> Vec<Perturbation> {
        let Some(noise) = &self.noise else {
            return vec![];
        };
        let numbers = self.bounds.len();
        vec![Perturbation::Additive(DescribedNoise {
            coordinates: 0..numbers,
            distance: Distance::L1,
            scales: self.widths().map(|width| noise.scale() * width).collect(),
            sensitivity: numbers as f64 * f64::from(self.state.steps) / noise.scale(),
            variances: self.variances(noise),
            kurtosis: 6.0 + 1.0 / noise.variance(), // 6 for the continuous distribution
            steps: self.widths().collect(),
        })]
    }
}

/// Parameters of the mechanism, as `--set steps=256`. The comments of the fields become their descriptions.
/// The name of a parameter that is not a field is refused.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of equal steps between the bounds of each number, from 1 to 65,536; 4,096 by default.
    steps: Option<u32>,
}

/// Makes the state of a design for a [`Brief`], the request for the design. A mechanism that learns from the
/// records of volunteers does this here.
fn learn(parameters: Parameters, brief: &Brief) -> Result<State> {
    let steps = parameters.steps.unwrap_or(4096);
    Ok(State { domain: brief.domain.clone(), epsilon: brief.budget.epsilon(), steps })
}

register! {
    /// The plugin.
    pub const PLUGIN = {
        name: NAME,
        summary: "discrete Laplace noise on every number, rounded to a step between its bounds",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis \
            (2006)",
        descriptor: Descriptor::new(Output::View),
        parameters: Parameters,
        learn: learn,
        local: Mechanism::try_from,
        example: Example::numbers,
    };
}
