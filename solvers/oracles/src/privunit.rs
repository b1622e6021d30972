//! PrivUnit: answers about a unit vector, and estimates of the mean vector of many people.

use crate::codes::Codes;
use crate::directions::largest_cosines;
use crate::frame::Frame;
use crate::oracle::{WORD, coin, log_odds};
use crate::{Error, Result};
use rand_core::RngCore;
use scumble_sampling::{Coin, uniform_below};
use std::num::NonZeroU64;

/// The largest number of dimensions.
pub const MOST_DIMENSIONS: usize = 1 << 12;

/// The largest number of candidates.
pub const MOST_CANDIDATES: usize = 1 << 10;

/// PrivUnit (Bhowmick et al. 2018) over finitely many directions, drawn exactly at ε.
///
/// A person draws a seed, from which anybody derives the same K candidates: K/2 directions and their
/// opposites. The directions are those of one of a few public codes (lists of random directions), turned by a
/// random frame: r orthonormal vectors that follow from the seed. So a direction costs r operations, and a
/// frame about 4·r·d.
///
/// The cap consists of the s candidates nearest to the person's unit vector. The answer is one candidate. A
/// candidate in the cap is exactly e^ε times as likely as a candidate outside the cap, *whatever* the vector.
/// The cap always has s candidates, so the sum of the probabilities does not depend on the vector (as in the
/// codes of Shah et al. 2022, Section 3). No coordinate of a vector is ever perturbed, and rounding can only
/// change the order of two candidates.
///
/// A cap of all candidates within a fixed angle of the vector would not be private. The number of its
/// candidates depends on the vector, and so does the sum of the probabilities. The ratio of two probabilities
/// then exceeds e^ε for some seeds. On the whole sphere, the probabilities have the same total for all
/// vectors, but no program draws from the whole sphere.
///
/// The mean of the answered direction is [`shrinkage`](Self::shrinkage) times the vector, because the
/// distribution of the frame is invariant under rotation. The candidates sum to zero, so the shrinkage m
/// follows from the sum over the cap alone. For uniform codes it has a closed form. The public codes were
/// drawn once, and their mean shrinkage differs from m by less than one part in a thousand. m is near the
/// shrinkage of PrivUnit on the whole sphere:
///
/// | m, in 17 dimensions | ε = 0.5 | 1 | 2 | 4 | 8 |
/// |---|---|---|---|---|---|
/// | `PrivUnit::best` | 0.0481 | 0.0955 | 0.1896 | 0.3559 | 0.5976 |
/// | with K candidates, s in the cap | 8, 4 | 16, 6 | 64, 15 | 128, 9 | 1024, 4 |
/// | the whole sphere, best cap | 0.0490 | 0.0976 | 0.1917 | 0.3603 | 0.6042 |
///
/// An answer takes 48 bits for the seed and log₂ K bits for the candidate.
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
    frame: Frame,
    codes: Codes,
    pairs: usize,
    cap: usize,
    epsilon: f64,
    /// The coin that a person flips for an answer: heads if the answer is in the cap.
    coin: Coin,
    shrinkage: f64,
}

/// Number of vectors of a frame, r: for `pairs` pairs of candidates, the variance is within a fiftieth of the
/// variance of `dim` vectors, and an answer costs less.
fn rank(dim: usize, pairs: usize) -> usize {
    dim.min(8 + (3.0 * (pairs as f64).sqrt()).ceil() as usize)
}

/// An answer: a seed below 2⁴⁸, and one of the candidates derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Answer {
    /// The seed of the candidates.
    pub seed: u64,
    /// The index of the candidate: twice the index of its pair, plus one for the opposite direction of the
    /// pair.
    pub candidate: u64,
}

impl PrivUnit {
    /// Creates an oracle over `candidates` candidates, with the cap size that has the largest
    /// [`shrinkage`](Self::shrinkage).
    ///
    /// `epsilon` is in nats. If ε is infinite, the answer is always in the cap.
    ///
    /// # Errors
    /// [`Error::Dimensions`] if `dim` lies outside 2 to [`MOST_DIMENSIONS`]; [`Error::Candidates`] if
    /// `candidates` is odd, or outside 2 to [`MOST_CANDIDATES`]; [`Error::Epsilon`] if `epsilon` is not above
    /// zero, or too small.
    pub fn new(dim: usize, candidates: usize, epsilon: f64) -> Result<Self> {
        if !(2..=MOST_DIMENSIONS).contains(&dim) {
            return Err(Error::Dimensions { dim, most: MOST_DIMENSIONS });
        }
        if !(2..=MOST_CANDIDATES).contains(&candidates) || !candidates.is_multiple_of(2) {
            return Err(Error::Candidates { candidates, most: MOST_CANDIDATES });
        }
        let pairs = candidates / 2;
        let frame = Frame { dim, rank: rank(dim, pairs) };
        let (sums, length) = (largest_cosines(frame.rank, pairs, 1), frame.mean_length());
        let odds = |cap: usize| match epsilon {
            f64::INFINITY => coin(1, 0, 1.0),
            _ => coin(cap as u64, (candidates - cap) as u64, epsilon),
        };
        // All candidates sum to zero: the sum outside the cap is the opposite of the cap's sum.
        let shrinkage = |cap: usize, coin: &Coin| {
            let inside = coin.probability();
            length * sums[cap] * (inside / cap as f64 - (1.0 - inside) / (candidates - cap) as f64)
        };
        let mut best = None;
        for cap in 1..=pairs {
            let coin = odds(cap)?;
            let shrinkage = shrinkage(cap, &coin);
            if best.as_ref().is_none_or(|best: &Self| shrinkage > best.shrinkage) {
                let codes = Codes::new(frame.rank, pairs);
                best = Some(Self { frame, codes, pairs, cap, epsilon, coin, shrinkage });
            }
        }
        best.filter(|best| best.variance().is_finite()).ok_or(Error::Epsilon { epsilon })
    }

    /// Creates an oracle with few candidates: twice as many would lower the variance by less than a fiftieth.
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new).
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

    /// The number of dimensions of a vector, d.
    pub fn dim(&self) -> usize {
        self.frame.dim
    }

    /// The number of candidates, K.
    pub fn candidates(&self) -> usize {
        2 * self.pairs
    }

    /// The number of candidates in the cap, s.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// ε, in nats.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The length m of the mean answer to a unit vector.
    ///
    /// It is E⟨u, V⟩, where u is the unit vector and V the direction of the answer.
    pub fn shrinkage(&self) -> f64 {
        self.shrinkage
    }

    /// Variance in each dimension of the estimate of a vector from one answer, averaged over all directions
    /// of the vector: (1/m² − 1)/d, where m is the [`shrinkage`](Self::shrinkage).
    pub fn variance(&self) -> f64 {
        (self.shrinkage.powi(-2) - 1.0) / self.dim() as f64
    }

    /// The mean square E⟨u, V⟩², where u is a unit vector and V the direction of the answer. In each
    /// dimension across u, the mean square is (1 − E⟨u, V⟩²)/(d − 1).
    pub fn square_along(&self) -> f64 {
        let (cap, candidates) = (self.cap as f64, self.candidates() as f64);
        let (rank, dim) = (self.frame.rank as f64, self.dim() as f64);
        // Among all candidates, the squares of the cosines with a vector of the frame's space have the sum
        // K/rank, and the squared length of a vector's coordinates has the mean rank/dim.
        let in_cap = largest_cosines(self.frame.rank, self.pairs, 2)[self.cap];
        let outside = (candidates / rank - in_cap) / (candidates - cap);
        let share = self.coin.probability();
        (share * in_cap / cap + (1.0 - share) * outside) * rank / dim
    }

    /// The number of bits that encode an answer.
    pub fn bits(&self) -> u64 {
        WORD + u64::from(self.candidates().next_power_of_two().ilog2())
    }

    /// Draws the answer of a person with `vector` (d values). Only the direction of the vector counts.
    pub fn answer<R: RngCore + ?Sized>(&self, rng: &mut R, vector: &[f64]) -> Answer {
        let seed = rng.next_u64() >> (64 - WORD);
        let nearer = self.nearer(seed, vector);
        let (cap, rest) = nearer.split_at(self.cap);
        let is_in_cap = self.coin.flip(rng);
        let count = if is_in_cap { cap.len() } else { rest.len() + nearer.len() };
        let at = NonZeroU64::new(count as u64).map_or(0, |count| uniform_below(rng, count)) as usize;
        let candidate = match is_in_cap {
            true => cap[at],
            // The candidates outside the cap are the rest, and the opposites of all.
            false => rest.get(at).copied().unwrap_or_else(|| nearer[at - rest.len()] ^ 1),
        };
        Answer { seed, candidate }
    }

    /// The nearer candidate of each pair, with the candidates of the cap first.
    fn nearer(&self, seed: u64, vector: &[f64]) -> Vec<u64> {
        let products = self.codes.products(seed, &self.frame.coordinates(seed, vector));
        let nearer =
            |(pair, product): (u64, &f64)| (product.abs(), 2 * pair + u64::from(product.is_sign_negative()));
        let mut nearer: Vec<(f64, u64)> = (0..).zip(&products).map(nearer).collect();
        // A total order, with equal products ordered by candidate number. So the cap has s candidates for any
        // vector.
        nearer.select_nth_unstable_by(self.cap - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        nearer.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// Returns whether the candidate of `answer` is in the cap of `vector` (d values). An answer is e^ε times
    /// as likely from a person whose cap contains its candidate as from any other person.
    pub fn supports(&self, answer: Answer, vector: &[f64]) -> bool {
        self.nearer(answer.seed, vector)[..self.cap].contains(&answer.candidate)
    }

    /// Logarithm of the probability of `answer` from a person with `vector` (d values), up to a constant.
    pub fn log_likelihood(&self, answer: Answer, vector: &[f64]) -> f64 {
        log_odds(self.epsilon, self.supports(answer, vector))
    }

    /// The direction (d values) that `answer` names.
    ///
    /// # Errors
    /// [`Error::Direction`] if the index of the candidate is at least the number of candidates, or if the
    /// seed is 2⁴⁸ or above.
    pub fn direction(&self, answer: Answer) -> Result<Vec<f64>> {
        let Answer { seed, candidate } = answer;
        if candidate >= self.candidates() as u64 || seed >> WORD != 0 {
            return Err(Error::Direction { seed, candidate, candidates: self.candidates() });
        }
        let code = self.codes.vector(seed, (candidate / 2) as usize);
        let mut direction = self.frame.vector(seed, &code);
        let sign = if candidate.is_multiple_of(2) { 1.0 } else { -1.0 };
        direction.iter_mut().for_each(|x| *x *= sign);
        Ok(direction)
    }
}
