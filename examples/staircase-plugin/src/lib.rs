//! The staircase mechanism of Geng and Viswanath (2014) as a third party would add it to scumble.
//!
//! For one number it is the ε-private noise of least variance. At small ε its variance is that of Laplace
//! noise; at large ε it is far smaller. Here every number of a record takes the noise at ε/d. `noise.rs` has
//! the distribution on the integers. This file makes a mechanism of it, and `main.rs` is `scumble` with that
//! mechanism. The tests run the conformance suite and the audit.

mod noise;

use noise::{Staircase, best_step_share};
use schemars::JsonSchema;
use scumble::core::Distance;
use scumble::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Number of equal steps between the bounds of a number, to which it is rounded. It is the sensitivity of the
/// integer. The sampler may need as many proposals per draw, so it is no larger.
const STEPS: NonZeroU64 = NonZeroU64::new(1 << 12).unwrap();

/// Returns the step of `x` between its bounds. The clamp is on the integer: it lies in 0..=STEPS for any
/// floats.
fn step_of(x: f64, (lower, upper): (f64, f64)) -> i128 {
    let place = ((x - lower) / (upper - lower) * STEPS.get() as f64).round();
    (place as i128).clamp(0, i128::from(STEPS.get()))
}

fn value_of(step: i128, (lower, upper): (f64, f64)) -> f64 {
    lower + step as f64 / STEPS.get() as f64 * (upper - lower)
}

/// Staircase noise on every number of a record, each within its bounds and at its share of ε. A class label
/// is released in the clear.
#[derive(Debug, Clone)]
pub struct StaircaseNoise {
    bounds: Vec<(f64, f64)>,
    share: f64,
    distribution: Staircase,
}

/// Parameters of `staircase`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Share of the sensitivity that the top step takes, strictly between 0 and 1. The default has the least
    /// variance.
    step_share: Option<f64>,
}

impl AdditiveNoise for StaircaseNoise {
    const NAME: &'static str = "staircase";
    const THEOREM: &'static str = "the staircase mechanism (Geng and Viswanath 2014), at ε/d a number";
    type Parameters = Parameters;

    fn calibrate(parameters: &Parameters, set: &Domain, budget: Budget) -> Result<Self> {
        let refused = || Error::not_applicable(Self::NAME, "it takes records of numbers");
        let bounds = set.intervals().ok_or_else(refused)?;
        let share = budget.divide(bounds.len())?.epsilon();
        let top = parameters.step_share.unwrap_or_else(|| best_step_share(share));
        budget.split(top)?; // refuses a share outside (0, 1)
        Ok(Self { bounds, share, distribution: Staircase::new(share, STEPS, top)? })
    }

    fn on_lattice(&self, point: &mut [f64]) {
        let rounded = |x: f64, at: (f64, f64)| value_of(step_of(x, at), at).clamp(at.0, at.1);
        point.iter_mut().zip(&self.bounds).for_each(|(x, bounds)| *x = rounded(*x, *bounds));
    }

    /// Rounds each number to its step, an integer, and adds an integer.
    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        for (x, bounds) in point.iter_mut().zip(&self.bounds) {
            *x = value_of(step_of(*x, *bounds) + self.distribution.sample(stream), *bounds);
        }
        Ok(())
    }

    /// Describes the noise in the units of each number. Two numbers at distance Δ cost the whole share of ε.
    fn described(&self) -> DescribedNoise {
        let steps = || self.bounds.iter().map(|(lower, upper)| (upper - lower) / STEPS.get() as f64);
        DescribedNoise {
            coordinates: 0..self.bounds.len(),
            distance: Distance::L1,
            scales: steps().map(|step| step * STEPS.get() as f64 / self.share).collect(),
            sensitivity: self.share * self.bounds.len() as f64,
            variances: steps().map(|step| self.distribution.variance() * step * step).collect(),
            kurtosis: self.distribution.kurtosis(),
            steps: steps().collect(),
        }
    }
}

register! {
    /// The plugin `staircase`.
    pub const STAIRCASE = {
        name: StaircaseNoise::NAME,
        summary: "staircase noise on every number, at ε/d each",
        paper: "Geng and Viswanath, The optimal mechanism in differential privacy (2014)",
        noise: StaircaseNoise,
        example: Example::numbers,
    };
}
