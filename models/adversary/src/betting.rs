//! Sequential tests of a claim by betting: if the claim holds, the expected capital does not grow. Bets on an
//! event that contradicts the claim let the capital grow.
//!
//! Outputs are drawn in pairs, one of each of two inputs, from the distributions P and Q. An event S is
//! chosen from earlier outputs, and a share λ of the capital is bet on it. X and Y indicate S for the two
//! outputs of a pair. The claim implies P(S) ≤ s·Q(S) + d, for a slope s and an offset d. The capital starts
//! at 1. Each pair multiplies the capital by 1 + λ(X − sY − d)/(s + d). If the claim holds, the capital is a
//! supermartingale, for every way of choosing S from earlier outputs.
//!
//! The capital of a claim that holds therefore exceeds 1/α with probability at most α, for any α in (0, 1),
//! any number of looks and any stopping time (Ville 1939; Waudby-Smith and Ramdas 2024). The sum of several
//! such capitals, one for each λ, is another supermartingale, even if capital moves between them.

use scumble_accounting::gaussian;

/// Quantity to be bounded for the distributions P and Q of the two inputs' outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    /// ε at this δ: the largest ln((P(S) − δ)/Q(S)) over events S, for output distributions P and Q.
    Epsilon { delta: f64 },
    /// δ at this ε: the largest P(S) − e^ε·Q(S) over events S, for output distributions P and Q.
    Delta { epsilon: f64 },
    /// μ of Gaussian differential privacy: the largest Φ⁻¹(P(S)) − Φ⁻¹(Q(S)) over events S, for output
    /// distributions P and Q. Φ is the standard normal distribution function.
    Mu,
}

impl Aim {
    /// Value of the quantity for an event that has probability `p` under one input and `q` under the other.
    pub(crate) fn value(self, p: f64, q: f64) -> f64 {
        match self {
            Self::Epsilon { delta } if p > delta => ((p - delta) / q).ln(),
            Self::Epsilon { .. } => f64::NEG_INFINITY,
            Self::Delta { epsilon } => p - epsilon.exp() * q,
            Self::Mu => gaussian::quantile(p) - gaussian::quantile(q),
        }
    }

    /// Slope s and offset d of the bound P(S) ≤ s·Q(S) + d on event S, which a claim of `value` implies for
    /// the output distributions P and Q.
    ///
    /// A claim of μ implies a family of bounds. The function returns the line that touches μ's bound at the
    /// estimated probabilities `[p, q]` of the event under P and Q.
    fn line(self, value: f64, [p, q]: [f64; 2]) -> (f64, f64) {
        match self {
            Self::Epsilon { delta } => (value.exp(), delta),
            Self::Delta { epsilon } => (epsilon.exp(), value),
            Self::Mu => {
                let epsilon = (gaussian::quantile(q).powi(2) - gaussian::quantile(p).powi(2)) / 2.0;
                let epsilon = epsilon.clamp(-MOST_EPSILON, MOST_EPSILON);
                (epsilon.exp(), gaussian::delta(value.max(0.0), epsilon))
            }
        }
    }

    /// Largest value to search for.
    fn most(self) -> f64 {
        match self {
            Self::Epsilon { .. } | Self::Mu => MOST_EPSILON,
            Self::Delta { .. } => 1.0,
        }
    }
}

/// Largest ε and μ to search for. Samples cannot show a larger value.
const MOST_EPSILON: f64 = 40.0;

/// Shares of the capital to bet. Small shares detect small excesses over the claim with many draws; large
/// shares detect large excesses with few draws.
const SHARES: [f64; 12] = [0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.125, 0.25, 0.5, 0.75, 0.9, 0.97];

/// Counts of one event, which was chosen before the outputs were drawn.
#[derive(Debug, Clone)]
struct Batch {
    /// Probabilities of the event under the two inputs, as estimated when the event was chosen.
    expected: [f64; 2],
    /// Frequencies of the event in the first and the second output of a pair, and the number of pairs with
    /// these frequencies. A frequency is 0 or 1 for a single output. A release in which all records are
    /// canaries (records that the audit sets) counts as one pair. Each of its frequencies is 2k/n for n
    /// records, where k of the records at one end of the domain have released rows in the event.
    cells: Vec<([f64; 2], u64)>,
}

impl Batch {
    fn add(&mut self, happened: [f64; 2]) {
        match self.cells.iter_mut().find(|(outcome, _)| *outcome == happened) {
            Some((_, count)) => *count += 1,
            None => self.cells.push((happened, 1)),
        }
    }
}

/// Bets on successive events for one [`Aim`], the quantity to be bounded.
#[derive(Debug, Clone)]
pub(crate) struct Bets {
    aim: Aim,
    /// Largest frequency that may be counted for a pair.
    most_share: f64,
    batches: Vec<Batch>,
}

impl Bets {
    pub(crate) fn on(aim: Aim) -> Self {
        Self { aim, most_share: 1.0, batches: vec![] }
    }

    /// Bets on frequencies of at most `most_share`.
    pub(crate) fn on_shares(aim: Aim, most_share: f64) -> Self {
        Self { most_share, ..Self::on(aim) }
    }

    pub(crate) fn aim(&self) -> Aim {
        self.aim
    }

    /// Starts bets on a new event. `expected` has the event's estimated probabilities under the two inputs.
    pub(crate) fn choose(&mut self, expected: [f64; 2]) {
        self.batches.push(Batch { expected, cells: vec![] });
    }

    /// Counts one pair: true for each output on which the event happened.
    pub(crate) fn count(&mut self, one: bool, other: bool) {
        let share = |happened: bool| f64::from(u8::from(happened));
        self.add(share(one), share(other));
    }

    /// Counts one pair of frequencies, each of at most `most_share`.
    pub(crate) fn add(&mut self, one: f64, other: f64) {
        if let Some(batch) = self.batches.last_mut() {
            batch.add([one, other]);
        }
    }

    /// Mean frequencies of the last event in the outputs of both inputs, and the number of pairs of outputs.
    /// Returns `None` before the first pair.
    pub(crate) fn shares(&self) -> Option<([f64; 2], u64)> {
        let cells = &self.batches.last()?.cells;
        let pairs: u64 = cells.iter().map(|(_, count)| count).sum();
        let mean = |side: usize| {
            cells.iter().map(|(outcome, count)| outcome[side] * *count as f64).sum::<f64>() / pairs as f64
        };
        (pairs > 0).then(|| ([mean(0), mean(1)], pairs))
    }

    /// Logarithm of the capital against the claim that the aim's quantity is at most `value`.
    ///
    /// The capital starts in equal parts, one for each stake in `SHARES`. Each new event redistributes a
    /// fraction of the capital equally over the parts (the fixed-share method of Herbster and Warmuth 1998).
    /// The reason is that a stake that gained on one event may have lost everything on another.
    fn log_capital(&self, value: f64) -> f64 {
        /// Fraction of the capital that is redistributed.
        const DEALT: f64 = 0.125;
        let equal = -(SHARES.len() as f64).ln();
        let mut parts = [equal; SHARES.len()];
        for (number, batch) in self.batches.iter().enumerate() {
            if number > 0 {
                let dealt = DEALT.ln() + equal + log_sum(&parts);
                parts = parts.map(|part| log_sum(&[part + (1.0 - DEALT).ln(), dealt]));
            }
            let (slope, offset) = self.aim.line(value, batch.expected);
            for ([one, other], count) in &batch.cells {
                let payoff = (one - slope * other - offset) / (slope * self.most_share + offset);
                let bet = SHARES.iter().zip(&mut parts);
                bet.for_each(|(share, part)| *part += *count as f64 * (share * payoff).ln_1p());
            }
        }
        log_sum(&parts)
    }

    /// Returns true if the claim of at most `value` is refuted. A claim that holds is refuted with
    /// probability at most `alarm`.
    pub(crate) fn refute(&self, value: f64, alarm: f64) -> bool {
        self.log_capital(value) >= -alarm.ln()
    }

    /// Largest value up to which all values are refuted, or zero if the value zero is not refuted. The result
    /// is above the true value with probability at most `alarm`.
    pub(crate) fn bound(&self, alarm: f64) -> f64 {
        const STEPS: u32 = 80;
        const HALVINGS: u32 = 40;
        let is_refuted = |value: f64| self.refute(value, alarm);
        let at = |step: u32| self.aim.most() * f64::from(step) / f64::from(STEPS);
        let Some(first) = (0..=STEPS).find(|step| !is_refuted(at(*step))) else {
            return self.aim.most();
        };
        if first == 0 {
            return 0.0;
        }
        let (mut low, mut high) = (at(first - 1), at(first));
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if is_refuted(middle) { low = middle } else { high = middle }
        }
        low
    }

    /// Largest lower bound on the quantity of `aim` that `pairs` pairs of outputs can show.
    pub(crate) fn visible(aim: Aim, pairs: usize, alarm: f64) -> f64 {
        let certain = Batch { expected: [1.0, 0.0], cells: vec![([1.0, 0.0], pairs as u64)] };
        Self { batches: vec![certain], ..Self::on(aim) }.bound(alarm)
    }
}

/// Logarithm of a sum, ln Σ eˣ over the numbers x in `logs`.
fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Bets on one event of the given probabilities, with `pairs` pairs.
    fn bets(aim: Aim, [p, q]: [f64; 2], pairs: usize, seed: u64) -> Bets {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut bets = Bets::on(aim);
        bets.choose([p, q]);
        (0..pairs).for_each(|_| bets.count(rng.gen_bool(p), rng.gen_bool(q)));
        bets
    }

    /// Randomised response at ε = 1, its δ(½), and the best event of μ = 1.
    const CASES: [(Aim, [f64; 2], f64); 4] = [
        (Aim::Epsilon { delta: 0.0 }, [0.731_058_578_630_004_9, 0.268_941_421_369_995_1], 1.0),
        (Aim::Epsilon { delta: 0.01 }, [0.059_061_618_182, 0.018_048_759], 1.0),
        (Aim::Delta { epsilon: 0.5 }, [0.731_058_578_630_004_9, 0.268_941_421_369_995_1], 0.287_649_161),
        (Aim::Mu, [0.691_462_461, 0.308_537_539], 1.0),
    ];

    /// Ville's inequality: a claim that holds is refuted at α = 0.05 in at most 5 % of 2,000 runs, each
    /// tested after every pair. More than 7.5 % has a probability below 10⁻⁶.
    #[test]
    fn a_claim_that_holds_is_refuted_as_seldom_as_is_said_however_often_it_is_looked_at() {
        const RUNS: u64 = 2_000;
        for (aim, [p, q], truth) in CASES {
            let is_refuted = |seed: &u64| {
                let mut rng = ChaCha20Rng::seed_from_u64(*seed);
                let mut bets = Bets::on(aim);
                bets.choose([p, q]);
                (0..200).any(|_| {
                    bets.count(rng.gen_bool(p), rng.gen_bool(q));
                    bets.refute(truth, 0.05)
                })
            };
            let refuted = (0..RUNS).filter(is_refuted).count();
            assert!(refuted < 150, "{aim:?}: {refuted} of {RUNS}");
        }
    }

    #[test]
    fn many_pairs_show_nearly_all_and_never_more() {
        for (aim, shares, truth) in CASES {
            let bound = bets(aim, shares, 100_000, 7).bound(1e-6);
            assert!((0.8 * truth..=truth).contains(&bound), "{aim:?}: {bound} of {truth}");
        }
    }

    /// An uninformative event costs little of the capital for the next event, on which most of it must be
    /// bet.
    #[test]
    fn what_was_lost_on_one_event_is_won_on_another() {
        let mut switched = bets(CASES[0].0, CASES[0].1, 20_000, 3);
        switched.choose([0.01, 1e-5]);
        (0..10_000).for_each(|pair| switched.count(pair % 100 == 0, false));
        assert!(switched.refute(1.0, 1e-6));
    }

    /// A release in the clear is detected within a hundred pairs, at a false-alarm rate of 10⁻⁹.
    #[test]
    fn what_is_certain_is_shown_by_few() {
        let certain = bets(Aim::Epsilon { delta: 0.0 }, [1.0, 0.0], 100, 1);
        assert!(certain.refute(1.0, 1e-9));
        assert!(Bets::visible(Aim::Epsilon { delta: 0.0 }, 100, 1e-9) > 1.0);
        assert!(Bets::visible(Aim::Epsilon { delta: 0.0 }, 100_000, 1e-9) < 9.0);
    }
}
