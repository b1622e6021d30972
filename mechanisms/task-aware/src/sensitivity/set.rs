//! Products of simple sets.

use super::rounding::{add_up, check};
use super::{Error, Result, Sensitivity};

/// A factor of a product of sets, over which the sensitivity of a map is computed. It has consecutive
/// coordinates. Its location is irrelevant, because only differences of points matter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Set {
    /// An interval of numbers.
    Interval {
        /// Width of the interval.
        width: f64,
    },
    /// The ℓ₁ ball Σ |xᵢ| ≤ r.
    L1Ball {
        /// Number of coordinates.
        dim: usize,
        /// Radius r.
        radius: f64,
    },
    /// The ℓ₂ ball Σ xᵢ² ≤ r².
    L2Ball {
        /// Number of coordinates.
        dim: usize,
        /// Radius r.
        radius: f64,
    },
    /// One-hot vectors: a single one, and zeros.
    OneHot {
        /// Number of coordinates.
        levels: usize,
    },
}

impl Set {
    /// Returns the number of coordinates.
    pub fn dim(&self) -> usize {
        match self {
            Set::Interval { .. } => 1,
            Set::L1Ball { dim, .. } | Set::L2Ball { dim, .. } => *dim,
            Set::OneHot { levels } => *levels,
        }
    }

    /// Returns the largest ℓ₁ distance of two points of the set, rounded up to at most the second next float.
    fn diameter(&self) -> f64 {
        match *self {
            Set::Interval { width } => width,
            Set::L1Ball { dim: 0, .. } | Set::L2Ball { dim: 0, .. } | Set::OneHot { levels: 0 | 1 } => 0.0,
            Set::L1Ball { radius, .. } | Set::L2Ball { dim: 1, radius } => 2.0 * radius,
            Set::L2Ball { radius: 0.0, .. } => 0.0,
            Set::L2Ball { dim, radius } => (2.0 * radius * (dim as f64).sqrt().next_up()).next_up(),
            Set::OneHot { .. } => 2.0,
        }
    }
}

/// Computes the largest ℓ₁ distance of two points in a product of sets, exactly except for upward rounding.
///
/// This distance is the sensitivity of the records themselves, or of any map whose outputs are clipped to the
/// sets. For an ℓ₁ ball of radius l it is 2l, and for a box the sum of its widths.
///
/// # Errors
/// [`Error::Size`] unless widths and radii are finite and not negative, [`Error::Overflow`] if a sum of them
/// could overflow.
pub fn diameter(sets: &[Set]) -> Result<Sensitivity> {
    check_sizes(sets)?;
    let value = check(sets.iter().map(Set::diameter).fold(0.0, add_up))?;
    Ok(Sensitivity { value, is_exact: true })
}

pub(crate) fn check_sizes(sets: &[Set]) -> Result<()> {
    for (at, set) in sets.iter().enumerate() {
        let (name, value) = match *set {
            Set::Interval { width } => ("width", width),
            Set::L1Ball { radius, .. } | Set::L2Ball { radius, .. } => ("radius", radius),
            Set::OneHot { .. } => continue,
        };
        if !(value.is_finite() && value >= 0.0) {
            return Err(Error::Size { set: at, name, value });
        }
        check(value)?;
    }
    Ok(())
}
