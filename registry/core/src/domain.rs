//! Domains: sets of points. A claim of privacy holds for all points of a domain.

use crate::{Error, Result, polytope};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Maximum number of coordinates of a domain. Without this limit, a saved domain could ask for any amount of
/// memory.
const MOST_COORDINATES: usize = 1 << 24;

/// One indivisible factor of a [`Domain`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "set", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Factor {
    /// One coordinate between two bounds.
    Interval {
        /// The smallest value.
        lower: f64,
        /// The largest value.
        upper: f64,
    },
    /// One coordinate per level. One coordinate is 1 and the others are 0. The ℓ₁ diameter is 2 for any
    /// number of levels.
    OneHot {
        /// The number of levels.
        levels: usize,
    },
    /// All points with ‖x‖₁ ≤ radius.
    L1Ball {
        /// The number of coordinates.
        dim: usize,
        /// The radius.
        radius: f64,
    },
    /// All points with ‖x‖₂ ≤ radius.
    L2Ball {
        /// The number of coordinates.
        dim: usize,
        /// The radius.
        radius: f64,
    },
    /// All points x of Z coordinates with lower ≤ sᵀx ≤ upper for every vector s of Z signs ±1 that begins
    /// with +1. Each s has its own bounds `lower` and `upper`. The tightest bounds around some given points
    /// make a set with the same ℓ₁ diameter as these points (errata T2 in `papers/errata/task-aware.md`).
    /// [`Domain::project`] moves a point that lies outside the set towards `center`.
    Polytope {
        /// Point within the set (Z coordinates, at most 12).
        center: Vec<f64>,
        /// Pairs (lower, upper), one for each of the 2^(Z−1) vectors s. The s of pair number k has −1 in
        /// coordinate j + 2 for each set bit j of k, and +1 in the others. Pairs and bits are counted from 0,
        /// coordinates from 1.
        bounds: Vec<(f64, f64)>,
    },
}

impl Factor {
    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        match self {
            Self::Interval { .. } => 1,
            Self::OneHot { levels } => *levels,
            Self::L1Ball { dim, .. } | Self::L2Ball { dim, .. } => *dim,
            Self::Polytope { center, .. } => center.len(),
        }
    }

    /// max ‖x − x′‖₁ over the points x and x′ of the set.
    pub fn l1_diameter(&self) -> f64 {
        match self {
            Self::Interval { lower, upper } => upper - lower,
            Self::OneHot { .. } => 2.0,
            Self::L1Ball { radius, .. } => 2.0 * radius,
            Self::L2Ball { dim, radius } => 2.0 * radius * (*dim as f64).sqrt(),
            Self::Polytope { bounds, .. } => polytope::width(bounds),
        }
    }

    /// max ‖x − x′‖₂ over the points x and x′ of the set; an upper bound for a polytope.
    pub fn l2_diameter(&self) -> f64 {
        match self {
            Self::Interval { lower, upper } => upper - lower,
            Self::OneHot { .. } => std::f64::consts::SQRT_2,
            Self::L1Ball { radius, .. } | Self::L2Ball { radius, .. } => 2.0 * radius,
            Self::Polytope { bounds, .. } => polytope::width(bounds),
        }
    }

    /// Two points whose ℓ₂ distance is `l2_diameter`: the bounds of an interval, two levels of a group, or
    /// opposite ends of a ball. For a polytope, two points whose ℓ₁ distance is `l1_diameter`, up to
    /// rounding.
    fn l2_farthest(&self) -> [Vec<f64>; 2] {
        match self {
            Self::Interval { lower, upper } => [vec![*lower], vec![*upper]],
            Self::OneHot { levels } => [vertex(*levels, 0, 1.0), vertex(*levels, levels - 1, 1.0)],
            Self::L1Ball { dim, radius } | Self::L2Ball { dim, radius } => {
                [vertex(*dim, 0, *radius), vertex(*dim, 0, -radius)]
            }
            Self::Polytope { center, bounds } => polytope::farthest(center, bounds),
        }
    }

    /// Two points whose ℓ₁ distance is `l1_diameter`, up to rounding.
    fn l1_farthest(&self) -> [Vec<f64>; 2] {
        match self {
            Self::L2Ball { dim, radius } => {
                let mut along = vec![*radius; *dim];
                self.project(&mut along);
                let back = along.iter().map(|x| -x).collect();
                [along, back]
            }
            _ => self.l2_farthest(),
        }
    }

    /// Largest absolute value of a coordinate over the points of the set; an upper bound for a polytope.
    #[must_use]
    pub fn largest_magnitude(&self) -> f64 {
        match self {
            Self::Interval { lower, upper } => lower.abs().max(upper.abs()),
            Self::OneHot { .. } => 1.0,
            Self::L1Ball { radius, .. } | Self::L2Ball { radius, .. } => *radius,
            // A coordinate is half the sum or half the difference of two signed sums sᵀx, which the bounds
            // limit.
            Self::Polytope { bounds, .. } => {
                bounds.iter().fold(0.0, |most, (lower, upper)| most.max(lower.abs()).max(upper.abs()))
            }
        }
    }

    fn center(&self) -> Vec<f64> {
        match self {
            Self::Interval { lower, upper } => vec![lower + (upper - lower) / 2.0],
            Self::OneHot { levels } => vec![1.0 / *levels as f64; *levels],
            Self::L1Ball { dim, .. } | Self::L2Ball { dim, .. } => vec![0.0; *dim],
            Self::Polytope { center, .. } => center.clone(),
        }
    }

    fn squared_radius(&self) -> f64 {
        match self {
            Self::Interval { lower, upper } => ((upper - lower) / 2.0).powi(2),
            Self::OneHot { levels } => 1.0 - 1.0 / *levels as f64,
            Self::L1Ball { radius, .. } | Self::L2Ball { radius, .. } => radius * radius,
            Self::Polytope { center, bounds } => polytope::radius(center, bounds).powi(2),
        }
    }

    fn check(&self) -> Result<()> {
        let (needs, fine) = match self {
            Self::Interval { lower, upper } => (
                "finite bounds in ascending order, a finite distance apart",
                lower <= upper && (upper - lower).is_finite(),
            ),
            Self::OneHot { levels } => ("two levels or more", *levels >= 2),
            Self::L1Ball { dim, radius } | Self::L2Ball { dim, radius } => (
                "at least one coordinate and a finite radius above zero",
                *dim > 0 && radius.is_finite() && *radius > 0.0,
            ),
            Self::Polytope { center, bounds } => return polytope::check(center, bounds),
        };
        if fine {
            return Ok(());
        }
        Err(Error::Domain { needs, given: format!("{self:?}") })
    }

    fn contains(&self, point: &[f64]) -> bool {
        match self {
            Self::Interval { lower, upper } => (lower..=upper).contains(&&point[0]),
            Self::OneHot { .. } => {
                point.iter().filter(|&&x| x == 1.0).count() == 1
                    && point.iter().filter(|&&x| x == 0.0).count() == point.len() - 1
            }
            Self::L1Ball { radius, .. } => l1_norm(point) <= *radius,
            Self::L2Ball { radius, .. } => l2_norm(point) <= *radius,
            Self::Polytope { bounds, .. } => polytope::contains(bounds, point),
        }
    }

    /// Moves a finite point into the set: clamps it to an interval, moves it to the nearest point of a
    /// one-hot group, or moves it towards the centre of a ball or polytope.
    fn project(&self, point: &mut [f64]) {
        match self {
            Self::Interval { lower, upper } => point[0] = point[0].clamp(*lower, *upper),
            Self::OneHot { .. } => {
                let level = largest(point);
                point.fill(0.0);
                point[level] = 1.0;
            }
            Self::L1Ball { radius, .. } => rescale(point, *radius, l1_norm),
            Self::L2Ball { radius, .. } => rescale(point, *radius, l2_norm),
            Self::Polytope { center, bounds } => polytope::project(center, bounds, point),
        }
    }
}

/// Set on which a claim holds: a product of intervals, one-hot groups, balls and polytopes, in the order of
/// the coordinates.
///
/// A box is a product of intervals. Every mechanism first projects records into its domain.
///
/// ```
/// use scumble_core::Domain;
///
/// let domain = Domain::product([Domain::interval(0.0, 1.0)?, Domain::one_hot(5)?])?;
/// assert_eq!((domain.dim(), domain.l1_diameter()), (6, 3.0));
///
/// let mut point = [1.7, 0.0, 0.0, 0.9, 0.0, 0.2];
/// domain.project(&mut point)?;
/// assert_eq!(point, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Factor>", into = "Vec<Factor>")]
pub struct Domain {
    factors: Vec<Factor>,
    /// Number of coordinates. It is cached, because each point of a release is checked against it.
    dim: usize,
}

impl TryFrom<Vec<Factor>> for Domain {
    type Error = Error;

    fn try_from(factors: Vec<Factor>) -> Result<Self> {
        factors.iter().try_for_each(Factor::check)?;
        let dim = factors.iter().try_fold(0usize, |dim, factor| dim.checked_add(factor.dim()));
        if dim.is_none_or(|dim| dim > MOST_COORDINATES) {
            return Err(Error::Domain { needs: "no more than 2^24 coordinates", given: "more".into() });
        }
        let domain = Self::from_factors(factors);
        if !domain.l1_diameter().is_finite() {
            return Err(Error::Domain { needs: "points a finite distance apart", given: "more".into() });
        }
        Ok(domain)
    }
}

impl From<Domain> for Vec<Factor> {
    fn from(domain: Domain) -> Self {
        domain.factors
    }
}

impl Domain {
    /// Domain without coordinates, which contains one point.
    pub fn empty() -> Self {
        Self::from_factors(vec![])
    }

    /// One coordinate in [`lower`, `upper`].
    ///
    /// # Errors
    /// [`Error::Domain`] unless the bounds are finite and in order.
    pub fn interval(lower: f64, upper: f64) -> Result<Self> {
        vec![Factor::Interval { lower, upper }].try_into()
    }

    /// `dim` coordinates in [0, 1], the encoding of a schema's real columns.
    pub fn unit_box(dim: usize) -> Self {
        let unit = Factor::Interval { lower: 0.0, upper: 1.0 };
        Self::from_factors(vec![unit; dim])
    }

    /// One-hot group of `levels` coordinates: one is 1, the others are 0.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are two levels or more.
    pub fn one_hot(levels: usize) -> Result<Self> {
        vec![Factor::OneHot { levels }].try_into()
    }

    /// ℓ₁ ball of this radius around the origin, in `dim` dimensions.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `dim` and the radius are above zero and finite.
    pub fn l1_ball(dim: usize, radius: f64) -> Result<Self> {
        vec![Factor::L1Ball { dim, radius }].try_into()
    }

    /// ℓ₂ ball of this radius around the origin, in `dim` dimensions.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `dim` and the radius are above zero and finite.
    pub fn l2_ball(dim: usize, radius: f64) -> Result<Self> {
        vec![Factor::L2Ball { dim, radius }].try_into()
    }

    /// Points between pairs of parallel faces with these `bounds`, around a `center` of Z coordinates: see
    /// [`Factor::Polytope`].
    ///
    /// # Errors
    /// [`Error::Domain`] unless Z is 1 to 12, there are 2^(Z−1) pairs of bounds a finite distance apart, and
    /// the centre lies within all of them.
    pub fn polytope(center: Vec<f64>, bounds: Vec<(f64, f64)>) -> Result<Self> {
        vec![Factor::Polytope { center, bounds }].try_into()
    }

    /// Product of `domains`, with their coordinates one after the other.
    ///
    /// # Errors
    /// [`Error::Domain`] for more than 2²⁴ coordinates, or if the ℓ₁ diameter of the product is infinite.
    pub fn product(domains: impl IntoIterator<Item = Domain>) -> Result<Self> {
        let factors: Vec<Factor> = domains.into_iter().flat_map(|d| d.factors).collect();
        factors.try_into()
    }

    /// Number of coordinates, d.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Product of factors that were already checked.
    fn from_factors(factors: Vec<Factor>) -> Self {
        let dim = factors.iter().map(Factor::dim).sum();
        Self { factors, dim }
    }

    /// Factors, each with the coordinates that it covers.
    pub fn factors(&self) -> impl Iterator<Item = (Range<usize>, &Factor)> {
        self.factors.iter().scan(0, |start, factor| {
            let coordinates = *start..*start + factor.dim();
            *start = coordinates.end;
            Some((coordinates, factor))
        })
    }

    /// Lower and upper bound of each coordinate; `None` unless all factors are intervals of positive width.
    ///
    /// ```
    /// use scumble_core::Domain;
    ///
    /// assert_eq!(Domain::unit_box(2).intervals(), Some(vec![(0.0, 1.0); 2]));
    /// assert_eq!(Domain::one_hot(2)?.intervals(), None);
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    pub fn intervals(&self) -> Option<Vec<(f64, f64)>> {
        let bounds = self.factors.iter().map(|factor| match factor {
            Factor::Interval { lower, upper } if lower < upper => Some((*lower, *upper)),
            _ => None,
        });
        bounds.collect()
    }

    /// max ‖x − x′‖₁ over the points x and x′ of the domain.
    pub fn l1_diameter(&self) -> f64 {
        self.factors.iter().map(Factor::l1_diameter).sum()
    }

    /// max ‖x − x′‖₂ over the points x and x′ of the domain; an upper bound if the domain has a polytope.
    pub fn l2_diameter(&self) -> f64 {
        let squares = self.factors.iter().map(|f| f.l2_diameter().powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Two points as far apart in ℓ₁ as the domain allows.
    pub fn l1_farthest(&self) -> [Vec<f64>; 2] {
        join(self.factors.iter().map(Factor::l1_farthest))
    }

    /// Two points as far apart in ℓ₂ as the domain allows. In a polytope, the points are as far apart in ℓ₁
    /// as it allows.
    pub fn l2_farthest(&self) -> [Vec<f64>; 2] {
        join(self.factors.iter().map(Factor::l2_farthest))
    }

    /// Centre of the domain (d values): the middle of each interval and ball, the mean of the points of each
    /// one-hot group, and the stated centre of each polytope.
    pub fn center(&self) -> Vec<f64> {
        self.factors.iter().flat_map(Factor::center).collect()
    }

    /// max ‖x − c‖₂² over the points x of the domain, where c is its [`center`](Self::center): the largest
    /// squared error of c as an estimate. An upper bound if the domain has a polytope.
    pub fn squared_radius(&self) -> f64 {
        self.factors.iter().map(Factor::squared_radius).sum()
    }

    /// Returns whether `point` (d values) lies in the domain.
    pub fn contains(&self, point: &[f64]) -> bool {
        point.len() == self.dim()
            && self.factors().all(|(coordinates, factor)| factor.contains(&point[coordinates]))
    }

    /// Moves `point` (d values) into the domain. A coordinate of an interval is clamped to it. In a one-hot
    /// group, the largest coordinate becomes 1 and the others 0; if several are largest, the first becomes 1.
    /// A point outside a ball or polytope moves towards the centre of the ball or polytope.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong width. [`Error::NonFinite`] for a NaN or an infinity, with the
    /// coordinate's number as the column, and row 1.
    pub fn project(&self, point: &mut [f64]) -> Result<()> {
        check_width(self.dim(), point.len())?;
        check_finite(point)?;
        for (coordinates, factor) in self.factors() {
            factor.project(&mut point[coordinates]);
        }
        Ok(())
    }

    /// Domain of the coordinates after those of `first`. This domain must begin with the factors of `first`.
    pub(crate) fn without_first(&self, first: &Domain) -> Self {
        Self::from_factors(self.factors[first.factors.len().min(self.factors.len())..].to_vec())
    }

    /// Product of the factors that cover exactly the coordinates `selected`, in this order.
    ///
    /// # Errors
    /// [`Error::Shape`] if `selected` has a coordinate that does not exist, or splits or reorders the
    /// coordinates of a group, ball or polytope.
    pub fn restrict(&self, selected: &[usize]) -> Result<Self> {
        Factors::new(self).covering(selected)
    }
}

/// Factors of a domain, for look-up by their coordinates.
pub(crate) struct Factors<'d>(Vec<(Range<usize>, &'d Factor)>);

impl<'d> Factors<'d> {
    pub(crate) fn new(domain: &'d Domain) -> Self {
        Self(domain.factors().collect())
    }

    /// Product of the factors that cover `selected`, like [`Domain::restrict`].
    ///
    /// # Errors
    /// [`Error::Shape`] if `selected` has a coordinate that does not exist, or splits or reorders the
    /// coordinates of a group, ball or polytope.
    pub(crate) fn covering(&self, selected: &[usize]) -> Result<Domain> {
        let mut taken = vec![];
        let mut rest = selected;
        while let Some(&first) = rest.first() {
            let at = self.0.partition_point(|(coordinates, _)| coordinates.start < first);
            let whole = self.0.get(at).filter(|(coordinates, _)| {
                rest.len() >= coordinates.len()
                    && coordinates.clone().eq(rest[..coordinates.len()].iter().copied())
            });
            let Some((coordinates, factor)) = whole else {
                return Err(Error::shape(format!(
                    "coordinate {first} of the domain cannot be taken without the rest of its group or ball, \
                     in order"
                )));
            };
            taken.push((*factor).clone());
            rest = &rest[coordinates.len()..];
        }
        Ok(Domain::from_factors(taken))
    }
}

/// Joins pairs of points of factors to a pair of points of their product.
pub(crate) fn join(pairs: impl Iterator<Item = [Vec<f64>; 2]>) -> [Vec<f64>; 2] {
    pairs.fold([vec![], vec![]], |[mut one, mut other], [one_more, other_more]| {
        one.extend(one_more);
        other.extend(other_more);
        [one, other]
    })
}

/// Point with `value` in coordinate `at` and 0 in the others.
fn vertex(dim: usize, at: usize, value: f64) -> Vec<f64> {
    (0..dim).map(|coordinate| if coordinate == at { value } else { 0.0 }).collect()
}

/// Index of the largest coordinate, the first if several are equal.
pub fn largest(point: &[f64]) -> usize {
    (1..point.len()).fold(0, |best, at| if point[at] > point[best] { at } else { best })
}

fn l1_norm(point: &[f64]) -> f64 {
    point.iter().map(|x| x.abs()).sum()
}

/// ℓ₂ norm. The coordinates are divided by the largest absolute value before they are squared, so that no
/// square overflows.
fn l2_norm(point: &[f64]) -> f64 {
    let unit = point.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if unit == 0.0 {
        return 0.0;
    }
    unit * point.iter().map(|x| (x / unit).powi(2)).sum::<f64>().sqrt()
}

fn rescale(point: &mut [f64], radius: f64, norm: fn(&[f64]) -> f64) {
    let unit = point.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if norm(point) <= radius {
        return;
    }
    // Scale to the unit cube first, so that a norm near the largest float does not become infinite.
    point.iter_mut().for_each(|x| *x /= unit);
    let mut factor = radius / norm(point);
    let direction = point.to_vec();
    // Rounding may leave the point just outside. It is then shrunk a little, and by twice as much each time
    // until it is inside.
    let mut shrinkage = f64::EPSILON;
    loop {
        for (x, along) in point.iter_mut().zip(&direction) {
            *x = along * factor;
        }
        if norm(point) <= radius {
            return;
        }
        factor *= 1.0 - shrinkage;
        shrinkage *= 2.0;
    }
}

/// Checks that all coordinates of a point are finite.
///
/// # Errors
/// [`Error::NonFinite`] if a coordinate is not finite; the error states the first such coordinate.
pub fn check_finite(point: &[f64]) -> Result<()> {
    match point.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::NonFinite { row: 1, column: (at + 1).to_string(), value: point[at] }),
    }
}

/// Checks that a point has the expected number of coordinates.
///
/// # Errors
/// [`Error::Shape`] if the two numbers differ.
pub fn check_width(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::shape(format!("a record has {found} values, and the domain has {expected} coordinates")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;

    fn everything() -> Domain {
        Domain::product([
            Domain::interval(-2.0, 3.0).unwrap(),
            Domain::one_hot(3).unwrap(),
            Domain::l1_ball(4, 1.5).unwrap(),
            Domain::l2_ball(2, 0.5).unwrap(),
        ])
        .unwrap()
    }

    #[test]
    fn diameters_are_those_of_the_sets() {
        let domain = everything();
        assert_eq!(domain.dim(), 10);
        assert_eq!(domain.l1_diameter(), 5.0 + 2.0 + 3.0 + 2.0_f64.sqrt());
        assert_eq!(domain.l2_diameter(), (25.0 + 2.0 + 9.0 + 1.0_f64).sqrt());
        assert_eq!(Domain::one_hot(1000).unwrap().l1_diameter(), 2.0);
    }

    #[test]
    fn the_farthest_points_are_a_diameter_apart() {
        let domain = everything();
        let distances = |[one, other]: [Vec<f64>; 2]| {
            assert!(domain.contains(&one) && domain.contains(&other), "{one:?} {other:?}");
            one.iter().zip(other).map(|(x, y)| (x - y).abs()).collect::<Vec<f64>>()
        };
        let l1: f64 = distances(domain.l1_farthest()).iter().sum();
        let l2: f64 = distances(domain.l2_farthest()).iter().map(|x| x * x).sum();
        assert_abs_diff_eq!(l1, domain.l1_diameter(), epsilon = 1e-12);
        assert_abs_diff_eq!(l2.sqrt(), domain.l2_diameter(), epsilon = 1e-12);
    }

    #[test]
    fn no_point_is_further_from_the_center_than_the_radius() {
        let domain = everything();
        let center = domain.center();
        assert_eq!(center[..4], [0.5, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(domain.squared_radius(), 6.25 + (1.0 - 1.0 / 3.0) + 2.25 + 0.25);
        for farthest in [domain.l1_farthest(), domain.l2_farthest()].concat() {
            let squared: f64 = farthest.iter().zip(&center).map(|(x, c)| (x - c).powi(2)).sum();
            assert!(squared <= domain.squared_radius() + 1e-12, "{farthest:?}");
        }
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        for refused in [
            Domain::interval(1.0, 0.0),
            Domain::interval(0.0, f64::INFINITY),
            Domain::interval(-1e308, 1e308),
            Domain::l1_ball(usize::MAX, 1.0),
            Domain::l2_ball(2, 1.7e308),
            Domain::product(vec![Domain::interval(0.0, 1e308).unwrap(); 2]),
            Domain::one_hot(1),
            Domain::l1_ball(0, 1.0),
            Domain::l2_ball(3, f64::NAN),
        ] {
            assert!(matches!(refused, Err(Error::Domain { .. })), "{refused:?}");
        }
    }

    #[test]
    fn a_wide_point_is_rescaled_in_few_steps() {
        let mut point = vec![1e-3; 1_000_000];
        let ball = Domain::l1_ball(point.len(), 1.0).unwrap();
        ball.project(&mut point).unwrap();
        assert!(ball.contains(&point));
        assert!(l1_norm(&point) > 1.0 - 1e-9, "it shrank to {}", l1_norm(&point));
    }

    #[test]
    fn a_nan_is_an_error_never_a_point() {
        let mut point = [0.5, f64::NAN];
        let error = Domain::unit_box(2).project(&mut point).unwrap_err();
        assert!(matches!(error, Error::NonFinite { .. }), "{error}");
    }

    #[test]
    fn a_group_is_not_taken_apart() {
        let domain = everything();
        assert_eq!(domain.restrict(&[1, 2, 3]).unwrap(), Domain::one_hot(3).unwrap());
        assert!(domain.restrict(&[1, 2]).is_err());
        assert!(domain.restrict(&[99]).is_err());
    }

    #[test]
    fn a_saved_domain_is_checked_when_it_is_read() {
        let text = serde_json::to_string(&everything()).unwrap();
        assert_eq!(serde_json::from_str::<Domain>(&text).unwrap(), everything());
        let changed = text.replace("1.5", "-1.5");
        assert!(serde_json::from_str::<Domain>(&changed).is_err(), "{changed}");
    }

    proptest! {
        #[test]
        fn a_projection_lies_in_the_domain_and_stays_where_it_is(
            point in prop::collection::vec(prop_oneof![-3.0..3.0_f64, -1e300..1e300_f64], 10)
        ) {
            let domain = everything();
            let mut projected = point.clone();
            domain.project(&mut projected).unwrap();
            prop_assert!(domain.contains(&projected), "{projected:?}");
            let again = { let mut again = projected.clone(); domain.project(&mut again).unwrap(); again };
            prop_assert_eq!(&again, &projected);
            if domain.contains(&point) {
                prop_assert_eq!(projected, point);
            }
        }
    }
}
