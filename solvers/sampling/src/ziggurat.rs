//! Exact draws from a distribution on integers, by the ziggurat method of Marsaglia and Tsang (2000). It
//! draws uniform points under a curve.
//!
//! Rectangles of equal area A cover a decreasing curve f on the integers. Rectangle i has wᵢ columns and the
//! height A/wᵢ, and is stacked on the rectangles before it. Its floor is therefore at the height Yᵢ = Σ A/wⱼ
//! over j < i. The lowest rectangle also represents the tail of the curve. The tail is covered by infinitely
//! many stairs of m columns each, and each stair has half the height of the previous one. The total area of
//! the stairs equals the area of the last 2m columns of the lowest rectangle.
//!
//! A draw consists of a uniform rectangle, a uniform column k in it and a uniform height y in it. It returns
//! k if y < f(k), and starts again otherwise. If the rectangles cover the curve, k has exactly the
//! distribution f(k)/Σf.
//!
//! One uniform number U determines the rectangle and the column. It has infinitely many binary digits. The
//! first 63 are drawn first, and further digits only if the first 63 do not decide. In nearly every column,
//! the curve is above the top of the rectangle, so no y is needed. In the other columns, fixed-point bounds
//! on y and f(k) are compared. If the bounds do not decide, integers of any length do. There are two ways to
//! decide, which use the same digits and give the same draw. [`Decide::Exactly`] is the definition of a draw,
//! and [`Decide::Fast`] is faster.

use crate::bits::Bits;
use crate::curve::{Curve, ONE};
use crate::words::Words;
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use rand_core::RngCore;
use std::cmp::Ordering;
use std::fmt;

/// Maximum number of rectangles.
const MOST: usize = 256;

pub(crate) struct Ziggurat {
    curve: Curve,
    layers: Box<[Layer]>,
    /// The number of columns of the lowest rectangle before the stairs of the tail.
    reach: u64,
    /// The width m of a stair, in columns.
    stair: u64,
}

/// Rectangle i, counted from the lowest. Heights are fixed-point numbers, rounded down.
struct Layer {
    /// The width wᵢ, in columns.
    width: u64,
    /// Index of a column. In all columns before it, the curve is at least as high as the top of the
    /// rectangle.
    inner: u64,
    /// The first 63 digits of U, the uniform number that determines the rectangle and the column, decide the
    /// column if the remainder that [`Ziggurat::place`] returns is less than this number. It is zero if these
    /// digits never decide.
    decided: u64,
    /// The floor Yᵢ, rounded down by at most i units of 2⁻⁶³.
    floor: u64,
    /// The height A/wᵢ, for the area A of every rectangle, rounded down by at most one unit of 2⁻⁶³; exact
    /// for the lowest rectangle.
    height: u64,
}

/// Method of decisions. Both methods give the same decisions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decide {
    /// Fixed-point bounds, and exact integers if the bounds leave the decision open.
    Fast,
    /// Integers of any length.
    Exactly,
}

impl Ziggurat {
    /// Covers `curve`, whose scale is at most 2⁵⁹, with rectangles.
    pub(crate) fn new(curve: Curve) -> Self {
        let reach = curve.usual_reach().ceil().max(1.0) as u64;
        let stair = curve.half_life(reach) as u64;
        // The height of the lowest rectangle is at least the height of the curve at `reach`. It is also large
        // enough for `MOST` rectangles of at least one column each to reach the top of the curve.
        let least = ONE / (reach + 2 * stair) / MOST as u64;
        let mut lowest = curve.bounds(reach.into()).1.max(least);
        loop {
            if let Some(layers) = cover(&curve, reach, stair, lowest) {
                return Self { curve, layers, reach, stair };
            }
            lowest += lowest / 4 + 1;
        }
    }

    pub(crate) fn scale(&self) -> f64 {
        self.curve.scale()
    }

    /// Draws k ≥ 0 with probability f(k)/Σf, for the curve f.
    #[inline]
    pub(crate) fn sample<R: RngCore + ?Sized>(&self, rng: &mut R, decide: Decide) -> u128 {
        loop {
            let digits = rng.next_u64() & !1;
            if let Some(k) = self.column_below(digits, decide) {
                return k.into();
            }
            if let Some(k) = self.attempt(digits, rng, decide) {
                return k;
            }
        }
    }

    /// Draws k with a fair sign and rejects −0. For the curve f, this is the distribution f(|k|)/Σf(|j|) on
    /// all integers, where the sum is over all integers j.
    #[inline]
    pub(crate) fn sample_signed<R: RngCore + ?Sized>(&self, rng: &mut R, decide: Decide) -> i128 {
        loop {
            let word = rng.next_u64();
            let (digits, sign) = (word & !1, (word & 1) as i64);
            if let Some(k) = self.column_below(digits, decide) {
                // −k is !k + 1. This form avoids a branch that processors cannot predict.
                let k = (k as i64 ^ -sign) + sign;
                if k != 0 || sign == 0 {
                    return k.into();
                }
                continue;
            }
            match self.attempt(digits, rng, decide) {
                Some(0) if sign == 1 => {}
                Some(k) => return if sign == 1 { -(k as i128) } else { k as i128 },
                None => {}
            }
        }
    }

    /// Fills `draws` with successive draws of [`sample_signed`](Self::sample_signed) modulo 2⁶⁴, from words
    /// that are drawn in bulk.
    pub(crate) fn fill_signed<R: RngCore + ?Sized>(&self, words: &mut Words<R>, draws: &mut [i64]) {
        let mut made = 0;
        while made < draws.len() {
            let run = self.run_below(words.drawn(), &mut draws[made..]);
            words.skip(run);
            made += run;
            if let Some(next) = draws.get_mut(made) {
                *next = self.sample_signed(words, Decide::Fast) as i64;
                made += 1;
            }
        }
    }

    /// Fills `draws` from little-endian `words`, one word per draw. It stops before the first draw that one
    /// word does not decide. Returns the number of draws.
    #[inline]
    fn run_below(&self, words: &[[u8; 8]], draws: &mut [i64]) -> usize {
        let layers = &*self.layers;
        for (at, (&word, draw)) in words.iter().zip(draws.iter_mut()).enumerate() {
            let word = u64::from_le_bytes(word);
            let (digits, sign) = (word & !1, (word & 1) as i64);
            let left = u128::from(digits) * layers.len() as u128;
            let layer = &layers[(left >> 64) as usize];
            let left = u128::from(left as u64) * u128::from(layer.width);
            let column = (left >> 64) as u64;
            if left as u64 >= layer.decided || column >= layer.inner || column == 0 {
                return at;
            }
            *draw = (column as i64 ^ -sign) + sign;
        }
        words.len().min(draws.len())
    }

    /// The column of the uniform number whose first 63 digits are the first 63 bits of `digits`. `None` if
    /// these digits do not decide the column, if the curve in it may be below the top of the rectangle, or if
    /// `decide` is [`Decide::Exactly`]. With [`Decide::Fast`], the result is rarely `None`.
    #[inline]
    fn column_below(&self, digits: u64, decide: Decide) -> Option<u64> {
        let (at, column, left) = self.place(digits);
        let layer = &self.layers[at];
        (decide == Decide::Fast && left < layer.decided && column < layer.inner).then_some(column)
    }

    /// Returns the column of one uniform point, or `None` if the point is above the curve. The first 63 bits
    /// of `digits` are digits of U, the uniform number that determines the rectangle and the column. The last
    /// bit is zero, because the 64th digit is not drawn yet.
    #[inline(never)]
    fn attempt<R: RngCore + ?Sized>(&self, digits: u64, rng: &mut R, decide: Decide) -> Option<u128> {
        let (at, column, left) = self.place(digits);
        let (at, column) = match decide {
            Decide::Fast if left < self.layers[at].decided => (at, column),
            _ => self.place_exactly(digits >> 1, rng),
        };
        if column < self.layers[at].inner {
            return Some(column.into());
        }
        self.test(at, column, rng, decide)
    }

    /// The index of the rectangle, the column in it and a remainder, for a number U in [0, 1) with these 64
    /// binary digits. With n rectangles, the rectangle is ⌊n·U⌋. Multiply the fractional part of n·U by the
    /// width of the rectangle. The integer part of this product is the column. Its fractional part, in units
    /// of 2⁻⁶⁴, is the remainder.
    #[inline]
    fn place(&self, digits: u64) -> (usize, u64, u64) {
        let split = |product: u128| ((product >> 64) as u64, product as u64);
        let (at, left) = split(u128::from(digits) * self.layers.len() as u128);
        let (column, left) = split(u128::from(left) * u128::from(self.layers[at as usize].width));
        (at as usize, column, left)
    }

    /// The rectangle and the column of [`place`](Self::place), from as many digits of the uniform number U as
    /// the decision needs. `digits` are its first 63 digits.
    #[cold]
    fn place_exactly<R: RngCore + ?Sized>(&self, digits: u64, rng: &mut R) -> (usize, u64) {
        let mut uniform = Bits::new(digits, 63);
        let split = |value: BigUint, count: u64| {
            let whole = (&value >> count).to_u64().unwrap_or(u64::MAX);
            (whole, value - (BigUint::from(whole) << count))
        };
        loop {
            let (at, rest) = split(&uniform.known * self.layers.len(), uniform.count);
            let width = self.layers[at as usize].width;
            let (column, left) = split(rest * width, uniform.count);
            // Further digits of U keep the column's fraction below this number, in units of the last digit.
            let next = left + BigUint::from(width) * self.layers.len();
            if next <= BigUint::one() << uniform.count {
                return (at as usize, column);
            }
            uniform.extend(rng);
        }
    }

    /// Tests whether a uniform height in rectangle `at` is below the curve. `column` determines the draw k,
    /// together with a random stair in the tail. Returns k if the height is below f(k), for the curve f, else
    /// `None`.
    fn test<R: RngCore + ?Sized>(&self, at: usize, column: u64, rng: &mut R, decide: Decide) -> Option<u128> {
        let (mut k, mut stairs) = (u128::from(column), 0);
        if at == 0 && column >= self.reach {
            stairs = heads(rng);
            k = u128::from(self.reach)
                + u128::from(stairs) * u128::from(self.stair)
                + u128::from((column - self.reach) % self.stair);
        }
        let digits = rng.next_u64();
        let fast = if decide == Decide::Fast { self.is_below(at, stairs, digits, k) } else { None };
        let below = fast.unwrap_or_else(|| self.is_below_exactly(at, stairs, digits, k, rng));
        below.then_some(k)
    }

    /// Returns whether y < f(k), or `None` if fixed-point bounds do not decide it. f is the curve. The
    /// uniform height y lies between the floor and the top of rectangle `at`, at the fraction with the binary
    /// digits `digits`. In the tail, y is halved `stairs` times.
    fn is_below(&self, at: usize, stairs: u64, digits: u64, k: u128) -> Option<bool> {
        let layer = &self.layers[at];
        let height = (u128::from(digits) * u128::from(layer.height)) >> 64;
        // `lower` is the lower bound on y. The upper bound adds the rounding errors of floor and height, and
        // one unit for each of two further roundings.
        let lower = layer.floor + (height as u64).checked_shr(stairs as u32).unwrap_or(0);
        let upper = lower.saturating_add(at as u64 + 3);
        let curve = self.curve.bounds(k);
        if upper <= curve.0 {
            return Some(true);
        }
        (lower >= curve.1).then_some(false)
    }

    /// Returns whether y < f(k), with as many digits of y as the decision needs. f is the curve. The uniform
    /// height y lies between the floor and the top of rectangle `at`, at a fraction whose first binary digits
    /// are `digits`. In the tail, y is halved `stairs` times.
    #[cold]
    fn is_below_exactly<R: RngCore + ?Sized>(
        &self,
        at: usize,
        stairs: u64,
        digits: u64,
        k: u128,
        rng: &mut R,
    ) -> bool {
        let floor = self.floor(at);
        let mut uniform = Bits::new(digits, 64);
        loop {
            // In rectangle i = `at`, y = Yᵢ + 0.d₁d₂…·A/wᵢ, as a fraction with one denominator. In the tail,
            // Yᵢ is zero and each stair halves y.
            let denominator = (&floor.1 * self.layers[at].width) << (63 + uniform.count + stairs);
            let base = (&floor.0 * self.layers[at].width) << uniform.count;
            let unit = self.area() * &floor.1;
            let lower = base + &uniform.known * &unit;
            if self.curve.compare(k, &(&lower + unit), &denominator) != Ordering::Greater {
                return true;
            }
            if self.curve.compare(k, &lower, &denominator) != Ordering::Less {
                return false;
            }
            uniform.extend(rng);
        }
    }

    /// The area A of each rectangle, in units of 2⁻⁶³.
    fn area(&self) -> BigUint {
        BigUint::from(self.layers[0].width) * self.layers[0].height
    }

    /// The floor Yᵢ of the rectangle with the index `at`, as a fraction in units of 2⁻⁶³.
    fn floor(&self, at: usize) -> (BigUint, BigUint) {
        let (mut numerator, mut denominator) = (BigUint::zero(), BigUint::one());
        for layer in &self.layers[..at] {
            numerator = numerator * layer.width + self.area() * &denominator;
            denominator *= layer.width;
        }
        (numerator, denominator)
    }
}

/// Number of successes of a fair coin before its first failure.
fn heads<R: RngCore + ?Sized>(rng: &mut R) -> u64 {
    let mut heads = 0;
    loop {
        let run = rng.next_u64().trailing_ones();
        heads += u64::from(run);
        if run < u64::BITS {
            return heads;
        }
    }
}

/// The rectangles that cover the curve, from the lowest one, of height `lowest`, to the top. Returns `None`
/// if more than [`MOST`] are necessary.
fn cover(curve: &Curve, reach: u64, stair: u64, lowest: u64) -> Option<Box<[Layer]>> {
    let mut layers: Vec<Layer> = vec![];
    let (mut width, mut floor) = (reach + 2 * stair, 0);
    let area = u128::from(width) * u128::from(lowest);
    let narrowest = (area >> 63) as u64 + 1; // so that the height stays below 1
    while floor < ONE {
        if layers.len() == MOST {
            return None;
        }
        let height = (area / u128::from(width)) as u64;
        layers.push(Layer { width, inner: 0, decided: 0, floor, height });
        floor += height;
        // The next rectangle is stacked on this one. It leaves out only columns in which the curve is no
        // higher than the floor of this next rectangle.
        width = if layers.len() == 1 { reach } else { outside(curve, floor).max(narrowest).min(width) };
    }
    let count = layers.len() as u64;
    for (at, layer) in layers.iter_mut().enumerate() {
        let ceiling = layer.floor.saturating_add(layer.height).saturating_add(at as u64 + 1);
        layer.inner = inside(curve, ceiling).min(layer.width).min(reach);
        // The digits from the 64th on add less than 2nw to the fraction of the column, in units of 2⁻⁶⁴, for
        // n rectangles and width w.
        layer.decided = layer.width.checked_mul(2 * count).map_or(0, |next| next.wrapping_neg() + 1);
    }
    Some(layers.into())
}

/// The number of a column from which on the curve is at most `y`. It is close to the smallest such number.
fn outside(curve: &Curve, y: u64) -> u64 {
    let nearly = curve.inverse((y as f64 / ONE as f64).min(1.0)).ceil() as u64;
    let mut margin = 0;
    while curve.bounds((nearly + margin).into()).1 > y {
        margin = 2 * margin + 1 + (nearly >> 45);
    }
    (nearly + margin).max(1)
}

/// A number c such that the curve is at least `y` in all columns before c. It is close to the largest such
/// number.
fn inside(curve: &Curve, y: u64) -> u64 {
    if y >= ONE {
        return 0;
    }
    let nearly = curve.inverse(y as f64 / ONE as f64).floor() as u64;
    let mut margin = 0;
    while margin <= nearly && curve.bounds((nearly - margin).into()).0 < y {
        margin = 2 * margin + 1 + (nearly >> 45);
    }
    (nearly + 1).saturating_sub(margin)
}

/// Shows the curve, and omits the rectangles.
impl fmt::Debug for Ziggurat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.curve.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rational;
    use crate::curve::Shape;
    use num_rational::Ratio;

    type Fraction = Ratio<BigUint>;

    fn ziggurats() -> Vec<Ziggurat> {
        let scales = [(1, 100), (1, 2), (1, 1), (5, 2), (20, 1), (1000, 3)];
        let scales = scales.map(|(n, d)| Rational::new(n, d).unwrap());
        let at_scales = |shape| scales.map(|scale| Ziggurat::new(Curve::new(shape, scale)));
        [at_scales(Shape::Exponential), at_scales(Shape::Normal)].into_iter().flatten().collect()
    }

    /// The floor of every rectangle, and the top of the last one, as fractions.
    fn floors(ziggurat: &Ziggurat) -> Vec<Fraction> {
        let area = Fraction::from(ziggurat.area()) / BigUint::from(ONE);
        let heights = ziggurat.layers.iter().map(|layer| &area / BigUint::from(layer.width));
        let mut floors = vec![Fraction::from(BigUint::zero())];
        for height in heights {
            floors.push(floors[floors.len() - 1].clone() + height);
        }
        floors
    }

    fn compare(ziggurat: &Ziggurat, k: u128, y: &Fraction) -> Ordering {
        ziggurat.curve.compare(k, y.numer(), y.denom())
    }

    /// Checks all conditions of exactness, column by column in fractions.
    ///
    /// A kept draw is a uniform point under the curve if the rectangles cover the whole curve. No draw above
    /// the curve may be kept without a test.
    #[test]
    fn rectangles_cover_the_curve_and_inner_columns_lie_below_it() {
        for ziggurat in ziggurats() {
            let floors = floors(&ziggurat);
            let layers = &ziggurat.layers;
            assert!(
                layers.windows(2).all(|pair| pair[0].width >= pair[1].width),
                "{ziggurat:?} has overhangs"
            );
            for k in 0..ziggurat.reach {
                let covering = layers.iter().filter(|layer| layer.width > k).count();
                let top = &floors[covering];
                assert_ne!(
                    compare(&ziggurat, k.into(), top),
                    Ordering::Less,
                    "{ziggurat:?} leaves out column {k}"
                );
            }
            for stairs in 0..200u32 {
                let k = u128::from(ziggurat.reach) + u128::from(stairs) * u128::from(ziggurat.stair);
                let top = &floors[1] / (BigUint::one() << stairs);
                assert_ne!(
                    compare(&ziggurat, k, &top),
                    Ordering::Less,
                    "{ziggurat:?} leaves out stair {stairs}"
                );
            }
            for (at, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.inner > 0) {
                let last = u128::from(layer.inner - 1);
                assert_ne!(
                    compare(&ziggurat, last, &floors[at + 1]),
                    Ordering::Greater,
                    "{ziggurat:?} keeps column {last} of rectangle {at} unseen"
                );
            }
            assert_eq!(layers[0].width, ziggurat.reach + 2 * ziggurat.stair);
            assert!(layers[0].inner <= ziggurat.reach, "{ziggurat:?} keeps stairs unseen");
        }
    }

    #[test]
    fn fixed_point_floors_and_heights_are_as_near_as_they_say() {
        for ziggurat in ziggurats() {
            let floors = floors(&ziggurat);
            let unit = Fraction::new(BigUint::one(), BigUint::from(ONE));
            for (at, layer) in ziggurat.layers.iter().enumerate() {
                let (exact, height) = (&floors[at], &floors[at + 1] - &floors[at]);
                let fixed = |value: u64| &unit * BigUint::from(value);
                assert!(fixed(layer.floor) <= *exact && *exact <= fixed(layer.floor + at as u64));
                assert!(fixed(layer.height) <= height && height <= fixed(layer.height + 1));
                let (numerator, denominator) = ziggurat.floor(at);
                assert_eq!(Fraction::new(numerator, denominator << 63u32), *exact);
            }
        }
    }

    /// Over all values of the first 16 digits, every column of every rectangle gets its share, to within one.
    #[test]
    fn digits_are_shared_out_evenly() {
        const DIGITS: u32 = 16;
        for ziggurat in ziggurats().into_iter().filter(|ziggurat| ziggurat.layers[0].width < 40) {
            let mut hits = std::collections::BTreeMap::<(usize, u64), u64>::new();
            for first in 0..1u64 << DIGITS {
                let (at, column, _) = ziggurat.place(first << (64 - DIGITS));
                *hits.entry((at, column)).or_default() += 1;
            }
            let mut cells = 0;
            for (at, layer) in ziggurat.layers.iter().enumerate() {
                let share = (1u64 << DIGITS) as f64 / (ziggurat.layers.len() as f64 * layer.width as f64);
                for column in 0..layer.width {
                    let hits = hits.get(&(at, column)).copied().unwrap_or(0) as f64;
                    assert!(
                        (hits - share).abs() < 1.0,
                        "{ziggurat:?}: {hits} of {share} in column {column} of {at}"
                    );
                    cells += 1;
                }
            }
            assert_eq!(cells, hits.len(), "{ziggurat:?} lands outside its rectangles");
        }
    }

    #[test]
    fn few_draws_are_thrown_away() {
        for ziggurat in ziggurats() {
            let curve: f64 = (0..100_000).map(|k| ziggurat.curve.bounds(k).0 as f64 / ONE as f64).sum();
            let area = ziggurat.layers.len() as f64
                * (ziggurat.layers[0].width as f64 * ziggurat.layers[0].height as f64);
            let kept = curve / (area / ONE as f64);
            assert!(kept > 0.7, "{ziggurat:?} keeps {kept}");
        }
    }
}
