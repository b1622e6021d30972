//! Randomised answer for one number. It is unbiased, and likely answers are exactly e^ε times as probable as
//! unlikely ones.
//!
//! The possible answers of the piecewise mechanism form a ring of lattice points. It is divided into K
//! *chunks* of equally many consecutive points. The *true chunk* of a number consists of its likely answers,
//! and the start of this chunk depends on the number.

use scumble_core::Stream;
use scumble_sampling::{Rational, randomized_response, uniform_below};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Mechanism that randomises a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A random number from an interval that contains [−1, 1]. Each number in a window around the true number
    /// is e^ε times as likely as each number outside the window (Wang et al. 2019, Algorithm 2).
    Piecewise,
    /// One of two fixed numbers, chosen at random (Duchi, Jordan and Wainwright 2018).
    OneBit,
    /// `Piecewise` or `OneBit`, decided by a coin with a public probability (Wang et al. 2019, Section
    /// III-C).
    Hybrid,
}

/// Randomised answer for a number u in [−1, 1], at ε.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    kind: Kind,
    epsilon: Rational,
    /// Number of chunks (blocks of equally many consecutive points) into which the lattice of possible
    /// answers is divided. One chunk contains the likely answers. A one-bit answer has two chunks.
    chunks: NonZeroU64,
}

/// Number of lattice points in a chunk of the piecewise answer.
const CHUNK: NonZeroU64 = NonZeroU64::new(1 << 20).unwrap();
/// Upper limit for the number of chunks. At this limit a chunk is less than a ten-millionth of the interval
/// of answers, so more chunks would hardly change the variance.
const MOST_CHUNKS: f64 = 16_777_216.0;
/// Number of steps of the lattice on [−1, 1] to which a true number is rounded before its one-bit answer is
/// drawn.
const STEPS: NonZeroU64 = NonZeroU64::new(1 << 50).unwrap();
/// Denominator of the probability with which a hybrid answer is a piecewise answer.
const PARTS: NonZeroU64 = NonZeroU64::new(1 << 53).unwrap();

impl Answer {
    /// Creates the answer at ε. Its number of chunks minimises the largest second moment of the answer over
    /// all true numbers in [−1, 1].
    ///
    /// For a hybrid answer, the number of chunks minimises its largest variance instead.
    pub(crate) fn new(kind: Kind, epsilon: Rational) -> Self {
        let with =
            |chunks: u64| Self { kind, epsilon, chunks: NonZeroU64::new(chunks).unwrap_or(TWO).max(TWO) };
        let (mut low, mut high) = match kind {
            Kind::OneBit => (2, 2),
            // The window of Wang et al. (2019, Algorithm 2) corresponds to e^{ε/2} + 1 chunks, and the best
            // number of chunks is never larger.
            Kind::Piecewise | Kind::Hybrid => {
                (2, ((epsilon.to_f64() / 2.0).exp() + 1.0).clamp(2.0, MOST_CHUNKS).ceil() as u64)
            }
        };
        // As a function of the number of chunks, the objective first decreases and then increases. This
        // search therefore finds its minimum.
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

    /// Draws the answer w for the true number u, with E[w] = u exactly, up to rounding u to a lattice of step
    /// 2⁻¹⁹ or finer.
    ///
    /// The computation uses integers. For the piecewise answer, the lattice points form a ring of chunks of
    /// equal length. The true chunk begins at the lattice point to which u is rounded. Randomised response
    /// picks the true chunk or another one, and all points of the picked chunk are equally likely. The
    /// probability of any point for one true number is therefore at most e^ε times its probability for
    /// another. The conversion of the point to the number w is post-processing.
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
                let [piecewise, bit] = self.components();
                let is_piecewise = uniform_below(stream, PARTS) < self.parts_of_piecewise();
                (if is_piecewise { piecewise } else { bit }).sample(u, stream)
            }
        }
    }

    /// Components of a hybrid answer: the piecewise answer and the one-bit answer.
    fn components(&self) -> [Self; 2] {
        [Self { kind: Kind::Piecewise, ..*self }, Self { kind: Kind::OneBit, chunks: TWO, ..*self }]
    }

    /// Probability α that a hybrid answer is a piecewise one, in units of 2⁻⁵³.
    ///
    /// α is public and the same for every u. The mixture is therefore ε-differentially private, like both of
    /// its components.
    ///
    /// The second moment of the piecewise answer for the true number u is a + b·u², with constants a and b.
    /// The second moment of the one-bit answer is a constant a′. With α = [`gain`](Self::gain) = 1/b, the
    /// variance αa + (1 − α)a′ + (αb − 1)u² of the mixture is the same for all u. For the number of chunks
    /// e^{ε/2} + 1 of Wang et al. (2019), α equals their 1 − e^{−ε/2} (equation 13). α is zero if the one-bit
    /// answer has the smaller variance, which holds for small ε (in Wang et al. for ε ≤ 0.61).
    fn parts_of_piecewise(&self) -> u64 {
        let [piecewise, bit] = self.components();
        if piecewise.moments().0 < bit.moments().0 {
            (piecewise.gain() * PARTS.get() as f64).round() as u64
        } else {
            0
        }
    }

    /// Quantity that the choice of the number of chunks minimises. It is the largest second moment of the
    /// answer over all true numbers, or for a hybrid answer the largest variance.
    fn objective(&self) -> f64 {
        match self.kind {
            Kind::Piecewise | Kind::OneBit => self.worst(),
            Kind::Hybrid => {
                let [piecewise, bit] = self.components();
                let share = piecewise.gain();
                share * piecewise.moments().0 + (1.0 - share) * bit.moments().0
            }
        }
    }

    /// Logarithm of the probability that the answer for the true number u is w, up to a constant.
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
                let [piecewise, bit] = self.components();
                // The one-bit answer has two possible values. Almost no piecewise answer is this close to one
                // of them.
                let is_bit = ((w * bit.gain()).abs() - 1.0).abs() < 1e-9;
                (if is_bit { bit } else { piecewise }).log_likelihood(u, w)
            }
        }
    }

    /// Largest possible distance, over all true numbers, from the first lattice point to the start of the
    /// true chunk, in lattice steps.
    fn starts(&self) -> u64 {
        (self.chunks.get() - 1) * CHUNK.get()
    }

    /// Factor by which randomised response with K chunks shrinks the expected answer: (e^ε − 1)/(e^ε + K −
    /// 1). The answer is divided by this factor. For a hybrid answer, the result is the factor of its
    /// piecewise answer.
    fn gain(&self) -> f64 {
        // Dividing by e^ε avoids overflow; `exp_m1` avoids a difference of two numbers near one.
        let epsilon = -self.epsilon.to_f64();
        -epsilon.exp_m1() / (1.0 + (self.chunks.get() - 1) as f64 * epsilon.exp())
    }

    /// Coefficients (a, b) of the second moment E[w² | u] = a + b·u² of the answer w for the true number u.
    pub(crate) fn moments(&self) -> (f64, f64) {
        match self.kind {
            Kind::OneBit => (self.gain().powi(-2), 0.0),
            Kind::Hybrid => {
                let share = self.parts_of_piecewise() as f64 / PARTS.get() as f64;
                let [piecewise, bit] = self.components().map(|answer| answer.moments());
                (share * piecewise.0 + (1.0 - share) * bit.0, share * piecewise.1)
            }
            Kind::Piecewise => {
                let gain = self.gain();
                // A uniform integer from n consecutive integers has the mean square (n² − 1)/12 about their
                // centre. The distribution of the answer's point is a mixture: uniform on the true chunk with
                // weight `gain`, and uniform on all points with the remaining weight.
                let mean_square = |n: u64| ((n as f64).powi(2) - 1.0) / 12.0;
                let unit = (gain * self.starts() as f64 / 2.0).powi(-2);
                let chunk = mean_square(CHUNK.get());
                let all = mean_square(self.starts() + CHUNK.get());
                (unit * (gain * chunk + (1.0 - gain) * all), 1.0 / gain)
            }
        }
    }

    /// Largest second moment of the answer over all true numbers u in [−1, 1]. It is reached at u = ±1.
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

    /// Variance in Lemma 1 of Wang et al. 2019, with the paper's number of chunks, for integer e^{ε/2}.
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

    /// Largest variance, at u = 0 or u = ±1.
    fn worst_variance(answer: &Answer) -> f64 {
        answer.moments().0.max(answer.worst() - 1.0)
    }

    /// Wang et al. 2019, equation 13, and the resulting variance, with the paper's number of chunks, for
    /// integer e^{ε/2}.
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

    /// Makes 200,000 draws each. The tolerance is six standard deviations, so a false alarm is rarer than
    /// 10⁻⁸. The test detects a gain or moment that is 5 % off.
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
                        "seed {SEED}: {kind:?} at ε = {epsilon} of {u}: {what} {mean}, not {expected} ± \
                         {error}"
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
            // Two chunks or one bit: the gain is tanh(ε/2), about ε/2, and ε is a fraction of 62 bits.
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
