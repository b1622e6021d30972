//! The sampled Gaussian mechanism: noise on the sum of vectors over a random subset of the records.

use crate::Result;
use crate::error::check;
use crate::pair::Pair;
use crate::step::Step;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The neighbouring relation: the condition under which two data sets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One data set has one record that the other lacks.
    AddOrRemoveOne,
    /// The data sets have the same size, and differ in one record.
    ReplaceOne,
}

impl fmt::Display for Neighbours {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::AddOrRemoveOne => "add/remove one record",
            Self::ReplaceOne => "replace one record",
        })
    }
}

/// The random choice of the records that take part in a step, with a new choice for each step.
///
/// Neither kind covers shuffled epochs, in which each record takes part once per pass. Their ε can be larger
/// than the ε of Poisson sampling (Chua and others 2024).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Each record takes part independently, with the probability of the sampling rate.
    Poisson,
    /// A subset of m of the n records, sampled uniformly without replacement. The sampling rate is m/n.
    FixedSize,
}

impl fmt::Display for Sampling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Poisson => "Poisson sampling",
            Self::FixedSize => "fixed-size batches, sampled without replacement",
        })
    }
}

/// Steps of a sampled Gaussian mechanism.
///
/// Each record's vector has an ℓ₂ norm of at most 1, and enters the sum of a step with probability q. The sum
/// is released with Gaussian noise of standard deviation σ. The records of a step are a Poisson sample,
/// unless [`with_sampling`](Self::with_sampling) sets fixed-size batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    sampling: Sampling,
    sampling_rate: f64,
    noise_multiplier: f64,
    steps: u64,
}

/// The range of a [`Run`]'s noise multiplier. With less noise, ε is in the hundreds, and exponentials
/// overflow.
pub(crate) const NOISE_MULTIPLIERS: (f64, f64, &str) = (0.05, 1e6, "from 0.05 to a million");

/// The least sampling rate of a [`Run`]. At a far smaller rate q, the odds (1 − q)/q overflow.
const LEAST_RATE: f64 = 1e-12;

/// The largest number of steps of a [`Run`].
pub(crate) const MOST_STEPS: u64 = 1_000_000_000;

impl Run {
    /// Creates a run of `steps` steps with the sampling rate q = `sampling_rate` and the noise multiplier σ =
    /// `noise_multiplier`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 10⁻¹² ≤ q ≤ 1, 0.05 ≤ σ ≤ 10⁶ and
    /// 1 ≤ steps ≤ 10⁹.
    pub fn new(sampling_rate: f64, noise_multiplier: f64, steps: u64) -> Result<Self> {
        let (least, most, range) = NOISE_MULTIPLIERS;
        check(
            "the sampling rate",
            sampling_rate,
            "at least 1e-12 and at most one",
            (LEAST_RATE..=1.0).contains(&sampling_rate),
        )?;
        check("the noise multiplier", noise_multiplier, range, (least..=most).contains(&noise_multiplier))?;
        check("the number of steps", steps as f64, "from one to 10^9", (1..=MOST_STEPS).contains(&steps))?;
        Ok(Self { sampling: Sampling::Poisson, sampling_rate, noise_multiplier, steps })
    }

    /// Replaces the sampling of the records of a step.
    ///
    /// For fixed-size batches, the batch size m is public. The sampling rate is m/n, for n records or more in
    /// both neighbouring data sets, or in the larger one if they differ in size.
    ///
    /// ```
    /// use scumble_accounting::{Neighbours, Run, Sampling, loss};
    ///
    /// let poisson = Run::new(0.01, 2.0, 1000)?;
    /// let fixed_size = poisson.with_sampling(Sampling::FixedSize);
    /// let epsilon = |run| loss::epsilon(&[run], 1e-5, Neighbours::ReplaceOne);
    /// assert!(epsilon(fixed_size)?.lower > epsilon(poisson)?.upper);
    /// # Ok::<(), scumble_accounting::Error>(())
    /// ```
    #[must_use]
    pub fn with_sampling(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    /// The sampling of the records of a step.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The sampling rate q: the probability that a record takes part in a step.
    pub fn sampling_rate(&self) -> f64 {
        self.sampling_rate
    }

    /// The noise multiplier σ: the standard deviation of the noise, for vectors of an ℓ₂ norm of at most 1.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The dominating pairs of distributions of a step, one for each direction in which neighbours may
    /// differ.
    ///
    /// For fixed-size batches, let M₀, M₁ and M₁′ be the outputs for a batch without the record, with it, and
    /// with the replacement. Two data sets of one size give (1 − q)·M₀ + q·M₁ and (1 − q)·M₀ + q·M₁′. By a
    /// coupling of the batches, each two of M₀, M₁ and M₁′ differ in one replaced vector, at a distance of at
    /// most 2. See [`Step::FixedSize`] for the bound. If the data sets differ in size, their outputs are M₀
    /// and (1 − q)·M₀ + q·M₁, as for Poisson sampling at twice the distance (Zhu, Dong and Wang 2022, Theorem
    /// 11).
    pub(crate) fn pairs(&self, neighbours: Neighbours) -> Vec<Step> {
        let (q, sigma) = (self.sampling_rate, self.noise_multiplier);
        let pair = |ahead, behind, sigma| Pair { ahead, behind, sigma };
        match (self.sampling, neighbours) {
            (Sampling::Poisson, Neighbours::ReplaceOne) => vec![Step::Gaussian(pair(q, q, sigma))],
            (Sampling::FixedSize, Neighbours::ReplaceOne) => {
                vec![Step::FixedSize { sampling_rate: q, sigma: sigma / 2.0 }]
            }
            (sampling, Neighbours::AddOrRemoveOne) => {
                let sigma = if sampling == Sampling::Poisson { sigma } else { sigma / 2.0 };
                vec![Step::Gaussian(pair(q, 0.0, sigma)), Step::Gaussian(pair(0.0, q, sigma))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gaussians(run: Run, neighbours: Neighbours) -> Vec<Pair> {
        let pairs = run.pairs(neighbours).into_iter();
        pairs.filter_map(|step| if let Step::Gaussian(pair) = step { Some(pair) } else { None }).collect()
    }

    proptest! {
        #[test]
        fn the_loss_is_found_where_it_is(q in 1e-5..1.0_f64, sigma in 0.2..10.0_f64, x in -3.0..4.0_f64) {
            let run = Run::new(q, sigma, 1).unwrap();
            for neighbours in [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne] {
                for pair in gaussians(run, neighbours) {
                    let loss = pair.loss(x);
                    let back = pair.loss(pair.at_loss(loss));
                    // Where the profile is flat, x itself has few digits.
                    prop_assert!((back - loss).abs() < 1e-12 * (1.0 + loss.abs()), "{pair:?}: {loss} and \
                        {back}");
                }
            }
        }

        /// The loss of an interval lies between the losses at its ends.
        #[test]
        fn a_mass_is_as_likely_as_its_loss_says(
            q in 0.001..1.0_f64,
            sigma in 0.3..5.0_f64,
            x in -2.0..3.0_f64,
        ) {
            for pair in gaussians(Run::new(q, sigma, 1).unwrap(), Neighbours::ReplaceOne) {
                let (p, q) = pair.between(&pair.cut(x), &pair.cut(x + 0.01));
                let loss = (p / q).ln();
                prop_assert!(pair.loss(x) - 1e-9 <= loss && loss <= pair.loss(x + 0.01) + 1e-9);
            }
        }
    }

    #[test]
    fn what_is_no_run_is_refused() {
        for (q, sigma, steps) in
            [(0.0, 1.0, 1), (1.1, 1.0, 1), (0.1, 0.01, 1), (0.1, f64::NAN, 1), (0.1, 1.0, 0)]
        {
            assert!(Run::new(q, sigma, steps).is_err(), "({q}, {sigma}, {steps}) was accepted");
        }
    }
}
