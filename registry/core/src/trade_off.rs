//! Trade-off functions that claims imply: the least rate of false negatives of a membership test, at each
//! rate of false positives.

use crate::{Claim, Notion, PrivacyProfile};
use scumble_accounting::trade_off::{of_point, of_points, of_profile};

impl Claim {
    /// Lower bound on the rate of false negatives of any test with the rate `alpha` of false positives. The
    /// test sees a release, and guesses which of two neighbours it is of: two values of the protected unit,
    /// or data sets with and without a record. `None` for a notion without ε.
    ///
    /// A claim with a privacy profile has the bound of the whole profile
    /// ([`trade_off`](scumble_accounting::trade_off)). A claim through a shuffler has that of its point (ε,
    /// δ), or of the local ε where this is higher.
    ///
    /// ```
    /// use scumble_core::{Claim, LocalDp, Notion, Unit};
    ///
    /// let notion = Notion::LocalDp(LocalDp::pure(1.0));
    /// let claim = Claim { notion, protects: Unit::Record, theorem: "a theorem".into() };
    /// assert!((claim.trade_off(0.0).unwrap() - 1.0).abs() < 1e-12);
    /// // With as many errors of both kinds, a test is wrong in 26.9 % of cases.
    /// assert!((claim.trade_off(0.26894142).unwrap() - 0.26894142).abs() < 1e-7);
    /// ```
    pub fn trade_off(&self, alpha: f64) -> Option<f64> {
        let along = |profile: Option<PrivacyProfile>, (epsilon, delta)| {
            let point = of_point(epsilon, delta, alpha);
            match profile.filter(|profile| profile.mu() > 0.0) {
                Some(profile) => of_profile(|epsilon| profile.delta(epsilon), alpha).max(point),
                None => point,
            }
        };
        match &self.notion {
            Notion::LocalDp(dp) => Some(along(dp.profile, (dp.epsilon, dp.delta))),
            Notion::CentralDp(dp) => Some(along(dp.profile, (dp.epsilon, dp.delta))),
            Notion::ShuffledDp(dp) => {
                Some(of_points(&[(dp.epsilon, dp.delta), (dp.epsilon_local, 0.0)], alpha))
            }
            _ => None,
        }
    }
}
