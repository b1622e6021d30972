//! Bounds on sᵀv over a set of points v, for all sign vectors s.

use super::error::check_finite;
use super::rounding::{check, up};
use super::{Error, Result};
use ndarray::{ArrayView2, Axis};

/// Maximum number of latents of [`sign_bounds`], for 32,768 bounds.
pub const MOST_LATENTS: usize = 16;

/// Number of points processed at once. They fit into the innermost cache.
const BLOCK: usize = 128;

/// Returns the sign vector s at position `index` of the result of [`sign_bounds`], for `latents` latents (Z).
/// Its first sign is 1, and the sign of coordinate j + 1, counted from 0, is −1 if bit j of `index` is set.
pub fn signs(index: usize, latents: usize) -> impl Iterator<Item = f64> {
    let sign = move |j: usize| if j > 0 && (index >> (j - 1)) & 1 == 1 { -1.0 } else { 1.0 };
    (0..latents).map(sign)
}

/// Computes the bounds (lo, hi) = (min sᵀvᵢ, max sᵀvᵢ) over the `points` v₁ … v_N (N × Z), for 2^{Z−1} sign
/// vectors s, one of each pair ±s, in the order of [`signs`].
///
/// The polytope {v : lo ≤ sᵀv ≤ hi for all s} contains all points. Its ℓ₁ diameter is at most the largest hi
/// − lo, which is the ℓ₁ diameter of the points. Bounds are rounded outward by at most (8Z + 128)·10⁻¹⁶ of
/// the largest ‖vᵢ‖₁. Round up when computing hi − lo.
///
/// # Errors
/// [`Error::Shape`] if there are no points or no latents, [`Error::Latents`] if there are more than
/// [`MOST_LATENTS`] latents. [`Error::NonFinite`] if a value is not finite, [`Error::Overflow`] if a sum
/// could overflow.
pub fn sign_bounds(points: ArrayView2<f64>) -> Result<Vec<(f64, f64)>> {
    let (count, latents) = points.dim();
    if count == 0 || latents == 0 {
        return Err(Error::Shape(format!("{count} points of {latents} latents have no bounds")));
    }
    if latents > MOST_LATENTS {
        return Err(Error::Latents { latents, most: MOST_LATENTS });
    }
    check_finite("the points", points)?;
    let norm = |point: ndarray::ArrayView1<f64>| point.iter().map(|x| x.abs()).sum::<f64>();
    let size = check(points.outer_iter().map(norm).fold(0.0, f64::max))?;
    let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); 1 << (latents - 1)];
    for block in points.axis_chunks_iter(Axis(0), BLOCK) {
        // An incomplete block repeats its first point.
        let column = |j: usize| std::array::from_fn(|i| block[[if i < block.nrows() { i } else { 0 }, j]]);
        let columns: Vec<[f64; BLOCK]> = (0..latents).map(column).collect();
        widen(&mut bounds, &columns[1..], 0, 0, &columns[0]);
    }
    for (lower, upper) in &mut bounds {
        (*lower, *upper) = (-up(-*lower, latents, size), up(*upper, latents, size));
    }
    Ok(bounds)
}

/// Widens the bounds of all sign vectors that begin with the signs of `index` for the first coordinates.
/// `sums` has the signed sums of these coordinates, one for each point of a block. The remaining coordinates
/// are `columns[at..]`, and each is both added to and subtracted from the sums.
fn widen(bounds: &mut [(f64, f64)], columns: &[[f64; BLOCK]], at: usize, index: usize, sums: &[f64; BLOCK]) {
    let Some(column) = columns.get(at) else {
        let (lower, upper) = &mut bounds[index];
        let (least, most) = least_and_most(sums);
        (*lower, *upper) = (lower.min(least), upper.max(most));
        return;
    };
    let plus = std::array::from_fn(|i| sums[i] + column[i]);
    widen(bounds, columns, at + 1, index, &plus);
    let minus = std::array::from_fn(|i| sums[i] - column[i]);
    widen(bounds, columns, at + 1, index | 1 << at, &minus);
}

fn least_and_most(values: &[f64; BLOCK]) -> (f64, f64) {
    let (mut least, mut most) = ([values[0]; 8], [values[0]; 8]);
    for chunk in values.as_chunks::<8>().0 {
        for at in 0..8 {
            least[at] = if chunk[at] < least[at] { chunk[at] } else { least[at] };
            most[at] = if chunk[at] > most[at] { chunk[at] } else { most[at] };
        }
    }
    (least.into_iter().fold(values[0], f64::min), most.into_iter().fold(values[0], f64::max))
}
