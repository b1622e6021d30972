//! Sets of latents. A mechanism moves each output of its encoder into such a set, whose ℓ₁ diameter is the
//! sensitivity.

use crate::sample::squared_norm;
use crate::sensitivity::{sign_bounds, signs};
use ndarray::{Array1, ArrayView1, ArrayView2, Axis};
use schemars::JsonSchema;
use scumble_core::{Domain, Factor, Result};
use serde::{Deserialize, Serialize};

/// Largest number of latents for a polytope. A polytope of Z latents has 2^(Z−1) pairs of parallel faces, and
/// the latents of every record are compared with all pairs.
const MOST_SIGNED: usize = 12;

/// Records whose latents define the set of latents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sensitivity {
    /// The volunteers' records. The latents of other people that lie outside the resulting set are moved into
    /// it (errata T2).
    #[default]
    Empirical,
    /// All records of the domain.
    Domain,
}

/// A set that contains each latent vector minus `origin` (Z values).
pub(crate) struct Latents {
    pub(crate) set: Domain,
    pub(crate) origin: Array1<f64>,
}

impl Latents {
    /// Returns a set that contains the N `points` of Z coordinates (N × Z) and has a small ℓ₁ diameter. For
    /// up to [`MOST_SIGNED`] latents it is a polytope with pairs of parallel faces and the ℓ₁ diameter of the
    /// points. For more latents, or if a bound overflows, it is a box or an ℓ₁ ball, whichever has the
    /// smaller diameter.
    ///
    /// # Errors
    /// [`Error::Domain`](scumble_core::Error::Domain) if the points are so far apart that their bounds
    /// overflow.
    pub(crate) fn from_points(points: ArrayView2<f64>) -> Result<Self> {
        let latents = points.ncols();
        let center = points.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(latents));
        if latents <= MOST_SIGNED
            && let Ok(bounds) = sign_bounds(points)
        {
            return Ok(Self { set: polytope(center, bounds)?, origin: Array1::zeros(latents) });
        }
        let range = |column: ArrayView1<f64>| {
            column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)))
        };
        let box_set = between(points.axis_iter(Axis(1)).map(range))?;
        let far = |point: ArrayView1<f64>| (&point - &center).iter().map(|x| x.abs()).sum::<f64>();
        let radius = points.outer_iter().map(far).fold(0.0, f64::max);
        if radius > 0.0 && 2.0 * radius < box_set.l1_diameter() {
            return Ok(Self { set: Domain::l1_ball(latents, radius)?, origin: center });
        }
        Ok(Self { set: box_set, origin: Array1::zeros(latents) })
    }

    /// Returns the ℓ₂ ball around the mean of the N `points` of Z coordinates (N × Z) that contains them.
    ///
    /// # Errors
    /// [`Error::Domain`](scumble_core::Error::Domain) if the points are so far apart that the radius
    /// overflows.
    pub(crate) fn ball(points: ArrayView2<f64>) -> Result<Self> {
        let origin = points.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(points.ncols()));
        let far = |point: ArrayView1<f64>| squared_norm((&point - &origin).view());
        let radius = points.outer_iter().map(far).fold(0.0, f64::max).sqrt();
        Ok(Self { set: Domain::l2_ball(points.ncols(), radius)?, origin })
    }

    /// Returns a set that contains the latents Ax + c of all points x of `domain`. Here A is `map` (Z latents
    /// × n features) and c is `constant` (Z values). For up to [`MOST_SIGNED`] latents it is a polytope with
    /// the ℓ₁ diameter of these latents, or with a larger diameter if a factor of `domain` is a polytope. For
    /// more latents it is a box. Rounding may leave a latent just outside the set; a mechanism then moves it
    /// into the set.
    ///
    /// # Errors
    /// Same errors as [`from_points`](Self::from_points).
    pub(crate) fn from_domain(
        map: ArrayView2<f64>,
        constant: ArrayView1<f64>,
        domain: &Domain,
    ) -> Result<Self> {
        let latents = map.nrows();
        let origin = Array1::zeros(latents);
        let bounds_along = |direction: ArrayView1<f64>| {
            let (along, start) = (direction.dot(&map), direction.dot(&constant));
            domain.factors().fold((start, start), |(lower, upper), (at, factor)| {
                let (least, most) = extremes(factor, &along.as_slice().unwrap_or(&[])[at]);
                (lower + least, upper + most)
            })
        };
        if latents <= MOST_SIGNED {
            let all =
                (0..1usize << (latents - 1)).map(|index| signs(index, latents).collect::<Array1<f64>>());
            let bounds = all.map(|direction| bounds_along(direction.view())).collect();
            let center = &map.dot(&Array1::from(domain.center())) + &constant;
            return Ok(Self { set: polytope(center, bounds)?, origin });
        }
        let axes = ndarray::Array2::<f64>::eye(latents);
        Ok(Self { set: between(axes.outer_iter().map(bounds_along))?, origin })
    }
}

/// Builds the polytope of all v with lo ≤ sᵀv ≤ hi for each sign vector s, where `bounds` has one pair (lo,
/// hi) per s. `center` satisfies the bounds up to rounding.
fn polytope(center: Array1<f64>, mut bounds: Vec<(f64, f64)>) -> Result<Domain> {
    // Latents outside the polytope are moved towards its centre. Between two very close faces, even latents
    // just outside would move far. Widening such a pair does not increase the ℓ₁ diameter, because the widest
    // pair determines it.
    let least = 1e-3 * bounds.iter().map(|(lower, upper)| upper - lower).fold(0.0, f64::max);
    for (lower, upper) in &mut bounds {
        let missing = (least - (*upper - *lower)).max(0.0);
        (*lower, *upper) = (*lower - missing / 2.0, *upper + missing / 2.0);
    }
    for (index, (lower, upper)) in bounds.iter_mut().enumerate() {
        let sum: f64 = signs(index, center.len()).zip(&center).map(|(sign, x)| sign * x).sum();
        let margin = 1e-14 * largest(center.as_slice().unwrap_or(&[])) * center.len() as f64;
        (*lower, *upper) = (lower.min(sum - margin), upper.max(sum + margin));
    }
    Domain::polytope(center.to_vec(), bounds)
}

/// Builds the box with `bounds` (lower, upper) for each coordinate.
pub(crate) fn between(bounds: impl Iterator<Item = (f64, f64)>) -> Result<Domain> {
    let intervals = bounds.map(|(lower, upper)| Domain::interval(lower, upper));
    Domain::product(intervals.collect::<Result<Vec<_>>>()?)
}

/// Computes the least and the largest g·x in the direction `g`, over the points x of a factor of a domain.
fn extremes(factor: &Factor, g: &[f64]) -> (f64, f64) {
    let around = |half: f64| (-half, half);
    match factor {
        Factor::Interval { lower, upper } => {
            let (a, b) = (g[0] * lower, g[0] * upper);
            (a.min(b), a.max(b))
        }
        Factor::OneHot { .. } => {
            g.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)))
        }
        Factor::L1Ball { radius, .. } => around(radius * largest(g)),
        Factor::L2Ball { radius, .. } => around(radius * dot(g, g).sqrt()),
        // The ℓ₁ diameter is an upper bound on the ℓ₁ distance of a point from the centre.
        Factor::Polytope { center, .. } => {
            let (middle, reach) = (dot(g, center), factor.l1_diameter() * largest(g));
            (middle - reach, middle + reach)
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn largest(g: &[f64]) -> f64 {
    g.iter().fold(0.0, |most, x| most.max(x.abs()))
}
