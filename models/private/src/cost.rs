//! Privacy accounting of a training run, and the number of steps that a target allows.

use crate::sensitivity::{Sensitivity, TAIL};
use crate::{Error, NoiseKind, PrivateTraining, Result};
use scumble_accounting::calibrate::{self, Target};
use scumble_accounting::{Neighbours, Run, Sampling, loss, renyi};
use scumble_neural::Real;
use serde::{Deserialize, Serialize};

/// Fraction of δ reserved for samples with more records than the capacity of a step, the largest sample that
/// enters the sum of gradients.
const KEPT: f64 = 1e-6;

/// Privacy loss of a training run. The sequence of all networks, including intermediate ones, is (ε,
/// δ)-differentially private in each record's membership and values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// ε, in nats: an upper bound from the privacy loss distribution.
    pub epsilon: f64,
    /// δ of the (ε, δ) guarantee.
    pub delta: f64,
    /// Neighbouring relation. Under add/remove one record, both neighbouring data sets are trained at the
    /// same sampling rate q, which is public.
    pub neighbours: Neighbours,
    /// Number of steps.
    pub steps: u64,
    /// Sampling rate q: the probability that the sample of a step contains a given record.
    pub sampling_rate: f64,
    /// Kind of noise. ε is proven for exact noise only.
    pub noise: NoiseKind,
    /// Noise multiplier σ, as configured.
    pub noise_multiplier: f64,
    /// Noise multiplier of a Gaussian mechanism in real numbers whose privacy loss is at least that of this
    /// training. ε is computed from this multiplier.
    pub effective_noise_multiplier: f64,
    /// ε from Rényi divergences, in nats: larger than `epsilon`, and computed independently.
    pub epsilon_by_renyi: f64,
}

impl PrivateTraining {
    /// Computes the effective noise multiplier for networks with `parameters` parameters in total.
    ///
    /// It is the noise multiplier of a Gaussian mechanism in real numbers whose privacy loss is at least that
    /// of this training. It accounts for rounding, floating-point clipping and the discreteness of the noise.
    ///
    /// # Errors
    /// Same errors as [`check`](Self::check), and [`Error::TooFewRecords`] if `records` is less than the
    /// expected batch.
    pub fn effective_noise_multiplier<T: Real>(&self, records: usize, parameters: usize) -> Result<f64> {
        self.check()?;
        self.sampling_rate(records)?;
        Ok(Sensitivity::for_training::<T>(self, records, parameters).effective_noise_multiplier(self))
    }

    /// Computes the privacy loss of `steps` steps on `records` records at `delta`, for networks with
    /// `parameters` parameters in total.
    ///
    /// # Errors
    /// Same errors as [`effective_noise_multiplier`](Self::effective_noise_multiplier) and [`Run::new`];
    /// [`Error::Accounting`] for an invalid δ; [`Error::Delta`] if a millionth of δ is too small for the
    /// probability of samples with more records than the capacity of a step.
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
            // The next larger float, because the distribution of discrete noise differs from that of
            // post-processed continuous noise by a factor within 10⁻¹⁰⁰ of one.
            spent.epsilon = loss::epsilon(&run, kept, neighbours)?.upper.next_up();
            spent.epsilon_by_renyi = renyi::epsilon(&run, kept, neighbours)?.next_up();
            check_tail(steps, spent.epsilon.min(spent.epsilon_by_renyi), delta)?;
        }
        Ok(spent)
    }

    /// Computes the largest number of steps on `records` records that meets `target`, for networks with
    /// `parameters` parameters in total.
    ///
    /// # Errors
    /// Same errors as [`spent`](Self::spent), and [`Error::NoStep`] if one step exceeds the target. This
    /// error reports the ε of one step and the noise multiplier that one step needs.
    pub fn steps_within<T: Real>(&self, records: usize, parameters: usize, target: Target) -> Result<u64> {
        let effective = self.effective_noise_multiplier::<T>(records, parameters)?;
        let rate = self.rate_above(records)?;
        let kept = Target { delta: target.delta * (1.0 - KEPT), ..target };
        let one = self.spent::<T>(records, parameters, 1, target.delta, target.neighbours)?;
        if one.epsilon <= target.epsilon {
            let steps = calibrate::steps(Sampling::Poisson, rate, effective, kept)?;
            check_tail(steps, target.epsilon, target.delta)?;
            return Ok(steps);
        }
        let needed = match calibrate::noise_multiplier(Sampling::Poisson, rate, 1, kept) {
            Ok(multiplier) => self.nominal::<T>(records, parameters, multiplier),
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

    /// Returns the assumptions under which [`spent`](Self::spent) holds, one sentence each.
    pub fn assumes(&self) -> Vec<&'static str> {
        let always = [
            "the order of operations in a matrix product on this machine depends on shapes alone, not on \
             values",
            "the sampling rate is public, and so is the number of records that determined it",
            "the initial weights, the loss and all parameters of the training were chosen without these \
             records, or at a counted privacy cost",
        ];
        let floating = match self.noise {
            NoiseKind::FloatingPoint => Some(
                "noise in floating point has the distribution of real numbers, which is only approximately \
                 true: the claim is not proven",
            ),
            NoiseKind::Exact | NoiseKind::None => None,
        };
        always.into_iter().chain(floating).collect()
    }

    /// Returns a noise multiplier whose effective noise multiplier is at least `target`, or infinity if none
    /// is found.
    fn nominal<T: Real>(&self, records: usize, parameters: usize, target: f64) -> f64 {
        let effective = |noise_multiplier: f64| {
            let noise = if self.noise == NoiseKind::None { NoiseKind::Exact } else { self.noise };
            let training = Self { noise_multiplier, noise, ..*self };
            Sensitivity::for_training::<T>(&training, records, parameters)
                .effective_noise_multiplier(&training)
        };
        // The effective noise multiplier grows slightly less than the configured one, because the lattice
        // step grows with the noise. A few iterations therefore approach the result from below.
        let mut chosen = target;
        for _ in 0..60 {
            let found = effective(chosen);
            if found >= target {
                return chosen;
            }
            chosen *= target / found * (1.0 + 1e-9);
        }
        f64::INFINITY
    }

    /// Sampling rate q, rounded up.
    fn rate_above(&self, records: usize) -> Result<f64> {
        Ok(self.sampling_rate(records)?.to_f64().next_up().min(1.0))
    }
}

/// Checks that the reserved fraction of δ covers samples with more records than the capacity of a step, the
/// largest sample that enters the sum of gradients. Let t bound the probability that at least one of `steps`
/// steps has such a sample, for either of two neighbouring data sets. Such samples then add at most (1 +
/// e^ε)·t to δ.
///
/// # Errors
/// [`Error::Delta`] if the reserved fraction of `delta` is less than (1 + e^ε)·t.
fn check_tail(steps: u64, epsilon: f64, delta: f64) -> Result<()> {
    let least = steps as f64 * TAIL * (1.0 + epsilon.exp()) / KEPT;
    if delta >= least { Ok(()) } else { Err(Error::Delta { delta, least, steps, epsilon }) }
}
