//! Accurate binomial probabilities: single masses by Loader's saddle-point expansion, and tails as sums of
//! masses.
//!
//! The expansion is from *Fast and accurate computation of binomial probabilities* (2000). Relative errors
//! stay below [`ROUNDING`](super::ROUNDING) up to 10¹⁰ trials, where logarithms of factorials have lost eight
//! digits.

use crate::search::least_integer;
use std::f64::consts::TAU;

/// A binomial distribution: the number X of successes in `trials` trials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    trials: u64,
    success: f64,
    failure: f64,
}

impl Count {
    /// Creates a distribution from the probabilities of success and failure, which sum to one. Both are
    /// arguments, because a difference from one would lose digits of the smaller.
    pub(super) fn new(trials: u64, success: f64, failure: f64) -> Self {
        Self { trials, success, failure }
    }

    pub(super) fn trials(&self) -> u64 {
        self.trials
    }

    /// The probabilities of success and of failure.
    pub(super) fn shares(&self) -> (f64, f64) {
        (self.success, self.failure)
    }

    /// The probability P(X = k) of k successes.
    pub(super) fn mass(&self, k: u64) -> f64 {
        let Self { trials, success, failure } = *self;
        let n = trials as f64;
        match trials.checked_sub(k) {
            None => 0.0,
            Some(_) if success == 0.0 || failure == 0.0 => {
                f64::from(u8::from(k == if success == 0.0 { 0 } else { trials }))
            }
            Some(_) if k == 0 => (n * log(failure, success)).exp(),
            Some(0) => (n * log(success, failure)).exp(),
            Some(rest) => {
                let (k, rest) = (k as f64, rest as f64);
                let exponent = stirling(n)
                    - stirling(k)
                    - stirling(rest)
                    - deviance(k, n * success)
                    - deviance(rest, n * failure);
                exponent.exp() * (n / (TAU * k * rest)).sqrt()
            }
        }
    }

    /// P(X = k)/P(X = k − 1), for the number X of successes.
    pub(super) fn ratio(&self, k: u64) -> f64 {
        (self.trials + 1).saturating_sub(k) as f64 / k as f64 * (self.success / self.failure)
    }

    fn mean(&self) -> f64 {
        self.trials as f64 * self.success
    }

    /// An upper bound on P(X ≤ k), for the number X of successes and k below its mean. Below k, the masses
    /// fall at least as fast as between `k + 1` and k (Feller, *An Introduction to Probability Theory and Its
    /// Applications*, VI.3).
    fn at_most(&self, k: u64) -> f64 {
        match self.ratio(k + 1) {
            grows if grows > 1.0 => self.mass(k) / (1.0 - 1.0 / grows),
            _ => 1.0,
        }
    }

    /// An upper bound on P(X ≥ k), for the number X of successes and k above its mean.
    fn at_least(&self, k: u64) -> f64 {
        match self.ratio(k + 1) {
            falls if falls < 1.0 => self.mass(k) / (1.0 - falls),
            _ => 1.0,
        }
    }

    /// A range of numbers of successes, with a probability of at most `lost` on either side of it.
    pub(super) fn window(&self, lost: f64) -> Window {
        let middle = (self.mean() as u64).min(self.trials);
        // Both searches run from the middle outwards.
        let below = least_integer(0, middle, |down| {
            let from = middle - down;
            from == 0 || self.at_most(from - 1) <= lost
        });
        let above = least_integer(0, self.trials - middle, |up| {
            let to = middle + up;
            to == self.trials || self.at_least(to + 1) <= lost
        });
        let from = middle - below.unwrap_or(middle);
        let to = middle + above.unwrap_or(self.trials - middle);
        Window {
            from,
            to,
            below: if from == 0 { 0.0 } else { lost },
            above: if to == self.trials { 0.0 } else { lost },
        }
    }

    /// P(`from` ≤ X ≤ `to`), for the number X of successes.
    pub(super) fn between(&self, from: u64, to: u64) -> f64 {
        let mut mass = self.mass(from);
        let mut sum = mass;
        for k in from + 1..=to {
            mass *= self.ratio(k);
            sum += mass;
        }
        sum
    }
}

/// The numbers of successes from `from` to `to`, and bounds on the probabilities below and above this range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) below: f64,
    pub(super) above: f64,
}

/// ln p, where p + `rest` = 1.
fn log(p: f64, rest: f64) -> f64 {
    if rest < 0.5 { (-rest).ln_1p() } else { p.ln() }
}

/// ln n! minus the logarithm of Stirling's formula √(2πn)·(n/e)ⁿ.
fn stirling(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * TAU.ln();
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / n
}

/// x·ln(x/m) + m − x for a count x with mean m, with all its digits where x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    let (difference, sum) = (x - m, x + m);
    if difference.abs() >= 0.1 * sum {
        return x * (x / m).ln() + m - x;
    }
    // x·ln(x/m) = 2x·(v + v³/3 + v⁵/5 + …) with v = (x − m)/(x + m).
    let v = difference / sum;
    let mut total = difference * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2).map(f64::from) {
        power *= v * v;
        let next = total + power / odd;
        if next == total {
            break;
        }
        total = next;
    }
    total
}

/// The edge of a set {X ≥ k}, for the number X of successes: P(X = k − 1) and P(X ≥ k).
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    count: Count,
    k: u64,
    pub(super) at: f64,
    pub(super) beyond: f64,
    /// The number of moves since the masses were last computed afresh, and the largest P(X ≥ k) since then.
    moved: u32,
    largest: f64,
}

impl Edge {
    /// The limits at which masses are computed afresh, so that rounding errors stay small. `MOVES` is a
    /// number of moves, and `LEFT` a remaining share of the largest P(X ≥ k).
    const MOVES: u32 = 1 << 13;
    const LEFT: f64 = 1e-2;
    /// The smallest mass that has all its digits. Smaller masses have lost digits, and would keep their error
    /// while they grow.
    const LEAST: f64 = 1e-290;

    /// Creates the edge of {X ≥ `k`}, for `k` above zero.
    pub(super) fn new(count: Count, k: u64) -> Self {
        let at = count.mass(k - 1);
        let mut mass = at;
        let mut beyond = 0.0;
        for j in k..=count.trials {
            mass *= count.ratio(j);
            beyond += mass;
            // Once masses fall, they fall ever faster.
            if mass <= f64::EPSILON * 1e-3 * beyond && count.ratio(j) < 1.0 {
                break;
            }
        }
        Self { count, k, at, beyond, moved: 0, largest: beyond }
    }

    /// Moves the edge to {X ≥ `k`} for `trials` trials. A near edge is reached by single steps; any other
    /// edge is computed afresh.
    pub(super) fn moved_to(mut self, trials: u64, k: u64) -> Self {
        let near = trials >= self.count.trials && trials - self.count.trials < 8 && k.abs_diff(self.k) < 8;
        let fresh = || Self::new(Count { trials, ..self.count }, k);
        if !near || self.moved > Self::MOVES || self.at < Self::LEAST || k > trials {
            return fresh();
        }
        while self.count.trials < trials {
            // With one more trial, P(X ≥ k) grows by success·P(X = k − 1).
            self.beyond += self.count.success * self.at;
            let more = (self.count.trials + 1) as f64;
            self.at *= self.count.failure * more / (more - (self.k - 1) as f64);
            self.count.trials += 1;
            self.moved += 1;
        }
        while self.k < k {
            self.at *= self.count.ratio(self.k);
            self.beyond -= self.at;
            self.k += 1;
            self.moved += 1;
        }
        while self.k > k {
            self.beyond += self.at;
            self.k -= 1;
            self.at /= self.count.ratio(self.k);
            self.moved += 1;
        }
        self.largest = self.largest.max(self.beyond);
        if self.beyond < Self::LEFT * self.largest || self.at < Self::LEAST { fresh() } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// An edge that starts where masses have almost no digits, and is moved to where they have all digits.
    #[test]
    fn an_edge_that_begins_at_nothing_is_exact_where_it_is_something() {
        let count = |trials| Count::new(trials, 0.5, 0.5);
        let mut edge = Edge::new(count(5_000), 4_800);
        for step in 1..=4_000 {
            let (trials, k) = (5_000 + step, 4_800);
            edge = edge.moved_to(trials, k);
            if step % 400 == 0 {
                let afresh = Edge::new(count(trials), k);
                assert!(afresh.at < 1e-300 || (edge.at / afresh.at - 1.0).abs() < 1e-9, "{step}: {edge:?}");
            }
        }
        assert!(edge.at > 1e-30, "{edge:?}");
    }

    #[test]
    fn masses_are_those_of_integers() {
        let binomials =
            [1.0, 20.0, 190.0, 1140.0, 4845.0, 15504.0, 38760.0, 77520.0, 125_970.0, 167_960.0, 184_756.0];
        for (success, failure) in [(0.5, 0.5), (0.25, 0.75), (0.9375, 0.0625)] {
            let count = Count::new(20, success, failure);
            for k in 0..=20_u64 {
                let ways = binomials[k.min(20 - k) as usize];
                let exact = ways * success.powi(k as i32) * failure.powi(20 - k as i32);
                assert_relative_eq!(count.mass(k), exact, max_relative = 1e-13);
            }
            assert_relative_eq!(count.between(0, 20), 1.0, max_relative = 1e-13);
            assert_eq!(count.mass(21), 0.0);
        }
    }

    /// Masses of many trials sum to one. An error common to all of them would be visible.
    #[test]
    fn masses_of_many_trials_make_up_one() {
        for (trials, success) in
            [(1_000, 0.3), (1_000_000, 0.01), (10_000_000_000, 0.4), (10_000_000_000, 1e-7)]
        {
            let count = Count::new(trials, success, 1.0 - success);
            let Window { from, to, .. } = count.window(1e-15);
            assert_relative_eq!(count.between(from, to), 1.0, max_relative = 1e-10);
        }
    }

    #[test]
    fn a_set_that_is_moved_is_the_set_made_afresh() {
        let count = |trials| Count::new(trials, 0.5, 0.5);
        let mut edge = Edge::new(count(10_000), 5_100);
        for step in 1..3_000 {
            let (trials, k) = (10_000 + step, 5_100 + step * 6 / 11 - step % 3);
            edge = edge.moved_to(trials, k);
            if step % 100 == 0 {
                let fresh = Edge::new(count(trials), k);
                assert_relative_eq!(edge.at, fresh.at, max_relative = 1e-11);
                assert_relative_eq!(edge.beyond, fresh.beyond, max_relative = 1e-11);
            }
        }
    }

    #[test]
    fn outside_of_a_window_lies_no_more_than_is_lost() {
        for (trials, success, lost) in
            [(50, 0.5, 1e-3), (500, 0.1, 1e-9), (3, 0.5, 1e-3), (2_000, 0.999, 1e-6)]
        {
            let count = Count::new(trials, success, 1.0 - success);
            let window = count.window(lost);
            let mass = |counts: std::ops::Range<u64>| counts.map(|k| count.mass(k)).sum::<f64>();
            let (below, above) = (mass(0..window.from), mass(window.to + 1..trials + 1));
            assert!(below <= window.below && above <= window.above, "{trials}, {success}: {window:?}");
            assert!(window.from == 0 || mass(0..window.from + 1) > lost / 2.0, "{window:?}");
        }
    }
}
