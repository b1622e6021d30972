//! Amounts in a ledger: ε, δ and nats as exact decimals.

use bigdecimal::{BigDecimal, RoundingMode, Zero};
use scumble_core::{Budget, number};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::Add;

/// Error for text or a number that is not an amount of ε, δ or nats.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoAmount {
    /// Text that is not an amount.
    #[error("{text:?} is not an amount: {problem}")]
    Text {
        /// The text, abridged.
        text: String,
        /// Description of the problem.
        problem: String,
    },
    /// A number outside the range of the amount, such as a number below zero.
    #[error(transparent)]
    Number(#[from] scumble_core::Error),
}

type Result<T> = std::result::Result<T, NoAmount>;

/// Every decimal with at most this number of significant digits, in the normal range of binary64, survives
/// conversion to binary64 and back.
const SURVIVING_DIGITS: usize = 15;
/// Upper bound on the length of an amount's text, more than the decimal digits of any binary64.
const LONGEST_TEXT: usize = 1100;
/// Largest number of digits that is displayed in full. An amount with more digits is rounded to
/// [`SHOWN_DIGITS`].
const MOST_DIGITS: u64 = 30;
const SHOWN_DIGITS: NonZeroU64 = NonZeroU64::new(17).unwrap();

/// Exact amount: a non-negative decimal, or infinity.
///
/// # Conversion of numbers
/// Text converts to the decimal that it spells. The conversion of a binary64 `x` (a Python float, the ε of a
/// claim) depends on its shortest decimal, the one that prints as `x`.
///
/// - If the shortest decimal has at most 15 significant digits, it is the amount. Every decimal with at most
///   15 digits is recovered from its binary64, so the amount is the number that was typed.
/// - For any other `x`, such as the result of a privacy accountant, the amount is the exact binary value. A
///   subnormal `x` also converts to its exact binary value. Text that is the shortest decimal of any of these
///   `x` converts as that `x` does.
///
/// The same digits therefore mean the same amount in the command, in Python and in a claim.
///
/// # Soundness
/// A cost that prints with more than 15 digits is never rounded down. A cost that prints with at most 15
/// digits differs from its binary64 by at most one part in 2⁵³. As binary numbers, the claims charged to an
/// account with the budget `total` therefore compose to at most `total`·(1 + 2⁻⁵³). For a total of 1, the
/// excess is at most 2⁻⁵³, about 1.1·10⁻¹⁶. The excess does not grow with the number of charges. As decimals,
/// which cards (the public descriptions of releases) display, the claims compose to at most `total`.
///
/// ```
/// use scumble_custody::Amount;
///
/// let tenth = Amount::try_from(0.1)?;
/// let sum: Amount = std::iter::repeat_n(tenth, 10).sum();
/// assert_eq!(sum, Amount::try_from(1.0)?);
/// assert!(Amount::try_from(0.1 + 0.2)? > "0.3".parse()?);
/// # Ok::<(), scumble_custody::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(Exact);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Exact {
    Finite(BigDecimal),
    Infinite,
}

impl Amount {
    /// Zero.
    pub fn zero() -> Self {
        Self(Exact::Finite(BigDecimal::zero()))
    }

    /// Infinity: the cost of a release whose guarantee has no claim that bounds the cost.
    pub fn infinity() -> Self {
        Self(Exact::Infinite)
    }

    /// Returns whether the amount is finite.
    pub fn is_finite(&self) -> bool {
        *self != Self::infinity()
    }

    /// Returns `total` − `spent`, or zero if `spent` exceeds `total`. A result of more than 30 digits is
    /// rounded downward to 17 digits.
    pub fn difference(total: &Self, spent: &Self) -> Self {
        match (&total.0, &spent.0) {
            (Exact::Finite(total), Exact::Finite(spent)) if spent <= total => {
                Self(Exact::Finite(rounded(&(total - spent), RoundingMode::Down)))
            }
            (Exact::Infinite, Exact::Finite(_)) => Self::infinity(),
            _ => Self::zero(),
        }
    }

    /// Returns the binary64 that converts to this amount. If no binary64 does, returns the smallest one above
    /// the amount.
    pub fn to_f64_up(&self) -> f64 {
        let nearest = self.nearest();
        if self.is_read_from(nearest) || Self::exactly(nearest) >= *self {
            nearest
        } else {
            nearest.next_up()
        }
    }

    /// Returns the binary64 that converts to this amount. If no binary64 does, returns the largest one below
    /// the amount.
    pub fn to_f64_down(&self) -> f64 {
        let nearest = self.nearest();
        if self.is_read_from(nearest) || Self::exactly(nearest) <= *self {
            nearest
        } else {
            nearest.next_down()
        }
    }

    fn nearest(&self) -> f64 {
        match &self.0 {
            // A sum may exceed the largest binary64.
            Exact::Finite(value) => value.to_scientific_notation().parse().unwrap_or(f64::INFINITY),
            Exact::Infinite => f64::INFINITY,
        }
    }

    /// Returns whether `value` converts to this amount.
    fn is_read_from(&self, value: f64) -> bool {
        Self::try_from(value).is_ok_and(|read| read == *self)
    }

    /// Exact value of a non-negative number.
    fn exactly(value: f64) -> Self {
        Self(BigDecimal::try_from(value).map_or(Exact::Infinite, Exact::Finite))
    }
}

/// Compares the amount with the conversion of a binary64.
impl PartialEq<f64> for Amount {
    fn eq(&self, value: &f64) -> bool {
        self.is_read_from(*value)
    }
}

/// Converts a binary64 by the rule of [`Amount`].
impl TryFrom<f64> for Amount {
    type Error = NoAmount;

    fn try_from(value: f64) -> Result<Self> {
        if value.is_nan() || value < 0.0 {
            return Err(out_of_range(value));
        }
        let shortest = format!("{value:e}");
        let digits = shortest.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
        if digits > SURVIVING_DIGITS || value.is_infinite() || value.is_subnormal() {
            return Ok(Self::exactly(value));
        }
        Ok(shortest.parse().map_or_else(|_| Self::exactly(value), |read| Self(Exact::Finite(read))))
    }
}

/// Parses an amount. Long texts, and numbers outside the range of binary64, are handled before the exact
/// decimal is computed.
impl std::str::FromStr for Amount {
    type Err = NoAmount;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            |problem: String| NoAmount::Text { text: scumble_core::text::abridged(text, 60), problem };
        if text.len() > LONGEST_TEXT {
            return Err(wrong(format!("it has more than {LONGEST_TEXT} characters")));
        }
        let value = number::parse(text).map_err(wrong)?;
        if value.is_nan() || value.is_sign_negative() && value != 0.0 {
            return Err(out_of_range(value));
        }
        if value.is_infinite() {
            return Ok(Self::infinity());
        }
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        match (value == 0.0, mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'))) {
            (true, true) => return Err(wrong("it is below the smallest number, 5e-324".into())),
            (true, false) => return Ok(Self::zero()),
            _ => {}
        }
        // The number is in the range of binary64, so the following operations are fast.
        let typed: BigDecimal = text.parse().map_err(|_| wrong("it is not a number".into()))?;
        let shortest = format!("{value:e}").parse::<BigDecimal>();
        if shortest.is_ok_and(|shortest| shortest == typed) {
            return Self::try_from(value);
        }
        Ok(Self(Exact::Finite(typed.normalized())))
    }
}

fn out_of_range(value: f64) -> NoAmount {
    scumble_core::Error::Budget { name: "an amount", range: "zero or more", value }.into()
}

impl Add for &Amount {
    type Output = Amount;

    fn add(self, other: &Amount) -> Amount {
        match (&self.0, &other.0) {
            (Exact::Finite(one), Exact::Finite(other)) => Amount(Exact::Finite(one + other)),
            _ => Amount::infinity(),
        }
    }
}

impl<'a> std::iter::Sum<&'a Amount> for Amount {
    fn sum<I: Iterator<Item = &'a Amount>>(amounts: I) -> Self {
        amounts.fold(Self::zero(), |sum, amount| &sum + amount)
    }
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::zero(), |sum, amount| &sum + &amount)
    }
}

/// Returns `value`, rounded to 17 digits if it has more than 30.
fn rounded(value: &BigDecimal, mode: RoundingMode) -> BigDecimal {
    let value = value.normalized();
    if value.digits() <= MOST_DIGITS {
        value
    } else {
        value.with_precision_round(SHOWN_DIGITS, mode).normalized()
    }
}

/// Displays the digits as typed. An amount of more than 30 digits is rounded upward to 17 digits.
impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nearest = self.nearest();
        match &self.0 {
            Exact::Finite(value) if !self.is_read_from(nearest) => {
                let shown = rounded(value, RoundingMode::Up);
                match nearest {
                    1e-4..1e9 => formatter.write_str(&shown.to_plain_string()),
                    _ => formatter.write_str(&shown.to_scientific_notation()),
                }
            }
            _ => formatter.write_str(&number::short(nearest)),
        }
    }
}

/// Serializes as a JSON number if that number converts to the amount, and otherwise as text with every digit.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match &self.0 {
            Exact::Finite(value) if !self.is_read_from(self.nearest()) => {
                serializer.serialize_str(&value.normalized().to_scientific_notation())
            }
            _ => number::serialize(&self.nearest(), serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => text.parse().map_err(D::Error::custom),
            Value::Number(number) => {
                let value =
                    number.as_f64().ok_or_else(|| D::Error::custom("an amount above the largest number"))?;
                Self::try_from(value).map_err(D::Error::custom)
            }
            _ => Err(D::Error::custom("an amount must be a number, or text that holds a number")),
        }
    }
}

/// Pair of ε and δ: the total of an account, or a cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Spending {
    epsilon: Amount,
    delta: Amount,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    epsilon: Amount,
    delta: Amount,
}

impl TryFrom<Unchecked> for Spending {
    type Error = NoAmount;

    fn try_from(Unchecked { epsilon, delta }: Unchecked) -> Result<Self> {
        Self::new(epsilon, delta)
    }
}

impl Spending {
    /// Creates a pair of ε and δ, in the ranges of a [`Budget`].
    ///
    /// # Errors
    /// [`NoAmount::Number`] unless ε > 0 and 0 ≤ δ < 1.
    pub fn new(epsilon: Amount, delta: Amount) -> Result<Self> {
        // The binary64 nearest to a δ below one may be one.
        let nearest = delta.nearest();
        let is_below_one = delta < Amount::exactly(1.0);
        Budget::new(epsilon.nearest(), if is_below_one { nearest.min(1.0f64.next_down()) } else { nearest })?;
        Ok(Self { epsilon, delta })
    }

    /// ε, in nats.
    pub fn epsilon(&self) -> &Amount {
        &self.epsilon
    }

    /// δ.
    pub fn delta(&self) -> &Amount {
        &self.delta
    }
}

/// Converts both numbers by the rule of [`Amount`]. The numbers of a budget are always in range.
impl From<Budget> for Spending {
    fn from(budget: Budget) -> Self {
        let read = |value: f64| Amount::try_from(value).unwrap_or_else(|_| Amount::infinity());
        Self { epsilon: read(budget.epsilon()), delta: read(budget.delta()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Instant;

    fn read(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn an_amount_shows_as_it_was_typed() {
        for text in ["0", "0.1", "0.3", "1e-6", "10", "2.125", "0.1000000000000000001", "inf", "1e300"] {
            assert_eq!(read(text).to_string(), text);
        }
        for (text, shown) in
            [("0.10", "0.1"), ("+1", "1"), (".5", "0.5"), ("5.", "5"), ("1E1", "10"), ("-0", "0")]
        {
            assert_eq!(read(text).to_string(), shown);
        }
        assert_eq!(Amount::try_from(0.1 + 0.2).unwrap().to_string(), "0.30000000000000004");
        let sum = &Amount::try_from(0.1 + 0.2).unwrap() + &read("0.1");
        assert_eq!(sum.to_string(), "0.40000000000000005", "more than 30 digits are rounded up");
    }

    #[test]
    fn a_damaged_amount_is_refused_in_one_line_at_once() {
        let start = Instant::now();
        let zeros = "0".repeat(2_000_000);
        for text in [
            "-1",
            "-0.1",
            "NaN",
            "-inf",
            "1e400",
            "-1e400",
            "1e-400000",
            "1e-99999999999999999999",
            "1e999999999999",
            "",
            " 1",
            "1 ",
            "1_000",
            "0x10",
            "1e",
            "e5",
            "\u{661}",
            "1,5",
            "--1",
            &format!("1{zeros}"),
            &format!("0.{zeros}1"),
        ] {
            let problem = text.parse::<Amount>().unwrap_err().to_string();
            assert!(!problem.contains('\n') && problem.len() < 200, "{problem}");
        }
        assert_eq!(read("0e999999999"), Amount::zero());
        for value in [r#""1e400""#, "-1", r#""-1""#, "null", "[]", "{}", r#""0.1.2""#] {
            assert!(serde_json::from_str::<Amount>(value).is_err(), "{value}");
        }
        for value in [f64::NAN, -1.0, f64::NEG_INFINITY, -5e-324] {
            assert!(Amount::try_from(value).is_err());
        }
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn ranges_are_those_of_decimals() {
        let pair = |epsilon, delta| Spending::new(read(epsilon), read(delta));
        for (epsilon, delta) in [("0", "0"), ("1", "1"), ("1", "1.0000000000000000001"), ("1", "inf")] {
            assert!(pair(epsilon, delta).is_err(), "{epsilon}, {delta}");
        }
        for (epsilon, delta) in [("inf", "0"), ("5e-324", "5e-324"), ("1", "0.99999999999999999999")] {
            assert!(pair(epsilon, delta).is_ok(), "{epsilon}, {delta}");
        }
    }

    proptest! {
        #[test]
        fn a_number_is_within_half_a_digit_of_its_amount(bits in 1u64..0x7ff0_0000_0000_0000) {
            let value = f64::from_bits(bits);
            let (read, exact) = (Amount::try_from(value).unwrap(), Amount::exactly(value));
            prop_assert_eq!(read.to_f64_up(), value);
            prop_assert_eq!(read.to_f64_down(), value);
            prop_assert!(
                read >= Amount::exactly(value.next_down()) && read <= Amount::exactly(value.next_up())
            );
            let shortest = value.to_string();
            let digits = shortest.trim_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
            prop_assert!(read == exact || digits <= 15 || shortest.starts_with("0.0"));
            let written = serde_json::to_string(&read).unwrap();
            prop_assert_eq!(serde_json::from_str::<Amount>(&written).unwrap(), read.clone());
            prop_assert_eq!(read.to_string().parse::<Amount>().unwrap(), read);
        }

        #[test]
        fn typed_decimals_are_kept(digits in 0u64..u64::MAX, places in 0usize..24) {
            let text = format!("{}.{digits:0places$}", digits % 7);
            let read = read(&text);
            prop_assert_eq!(
                &read,
                &serde_json::from_str::<Amount>(&serde_json::to_string(&read).unwrap()).unwrap()
            );
            prop_assert!(Amount::exactly(read.to_f64_down()) <= read || read == read.to_f64_down());
            prop_assert!(Amount::exactly(read.to_f64_up()) >= read || read == read.to_f64_up());
        }

        #[test]
        fn what_is_left_is_no_more_than_the_rest(total in 0.0..10f64, spent in 0.0..10f64) {
            let (total, spent) = (Amount::try_from(total).unwrap(), Amount::try_from(spent).unwrap());
            let left = Amount::difference(&total, &spent);
            prop_assert!(spent > total || &left + &spent <= total);
        }
    }
}
