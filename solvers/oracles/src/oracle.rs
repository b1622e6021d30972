//! Frequency oracles, whose answers about one of K levels are drawn exactly.
//!
//! An answer *supports* some of the levels. It is e^ε times as likely from a person whose level it supports
//! as from any other person.

use crate::{Error, Kind, Result};
use rand_core::RngCore;
use scumble_sampling::{Coin, Rational, uniform_below};
use std::num::NonZeroU64;

/// A frequency oracle over K levels, under ε-local differential privacy.
///
/// Answers are drawn exactly. ε is first rounded down to a rational number r. An answer is then exactly e^r
/// times as likely from a person whose level it supports as from any other person.
///
/// ```
/// use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};
/// use scumble_oracles::{Counts, Oracle};
///
/// let oracle = Oracle::best(100, 1.0)?;
/// let mut rng = ChaCha20Rng::seed_from_u64(7);
/// let mut counts = Counts::new(&oracle);
/// let mut answer = vec![0; oracle.words()];
/// for person in 0..50_000 {
///     oracle.answer(&mut rng, if person % 4 == 0 { 3 } else { 77 }, &mut answer);
///     counts.add(&oracle, &answer)?;
/// }
/// let frequencies = counts.frequencies(&oracle);
/// assert!((frequencies[3] - 0.25).abs() < 6.0 * oracle.standard_error(0.25, 50_000.0));
/// # Ok::<(), scumble_oracles::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Oracle {
    kind: Kind,
    levels: u64,
    epsilon: f64,
    /// The number of levels that an answer supports, if the kind fixes this number.
    size: u64,
    /// The coin of an answer. It shows heads if the answer supports the person's level. For unary encoding,
    /// it is flipped for each other level, and shows heads if the answer does not support this level.
    coin: Coin,
}

/// The largest number of levels. A set of this many levels takes an eighth of a megabyte.
pub const MOST_LEVELS: u64 = 1 << 20;

/// The number of levels, one bit each, in a word of a set of levels. Floats represent such words exactly.
pub const WORD: u64 = 48;

/// Logarithm of the probability of an answer, up to a constant. An answer that supports the person's true
/// level, or vector, is e^ε times as likely as an answer that does not support it.
pub(crate) fn log_odds(epsilon: f64, supports: bool) -> f64 {
    match (epsilon, supports) {
        (f64::INFINITY, true) => 0.0,
        (f64::INFINITY, false) => f64::NEG_INFINITY,
        (epsilon, supports) => epsilon * f64::from(u8::from(supports)),
    }
}

/// Parses a value of an answer, written as a float.
///
/// # Errors
/// [`Error::Value`] if `value` is not a whole number from 0 to below 2^[`WORD`].
pub fn whole(value: f64) -> Result<u64> {
    let is_word = (0.0..(1_u64 << WORD) as f64).contains(&value) && value.fract() == 0.0;
    if is_word { Ok(value as u64) } else { Err(Error::Value { value }) }
}

impl Oracle {
    /// Creates an oracle of `kind`, at `epsilon` in nats. If ε is infinite, each answer is the person's
    /// level.
    ///
    /// # Errors
    /// [`Error::Levels`] if `levels` lies outside 1 to [`MOST_LEVELS`]; [`Error::Epsilon`] if `epsilon` is
    /// not above zero, or too small.
    pub fn new(kind: Kind, levels: u64, epsilon: f64) -> Result<Self> {
        let size = match kind {
            Kind::RandomizedResponse | Kind::UnaryEncoding => 1,
            Kind::HadamardResponse => order(levels) / 2,
            Kind::SubsetSelection => {
                let sizes = best_sizes(levels, epsilon).into_iter();
                let candidates = sizes.map(|size| Self::with_size(kind, levels, epsilon, size));
                return least_variance(candidates);
            }
        };
        Self::with_size(kind, levels, epsilon, size)
    }

    /// Creates the oracle with the least total variance over all levels. Ties go to the kind with the
    /// shortest answers.
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new).
    pub fn best(levels: u64, epsilon: f64) -> Result<Self> {
        least_variance(Kind::ALL.into_iter().map(|kind| Self::new(kind, levels, epsilon)))
    }

    fn with_size(kind: Kind, levels: u64, epsilon: f64, size: u64) -> Result<Self> {
        if !(1..=MOST_LEVELS).contains(&levels) {
            return Err(Error::Levels { levels, most: MOST_LEVELS });
        }
        if epsilon == f64::INFINITY || levels == 1 {
            let coin = coin(1, 0, epsilon.min(1.0))?;
            return Ok(Self { kind: Kind::RandomizedResponse, levels, epsilon, size: 1, coin });
        }
        let coin = match kind {
            Kind::RandomizedResponse | Kind::SubsetSelection => coin(size, levels - size, epsilon)?,
            Kind::HadamardResponse | Kind::UnaryEncoding => coin(1, 1, epsilon)?,
        };
        let oracle = Self { kind, levels, epsilon, size, coin };
        if oracle.total_variance().is_finite() { Ok(oracle) } else { Err(Error::Epsilon { epsilon }) }
    }

    /// The kind of the answers.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The number of levels, K.
    pub fn levels(&self) -> u64 {
        self.levels
    }

    /// ε, in nats.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The number of words (`u64`) in an answer.
    pub fn words(&self) -> usize {
        match self.kind {
            Kind::RandomizedResponse | Kind::HadamardResponse => 1,
            Kind::UnaryEncoding | Kind::SubsetSelection => self.levels.div_ceil(WORD) as usize,
        }
    }

    /// The number of bits that encode an answer.
    pub fn bits(&self) -> u64 {
        match self.kind {
            Kind::RandomizedResponse => bits_below(self.levels),
            Kind::HadamardResponse => bits_below(order(self.levels)),
            Kind::UnaryEncoding | Kind::SubsetSelection => self.levels,
        }
    }

    /// The probability that an answer supports the person's own level.
    pub fn p(&self) -> f64 {
        match self.kind {
            Kind::UnaryEncoding => 0.5,
            _ => self.coin.probability(),
        }
    }

    /// The probability that an answer supports a level other than the person's own.
    pub fn q(&self) -> f64 {
        let p = self.coin.probability();
        match self.kind {
            Kind::UnaryEncoding => 1.0 - p,
            Kind::HadamardResponse => 0.5,
            Kind::RandomizedResponse | Kind::SubsetSelection => {
                let (size, others) = (self.size as f64, (self.levels - 1).max(1) as f64);
                (p * (size - 1.0) + (1.0 - p) * size) / others
            }
        }
    }

    /// 1/s, for the probability s that an answer supports a level, if the answer is drawn from the part that
    /// all levels have in common. Shuffled answers have the privacy of randomised response with this number
    /// of levels (`scumble_accounting::shuffle`). `None` if an answer supports more than half of the levels.
    pub fn shuffled_levels(&self) -> Option<f64> {
        let levels = match self.kind {
            Kind::RandomizedResponse | Kind::SubsetSelection => self.levels as f64 / self.size as f64,
            Kind::HadamardResponse => 2.0,
            Kind::UnaryEncoding => self.epsilon.exp() + 1.0,
        };
        (levels >= 2.0).then_some(levels)
    }

    /// Variance of the estimated frequency of a level from one answer, if the true frequency is `frequency`.
    ///
    /// The variance of the estimate from n answers is smaller by a factor of n (Wang, Blocki, Li and Jha
    /// 2017, equation 2).
    pub fn variance(&self, frequency: f64) -> f64 {
        let (p, q) = (self.p(), self.q());
        (q * (1.0 - q) + frequency * (p - q) * (1.0 - p - q)) / (p - q).powi(2)
    }

    /// Standard error of the estimated frequency of a level among the `answers` people who answer.
    pub fn standard_error(&self, frequency: f64, answers: f64) -> f64 {
        (self.variance(frequency.clamp(0.0, 1.0)) / answers).sqrt()
    }

    /// Standard error of the estimated frequency of a level in a *population*, if the `answers` people who
    /// answer are a random sample of it.
    ///
    /// For f = `frequency` and n = `answers`, an answer supports the level with probability s = q + f(p − q),
    /// with the probabilities [`p`](Self::p) and [`q`](Self::q). The share of answers that support the level
    /// has the variance s(1 − s)/n.
    pub fn sampling_error(&self, frequency: f64, answers: f64) -> f64 {
        let (p, q) = (self.p(), self.q());
        let supported = q + frequency.clamp(0.0, 1.0) * (p - q);
        (supported * (1.0 - supported) / answers).sqrt() / (p - q).abs()
    }

    /// The sum of [`variance`](Self::variance) over all levels, for one answer. It does not depend on the
    /// frequencies of the levels.
    pub fn total_variance(&self) -> f64 {
        let (p, q) = (self.p(), self.q());
        self.levels as f64 * self.variance(0.0) + (1.0 - p - q) / (p - q)
    }

    /// Writes an answer of a person with `level`. A `level` of K or above counts as level 0.
    ///
    /// `answer` has [`words`](Self::words) words: the level, the column of the Hadamard matrix, or a set of
    /// levels with [`WORD`] levels per word.
    pub fn answer<R: RngCore + ?Sized>(&self, rng: &mut R, level: u64, answer: &mut [u64]) {
        let level = if level < self.levels { level } else { 0 };
        match self.kind {
            Kind::RandomizedResponse => answer[0] = self.one_level(rng, level),
            Kind::HadamardResponse => answer[0] = self.column(rng, level),
            Kind::UnaryEncoding => self.each_level(rng, level, answer),
            Kind::SubsetSelection => self.set_of_levels(rng, level, answer),
        }
    }

    fn one_level<R: RngCore + ?Sized>(&self, rng: &mut R, level: u64) -> u64 {
        match NonZeroU64::new(self.levels - 1) {
            Some(others) if !self.coin.flip(rng) => {
                let other = uniform_below(rng, others);
                other + u64::from(other >= level)
            }
            _ => level,
        }
    }

    /// Draws a uniform column among the columns that support the level, or among the columns that do not. The
    /// oracle's coin chooses between the two.
    fn column<R: RngCore + ?Sized>(&self, rng: &mut R, level: u64) -> u64 {
        let (row, supports) = (level + 1, self.coin.flip(rng));
        let column = rng.next_u64() & (order(self.levels) - 1);
        // Half of all columns support the level. Flipping a column's bit at the lowest set bit of the row
        // maps it to the other half.
        if is_positive(row, column) == supports { column } else { column ^ (row & row.wrapping_neg()) }
    }

    fn each_level<R: RngCore + ?Sized>(&self, rng: &mut R, level: u64, answer: &mut [u64]) {
        for (at, word) in answer.iter_mut().enumerate() {
            let left = self.levels - WORD * at as u64;
            *word = !self.coin.flip_64(rng) & ((1 << left.min(WORD)) - 1);
        }
        let own = rng.next_u64() & 1;
        let (word, place) = ((level / WORD) as usize, level % WORD);
        answer[word] = answer[word] & !(1 << place) | own << place;
    }

    /// Writes a set with or without the person's level. Its other levels are a uniform set (Floyd's
    /// algorithm: Bentley and Floyd 1987).
    fn set_of_levels<R: RngCore + ?Sized>(&self, rng: &mut R, level: u64, answer: &mut [u64]) {
        answer.fill(0);
        let mut insert = |other: u64| {
            let level = other + u64::from(other >= level);
            let (word, digit) = (&mut answer[(level / WORD) as usize], 1 << (level % WORD));
            let is_new = *word & digit == 0;
            *word |= digit;
            is_new
        };
        let others = self.levels - 1;
        let supports = self.coin.flip(rng);
        let needed = self.size - u64::from(supports);
        for last in others - needed..others {
            let bound = NonZeroU64::MIN.saturating_add(last);
            if !insert(uniform_below(rng, bound)) {
                insert(last);
            }
        }
        answer[(level / WORD) as usize] |= u64::from(supports) << (level % WORD);
    }

    /// Returns whether `answer` supports `level`. An answer is e^ε times as likely from a person whose level
    /// it supports as from any other person.
    pub fn supports(&self, answer: &[u64], level: u64) -> bool {
        match (self.kind, answer) {
            (_, []) => false,
            (Kind::RandomizedResponse, [own, ..]) => *own == level,
            (Kind::HadamardResponse, [column, ..]) => is_positive(level + 1, *column),
            (Kind::UnaryEncoding | Kind::SubsetSelection, words) => {
                words.get((level / WORD) as usize).is_some_and(|word| word >> (level % WORD) & 1 == 1)
            }
        }
    }

    /// Logarithm of the probability of `answer` from a person with `level`, up to a constant.
    pub fn log_likelihood(&self, answer: &[u64], level: u64) -> f64 {
        log_odds(self.epsilon, self.supports(answer, level))
    }

    /// Checks that the oracle can give `answer`.
    ///
    /// # Errors
    /// [`Error::Answer`] if the oracle cannot give `answer`.
    pub fn check(&self, answer: &[u64]) -> Result<()> {
        match self.misfit(answer) {
            None => Ok(()),
            Some(problem) => Err(Error::Answer { kind: self.kind, levels: self.levels, problem }),
        }
    }

    fn misfit(&self, answer: &[u64]) -> Option<String> {
        if answer.len() != self.words() {
            return Some(format!("it has {} words, and needs {}", answer.len(), self.words()));
        }
        let last = answer.last().copied().unwrap_or_default();
        let outside = match self.kind {
            Kind::RandomizedResponse => last >= self.levels,
            Kind::HadamardResponse => last >= order(self.levels),
            Kind::UnaryEncoding | Kind::SubsetSelection => {
                let in_last = self.levels - WORD * (answer.len() as u64 - 1);
                let (_, others) = answer.split_last().unwrap_or((&0, &[]));
                last >> in_last != 0 || others.iter().any(|word| word >> WORD != 0)
            }
        };
        if outside {
            return Some(format!("{answer:?} is outside"));
        }
        let supported: u64 = answer.iter().map(|word| u64::from(word.count_ones())).sum();
        (self.kind == Kind::SubsetSelection && supported != self.size)
            .then(|| format!("it is a set of {supported} levels, and needs {}", self.size))
    }
}

pub(crate) fn coin(heads: u64, tails: u64, epsilon: f64) -> Result<Coin> {
    let refused = |_| Error::Epsilon { epsilon };
    let rational = Rational::floor_of(epsilon).map_err(refused)?;
    if rational.numerator() == 0 {
        return Err(Error::Epsilon { epsilon });
    }
    Coin::new(heads, tails, rational).map_err(refused)
}

/// The first candidate with the least variance, up to rounding. Candidates with shorter answers come first.
fn least_variance(candidates: impl Iterator<Item = Result<Oracle>>) -> Result<Oracle> {
    let mut candidates = candidates.collect::<Result<Vec<_>>>()?.into_iter();
    let first = candidates.next().ok_or(Error::Levels { levels: 0, most: MOST_LEVELS })?;
    Ok(candidates.fold(first, |best, next| {
        if next.total_variance() < best.total_variance() * (1.0 - 1e-9) { next } else { best }
    }))
}

/// The whole numbers next to K/(e^ε + 1) for K = `levels`, the set size of subset selection with the least
/// variance.
fn best_sizes(levels: u64, epsilon: f64) -> Vec<u64> {
    let best = levels as f64 / (epsilon.exp() + 1.0);
    let most = levels.saturating_sub(1).max(1);
    let mut sizes = vec![(best.floor() as u64).clamp(1, most), (best.ceil() as u64).clamp(1, most)];
    sizes.dedup();
    sizes
}

/// The order of the Hadamard matrix. It is greater than the number of levels, because its first row is
/// constant and belongs to no level.
pub(crate) fn order(levels: u64) -> u64 {
    (levels + 1).next_power_of_two()
}

/// Returns whether the entry of Sylvester's Hadamard matrix at `row` and `column` is 1.
fn is_positive(row: u64, column: u64) -> bool {
    (row & column).count_ones().is_multiple_of(2)
}

/// The number of bits that encode an integer below `bound`.
fn bits_below(bound: u64) -> u64 {
    u64::from(u64::BITS - (bound - 1).leading_zeros())
}
