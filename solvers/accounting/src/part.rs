//! Mechanisms to compose, with the number of their releases.

use crate::error::{check, check_delta, check_epsilon};
use crate::pair::Pair;
use crate::sampled::{MOST_STEPS, NOISE_MULTIPLIERS};
use crate::step::Step;
use crate::{Neighbours, Result, Run, Sampling, gaussian};
use std::fmt;

/// A part of a composition: one or more releases of one mechanism.
///
/// The parts may differ, and each release may depend on the earlier ones. [`Run`] converts to a part. The
/// numbers of other parts are for the neighbouring relation of the composition.
///
/// ```
/// use scumble_accounting::{Neighbours, Part, Run, loss};
///
/// let training = Run::new(0.01, 1.0, 1000)?;
/// let parts = [training.into(), Part::laplace(0.1, 3)?, Part::randomised_response(0.5, 2, 1)?];
/// let epsilon = loss::epsilon(&parts, 1e-5, Neighbours::AddOrRemoveOne)?;
/// assert!(1.83 < epsilon.lower && epsilon.upper < 1.83 + 3.0 * 0.1 + 0.5);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    mechanism: Mechanism,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mechanism {
    Sampled(Run),
    Gaussian { noise_multiplier: f64 },
    Laplace { epsilon: f64 },
    RandomisedResponse { epsilon: f64, levels: u64 },
    Guaranteed { epsilon: f64, delta: f64 },
}

/// The largest ε of a mechanism of a [`Part`]. For a larger ε, odds e^ε overflow.
const MOST_EPSILON: f64 = 700.0;

/// The least positive ε of a mechanism of a [`Part`].
const LEAST_EPSILON: f64 = 1e-9;

impl Part {
    /// Gaussian noise. Its standard deviation, divided by the ℓ₂ sensitivity, is `noise_multiplier`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless the noise multiplier is from 0.05 to 10⁶ and
    /// the count from 1 to 10⁹.
    pub fn gaussian(noise_multiplier: f64, count: u64) -> Result<Self> {
        let (least, most, range) = NOISE_MULTIPLIERS;
        check("the noise multiplier", noise_multiplier, range, (least..=most).contains(&noise_multiplier))?;
        Self::new(Mechanism::Gaussian { noise_multiplier }, count)
    }

    /// Gaussian noise with the least standard deviation for (`epsilon`, `delta`)-differential privacy.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 0 < δ < 1, and the noise multiplier for ε and δ
    /// and the count are those of [`gaussian`](Self::gaussian).
    pub fn gaussian_for(epsilon: f64, delta: f64, count: u64) -> Result<Self> {
        Self::gaussian(1.0 / gaussian::mu(epsilon, delta)?, count)
    }

    /// Laplace noise on a number. The sensitivity of the number, divided by the scale of the noise, is
    /// `epsilon`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε is zero or from 10⁻⁹ to 700 and the count
    /// from 1 to 10⁹.
    pub fn laplace(epsilon: f64, count: u64) -> Result<Self> {
        Self::with_epsilon(epsilon, Mechanism::Laplace { epsilon }, count)
    }

    /// Randomised response with `levels` levels. It reports the true level with e^ε times the probability of
    /// another level. With two levels, no mechanism of this ε (at δ = 0) has a larger privacy loss.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) for the numbers of [`laplace`](Self::laplace), and
    /// unless the number of levels is from 2 to 2⁵³.
    pub fn randomised_response(epsilon: f64, levels: u64, count: u64) -> Result<Self> {
        check("the number of levels", levels as f64, "from 2 to 2^53", (2..=1 << 53).contains(&levels))?;
        Self::with_epsilon(epsilon, Mechanism::RandomisedResponse { epsilon, levels }, count)
    }

    /// A mechanism that is known by its (`epsilon`, `delta`)-differential privacy alone. Some mechanism with
    /// this guarantee attains the bounds (Kairouz, Oh and Viswanath 2015).
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) for the numbers of [`laplace`](Self::laplace), and
    /// unless δ is zero or 0 < δ < 1.
    pub fn guaranteed(epsilon: f64, delta: f64, count: u64) -> Result<Self> {
        if delta != 0.0 {
            check_delta(delta)?;
        }
        Self::with_epsilon(epsilon, Mechanism::Guaranteed { epsilon, delta }, count)
    }

    fn with_epsilon(epsilon: f64, mechanism: Mechanism, count: u64) -> Result<Self> {
        check_epsilon(epsilon)?;
        let fits = epsilon == 0.0 || (LEAST_EPSILON..=MOST_EPSILON).contains(&epsilon);
        check("epsilon", epsilon, "zero or from 1e-9 to 700", fits)?;
        Self::new(mechanism, count)
    }

    fn new(mechanism: Mechanism, count: u64) -> Result<Self> {
        check("the count", count as f64, "from one to 10^9", (1..=MOST_STEPS).contains(&count))?;
        Ok(Self { mechanism, count })
    }

    /// The number of releases.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sampling of the records of a release, for the steps of a [`Run`].
    pub fn sampling(&self) -> Option<Sampling> {
        if let Mechanism::Sampled(run) = self.mechanism { Some(run.sampling()) } else { None }
    }

    /// The dominating pairs of a release, one for each direction in which neighbours may differ.
    pub(crate) fn pairs(&self, neighbours: Neighbours) -> Vec<Step> {
        match self.mechanism {
            Mechanism::Sampled(run) => run.pairs(neighbours),
            Mechanism::Gaussian { noise_multiplier: sigma } => {
                vec![Step::Gaussian(Pair { ahead: 1.0, behind: 0.0, sigma })]
            }
            Mechanism::Laplace { epsilon } => vec![Step::Laplace { epsilon }],
            Mechanism::RandomisedResponse { epsilon, levels } => {
                vec![Step::Response { epsilon, levels, infinite: 0.0 }]
            }
            Mechanism::Guaranteed { epsilon, delta } => {
                vec![Step::Response { epsilon, levels: 2, infinite: delta }]
            }
        }
    }
}

impl From<Run> for Part {
    fn from(run: Run) -> Self {
        Self { mechanism: Mechanism::Sampled(run), count: run.steps() }
    }
}

impl fmt::Display for Part {
    /// Writes the mechanism and its numbers, without the count.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mechanism {
            Mechanism::Sampled(run) => write!(
                formatter,
                "DP-SGD step: {}, sampling rate {}, noise multiplier {}",
                run.sampling(),
                run.sampling_rate(),
                run.noise_multiplier()
            ),
            Mechanism::Gaussian { noise_multiplier } => {
                write!(formatter, "Gaussian noise: noise multiplier {noise_multiplier}")
            }
            Mechanism::Laplace { epsilon } => write!(formatter, "Laplace noise: epsilon {epsilon}"),
            Mechanism::RandomisedResponse { epsilon, levels } => {
                write!(formatter, "randomised response: epsilon {epsilon}, {levels} levels")
            }
            Mechanism::Guaranteed { epsilon, delta } => {
                write!(formatter, "any ({epsilon}, {delta:e})-differentially private mechanism")
            }
        }
    }
}

/// The pairs of each part in one of the directions in which neighbours differ, with the part's count. A part
/// with a single pair has this pair in every direction.
pub(crate) fn steps<P: Copy + Into<Part>>(
    parts: &[P],
    neighbours: Neighbours,
    direction: usize,
) -> Vec<(Step, u64)> {
    let pair = |part: Part| {
        let pairs = part.pairs(neighbours);
        (pairs[direction.min(pairs.len() - 1)], part.count)
    };
    parts.iter().map(|&part| pair(part.into())).collect()
}

/// The number of directions in which neighbours may differ: two if the pair of a part depends on the
/// direction.
pub(crate) fn directions<P: Copy + Into<Part>>(parts: &[P], neighbours: Neighbours) -> usize {
    parts.iter().map(|&part| part.into().pairs(neighbours).len()).max().unwrap_or(0)
}
