//! Private validation: the accuracy of a model, estimated from people who do not disclose their records.

use scumble_accounting::binomial;
use scumble_core::{ASSUMED, Claim, Error, Guarantee, LocalDp, Notion, Randomness, Result, Stream, Unit};
use scumble_sampling::{Rational, randomized_response};
use std::num::NonZeroU64;

const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// A person's answer to "was I classified correctly?", flipped with probability p = 1/(e^ε + 1). This is
/// randomised response (Warner 1965), as in Section 3.3 of *Learning to noise*.
///
/// The model is sent to the people, and only the answers come back. The people disclose neither the features
/// nor the label of their records. The protected unit is therefore the whole validation record. Each person
/// runs [`flip`](Self::flip), and the collector runs [`estimate`](Self::estimate).
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
    /// The claimed ε, in nats.
    epsilon: f64,
    /// The ε used for sampling, at most the claimed ε. `None` at ε = ∞.
    drawn: Option<Rational>,
}

/// Accuracy of a model, estimated from flipped answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Unbiased estimate (Ã − p)/(1 − 2p) (equation 9 of *Learning to noise*). Ã is the fraction of "yes"
    /// among the answers after flipping, and p is the probability of a flip. The estimate may be outside
    /// \[0, 1\].
    pub accuracy: f64,
    /// Lower end of the confidence interval for the accuracy, in \[0, 1\].
    pub lower: f64,
    /// Upper end of the confidence interval for the accuracy, in \[0, 1\].
    pub upper: f64,
    /// Lower bound on the probability that the confidence interval covers the accuracy.
    pub level: f64,
    /// Probability p with which each answer was flipped.
    pub flip_probability: f64,
    /// Number of answers.
    pub answers: usize,
}

impl PrivateAnswer {
    /// Creates the mechanism for one answer at `epsilon`, in nats. At ε = ∞, the mechanism does not flip the
    /// answer.
    ///
    /// # Errors
    /// [`Error::Budget`] if ε is not above zero, or so small that the ε used for sampling, a rational number,
    /// is zero.
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

    /// ε of one answer, in nats.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Probability p = 1/(e^ε + 1) of a flip. Here ε is the value used for sampling, a rational number that
    /// is at most the claimed ε.
    pub fn flip_probability(&self) -> f64 {
        // Numerator and denominator are divided by e^ε to avoid overflow.
        self.drawn.map_or(0.0, |drawn| {
            let odds = (-drawn.to_f64()).exp();
            odds / (1.0 + odds)
        })
    }

    /// 1 − 2p, where p is the probability of a flip, computed without cancellation.
    fn gain(&self) -> f64 {
        self.drawn.map_or(1.0, |drawn| (drawn.to_f64() / 2.0).tanh())
    }

    /// Returns `correct`, flipped with a probability of exactly 1/(e^ε + 1), where ε is the value used for
    /// sampling.
    pub fn flip(&self, correct: bool, stream: &mut Stream) -> bool {
        match self.drawn {
            Some(epsilon) => randomized_response(stream, u64::from(correct), TWO, epsilon) == 1,
            None => correct,
        }
    }

    /// Estimates the accuracy of the model from the flipped `answers` of n people.
    ///
    /// The interval covers the accuracy with a probability of at least `level`. It is Clopper and Pearson's
    /// interval for the probability that a flipped answer is "yes", mapped by equation 9 of *Learning to
    /// noise*. The interval is valid for the accuracy in the population from which these people were sampled
    /// uniformly at random. It is also valid for the accuracy among these people themselves. The reason is
    /// that the number of answers "yes" after flipping has no heavier tails than a binomial variable
    /// (Hoeffding 1956).
    ///
    /// # Errors
    /// [`Error::Shape`] if there are no answers; [`Error::Budget`] unless ½ < `level` < 1.
    pub fn estimate(&self, answers: &[bool], level: f64) -> Result<Accuracy> {
        if answers.is_empty() {
            return Err(Error::shape("an accuracy needs at least one answer"));
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

    /// Guarantee of one answer: ε-local differential privacy of the validation record.
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
                theorem: "randomised response to whether a model is right about a validation record (Warner \
                          1965), whose features and label are used in no other way"
                    .into(),
            }],
            assumes: vec![one_record.into(), order.into()],
            ..Guarantee::default()
        }
    }
}

/// Estimates the accuracy of a model from the true `answers` of n people. Each answer is flipped at ε and
/// then passed to [`PrivateAnswer::estimate`]. This function simulates all people; in a deployment each
/// person holds a [`PrivateAnswer`].
///
/// # Errors
/// Same errors as [`PrivateAnswer::new`] and [`PrivateAnswer::estimate`].
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
