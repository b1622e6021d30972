//! Sensitivity of a linear map over a product of sets.

use super::error::check_finite;
use super::rounding::up;
use super::scaled::Scaled;
use super::search::widest;
use super::set::{Set, check_sizes};
use super::{Error, Result, Sensitivity};
use ndarray::{ArrayView1, ArrayView2};

/// Number of outputs of a map up to which all sign vectors are searched.
const OUTPUTS_FOR_CERTAIN: usize = 20;
/// Maximum number of nodes of a search over sign vectors. For a map of n inputs, each node adds n numbers to
/// n others.
const MOST_NODES: usize = 1 << OUTPUTS_FOR_CERTAIN;

/// Computes max ‖E(x − x′)‖₁ for the `map` E (Z × n) and x, x′ in a product of `sets`.
///
/// The coordinates of the sets correspond to the columns of E, in the same order.
///
/// For a single one-hot group, the value is exact if the levels can be compared in about ten seconds. For
/// other sets, it is exact for up to 20 outputs, for a single ℓ₁ ball, and for a box of up to 20 numbers. It
/// is also exact if branch and bound over the sign vectors s ∈ {±1}^Z ends within a fixed number of nodes. In
/// all other cases it is an upper bound, the lesser of two sums. The first adds, over the rows e of E, the
/// spreads max eᵀx − min eᵀx over the product of `sets`. The second adds, over the sets, a bound on the
/// spread of each set in all directions Eᵀs.
///
/// The value applies to exact products of E with x. The caller must add the rounding errors of computing
/// these products in floating point.
///
/// # Errors
/// [`Error::Shape`] unless the sets have n coordinates together, [`Error::NonFinite`] if an entry of `map` is
/// not finite. [`Error::Size`] if a width or a radius is negative or not finite, [`Error::Overflow`] if a sum
/// could overflow.
pub fn linear(map: ArrayView2<f64>, sets: &[Set]) -> Result<Sensitivity> {
    check_sizes(sets)?;
    let dim: usize = sets.iter().map(Set::dim).sum();
    if dim != map.ncols() {
        let columns = map.ncols();
        return Err(Error::Shape(format!(
            "the sets have {dim} coordinates, and the map has {columns} columns"
        )));
    }
    check_finite("the map", map)?;
    scaled_sensitivity(&Scaled::new(map, sets), is_constant(map, sets))
}

/// Computes max ‖E(x − x′)‖₁ for x, x′ in a box of `widths` (n values).
///
/// The value is max Σⱼ wⱼ·|Σᵢ sᵢEᵢⱼ| over the sign vectors s, for the `map` E (Z × n) and the widths wⱼ.
///
/// # Errors
/// Same errors as [`linear`].
pub fn linear_over_box(map: ArrayView2<f64>, widths: ArrayView1<f64>) -> Result<Sensitivity> {
    let sets: Vec<Set> = widths.iter().map(|width| Set::Interval { width: *width }).collect();
    linear(map, &sets)
}

/// Computes max ‖vᵢ − vⱼ‖₁ over pairs of the `points` v₁ … v_N (N × Z).
///
/// Points near the centre that cannot be part of the farthest pair are set aside. The other points are
/// compared in pairs. If it is less work than comparing pairs, branch and bound instead computes the maximum
/// of max sᵀvᵢ − min sᵀvᵢ over 2^{Z−1} sign vectors s. If both methods would take more than about ten
/// seconds, the value is an upper bound.
///
/// # Errors
/// [`Error::Shape`] if there are no points, [`Error::NonFinite`] if a value is not finite,
/// [`Error::Overflow`] if a distance could overflow.
pub fn over_points(points: ArrayView2<f64>) -> Result<Sensitivity> {
    if points.nrows() == 0 {
        return Err(Error::Shape("there are no points, and at least one is needed".to_owned()));
    }
    check_finite("the points", points)?;
    // A point is the image of a one-hot vector under a map.
    linear(points.t(), &[Set::OneHot { levels: points.nrows() }])
}

pub(crate) fn scaled_sensitivity(scaled: &Scaled, is_constant: bool) -> Result<Sensitivity> {
    let (size, roundings) = scaled.size()?;
    if is_constant {
        return Ok(Sensitivity { value: 0.0, is_exact: true });
    }
    let (outputs, inputs) = (scaled.rows.len(), scaled.width());
    let transposed = if inputs < outputs { scaled.transposed() } else { None };
    let searched = match &transposed {
        None if scaled.needs_no_search() => None,
        None => search(scaled),
        Some(transposed) => search(transposed),
    };
    let (widest, is_exact) = match searched {
        Some(widest) => (widest, true),
        None => scaled.bound(),
    };
    let roundings = match (&transposed, is_exact) {
        (None, true) => roundings,
        _ => roundings + outputs + inputs,
    };
    Ok(Sensitivity { value: up(widest, roundings, size), is_exact })
}

fn search(scaled: &Scaled) -> Option<f64> {
    let rows: Vec<&[f64]> = scaled.rows.iter().map(Vec::as_slice).collect();
    widest(&rows, |direction| scaled.spread(direction), 0.0, MOST_NODES)
}

/// Returns true if `map` is constant on the product of `sets`. The test has no rounding errors, because it
/// only compares entries.
fn is_constant(map: ArrayView2<f64>, sets: &[Set]) -> bool {
    let mut start = 0;
    sets.iter().all(|set| {
        let columns = start..start + set.dim();
        start = columns.end;
        let block = map.slice(ndarray::s![.., columns]);
        match set {
            Set::Interval { width: size }
            | Set::L1Ball { radius: size, .. }
            | Set::L2Ball { radius: size, .. } => *size == 0.0 || block.iter().all(|entry| *entry == 0.0),
            Set::OneHot { .. } => {
                block.outer_iter().all(|row| row.iter().all(|entry| Some(entry) == row.first()))
            }
        }
    })
}
