//! Privacy budgets (ε, δ) and their arithmetic. Sums and parts are computed exactly and rounded once to the
//! safe side: sums upward, parts of a budget downward.

use crate::{Error, Result, number};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};

/// Privacy budget of a release: ε in (0, ∞], in nats, and δ in [0, 1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Budget {
    #[serde(with = "number")]
    epsilon: f64,
    delta: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    #[serde(with = "number")]
    epsilon: f64,
    delta: f64,
}

impl TryFrom<Unchecked> for Budget {
    type Error = Error;

    fn try_from(budget: Unchecked) -> Result<Self> {
        Self::new(budget.epsilon, budget.delta)
    }
}

impl Budget {
    /// Creates the budget (ε, δ).
    ///
    /// # Errors
    /// [`Error::Budget`] unless ε > 0 and 0 ≤ δ < 1.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self> {
        check_epsilon(epsilon)?;
        if !(0.0..1.0).contains(&delta) {
            return Err(Error::Budget { name: "delta", range: "zero or more and below one", value: delta });
        }
        Ok(Self { epsilon, delta })
    }

    /// Creates the budget (ε, 0).
    ///
    /// # Errors
    /// [`Error::Budget`] unless ε > 0.
    pub fn pure(epsilon: f64) -> Result<Self> {
        Self::new(epsilon, 0.0)
    }

    /// ε, in nats. An infinite ε permits any release.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Checks that δ is above zero, as Gaussian noise requires. At ε = ∞ δ may be zero, because no noise is
    /// needed.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if δ is zero and ε is finite.
    pub fn check_for_gaussian(&self, mechanism: &str) -> Result<()> {
        match self.delta {
            0.0 if self.epsilon.is_finite() => {
                Err(Error::not_applicable(mechanism, "Gaussian noise needs a δ above zero, for example 1e-6"))
            }
            _ => Ok(()),
        }
    }

    /// Splits ε and δ into two parts: the fraction `share`, and the rest. The parts never add up to more than
    /// the whole.
    ///
    /// # Errors
    /// [`Error::Budget`] unless 0 < `share` < 1, or if the ε of a part rounds to zero.
    pub fn split(&self, share: f64) -> Result<(Self, Self)> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::Budget {
                name: "a share",
                range: "strictly between zero and one",
                value: share,
            });
        }
        let part = |total: f64| {
            let first = exact(share).and_then(|s| exact(total).map(|t| down(&(s * t))));
            let first = first.unwrap_or(total);
            let rest = match (exact(total), exact(first)) {
                (Some(total), Some(first)) => down(&(total - first)),
                _ => total,
            };
            (first, rest)
        };
        let (epsilon, delta) = (part(self.epsilon), part(self.delta));
        Ok((Self::new(epsilon.0, delta.0)?, Self::new(epsilon.1, delta.1)?))
    }

    /// One of `parts` equal parts of ε and δ. Together the parts never add up to more than the whole.
    ///
    /// # Errors
    /// [`Error::Budget`] if `parts` is zero, or if the ε of a part rounds to zero.
    pub fn divide(&self, parts: usize) -> Result<Self> {
        if parts == 0 {
            return Err(Error::Budget { name: "the number of parts", range: "one or more", value: 0.0 });
        }
        let part = |total: f64| match exact(total) {
            Some(total) => down(&(total / BigInt::from(parts))),
            None => total,
        };
        Self::new(part(self.epsilon), part(self.delta))
    }
}

/// Checks that ε is above zero; infinity is allowed.
///
/// # Errors
/// [`Error::Budget`] for zero, a negative value or a NaN.
pub fn check_epsilon(epsilon: f64) -> Result<()> {
    if epsilon > 0.0 {
        return Ok(());
    }
    Err(Error::Budget { name: "epsilon", range: "above zero (\"inf\" for no privacy)", value: epsilon })
}

/// Checks δ < 1/n, where n is the number `people` of volunteers. A δ of 1/n permits publishing one record,
/// picked uniformly at random.
///
/// # Errors
/// [`Error::DeltaOfVolunteers`] unless δ < 1/n.
pub fn check_delta(delta: f64, people: usize) -> Result<()> {
    if delta < 1.0 / people as f64 {
        return Ok(());
    }
    Err(Error::DeltaOfVolunteers { delta, volunteers: people })
}

/// Sum of values of ε or δ. It is computed exactly and rounded once, upward, so it is never below the exact
/// sum.
///
/// The sum is infinite if one value is infinite. Parts made by [`Budget::split`] or [`Budget::divide`] sum to
/// their whole or less.
pub fn sum_up(spent: impl IntoIterator<Item = f64>) -> f64 {
    let total = spent
        .into_iter()
        .try_fold(BigRational::from(BigInt::ZERO), |total, part| exact(part).map(|part| total + part));
    total.map_or(f64::INFINITY, |total| up(&total))
}

/// Sum of two nonnegative values, with the same result as [`sum_up`]. This function computes without rational
/// numbers, because it is called often.
pub(crate) fn add_up(one: f64, other: f64) -> f64 {
    let sum = one + other;
    if !sum.is_finite() {
        return f64::INFINITY;
    }
    // Exact rounding error of the sum (Knuth's two-sum).
    let other_part = sum - one;
    let left_out = (one - (sum - other_part)) + (other - other_part);
    if left_out > 0.0 { sum.next_up() } else { sum }
}

fn exact(value: f64) -> Option<BigRational> {
    BigRational::from_float(value)
}

/// Largest `f64` at or below `value`, which is not negative.
fn down(value: &BigRational) -> f64 {
    let mut candidate = value.to_f64().unwrap_or(0.0).min(f64::MAX);
    while exact(candidate).is_some_and(|c| c > *value) {
        candidate = candidate.next_down();
    }
    candidate
}

/// Smallest `f64` at or above `value`, which is not negative; infinite if `value` exceeds the largest finite
/// `f64`.
fn up(value: &BigRational) -> f64 {
    let below = down(value);
    match exact(below) {
        Some(exactly) if exactly == *value => below,
        _ => below.next_up(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tenth_three_times_is_not_three_tenths() {
        // In floating point 0.1 + 0.1 + 0.1 rounds to 0.30000000000000004, and 0.3 lies below the exact sum.
        assert_eq!(sum_up([0.1; 3]), 0.30000000000000004);
        assert!(sum_up([0.1; 3]) > 0.3);
    }

    proptest! {
        #[test]
        fn two_are_added_up_as_many_are(one in 0.0..1e3f64, other in 0.0..1.0f64, exponent in -60..60i32) {
            let other = other * 2f64.powi(exponent);
            prop_assert_eq!(add_up(one, other), sum_up([one, other]));
        }
    }

    #[test]
    fn an_infinite_part_makes_the_sum_infinite() {
        assert_eq!(sum_up([1.0, f64::INFINITY]), f64::INFINITY);
        assert_eq!(sum_up([]), 0.0);
        assert_eq!(sum_up([f64::MAX; 2]), f64::INFINITY);
        assert_eq!(sum_up([f64::MAX]), f64::MAX);
    }

    #[test]
    fn an_infinite_budget_has_infinite_shares() {
        let whole = Budget::pure(f64::INFINITY).unwrap();
        assert_eq!(whole.split(0.3).unwrap(), (whole, whole));
        assert_eq!(whole.divide(7).unwrap(), whole);
    }

    #[test]
    fn what_is_no_budget_is_refused_with_its_value() {
        for epsilon in [0.0, -1.0, f64::NAN] {
            let message = Budget::pure(epsilon).unwrap_err().to_string();
            assert!(message.contains(&epsilon.to_string()), "{message}");
        }
        assert!(Budget::new(1.0, 1.0).is_err());
        assert!(Budget::pure(1.0).unwrap().split(1.0).is_err());
        assert!(Budget::pure(1.0).unwrap().divide(0).is_err());
    }

    proptest! {
        #[test]
        fn shares_never_cost_more_than_the_whole(
            epsilon in 1e-6..100.0_f64,
            share in 0.001..0.999_f64,
            parts in 1usize..60,
        ) {
            let whole = Budget::pure(epsilon).unwrap();
            let (first, rest) = whole.split(share).unwrap();
            prop_assert!(sum_up([first.epsilon(), rest.epsilon()]) <= epsilon);
            let part = whole.divide(parts).unwrap();
            let sum = sum_up(vec![part.epsilon(); parts]);
            prop_assert!(sum <= epsilon);
            prop_assert!(sum >= epsilon * (1.0 - 1e-14), "the shares waste the budget");
        }
    }
}
