//! Parameters of private training, and their checks.

use crate::{Error, Result};
use scumble_neural::Optimiser;
use scumble_sampling::Rational;
use serde::{Deserialize, Serialize};

/// Kind of noise added to a sum of gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Discrete Gaussian noise on the sum rounded to multiples of a lattice step of σC·2⁻²⁰ at most. Here σ
    /// is the noise multiplier and C the clipping norm of [`PrivateTraining`].
    #[default]
    Exact,
    /// Floating-point Gaussian noise. The guarantee is not proven, because the distribution of floating-point
    /// noise is not exactly Gaussian.
    FloatingPoint,
    /// No noise, to observe only the effect of clipping. There is no privacy: ε is infinite.
    None,
}

/// Parameters of training under central differential privacy: DP-SGD (Abadi and others 2016) or, with Adam,
/// DP-Adam.
///
/// Each step samples each of n records independently with probability q = `expected_batch` / n. It clips each
/// record's gradient to the norm C = `clipping_norm` and sums the clipped gradients. It adds noise of
/// standard deviation σC to every number of the sum, with σ = `noise_multiplier`, and divides by
/// `expected_batch`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivateTraining {
    /// Expected number of records in a step.
    pub expected_batch: usize,
    /// Noise multiplier σ: standard deviation of the noise divided by the clipping norm.
    pub noise_multiplier: f64,
    /// Clipping norm C: upper bound on the ℓ₂ norm of a record's gradient, over all networks together.
    pub clipping_norm: f64,
    /// Optimiser that applies the noisy gradient.
    pub optimiser: Optimiser,
    /// Kind of noise added.
    pub noise: NoiseKind,
}

impl Default for PrivateTraining {
    fn default() -> Self {
        Self {
            expected_batch: 64,
            noise_multiplier: 1.0,
            clipping_norm: 1.0,
            optimiser: Optimiser::default(),
            noise: NoiseKind::Exact,
        }
    }
}

impl PrivateTraining {
    /// Checks that every parameter is in its range.
    ///
    /// # Errors
    /// [`Error::HyperParameter`] for an expected batch outside [1, 10⁹], a noise multiplier outside [0.05,
    /// 10⁶], or a clipping norm outside [10⁻³, 10⁶]. Privacy accounting requires the effective noise
    /// multiplier, too, to be in [0.05, 10⁶]. [`Error::Network`] with the errors of [`Optimiser::check`].
    pub fn check(&self) -> Result<()> {
        let ranges = [
            ("the expected batch", self.expected_batch as f64, 1.0, 1e9, "from one to 10^9"),
            ("the noise multiplier", self.noise_multiplier, 0.05, 1e6, "from 0.05 to 10^6"),
            ("the clipping norm", self.clipping_norm, 1e-3, 1e6, "from 0.001 to 10^6"),
        ];
        for (name, value, least, most, range) in ranges {
            if !(least..=most).contains(&value) {
                return Err(Error::HyperParameter { name, range, value });
            }
        }
        Ok(self.optimiser.check()?)
    }

    /// Standard deviation of the noise, σC.
    pub(crate) fn noise_deviation(&self) -> f64 {
        self.noise_multiplier * self.clipping_norm
    }

    /// Sampling rate q for `records` records.
    ///
    /// # Errors
    /// [`Error::TooFewRecords`] if `records` is less than the expected batch.
    pub(crate) fn sampling_rate(&self, records: usize) -> Result<Rational> {
        if records < self.expected_batch {
            return Err(Error::TooFewRecords { expected_batch: self.expected_batch, records });
        }
        Ok(Rational::new(self.expected_batch as u64, records as u64)?)
    }
}
