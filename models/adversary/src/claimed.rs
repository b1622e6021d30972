//! Claims of differential privacy as what samples can contradict: an ε at its δ, and points of δ(ε).

use crate::event::{Aim, Samples, Shown};
use crate::finding::{Finding, Point, Verdict};
use crate::score::Score;
use scumble_accounting::binomial::{at_least, at_most};
use scumble_registry::LocalDp;

/// What is claimed of every pair of inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claimed {
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    /// Points (ε, δ).
    pub(crate) points: Vec<(f64, f64)>,
}

/// What is shown of one pair.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    /// The largest ε at the claimed δ.
    pub(crate) epsilon: Option<Shown>,
    /// δ at each of the points.
    pub(crate) deltas: Vec<Shown>,
}

impl Claimed {
    /// Where the claim has a curve, six of its points, from ε = 0 to twice the one that is claimed; else that one.
    pub(crate) fn by(dp: &LocalDp) -> Self {
        let epsilon = dp.epsilon;
        let points = match dp.curve {
            Some(curve) if !curve.is_pure() => {
                [0.0, 0.25, 0.5, 1.0, 1.5, 2.0].map(|at| (at * epsilon, curve.delta(at * epsilon))).to_vec()
            }
            // No pair of laws within e^ε has more (Kairouz, Oh and Viswanath 2015).
            _ if dp.delta == 0.0 => {
                let most = |at: f64| (1.0 - (at - epsilon).exp()) / (1.0 + (-epsilon).exp());
                [0.0, 0.5].map(|at| (at * epsilon, most(at * epsilon))).to_vec()
            }
            _ => vec![(epsilon, dp.delta)],
        };
        Self { epsilon, delta: dp.delta, points }
    }

    /// That two inputs cannot be told apart at all.
    pub(crate) fn alike() -> Self {
        Self { epsilon: 0.0, delta: 0.0, points: vec![(0.0, 0.0)] }
    }

    /// How many bounds an attack on one pair makes.
    pub(crate) fn bounds(&self) -> usize {
        1 + self.points.len()
    }

    /// What samples of two inputs show, each bound above the truth with probability `alarm` at most.
    pub(crate) fn attack(&self, samples: &Samples, given: Vec<Score>, train: bool, alarm: f64) -> Reached {
        let mut aims = vec![Aim::Epsilon { delta: self.delta }];
        aims.extend(self.points.iter().map(|(epsilon, _)| Aim::Delta { epsilon: *epsilon }));
        let mut shown = samples.show(given, train, &aims, alarm).into_iter();
        Reached { epsilon: shown.next(), deltas: shown.collect() }
    }

    /// The finding about this claim with its verdict, and a sentence for it, from what each pair, in words, showed in so many
    /// samples, each bound at `alarm`.
    pub(crate) fn judge(
        &self,
        about: Finding,
        samples: usize,
        alarm: f64,
        reached: &[(String, Reached)],
    ) -> Finding {
        let worst = reached.iter().filter_map(|(pair, reached)| Some((pair, reached.excess(self)?)));
        let Some((pair, (excess, shown, point))) = worst.max_by(|one, other| one.1.0.total_cmp(&other.1.0))
        else {
            return about.unattacked(Verdict::NotAttacked, "there are no two inputs to tell apart");
        };
        let most = reached.iter().max_by(|one, other| one.1.epsilon().total_cmp(&other.1.epsilon()));
        let (p, q) = (at_least(samples / 2, samples / 2, alarm / 2.0), at_most(0, samples / 2, alarm / 2.0));
        let visible = ((p - self.delta) / q).ln();
        let (verdict, because) = match (excess > 0.0, point) {
            (true, None) => (
                Verdict::Broken,
                format!("at least ε = {:.4} is spent. An adversary tells {}", shown.bound, told(pair, shown)),
            ),
            (true, Some((epsilon, delta))) => (
                Verdict::Broken,
                format!(
                    "δ({epsilon:.4}) is at least {:.3e}, and {delta:.3e} is claimed. An adversary tells {}",
                    shown.bound,
                    told(pair, shown)
                ),
            ),
            _ if reached.iter().all(|(_, reached)| reached.is_mute()) => {
                return about.unattacked(Verdict::NotAttacked, "all that was asked of it was refused");
            }
            _ if visible < self.epsilon => (
                Verdict::Inconclusive,
                format!("so many samples show no more than ε = {visible:.2}, whatever is released"),
            ),
            _ if self.epsilon > 0.0 && reached.iter().all(|(_, reached)| reached.is_blind()) => {
                (Verdict::Inconclusive, "nothing of it shows in so many samples".into())
            }
            _ => {
                let shown = most.and_then(|(pair, reached)| Some((pair, reached.epsilon.as_ref()?)));
                let shown = shown.filter(|(_, shown)| shown.bound > 0.0);
                let nothing = || "points of its curve show, and none is above it".into();
                let within = |(pair, shown): (&String, &Shown)| {
                    format!("within what is claimed, an adversary best tells {}", told(pair, shown))
                };
                (Verdict::Holds, shown.map_or_else(nothing, within))
            }
        };
        Finding {
            claimed: Some(self.epsilon),
            lower_bound: most.map(|(_, reached)| reached.epsilon()),
            pairs: reached.len(),
            samples,
            verdict,
            curve: self.curve(reached),
            because,
            ..about
        }
    }

    /// The points with the largest δ that any pair shows.
    fn curve(&self, reached: &[(String, Reached)]) -> Vec<Point> {
        let most = |at: usize| {
            let bounds = reached.iter().filter_map(|(_, reached)| reached.deltas.get(at));
            bounds.map(|shown| shown.bound).fold(0.0, f64::max)
        };
        let points = self.points.iter().enumerate();
        points.map(|(at, &(epsilon, claimed))| Point { epsilon, claimed, lower_bound: most(at) }).collect()
    }
}

/// What the adversary tells apart, and how, in words.
fn told(pair: &str, shown: &Shown) -> String {
    let (p, q) = shown.shares;
    let which = if shown.is_of_other { "second" } else { "first" };
    format!(
        "{pair} by {}: what she looks for happens in {:.3} % of releases of the {which} and in {:.3} % of the other",
        shown.score,
        100.0 * p,
        100.0 * q
    )
}

/// By how much, what shows it, and at which point (ε, δ) of the claim, if not at its ε.
type Excess<'r> = (f64, &'r Shown, Option<(f64, f64)>);

impl Reached {
    pub(crate) fn epsilon(&self) -> f64 {
        self.epsilon.as_ref().map_or(0.0, |shown| shown.bound.max(0.0))
    }

    /// Whether there was no answer at all.
    fn is_mute(&self) -> bool {
        self.epsilon.iter().chain(&self.deltas).all(|shown| shown.is_mute)
    }

    /// Whether nothing was shown.
    fn is_blind(&self) -> bool {
        self.epsilon.iter().chain(&self.deltas).all(|shown| shown.bound.is_nan() || shown.bound <= 0.0)
    }

    /// The largest share of the claim that is shown, at its ε or at one of its points.
    pub(crate) fn share(&self, claimed: &Claimed) -> f64 {
        let epsilon = self.epsilon.iter().map(|shown| shown.bound / claimed.epsilon);
        let deltas = self.deltas.iter().zip(&claimed.points);
        let deltas = deltas.map(|(shown, (_, delta))| shown.bound / delta.max(f64::MIN_POSITIVE));
        epsilon.chain(deltas).fold(f64::NEG_INFINITY, f64::max)
    }

    /// By how much a claim is exceeded, or how near it is reached: above zero where it is broken.
    pub(crate) fn excess<'r>(&'r self, claimed: &Claimed) -> Option<Excess<'r>> {
        let epsilon = self.epsilon.iter().map(|shown| (shown.bound - claimed.epsilon, shown, None));
        let deltas = self.deltas.iter().zip(&claimed.points);
        let deltas = deltas.map(|(shown, &(at, delta))| (shown.bound - delta, shown, Some((at, delta))));
        epsilon.chain(deltas).max_by(|one, other| one.0.total_cmp(&other.0))
    }
}
