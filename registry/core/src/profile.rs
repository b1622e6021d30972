//! The whole profile δ(ε) of a release, where it is known.

use crate::{budget, number};
use scumble_accounting::gaussian;
use serde::{Deserialize, Serialize};

/// δ as a function of ε: e^`log_factor`·δ_μ(ε − `shift`), where δ_μ is that of Gaussian noise whose ℓ₂ sensitivity is μ
/// standard deviations (Balle and Wang 2018, Theorem 8).
///
/// μ is what continuous noise would cost; shift and factor are what a lattice adds to it, or a release of another kind
/// beside it. With μ = 0 the profile is that of pure differential privacy at ε = `shift`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyProfile {
    mu: f64,
    #[serde(with = "number")]
    shift: f64,
    log_factor: f64,
}

/// What a μ may err by, relatively.
const NEGLIGIBLE: f64 = 1e-6;

impl PrivacyProfile {
    /// The profile of pure differential privacy: no δ from ε on.
    pub fn pure(epsilon: f64) -> Self {
        Self { mu: 0.0, shift: epsilon, log_factor: 0.0 }
    }

    /// The profile of a selection of ε-bounded range, such as the exponential mechanism with the weights exp(ε·u/2Δ) of scores u whose sensitivity is Δ
    /// (Durfee and Rogers 2019): it is Gaussian differential privacy at μ = 2Φ⁻¹(e^(ε/2)/(1 + e^(ε/2))), which pure differential privacy has at ε/2.
    ///
    /// For its loss lies between t − ε and t, for some t of each pair of neighbours, and so the pair is made from two coins, which show heads with
    /// probabilities p and q whose odds have the ratio e^ε (Dong, Durfee and Rogers 2020). It is μ-Gaussian where Φ⁻¹(p) − Φ⁻¹(q) ≤ μ, for a coin's trade-off function has
    /// one kink; and Φ⁻¹ of the logistic function is odd, and concave above zero, so that this is largest where p = 1 − q.
    ///
    /// ```
    /// use scumble_core::PrivacyProfile;
    ///
    /// // Twenty selections at ε = 0.1.
    /// let one = PrivacyProfile::bounded_range(0.1);
    /// let all = (1..20).fold(one, |all, _| all.with(&one));
    /// assert!(all.epsilon(1e-6) < 1.28); // by adding up it is 2
    /// ```
    pub fn bounded_range(epsilon: f64) -> Self {
        let mu = 2.0 * gaussian::quantile(1.0 / (1.0 + (-epsilon / 2.0).exp())) * (1.0 + NEGLIGIBLE);
        Self::gaussian(mu, 0.0, 0.0)
    }

    /// The profile of Gaussian noise, shifted and raised.
    #[must_use]
    pub fn gaussian(mu: f64, shift: f64, log_factor: f64) -> Self {
        Self { mu, shift, log_factor }
    }

    /// The μ of the noise alone: what continuous noise would cost.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The least μ of Gaussian differential privacy (Dong, Roth and Su 2022) that is known to follow: that of the noise, and of what is
    /// beside it, for pure differential privacy at s is Gaussian differential privacy at 2Φ⁻¹(e^s/(1 + e^s)). None where it is pure, or
    /// where a lattice is so coarse that its factor counts.
    pub fn gaussian_mu(&self) -> Option<f64> {
        if self.is_pure() || self.log_factor > NEGLIGIBLE {
            return None;
        }
        let of_shift = 2.0 * gaussian::quantile(1.0 / (1.0 + (-self.shift).exp()));
        Some(self.mu.hypot(of_shift) * (1.0 + NEGLIGIBLE))
    }

    /// δ(ε), rounded up.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let beyond = epsilon - self.shift;
        if self.mu == 0.0 {
            return if beyond >= 0.0 { 0.0 } else { -beyond.exp_m1() };
        }
        // The closed form has a relative error below 10⁻¹⁰.
        let delta = gaussian::delta(self.mu, beyond) * self.log_factor.exp() * (1.0 + 1e-9);
        delta.clamp(f64::MIN_POSITIVE, 1.0) // what has left the floats is not nothing
    }

    /// An ε ≥ 0 with δ(ε) ≤ δ, and without a shift the least; infinite where there is none.
    pub fn epsilon(&self, delta: f64) -> f64 {
        if self.mu == 0.0 {
            return self.shift; // the ε of δ = 0 holds for every other
        }
        let closed = gaussian::epsilon(self.mu, delta * (-self.log_factor).exp() * (1.0 - 1e-8));
        closed.map_or(f64::INFINITY, |epsilon| budget::sum_up([epsilon, self.shift]))
    }

    /// The profile of both together: Gaussian mechanisms compose by μ² = μ₁² + μ₂², also where the second is chosen after the
    /// first was seen (Dong, Roth and Su 2022, Corollary 3.3), and what is beside them adds up: with L₁ the first one's loss,
    /// δ(ε) = E δ₂(ε − L₁), and each bound, which holds for every ε, also below zero, is put in for one after the other.
    pub fn with(&self, other: &Self) -> Self {
        let mu = match (self.mu, other.mu) {
            (0.0, mu) | (mu, 0.0) => mu,
            (one, two) => one.hypot(two) * (1.0 + 1e-15),
        };
        Self {
            mu,
            shift: budget::add_up(self.shift, other.shift),
            log_factor: budget::add_up(self.log_factor, other.log_factor),
        }
    }

    /// Whether it says no more than one (ε, 0) does.
    pub fn is_pure(&self) -> bool {
        self.mu == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of every pair of neighbours of bounded range the profile is no less, and of the worst it is met.
    #[test]
    fn a_selection_of_bounded_range_costs_no_more_than_its_profile() {
        for epsilon in [0.01, 0.3, 1.0, 4.0] {
            let profile = PrivacyProfile::bounded_range(epsilon);
            let mut largest = 0.0_f64;
            for step in 1..200 {
                let t = epsilon * f64::from(step) / 200.0;
                let heads = (epsilon.exp() - t.exp()) / epsilon.exp_m1();
                for at in [-0.9, -0.3, 0.0, 0.2, 0.6, 0.9] {
                    let at = at * epsilon;
                    let of_coin = heads * (-(at - t).exp_m1()).max(0.0)
                        + (1.0 - heads) * (-(at - t + epsilon).exp_m1()).max(0.0);
                    assert!(of_coin <= profile.delta(at), "ε = {epsilon}, t = {t}: {of_coin} at {at}");
                    largest = largest.max(of_coin / profile.delta(at));
                }
            }
            assert!(largest > 0.99, "{epsilon}: {largest}");
        }
    }
    use approx::assert_abs_diff_eq;

    #[test]
    fn epsilon_and_delta_are_inverse_and_on_the_safe_side() {
        let profile = PrivacyProfile::gaussian(0.7, 0.01, 1e-3);
        for delta in [1e-3, 1e-6, 1e-12] {
            let epsilon = profile.epsilon(delta);
            assert!(profile.delta(epsilon) <= delta, "{}", profile.delta(epsilon));
            assert!(profile.delta(epsilon * 0.9999) > delta);
        }
        assert_eq!(PrivacyProfile::pure(2.0).delta(2.0), 0.0);
        assert_eq!(PrivacyProfile::pure(2.0).epsilon(0.1), 2.0);
        assert_abs_diff_eq!(PrivacyProfile::pure(2.0).delta(1.0), 1.0 - (-1f64).exp(), epsilon = 1e-15);
    }

    #[test]
    fn together_profiles_cost_less_than_their_sum_and_no_less_than_the_worse() {
        let one = PrivacyProfile::gaussian(0.5, 0.0, 0.0);
        let both = one.with(&one);
        assert!(both.epsilon(2e-6) < 2.0 * one.epsilon(1e-6));
        assert!(both.epsilon(1e-6) > one.epsilon(1e-6));
        let beside = one.with(&PrivacyProfile::pure(0.25));
        assert_abs_diff_eq!(beside.epsilon(1e-6), one.epsilon(1e-6) + 0.25, epsilon = 1e-12);
    }
}
