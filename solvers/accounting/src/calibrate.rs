//! Calibration: the noise, sampling rate or steps that meet a target.
//!
//! The results are always on the safe side, because they use upper bounds on ε.

use crate::error::check_epsilon;
use crate::loss::{check_not_lost, epsilon_above, epsilon_roughly, is_at_most};
use crate::sampled::{MOST_STEPS, NOISE_MULTIPLIERS};
use crate::search::{crossing, least_integer, nearly_least};
use crate::{Error, Neighbours, Result, Run, Sampling, renyi};

/// A target (ε, δ) under a neighbouring relation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// ε, in nats.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// The neighbouring relation.
    pub neighbours: Neighbours,
}

/// The relative accuracy of the results.
const ACCURACY: f64 = 1e-6;

impl Target {
    fn check(&self) -> Result<()> {
        check_epsilon(self.epsilon)?;
        check_not_lost(self.delta)
    }

    fn is_met(&self, run: Result<Run>) -> bool {
        let Ok(run) = run else { return false };
        // Rényi divergences and privacy loss distributions both give an upper bound on ε. Either bound proves
        // the target, and the one by Rényi divergences is faster.
        self.is_met_by_renyi(Ok(run))
            || self.directions(run).all(|at| is_at_most(self.epsilon, run, self.delta, self.neighbours, at))
    }

    /// Indices in [`Run::pairs`] of the directions in which neighbours may differ, such as adding and
    /// removing a record.
    fn directions(&self, run: Run) -> std::ops::Range<usize> {
        0..run.pairs(self.neighbours).len()
    }

    fn epsilon_in(&self, direction: usize, run: Run) -> f64 {
        epsilon_above(run, self.delta, self.neighbours, direction)
    }

    /// Returns whether Rényi divergences prove that the run meets the target. Their bound on ε is faster to
    /// compute than the bound by privacy loss distributions, but not as tight.
    fn is_met_by_renyi(&self, run: Result<Run>) -> bool {
        let epsilon = run.and_then(|run| renyi::epsilon(&[run], self.delta, self.neighbours));
        epsilon.is_ok_and(|epsilon| epsilon <= self.epsilon)
    }

    /// The least x in [`from`, `to`] at which `run(x)` meets the target, to a relative accuracy of a
    /// millionth.
    fn least(&self, from: f64, to: f64, run: impl Fn(f64) -> Result<Run>) -> Option<f64> {
        // For a small ε, Rényi divergences may fail to prove the target at every x.
        let at = nearly_least(from, to, 0.02, |x| self.is_met_by_renyi(run(x))).unwrap_or(to);
        // The direction with the largest ε at this x usually also has the largest ε at nearby x. If it does
        // not, the last search takes the largest ε over all directions.
        let nearby = run(at).ok()?;
        let roughly = |direction, run| epsilon_roughly(run, self.delta, self.neighbours, direction);
        let worst = self
            .directions(nearby)
            .max_by(|one, other| roughly(*one, nearby).total_cmp(&roughly(*other, nearby)))?;
        let excess = |x: f64, epsilon: &dyn Fn(Run) -> f64| {
            let Ok(run) = run(x) else { return f64::INFINITY };
            let epsilon = epsilon(run);
            let excess = (epsilon.max(f64::MIN_POSITIVE) / self.epsilon.max(f64::MIN_POSITIVE)).ln();
            // If ε exceeds the target, the excess stays positive, even if the quotient rounds to one.
            if epsilon > self.epsilon { excess.max(f64::MIN_POSITIVE) } else { excess.min(0.0) }
        };
        // A first search with a faster and larger bound narrows the interval.
        let at = crossing(from, at, 0.01, |x| excess(x, &|run| roughly(worst, run))).unwrap_or(at);
        let found = crossing(from, at, ACCURACY, |x| excess(x, &|run| self.epsilon_in(worst, run)))?;
        if self.is_met(run(found)) {
            return Some(found);
        }
        let in_all = |run| self.directions(run).map(|at| self.epsilon_in(at, run)).fold(0.0, f64::max);
        crossing(from, to, ACCURACY, |x| excess(x, &in_all))
    }
}

/// The least noise multiplier with which `steps` steps of a [`Run`] meet the target, to a relative accuracy
/// of a millionth.
///
/// # Errors
/// [`Error::OutOfRange`] if the target, the sampling rate or the number of steps is invalid;
/// [`Error::Unreachable`] if a noise multiplier of a million does not meet the target.
pub fn noise_multiplier(sampling: Sampling, sampling_rate: f64, steps: u64, target: Target) -> Result<f64> {
    let (least, most, range) = NOISE_MULTIPLIERS;
    target.check()?;
    Run::new(sampling_rate, least, steps)?;
    let run = |sigma| Ok(Run::new(sampling_rate, sigma, steps)?.with_sampling(sampling));
    let found = target.least(least, most, run);
    found.ok_or(Error::Unreachable { name: "noise multiplier", range })
}

/// The largest sampling rate at which `steps` steps of a [`Run`] meet the target, to a relative accuracy of a
/// millionth.
///
/// # Errors
/// [`Error::OutOfRange`] if the target, the noise multiplier or the number of steps is invalid;
/// [`Error::Unreachable`] if a sampling rate of one in a hundred million does not meet the target.
pub fn sampling_rate(sampling: Sampling, noise_multiplier: f64, steps: u64, target: Target) -> Result<f64> {
    target.check()?;
    Run::new(1.0, noise_multiplier, steps)?;
    // The search runs over the inverse of the rate.
    let run = |one_in: f64| Ok(Run::new(1.0 / one_in, noise_multiplier, steps)?.with_sampling(sampling));
    let one_in = target.least(1.0, 1e8, run);
    one_in.map(|one_in| 1.0 / one_in).ok_or(Error::Unreachable { name: "sampling rate", range: "1e-8 to 1" })
}

/// The largest number of steps of a [`Run`] that meets the target.
///
/// # Errors
/// [`Error::OutOfRange`] if the target, the sampling rate or the noise multiplier is invalid;
/// [`Error::Unreachable`] if one step does not meet the target.
pub fn steps(sampling: Sampling, sampling_rate: f64, noise_multiplier: f64, target: Target) -> Result<u64> {
    target.check()?;
    Run::new(sampling_rate, noise_multiplier, 1)?;
    let run = |steps| Ok(Run::new(sampling_rate, noise_multiplier, steps)?.with_sampling(sampling));
    let is_met = |steps: u64| target.is_met(run(steps));
    if !is_met(1) {
        return Err(Error::Unreachable { name: "number of steps", range: "one to 10^9" });
    }
    // The search ends at the first power of two that misses the target, so that no far larger number of steps
    // is tried.
    let too_much = (1..=29).map(|power| 1 << power).find(|&steps| !is_met(steps)).unwrap_or(MOST_STEPS);
    Ok(least_integer(too_much / 2, too_much, |steps| !is_met(steps)).map_or(MOST_STEPS, |first| first - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    const TARGET: Target = Target { epsilon: 2.0, delta: 1e-5, neighbours: Neighbours::AddOrRemoveOne };

    #[test]
    fn each_solves_for_what_the_others_were_given() {
        let sigma = noise_multiplier(Sampling::Poisson, 0.01, 1000, TARGET).unwrap();
        let rate = sampling_rate(Sampling::Poisson, sigma, 1000, TARGET).unwrap();
        assert_relative_eq!(rate, 0.01, max_relative = 1e-5);
        let steps = steps(Sampling::Poisson, 0.01, sigma, TARGET).unwrap();
        assert!((999..=1001).contains(&steps), "{steps}");
        let is_met = |sigma| TARGET.is_met(Run::new(0.01, sigma, 1000));
        assert!(is_met(sigma) && !is_met(sigma * 0.99999));
    }

    #[test]
    fn fixed_size_batches_need_more_noise_and_meet_the_target() {
        let target = Target { neighbours: Neighbours::ReplaceOne, ..TARGET };
        let [poisson, fixed_size] = [Sampling::Poisson, Sampling::FixedSize]
            .map(|sampling| noise_multiplier(sampling, 0.01, 1000, target).unwrap());
        assert!(fixed_size > 1.5 * poisson, "{fixed_size} and {poisson}");
        let run = |sigma| Run::new(0.01, sigma, 1000).map(|run| run.with_sampling(Sampling::FixedSize));
        assert!(target.is_met(run(fixed_size)) && !target.is_met(run(fixed_size * 0.99999)));
    }

    #[test]
    fn a_small_epsilon_that_renyi_divergences_miss_is_met() {
        let target = Target { epsilon: 0.1, ..TARGET };
        let rate = sampling_rate(Sampling::Poisson, 1.0, 1000, target).unwrap();
        assert!((5e-4..2e-3).contains(&rate), "{rate}");
    }

    #[test]
    fn what_cannot_be_met_is_named() {
        let hopeless = Target { epsilon: 0.0, delta: 1e-12, ..TARGET };
        let refused =
            noise_multiplier(Sampling::Poisson, 1.0, 1_000_000_000, hopeless).unwrap_err().to_string();
        assert!(refused.contains("no noise multiplier"), "{refused}");
        assert!(
            steps(Sampling::Poisson, 1.0, 0.5, TARGET)
                .unwrap_err()
                .to_string()
                .contains("no number of steps")
        );
        assert!(noise_multiplier(Sampling::Poisson, 0.01, 10, Target { delta: 0.0, ..TARGET }).is_err());
    }
}
