//! PrivUnit: how one person answers with a direction, and what the answers of many estimate of the mean of their unit vectors.

use crate::directions::{Directions, largest_cosines};
use crate::oracle::{WORD, coin};
use crate::{Error, Result};
use rand_core::RngCore;
use scumble_sampling::{Coin, uniform_below};
use std::num::NonZeroU64;

/// Dimensions at most.
pub const MOST_DIMENSIONS: usize = 1 << 12;

/// Candidates at most.
pub const MOST_CANDIDATES: usize = 1 << 10;

/// PrivUnit (Bhowmick et al. 2018) among finitely many directions, drawn exactly at ε.
///
/// A person draws a seed, from which anybody draws the same K candidates: K/2 uniform directions and their opposites. The cap is the s of them that are
/// nearest to the person's unit vector. The answer is one candidate, exactly e^ε times as likely for each of the cap as for each other, *whatever*
/// the vector: as the cap has s candidates always, what the probabilities sum to does not depend on it (as in the codes of Shah et al. 2022, Section 3).
/// No number of a vector's own is ever perturbed, and rounding can but order two candidates the other way.
///
/// The mean of an answer is [`shrinkage`](Self::shrinkage) times the vector, for candidates are as likely turned any way.
///
/// ```
/// use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};
/// use scumble_oracles::PrivUnit;
///
/// let oracle = PrivUnit::best(3, 2.0)?;
/// let mut rng = ChaCha20Rng::seed_from_u64(7);
/// let mut mean = [0.0; 3];
/// for _ in 0..20_000 {
///     let answer = oracle.answer(&mut rng, &[0.6, 0.0, 0.8]);
///     let direction = oracle.direction(answer)?;
///     mean.iter_mut().zip(direction).for_each(|(mean, x)| *mean += x / oracle.shrinkage() / 20_000.0);
/// }
/// let error = 6.0 * (oracle.variance() / 20_000.0).sqrt();
/// assert!((mean[0] - 0.6).abs() < error && mean[1].abs() < error && (mean[2] - 0.8).abs() < error);
/// # Ok::<(), scumble_oracles::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PrivUnit {
    dim: usize,
    pairs: usize,
    cap: usize,
    epsilon: f64,
    /// Heads where the answer is of the cap.
    coin: Coin,
    shrinkage: f64,
}

/// An answer: a seed below 2⁴⁸, and one of the candidates that follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Answer {
    /// What the candidates follow from.
    pub seed: u64,
    /// Which of them: twice the place of its pair, and one more for the opposite.
    pub candidate: u64,
}

impl PrivUnit {
    /// Among so many candidates, with the cap that shrinks least; `epsilon` in nats. At an infinite one the answer is of the cap always.
    ///
    /// # Errors
    /// [`Error::Dimensions`] for fewer than two dimensions, or too many; [`Error::Candidates`] for an odd number, or too many; [`Error::Epsilon`].
    pub fn new(dim: usize, candidates: usize, epsilon: f64) -> Result<Self> {
        if !(2..=MOST_DIMENSIONS).contains(&dim) {
            return Err(Error::Dimensions { dim, most: MOST_DIMENSIONS });
        }
        if !(2..=MOST_CANDIDATES).contains(&candidates) || !candidates.is_multiple_of(2) {
            return Err(Error::Candidates { candidates, most: MOST_CANDIDATES });
        }
        let pairs = candidates / 2;
        let sums = largest_cosines(dim, pairs);
        let odds = |cap: usize| match epsilon {
            f64::INFINITY => coin(1, 0, 1.0),
            _ => coin(cap as u64, (candidates - cap) as u64, epsilon),
        };
        // All candidates sum to zero: those outside the cap have the opposite of its sum.
        let shrinkage = |cap: usize, coin: &Coin| {
            let inside = coin.probability();
            sums[cap] * (inside / cap as f64 - (1.0 - inside) / (candidates - cap) as f64)
        };
        let mut best = None;
        for cap in 1..=pairs {
            let coin = odds(cap)?;
            let shrinkage = shrinkage(cap, &coin);
            if best.as_ref().is_none_or(|best: &Self| shrinkage > best.shrinkage) {
                best = Some(Self { dim, pairs, cap, epsilon, coin, shrinkage });
            }
        }
        best.filter(|best| best.variance().is_finite()).ok_or(Error::Epsilon { epsilon })
    }

    /// Among as few candidates as cost less than a fiftieth of variance where there were twice as many.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn best(dim: usize, epsilon: f64) -> Result<Self> {
        let mut best = Self::new(dim, 8, epsilon)?;
        while best.candidates() < MOST_CANDIDATES {
            let twice = Self::new(dim, 2 * best.candidates(), epsilon)?;
            if best.variance() < 1.02 * twice.variance() {
                break;
            }
            best = twice;
        }
        Ok(best)
    }

    /// The dimensions of a vector, d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// K.
    pub fn candidates(&self) -> usize {
        2 * self.pairs
    }

    /// How many candidates the cap has, s.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// ε, in nats.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// How long the mean of an answer to a unit vector is: E⟨u, V⟩ of the cap times the probability of its candidates, less that of the others.
    pub fn shrinkage(&self) -> f64 {
        self.shrinkage
    }

    /// The variance in each dimension of what one answer says of the vector, over all vectors: (1/m² − 1)/d, where m is the
    /// [`shrinkage`](Self::shrinkage).
    pub fn variance(&self) -> f64 {
        (self.shrinkage.powi(-2) - 1.0) / self.dim as f64
    }

    /// How many bits tell one answer from all others.
    pub fn bits(&self) -> u64 {
        WORD + u64::from(self.candidates().next_power_of_two().ilog2())
    }

    /// The answer of somebody with this vector (d), of which only the direction counts.
    pub fn answer<R: RngCore + ?Sized>(&self, rng: &mut R, vector: &[f64]) -> Answer {
        let seed = rng.next_u64() >> (64 - WORD);
        let candidates = self.cap_first(seed, vector);
        let (cap, others) = candidates.split_at(self.cap);
        let of = if self.coin.flip(rng) { cap } else { others };
        let at = NonZeroU64::new(of.len() as u64).map_or(0, |count| uniform_below(rng, count));
        Answer { seed, candidate: of[at as usize] }
    }

    /// The candidates, those of the cap first.
    fn cap_first(&self, seed: u64, vector: &[f64]) -> Vec<u64> {
        let mut directions = Directions::of(seed);
        let mut direction = vec![0.0; self.dim];
        let mut cosines: Vec<(f64, u64)> = Vec::with_capacity(self.candidates());
        for pair in 0..self.pairs as u64 {
            directions.next_into(&mut direction);
            let cosine: f64 = direction.iter().zip(vector).map(|(a, b)| a * b).sum();
            cosines.extend([(cosine, 2 * pair), (-cosine, 2 * pair + 1)]);
        }
        // An order of all numbers, and of equal ones by their place: so that the cap has s candidates whatever a vector is.
        cosines.select_nth_unstable_by(self.cap - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        cosines.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// Whether an answer is of the cap of a vector (d): it is e^ε times as likely for each vector of whose cap it is as for each other.
    pub fn supports(&self, answer: Answer, vector: &[f64]) -> bool {
        self.cap_first(answer.seed, vector)[..self.cap].contains(&answer.candidate)
    }

    /// The direction that was answered (d).
    ///
    /// # Errors
    /// [`Error::Direction`] for a candidate or a seed that is none.
    pub fn direction(&self, answer: Answer) -> Result<Vec<f64>> {
        let Answer { seed, candidate } = answer;
        if candidate >= self.candidates() as u64 || seed >> WORD != 0 {
            return Err(Error::Direction { seed, candidate, candidates: self.candidates() });
        }
        let mut directions = Directions::of(seed);
        let mut direction = vec![0.0; self.dim];
        for _ in 0..=candidate / 2 {
            directions.next_into(&mut direction);
        }
        let sign = if candidate.is_multiple_of(2) { 1.0 } else { -1.0 };
        direction.iter_mut().for_each(|x| *x *= sign);
        Ok(direction)
    }
}
