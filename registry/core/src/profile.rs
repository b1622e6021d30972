//! Privacy profiles δ(ε) of releases.

use crate::{budget, number};
use scumble_accounting::gaussian;
use serde::{Deserialize, Serialize};

/// Privacy profile: δ as a function of ε. It is e^`log_factor`·δ_μ(ε − `shift`). Here δ_μ is the profile of
/// Gaussian noise whose ℓ₂ sensitivity is μ standard deviations (Balle and Wang 2018, Theorem 8).
///
/// `mu` is the μ that continuous noise of the same scale would have. `shift` and `log_factor` add the cost of
/// discrete noise on a lattice. `shift` also adds the ε of composed releases with pure differential privacy.
/// With μ = 0 the profile is that of pure differential privacy at ε = `shift`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivacyProfile {
    mu: f64,
    #[serde(with = "number")]
    shift: f64,
    log_factor: f64,
}

/// Relative margin added to the μ that [`PrivacyProfile::bounded_range`] and [`PrivacyProfile::gaussian_mu`]
/// compute. Also the largest `log_factor` at which [`PrivacyProfile::gaussian_mu`] returns a value.
const NEGLIGIBLE: f64 = 1e-6;

impl PrivacyProfile {
    /// Profile of pure differential privacy: δ is 0 from `epsilon` on.
    pub fn pure(epsilon: f64) -> Self {
        Self { mu: 0.0, shift: epsilon, log_factor: 0.0 }
    }

    /// Profile of a selection whose privacy loss has ε-bounded range: for each pair of neighbours, the loss
    /// lies between t − ε and t for some t. An example is the exponential mechanism, which selects a
    /// candidate of score u with a probability proportional to exp(ε·u/(2Δ)), for scores of sensitivity Δ
    /// (Durfee and Rogers 2019). Pure differential privacy at ε/2 implies Gaussian differential privacy at μ
    /// = 2Φ⁻¹(e^(ε/2)/(1 + e^(ε/2))), where Φ is the standard normal distribution function. The profile is
    /// that of Gaussian differential privacy at this μ.
    ///
    /// Because of the bounded range, the output distribution of each of two neighbours can be simulated from
    /// one toss of a coin. The two coins have probabilities p and q of heads, whose odds have the ratio e^ε
    /// (Dong, Durfee and Rogers 2020). The coins satisfy μ-Gaussian differential privacy if Φ⁻¹(p) − Φ⁻¹(q) ≤
    /// μ, because the trade-off function between two coins is piecewise linear with one kink. As a function
    /// of the logarithm of the odds of p, Φ⁻¹(p) is odd, and concave above zero. At the ratio e^ε of the
    /// odds, Φ⁻¹(p) − Φ⁻¹(q) is therefore largest at p = 1 − q.
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

    /// Profile e^`log_factor`·δ_μ(ε − `shift`), where δ_μ is the profile of Gaussian noise whose ℓ₂
    /// sensitivity is `mu` standard deviations.
    #[must_use]
    pub fn gaussian(mu: f64, shift: f64, log_factor: f64) -> Self {
        Self { mu, shift, log_factor }
    }

    /// μ, the ℓ₂ sensitivity in standard deviations of the noise, without the cost that `shift` and
    /// `log_factor` add.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// Smallest m for which m-Gaussian differential privacy (Dong, Roth and Su 2022) is known to follow from
    /// the profile. It is √(μ² + μₛ²), increased by a relative 10⁻⁶, where μ is [`mu`](Self::mu) and μₛ is
    /// the cost of the `shift` s. Pure differential privacy at s implies Gaussian differential privacy at
    /// μₛ = 2Φ⁻¹(e^s/(1 + e^s)), where Φ is the standard normal distribution function. `None` if the profile
    /// is that of pure differential privacy, or if a coarse lattice makes `log_factor` larger than 10⁻⁶.
    pub fn gaussian_mu(&self) -> Option<f64> {
        if self.is_pure() || self.log_factor > NEGLIGIBLE {
            return None;
        }
        let shift_mu = 2.0 * gaussian::quantile(1.0 / (1.0 + (-self.shift).exp()));
        Some(self.mu.hypot(shift_mu) * (1.0 + NEGLIGIBLE))
    }

    /// δ at this `epsilon`, rounded up.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let beyond = epsilon - self.shift;
        if self.mu == 0.0 {
            return if beyond >= 0.0 { 0.0 } else { -beyond.exp_m1() };
        }
        // The closed form has a relative error below 10⁻¹⁰.
        let delta = gaussian::delta(self.mu, beyond) * self.log_factor.exp() * (1.0 + 1e-9);
        delta.clamp(f64::MIN_POSITIVE, 1.0) // an underflow is not zero
    }

    /// Returns an ε ≥ 0 with δ(ε) ≤ `delta`; infinite if no such ε exists. It is the smallest such ε if the
    /// profile has no shift.
    pub fn epsilon(&self, delta: f64) -> f64 {
        if self.mu == 0.0 {
            return self.shift; // the ε at δ = 0 holds at every δ
        }
        let closed = gaussian::epsilon(self.mu, delta * (-self.log_factor).exp() * (1.0 - 1e-8));
        closed.map_or(f64::INFINITY, |epsilon| budget::sum_up([epsilon, self.shift]))
    }

    /// Composes two profiles. Gaussian mechanisms with μ₁ and μ₂ compose to μ² = μ₁² + μ₂² (Dong, Roth and Su
    /// 2022, Corollary 3.3). This holds even if the second mechanism is chosen after seeing the output of the
    /// first. Shifts and log factors add up. The reason is that the composed profile is δ(ε) = E δ₂(ε − L₁),
    /// where δ₂ is the profile of the second mechanism and L₁ the privacy loss of the first. The bound
    /// e^`log_factor`·δ_μ(ε − `shift`) on a mechanism's profile holds for every ε, also below zero. It can
    /// therefore replace δ₂ and then, with the roles of the mechanisms exchanged, the profile of the first.
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

    /// Returns whether the profile is that of pure differential privacy at one ε.
    pub fn is_pure(&self) -> bool {
        self.mu == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The profile is an upper bound for every pair of neighbours of bounded range, and is attained for the
    /// worst pair.
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
                    let coin_delta = heads * (-(at - t).exp_m1()).max(0.0)
                        + (1.0 - heads) * (-(at - t + epsilon).exp_m1()).max(0.0);
                    assert!(coin_delta <= profile.delta(at), "ε = {epsilon}, t = {t}: {coin_delta} at {at}");
                    largest = largest.max(coin_delta / profile.delta(at));
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
        let with_pure = one.with(&PrivacyProfile::pure(0.25));
        assert_abs_diff_eq!(with_pure.epsilon(1e-6), one.epsilon(1e-6) + 0.25, epsilon = 1e-12);
    }
}
