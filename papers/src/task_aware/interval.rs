//! The interval of Theorem 1 of Cheng, Tang and Chinchali, beside the losses of a design.

use crate::report::four;
use crate::{Finding, Grid, Result, rules};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use scumble_task_aware::{Sample, SphereLoss};

/// Losses at one ε.
struct Interval {
    /// L at both bounds on r_min. The first is at most the least loss of linear designs.
    least: [f64; 2],
    /// L(1), at most the least loss of linear designs for any records (errata T7).
    any: f64,
    /// L(r_max), at least the least loss of linear designs.
    largest: f64,
}

impl Interval {
    /// Distance by which a design's `loss` is outside, as a share of the nearer end; 0 inside.
    fn outside(&self, loss: f64) -> f64 {
        (1.0 - loss / self.least[0].max(self.any)).max(loss / self.largest - 1.0).max(0.0)
    }
}

/// Finding that the `losses` of the task-aware design lie in the interval of Theorem 1 at each ε of
/// `budgets`, and the interval at each ε. The words are about the budget with the index `shown`.
pub(super) fn finding(
    sample: &Sample,
    task: &Array2<f64>,
    budgets: &[f64],
    losses: &[f64],
    shown: usize,
) -> Result<(Finding, Grid)> {
    let sphere = SphereLoss::new(sample, task)?;
    let inner = inner_radius(sphere.whitened().view());
    let interval = |epsilon: &f64| -> Result<Interval> {
        let [lower, upper] = inner;
        let least = [sphere.at(lower, *epsilon)?, sphere.at(upper, *epsilon)?];
        Ok(Interval {
            least,
            any: sphere.least(*epsilon)?,
            largest: sphere.at(sphere.outer_radius(), *epsilon)?,
        })
    };
    let intervals = budgets.iter().map(interval).collect::<Result<Vec<_>>>()?;
    let outside = intervals.iter().zip(losses).map(|(interval, loss)| interval.outside(*loss));
    let Interval { least, any, largest } = intervals[shown];
    let finding = Finding {
        what: format!("task-aware loss in the interval of Theorem 1, at ε = {}", budgets[shown]),
        paper: "L(r_min) ≤ L* ≤ L(r_max), and the design loses at most L(r_max)".into(),
        ours: format!(
            "{} in [{}, {}]; no r_min gives a lower end above {}, and L(1) = {} holds for any records \
             (errata T7)",
            four(losses[shown]),
            four(least[0]),
            four(largest),
            four(least[1]),
            four(any)
        ),
        value: Some(largest / least[1]),
        decision: rules::IN_INTERVAL.on(outside.fold(0.0, f64::max)),
        why: format!(
            "on the training days; r_max is {}, and the largest r_min lies between {} and {}, so L(r_max) is \
             at least {} times L(r_min)",
            four(sphere.outer_radius()),
            four(inner[0]),
            four(inner[1]),
            four(largest / least[1])
        ),
    };
    let rows = budgets.iter().zip(&intervals).zip(losses).map(|((budget, interval), loss)| {
        let [least, most] = interval.least;
        let losses = [least, most, interval.any, *loss, interval.largest].map(|loss| format!("{loss:.6}"));
        std::iter::once(budget.to_string()).chain(losses).collect()
    });
    let header = ["ε", "L(r_min), proven", "L(r_min), at most", "L(1)", "task-aware", "L(r_max)"];
    Ok((finding, Grid::new("The interval of Theorem 1, on the training days", header, rows)))
}

/// Factor that covers the tolerance of the solver.
const MARGIN: f64 = 1e-6;

/// Bounds on the radius of the largest ball about 0 in the convex hull of `points` (N × n). The radius is
/// NP-hard to compute in general. Both bounds are zero if 0 is not inside the hull.
///
/// The ball of radius r about 0 is in the hull if and only if ‖g‖ ≤ 1/r for every g with pᵀg ≤ 1 at all
/// points p. The lower bound is the radius of the largest ball in a cross-polytope, with corners where the
/// axes leave the hull. The upper bound is 1/‖g‖ for a g whose norm no other g near it exceeds.
fn inner_radius(points: ArrayView2<f64>) -> [f64; 2] {
    let tilt: Array1<f64> = (1..=points.ncols()).map(|at| 1e-2 * (at as f64).cos()).collect();
    let (mut sum, mut largest) = (0.0, 0.0f64);
    for axis in Array2::<f64>::eye(points.ncols()).outer_iter() {
        let mut nearest = 0.0f64;
        for direction in [axis.to_owned(), -&axis] {
            let Some(g) = farthest(points, direction.view()) else { return [0.0; 2] };
            // The axis leaves the hull at the distance 1/(gᵀ·direction).
            nearest = nearest.max(g.dot(&direction));
            // Starting a little beside the axis leaves a saddle.
            let mut towards = &g + &(&tilt * g.dot(&g).sqrt());
            let mut before = 0.0;
            loop {
                let Some(next) = farthest(points, towards.view()) else { return [0.0; 2] };
                let square = next.dot(&next);
                largest = largest.max(square.sqrt());
                if square <= before * (1.0 + MARGIN) {
                    break;
                }
                before = square;
                towards = next;
            }
        }
        sum += nearest * nearest;
    }
    [(1.0 - MARGIN) / f64::sqrt(sum), (1.0 + MARGIN) / largest]
}

/// Maximises `direction`ᵀg over all g with pᵀg ≤ 1 for each row p of `points` (N × n). `None` if the maximum
/// is infinite, or not found.
fn farthest(points: ArrayView2<f64>, direction: ArrayView1<f64>) -> Option<Array1<f64>> {
    let (rows, n) = points.dim();
    let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
    let (goal, limits) = (direction.map(|x| -x).to_vec(), vec![1.0; rows]);
    let points = CscMatrix::from(points.outer_iter().map(|row| row.to_vec()).collect::<Vec<_>>().iter());
    let cones = [SupportedConeT::NonnegativeConeT(rows)];
    let mut solver =
        DefaultSolver::new(&CscMatrix::zeros((n, n)), &goal, &points, &limits, &cones, settings).ok()?;
    solver.solve();
    let is_solved = matches!(solver.solution.status, SolverStatus::Solved);
    is_solved.then(|| Array1::from(solver.solution.x.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Agreement;
    use ndarray::array;

    const SQUARE: [[f64; 2]; 4] = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];

    /// The largest ball in the square with the corners (±1, ±1) has the radius 1. The axes leave the
    /// square at (±1, 0) and (0, ±1), and the ball in their hull has the radius 1/√2.
    #[test]
    fn the_largest_ball_in_a_square_is_bounded() {
        let [lower, upper] = inner_radius(ndarray::arr2(&SQUARE).view());
        assert!((lower - 0.5f64.sqrt()).abs() < 1e-5 && (upper - 1.0).abs() < 1e-5, "{lower} and {upper}");
    }

    /// The faces of the cross-polytope with the corners ±2 and ±1 on two axes have the distance
    /// 1/√(1/4 + 1) from 0. Both bounds are exact.
    #[test]
    fn the_largest_ball_in_a_cross_polytope_is_found() {
        let points = array![[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.1, 0.2]];
        let [lower, upper] = inner_radius(points.view());
        let radius = 1.25f64.sqrt().recip();
        assert!((lower - radius).abs() < 1e-5 && (upper - radius).abs() < 1e-5, "{lower} and {upper}");
    }

    #[test]
    fn a_hull_without_zero_contains_no_ball() {
        assert_eq!(inner_radius(array![[1.0, 1.0], [2.0, 1.0], [1.0, 3.0]].view()), [0.0; 2]);
    }

    /// The corners of a square: c = 8r²/ε² is 1 at r_max = √2 and ε = 4, so L(r_max) = 1/2. L(r_min) is
    /// L(1) = 1/3, because r_min = 1.
    #[test]
    fn losses_outside_the_interval_differ() {
        let sample = Sample::new(ndarray::arr2(&SQUARE).view()).unwrap();
        let verdict = |loss: f64| {
            let (finding, grid) = finding(&sample, &array![[1.0, 0.0]], &[4.0], &[loss], 0).unwrap();
            assert_eq!(grid.rows.len(), 1);
            assert!((finding.value.unwrap() - 1.5).abs() < 1e-4, "{finding:?}");
            finding.decision.verdict
        };
        assert_eq!(verdict(0.4), Agreement::Reproduced);
        // L at the proven bound 1/√2 on r_min is 1/5, and L(1) is the larger lower end.
        assert_eq!(verdict(0.3), Agreement::Differs);
        assert_eq!((verdict(0.6), verdict(0.1)), (Agreement::Differs, Agreement::Differs));
    }
}
