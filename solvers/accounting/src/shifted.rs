//! Privacy profiles of bounded integer noise, whose distribution is a finite table of weights.

use crate::Result;
use crate::error::{check, check_delta, check_epsilon};

/// Noise with a log-concave distribution P(k) ∝ wₖ on {0, …, K − 1}, added to one of two integers at most
/// `shift` apart.
///
/// Bounded noise has no finite ε at δ = 0: some outputs are possible for only one of the two integers. For
/// integers Δ apart, δ(ε) is Σ max(P(k) − e^ε·P(k − Δ), 0), maximised over both orders of the integers. For a
/// log-concave P, it is largest at Δ = `shift`, for the following reason. P(k)/P(k − Δ) falls with k. With F
/// the cumulative sums of P, the sum over k is therefore F(t) − e^ε·F(t − Δ) at the best threshold t. This
/// difference grows with Δ.
///
/// ```
/// use scumble_accounting::Shifted;
///
/// // Uniform on ten integers: two that are one step apart differ in one place of ten, whatever ε.
/// let distribution = Shifted::new(vec![1; 10], 1)?;
/// assert!((distribution.delta(0.0)? - 0.1).abs() < 1e-15 && (distribution.delta(8.0)? - 0.1).abs() < 1e-15);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shifted {
    /// The table of weights and its reverse, for the two orders of the integers.
    tables: [Table; 2],
    shift: usize,
}

#[derive(Debug, Clone)]
struct Table {
    weights: Vec<u64>,
    /// The cumulative sums 0, w₀, w₀ + w₁, …, Σw of the weights w.
    sums: Vec<u128>,
}

impl Table {
    fn from_weights(weights: Vec<u64>) -> Self {
        let mut sums = vec![0];
        let mut sum = 0u128;
        for &weight in &weights {
            sum += u128::from(weight);
            sums.push(sum);
        }
        Self { weights, sums }
    }

    /// Σ max(P(k) − `odds`·P(k − `shift`), 0) over all k, for the probabilities P(k) that are proportional to
    /// the weights.
    fn excess(&self, shift: usize, odds: f64) -> f64 {
        let count = self.weights.len();
        let exceeds = |k: usize| self.weights[k] as f64 > odds * self.weights[k - shift] as f64;
        // The search is for the first k with P(k) ≤ `odds`·P(k − `shift`). For k below `shift`, nothing is
        // subtracted.
        let (mut threshold, mut beyond) = (shift.min(count), count);
        while threshold < beyond {
            let middle = threshold.midpoint(beyond);
            if exceeds(middle) {
                threshold = middle + 1;
            } else {
                beyond = middle;
            }
        }
        let (taken, total) = (self.sums[threshold] as f64, self.sums[count] as f64);
        match self.sums[threshold.saturating_sub(shift)] {
            0 => taken / total, // for any odds, also infinite ones
            taken_off => ((taken - odds * taken_off as f64) / total).max(0.0),
        }
    }

    /// The probability of the outputs that only one of the two integers can produce.
    fn certain(&self, shift: usize) -> f64 {
        let count = self.weights.len();
        self.sums[shift.min(count)] as f64 / self.sums[count] as f64
    }
}

impl Shifted {
    /// Creates noise with the table `weights` (K values), added to integers at most `shift` apart.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) if `weights` is empty, if a weight is zero, or if wₖ²
    /// < wₖ₋₁wₖ₊₁ for some k.
    pub fn new(weights: Vec<u64>, shift: usize) -> Result<Self> {
        check("the number of weights", weights.len() as f64, "one or more", !weights.is_empty())?;
        let zero = weights.iter().position(|weight| *weight == 0);
        check("a weight", 0.0, "above zero", zero.is_none())?;
        let [before, at, after] = [0, 1, 2].map(|from| weights.iter().skip(from).map(|w| u128::from(*w)));
        let bulge = before.zip(at).zip(after).position(|((a, b), c)| b * b < a * c);
        let place = bulge.map_or(0, |at| at + 1) as f64;
        check("the place of a weight", place, "one where the table is log-concave", bulge.is_none())?;
        let reversed = weights.iter().rev().copied().collect();
        Ok(Self { tables: [Table::from_weights(weights), Table::from_weights(reversed)], shift })
    }

    /// The privacy profile δ(ε) at ε = `epsilon`, for integers at most `shift` apart.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε ≥ 0 is finite.
    pub fn delta(&self, epsilon: f64) -> Result<f64> {
        check_epsilon(epsilon)?;
        Ok(self.at(epsilon))
    }

    /// The probability of an output that only one of the two integers can produce: the limit of δ(ε) for
    /// large ε.
    pub fn certain(&self) -> f64 {
        self.tables.iter().map(|table| table.certain(self.shift)).fold(0.0, f64::max)
    }

    /// δ(ε) at any ε, also negative.
    fn at(&self, epsilon: f64) -> f64 {
        let excess = |table: &Table| table.excess(self.shift, epsilon.exp());
        self.tables.iter().map(excess).fold(0.0, f64::max)
    }
}

/// An upper bound on δ(ε) of several integers with independent noise, each with its own [`Shifted`]
/// distribution.
///
/// The profile of each distribution is [`Shifted::delta`]. Between the points of a grid, it is interpolated
/// linearly in e^ε. The interpolation is an upper bound, because the profile is convex in e^ε. The privacy
/// loss distributions that have the interpolated profiles are convolved (Doroshenko, Ghazi, Kamath, Kumar and
/// Manurangsi 2022). A loss below the grid counts as the lowest grid point, and a loss above the grid as
/// infinite.
///
/// ```
/// use scumble_accounting::{Shifted, ShiftedComposition};
///
/// let distribution = Shifted::new((0..101).map(|k: i64| 1_000_000 - (k - 50).pow(2) as u64).collect(), 1)?;
/// let both = ShiftedComposition::new([(&distribution, 2)], 1.0)?;
/// assert!(both.delta(0.1)? < 2.0 * distribution.delta(0.05)?);
/// assert!(both.delta(0.1)? > distribution.delta(0.1)?);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ShiftedComposition {
    /// h: the distance between neighbouring losses of the grid.
    step: f64,
    /// The probability of each loss −N·h, …, N·h, for N = `REACH` and h = `step`.
    mass: Vec<f64>,
    infinite: f64,
}

/// N: the number of grid points on either side of zero.
const REACH: usize = 1000;
/// A bound on the rounding error of float sums.
const ROUNDING: f64 = 1e-12;

impl ShiftedComposition {
    /// Composes each distribution as many times as its count, on a grid of losses from −`widest` to `widest`.
    ///
    /// A smaller `widest` is more accurate, as long as most losses lie on the grid.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless `widest` is above zero and at most 10⁵.
    pub fn new<'l>(
        distributions: impl IntoIterator<Item = (&'l Shifted, usize)>,
        widest: f64,
    ) -> Result<Self> {
        check("the widest loss", widest, "above zero and at most 10^5", widest > 0.0 && widest <= 1e5)?;
        let step = widest / REACH as f64;
        let mut nothing = Self { step, mass: vec![0.0; 2 * REACH + 1], infinite: 0.0 };
        nothing.mass[REACH] = 1.0;
        let parts = distributions
            .into_iter()
            .map(|(distribution, count)| nothing.alike(distribution).times(count, &nothing));
        Ok(parts.fold(nothing.clone(), |whole, part| whole.with(&part)))
    }

    /// The losses −N·h, …, N·h, for N = `REACH` and h = `step`.
    fn losses(&self) -> impl Iterator<Item = f64> {
        let step = self.step;
        (0..=2 * REACH).map(move |at| (at as f64 - REACH as f64) * step)
    }

    /// The masses of the privacy loss of `distribution`, on the grid of `self`.
    fn alike(&self, distribution: &Shifted) -> Self {
        let deltas: Vec<f64> = self.losses().map(|loss| distribution.at(loss)).collect();
        // Let P and Q be two distributions with the interpolated profile. As a function of x = e^ε, δ is
        // linear between grid points. At each grid point, the slope of δ rises by the probability of this
        // loss under Q. The probability under P is x times the probability under Q.
        let (ahead, behind) = (self.step.exp_m1(), -(-self.step).exp_m1());
        let last = deltas.len() - 1;
        let mass = (0..=last).map(|at| {
            let after = if at < last { (deltas[at + 1] - deltas[at]) / ahead } else { 0.0 };
            let before = if at > 0 { (deltas[at] - deltas[at - 1]) / behind } else { deltas[0] - 1.0 };
            (after - before).max(0.0)
        });
        Self { step: self.step, mass: mass.collect(), infinite: deltas[last] }
    }

    fn times(&self, count: usize, nothing: &Self) -> Self {
        let (mut whole, mut power, mut left) = (nothing.clone(), self.clone(), count);
        while left > 0 {
            if left % 2 == 1 {
                whole = whole.with(&power);
            }
            left /= 2;
            if left > 0 {
                power = power.with(&power);
            }
        }
        whole
    }

    fn with(&self, other: &Self) -> Self {
        let count = self.mass.len();
        let mut mass = vec![0.0; count];
        let mut beyond = 0.0;
        for (i, p) in self.mass.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            // Loss i is added to each loss of `other`. Sums below the first loss count as the first loss.
            let (from, skipped) = (i.saturating_sub(REACH), REACH.saturating_sub(i));
            let (below, rest) = other.mass.split_at(skipped);
            let (within, above) = rest.split_at((count - from).min(rest.len()));
            mass[0] += p * below.iter().sum::<f64>();
            beyond += p * above.iter().sum::<f64>();
            mass[from..].iter_mut().zip(within).for_each(|(sum, q)| *sum += p * q);
        }
        let either = self.infinite + other.infinite - self.infinite * other.infinite;
        Self { step: self.step, mass, infinite: (either + beyond).min(1.0) }
    }

    /// The largest loss on the grid. The bound on δ(ε) is constant for larger ε.
    pub fn widest(&self) -> f64 {
        self.step * REACH as f64
    }

    /// An upper bound on δ(ε) at ε = `epsilon`, for all the integers together.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε ≥ 0 is finite.
    pub fn delta(&self, epsilon: f64) -> Result<f64> {
        check_epsilon(epsilon)?;
        Ok(self.at(epsilon))
    }

    fn at(&self, epsilon: f64) -> f64 {
        let excess = self
            .losses()
            .zip(&self.mass)
            .filter(|(loss, _)| *loss > epsilon)
            .map(|(loss, p)| -(epsilon - loss).exp_m1() * p);
        (excess.sum::<f64>() * (1.0 + ROUNDING) + self.infinite + ROUNDING).min(1.0)
    }

    /// An ε with δ(ε) ≤ `delta`, nearly the least. It is infinite if none exists up to
    /// [`widest`](Self::widest).
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) unless 0 < δ < 1.
    pub fn epsilon(&self, delta: f64) -> Result<f64> {
        check_delta(delta)?;
        let (mut short, mut enough) = (0.0, self.widest());
        if self.at(enough) > delta {
            return Ok(f64::INFINITY);
        }
        for _ in 0..60 {
            let middle = f64::midpoint(short, enough);
            if self.at(middle) <= delta {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Ok(enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;

    /// Σ max(P − e^ε·Q, 0) by its definition.
    fn by_definition(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
        p.iter().zip(q).map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
    }

    /// P and P shifted by `shift` steps, on a common support.
    fn pair(weights: &[u64], shift: usize) -> [Vec<f64>; 2] {
        let total: f64 = weights.iter().map(|w| *w as f64).sum();
        let own: Vec<f64> = weights.iter().map(|w| *w as f64 / total).collect();
        [[own.clone(), vec![0.0; shift]].concat(), [vec![0.0; shift], own].concat()]
    }

    /// A truncated Gaussian, and a squared cosine: as integers.
    fn tables() -> Vec<Vec<u64>> {
        let tabulate = |density: fn(f64) -> f64| {
            (1..200).map(|k| (density(f64::from(k) / 100.0 - 1.0) * 2f64.powi(40)).round() as u64).collect()
        };
        vec![
            tabulate(|x| (-8.0 * x * x).exp()),
            tabulate(|x| (std::f64::consts::FRAC_PI_2 * x).cos().powi(2)),
            tabulate(|x| (-3.0 * x - 2.0 * x * x).exp() / 32.0), // not symmetric
        ]
    }

    #[test]
    fn the_profile_is_that_of_the_definition_at_every_distance_up_to_the_shift() {
        for weights in tables() {
            let distribution = Shifted::new(weights.clone(), 40).unwrap();
            for epsilon in [0.0, 0.3, 1.0, 3.0] {
                let claimed = distribution.delta(epsilon).unwrap();
                let mut largest = 0.0_f64;
                for shift in 0..=40 {
                    let [p, q] = pair(&weights, shift);
                    let both = by_definition(&p, &q, epsilon).max(by_definition(&q, &p, epsilon));
                    assert!(both <= claimed + 1e-12, "shift {shift}, ε = {epsilon}: {both} and {claimed}");
                    largest = largest.max(both);
                }
                assert_abs_diff_eq!(largest, claimed, epsilon = 1e-12);
            }
        }
        assert_eq!(Shifted::new(vec![1, 2, 1], 3).unwrap().delta(9.0).unwrap(), 1.0);
    }

    /// Beyond ε = 709, e^ε overflows. δ must stay at the certain mass.
    #[test]
    fn certain_disclosure_holds_at_every_epsilon() {
        let uniform = Shifted::new(vec![1; 10], 1).unwrap();
        let disjoint = Shifted::new(vec![1; 10], 10).unwrap();
        for epsilon in [0.0, 700.0, 709.5, 710.0, 1e3, 1e300] {
            assert!((uniform.delta(epsilon).unwrap() - 0.1).abs() < 1e-15, "{epsilon}");
            assert_eq!(disjoint.delta(epsilon).unwrap(), 1.0);
        }
        assert_abs_diff_eq!(uniform.certain(), 0.1, epsilon = 1e-15);
        assert_eq!(disjoint.certain(), 1.0);
        for widest in [1.0, 700.0, 720.0, 5e3, 1e5] {
            let one = ShiftedComposition::new([(&uniform, 1)], widest).unwrap();
            let (at_zero, at_widest) = (one.delta(0.0).unwrap(), one.delta(one.widest()).unwrap());
            assert!(
                (0.1..0.2).contains(&at_widest) && at_zero >= at_widest,
                "{widest}: {at_zero} and {at_widest}"
            );
            assert_eq!(one.epsilon(0.05).unwrap(), f64::INFINITY);
            assert_eq!(
                ShiftedComposition::new([(&disjoint, 1)], widest).unwrap().delta(widest).unwrap(),
                1.0
            );
        }
    }

    /// The bound for two composed tables, compared with the definition of δ in all four orders.
    #[test]
    fn together_they_have_no_more_than_the_bound_and_nearly_as_much() {
        let tables = tables();
        for (one, two) in [(0, 0), (0, 1), (1, 2), (2, 2)] {
            let (first, second) = (&tables[one], &tables[two]);
            let distributions =
                [Shifted::new(first.clone(), 7).unwrap(), Shifted::new(second.clone(), 12).unwrap()];
            let both =
                ShiftedComposition::new([(&distributions[0], 1), (&distributions[1], 1)], 8.0).unwrap();
            for epsilon in [0.0, 0.5, 1.0, 2.0] {
                let mut largest = 0.0_f64;
                for order in 0..4 {
                    let ([mut p, mut q], [mut r, mut s]) = (pair(first, 7), pair(second, 12));
                    if order % 2 == 1 {
                        std::mem::swap(&mut p, &mut q);
                    }
                    if order / 2 == 1 {
                        std::mem::swap(&mut r, &mut s);
                    }
                    let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
                        a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect()
                    };
                    largest = largest.max(by_definition(&product(&p, &r), &product(&q, &s), epsilon));
                }
                let bound = both.delta(epsilon).unwrap();
                assert!(largest <= bound, "({one}, {two}), ε = {epsilon}: {largest} beyond {bound}");
                // The larger one of both orders' profiles belongs to no single distribution. The bound is not
                // tight for an asymmetric table.
                let most = if (one, two) == (0, 0) || (one, two) == (0, 1) { 1.01 } else { 1.2 };
                assert!(
                    bound < most * largest + 1e-9,
                    "({one}, {two}), ε = {epsilon}: {bound} for {largest}"
                );
            }
        }
    }

    #[test]
    fn many_are_fewer_composed_in_any_grouping() {
        let distribution = Shifted::new(tables()[0].clone(), 2).unwrap();
        let five = ShiftedComposition::new([(&distribution, 5)], 5.0).unwrap();
        let grouped = ShiftedComposition::new([(&distribution, 2), (&distribution, 3)], 5.0).unwrap();
        for epsilon in [0.0, 0.4, 1.5] {
            let (one, other) = (five.delta(epsilon).unwrap(), grouped.delta(epsilon).unwrap());
            assert_abs_diff_eq!(one, other, epsilon = 1e-9);
        }
        let epsilon = five.epsilon(1e-4).unwrap();
        assert!(five.delta(epsilon).unwrap() <= 1e-4 && five.delta(epsilon - 1e-3).unwrap() > 1e-4);
        assert_eq!(five.epsilon(1e-30).unwrap(), f64::INFINITY);
        let nothing = ShiftedComposition::new([], 1.0).unwrap();
        assert!(nothing.delta(0.0).unwrap() < 1e-11 && nothing.epsilon(1e-6).unwrap() < 1e-9);
    }

    #[test]
    fn tables_that_are_none_are_refused() {
        for weights in [vec![], vec![1, 0, 1], vec![2, 1, 2], vec![1, 3, 10]] {
            assert!(Shifted::new(weights.clone(), 1).is_err(), "{weights:?}");
        }
        assert!(Shifted::new(vec![1], 1).unwrap().delta(-1.0).is_err());
        assert!(ShiftedComposition::new([], 1.0).unwrap().epsilon(0.0).is_err());
        assert!(ShiftedComposition::new([], 0.0).is_err() && ShiftedComposition::new([], f64::NAN).is_err());
    }

    proptest! {
        /// A bound on δ falls with ε, and lies in [0, 1].
        #[test]
        fn profiles_fall(
            at in 0usize..3,
            shift in 0usize..300,
            count in 0usize..9,
            epsilon in 0.0..40.0_f64,
        ) {
            let distribution = Shifted::new(tables()[at].clone(), shift).unwrap();
            let whole = ShiftedComposition::new([(&distribution, count)], 45.0).unwrap();
            let (earlier, later) = (whole.delta(epsilon).unwrap(), whole.delta(epsilon + 0.7).unwrap());
            prop_assert!((0.0..=1.0).contains(&earlier) && later <= earlier + 1e-15);
        }
    }
}
