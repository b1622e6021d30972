//! How hard an audit tries.

/// How hard an audit tries, and how seldom it may be wrong.
///
/// ```
/// use scumble_adversary::Effort;
///
/// let effort = Effort { seed: 7, ..Effort::quick() };
/// assert!(effort.samples < Effort::full().samples);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// How often each input of a pair is released, unless it is clear before that the claim does not hold; fewer where records have hundreds
    /// of values.
    pub samples: usize,
    /// How many pairs of inputs are attacked at that length, of the many that are tried at a small one.
    pub pairs: usize,
    /// The ε at which a plugin's example is designed. Above 2 the tails that matter are too rare to be seen.
    pub epsilons: &'static [f64],
    /// The probability with which a claim that holds is called broken, for each claim; all pairs and points of it count.
    pub false_alarm: f64,
    /// The random seed: the same one gives the same audit.
    pub seed: u64,
}

impl Effort {
    /// A second or two a plugin. Of a mechanism that says nothing of its noise, and has one column at ε = 1, it sees noise that is short by a
    /// tenth; of many columns less.
    pub fn quick() -> Self {
        Self { samples: 60_000, pairs: 4, epsilons: &[1.0], false_alarm: 1e-6, seed: 1 }
    }

    /// A minute for all plugins. Of such a mechanism it sees noise that is short by 3 %; of many columns less.
    pub fn full() -> Self {
        Self { samples: 300_000, pairs: 2, epsilons: &[0.5, 1.0, 2.0], ..Self::quick() }
    }
}

/// δ of the budgets at which plugins are designed for an audit: large enough for samples to show it.
pub(crate) const DELTA: f64 = 0.01;
