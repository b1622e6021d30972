//! Effort of an audit.

/// Effort of an audit: numbers of samples and of pairs of inputs, values of ε, false-alarm probability and
/// seed.
///
/// ```
/// use scumble_adversary::Effort;
///
/// let effort = Effort { seed: 7, ..Effort::quick() };
/// assert!(effort.samples < Effort::full().samples);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Largest number of releases of each of the two inputs that an attack distinguishes. An attack ends
    /// earlier if it refutes the claim. Records with hundreds of values get fewer releases.
    pub samples: usize,
    /// Number of pairs of inputs that are attacked with all samples. Many more pairs are tried with few
    /// samples.
    pub pairs: usize,
    /// Values of ε at which the example that a plugin supplies is designed. For ε above 2, the outputs that
    /// distinguish two inputs best are too rare to occur in samples.
    pub epsilons: &'static [f64],
    /// Largest probability that the audit calls a claim broken although it holds, over all pairs of inputs
    /// and all points of the claim.
    pub false_alarm: f64,
    /// Random seed: equal seeds give equal audits.
    pub seed: u64,
}

impl Effort {
    /// Quick variant: one or two seconds per plugin.
    ///
    /// Some mechanisms do not declare the distribution of their noise. For one column at ε = 1, the audit
    /// detects such noise if it is too small by a tenth. For many columns it detects larger errors only.
    pub fn quick() -> Self {
        Self { samples: 60_000, pairs: 4, epsilons: &[1.0], false_alarm: 1e-6, seed: 1 }
    }

    /// Full variant: one minute for all plugins.
    ///
    /// Some mechanisms do not declare the distribution of their noise. For one column at ε = 1, the audit
    /// detects such noise if it is too small by 3 %. For many columns it detects larger errors only.
    pub fn full() -> Self {
        Self { samples: 300_000, pairs: 2, epsilons: &[0.5, 1.0, 2.0], ..Self::quick() }
    }
}

/// δ of the budget at which an audit designs the example of a plugin. Events of this probability are frequent
/// enough to occur in samples.
pub(crate) const DELTA: f64 = 0.01;
