//! One number answered at random: unbiased, with odds of exactly e^ε between what is likely and what is not.

use scumble_core::Stream;
use scumble_sampling::{Rational, randomized_response, uniform_below};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// How a number is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// With a number near it, or one from the rest of an interval (Wang et al. 2019, Algorithm 2).
    Piecewise,
    /// With one of two numbers (Duchi, Jordan and Wainwright 2018).
    OneBit,
    /// By one of these two, which a coin with a public probability decides (Wang et al. 2019, Section III-C).
    Hybrid,
}

/// The answer to a number u in [−1, 1], at ε.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    kind: Kind,
    epsilon: Rational,
    /// Chunks of the lattice of answers, of which the truth has one; two for one bit.
    chunks: NonZeroU64,
}

/// Lattice points of a chunk of the piecewise answer.
const CHUNK: NonZeroU64 = NonZeroU64::new(1 << 20).unwrap();
/// More chunks than this bring nothing: a chunk is then a ten-millionth of the interval.
const MOST_CHUNKS: f64 = 16_777_216.0;
/// Steps to which a number is rounded before its bit is drawn.
const STEPS: NonZeroU64 = NonZeroU64::new(1 << 50).unwrap();
/// The probability of a hybrid answer's coin is a fraction of so many parts.
const PARTS: NonZeroU64 = NonZeroU64::new(1 << 53).unwrap();

impl Answer {
    /// The answer at ε, with the number of chunks whose largest second moment is least; of a hybrid answer, whose largest variance is.
    pub(crate) fn new(kind: Kind, epsilon: Rational) -> Self {
        let with =
            |chunks: u64| Self { kind, epsilon, chunks: NonZeroU64::new(chunks).unwrap_or(TWO).max(TWO) };
        let (mut low, mut high) = match kind {
            Kind::OneBit => (2, 2),
            // The paper's window, with e^{ε/2} + 1 chunks, is never too wide.
            Kind::Piecewise | Kind::Hybrid => {
                (2, ((epsilon.to_f64() / 2.0).exp() + 1.0).clamp(2.0, MOST_CHUNKS).ceil() as u64)
            }
        };
        // It falls, and then it rises.
        while low < high {
            let middle = low + (high - low) / 2;
            if with(middle).objective() <= with(middle + 1).objective() {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        with(low)
    }

    /// Draws the answer w, with E[w] = u: exactly, but that u is rounded to a lattice of step 2⁻¹⁹ or finer.
    ///
    /// On the integers: the lattice is a ring of chunks, and the truth's chunk begins where u lies. Randomised response
    /// picks a chunk, and all of its points are alike, so any point has at most e^ε times the probability under one u that
    /// it has under another. What follows is post-processing.
    pub(crate) fn sample(&self, u: f64, stream: &mut Stream) -> f64 {
        let share = (u.clamp(-1.0, 1.0) + 1.0) / 2.0;
        match self.kind {
            Kind::OneBit => {
                let step = (share * STEPS.get() as f64).round() as u64;
                let bit = u64::from(uniform_below(stream, STEPS) < step);
                let answer = randomized_response(stream, bit, TWO, self.epsilon);
                (2.0 * answer as f64 - 1.0) / self.gain()
            }
            Kind::Piecewise => {
                let (starts, points) = (self.starts(), self.starts() + CHUNK.get());
                let start = ((share * starts as f64).round() as u64).min(starts);
                let chunk = randomized_response(stream, 0, self.chunks, self.epsilon);
                let place = (start + chunk * CHUNK.get() + uniform_below(stream, CHUNK)) % points;
                let from_center = place as f64 - (points - 1) as f64 / 2.0;
                from_center / (self.gain() * starts as f64 / 2.0)
            }
            Kind::Hybrid => {
                let [piecewise, bit] = self.of_hybrid();
                let is_piecewise = uniform_below(stream, PARTS) < self.parts_of_piecewise();
                (if is_piecewise { piecewise } else { bit }).sample(u, stream)
            }
        }
    }

    /// The two answers of which a hybrid one is a mixture.
    fn of_hybrid(&self) -> [Self; 2] {
        [Self { kind: Kind::Piecewise, ..*self }, Self { kind: Kind::OneBit, chunks: TWO, ..*self }]
    }

    /// α, the probability that a hybrid answer is a piecewise one, in parts of 2⁵³. It is public and the same for every u, so that the
    /// mixture has odds of e^ε as both answers have.
    ///
    /// With α = gain the variance αa + (1 − α)a′ + (αb − 1)u² is the same for all u; for chunks as the paper has them that is its
    /// α = 1 − e^{−ε/2} (Wang et al. 2019, equation 13). It is zero where one bit is better: for small ε, as in the paper at ε ≤ 0.61.
    fn parts_of_piecewise(&self) -> u64 {
        let [piecewise, bit] = self.of_hybrid();
        if piecewise.moments().0 < bit.moments().0 {
            (piecewise.gain() * PARTS.get() as f64).round() as u64
        } else {
            0
        }
    }

    /// What the number of chunks makes least.
    fn objective(&self) -> f64 {
        match self.kind {
            Kind::Piecewise | Kind::OneBit => self.worst(),
            Kind::Hybrid => {
                let [piecewise, bit] = self.of_hybrid();
                let share = piecewise.gain();
                share * piecewise.moments().0 + (1.0 - share) * bit.moments().0
            }
        }
    }

    /// The logarithm of the probability that u is answered with w, up to a constant.
    pub(crate) fn log_likelihood(&self, u: f64, w: f64) -> f64 {
        let share = (u.clamp(-1.0, 1.0) + 1.0) / 2.0;
        match self.kind {
            Kind::OneBit => {
                let truly = if w > 0.0 { share } else { 1.0 - share };
                (1.0 + truly * self.epsilon.to_f64().exp_m1()).ln()
            }
            Kind::Piecewise => {
                let (starts, points) = (self.starts(), self.starts() + CHUNK.get());
                let start = (share * starts as f64).round() as u64;
                let from_center = w * self.gain() * starts as f64 / 2.0;
                let place = (from_center + (points - 1) as f64 / 2.0).round() as u64;
                let within = (place + points - start.min(points)) % points < CHUNK.get();
                if within { self.epsilon.to_f64() } else { 0.0 }
            }
            Kind::Hybrid => {
                let [piecewise, bit] = self.of_hybrid();
                // One bit has two answers, which hardly any piecewise one comes as near.
                let is_bit = ((w * bit.gain()).abs() - 1.0).abs() < 1e-9;
                (if is_bit { bit } else { piecewise }).log_likelihood(u, w)
            }
        }
    }

    /// How far the truth's chunk may begin from the first point.
    fn starts(&self) -> u64 {
        (self.chunks.get() - 1) * CHUNK.get()
    }

    /// E of the undivided answer over u: (e^ε − 1)/(e^ε + K − 1). Of a hybrid answer, that of its piecewise one.
    fn gain(&self) -> f64 {
        // Divided by e^ε, so that nothing overflows; and no difference of what is nearly one.
        let epsilon = -self.epsilon.to_f64();
        -epsilon.exp_m1() / (1.0 + (self.chunks.get() - 1) as f64 * epsilon.exp())
    }

    /// E[w² | u] = a + b·u², as (a, b).
    pub(crate) fn moments(&self) -> (f64, f64) {
        match self.kind {
            Kind::OneBit => (self.gain().powi(-2), 0.0),
            Kind::Hybrid => {
                let share = self.parts_of_piecewise() as f64 / PARTS.get() as f64;
                let [piecewise, bit] = self.of_hybrid().map(|answer| answer.moments());
                (share * piecewise.0 + (1.0 - share) * bit.0, share * piecewise.1)
            }
            Kind::Piecewise => {
                let gain = self.gain();
                // The mean square of an integer from n consecutive ones about their centre is (n² − 1)/12; the truth's
                // chunk has the surplus of weight `gain`, all points together the rest.
                let mean_square = |n: u64| ((n as f64).powi(2) - 1.0) / 12.0;
                let unit = (gain * self.starts() as f64 / 2.0).powi(-2);
                let chunk = mean_square(CHUNK.get());
                let all = mean_square(self.starts() + CHUNK.get());
                (unit * (gain * chunk + (1.0 - gain) * all), 1.0 / gain)
            }
        }
    }

    /// The largest second moment, at u = ±1.
    pub(crate) fn worst(&self) -> f64 {
        let (constant, slope) = self.moments();
        constant + slope
    }
}

const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    fn answer(kind: Kind, epsilon: f64) -> Answer {
        Answer::new(kind, Rational::floor_of(epsilon).unwrap())
    }

    /// The variance in Lemma 1 of Wang et al. 2019, with their number of chunks where e^{ε/2} is an integer.
    #[test]
    fn with_the_papers_window_the_variance_is_the_papers_and_ours_is_no_worse() {
        for root in [2.0_f64, 3.0, 10.0] {
            let ours = answer(Kind::Piecewise, 2.0 * root.ln());
            let papers = Answer { chunks: NonZeroU64::new(root as u64 + 1).unwrap(), ..ours };
            let (constant, slope) = papers.moments();
            for u in [0.0_f64, 0.5, 1.0] {
                let variance = constant + (slope - 1.0) * u * u;
                let paper = u * u / (root - 1.0) + (root + 3.0) / (3.0 * (root - 1.0).powi(2));
                assert!(
                    (variance / paper - 1.0).abs() < 1e-9,
                    "e^(ε/2) = {root}, u = {u}: {variance}, {paper}"
                );
            }
            assert!(ours.worst() <= papers.worst());
        }
    }

    #[test]
    fn no_other_number_of_chunks_is_better() {
        for (kind, epsilon) in [Kind::Piecewise, Kind::Hybrid]
            .into_iter()
            .flat_map(|kind| [0.1, 1.0, 2.78, 4.0, 7.0, 11.0].map(|epsilon| (kind, epsilon)))
        {
            let ours = answer(kind, epsilon);
            let with = |chunks| Answer { chunks: NonZeroU64::new(chunks).unwrap(), ..ours };
            let least = (2..1000).map(|chunks| with(chunks).objective()).fold(f64::INFINITY, f64::min);
            assert!(
                ours.objective() <= least * (1.0 + 1e-12),
                "{kind:?} at ε = {epsilon}: {} with {}",
                ours.objective(),
                ours.chunks
            );
        }
    }

    /// The largest variance, at u = 0 or u = ±1.
    fn worst_variance(answer: &Answer) -> f64 {
        answer.moments().0.max(answer.worst() - 1.0)
    }

    /// Wang et al. 2019, equation 13, and the variance that follows, with their number of chunks where e^{ε/2} is an integer.
    #[test]
    fn with_the_papers_window_a_hybrid_answer_has_the_papers_coin_and_variance() {
        for root in [2.0_f64, 3.0, 10.0] {
            let ours = answer(Kind::Hybrid, 2.0 * root.ln());
            let papers = Answer { chunks: NonZeroU64::new(root as u64 + 1).unwrap(), ..ours };
            let alpha = papers.parts_of_piecewise() as f64 / PARTS.get() as f64;
            assert!((alpha - (1.0 - 1.0 / root)).abs() < 1e-12, "e^(ε/2) = {root}: α = {alpha}");
            let paper = (root + 3.0) / (3.0 * root * (root - 1.0))
                + ((root * root + 1.0) / (root * root - 1.0)).powi(2) / root;
            for u in [0.0_f64, 0.5, 1.0] {
                let (constant, slope) = papers.moments();
                let variance = constant + (slope - 1.0) * u * u;
                assert!(
                    (variance / paper - 1.0).abs() < 1e-9,
                    "e^(ε/2) = {root}, u = {u}: {variance}, {paper}"
                );
            }
            assert!(worst_variance(&ours) <= worst_variance(&papers) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn a_hybrid_answer_has_no_larger_variance_than_either_alone_and_is_one_bit_for_small_epsilon() {
        for epsilon in [0.1, 0.6, 0.65, 0.8, 1.0, 1.29, 2.0, 4.0, 8.0, 20.0] {
            let [hybrid, piecewise, bit] =
                [Kind::Hybrid, Kind::Piecewise, Kind::OneBit].map(|kind| answer(kind, epsilon));
            let least = worst_variance(&piecewise).min(worst_variance(&bit));
            let ours = worst_variance(&hybrid);
            assert!(ours <= least * (1.0 + 1e-9), "ε = {epsilon}: {ours}, and {least} by one of the two");
            assert_eq!(hybrid.parts_of_piecewise() == 0, epsilon < 0.69, "ε = {epsilon}");
        }
    }

    /// Duchi, Jordan and Wainwright 2018: ±(e^ε + 1)/(e^ε − 1).
    #[test]
    fn one_bit_is_answered_with_one_of_two_numbers() {
        let answer = answer(Kind::OneBit, 1.0);
        let bound = (1f64.exp() + 1.0) / (1f64.exp() - 1.0);
        let mut stream = Randomness::seeded(1).streams().stream(0);
        for u in [-1.0, 0.3, 1.0] {
            let w = answer.sample(u, &mut stream);
            assert!((w.abs() / bound - 1.0).abs() < 1e-14, "{w}");
        }
        assert!((answer.worst() / bound.powi(2) - 1.0).abs() < 1e-12);
    }

    /// 200,000 draws each; six standard deviations, so a false alarm is rarer than 10⁻⁸. A gain or moment 5 % off is seen.
    #[test]
    fn answers_are_unbiased_and_have_their_published_moments() {
        const SEED: u64 = 5;
        let draws = 200_000;
        for kind in [Kind::Piecewise, Kind::OneBit, Kind::Hybrid] {
            for (epsilon, u) in [(0.3, 1.0), (1.0, -0.4), (3.0, 0.8), (6.0, 0.0), (12.0, -1.0)] {
                let answer = answer(kind, epsilon);
                let mut stream = Randomness::seeded(SEED).streams().stream(0);
                let sample: Vec<f64> = (0..draws).map(|_| answer.sample(u, &mut stream)).collect();
                let agrees = |what: &str, values: &mut dyn Iterator<Item = f64>, expected: f64| {
                    let values: Vec<f64> = values.collect();
                    let mean = values.iter().sum::<f64>() / draws as f64;
                    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / draws as f64;
                    let error = (square / draws as f64).sqrt();
                    assert!(
                        (mean - expected).abs() <= 6.0 * error + 1e-6,
                        "seed {SEED}: {kind:?} at ε = {epsilon} of {u}: {what} {mean}, not {expected} ± {error}"
                    );
                };
                let (constant, slope) = answer.moments();
                agrees("mean", &mut sample.iter().copied(), u);
                agrees("mean square", &mut sample.iter().map(|w| w * w), constant + slope * u * u);
            }
        }
    }

    #[test]
    fn a_tiny_epsilon_has_finite_and_unbiased_answers() {
        for kind in [Kind::Piecewise, Kind::OneBit, Kind::Hybrid] {
            let answer = answer(kind, 1e-17);
            // Two chunks or one bit: tanh(ε/2), which is ε/2, and ε is a fraction of 62 bits.
            assert!(answer.worst().is_finite());
            assert!((answer.gain() * 1e17 / 0.5 - 1.0).abs() < 1e-2, "{kind:?}: {}", answer.gain());
        }
    }

    #[test]
    fn a_large_epsilon_needs_no_more_time_and_answers_with_the_number() {
        let mut stream = Randomness::seeded(1).streams().stream(0);
        for kind in [Kind::Piecewise, Kind::Hybrid] {
            for epsilon in [40.0, 1000.0, 1e12] {
                let w = answer(kind, epsilon).sample(0.25, &mut stream);
                assert!((w - 0.25).abs() < 1e-5, "{kind:?} at ε = {epsilon}: {w}");
            }
        }
    }
}
