//! Polytopes between pairs of parallel faces. Each vector s of signs ±1 that begins with +1 has one pair,
//! whose bounds limit sᵀx for each point x. Task-aware mechanisms use such a polytope around the encodings of
//! volunteers' records (errata T2 in `papers/errata/task-aware.md`).

use crate::{Error, Result};

/// Maximum number Z of coordinates of a polytope. It has 2^(Z−1) pairs of faces, so more coordinates would
/// take too long.
pub(crate) const MOST_COORDINATES: usize = 12;

/// Returns sᵀ`point` for each of the 2^(Z−1) vectors s of Z signs ±1 that begin with +1, where Z is the
/// number of coordinates of `point`. The s of sum number k has −1 in coordinate j + 2 for each set bit j of
/// k, and +1 in the others. Sums and bits are counted from 0, coordinates from 1.
#[must_use]
pub fn signed_sums<T>(point: &[T]) -> Vec<T>
where
    T: Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T>,
{
    let Some((first, rest)) = point.split_first() else { return vec![] };
    rest.iter().fold(vec![*first], |sums, x| {
        let plus = sums.iter().map(|sum| *sum + *x);
        plus.chain(sums.iter().map(|sum| *sum - *x)).collect()
    })
}

/// Checks that a centre and bounds make a polytope.
///
/// # Errors
/// [`Error::Domain`] unless `center` has 1 to 12 coordinates, `bounds` has one finite pair per vector of
/// signs, and the centre lies between the two bounds of each pair.
pub(crate) fn check(center: &[f64], bounds: &[(f64, f64)]) -> Result<()> {
    let refuse = |given: String| {
        let needs = "a centre with 1 to 12 finite coordinates, and two finite bounds around it for each \
                     vector of signs";
        Err(Error::Domain { needs, given })
    };
    if !(1..=MOST_COORDINATES).contains(&center.len()) || bounds.len() != 1 << (center.len() - 1) {
        return refuse(format!("{} coordinates and {} pairs of bounds", center.len(), bounds.len()));
    }
    let is_fine = |(sum, (lower, upper)): (f64, &(f64, f64))| {
        (upper - lower).is_finite() && (*lower..=*upper).contains(&sum)
    };
    match signed_sums(center).into_iter().zip(bounds).position(|pair| !is_fine(pair)) {
        None => Ok(()),
        Some(at) => refuse(format!("the bounds {:?} around {center:?}", bounds[at])),
    }
}

pub(crate) fn contains(bounds: &[(f64, f64)], point: &[f64]) -> bool {
    signed_sums(point).iter().zip(bounds).all(|(sum, (lower, upper))| (*lower..=*upper).contains(sum))
}

/// ℓ₁ diameter, which is the largest difference between the two bounds of a pair. For two points x and x′,
/// |sᵀ(x − x′)| is ‖x − x′‖₁ if s or −s has the signs of x − x′.
pub(crate) fn width(bounds: &[(f64, f64)]) -> f64 {
    bounds.iter().map(|(lower, upper)| upper - lower).fold(0.0, f64::max)
}

/// ℓ₁ radius: no point of the polytope has a larger ℓ₁ distance from `center`.
pub(crate) fn radius(center: &[f64], bounds: &[(f64, f64)]) -> f64 {
    let sums = signed_sums(center).into_iter().zip(bounds);
    sums.map(|(sum, (lower, upper))| (upper - sum).max(sum - lower)).fold(0.0, f64::max)
}

/// Moves a finite point towards the centre until it is within the faces.
pub(crate) fn project(center: &[f64], bounds: &[(f64, f64)], point: &mut [f64]) {
    if contains(bounds, point) {
        return;
    }
    // The clamp keeps sums of coordinates finite.
    let away: Vec<f64> = point.iter().zip(center).map(|(x, c)| x.clamp(-1e300, 1e300) - c).collect();
    let shares = signed_sums(&away).into_iter().zip(signed_sums(center)).zip(bounds);
    let mut share = shares
        .map(|((along, from), (lower, upper))| match along {
            along if along > 0.0 => (upper - from) / along,
            along if along < 0.0 => (lower - from) / along,
            _ => 1.0,
        })
        .fold(1.0_f64, f64::min);
    // Rounding may leave the point just outside. It then moves a little further, and by twice as much each
    // time until it is inside.
    let mut shrinkage = f64::EPSILON;
    loop {
        point.iter_mut().zip(center).zip(&away).for_each(|((x, c), away)| *x = c + share * away);
        if contains(bounds, point) {
            return;
        }
        share = if shrinkage < 1.0 { share * (1.0 - shrinkage) } else { 0.0 };
        shrinkage *= 2.0;
        if share == 0.0 {
            point.copy_from_slice(center);
            return;
        }
    }
}

/// Two points on the widest pair of faces, one on each face. No two points of the polytope are further apart
/// in ℓ₁.
pub(crate) fn farthest(center: &[f64], bounds: &[(f64, f64)]) -> [Vec<f64>; 2] {
    let widest = (0..bounds.len()).fold(0, |best, at| {
        let width = |at: usize| bounds[at].1 - bounds[at].0;
        if width(at) > width(best) { at } else { best }
    });
    [1.0, -1.0].map(|side| {
        let mut point = farthest_along(center, bounds, &normal((widest, side), center.len()));
        project(center, bounds, &mut point);
        point
    })
}

/// Maximum number of steps of [`farthest_along`], an active-set method. Each step adds or removes one face.
const MOST_TURNS: usize = 1000;

/// Point x of the polytope with the largest `direction`ᵀx, by an active-set method for linear programmes. The
/// point starts at the centre, moves along the faces that it has met, and leaves each face that keeps it from
/// moving further.
fn farthest_along(center: &[f64], bounds: &[(f64, f64)], direction: &[f64]) -> Vec<f64> {
    let dim = center.len();
    let mut point = center.to_vec();
    let mut met: Vec<(usize, f64)> = vec![];
    for _ in 0..MOST_TURNS {
        let (units, triangle) = orthonormal(&met, dim);
        let mut along = direction.to_vec();
        let shares: Vec<f64> = units.iter().map(|unit| remove(&mut along, unit)).collect();
        let length = dot(&along, &along).sqrt();
        if length > 1e-9 * dot(direction, direction).sqrt() {
            let ways = signed_sums(&along).into_iter().zip(signed_sums(&point)).zip(bounds);
            let ways = ways.enumerate().filter_map(|(at, ((along, from), (lower, upper)))| match along {
                along if along > 1e-9 * length => Some(((at, 1.0), (upper - from) / along)),
                along if along < -1e-9 * length => Some(((at, -1.0), (lower - from) / along)),
                _ => None,
            });
            let Some((face, way)) = ways.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            point.iter_mut().zip(&along).for_each(|(x, along)| *x += way.max(0.0) * along);
            met.push(face);
            continue;
        }
        // The direction is a weighted sum of the normals of the met faces. A face with a negative weight is
        // left.
        let mut multipliers = shares;
        for at in (0..multipliers.len()).rev() {
            multipliers[at] /= triangle[at][at];
            let own = multipliers[at];
            (0..at).for_each(|above| multipliers[above] -= own * triangle[at][above]);
        }
        match multipliers.iter().position(|multiplier| *multiplier < -1e-9) {
            Some(at) => met.remove(at),
            None => break,
        };
    }
    point
}

/// Orthonormalised outward normals of these `faces`, in order. A face is (pair number, side), as in
/// [`normal`]. Also returns, for each normal, its components along the earlier orthonormalised vectors,
/// followed by the length of the rest of the normal.
fn orthonormal(faces: &[(usize, f64)], dim: usize) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let (mut units, mut triangle): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (vec![], vec![]);
    for face in faces {
        let mut unit = normal(*face, dim);
        let mut row: Vec<f64> = units.iter().map(|other| remove(&mut unit, other)).collect();
        let length = dot(&unit, &unit).sqrt();
        unit.iter_mut().for_each(|x| *x /= length);
        row.push(length);
        units.push(unit);
        triangle.push(row);
    }
    (units, triangle)
}

/// Outward normal of one face of pair number `at`: the pair's vector of signs times `side`. `side` is 1 for
/// the upper bound and −1 for the lower.
fn normal((at, side): (usize, f64), dim: usize) -> Vec<f64> {
    (0..dim).map(|j| if j > 0 && at >> (j - 1) & 1 == 1 { -side } else { side }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Removes from `vector` its component along the unit vector `unit`, and returns the signed length of the
/// component.
fn remove(vector: &mut [f64], unit: &[f64]) -> f64 {
    let along = dot(vector, unit);
    vector.iter_mut().zip(unit).for_each(|(x, unit)| *x -= along * unit);
    along
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Polytope of some points, around their mean.
    fn polytope(points: &[[f64; 3]]) -> (Vec<f64>, Vec<(f64, f64)>) {
        let center: Vec<f64> =
            (0..3).map(|at| points.iter().map(|p| p[at]).sum::<f64>() / points.len() as f64).collect();
        let start: Vec<(f64, f64)> = signed_sums(&center).into_iter().map(|sum| (sum, sum)).collect();
        let bounds = points.iter().fold(start, |bounds, point| {
            let widened = bounds.iter().zip(signed_sums(point));
            widened.map(|((lower, upper), sum)| (lower.min(sum), upper.max(sum))).collect()
        });
        (center, bounds)
    }

    #[test]
    fn sums_come_in_the_order_that_is_said() {
        assert_eq!(signed_sums(&[100, 10, 1]), [111, 91, 109, 89]);
        assert!(signed_sums::<i64>(&[]).is_empty());
    }

    #[test]
    fn what_is_no_polytope_is_refused() {
        let fine = vec![(-1.0, 1.0); 2];
        assert!(check(&[0.0, 0.0], &fine).is_ok());
        assert!(check(&[0.0], &fine).is_err());
        assert!(check(&[], &[]).is_err());
        assert!(check(&[0.0; 13], &vec![(-1.0, 1.0); 1 << 12]).is_err());
        for bad in [(1.0, -1.0), (0.5, 1.0), (f64::NAN, 1.0), (f64::NEG_INFINITY, 1.0)] {
            assert!(check(&[0.0, 0.0], &[(-1.0, 1.0), bad]).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_point_that_is_moved_lies_within_and_no_two_lie_further_apart_than_the_diameter(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 1..6),
            wild in prop::array::uniform2(
                prop::array::uniform3(prop_oneof![-3.0..3.0_f64, -1e308..1e308_f64])
            ),
        ) {
            let (center, bounds) = polytope(&points);
            prop_assert!(check(&center, &bounds).is_ok());
            let [one, other] = wild.map(|mut point| { project(&center, &bounds, &mut point); point });
            for point in [one, other] {
                prop_assert!(contains(&bounds, &point), "{point:?}");
                let from_center: f64 = point.iter().zip(&center).map(|(x, c)| (x - c).abs()).sum();
                prop_assert!(from_center <= radius(&center, &bounds) * (1.0 + 1e-12));
            }
            let distance: f64 = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum();
            let widest = width(&bounds);
            prop_assert!(distance <= widest * (1.0 + 1e-12) + 1e-15, "{distance} > {widest}");
        }

        /// The diameter is that of the points themselves.
        #[test]
        fn the_width_is_the_largest_distance_of_two_points(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 2..8)
        ) {
            let (center, bounds) = polytope(&points);
            let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>();
            let all = points.iter().flat_map(|a| points.iter().map(move |b| distance(a, b)));
            let largest = all.fold(0.0, f64::max);
            prop_assert!((width(&bounds) - largest).abs() < 1e-12);
            let [one, other] = farthest(&center, &bounds);
            prop_assert!(contains(&bounds, &one) && contains(&bounds, &other));
            prop_assert!(distance(&one, &other) >= (1.0 - 1e-6) * largest);
        }
    }

    /// Correlated points in twelve dimensions, which give a polytope like a needle.
    #[test]
    fn the_farthest_points_of_a_needle_are_found() {
        let wave = |row: usize, at: usize| ((row * row + 3 * row * at + 7 * at) as f64 * 0.61).sin();
        let points: Vec<Vec<f64>> =
            (0..300).map(|row| (0..12).map(|at| wave(row, 0) + 0.1 * wave(row, at + 1)).collect()).collect();
        let center: Vec<f64> = (0..12).map(|at| points.iter().map(|p| p[at]).sum::<f64>() / 300.0).collect();
        let start: Vec<(f64, f64)> = signed_sums(&center).into_iter().map(|sum| (sum, sum)).collect();
        let bounds = points.iter().fold(start, |bounds, point| {
            let widened = bounds.iter().zip(signed_sums(point));
            widened.map(|((lower, upper), sum)| (lower.min(sum), upper.max(sum))).collect()
        });
        let [one, other] = farthest(&center, &bounds);
        let distance: f64 = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum();
        assert!(contains(&bounds, &one) && contains(&bounds, &other));
        assert!(distance > 0.99 * width(&bounds), "{distance} of {}", width(&bounds));
    }
}
