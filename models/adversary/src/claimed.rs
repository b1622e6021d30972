//! Claims of differential privacy as what samples can contradict: an ε at its δ, points of δ(ε), and a μ.

use crate::betting::{Aim, Bets};
use crate::finding::{Finding, ProfilePoint, Verdict};
use scumble_core::LocalDp;

/// What is claimed of every pair of inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claimed {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    /// Points (ε, δ).
    pub(crate) points: Vec<(f64, f64)>,
    /// The μ of the privacy profile, where there is one.
    pub(crate) mu: Option<f64>,
}

/// What the events on which one thing was bet show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// The lower bound on what was aimed at.
    pub(crate) bound: f64,
    /// What the adversary looked at.
    pub(crate) score: &'static str,
    /// How often the last event happened, of the input where it is the more likely, and of the other.
    pub(crate) shares: [f64; 2],
    /// Whether it is more likely for the second input.
    pub(crate) is_of_other: bool,
}

/// The audited lower bounds of one pair.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    /// One for each aim.
    shown: Vec<Shown>,
    /// Whether there was no answer at all.
    is_mute: bool,
    /// Whether the claim is refuted.
    is_broken: bool,
}

impl Claimed {
    /// Where the claim has a privacy profile, six of its points, from ε = 0 to twice the one that is claimed, and its μ; else that one.
    pub(crate) fn by(dp: &LocalDp) -> Self {
        let epsilon = dp.epsilon;
        let profile = dp.profile.filter(|profile| !profile.is_pure());
        let points = match profile {
            Some(profile) => {
                [0.0, 0.25, 0.5, 1.0, 1.5, 2.0].map(|at| (at * epsilon, profile.delta(at * epsilon))).to_vec()
            }
            // No pair of distributions within e^ε has more (Kairouz, Oh and Viswanath 2015).
            None if dp.delta == 0.0 => {
                let most = |at: f64| (1.0 - (at - epsilon).exp()) / (1.0 + (-epsilon).exp());
                [0.0, 0.5].map(|at| (at * epsilon, most(at * epsilon))).to_vec()
            }
            None => vec![(epsilon, dp.delta)],
        };
        Self { epsilon, delta: dp.delta, points, mu: profile.and_then(|profile| profile.gaussian_mu()) }
    }

    /// That two inputs cannot be told apart at all.
    pub(crate) fn alike() -> Self {
        Self { epsilon: 0.0, delta: 0.0, points: vec![(0.0, 0.0)], mu: None }
    }

    /// What is to be shown.
    pub(crate) fn aims(&self) -> Vec<Aim> {
        let deltas = self.points.iter().map(|(epsilon, _)| Aim::Delta { epsilon: *epsilon });
        let mu = self.mu.map(|_| Aim::Mu);
        [Aim::Epsilon { delta: self.delta }].into_iter().chain(deltas).chain(mu).collect()
    }

    /// What is claimed of each aim.
    fn values(&self) -> Vec<f64> {
        let deltas = self.points.iter().map(|(_, delta)| *delta);
        [self.epsilon].into_iter().chain(deltas).chain(self.mu).collect()
    }

    /// How many bounds an attack on one pair makes.
    pub(crate) fn bounds(&self) -> usize {
        self.values().len()
    }

    /// Whether the bets, one for each aim, refute it; each does so of a claim that holds with probability `alarm` at most.
    pub(crate) fn is_refuted(&self, bets: &[Bets], alarm: f64) -> bool {
        bets.iter().zip(self.values()).any(|(bets, claimed)| bets.refute(claimed, alarm))
    }

    /// The largest share of the claim that the shares of an event come to, less what chance brings of so few: only to rank by.
    pub(crate) fn share(&self, bets: &[Bets]) -> f64 {
        self.share_at(bets, 1.0)
    }

    /// The largest share of the claim that more outputs may be expected to show, with what chance took.
    pub(crate) fn expected(&self, bets: &[Bets]) -> f64 {
        self.share_at(bets, -4.0)
    }

    /// Of shares of an event with so many standard errors taken off.
    fn share_at(&self, bets: &[Bets], errors: f64) -> f64 {
        let of = |(bets, claimed): (&Bets, f64)| {
            let ([p, q], pairs) = bets.shares()?;
            let error = |share: f64| errors * ((share + 1.0 / pairs as f64) / pairs as f64).sqrt();
            let of = |share: f64| share.clamp(0.0, 1.0);
            let value = bets.aim().value(of(p - error(p)), of(q + error(q)));
            (!value.is_nan()).then(|| value / claimed.max(f64::MIN_POSITIVE))
        };
        bets.iter().zip(self.values()).filter_map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The finding about this claim with its verdict, and a sentence for it, from what each pair, in words, showed in `samples` outputs at
    /// most, each bound at `alarm`.
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
            (Verdict::Broken, format!("{spent}. An adversary tells {}", told(pair, shown)))
        } else if reached.iter().all(|(_, reached)| reached.is_mute) {
            return about.unattacked(Verdict::NotAttacked, "all that was asked of it was refused");
        } else if visible < self.epsilon {
            let because = format!("so many samples show no more than ε = {visible:.2}, whatever is released");
            (Verdict::Inconclusive, because)
        } else if self.epsilon > 0.0 && reached.iter().all(|(_, reached)| reached.is_blind()) {
            (Verdict::Inconclusive, "nothing of it shows in so many samples".into())
        } else {
            let shown = most.and_then(|(pair, reached)| Some((pair, reached.shown.first()?)));
            let because = match shown.filter(|(_, shown)| shown.bound > 0.0) {
                None => "points of its privacy profile show, and none is above it".into(),
                Some((pair, shown)) => {
                    format!("within what is claimed, an adversary best tells {}", told(pair, shown))
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

    /// The largest bound that any pair shows for one of the aims.
    fn most(&self, reached: &[(String, Reached)], aim: usize) -> f64 {
        let bounds = reached.iter().filter_map(|(_, reached)| reached.shown.get(aim));
        bounds.map(|shown| shown.bound).fold(0.0, f64::max)
    }

    /// The points with the largest δ that any pair shows.
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

/// What the adversary distinguishes, and how, in words.
fn told(pair: &str, shown: &Shown) -> String {
    let [p, q] = shown.shares;
    let which = if shown.is_of_other { "second" } else { "first" };
    format!(
        "{pair} by {}: what it looks for happens in {:.3} % of releases of the {which} and in {:.3} % of the other",
        shown.score,
        100.0 * p,
        100.0 * q
    )
}

/// More than any bound exceeds a claim by.
const MOST: f64 = 1e3;

/// How near a claim is reached, or by how much it is exceeded.
struct Excess<'r> {
    by: f64,
    shown: &'r Shown,
    what: Aim,
}

impl Reached {
    /// What was shown for each aim, of which there is one at least.
    pub(crate) fn new(shown: Vec<Shown>, is_mute: bool, is_broken: bool) -> Self {
        Self { shown, is_mute, is_broken }
    }

    fn epsilon(&self) -> f64 {
        self.shown.first().map_or(0.0, |shown| shown.bound)
    }

    /// Whether nothing was shown.
    fn is_blind(&self) -> bool {
        self.shown.iter().all(|shown| shown.bound <= 0.0)
    }

    /// Of the aim by which it comes nearest to the claim, or farthest beyond.
    fn excess(&self, claimed: &Claimed) -> Option<Excess<'_>> {
        // What broke the claim comes first.
        let broken = if self.is_broken { MOST } else { 0.0 };
        let of = |((shown, what), claimed)| {
            let shown: &Shown = shown;
            Excess { by: broken + shown.bound - claimed, shown, what }
        };
        let all = self.shown.iter().zip(claimed.aims()).zip(claimed.values()).map(of);
        all.max_by(|one, other| one.by.total_cmp(&other.by))
    }
}
