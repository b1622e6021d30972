//! How networks are trained privately: the parameters, and their checks.

use crate::{Error, Result};
use scumble_neural::Optimiser;
use scumble_sampling::Rational;
use serde::{Deserialize, Serialize};

/// Which noise is added to a sum of gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// Discrete Gaussian noise, by integers, on the sum rounded to a lattice of step σC·2⁻²⁰ at most.
    #[default]
    Exact,
    /// Gaussian noise in floating point, which is no proof: its distribution is not that of real numbers.
    FloatingPoint,
    /// None at all, to see what clipping does by itself. Nothing is private then: ε is infinite.
    None,
}

/// How networks are trained under central differential privacy: by DP-SGD (Abadi and others 2016) or, with Adam, DP-Adam.
///
/// Each step takes each of n records with probability q = `expected_batch` / n, by itself, clips each one's gradient to the norm
/// C = `clipping_norm`, adds noise of standard deviation σC to every number of the sum, with σ = `noise_multiplier`, and divides by `expected_batch`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrivateTraining {
    /// How many records are expected in a step.
    pub expected_batch: usize,
    /// σ: the noise's standard deviation over the clipping norm.
    pub noise_multiplier: f64,
    /// C: the ℓ₂ norm that a record's gradient is clipped to, over all networks together.
    pub clipping_norm: f64,
    /// How a step is made down the noisy gradient.
    pub optimiser: Optimiser,
    /// Which noise is added.
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
    /// # Errors
    /// [`Error::HyperParameter`] for one out of its range: a batch of zero; a noise multiplier outside [0.05, 10⁶], in which the accountant
    /// has its own; a clipping norm outside [10⁻³, 10⁶]. And as [`Optimiser::check`].
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

    /// σC.
    pub(crate) fn noise_deviation(&self) -> f64 {
        self.noise_multiplier * self.clipping_norm
    }

    /// q, of so many records.
    ///
    /// # Errors
    /// [`Error::TooFewRecords`].
    pub(crate) fn sampling_rate(&self, records: usize) -> Result<Rational> {
        if records < self.expected_batch {
            return Err(Error::TooFewRecords { expected_batch: self.expected_batch, records });
        }
        Ok(Rational::new(self.expected_batch as u64, records as u64)?)
    }
}
