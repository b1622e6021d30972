//! Private validation: how often a model is right, asked of people who keep their records.

use scumble_accounting::binomial;
use scumble_core::{ASSUMED, Claim, Error, Guarantee, LocalDp, Notion, Randomness, Result, Stream, Unit};
use scumble_sampling::{Rational, randomized_response};
use std::num::NonZeroU64;

const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// A person's answer to "was I classified correctly?", flipped with probability p = 1/(e^ε + 1): Section 3.3 of *Learning to noise*
/// (Warner 1965).
///
/// The model goes to the people, and nothing comes back but the answer: their records, features and label, stay where they are. So what is
/// protected is the whole validation record. Whoever holds one runs [`flip`](Self::flip); whoever collects, [`estimate`](Self::estimate).
///
/// ```
/// use scumble_core::Randomness;
/// use scumble_custody::PrivateAnswer;
///
/// let answer = PrivateAnswer::new(1.0)?;
/// let mut stream = Randomness::from_os()?.streams().stream(0);
/// let answers: Vec<bool> = (0..10_000).map(|person| answer.flip(person % 4 > 0, &mut stream)).collect();
/// let estimate = answer.estimate(&answers, 0.999)?;
/// assert!((estimate.accuracy - 0.75).abs() < 0.1);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivateAnswer {
    /// The ε that is claimed.
    epsilon: f64,
    /// The ε that is drawn: no more than is claimed. None at ε = ∞.
    drawn: Option<Rational>,
}

/// How often a model is right, from flipped answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The unbiased estimate (Ã − p)/(1 − 2p) (equation 9), which may lie outside \[0, 1\].
    pub accuracy: f64,
    /// The lower end of the interval, in \[0, 1\].
    pub lower: f64,
    /// The upper end of the interval, in \[0, 1\].
    pub upper: f64,
    /// With what probability the interval covers the truth, at least.
    pub level: f64,
    /// p, the probability with which each answer was flipped.
    pub flip_probability: f64,
    /// How many answers there were.
    pub answers: usize,
}

impl PrivateAnswer {
    /// An answer at ε, in nats; at infinity it is the true one.
    ///
    /// # Errors
    /// [`Error::Budget`] unless ε is above zero, and not so small that nothing is left of the answer.
    pub fn new(epsilon: f64) -> Result<Self> {
        let refused =
            Error::Budget { name: "epsilon", range: "above zero (\"inf\" for no privacy)", value: epsilon };
        if epsilon.is_nan() || epsilon <= 0.0 {
            return Err(refused);
        }
        let drawn = match epsilon {
            f64::INFINITY => None,
            epsilon => Some(Rational::floor_of(epsilon)?),
        };
        if drawn.is_some_and(|drawn| drawn.numerator() == 0) {
            return Err(refused);
        }
        Ok(Self { epsilon, drawn })
    }

    /// ε, in nats, of one answer.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// p = 1/(e^ε + 1) for the ε that is drawn, a fraction of no more than what is claimed.
    pub fn flip_probability(&self) -> f64 {
        // Divided by e^ε, so that nothing overflows.
        self.drawn.map_or(0.0, |drawn| {
            let odds = (-drawn.to_f64()).exp();
            odds / (1.0 + odds)
        })
    }

    /// 1 − 2p, without a difference of what is nearly one.
    fn gain(&self) -> f64 {
        self.drawn.map_or(1.0, |drawn| (drawn.to_f64() / 2.0).tanh())
    }

    /// What leaves in place of `correct`: the other with a probability of exactly 1/(e^ε + 1).
    pub fn flip(&self, correct: bool, stream: &mut Stream) -> bool {
        match self.drawn {
            Some(epsilon) => randomized_response(stream, u64::from(correct), TWO, epsilon) == 1,
            None => correct,
        }
    }

    /// How often the model is right about those whose flipped `answers` (n) these are.
    ///
    /// The interval is Clopper and Pearson's for the share of flipped answers, mapped through equation 9, at this `level`. It covers the
    /// accuracy in the population from which these people were sampled uniformly at random; and that among these people themselves, for the number of their
    /// flipped answers has no heavier tails than a binomial one (Hoeffding 1956).
    ///
    /// # Errors
    /// [`Error::Shape`] for no answer, [`Error::Budget`] unless ½ < `level` < 1.
    pub fn estimate(&self, answers: &[bool], level: f64) -> Result<Accuracy> {
        if answers.is_empty() {
            return Err(Error::shape("an accuracy needs an answer, and there is none"));
        }
        if !(level > 0.5 && level < 1.0) {
            let range = "above one half and below one";
            return Err(Error::Budget { name: "the level of an interval", range, value: level });
        }
        let (yes, n) = (answers.iter().filter(|answer| **answer).count(), answers.len());
        let unflipped = |share: f64| (share - self.flip_probability()) / self.gain();
        let alarm = (1.0 - level) / 2.0;
        Ok(Accuracy {
            accuracy: unflipped(yes as f64 / n as f64),
            lower: unflipped(binomial::at_least(yes, n, alarm)).clamp(0.0, 1.0),
            upper: unflipped(binomial::at_most(yes, n, alarm)).clamp(0.0, 1.0),
            level,
            flip_probability: self.flip_probability(),
            answers: n,
        })
    }

    /// The guarantee of one answer: ε-local differential privacy of the validation record.
    pub fn guarantee(&self) -> Guarantee {
        if self.drawn.is_none() {
            let discloses = vec!["whether the model is right about each validation record".into()];
            return Guarantee { discloses, ..Guarantee::default() };
        }
        let [_, one_record, order] = ASSUMED;
        Guarantee {
            claims: vec![Claim {
                notion: Notion::LocalDp(LocalDp::pure(self.epsilon)),
                protects: Unit::Record,
                theorem: "randomised response of whether a model is right about a validation record (Warner 1965), of which \
                          features and label enter in no other way"
                    .into(),
            }],
            assumes: vec![one_record.into(), order.into()],
            ..Guarantee::default()
        }
    }
}

/// How often a model is right, where `answers` (n) say of each person whether it is: each is flipped at ε, and the rest is
/// [`PrivateAnswer::estimate`]. This simulates all the people; in a deployment each of them holds a [`PrivateAnswer`].
///
/// # Errors
/// As [`PrivateAnswer::new`] and [`PrivateAnswer::estimate`].
pub fn private_accuracy(
    answers: &[bool],
    epsilon: f64,
    level: f64,
    randomness: &mut Randomness,
) -> Result<Accuracy> {
    let answer = PrivateAnswer::new(epsilon)?;
    let mut stream = randomness.streams().stream(0);
    let flipped: Vec<bool> = answers.iter().map(|&correct| answer.flip(correct, &mut stream)).collect();
    answer.estimate(&flipped, level)
}
