//! Coins whose odds are a multiple of e^ε.

use crate::bits::Bits;
use crate::curve::{Curve, ONE, Shape};
use crate::{Error, Rational, Result};
use num_bigint::BigUint;
use num_traits::{CheckedDiv, ToPrimitive};
use rand_core::RngCore;
use std::cmp::Ordering;

/// A coin that falls on heads with the odds a·e^ε : b, for integers a and b and a rational ε.
///
/// A flip compares a uniform number with the probability of heads. Fixed-point bounds on this probability
/// nearly always decide with 63 binary digits of the uniform number. If these bounds do not decide, integers
/// of any length decide.
///
/// ```
/// use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};
/// use scumble_sampling::{Coin, Rational};
///
/// let coin = Coin::new(1, 2, Rational::new(1, 1)?)?; // e : 2
/// let mut rng = ChaCha20Rng::seed_from_u64(7);
/// let heads = (0..10_000).filter(|_| coin.flip(&mut rng)).count();
/// assert!((5_600..5_920).contains(&heads)); // 0.576
/// # Ok::<(), scumble_sampling::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Coin {
    /// The integers a and b of the odds a·e^ε : b.
    odds: (u64, u64),
    /// Exponential curve f with f(1) = e^−ε.
    curve: Curve,
    epsilon: Rational,
    /// Lower and upper bound on the probability of heads, as fixed-point numbers.
    bounds: (u64, u64),
}

/// Number of binary digits that are drawn for 64 flips at the same time.
const TOGETHER: u32 = 32;

impl Coin {
    /// Creates a coin with the odds `heads`·e^`epsilon` : `tails` of heads.
    ///
    /// # Errors
    /// [`Error::Odds`] if `heads` and `tails` are both zero, or if one of them is above 2³².
    pub fn new(heads: u64, tails: u64, epsilon: Rational) -> Result<Self> {
        let most = 1 << 32;
        if heads == 0 && tails == 0 || heads > most || tails > most {
            return Err(Error::Odds { heads, tails });
        }
        // For ε = 0 any scale serves, because the curve is evaluated only at 0, where it is 1.
        let scale = epsilon.reciprocal().or_else(|_| Rational::new(1, 1))?;
        let curve = Curve::new(Shape::Exponential, scale);
        let mut coin = Self { odds: (heads, tails), curve, epsilon, bounds: (0, ONE) };
        let (lower, upper) = curve.bounds(coin.place());
        coin.bounds = (coin.heads_at(upper), (coin.heads_at(lower) + 1).min(ONE));
        Ok(coin)
    }

    /// The probability of heads.
    pub fn probability(&self) -> f64 {
        let (heads, tails) = (self.odds.0 as f64, self.odds.1 as f64);
        heads / (heads + tails * (-self.epsilon.to_f64()).exp())
    }

    /// The argument k at which the curve f(k) is e^−ε: 1, or 0 for ε = 0.
    fn place(&self) -> u128 {
        u128::from(self.epsilon.numerator() > 0)
    }

    /// a/(a + b·x) as a fixed-point number, rounded down. It is the probability of heads if x, a fixed-point
    /// number, is e^−ε.
    fn heads_at(&self, x: u64) -> u64 {
        let heads = BigUint::from(self.odds.0) * ONE;
        let all = &heads + BigUint::from(self.odds.1) * x;
        let share = (heads * ONE).checked_div(&all); // `None` for a = 0 and x = 0: never heads
        share.and_then(|share| share.to_u64()).unwrap_or(0)
    }

    /// Flips the coin. Returns true for heads.
    pub fn flip<R: RngCore + ?Sized>(&self, rng: &mut R) -> bool {
        let drawn = rng.next_u64() >> 1;
        match self.bounds {
            (lower, _) if drawn < lower => true,
            (_, upper) if drawn >= upper => false,
            _ => self.decide(Bits::new(drawn, 63), rng),
        }
    }

    /// Flips the coin 64 times independently. Each bit of the result is one flip, with 1 for heads.
    pub fn flip_64<R: RngCore + ?Sized>(&self, rng: &mut R) -> u64 {
        let (lower, upper) = self.bounds;
        // If both bounds have the same first `TOGETHER` digits, these are the digits of the probability.
        // Otherwise the coins are flipped one by one.
        let digit = |place: u32| (lower >> (62 - place)) & 1;
        let shift = 63 - TOGETHER;
        if lower == ONE || upper == ONE || lower >> shift != upper >> shift {
            return (0..64).fold(0, |heads, lane| heads | u64::from(self.flip(rng)) << lane);
        }
        let (mut heads, mut open) = (0, u64::MAX);
        for place in 0..TOGETHER {
            let drawn = rng.next_u64();
            if digit(place) == 1 {
                heads |= open & !drawn;
                open &= drawn;
            } else {
                open &= !drawn;
            }
            if open == 0 {
                return heads;
            }
        }
        for lane in (0..64).filter(|lane| open >> lane & 1 == 1) {
            heads |= u64::from(self.decide(Bits::new(lower >> shift, TOGETHER.into()), rng)) << lane;
        }
        heads
    }

    /// Decides whether the uniform number that begins with the digits of `bits` is below the probability of
    /// heads.
    fn decide<R: RngCore + ?Sized>(&self, mut bits: Bits, rng: &mut R) -> bool {
        loop {
            let above = &bits.known + 1u32;
            if self.is_heads_up_to(&above, bits.count) {
                return true;
            }
            if !self.is_heads_up_to(&bits.known, bits.count) {
                return false;
            }
            bits.extend(rng);
        }
    }

    /// Returns whether u = `numerator`/2^`count` is at most the probability of heads a/(a + b·e^−ε), for the
    /// odds a·e^ε : b. This is equivalent to b·u·e^−ε ≤ a·(1 − u).
    fn is_heads_up_to(&self, numerator: &BigUint, count: u64) -> bool {
        let whole = BigUint::from(1u32) << count;
        let rest = self.odds.0 * (&whole - numerator);
        let weighed = self.odds.1 * numerator;
        if weighed == BigUint::ZERO {
            return true;
        }
        self.curve.compare(self.place(), &rest, &weighed) != Ordering::Less
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng;

    fn coin(heads: u64, tails: u64, epsilon: f64) -> Coin {
        Coin::new(heads, tails, Rational::floor_of(epsilon).unwrap()).unwrap()
    }

    #[test]
    fn odds_of_nothing_and_too_large_ones_are_refused() {
        for (heads, tails) in [(0, 0), (1 << 33, 1), (1, u64::MAX)] {
            let refused = Coin::new(heads, tails, Rational::new(1, 1).unwrap());
            assert_eq!(refused.unwrap_err(), Error::Odds { heads, tails });
        }
    }

    #[test]
    fn the_bounds_hold_the_probability() {
        for (heads, tails) in [(1, 1), (3, 1000), (1000, 3), (0, 4), (4, 0), (1 << 32, 1)] {
            for epsilon in [0.0, 1e-9, 0.1, 1.0, 7.5, 40.0, 700.0] {
                let coin = coin(heads, tails, epsilon);
                let (lower, upper) = coin.bounds;
                let p = coin.probability();
                let [lower, upper] = [lower, upper].map(|bound| bound as f64 / ONE as f64);
                assert!(lower <= p + 1e-12 && p <= upper + 1e-12 && upper - lower < 1e-8, "{coin:?}: {p}");
            }
        }
    }

    /// Single flips and 64 flips at a time have the coin's probability. With 640,000 draws, six standard
    /// deviations are at most 0.004.
    #[test]
    fn single_coins_and_sixty_four_have_the_probability() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        for coin in [coin(1, 1, 0.0), coin(1, 1, 1.0), coin(1, 90, 2.0), coin(5, 0, 1.0), coin(0, 5, 1.0)] {
            let single = (0..640_000).filter(|_| coin.flip(&mut rng)).count() as f64 / 640_000.0;
            let together: u32 = (0..10_000).map(|_| coin.flip_64(&mut rng).count_ones()).sum();
            let together = f64::from(together) / 640_000.0;
            let p = coin.probability();
            assert!((single - p).abs() < 0.004 && (together - p).abs() < 0.004, "{p}: {single}, {together}");
        }
    }

    /// Integers and bounds decide alike, wherever the bounds decide.
    #[test]
    fn integers_and_bounds_agree() {
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        for epsilon in [0.0, 0.3, 2.0, 9.0] {
            let coin = coin(2, 7, epsilon);
            for _ in 0..2_000 {
                let drawn = rng.next_u64() >> 1;
                let exact = coin.decide(Bits::new(drawn, 63), &mut ChaCha20Rng::seed_from_u64(1));
                if drawn < coin.bounds.0 || drawn >= coin.bounds.1 {
                    assert_eq!(exact, drawn < coin.bounds.0);
                }
            }
        }
    }
}
