//! Lattices, and domains on them. A lattice consists of all multiples of a power of two. On a lattice, noise
//! is an integer and sensitivity is a statement about integers.

use scumble_core::{Domain, Error, Factor, Result, check_finite, check_width, largest, signed_sums};
use std::ops::Range;

/// Largest scale, in lattice steps, of noise that is drawn in bulk. Bulk draws are reduced modulo 2⁶⁴. Only a
/// draw of more than 2¹¹ times the scale exceeds 63 bits, with a probability below e^−2048.
pub(crate) const WIDEST_IN_BULK: f64 = (1u64 << 52) as f64;

/// All multiples of a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    exponent: i32,
}

impl Lattice {
    /// Multiples of 2^`exponent`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless −1000 ≤ `exponent` ≤ 0. A larger step could not represent the one-hot
    /// coordinates 0 and 1.
    pub fn new(exponent: i32) -> Result<Self> {
        if (-1000..=0).contains(&exponent) {
            return Ok(Self { exponent });
        }
        Err(Error::Domain { needs: "a lattice step between 2^-1000 and 1", given: format!("2^{exponent}") })
    }

    /// Lattice with a step at least 2³⁰ times smaller than `scale`, the scale of the noise. The step is also
    /// at least 2²⁰ times smaller than the smallest positive ℓ₁ diameter of a factor of `domain`, such as an
    /// interval. The step exceeds these limits if the noise would otherwise need more than 59 bits, or the
    /// coordinates more than 61 bits.
    pub(crate) fn for_noise(domain: &Domain, scale: f64) -> Self {
        let narrowest = domain
            .factors()
            .map(|(_, factor)| factor.l1_diameter())
            .filter(|&width| width > 0.0)
            .fold(1.0, f64::min);
        let widest =
            domain.factors().map(|(_, factor)| factor.l1_diameter().max(factor.largest_magnitude())).sum();
        let exponent = (binary_exponent(scale) - 30)
            .min(binary_exponent(narrowest) - 20)
            .max(binary_exponent(scale) - 57) // so that noise at a small ε fits 59 bits
            .max(binary_exponent(widest) - 59) // so that coordinates fit 61 bits at a large ε
            .clamp(-1000, 0);
        Self { exponent }
    }

    /// Distance between two neighbouring points of the lattice.
    pub fn step(self) -> f64 {
        2f64.powi(self.exponent)
    }

    /// `x`/step, exactly (both are floats and the step is a power of two).
    fn units(self, x: f64) -> f64 {
        x / self.step()
    }

    /// Bounds on the lattice points to which a value of `factor` may round, as integer numbers of steps.
    fn integer_bounds(self, factor: &Factor) -> Result<IntegerBounds> {
        let whole = |units: f64| {
            if units.abs() < (1i64 << 61) as f64 {
                Ok(units as i64)
            } else {
                Err(Error::Domain {
                    needs: "bounds that fit 61 bits on the lattice",
                    given: format!("{factor:?} with the step {:e}", self.step()),
                })
            }
        };
        Ok(match factor {
            Factor::Interval { lower, upper } => {
                let (lower, upper) = (whole(self.units(*lower).ceil())?, whole(self.units(*upper).floor())?);
                // An interval that contains no lattice point is represented by the lattice point below it.
                IntegerBounds::Interval(lower.min(upper), upper)
            }
            Factor::OneHot { .. } => IntegerBounds::OneHot(whole(self.units(1.0))?),
            Factor::L1Ball { radius, .. } => {
                IntegerBounds::L1Ball(whole(self.units(*radius).floor())? as u64)
            }
            Factor::L2Ball { dim, radius } => {
                IntegerBounds::L2Ball(*dim, whole(self.units(*radius).floor())? as u64)
            }
            Factor::Polytope { center, bounds } => {
                let center =
                    center.iter().map(|x| whole(self.units(*x).round())).collect::<Result<Vec<_>>>()?;
                let exact: Vec<i128> = center.iter().map(|k| i128::from(*k)).collect();
                let widened = signed_sums(&exact).into_iter().zip(bounds).map(|(sum, (lower, upper))| {
                    let (lower, upper) = (self.units(*lower), self.units(*upper));
                    // Rounding moves each coordinate by at most half a step. The rounding error of a float
                    // sum is far below 2⁻⁴⁸ times the sum.
                    let margin = center.len() as f64 * (1.0 + lower.abs().max(upper.abs()) * 2f64.powi(-48));
                    let sum = whole(sum as f64)?;
                    Ok((whole((lower - margin).floor())?.min(sum), whole((upper + margin).ceil())?.max(sum)))
                });
                let bounds = widened.collect::<Result<_>>()?;
                IntegerBounds::Polytope { center, bounds }
            }
        })
    }
}

/// Bounds of one factor of a domain, on the integers.
#[derive(Debug, Clone)]
enum IntegerBounds {
    Interval(i64, i64),
    OneHot(i64),
    L1Ball(u64),
    L2Ball(usize, u64),
    Polytope { center: Vec<i64>, bounds: Vec<(i64, i64)> },
}

impl IntegerBounds {
    /// Upper bound on ‖k − k′‖₁ over the integer points k and k′ that [`map_rounded`](Self::map_rounded) can
    /// give.
    fn l1_diameter(&self) -> u128 {
        match self {
            Self::Interval(lower, upper) => upper.abs_diff(*lower).into(),
            Self::OneHot(one) => 2 * one.unsigned_abs() as u128,
            Self::L1Ball(radius) => 2 * u128::from(*radius),
            Self::L2Ball(dim, radius) => {
                // ‖·‖₁ ≤ √dim·‖·‖₂, with √dim rounded up at its 20th binary digit.
                let root = ((*dim as u128) << 40).isqrt() + 1;
                ((2 * u128::from(*radius) * root) >> 20) + 1
            }
            Self::Polytope { bounds, .. } => {
                let widths = bounds.iter().map(|(lower, upper)| upper.abs_diff(*lower).into());
                widths.max().unwrap_or(0)
            }
        }
    }

    /// [`Spread`] of the integer points that [`map_rounded`](Self::map_rounded) can give, for the given
    /// weights of the coordinates.
    fn spread(&self, Weights { heaviest: [heaviest, second], sum }: Weights) -> Spread {
        // Upper bound from an ℓ₂ distance `length`, an ℓ₁ distance `l1`, and the summed weight of the
        // coordinates that differ.
        let spread = |length: f64, l1: f64, differing: f64| Spread {
            squared_distance: length * length * heaviest,
            distance: l1 * heaviest,
            differing,
        };
        match self {
            Self::Interval(lower, upper) => {
                let width = upper.abs_diff(*lower) as f64;
                spread(width, width, if lower < upper { heaviest } else { 0.0 })
            }
            Self::OneHot(one) => {
                let (one, both) = (one.unsigned_abs() as f64, heaviest + second);
                Spread { squared_distance: one * one * both, distance: one * both, differing: both }
            }
            Self::L1Ball(radius) | Self::L2Ball(_, radius) => {
                spread(2.0 * *radius as f64, self.l1_diameter() as f64, sum)
            }
            Self::Polytope { .. } => {
                let diameter = self.l1_diameter() as f64;
                spread(diameter, diameter, sum)
            }
        }
    }

    /// Rounds `units` (in lattice steps) to integers, and replaces each value by `to(k)` for its integer k.
    /// The bounds are enforced on the integers, so that they hold despite float errors.
    fn map_rounded(&self, units: &mut [f64], to: &mut impl FnMut(i64) -> f64) {
        match self {
            Self::Interval(lower, upper) => units[0] = to(rounded(units[0]).clamp(*lower, *upper)),
            Self::OneHot(one) => {
                let level = largest(units);
                units.iter_mut().enumerate().for_each(|(at, x)| *x = to(if at == level { *one } else { 0 }));
            }
            Self::L1Ball(radius) => {
                let mut left = *radius;
                for x in units {
                    // Rounds toward zero. The magnitude never exceeds the remaining radius `left`.
                    let k = (*x as i64).unsigned_abs().min(left);
                    left -= k;
                    *x = to(if *x < 0.0 { -(k as i64) } else { k as i64 });
                }
            }
            Self::L2Ball(_, radius) => {
                // Each coordinate takes what is left of the squared radius, the largest one last. Cutting it
                // moves a point just outside the ball by about the distance from the ball. A cut of a small
                // coordinate could move the point by the root of this distance.
                let last = units.iter().enumerate().max_by(|x, y| x.1.abs().total_cmp(&y.1.abs()));
                let last = last.map_or(0, |(at, _)| at);
                let take = |x: f64, left: &mut u128| {
                    let k = u128::from((x as i64).unsigned_abs()).min(left.isqrt());
                    *left -= k * k;
                    if x < 0.0 { -(k as i64) } else { k as i64 }
                };
                let whole = u128::from(*radius) * u128::from(*radius);
                let mut rest = whole;
                units.iter().enumerate().filter(|(at, _)| *at != last).for_each(|(_, x)| {
                    take(*x, &mut rest);
                });
                let mut left = whole;
                for (at, x) in units.iter_mut().enumerate() {
                    *x = to(take(*x, if at == last { &mut rest } else { &mut left }));
                }
            }
            Self::Polytope { center, bounds } => {
                let point: Vec<i64> = units.iter().map(|x| x.round() as i64).collect();
                let exact: Vec<i128> = point.iter().map(|k| i128::from(*k)).collect();
                let mut sums = signed_sums(&exact).into_iter().zip(bounds);
                let is_within = sums
                    .all(|(sum, (lower, upper))| (i128::from(*lower)..=i128::from(*upper)).contains(&sum));
                let rounded = if is_within { &point } else { center };
                units.iter_mut().zip(rounded).for_each(|(x, &k)| *x = to(k));
            }
        }
    }
}

/// Nearest whole number, away from zero in a tie. The result equals the result of `f64::round`, without a
/// function call.
fn rounded(x: f64) -> i64 {
    (x + 0.5f64.next_down().copysign(x)) as i64
}

/// Summary of the weights of a set of coordinates, from which a [`Spread`] is computed.
#[derive(Debug, Clone, Copy)]
struct Weights {
    /// The two largest weights. The second is zero if there is only one coordinate.
    heaviest: [f64; 2],
    sum: f64,
}

impl Weights {
    fn new(weights: &[f64]) -> Self {
        let heaviest = weights.iter().fold([0.0, 0.0], |[first, second], &weight| {
            if weight > first { [weight, first] } else { [first, weight.max(second)] }
        });
        Self { heaviest, sum: weights.iter().sum() }
    }

    /// Summary of `count` equal weights.
    fn alike(weight: f64, count: usize) -> Self {
        let heaviest = [weight, if count > 1 { weight } else { 0.0 }];
        Self { heaviest, sum: weight * count as f64 }
    }
}

/// Upper bounds on weighted distances between any two points k and k′ of a set, in lattice steps. Coordinate
/// j has the weight wⱼ. Each field bounds a sum over the coordinates in which k and k′ differ.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spread {
    /// Upper bound on Σ wⱼ(kⱼ − kⱼ′)² for points k and k′, where coordinate j has the weight wⱼ.
    pub(crate) squared_distance: f64,
    /// Upper bound on Σ wⱼ|kⱼ − kⱼ′| for points k and k′, where coordinate j has the weight wⱼ.
    pub(crate) distance: f64,
    /// Upper bound on Σ wⱼ over the coordinates j in which two points differ, where wⱼ is the weight of j.
    pub(crate) differing: f64,
}

/// Domain on a lattice: the integer points to which points of the domain are rounded.
///
/// The domain's bounds are enforced again on the integers, so that no float error affects a diameter.
#[derive(Debug, Clone)]
pub(crate) struct IntegerDomain {
    lattice: Lattice,
    bounds: Vec<(Range<usize>, IntegerBounds)>,
}

impl IntegerDomain {
    /// Integer points to which `lattice` rounds the points of `domain`.
    ///
    /// # Errors
    /// [`Error::Domain`] if a bound of `domain` is not below 2⁶¹ lattice steps.
    pub(crate) fn new(domain: &Domain, lattice: Lattice) -> Result<Self> {
        let bounds = domain.factors().map(|(at, factor)| Ok((at, lattice.integer_bounds(factor)?)));
        Ok(Self { lattice, bounds: bounds.collect::<Result<_>>()? })
    }

    pub(crate) fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// Upper bound on ‖k − k′‖₁ for two points k and k′ of the integer domain, in lattice steps.
    pub(crate) fn l1_diameter(&self) -> u128 {
        self.bounds.iter().map(|(_, bounds)| bounds.l1_diameter()).sum()
    }

    /// [`Spread`] of the points of the integer domain, for `weights` (one per coordinate). Its sums are not
    /// rounded up. `None` if the squared distance is not a finite float. For a domain with a single point,
    /// the squared distance is the least weight, as for two points one step apart. No claim then states a
    /// privacy cost of zero.
    pub(crate) fn spread(&self, weights: &[f64]) -> Option<Spread> {
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        self.summed(|at| Weights::new(&weights[at]), least)
    }

    /// [`Spread`] of the points of the integer domain if every coordinate has the weight `weight`.
    pub(crate) fn spread_alike(&self, weight: f64) -> Option<Spread> {
        self.summed(|at| Weights::alike(weight, at.len()), weight)
    }

    fn summed(&self, weights: impl Fn(Range<usize>) -> Weights, least: f64) -> Option<Spread> {
        let whole = self.bounds.iter().fold(Spread::default(), |sum, (at, bounds)| {
            let own = bounds.spread(weights(at.clone()));
            Spread {
                squared_distance: sum.squared_distance + own.squared_distance,
                distance: sum.distance + own.distance,
                differing: sum.differing + own.differing,
            }
        });
        let squared_distance = if whole.squared_distance > 0.0 { whole.squared_distance } else { least };
        squared_distance.is_finite().then_some(Spread { squared_distance, ..whole })
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.bounds.last().map_or(0, |(at, _)| at.end)
    }

    /// Rounds `point` to the lattice within the domain, and adds to each coordinate the noise that `draw`
    /// returns.
    ///
    /// # Errors
    /// [`Error::Shape`] if the width of the point differs from the width of the domain. [`Error::NonFinite`]
    /// for a NaN or an infinity.
    pub(crate) fn add(&self, point: &mut [f64], mut draw: impl FnMut() -> i128) -> Result<()> {
        let step = self.lattice.step();
        self.map_rounded(point, |k| {
            let sum = i128::from(k) + draw();
            // Both conversions give the same float, but the conversion of an i64 takes one instruction.
            i64::try_from(sum).map_or_else(|_| sum as f64, |sum| sum as f64) * step
        })
    }

    /// Adds noise to points, one after the other. `fill` makes the draws for all coordinates of one point at
    /// a time.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub(crate) fn add_to_all<'p>(
        &self,
        points: impl Iterator<Item = &'p mut [f64]>,
        mut fill: impl FnMut(&mut [i64]),
    ) -> Result<()> {
        let (step, mut draws) = (self.lattice.step(), vec![0; self.dim()]);
        for point in points {
            fill(&mut draws);
            let mut draws = draws.iter();
            self.map_rounded(point, |k| k.saturating_add(draws.next().copied().unwrap_or(0)) as f64 * step)?;
        }
        Ok(())
    }

    /// Displacement of each coordinate of `released` from the lattice point to which `point` is rounded, in
    /// lattice steps.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub(crate) fn displacement(&self, point: &[f64], released: &[f64]) -> Result<Vec<f64>> {
        let (rounded, per_step) = (self.round(point)?, self.lattice.units(1.0));
        check_width(rounded.len(), released.len())?;
        Ok(rounded.iter().zip(released).map(|(&k, x)| x * per_step - k as f64).collect())
    }

    fn round(&self, point: &[f64]) -> Result<Vec<i64>> {
        let mut rounded = Vec::with_capacity(point.len());
        self.map_rounded(&mut point.to_vec(), |k| {
            rounded.push(k);
            k as f64
        })?;
        Ok(rounded)
    }

    /// Rounds each coordinate of `point` to an integer number k of steps, and replaces the coordinate by
    /// `to(k)`. The coordinates are replaced in ascending order.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    fn map_rounded(&self, point: &mut [f64], mut to: impl FnMut(i64) -> f64) -> Result<()> {
        check_width(self.dim(), point.len())?;
        check_finite(point)?;
        let per_step = self.lattice.units(1.0); // a power of two, so that products are exact
        point.iter_mut().for_each(|x| *x *= per_step);
        for (at, bounds) in &self.bounds {
            bounds.map_rounded(&mut point[at.clone()], &mut to);
        }
        Ok(())
    }
}

/// Information of a release about one coordinate: χ²/step², increased by a relative margin of 2⁻⁴⁰.
/// `chi_squared` is the χ² divergence between a noise distribution and the same distribution shifted by one
/// lattice step. The margin covers the effect of lattices on sums of information.
///
/// For two independent releases of one coordinate, the factors 1 + χ² multiply. A release with the divergence
/// χ² has the information I = χ²/step². The sum I₁ + I₂ for the two releases therefore lacks the term
/// step²·I₁·I₂. This term is about 2⁻⁶⁰ of the sum if the lattice is 2³⁰ times finer than the noise. If two
/// releases have different lattices, points that differ on both lattices are at least one step of the coarser
/// lattice apart. At this distance, the divergence of the release on the finer lattice may no longer be
/// quadratic in the distance. As a rule, two neighbours on the finer lattice are rounded to the same point of
/// the coarser lattice. The release on the coarser lattice then discloses nothing about their difference.
pub(crate) fn information(chi_squared: f64, step: f64) -> f64 {
    chi_squared / (step * step) * (1.0 + 2f64.powi(-40))
}

/// ⌊log₂ x⌋ of a float x, limited to [−1000, 1000]; −1000 for zero.
fn binary_exponent(x: f64) -> i32 {
    (x.log2().floor() as i32).clamp(-1000, 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn everything() -> Domain {
        Domain::product([
            Domain::interval(-0.7, 1.3).unwrap(),
            Domain::one_hot(3).unwrap(),
            Domain::l1_ball(4, 1.5).unwrap(),
            Domain::l2_ball(3, 0.3).unwrap(),
            Domain::polytope(vec![0.1, 0.2], vec![(-1.0, 1.5), (-0.7, 0.3)]).unwrap(),
        ])
        .unwrap()
    }

    #[test]
    fn a_factor_that_cannot_vary_differs_nowhere() {
        let domain =
            Domain::product([Domain::interval(0.5, 0.5).unwrap(), Domain::one_hot(40).unwrap()]).unwrap();
        let points = IntegerDomain::new(&domain, Lattice::new(-4).unwrap()).unwrap();
        assert_eq!(points.l1_diameter(), 32);
        let spread = points.spread(&[1.0; 41]).unwrap();
        assert_eq!((spread.squared_distance, spread.distance, spread.differing), (512.0, 32.0, 2.0));
    }

    proptest! {
        #[test]
        fn whole_numbers_are_those_of_the_standard_library(
            bits: u64,
            near in -1_000_000i64..1_000_000,
            power in 0..62,
        ) {
            let power = 2f64.powi(power);
            let near = [near as f64 / 2.0, power + near as f64 / 2.0, power - 0.5, f64::from_bits(bits)];
            for x in near.into_iter().flat_map(|x| [x, x.next_up(), x.next_down(), -x]) {
                prop_assert_eq!(rounded(x), x.round() as i64, "{}", x);
            }
        }

        /// Privacy: no two inputs, including extreme ones, round to integers further apart than the
        /// diameters.
        #[test]
        fn integers_never_lie_further_apart_than_the_diameters(
            one in prop::collection::vec(prop_oneof![-2.0..2.0_f64, -1e12..1e12_f64], 13),
            two in prop::collection::vec(prop_oneof![-2.0..2.0_f64, -1e12..1e12_f64], 13),
            exponent in -24..=-1_i32,
            weights in prop::collection::vec(0.1..2.0_f64, 13),
        ) {
            let points = IntegerDomain::new(&everything(), Lattice::new(exponent).unwrap()).unwrap();
            let (a, b) = (points.round(&one).unwrap(), points.round(&two).unwrap());
            let distances: Vec<u128> = a.iter().zip(&b).map(|(x, y)| x.abs_diff(*y).into()).collect();
            prop_assert!(distances.iter().sum::<u128>() <= points.l1_diameter(), "{a:?} and {b:?}");
            let spread = points.spread(&weights).unwrap();
            let weighted = |power: i32| -> f64 {
                distances.iter().zip(&weights).map(|(x, weight)| (*x as f64).powi(power) * weight).sum()
            };
            let differing: f64 =
                distances.iter().zip(&weights).filter(|(x, _)| **x > 0).map(|(_, weight)| weight).sum();
            prop_assert!(weighted(2) <= spread.squared_distance * (1.0 + 1e-12), "{a:?} and {b:?}");
            prop_assert!(weighted(1) <= spread.distance * (1.0 + 1e-12), "{a:?} and {b:?}");
            prop_assert!(differing <= spread.differing * (1.0 + 1e-12), "{a:?} and {b:?}");
        }

        /// Accuracy: before noise, a point of the domain moves by less than two lattice steps per coordinate,
        /// also near an axis of the ℓ₂ ball.
        #[test]
        fn rounding_moves_a_point_of_the_domain_by_little(
            point in prop::collection::vec(-2.0..2.0_f64, 13),
            tiny in 8..11_usize,
            size in -10.0..0.0_f64,
        ) {
            let domain = everything();
            let mut point = point;
            point[tiny] *= 10f64.powf(size);
            domain.project(&mut point).unwrap();
            let lattice = Lattice::for_noise(&domain, 1.0);
            let rounded = IntegerDomain::new(&domain, lattice).unwrap().round(&point).unwrap();
            for (x, k) in point.iter().zip(rounded) {
                prop_assert!((x - k as f64 * lattice.step()).abs() < 2.0 * lattice.step(), "{x} became {k}");
            }
        }
    }
}
