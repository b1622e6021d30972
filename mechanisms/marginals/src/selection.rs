//! Exact exponential mechanism for one choice among candidates, or for several choices one after the other.

use rand::RngCore;
use scumble_core::Stream;
use scumble_sampling::uniform_below;
use std::num::NonZeroU64;
use std::ops::Range;

/// Number of fractional binary digits of the binary logarithm of a candidate's weight, and of its increase
/// per unit of score.
const DIGITS: u32 = 40;

/// Upper bound on the rounding error of ln(v/w), for two weights v and w that are rounded to 40 binary
/// digits.
const FOR_ROUNDING: f64 = 1.0 / (1u64 << 37) as f64;

/// Exponential mechanism (McSherry and Talwar 2007) on whole-numbered scores.
///
/// A candidate with score u is chosen with probability ∝ w(u), where w(u) is exp(ε·u/(2Δ)), rounded, and Δ is
/// the sensitivity of the scores. The rate ε/(2Δ·ln 2) is rounded down to 40 fractional binary digits, and
/// w(u) to 40 significant binary digits, independently of the other scores. This rounding may widen the range
/// of the privacy loss (its largest value less its smallest), so the mechanism uses a slightly smaller ε. The
/// remaining computation is exact, on integers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection {
    /// Increase of the binary logarithm of a weight per unit of score, times 2⁴⁰.
    rate: u64,
}

impl Selection {
    /// Creates a mechanism whose privacy loss has the range ε = `epsilon` (largest value less smallest), if
    /// one record changes no score by more than Δ = `sensitivity`.
    pub(crate) fn new(epsilon: f64, sensitivity: u64) -> Self {
        let epsilon = (epsilon - 2.0 * FOR_ROUNDING).max(0.0);
        let rate = epsilon / (2.0 * sensitivity.max(1) as f64) / std::f64::consts::LN_2;
        // A cast truncates, and saturates far beyond what any score needs.
        Self { rate: (rate * (1.0 - f64::EPSILON * 4.0) * 2f64.powi(DIGITS as i32)) as u64 }
    }

    /// Returns the weight m·2ᵉ of `score`, with m in [1, 2), as e and m·2³⁹.
    fn weight(self, score: i64) -> (i64, u64) {
        let exponent = i128::from(self.rate) * i128::from(score);
        let fraction = (exponent & ((1 << DIGITS) - 1)) as f64 / 2f64.powi(DIGITS as i32);
        let mantissa = libm::exp2(fraction) * 2f64.powi(DIGITS as i32 - 1);
        // The exponent saturates for scores far beyond all counts.
        let whole = (exponent >> DIGITS).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        (whole, mantissa as u64)
    }

    /// Prepares candidates with their scores for successive choices without replacement.
    pub(crate) fn candidates<T: Copy>(self, scored: impl IntoIterator<Item = (T, i64)>) -> Candidates<T> {
        let mut all: Vec<Candidate<T>> = scored
            .into_iter()
            .map(|(candidate, score)| {
                let (exponent, mantissa) = self.weight(score);
                Candidate { candidate, exponent, mantissa }
            })
            .collect();
        all.sort_by_key(|candidate| std::cmp::Reverse(candidate.exponent));
        let mut groups = vec![];
        let mut start = 0;
        for group in all.chunk_by(|one, other| one.exponent == other.exponent) {
            groups.push(start..start + group.len());
            start += group.len();
        }
        Candidates { left: all.len(), all, groups, first: 0 }
    }

    /// Logarithm of the probability of choosing a candidate of score `chosen` among candidates of these
    /// `scores`.
    pub(crate) fn log_likelihood(self, scores: &[i64], chosen: i64) -> f64 {
        let best = scores.iter().copied().max().unwrap_or_default();
        let rate = self.rate as f64 / 2f64.powi(DIGITS as i32) * std::f64::consts::LN_2;
        let log_weight = |score: i64| -rate * best.abs_diff(score) as f64;
        let all: f64 = scores.iter().map(|score| log_weight(*score).exp()).sum();
        log_weight(chosen) - all.ln()
    }
}

#[derive(Debug, Clone, Copy)]
struct Candidate<T> {
    candidate: T,
    exponent: i64,
    mantissa: u64,
}

/// Remaining candidates, with their weights.
///
/// Each choice is an exponential mechanism over the remaining candidates. It needs only a few proposals of a
/// rejection sampler. Candidates whose weights lie between the same two powers of two form a group. A group
/// is proposed in proportion to its size times the larger power, and one of its candidates uniformly. The
/// candidate is accepted with the probability that makes the distribution exact.
#[derive(Debug, Clone)]
pub(crate) struct Candidates<T> {
    /// Candidates in descending order of the exponents e of their weights m·2ᵉ, with m in [1, 2).
    all: Vec<Candidate<T>>,
    /// Range in `all` of the remaining candidates of each exponent.
    groups: Vec<Range<usize>>,
    /// First group that is not empty.
    first: usize,
    left: usize,
}

impl<T: Copy> Candidates<T> {
    /// Number of exponents e of weights m·2ᵉ, from the largest downwards, whose groups of candidates are
    /// proposed in proportion to their size times 2ᵉ. Each candidate with a lower exponent is proposed with a
    /// probability of at most 2⁻⁶⁴.
    const WINDOW: u64 = 64;

    /// Returns the next choice among the remaining candidates, and removes it. A candidate is discarded if
    /// `is_out` returns true for it.
    pub(crate) fn choose(&mut self, stream: &mut Stream, is_out: impl Fn(T) -> bool) -> Option<T> {
        while self.left > 0 {
            while self.groups[self.first].is_empty() {
                self.first += 1;
            }
            let (group, at, shift) = self.propose(stream);
            let place = self.groups[group].start + at;
            let Candidate { candidate, mantissa, .. } = self.all[place];
            let is_out = is_out(candidate);
            if is_out || (u128::from(mantissa) > below(1 << DIGITS, stream) && all_heads(shift, stream)) {
                self.groups[group].end -= 1;
                self.all.swap(place, self.groups[group].end);
                self.left -= 1;
                if !is_out {
                    return Some(candidate);
                }
            }
        }
        None
    }

    /// Returns the index of a group, the index of a candidate in it, and the number of fair coins that must
    /// all show heads to accept the candidate.
    fn propose(&self, stream: &mut Stream) -> (usize, usize, u64) {
        let exponent = |group: usize| self.all[self.groups[group].start].exponent;
        let top = exponent(self.first);
        let live = || (self.first..self.groups.len()).filter(|group| !self.groups[*group].is_empty());
        let depth = |group: usize| top.abs_diff(exponent(group));
        // Proposal weights are in units of the proposal weight of a candidate whose exponent is below the
        // window.
        let (mut all, mut below_window) = (0u128, self.left as u128);
        for group in live().take_while(|group| depth(*group) < Self::WINDOW) {
            all += (self.groups[group].len() as u128) << (Self::WINDOW - depth(group));
            below_window -= self.groups[group].len() as u128;
        }
        let mut drawn = below(all + below_window, stream);
        for group in live() {
            let depth = depth(group);
            let shift = Self::WINDOW.saturating_sub(depth);
            let weight = (self.groups[group].len() as u128) << shift;
            if drawn < weight {
                return (group, (drawn >> shift) as usize, depth.saturating_sub(Self::WINDOW));
            }
            drawn -= weight;
        }
        (self.first, 0, 0) // unreachable: `drawn` is below the sum
    }
}

/// Draws a uniform integer below `bound`, which is above zero, by rejection from the smallest sufficient
/// number of bits.
fn below(bound: u128, stream: &mut Stream) -> u128 {
    if let Some(small) = u64::try_from(bound).ok().and_then(NonZeroU64::new) {
        return uniform_below(stream, small).into();
    }
    let mask = u128::MAX >> (bound - 1).leading_zeros();
    loop {
        let drawn = (u128::from(stream.next_u64()) << 64 | u128::from(stream.next_u64())) & mask;
        if drawn < bound {
            return drawn;
        }
    }
}

/// Returns true with probability 2⁻ᶜ, from `coins` = c fair coins.
fn all_heads(coins: u64, stream: &mut Stream) -> bool {
    (0..coins).all(|_| stream.next_u64() >> 63 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    fn stream() -> Stream {
        Randomness::seeded(2).streams().stream(0)
    }

    /// 40,000 pairs of choices. The counts are within five standard errors of the closed form; the test fails
    /// falsely with probability 1.5·10⁻⁵ over all 25 counts.
    #[test]
    fn candidates_are_chosen_in_proportion_to_the_weights_of_those_that_are_left() {
        let scores = [30, 0, -12, 31, 25];
        let selection = Selection::new(0.8, 4);
        let weights = scores.map(|score| (0.1 * f64::from(score as i32)).exp());
        let mut stream = stream();
        let mut counts = [[0.0; 5]; 5];
        const CHOICES: f64 = 40_000.0;
        for _ in 0..CHOICES as usize {
            let mut candidates = selection.candidates(scores.into_iter().enumerate());
            let one = candidates.choose(&mut stream, |_| false).unwrap();
            // The candidate after the first choice is out for the second choice.
            let other = candidates.choose(&mut stream, |at| at == (one + 1) % 5).unwrap();
            counts[one][other] += 1.0;
        }
        let within = |count: f64, share: f64| {
            (count - CHOICES * share).abs() <= 5.0 * (CHOICES * share * (1.0 - share)).sqrt()
        };
        let all: f64 = weights.iter().sum();
        for one in 0..5 {
            let share = weights[one] / all;
            assert!(within(counts[one].iter().sum(), share), "{one}");
            assert!((selection.log_likelihood(&scores, scores[one]) - share.ln()).abs() < 1e-9);
            let left = all - weights[one] - weights[(one + 1) % 5];
            for other in 0..5 {
                let is_out = other == one || other == (one + 1) % 5;
                let probability = if is_out { 0.0 } else { share * weights[other] / left };
                assert!(within(counts[one][other], probability), "{one}, then {other}");
            }
        }
    }

    /// Weights many powers of two apart. The large ones are out, and the rest have their shares.
    #[test]
    fn weights_far_below_the_largest_keep_their_shares() {
        let selection = Selection::new(2.0, 1);
        let mut stream = stream();
        let mut counts = [0.0; 2];
        const CHOICES: f64 = 20_000.0;
        for _ in 0..CHOICES as usize {
            let scores = [("first", 0), ("second", -30), ("third", -200), ("fourth", -201)];
            let mut candidates = selection.candidates(scores);
            let chosen = candidates.choose(&mut stream, |name| name == "first" || name == "second").unwrap();
            counts[usize::from(chosen == "fourth")] += 1.0;
            assert!(candidates.choose(&mut stream, |_| false).is_some());
            assert!(candidates.choose(&mut stream, |_| false).is_none());
        }
        let share = 1.0 / (1.0 + 1f64.exp());
        let error = (CHOICES * share * (1.0 - share)).sqrt();
        assert!((counts[1] - CHOICES * share).abs() < 5.0 * error, "{counts:?}");
    }

    /// One proposal per candidate would take two words each.
    #[test]
    fn a_choice_among_many_takes_a_few_random_words() {
        const MANY: i64 = 100_000;
        let mut stream = stream();
        let scores = (0..MANY).map(|at| (at, if at < 10 { 1000 } else { at % 7 }));
        let mut candidates = Selection::new(1.0, 1).candidates(scores);
        for _ in 0..10 {
            assert!(candidates.choose(&mut stream, |_| false).unwrap() < 10);
        }
        assert!(stream.get_word_pos() < 1000, "{}", stream.get_word_pos());
    }

    #[test]
    fn without_privacy_the_best_is_chosen() {
        let selection = Selection::new(f64::INFINITY, 1);
        let mut stream = stream();
        let best = |_| {
            let scored = [7, 8, -9].into_iter().enumerate();
            selection.candidates(scored).choose(&mut stream, |_| false)
        };
        assert!((0..100).map(best).all(|chosen| chosen == Some(1)));
    }

    /// Privacy: if a score moves by the sensitivity, the logarithm of its weight moves by at most ε/2,
    /// rounding included.
    #[test]
    fn weights_move_no_further_than_epsilon_allows() {
        for (epsilon, sensitivity) in [(1e-6, 16), (0.01, 32), (1.0, 32), (60.0, 16)] {
            let selection = Selection::new(epsilon, sensitivity);
            let log = |score: i64| {
                let (exponent, mantissa) = selection.weight(score);
                exponent as f64 * std::f64::consts::LN_2 + ((mantissa as f64) / 2f64.powi(39)).ln()
            };
            for score in (-5000..5000).step_by(7) {
                let moved = log(score + sensitivity as i64) - log(score);
                assert!(
                    moved.abs() <= epsilon / 2.0 * (1.0 + 1e-12) + 1e-11,
                    "{epsilon} at {score}: {moved}"
                );
            }
        }
    }
}
