//! How far apart a map takes two points of a set: max ‖g(x) − g(x′)‖₁, exactly or by a bound that says so.
//!
//! Everything follows from ‖v‖₁ = max sᵀv over the signs s ∈ {±1}^Z: the distance is the largest spread of sᵀg over the set, and for a
//! linear map E that of a set in the direction Eᵀs. A product of sets has the sum of the spreads, in one direction for all.
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

/// The largest distance ‖g(x) − g(x′)‖₁, never less than it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// An upper bound, in the units of what the map gives. All rounding is counted: some 10⁻¹³ of it, or 10⁻¹² where a
    /// map has hundreds of rows or columns.
    pub value: f64,
    /// Whether two points of the set are so far apart, but for that rounding; else they may all be nearer.
    pub is_exact: bool,
}
