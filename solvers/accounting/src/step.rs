//! Dominating pairs of the mechanisms that privacy loss distributions compose.

use crate::pair::Pair;

/// A pair of output distributions P and Q of one release, with no smaller hockey-stick divergence than the
/// outputs for any two neighbouring data sets.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Gaussian noise, with or without Poisson sampling.
    Gaussian(Pair),
    /// A step on a fixed-size batch, sampled without replacement, for replace one record. `sigma` is the
    /// standard deviation of the noise for a replaced vector at distance 1.
    ///
    /// Let q be the sampling rate, G₀ = N(0, σ²), G₁ = N(1, σ²) and H_γ(P, Q) = sup P(S) − γ·Q(S) over events
    /// S. For γ ≥ 1, by advanced joint convexity (Balle, Barthe and Gaboardi 2018, Theorem 2), no neighbours
    /// have a divergence above q·H_γ′(G₁, G₀), with γ′ = 1 + (γ − 1)/q. This equals
    /// H_γ((1 − q)·G₀ + q·G₁, G₀). For γ < 1, H_γ(P, Q) = 1 − γ + γ·H_(1/γ)(Q, P) gives the bound
    /// H_γ(G₀, (1 − q)·G₀ + q·G₁). See also Zhu, Dong and Wang (2022).
    ///
    /// The neighbours {u, −u, …, −u} and {−u, …, −u} attain the first bound for γ ≥ 1, and in the other order
    /// the second bound for γ < 1. The pair has both profiles: positive losses have the masses of the first
    /// pair, negative losses the masses of the second, and the loss zero has the remaining mass. It dominates
    /// both orders, which may alternate from step to step. So neither order alone bounds a composition
    /// (Lebeda, Regehr, Kamath and Steinke 2024).
    FixedSize { sampling_rate: f64, sigma: f64 },
    /// Laplace noise of scale 1/ε on a number, for numbers at distance 1. The losses ε and −ε have the
    /// probabilities ½ and e^−ε/2 under P. A loss l between them has the density e^((l − ε)/2)/4.
    Laplace { epsilon: f64 },
    /// Randomised response: the losses ε, 0 (with three levels or more) and −ε. An infinite loss has the
    /// probability `infinite` under P. With two levels, the pair dominates every mechanism that satisfies
    /// (ε, `infinite`)-differential privacy.
    Response { epsilon: f64, levels: u64, infinite: f64 },
}

impl Step {
    /// The pairs of [`Step::FixedSize`] for positive and for negative losses. They are the pairs of a removed
    /// and of an added record under Poisson sampling.
    pub(crate) fn orders(sampling_rate: f64, sigma: f64) -> [Pair; 2] {
        [Pair { ahead: sampling_rate, behind: 0.0, sigma }, Pair { ahead: 0.0, behind: sampling_rate, sigma }]
    }

    /// The supremum of the finite privacy losses.
    pub(crate) fn largest_loss(&self) -> f64 {
        match *self {
            Self::Gaussian(pair) => pair.largest_loss(),
            Self::FixedSize { .. } => f64::INFINITY,
            Self::Laplace { epsilon } | Self::Response { epsilon, .. } => epsilon,
        }
    }

    /// The probability of an infinite loss under P.
    pub(crate) fn infinite(&self) -> f64 {
        if let Self::Response { infinite, .. } = *self { infinite } else { 0.0 }
    }

    /// The ends of an interval of losses. Beyond either end, finite losses have a probability below
    /// e^−`log_tail` under P.
    pub(crate) fn range(&self, log_tail: f64) -> (f64, f64) {
        let range = |pair: Pair| {
            let (from, to) = pair.reach(log_tail);
            (pair.loss(from), pair.loss(to))
        };
        match *self {
            Self::Gaussian(pair) => range(pair),
            Self::FixedSize { sampling_rate, sigma } => {
                let [removed, added] = Self::orders(sampling_rate, sigma);
                (range(added).0, range(removed).1)
            }
            Self::Laplace { epsilon } | Self::Response { epsilon, .. } => (-epsilon, epsilon),
        }
    }

    /// The probability that the record takes part in the step; 1 without sampling.
    pub(crate) fn sampling_rate(&self) -> f64 {
        match *self {
            Self::Gaussian(pair) => pair.ahead.max(pair.behind),
            Self::FixedSize { sampling_rate, .. } => sampling_rate,
            Self::Laplace { .. } | Self::Response { .. } => 1.0,
        }
    }

    /// The largest loss, if the losses of this size have a positive probability.
    pub(crate) fn atom(&self) -> Option<f64> {
        match *self {
            Self::Laplace { epsilon } | Self::Response { epsilon, .. } if epsilon > 0.0 => Some(epsilon),
            _ => None,
        }
    }

    /// The finite losses of a positive probability, with the logarithm of this probability under P.
    pub(crate) fn atoms(&self) -> Vec<(f64, f64)> {
        match *self {
            Self::Laplace { epsilon } => {
                vec![(epsilon, 0.5f64.ln()), (-epsilon, 0.5f64.ln() - epsilon)]
            }
            Self::Response { epsilon, levels, infinite } => {
                // In units of the probability of ε: 1, k − 2 at the loss 0 and 1 at the loss −ε, times e^−ε.
                let top = (-infinite).ln_1p() - ((levels - 1) as f64 * (-epsilon).exp()).ln_1p();
                let middle = ((levels - 2) as f64).ln();
                vec![(epsilon, top), (0.0, top - epsilon + middle), (-epsilon, top - epsilon)]
            }
            Self::Gaussian(_) | Self::FixedSize { .. } => vec![],
        }
    }
}
