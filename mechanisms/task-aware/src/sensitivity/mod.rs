//! Sensitivity of a map over a set: max ‖g(x) − g(x′)‖₁, exactly or by a bound that is marked as one.
//!
//! Everything follows from ‖v‖₁ = max sᵀv over the signs s ∈ {±1}^Z. The distance is the largest spread of
//! sᵀg over the set. For a linear map E this is the spread of the set in the direction Eᵀs. For a product of
//! sets it is the sum of their spreads, in one common direction.
//!
//! The result is never too small:
//!
//! | over | value | exact |
//! |---|---|---|
//! | an ℓ₁ ball | 2r·(largest ℓ₁ norm of a column) | always |
//! | one-hot vectors | the largest distance of two columns: points | as points |
//! | a box | max Σⱼ wⱼ·\|Σᵢ sᵢEᵢⱼ\| over the signs s | up to 20 outputs or inputs, else if the search ends |
//! | an ℓ₂ ball | 2r·max ‖Eᵀs‖₂ | up to 20 outputs, else if the search ends |
//! | a product | the sum of the above in one direction Eᵀs | likewise |
//! | points | max (max sᵀvᵢ − min sᵀvᵢ), or by pairs | if either takes less than about ten seconds |
//! | clipped outputs | the diameter of the clipping set: 2l, or Σ wⱼ | always |
//!
//! - **A tree of signs, not Gray's order.** Each partial sum has at most Z roundings. Branches are pruned:
//!   the spread is a seminorm, so the remaining rows add at most their own spreads. Twenty outputs of 24
//!   numbers take 13 ms, of 784 numbers 1.3 s.
//! - **The shorter side of a box.** Signs of outputs and corners of inputs are the same problem, transposed.
//! - **Points near the middle are set aside.** A walk from farthest point to farthest point finds a large
//!   distance. Only points whose norms add up to more can be farther apart. 100,000 points take 0.1 s with 10
//!   or 16 latents and 0.3 s with 30. On an ℓ₁ sphere, where no point can be set aside, they take 0.2 s with
//!   10 and 9 s with 16. The 512 bounds of 10 latents take 0.1 s more, the 32,768 of 16 about 5 s. (One core,
//!   at the tests' optimisation level.)
//! - **A bound without an exact answer** is the lesser of a sum over outputs and a sum over sets. The bound
//!   for a set is the lesser of the column sums and of √(nZ)·σ₁ for a box or 2r√Z·σ₁ for a ball. For
//!   Sylvester's matrix of 64 rows the bound is 516, the exact value 512 and the sum over columns 4096. σ₁
//!   comes from powers of the Gram matrix, because a decomposition has no provable rounding bound.
//! - **Rounding is included.** The error of a sum of k terms is at most ku/(1 − ku) of their magnitudes. Four
//!   times this is added, plus underflow; numbers that could overflow are an error. Tests compare with
//!   128-bit integers. Rounding in a mechanism's own use of its map belongs to the mechanism.
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
