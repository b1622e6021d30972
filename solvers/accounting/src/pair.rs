//! Pairs of mixtures of two Gaussian distributions.

use std::f64::consts::FRAC_1_SQRT_2;

/// The pair P = (1 − a)·N(0, σ²) + a·N(1, σ²) and Q = (1 − b)·N(0, σ²) + b·N(−1, σ²), with a = `ahead` and
/// b = `behind`.
///
/// For any γ ≥ 0, the hockey-stick divergence of this pair is the maximum of P(S) − γ·Q(S) over events S. No
/// neighbours give a step a larger hockey-stick divergence. The divergence of several steps together is then
/// at most the divergence of the products of their pairs (Zhu, Dong and Wang 2022, Theorem 10). For
/// add/remove one record (b = 0 or a = 0), the proof is in Mironov, Talwar and Zhang (2019). For replace one
/// record, the vectors u and v of the two records have norms of at most 1, and need not be opposite. Let N_u
/// be the Gaussian distribution around u, for σ = 1. For an event S with N₀(S) = s, by Neyman and Pearson,
/// N_u(S) is at most Φ(Φ⁻¹(s) + 1), and N_v(S) at least Φ(Φ⁻¹(s) − 1). For u = −v, half-spaces reach both
/// bounds at once.
///
/// The loss ln P(x)/Q(x) grows with x. This holds for a = 0 too, because the shifted component of Q is at −1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) ahead: f64,
    pub(crate) behind: f64,
    pub(crate) sigma: f64,
}

impl Pair {
    /// The privacy loss ln P(x)/Q(x) of the pair P, Q at the output x.
    pub(crate) fn loss(&self, x: f64) -> f64 {
        self.log_ratio(self.ahead, x) - self.log_ratio(self.behind, -x)
    }

    /// The supremum of the privacy loss ln P(x)/Q(x) of the pair P, Q over all outputs x. It is infinite if P
    /// has a shifted component. Otherwise it is −ln(1 − b), where b is the weight of the shifted component of
    /// Q.
    pub(crate) fn largest_loss(&self) -> f64 {
        if self.ahead > 0.0 { f64::INFINITY } else { -(-self.behind).ln_1p() }
    }

    /// ln(1 − w + w·exp((2x − 1)/2σ²)) for w = `weight`. With the weight `ahead` it is ln P(x)/N(x; 0, σ²).
    pub(crate) fn log_ratio(&self, weight: f64, x: f64) -> f64 {
        if weight == 0.0 {
            return 0.0;
        }
        let exponent = (x - 0.5) / (self.sigma * self.sigma);
        if weight == 1.0 {
            return exponent;
        }
        if exponent > 30.0 {
            // The same number with e^exponent factored out, so that nothing overflows.
            return exponent + weight.ln() + ((1.0 - weight) / weight * (-exponent).exp()).ln_1p();
        }
        (weight * exponent.exp_m1()).ln_1p()
    }

    /// The x at which the loss is `loss`. It is −∞ if all losses are larger, and ∞ if all losses are smaller.
    ///
    /// Let σ be the standard deviation of the noise, a = `ahead`, b = `behind`, s = e^(−1/2σ²) and c = 1 − a
    /// − e^loss·(1 − b). Then z = e^(x/σ²) is the root of a·s·z² + c·z = e^loss·b·s.
    pub(crate) fn at_loss(&self, loss: f64) -> f64 {
        let variance = self.sigma * self.sigma;
        let (a, b) = (self.ahead, self.behind);
        // For positive losses all terms are divided by e^loss, so that nothing overflows.
        let up = loss.max(0.0);
        let c = (b - a) + if loss > 0.0 { (1.0 - a) * (-loss).exp_m1() } else { -loss.exp_m1() * (1.0 - b) };
        let root = c.hypot(2.0 * (a * b * (loss - 2.0 * up - 1.0 / variance).exp()).sqrt());
        let log_z = if c <= 0.0 {
            if a == 0.0 {
                return f64::INFINITY;
            }
            ((root - c) / 2.0).ln() - a.ln() + 0.5 / variance + up
        } else {
            if b == 0.0 {
                return f64::NEG_INFINITY;
            }
            loss - up + (2.0 * b).ln() - 0.5 / variance - (c + root).ln()
        };
        variance * log_z
    }

    /// The tails of P and Q on both sides of `x`, as a [`Cut`].
    pub(crate) fn cut(&self, x: f64) -> Cut {
        let tail = |center: f64| {
            let z = (x - center) / self.sigma;
            (libm::erfc(z.abs() * FRAC_1_SQRT_2) / 2.0, z > 0.0)
        };
        // A component without weight is never used.
        let none = tail(0.0);
        let weighted_tail = |weight: f64, center: f64| if weight > 0.0 { tail(center) } else { none };
        Cut { none, ahead: weighted_tail(self.ahead, 1.0), behind: weighted_tail(self.behind, -1.0) }
    }

    /// The masses of P and of Q between two cuts.
    pub(crate) fn between(&self, lower: &Cut, upper: &Cut) -> (f64, f64) {
        let none = mass(lower.none, upper.none);
        let mix = |weight: f64, lower, upper| match weight {
            0.0 => none,
            weight => (1.0 - weight) * none + weight * mass(lower, upper),
        };
        (mix(self.ahead, lower.ahead, upper.ahead), mix(self.behind, lower.behind, upper.behind))
    }

    /// An interval with a P-mass of less than e^−`log_tail` beyond either end.
    pub(crate) fn reach(&self, log_tail: f64) -> (f64, f64) {
        let far = (2.0 * log_tail).sqrt() * self.sigma;
        (-far, far + if self.ahead > 0.0 { 1.0 } else { 0.0 })
    }
}

/// The tails of each Gaussian component at a point of the line. Each field has the mass of the smaller tail,
/// and true if it is the upper tail.
pub(crate) struct Cut {
    none: (f64, bool),
    ahead: (f64, bool),
    behind: (f64, bool),
}

/// The mass of one component between two points, without the cancellation of numbers near one.
fn mass(lower: (f64, bool), upper: (f64, bool)) -> f64 {
    match (lower.1, upper.1) {
        (true, _) => lower.0 - upper.0,
        (false, false) => upper.0 - lower.0,
        (false, true) => 1.0 - lower.0 - upper.0,
    }
}
