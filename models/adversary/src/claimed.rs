//! Claims of differential privacy in a form that samples can contradict: an ε at its δ, points of the privacy
//! profile δ(ε), and μ of Gaussian differential privacy.

use crate::betting::{Aim, Bets};
use crate::finding::{Finding, ProfilePoint, Verdict};
use scumble_core::LocalDp;

/// Claimed bounds for every pair of inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claimed {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    /// Points (ε, δ(ε)) of the claimed privacy profile.
    pub(crate) points: Vec<(f64, f64)>,
    /// μ of Gaussian differential privacy, if the claimed privacy profile implies one.
    pub(crate) mu: Option<f64>,
}

/// Result of the bets on one aim, the quantity to be bounded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// Lower bound on the aim's quantity.
    pub(crate) bound: f64,
    /// Name of the score that the adversary used.
    pub(crate) score: &'static str,
    /// Frequencies of the last event: for the input where it is more likely, and for the other input.
    pub(crate) shares: [f64; 2],
    /// True if the event is more likely for the second input.
    pub(crate) is_of_other: bool,
}

/// Audited lower bounds from one pair of inputs.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    /// One result per aim.
    shown: Vec<Shown>,
    /// True if all outputs were refusals.
    is_mute: bool,
    /// True if the claim is refuted.
    is_broken: bool,
}

impl Claimed {
    /// Takes the bounds of `dp`. A claim with a privacy profile gives six points of the profile, from ε = 0
    /// to twice the claimed ε, and μ of Gaussian differential privacy if the profile implies one. A claim of
    /// pure ε-differential privacy without a profile gives two points (ε′, δ) with ε′ < ε. Their δ is the
    /// largest value that pure ε-differential privacy permits at ε′. Any other claim gives its own (ε, δ).
    pub(crate) fn by(dp: &LocalDp) -> Self {
        let epsilon = dp.epsilon;
        let profile = dp.profile.filter(|profile| !profile.is_pure());
        let points = match profile {
            Some(profile) => {
                [0.0, 0.25, 0.5, 1.0, 1.5, 2.0].map(|at| (at * epsilon, profile.delta(at * epsilon))).to_vec()
            }
            // Largest δ at ε′ of two distributions with likelihood ratios of at most e^ε (Kairouz, Oh and
            // Viswanath 2015).
            None if dp.delta == 0.0 => {
                let most = |at: f64| (1.0 - (at - epsilon).exp()) / (1.0 + (-epsilon).exp());
                [0.0, 0.5].map(|at| (at * epsilon, most(at * epsilon))).to_vec()
            }
            None => vec![(epsilon, dp.delta)],
        };
        Self { epsilon, delta: dp.delta, points, mu: profile.and_then(|profile| profile.gaussian_mu()) }
    }

    /// Claim that two inputs have the same distribution of outputs.
    pub(crate) fn alike() -> Self {
        Self { epsilon: 0.0, delta: 0.0, points: vec![(0.0, 0.0)], mu: None }
    }

    /// Quantities that an attack bounds, one for each claimed number.
    pub(crate) fn aims(&self) -> Vec<Aim> {
        let deltas = self.points.iter().map(|(epsilon, _)| Aim::Delta { epsilon: *epsilon });
        let mu = self.mu.map(|_| Aim::Mu);
        [Aim::Epsilon { delta: self.delta }].into_iter().chain(deltas).chain(mu).collect()
    }

    /// Claimed value of each quantity of [`Self::aims`].
    fn values(&self) -> Vec<f64> {
        let deltas = self.points.iter().map(|(_, delta)| *delta);
        [self.epsilon].into_iter().chain(deltas).chain(self.mu).collect()
    }

    /// Number of lower bounds that an attack on one pair of inputs computes: one for each value of the claim.
    pub(crate) fn bounds(&self) -> usize {
        self.values().len()
    }

    /// Returns true if the bets, one per aim, refute the claim. If the claim holds, the bets on each aim
    /// refute it with probability at most `alarm`.
    pub(crate) fn is_refuted(&self, bets: &[Bets], alarm: f64) -> bool {
        bets.iter().zip(self.values()).any(|(bets, claimed)| bets.refute(claimed, alarm))
    }

    /// Largest ratio over all aims of the observed value to the claimed value. The observed value is lowered
    /// by one standard error. The ratio only ranks attacks.
    pub(crate) fn share(&self, bets: &[Bets]) -> f64 {
        self.share_at(bets, 1.0)
    }

    /// Optimistic estimate of the ratio of observed to claimed value after more outputs, largest over all
    /// aims. The observed value is raised by four standard errors.
    pub(crate) fn expected(&self, bets: &[Bets]) -> f64 {
        self.share_at(bets, -4.0)
    }

    /// Largest ratio of a corrected observed value to the claimed value, over all aims (quantities to be
    /// bounded). P(S) and Q(S) are the frequencies of the latest event S, for the input where it is more
    /// likely and for the other input. `errors` standard errors are subtracted from P(S) and added to Q(S).
    fn share_at(&self, bets: &[Bets], errors: f64) -> f64 {
        let ratio = |(bets, claimed): (&Bets, f64)| {
            let ([p, q], pairs) = bets.shares()?;
            let error = |share: f64| errors * ((share + 1.0 / pairs as f64) / pairs as f64).sqrt();
            let clamped = |share: f64| share.clamp(0.0, 1.0);
            let value = bets.aim().value(clamped(p - error(p)), clamped(q + error(q)));
            (!value.is_nan()).then(|| value / claimed.max(f64::MIN_POSITIVE))
        };
        bets.iter().zip(self.values()).filter_map(ratio).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Completes the finding `about` with the verdict on this claim and a sentence on its reason.
    ///
    /// `reached` has the description and the results of each pair of inputs, after at most `samples` outputs.
    /// Each bound is wrong with probability at most `alarm`.
    pub(crate) fn judge(
        &self,
        about: Finding,
        samples: usize,
        alarm: f64,
        reached: &[(String, Reached)],
    ) -> Finding {
        let worst = reached.iter().filter_map(|(pair, reached)| Some((pair, reached.excess(self)?)));
        let Some((pair, Excess { shown, what, .. })) =
            worst.max_by(|(_, one), (_, other)| one.by.total_cmp(&other.by))
        else {
            return about.unattacked(Verdict::NotAttacked, "there are no two inputs to distinguish");
        };
        let visible = Bets::visible(Aim::Epsilon { delta: self.delta }, samples, alarm);
        let most = reached.iter().max_by(|one, other| one.1.epsilon().total_cmp(&other.1.epsilon()));
        let (verdict, because) = if reached.iter().any(|(_, reached)| reached.is_broken) {
            let spent = match what {
                Aim::Epsilon { .. } => format!("at least ε = {:.4} is spent", shown.bound),
                Aim::Delta { epsilon } => {
                    let claimed = self.points.iter().find(|point| point.0 == epsilon);
                    let claimed = claimed.map_or(self.delta, |point| point.1);
                    format!("δ({epsilon:.4}) is at least {:.3e}, and {claimed:.3e} is claimed", shown.bound)
                }
                Aim::Mu => {
                    let claimed = self.mu.unwrap_or_default();
                    format!("μ is at least {:.4}, and {claimed:.4} is claimed", shown.bound)
                }
            };
            (Verdict::Broken, format!("{spent}. An adversary distinguishes {}", describe(pair, shown)))
        } else if reached.iter().all(|(_, reached)| reached.is_mute) {
            return about.unattacked(Verdict::NotAttacked, "it refused all inputs");
        } else if visible < self.epsilon {
            let because = format!(
                "this number of samples can show at most ε = {visible:.2}, whatever is \
                                   released"
            );
            (Verdict::Inconclusive, because)
        } else if self.epsilon > 0.0 && reached.iter().all(|(_, reached)| reached.is_blind()) {
            (Verdict::Inconclusive, "no difference shows in this number of samples".into())
        } else {
            let shown = most.and_then(|(pair, reached)| Some((pair, reached.shown.first()?)));
            let because = match shown.filter(|(_, shown)| shown.bound > 0.0) {
                None => "the lower bounds at points of its privacy profile do not exceed the claim".into(),
                Some((pair, shown)) => {
                    format!("within the claim; the best attack distinguishes {}", describe(pair, shown))
                }
            };
            (Verdict::Holds, because)
        };
        Finding {
            claimed: Some(self.epsilon),
            lower_bound: most.map(|(_, reached)| reached.epsilon()),
            mu_claimed: self.mu,
            mu_shown: self.mu.map(|_| self.most(reached, 1 + self.points.len())),
            pairs: reached.len(),
            samples,
            verdict,
            profile: self.profile(reached),
            because,
            ..about
        }
    }

    /// Largest bound of any pair of inputs for one aim.
    fn most(&self, reached: &[(String, Reached)], aim: usize) -> f64 {
        let bounds = reached.iter().filter_map(|(_, reached)| reached.shown.get(aim));
        bounds.map(|shown| shown.bound).fold(0.0, f64::max)
    }

    /// Claimed points, each with the largest lower bound on δ from any pair of inputs.
    fn profile(&self, reached: &[(String, Reached)]) -> Vec<ProfilePoint> {
        let points = self.points.iter().zip(1..);
        let point = |(&(epsilon, claimed), aim)| ProfilePoint {
            epsilon,
            claimed,
            lower_bound: self.most(reached, aim),
        };
        points.map(point).collect()
    }
}

/// Text on the inputs that the adversary distinguishes, and on the score that it uses.
fn describe(pair: &str, shown: &Shown) -> String {
    let [p, q] = shown.shares;
    let which = if shown.is_of_other { "second" } else { "first" };
    format!(
        "{pair} by {}: its event occurs in {:.3} % of the releases of the {which} and in {:.3} % of the \
         releases of the other",
        shown.score,
        100.0 * p,
        100.0 * q
    )
}

/// Number added to the excess of results that refute the claim, so that they come before all others. It is
/// larger than the excess of any bound over a claim.
const MOST: f64 = 1e3;

/// Excess of a bound over the claimed value, negative if the bound is below it. [`MOST`] is added if the
/// claim is refuted.
struct Excess<'r> {
    by: f64,
    shown: &'r Shown,
    what: Aim,
}

impl Reached {
    /// Collects the results: `shown` has one for each aim (quantity to be bounded), and at least one.
    pub(crate) fn new(shown: Vec<Shown>, is_mute: bool, is_broken: bool) -> Self {
        Self { shown, is_mute, is_broken }
    }

    fn epsilon(&self) -> f64 {
        self.shown.first().map_or(0.0, |shown| shown.bound)
    }

    /// Returns true if no bound is above zero.
    fn is_blind(&self) -> bool {
        self.shown.iter().all(|shown| shown.bound <= 0.0)
    }

    /// Excess for the aim whose bound exceeds the claim most, or comes nearest to it.
    fn excess(&self, claimed: &Claimed) -> Option<Excess<'_>> {
        // Results that refute the claim come before all others.
        let broken = if self.is_broken { MOST } else { 0.0 };
        let excess = |((shown, what), claimed)| {
            let shown: &Shown = shown;
            Excess { by: broken + shown.bound - claimed, shown, what }
        };
        let all = self.shown.iter().zip(claimed.aims()).zip(claimed.values()).map(excess);
        all.max_by(|one, other| one.by.total_cmp(&other.by))
    }
}
