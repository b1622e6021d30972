//! Measured results of adversaries against a release, and the bounds on these results that the release's
//! guarantee implies.

use super::metric::Subject;
use super::{Error, Metric, Result, split::check_share};
use ndarray::{ArrayView2, Axis};
use scumble_adversary::{Acquaintance, Effort, acquaintance, audit, mixtures_recovered};
use scumble_core::{
    Designed, Guarantee, Key, Neighbours, NoiseDistribution, Notion, Release, Releases, Table, Unit,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Adversary that knows some of the records with their released rows, and reconstructs the others
/// ([`acquaintance`](scumble_adversary::acquaintance)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Adversary {
    /// Share of the records that the adversary knows, in (0, 1).
    pub known_share: f64,
    /// If true, the adversary also trains a neural network. It uses the network for each coordinate of a
    /// record that the network reconstructs better than ridge regression does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
}

impl Default for Adversary {
    fn default() -> Self {
        Self { known_share: 0.5, network: false }
    }
}

/// Text for people.
impl fmt::Display for Adversary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = if self.network { ", with a network" } else { "" };
        write!(formatter, "an adversary that knows {} % of the records{by}", 100.0 * self.known_share)
    }
}

impl Adversary {
    /// Checks `known_share`, the share of the records that the adversary knows.
    ///
    /// # Errors
    /// [`Error::Data`] for a share outside (0, 1).
    pub(super) fn check(&self) -> Result<()> {
        check_share("known_share", self.known_share)
    }

    /// Scores the adversary on the `release` of `records`, whose rows belong to these records one by one.
    ///
    /// # Errors
    /// Same errors as [`acquaintance`], and [`Error::Core`] if the mechanism releases reports (noisy answers,
    /// one per person), and the released table does not have the layout of reports.
    pub(super) fn scores(
        &self,
        records: &Table,
        release: &Release,
        seed: u64,
    ) -> Result<BTreeMap<Metric, f64>> {
        let adversary = Acquaintance { known_share: self.known_share, network: self.network, seed };
        // Reports (noisy answers, one per person) are converted to numbers that the adversary can learn from.
        let adversary_view =
            release.collector().map(|collector| collector.adversary_view(&release.table)).transpose()?;
        let seen = adversary_view.as_ref().unwrap_or(&release.table);
        let learned = acquaintance(records, seen, adversary).map_err(Error::from)?;
        let learned = learned.map_or([f64::NAN; 2], |learned| [learned.recovered, learned.advantage]);
        let [recovered, advantage] = learned;
        Ok(BTreeMap::from([
            (Metric::Recovered, recovered),
            (Metric::Advantage, advantage),
            (Metric::UnbiasedError, unbiased_error(records, release)),
        ]))
    }
}

/// Scores of the adversary of a release of `records` whose rows belong to no single record.
///
/// If rows mix public and private records, this adversary knows the public part of each. Otherwise, nobody
/// knows the released row of a record, and all scores are NaN.
///
/// # Errors
/// Same errors as [`mixtures_recovered`].
pub(super) fn scores_without_rows(
    mechanism: &Designed,
    records: &Table,
    release: &Release,
    seed: u64,
) -> Result<BTreeMap<Metric, f64>> {
    let recovered = mixtures_recovered(mechanism, records, &release.table, seed).map_err(Error::from)?;
    let score = |metric| match metric {
        Metric::Recovered => recovered.unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    Ok(Metric::for_subject(Subject::Acquaintance).map(|metric| (metric, score(metric))).collect())
}

/// Lower bound on the distinguishing advantage between the worst pair of records, from a quick audit.
///
/// The mechanism must claim local differential privacy of whole records; otherwise the result is NaN. The
/// bound exceeds the true advantage with a probability of at most one in a million.
///
/// # Errors
/// Same errors as [`audit`].
pub(super) fn audited(name: &str, mechanism: &Designed, seed: u64) -> Result<f64> {
    if mechanism.guarantee().local_dp(Unit::Record).is_none() {
        return Ok(f64::NAN);
    }
    let findings = audit(name, mechanism, None, Effort { seed, ..Effort::quick() }).map_err(Error::from)?;
    Ok(findings.iter().filter_map(|finding| finding.advantage()).fold(f64::NAN, f64::max))
}

/// Mean squared error of the released features, divided by the variance of the features of `records`. The
/// result is NaN if the release is no unbiased estimate of these features.
fn unbiased_error(records: &Table, release: &Release) -> f64 {
    let (clean, released) = (records.records(), release.table.records());
    let is_of_them = release.table.columns() == records.columns() && released.dim() == clean.dim();
    let is_unbiased = release.noise.features.iter().all(|distribution| {
        !matches!(distribution, NoiseDistribution::Unknown { .. } | NoiseDistribution::Flip { .. })
    });
    // Some local mechanisms do not release records. Even without noise, their decoded output differs from the
    // record.
    let is_record = match &release.key {
        Key::Design(mechanism) => mechanism.releases() == Releases::Records,
        Key::None | Key::Secret(_) | Key::Model(_) => true,
    };
    if !(is_of_them && is_unbiased && is_record) {
        return f64::NAN;
    }
    let squares = (released - clean).mapv_into(|error| error * error).sum();
    squares / records.len() as f64 / variance(clean.view())
}

/// Sum of the variances of all columns of `records` (n records × d columns).
pub(super) fn variance(records: ArrayView2<f64>) -> f64 {
    records.var_axis(Axis(0), 0.0).sum()
}

impl Metric {
    /// Bound that a guarantee for whole records implies for this metric, if any. `variance` is the sum of the
    /// variances of all features.
    ///
    /// The result is an upper bound on reconstruction R² or on an advantage, and a lower bound on the
    /// normalised MSE of an unbiased estimate.
    ///
    /// - Local differential privacy, or central differential privacy if neighbours replace one record. (ε, δ)
    ///   implies an advantage of at most (e^ε − 1 + 2δ)/(e^ε + 1) (Kairouz, Oh and Viswanath 2015). If a
    ///   local claim has a privacy profile δ(ε), the advantage is at most δ(0).
    /// - Pure differential privacy with δ = 0 implies a reconstruction R² of at most 1 − e^−ε. The posterior
    ///   of a record is a mixture that contains its prior with a weight of at least e^−ε. The posterior
    ///   variance is therefore at least e^−ε of the prior variance.
    /// - Perfect secrecy: an advantage and a reconstruction R² of zero.
    /// - Mutual information, if the mechanism uses a random half of the records: the claimed nats bound the
    ///   advantage of inferring whether a record is in this half (data-processing inequality).
    /// - Cramér–Rao: the claimed bound on the squared error of an unbiased estimate, divided by `variance`,
    ///   bounds the normalised MSE. A claim that protects only the features suffices.
    pub fn bound(self, guarantee: &Guarantee, variance: f64) -> Option<f64> {
        let claims = guarantee.claims.iter();
        let bounds = claims.filter_map(|claim| match (&claim.notion, claim.protects.covers(Unit::Record)) {
            (Notion::LocalDp(dp), true) => {
                let total_variation = dp.profile.map_or(1.0, |profile| profile.delta(0.0));
                self.bound_of_dp(dp.epsilon, dp.delta).map(|bound| match self {
                    Self::Advantage | Self::Audited | Self::Membership => bound.min(total_variation),
                    _ => bound,
                })
            }
            (Notion::CentralDp(dp), true) if dp.neighbours == Neighbours::ReplaceOne => {
                self.bound_of_dp(dp.epsilon, dp.delta)
            }
            (Notion::MutualInformation(bound), true) if self == Self::Membership => {
                Some(2.0 * bound.success(bound.prior.membership()) - 1.0)
            }
            (Notion::PerfectSecrecy(_), true) if self.is_of_adversary() && self != Self::UnbiasedError => {
                Some(0.0)
            }
            (Notion::CramerRao(bound), _)
                if self == Self::UnbiasedError && claim.protects.covers(Unit::Features) =>
            {
                Some(bound.error() / variance)
            }
            _ => None,
        });
        match self {
            Self::UnbiasedError => bounds.reduce(f64::max),
            _ => bounds.filter(|bound| *bound < 1.0).reduce(f64::min),
        }
    }

    fn bound_of_dp(self, epsilon: f64, delta: f64) -> Option<f64> {
        match self {
            // With t = tanh(ε/2), (e^ε − 1 + 2δ)/(e^ε + 1) = t + δ(1 − t).
            Self::Advantage | Self::Audited | Self::Membership => {
                let pure = (epsilon / 2.0).tanh();
                Some(pure + delta * (1.0 - pure))
            }
            Self::Recovered if delta == 0.0 => Some(-(-epsilon).exp_m1()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{MutualInformation, Prior};

    /// The claimed mutual information is ln 2 nats minus the entropy, in nats, of a coin with success
    /// probability e/(1 + e). It implies an advantage of at most tanh ½, and ε = 1 implies the same bound.
    #[test]
    fn nats_bound_the_advantage_of_a_guess_of_membership_and_nothing_else() {
        let odds = 1.0_f64.exp();
        let success = odds / (1.0 + odds);
        let nats = 2.0_f64.ln() + success * success.ln() + (1.0 - success) * (1.0 - success).ln();
        let bound = MutualInformation::new(nats, Prior::Halves { sets: 128 });
        let guarantee = Guarantee::for_records([(Notion::MutualInformation(bound), "a test".into())]);
        let found = Metric::Membership.bound(&guarantee, 1.0).unwrap();
        assert!((found - 0.5_f64.tanh()).abs() < 1e-9, "{found}");
        assert_eq!(Metric::Advantage.bound(&guarantee, 1.0), None);
    }
}
