//! Sensitivity of a map over a set: max ‖g(x) − g(x′)‖₁, exactly or by a bound that is marked as one.
//!
//! Everything follows from ‖v‖₁ = max sᵀv over the signs s ∈ {±1}^Z. The distance is the largest spread of
//! sᵀg over the set. For a linear map E this is the spread of the set in the direction Eᵀs. For a product of
//! sets it is the sum of their spreads, in one common direction.
//!
//! ```
//! use ndarray::array;
//! use scumble_task_aware::sensitivity::{Set, linear, over_points};
//!
//! // Two numbers of widths 1 and 2, and which of three levels: the columns of the map in this order.
//! let map = array![[1.0, 0.5, 0.0, 1.0, -1.0], [1.0, -0.5, 0.0, 3.0, 0.0]];
//! let sets = [Set::Interval { width: 1.0 }, Set::Interval { width: 2.0 }, Set::OneHot { levels: 3 }];
//! let sensitivity = linear(map.view(), &sets)?;
//! // With s = (1, 1): |2|·1 + |0|·2, and 4 − (−1). With s = (1, −1): |0|·1 + |1|·2, and 0 − (−2).
//! assert!(sensitivity.is_exact && (sensitivity.value - 7.0).abs() < 1e-12 && sensitivity.value >= 7.0);
//!
//! let points = array![[0.0, 0.0], [1.0, 1.0], [3.0, -1.0]];
//! assert!((over_points(points.view())?.value - 4.0).abs() < 1e-12);
//! # Ok::<(), scumble_task_aware::sensitivity::Error>(())
//! ```

mod error;
mod linear;
mod norm;
mod points;
mod polytope;
mod rounding;
mod scaled;
mod search;
mod set;
mod spectral;

pub use error::{Error, Result};
pub use linear::{linear, linear_over_box, over_points};
pub use polytope::{MOST_LATENTS, sign_bounds, signs};
pub use set::{Set, diameter};

/// Largest distance ‖g(x) − g(x′)‖₁, rounded up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// Upper bound on the distance, in the units of the map's outputs. It includes all rounding errors: about
    /// 10⁻¹³ of the value, or 10⁻¹² for maps with hundreds of rows or columns.
    pub value: f64,
    /// True if two points of the set reach the value, except for rounding. Otherwise all pairs may be nearer.
    pub is_exact: bool,
}
