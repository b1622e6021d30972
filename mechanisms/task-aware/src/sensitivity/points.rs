//! The largest ℓ₁ distance of two points of a set.

use super::norm::range;
use super::search::widest;

/// Maximum number of additions for an exact answer: about ten seconds.
const MOST_WORK: f64 = 8e9;

/// Computes the largest ℓ₁ distance of two of N points, the columns of `rows` (Z × N); `None` if it takes too
/// long. The least and the largest value of each row must add up to zero.
pub(crate) fn widest_pair(rows: &[&[f64]]) -> Option<f64> {
    let points = Points::new(rows);
    let near_best = points.walk();
    let far = points.that_may_be_farther_than(near_best);
    let (outputs, count) = (rows.len() as f64, far.0.len() as f64);
    let by_pairs = outputs * far.pairs_that_may_be_farther_than(near_best) as f64;
    let by_signs = outputs.exp2() * count;
    if by_pairs <= MOST_WORK.min(by_signs) {
        return Some(far.best_of_pairs(near_best));
    }
    let rows: Vec<Vec<f64>> =
        (0..rows.len()).map(|i| far.0.iter().map(|point| point.place[i]).collect()).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    // If the search over all signs could exceed the limit, it gets an eighth of the limit.
    let work = if by_signs <= MOST_WORK { MOST_WORK } else { MOST_WORK / 8.0 };
    let by_search = widest(&rows, range, near_best, (work / count.max(1.0)) as usize);
    by_search.or_else(|| (by_pairs <= MOST_WORK).then(|| far.best_of_pairs(near_best)))
}

/// Upper bound on the ℓ₁ distance of two columns of `rows`: the lesser of the sum of the rows' ranges and
/// twice the largest ℓ₁ norm of a column.
pub(crate) fn widest_pair_bound(rows: &[&[f64]]) -> f64 {
    rows.iter().map(|row| range(row)).sum::<f64>().min(2.0 * Points::new(rows).farthest())
}

struct Point {
    place: Vec<f64>,
    /// ℓ₁ norm.
    norm: f64,
}

/// Points in descending order of their norms.
struct Points(Vec<Point>);

impl Points {
    fn new(rows: &[&[f64]]) -> Self {
        let count = rows.first().map_or(0, |row| row.len());
        let point = |at: usize| {
            let place: Vec<f64> = rows.iter().map(|row| row[at]).collect();
            let norm = place.iter().map(|x| x.abs()).sum();
            Point { place, norm }
        };
        let mut points: Vec<Point> = (0..count).map(point).collect();
        points.sort_by(|one, other| other.norm.total_cmp(&one.norm));
        Self(points)
    }

    fn farthest(&self) -> f64 {
        self.0.first().map_or(0.0, |point| point.norm)
    }

    /// Returns a large distance of two points, which a walk finds. The walk starts at the point of largest
    /// norm, and goes to the point farthest from the current one while the distance increases.
    fn walk(&self) -> f64 {
        let mut from = self.0.first();
        let mut best = 0.0;
        while let Some(current) = from {
            let distances = self.0.iter().map(|point| (distance(current, point), point));
            from = None;
            if let Some((reached, point)) = distances.max_by(|one, other| one.0.total_cmp(&other.0))
                && reached > best
            {
                (best, from) = (reached, Some(point));
            }
        }
        best
    }

    /// Keeps the points that may belong to a pair whose distance exceeds `best`. The distance of vᵢ and vⱼ is
    /// at most ‖vᵢ‖ + ‖vⱼ‖. A point vᵢ is therefore dropped if this sum is at most `best` for the vⱼ of
    /// largest norm.
    fn that_may_be_farther_than(mut self, best: f64) -> Self {
        let farthest = self.farthest();
        self.0.retain(|point| point.norm + farthest > best);
        self
    }

    /// Upper bound on the number of pairs that `best_of_pairs` compares.
    fn pairs_that_may_be_farther_than(&self, best: f64) -> usize {
        let mut partners = self.0.len();
        let mut pairs = 0;
        for (at, point) in self.0.iter().enumerate() {
            while partners > 0 && point.norm + self.0[partners - 1].norm <= best {
                partners -= 1;
            }
            pairs += partners.saturating_sub(at + 1);
        }
        pairs
    }

    /// Returns the larger of `best` and the largest distance of two points.
    fn best_of_pairs(&self, mut best: f64) -> f64 {
        for (at, point) in self.0.iter().enumerate() {
            for other in &self.0[at + 1..] {
                if point.norm + other.norm <= best {
                    break;
                }
                best = best.max(distance(point, other));
            }
        }
        best
    }
}

fn distance(one: &Point, other: &Point) -> f64 {
    one.place.iter().zip(&other.place).map(|(x, y)| (x - y).abs()).sum()
}
