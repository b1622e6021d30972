//! What a training costs, and how long it may be.

use crate::sensitivity::{Sensitivity, TAIL};
use crate::{Error, NoiseKind, PrivateTraining, Result};
use scumble_accounting::calibrate::{self, Target};
use scumble_accounting::{Neighbours, Run, loss, renyi};
use scumble_neural::Real;
use serde::{Deserialize, Serialize};

/// The share of δ that is kept for samples which are larger than there is room for.
const KEPT: f64 = 1e-6;

/// What a training has spent: each record's membership and values are (ε, δ)-differentially private in all networks on the way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// ε, in nats: by the privacy loss distribution, from above.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The neighbouring relation. Under add/remove one record, q is public, for it is a number that was chosen: both neighbours are
    /// trained on at the same one.
    pub neighbours: Neighbours,
    /// How many steps.
    pub steps: u64,
    /// q: with which probability each record enters a step.
    pub sampling_rate: f64,
    /// Which noise: ε is proven for exact noise alone.
    pub noise: NoiseKind,
    /// σ, as it was chosen.
    pub noise_multiplier: f64,
    /// That of a Gaussian mechanism in real numbers which costs no less: ε is computed from it.
    pub effective_noise_multiplier: f64,
    /// ε by Rényi divergences, in nats: larger, and found in another way.
    pub epsilon_by_renyi: f64,
}

impl PrivateTraining {
    /// How much noise counts, once rounding, clipping in floating point, and the noise's being discrete are paid for: the noise
    /// multiplier of a Gaussian mechanism in real numbers that costs no less than this training of networks with so many `parameters` in all.
    ///
    /// # Errors
    /// As [`check`](Self::check), [`Error::TooFewRecords`].
    pub fn effective_noise_multiplier<T: Real>(&self, records: usize, parameters: usize) -> Result<f64> {
        self.check()?;
        self.sampling_rate(records)?;
        Ok(Sensitivity::of::<T>(self, records, parameters).effective_noise_multiplier(self))
    }

    /// What so many `steps` on so many `records` cost at this δ, for networks with so many `parameters` in all.
    ///
    /// # Errors
    /// As [`effective_noise_multiplier`](Self::effective_noise_multiplier), and those of the accountant: [`Run::new`], and for a δ that is none;
    /// [`Error::Delta`] for one that is next to nothing.
    pub fn spent<T: Real>(
        &self,
        records: usize,
        parameters: usize,
        steps: u64,
        delta: f64,
        neighbours: Neighbours,
    ) -> Result<Spent> {
        let sampling_rate = self.rate_above(records)?;
        let effective_noise_multiplier = self.effective_noise_multiplier::<T>(records, parameters)?;
        let mut spent = Spent {
            epsilon: 0.0,
            delta,
            neighbours,
            steps,
            sampling_rate,
            noise: self.noise,
            noise_multiplier: self.noise_multiplier,
            effective_noise_multiplier,
            epsilon_by_renyi: 0.0,
        };
        if steps > 0 && self.noise == NoiseKind::None {
            (spent.epsilon, spent.epsilon_by_renyi) = (f64::INFINITY, f64::INFINITY);
        } else if steps > 0 {
            let run = [Run::new(sampling_rate, effective_noise_multiplier, steps)?];
            let kept = delta * (1.0 - KEPT);
            // One float up, for what the discrete distribution differs from a continuous one's image: less than 10⁻¹⁰⁰.
            spent.epsilon = loss::epsilon(&run, kept, neighbours)?.upper.next_up();
            spent.epsilon_by_renyi = renyi::epsilon(&run, kept, neighbours)?.next_up();
            check_tail(steps, spent.epsilon.min(spent.epsilon_by_renyi), delta)?;
        }
        Ok(spent)
    }

    /// How many steps on so many `records` meet the target, for networks with so many `parameters` in all.
    ///
    /// # Errors
    /// As [`spent`](Self::spent), and [`Error::NoStep`], which says what one step costs, and how much noise it needs.
    pub fn steps_within<T: Real>(&self, records: usize, parameters: usize, target: Target) -> Result<u64> {
        let effective = self.effective_noise_multiplier::<T>(records, parameters)?;
        let rate = self.rate_above(records)?;
        let kept = Target { delta: target.delta * (1.0 - KEPT), ..target };
        let one = self.spent::<T>(records, parameters, 1, target.delta, target.neighbours)?;
        if one.epsilon <= target.epsilon {
            let steps = calibrate::steps(rate, effective, kept)?;
            check_tail(steps, target.epsilon, target.delta)?;
            return Ok(steps);
        }
        let needed = match calibrate::noise_multiplier(rate, 1, kept) {
            Ok(wanted) => self.nominal::<T>(records, parameters, wanted),
            Err(scumble_accounting::Error::Unreachable { .. }) => f64::INFINITY,
            Err(problem) => return Err(problem.into()),
        };
        Err(Error::NoStep {
            epsilon: target.epsilon,
            delta: target.delta,
            neighbours: target.neighbours,
            noise_multiplier: if self.noise == NoiseKind::None { 0.0 } else { self.noise_multiplier },
            one_step: one.epsilon,
            needed,
        })
    }

    /// What has to be assumed for what [`spent`](Self::spent) says, each a sentence for a card.
    pub fn assumes(&self) -> Vec<&'static str> {
        let always = [
            "the way that a product of matrices takes on this machine depends on shapes alone, not on values",
            "the sampling rate is public, and so is the number of records that it was made from",
            "where training starts, its loss and all its parameters were chosen without these records, or by means that are counted",
        ];
        let floating = match self.noise {
            NoiseKind::FloatingPoint => Some(
                "noise in floating point has the distribution of real numbers, which it has not quite: the claim is not proven",
            ),
            NoiseKind::Exact | NoiseKind::None => None,
        };
        always.into_iter().chain(floating).collect()
    }

    /// The noise multiplier to choose for an effective one; infinite where there is none.
    fn nominal<T: Real>(&self, records: usize, parameters: usize, wanted: f64) -> f64 {
        let effective = |noise_multiplier: f64| {
            let noise = if self.noise == NoiseKind::None { NoiseKind::Exact } else { self.noise };
            let training = Self { noise_multiplier, noise, ..*self };
            Sensitivity::of::<T>(&training, records, parameters).effective_noise_multiplier(&training)
        };
        // What is lost grows with the noise, for the lattice does, and slowly: some rounds come close, from below.
        let mut chosen = wanted;
        for _ in 0..60 {
            let found = effective(chosen);
            if found >= wanted {
                return chosen;
            }
            chosen *= wanted / found * (1.0 + 1e-9);
        }
        f64::INFINITY
    }

    /// q, rounded up.
    fn rate_above(&self, records: usize) -> Result<f64> {
        Ok(self.sampling_rate(records)?.to_f64().next_up().min(1.0))
    }
}

/// # Errors
/// [`Error::Delta`] where samples that are too large may cost more than what is kept for them. They come with probability t at most in all
/// steps together, in either of two neighbours: that is (1 + e^ε)·t.
fn check_tail(steps: u64, epsilon: f64, delta: f64) -> Result<()> {
    let least = steps as f64 * TAIL * (1.0 + epsilon.exp()) / KEPT;
    if delta >= least { Ok(()) } else { Err(Error::Delta { delta, least, steps, epsilon }) }
}
