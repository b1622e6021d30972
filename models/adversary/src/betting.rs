//! Bets against a claim: a capital that is expected to grow nowhere the claim holds, and grows where it does not.
//!
//! Outputs are drawn in pairs, one of each input. An event S is chosen from what was drawn before, and a share λ of the capital is bet
//! on it: with X and Y for whether S happens to the one output and to the other, a claim P(S) ≤ s·Q(S) + d makes the capital a
//! supermartingale that is multiplied by 1 + λ(X − sY − d)/(s + d) for each pair, whatever was chosen before. So it exceeds 1/α with
//! probability α at most, however often it is looked at and whenever the drawing stops (Ville 1939; Waudby-Smith and Ramdas 2024). The
//! sum of several such capitals, one for each λ, is another, also where one lends to another.

use scumble_accounting::gaussian;

/// What is to be shown of the distributions P of one output and Q of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    /// The largest ln((P(S) − δ)/Q(S)).
    Epsilon { delta: f64 },
    /// The largest P(S) − e^ε·Q(S).
    Delta { epsilon: f64 },
    /// The largest Φ⁻¹(P(S)) − Φ⁻¹(Q(S)): μ of Gaussian differential privacy.
    Mu,
}

impl Aim {
    /// What shares p and q show.
    pub(crate) fn value(self, p: f64, q: f64) -> f64 {
        match self {
            Self::Epsilon { delta } if p > delta => ((p - delta) / q).ln(),
            Self::Epsilon { .. } => f64::NEG_INFINITY,
            Self::Delta { epsilon } => p - epsilon.exp() * q,
            Self::Mu => gaussian::quantile(p) - gaussian::quantile(q),
        }
    }

    /// The slope s and the offset d of the claim that `value` is what is aimed at, for an event of these shares. Of the lines under which a μ
    /// lies, that one touches where the shares are.
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

    /// The largest value that is looked for.
    fn most(self) -> f64 {
        match self {
            Self::Epsilon { .. } | Self::Mu => MOST_EPSILON,
            Self::Delta { .. } => 1.0,
        }
    }
}

/// More than samples ever show.
const MOST_EPSILON: f64 = 40.0;

/// Shares of the capital: from those with which many draws show little more than is claimed, to those with which few show much.
const SHARES: [f64; 12] = [0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.125, 0.25, 0.5, 0.75, 0.9, 0.97];

/// How often an event that was chosen beforehand happened.
#[derive(Debug, Clone)]
struct Batch {
    /// P(S) and Q(S), as they were when it was chosen.
    expected: [f64; 2],
    /// How often it happened to the first output, and to the second, and of how many pairs: shares of several pairs may be counted as one.
    cells: Vec<([f64; 2], u64)>,
}

impl Batch {
    fn add(&mut self, happened: [f64; 2]) {
        match self.cells.iter_mut().find(|(of, _)| *of == happened) {
            Some((_, count)) => *count += 1,
            None => self.cells.push((happened, 1)),
        }
    }
}

/// What was bet on events that were to show one thing.
#[derive(Debug, Clone)]
pub(crate) struct Bets {
    aim: Aim,
    /// The largest share that is counted.
    most_share: f64,
    batches: Vec<Batch>,
}

impl Bets {
    pub(crate) fn on(aim: Aim) -> Self {
        Self { aim, most_share: 1.0, batches: vec![] }
    }

    /// Bets on shares that may be as large as that.
    pub(crate) fn on_shares(aim: Aim, most_share: f64) -> Self {
        Self { most_share, ..Self::on(aim) }
    }

    pub(crate) fn aim(&self) -> Aim {
        self.aim
    }

    /// From now on an event is bet on that was chosen at these shares.
    pub(crate) fn choose(&mut self, expected: [f64; 2]) {
        self.batches.push(Batch { expected, cells: vec![] });
    }

    /// Whether the event happened to each output of a pair.
    pub(crate) fn count(&mut self, one: bool, other: bool) {
        let share = |happened: bool| f64::from(u8::from(happened));
        self.add(share(one), share(other));
    }

    /// Shares of the event, none of which is larger than was said.
    pub(crate) fn add(&mut self, one: f64, other: f64) {
        if let Some(batch) = self.batches.last_mut() {
            batch.add([one, other]);
        }
    }

    /// The shares in which the last event happened to the outputs of either input, and of how many pairs.
    pub(crate) fn shares(&self) -> Option<([f64; 2], u64)> {
        let cells = &self.batches.last()?.cells;
        let pairs: u64 = cells.iter().map(|(_, count)| count).sum();
        let mean = |side: usize| {
            cells.iter().map(|(of, count)| of[side] * *count as f64).sum::<f64>() / pairs as f64
        };
        (pairs > 0).then(|| ([mean(0), mean(1)], pairs))
    }

    /// ln of the capital against the claim that what is aimed at is no more than `value`.
    ///
    /// It begins in equal parts, one for each share that is bet. With each new event some of it is dealt out anew, for what did well on one
    /// event may have lost all on another (the fixed share of Herbster and Warmuth 1998).
    fn log_capital(&self, value: f64) -> f64 {
        /// How much of it is dealt out anew.
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

    /// Whether the claim that it is no more than `value` is refuted, which a claim that holds is with probability `alarm` at most.
    pub(crate) fn refute(&self, value: f64, alarm: f64) -> bool {
        self.log_capital(value) >= -alarm.ln()
    }

    /// The largest value up to which all are refuted: it lies above the truth with probability `alarm` at most. Zero where none is.
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

    /// The most that so many pairs can show.
    pub(crate) fn visible(aim: Aim, pairs: usize, alarm: f64) -> f64 {
        let certain = Batch { expected: [1.0, 0.0], cells: vec![([1.0, 0.0], pairs as u64)] };
        Self { batches: vec![certain], ..Self::on(aim) }.bound(alarm)
    }
}

/// ln Σ e^x.
fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Bets on one event of these probabilities, of so many pairs.
    fn bets(aim: Aim, [p, q]: [f64; 2], pairs: usize, seed: u64) -> Bets {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut bets = Bets::on(aim);
        bets.choose([p, q]);
        (0..pairs).for_each(|_| bets.count(rng.gen_bool(p), rng.gen_bool(q)));
        bets
    }

    /// Randomised response at ε = 1, δ(½) of it, and the best event of μ = 1.
    const CASES: [(Aim, [f64; 2], f64); 4] = [
        (Aim::Epsilon { delta: 0.0 }, [0.731_058_578_630_004_9, 0.268_941_421_369_995_1], 1.0),
        (Aim::Epsilon { delta: 0.01 }, [0.059_061_618_182, 0.018_048_759], 1.0),
        (Aim::Delta { epsilon: 0.5 }, [0.731_058_578_630_004_9, 0.268_941_421_369_995_1], 0.287_649_161),
        (Aim::Mu, [0.691_462_461, 0.308_537_539], 1.0),
    ];

    /// Ville: of 2,000 runs each of which is looked at after every pair, a claim that holds is refuted at α = 0.05 in 5 % at most. That
    /// more than 7.5 % are has a probability below 10⁻⁶.
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

    /// An event that shows nothing takes little from the capital for the next, on which most of it must be bet.
    #[test]
    fn what_was_lost_on_one_event_is_won_on_another() {
        let mut switched = bets(CASES[0].0, CASES[0].1, 20_000, 3);
        switched.choose([0.01, 1e-5]);
        (0..10_000).for_each(|pair| switched.count(pair % 100 == 0, false));
        assert!(switched.refute(1.0, 1e-6));
    }

    /// What is released unchanged is found out within a hundred pairs, though it is asked for at a false-alarm rate of 10⁻⁹.
    #[test]
    fn what_is_certain_is_shown_by_few() {
        let certain = bets(Aim::Epsilon { delta: 0.0 }, [1.0, 0.0], 100, 1);
        assert!(certain.refute(1.0, 1e-9));
        assert!(Bets::visible(Aim::Epsilon { delta: 0.0 }, 100, 1e-9) > 1.0);
        assert!(Bets::visible(Aim::Epsilon { delta: 0.0 }, 100_000, 1e-9) < 9.0);
    }
}
