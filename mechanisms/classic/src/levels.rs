//! Answer of a frequency oracle for one of K levels, released as an unbiased estimate of the one-hot
//! coordinates of the level.

use scumble_core::{Error, Moments, Result, Stream, largest};
use scumble_oracles::Oracle;

/// Randomised answer for an attribute of K levels, at ε. A mechanism samples the attribute, and then releases
/// the answer, with probability 1/`weight`. The factor `weight` keeps the released values unbiased despite
/// the sampling.
///
/// An answer supports some of the K levels: the person's own level with probability p, each other level with
/// probability q. The value released for a level is c + W·((1\[supported\] − q)/(p − q) − c), with c = 1/K
/// and the weight W = `weight`. If the attribute is not sampled, the value released for each level is c. With
/// sampling probability 1/W, the mean over both cases is the level's one-hot coordinate (Wang et al. 2019,
/// Section IV-C).
#[derive(Debug, Clone)]
pub(crate) struct LevelAnswer {
    oracle: Oracle,
    weight: f64,
}

impl LevelAnswer {
    /// Creates the answer at `epsilon`, by the oracle with the smallest variance for `levels` levels.
    ///
    /// # Errors
    /// [`Error::Budget`] if `epsilon` is so small that no level can be estimated from the answers.
    pub(crate) fn new(levels: usize, epsilon: f64, weight: f64) -> Result<Self> {
        let oracle = Oracle::best(levels as u64, epsilon).map_err(|_| Error::Budget {
            name: "epsilon",
            range: "large enough to estimate a level from the answers",
            value: epsilon,
        })?;
        Ok(Self { oracle, weight })
    }

    /// Kind of the frequency oracle.
    pub(crate) fn kind(&self) -> scumble_oracles::Kind {
        self.oracle.kind()
    }

    /// 1/K, the value released for each of the K one-hot coordinates if the attribute is not sampled.
    pub(crate) fn center(&self) -> f64 {
        1.0 / self.oracle.levels() as f64
    }

    /// Value released for a level that the answer supports, or for a level that it does not support.
    fn estimate(&self, supported: bool) -> f64 {
        let (p, q, center) = (self.oracle.p(), self.oracle.q(), self.center());
        center + self.weight * ((f64::from(u8::from(supported)) - q) / (p - q) - center)
    }

    /// Draws the oracle's answer for the level in the one-hot coordinates `group`, and replaces the
    /// coordinates by the values released for this answer. Everything after the oracle's answer is
    /// post-processing.
    pub(crate) fn sample(&self, group: &mut [f64], stream: &mut Stream) {
        let mut answer = vec![0; self.oracle.words()];
        self.oracle.answer(stream, largest(group) as u64, &mut answer);
        let [supported, other] = [true, false].map(|supported| self.estimate(supported));
        for (level, x) in (0..).zip(group) {
            *x = if self.oracle.supports(&answer, level) { supported } else { other };
        }
    }

    /// Sets each coordinate of a group that is not sampled to 1/K, for K levels.
    pub(crate) fn leave_out(&self, group: &mut [f64]) {
        group.fill(self.center());
    }

    /// Logarithm of the probability that the one-hot group `group` is released as `released`, up to a
    /// constant.
    pub(crate) fn log_likelihood(&self, group: &[f64], released: &[f64]) -> f64 {
        // The value of a supported level is above the centre, and that of an unsupported level is below it.
        // All values of a group that was not sampled equal the centre.
        match released.get(largest(group)) {
            Some(&own) if own > self.center() => self.oracle.epsilon(),
            _ => 0.0,
        }
    }

    /// Moments E\[w² | u\] about zero of the value w that is released for a one-hot coordinate u.
    ///
    /// E\[w² | u\] is affine in u, and u = u² on {0, 1}. Let p, q, c and W be as in the documentation of
    /// [`LevelAnswer`], V₁ = p(1 − p)/(p − q)² and V₀ = q(1 − q)/(p − q)². The moment is W·V₀ + c²(W − 1) at
    /// u = 0. At u = 1 it is larger by W(V₁ − V₀) + W(1 − 2c) + 2c.
    pub(crate) fn moments(&self) -> Moments {
        let (p, q, center, weight) = (self.oracle.p(), self.oracle.q(), self.center(), self.weight);
        Moments {
            center: 0.0,
            constant: weight * self.oracle.variance(0.0) + center.powi(2) * (weight - 1.0),
            slope: weight * ((1.0 - p - q) / (p - q) + 1.0 - 2.0 * center) + 2.0 * center,
        }
    }

    /// E‖w − c‖² of the values w released for an answer with weight 1, as a multiple of ‖u − c‖² = 1 − 1/K.
    /// Here u is the one-hot vector of the true level among K levels, and c the vector with all coordinates
    /// 1/K.
    pub(crate) fn relative_second_moment(&self) -> f64 {
        1.0 + self.oracle.total_variance() / (1.0 - self.center())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;
    use scumble_sampling::uniform_below;
    use std::num::NonZeroU64;

    /// Draws 200,000 records each. The tolerance is six standard deviations, so a false alarm over all
    /// coordinates is rarer than 10⁻⁷.
    #[test]
    fn each_coordinate_is_unbiased_and_has_its_published_mean_square() {
        const SEED: u64 = 12;
        let draws = 200_000;
        // Covers randomised response, subset selection and Hadamard response, each answered always and once
        // in three records.
        for (levels, epsilon) in [(2, 1.0), (3, 2.0), (6, 0.7), (40, 1.5)] {
            for weight in [1, 3] {
                let answer = LevelAnswer::new(levels, epsilon, weight as f64).unwrap();
                let Moments { center, constant, slope } = answer.moments();
                let mut stream = Randomness::seeded(SEED).streams().stream(0);
                let (mut sums, mut squares, mut fourths) =
                    (vec![0.0; levels], vec![0.0; levels], vec![0.0; levels]);
                for _ in 0..draws {
                    let mut group = vec![0.0; levels];
                    group[1] = 1.0;
                    match uniform_below(&mut stream, NonZeroU64::new(weight).unwrap()) {
                        0 => answer.sample(&mut group, &mut stream),
                        _ => answer.leave_out(&mut group),
                    }
                    for (level, w) in group.iter().enumerate() {
                        let square = (w - center).powi(2);
                        sums[level] += w;
                        squares[level] += square;
                        fourths[level] += square * square;
                    }
                }
                let n = f64::from(draws);
                for level in 0..levels {
                    let u = f64::from(u8::from(level == 1));
                    let (mean, square, fourth) = (sums[level] / n, squares[level] / n, fourths[level] / n);
                    let error = 6.0 * (square / n).sqrt();
                    assert!(
                        (mean - u).abs() < error,
                        "seed {SEED}, {answer:?}: level {level} has mean {mean} ± {error}"
                    );
                    let expected = constant + slope * (u - center).powi(2);
                    let error = 6.0 * ((fourth - square * square).max(0.0) / n).sqrt() + 1e-9;
                    assert!(
                        (square - expected).abs() < error,
                        "seed {SEED}, {answer:?}: level {level} has mean square {square} ± {error}, not \
                         {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_answer_is_likelier_by_epsilon_for_what_it_supports_and_no_level_is_likelier_where_none_was_asked() {
        let answer = LevelAnswer::new(4, 0.8, 2.5).unwrap();
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let indicator =
            |level: usize| -> Vec<f64> { (0..4).map(|at| f64::from(u8::from(at == level))).collect() };
        let mut released = indicator(2);
        answer.sample(&mut released, &mut stream);
        let mut seen: Vec<f64> =
            (0..4).map(|level| answer.log_likelihood(&indicator(level), &released)).collect();
        seen.sort_by(f64::total_cmp);
        assert_eq!((seen[0], seen[3]), (0.0, 0.8));
        answer.leave_out(&mut released);
        assert!(
            (0..4).all(|level| answer.log_likelihood(&indicator(level), &released) == 0.0),
            "{released:?}"
        );
    }

    #[test]
    fn an_epsilon_at_which_nothing_can_be_estimated_is_refused() {
        assert!(matches!(LevelAnswer::new(3, 1e-18, 1.0), Err(Error::Budget { .. })));
    }
}
