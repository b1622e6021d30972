//! Effort of an audit.

/// Effort of an audit, and its false-alarm probability.
///
/// ```
/// use scumble_adversary::Effort;
///
/// let effort = Effort { seed: 7, ..Effort::quick() };
/// assert!(effort.samples < Effort::full().samples);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Number of releases of each input of a pair. An attack ends earlier if it refutes the claim. Records
    /// with hundreds of values get fewer releases.
    pub samples: usize,
    /// Number of pairs of inputs that are attacked with all samples. Many more are tried with few samples.
    pub pairs: usize,
    /// Values of ε for the design of a plugin's example. Above 2 the relevant tails are too rare to be seen.
    pub epsilons: &'static [f64],
    /// Probability that a claim that holds is called broken, for each claim, over all its pairs and points.
    pub false_alarm: f64,
    /// Random seed: equal seeds give equal audits.
    pub seed: u64,
}

impl Effort {
    /// Quick variant: one or two seconds per plugin.
    ///
    /// It detects noise that is too small by a tenth for a mechanism of one column at ε = 1 that does not
    /// declare its noise. For many columns it detects larger errors only.
    pub fn quick() -> Self {
        Self { samples: 60_000, pairs: 4, epsilons: &[1.0], false_alarm: 1e-6, seed: 1 }
    }

    /// Full variant: one minute for all plugins.
    ///
    /// It detects noise that is too small by 3 % for a mechanism of one column at ε = 1 that does not declare
    /// its noise. For many columns it detects larger errors only.
    pub fn full() -> Self {
        Self { samples: 300_000, pairs: 2, epsilons: &[0.5, 1.0, 2.0], ..Self::quick() }
    }
}

/// δ of the budgets of plugins in an audit, large enough to be visible in samples.
pub(crate) const DELTA: f64 = 0.01;
