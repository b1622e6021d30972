//! Mehrotra's predictor-corrector method for soft-margin machines.
//!
//! Notation: there are n records xᵢ of d coordinates with signs yᵢ = ±1, d weights α, and a bias β. yᵢ(α·xᵢ +
//! β) is the margin of record i, and ξᵢ ≥ 0 its slack, with yᵢ(α·xᵢ + β) ≥ 1 − ξᵢ. ωᵢ is the multiplier of
//! this constraint. θᵢ, κ and ρ are the penalties of ξᵢ, ½ξᵢ² and ½β². zᵢ is the surplus of the margin:
//! yᵢ(α·xᵢ + β) = 1 − ξᵢ + zᵢ at a feasible point.

use crate::iterate::Iterate;
use crate::soft_margin::{Machine, SoftMargin};
use crate::{Error, Result};
use argmin::core::{
    Error as LoopError, Executor, IterState, KV, Problem, Solver, State, TerminationReason, TerminationStatus,
};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{self, factor};
use faer::{Conj, Mat, MatMut, Par};
use scumble_linalg::settled;

impl Iterate {
    /// The starting point: zero weights and zero bias, each multiplier ωᵢ at half of the penalty θᵢ, each
    /// slack ξᵢ at 2 and each surplus zᵢ at 1.
    pub fn start(machine: &SoftMargin) -> Self {
        let n = machine.records.len();
        Self {
            primal: vec![0.0; machine.records.width() + 1],
            multipliers: machine.penalties.iter().map(|theta| theta / 2.0).collect(),
            slacks: vec![2.0; n],
            surpluses: vec![1.0; n],
        }
    }
}

/// Primal-dual interior point method for [`SoftMargin`], for n records xᵢ of d coordinates.
///
/// Each step solves Newton's equations of the KKT conditions. In the notation of [`SoftMargin`], they reduce
/// to one (d + 1) × (d + 1) matrix, R + Σ Dᵢ(xᵢ, 1)(xᵢ, 1)ᵀ. Here R is diagonal, with 1 for each weight and ρ
/// for the bias. For each record, D = 1/(ξ/(u + κξ) + z/ω) and u = θ + κξ − ω (Ferris and Munson 2002). ξ is
/// the slack of the record, ω the multiplier of its margin, and z the surplus of its margin (see
/// [`Iterate`]). A step solves the equations once to predict and once to correct (Mehrotra 1992). If a
/// corrected step would be short, its correction is bounded or left out. A step costs n·d²/2 multiplications.
/// A few dozen steps are usually enough.
#[derive(Debug, Clone)]
pub struct InteriorPoint {
    tolerance: f64,
    slopes: Option<Slopes>,
    is_stuck: bool,
}

/// Products of the records with the current [`Iterate`], used by the next step and by the duality gap. The
/// notation is that of [`SoftMargin`] and [`Iterate`].
#[derive(Debug, Clone)]
struct Slopes {
    /// The margin yᵢ(α·xᵢ + β) of each record xᵢ with sign yᵢ, for weights α and bias β (n values).
    margins: Vec<f64>,
    /// The sum Σ ωᵢyᵢ(xᵢ, 1) over the records, for the multipliers ωᵢ of the margins (d + 1 values).
    pull: Vec<f64>,
}

/// The fraction of the distance to the boundary of the feasible set that a step covers at most.
const TO_THE_BORDER: f64 = 0.995;

/// The least fraction of a corrected step that must keep all inequalities. Otherwise the step is rejected as
/// too short.
const SHORT: f64 = 0.1;

/// The residuals of the KKT conditions at a point, in the notation of [`SoftMargin`] and [`InteriorPoint`].
struct Residuals {
    /// The residual Σ ωᵢyᵢ(xᵢ, 1) − R(α, β) of the stationarity in the weights and the bias (d + 1 values).
    stationarity: Vec<f64>,
    /// The residual 1 − yᵢ(α·xᵢ + β) − ξᵢ + zᵢ of the margin of each record (n values).
    margin: Vec<f64>,
}

impl Residuals {
    fn at(machine: &SoftMargin, point: &Iterate, slopes: &Slopes) -> Self {
        let bend = point.primal.iter().enumerate().map(|(at, x)| machine.curvature(at) * x);
        let inside = slopes.margins.iter().zip(&point.slacks).zip(&point.surpluses);
        Self {
            stationarity: slopes.pull.iter().zip(bend).map(|(pull, bend)| pull - bend).collect(),
            margin: inside.map(|((margin, slack), surplus)| 1.0 - margin - slack + surplus).collect(),
        }
    }
}

/// A change of an [`Iterate`].
struct Step {
    primal: Vec<f64>,
    multipliers: Vec<f64>,
    slacks: Vec<f64>,
    surpluses: Vec<f64>,
}

impl InteriorPoint {
    /// Creates a method that stops at a duality gap of at most `tolerance` times the objective.
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, slopes: None, is_stuck: false }
    }

    /// Makes `point` the current point of argmin's loop. The loop's cost is the duality gap, so its best
    /// point has the smallest gap.
    fn arrive(&mut self, machine: &SoftMargin, point: Iterate, state: Iteration) -> Iteration {
        let slopes =
            Slopes { margins: machine.margins(&point.primal), pull: machine.pull(&point.multipliers) };
        let gap = machine.gap_of(&point.primal, &point.multipliers, &slopes.margins, &slopes.pull);
        self.slopes = Some(slopes);
        state.param(point).cost(gap)
    }

    fn step(machine: &SoftMargin, point: &Iterate, residuals: &Residuals) -> Option<Step> {
        let n = point.multipliers.len();
        let rooms = machine.rooms(point);
        let kappa = machine.squared_slack_penalty;
        // In the notation of [`InteriorPoint`], the denominators u + κξ of a slack's change: dξ = (r +
        // ξ·dω)/(u + κξ), where r is the required change of the product uξ.
        let stiff: Vec<f64> =
            rooms.iter().zip(&point.slacks).map(|(room, slack)| room + kappa * slack).collect();
        let weights: Vec<f64> = (0..n)
            .map(|i| 1.0 / (point.slacks[i] / stiff[i] + point.surpluses[i] / point.multipliers[i]))
            .collect();
        let factor = factored(machine, &weights)?;
        // Computes the step after which the products ωᵢzᵢ and uᵢξᵢ equal `target` to first order. The
        // second-order change of each product in the predicted step is subtracted, up to a bound.
        let newton = |target: f64, predicted: Option<(&Step, f64)>| {
            let targets: Vec<[f64; 2]> = (0..n)
                .map(|i| {
                    let [surplus_product, slack_product] = predicted.map_or([0.0; 2], |(step, most)| {
                        let room = kappa * step.slacks[i] - step.multipliers[i];
                        [step.multipliers[i] * step.surpluses[i], room * step.slacks[i]]
                            .map(|product| product.clamp(-most, most))
                    });
                    [
                        target - point.multipliers[i] * point.surpluses[i] - surplus_product,
                        target - rooms[i] * point.slacks[i] - slack_product,
                    ]
                })
                .collect();
            let push: Vec<f64> = (0..n)
                .map(|i| {
                    let [surplus_target, slack_target] = targets[i];
                    weights[i]
                        * (residuals.margin[i] - slack_target / stiff[i]
                            + surplus_target / point.multipliers[i])
                })
                .collect();
            let mut primal = machine.pull(&push);
            primal.iter_mut().zip(&residuals.stationarity).for_each(|(sum, rest)| *sum += rest);
            solve(&factor, &mut primal);
            let moved = machine.margins(&primal);
            let multipliers: Vec<f64> = (0..n).map(|i| push[i] - weights[i] * moved[i]).collect();
            Step {
                slacks: (0..n)
                    .map(|i| (targets[i][1] + point.slacks[i] * multipliers[i]) / stiff[i])
                    .collect(),
                surpluses: (0..n)
                    .map(|i| (targets[i][0] - point.surpluses[i] * multipliers[i]) / point.multipliers[i])
                    .collect(),
                primal,
                multipliers,
            }
        };
        let predicted = newton(0.0, None);
        let mean = mean_product(machine, point);
        let ahead =
            mean_product(machine, &moved(point, &predicted, longest(machine, point, &predicted).min(1.0)));
        let centering = (ahead / mean).powi(3);
        // A second-order change that is much larger than the mean product misleads the correction. The
        // correction is then bounded by the mean, or left out.
        let mut corrected =
            [f64::INFINITY, mean].into_iter().map(|most| newton(centering * mean, Some((&predicted, most))));
        let is_worth = |step: &Step| longest(machine, point, step) >= SHORT;
        Some(corrected.find(is_worth).unwrap_or_else(|| newton(mean, None)))
    }
}

/// The lower triangle L with LLᵀ = R + Σ vᵢ(xᵢ, 1)(xᵢ, 1)ᵀ over the records xᵢ (R as in [`InteriorPoint`]),
/// or `None` if rounding makes the matrix indefinite.
///
/// Runs on one thread, so that the result is the same for any number of threads.
fn factored(machine: &SoftMargin, v: &[f64]) -> Option<Mat<f64>> {
    let mut matrix = machine.records.gram(v);
    let size = matrix.nrows();
    for at in 0..size {
        matrix[(at, at)] += machine.curvature(at);
    }
    cholesky(matrix)
}

/// The triangle L with LLᵀ = `matrix`, or `None` if rounding makes the matrix indefinite.
pub(crate) fn cholesky(mut matrix: Mat<f64>) -> Option<Mat<f64>> {
    let size = matrix.nrows();
    let mut memory =
        MemBuffer::new(factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut memory);
    settled(|| {
        factor::cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Default::default())
    })
    .ok()?;
    Some(matrix)
}

fn solve(triangle: &Mat<f64>, right: &mut [f64]) {
    let size = right.len();
    solve_in_place(triangle, MatMut::from_column_major_slice_mut(right, size, 1));
}

/// Replaces `right` by (LLᵀ)⁻¹·`right` for the triangle L.
pub(crate) fn solve_in_place(triangle: &Mat<f64>, right: MatMut<f64>) {
    let scratch = llt::solve::solve_in_place_scratch::<f64>(triangle.nrows(), right.ncols(), Par::Seq);
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    settled(|| {
        llt::solve::solve_in_place_with_conj(triangle.as_ref(), Conj::No, right, Par::Seq, stack);
    });
}

/// The mean of the products ωᵢzᵢ (multiplier times surplus of a margin) and uᵢξᵢ (multiplier times slack), in
/// the notation of [`InteriorPoint`]. It is zero at the optimum.
fn mean_product(machine: &SoftMargin, point: &Iterate) -> f64 {
    let products = point.multipliers.iter().zip(&point.surpluses).map(|(omega, surplus)| omega * surplus);
    let slack_products =
        machine.rooms(point).into_iter().zip(&point.slacks).map(|(room, slack)| room * slack);
    (products.sum::<f64>() + slack_products.sum::<f64>()) / (2 * point.multipliers.len()) as f64
}

/// The largest multiple of `step` that can be added to `point` without violating an inequality.
fn longest(machine: &SoftMargin, point: &Iterate, step: &Step) -> f64 {
    let until = |x: f64, change: f64| if change < 0.0 { -x / change } else { f64::INFINITY };
    let rooms = machine.rooms(point);
    (0..rooms.len())
        .map(|i| {
            until(point.multipliers[i], step.multipliers[i])
                .min(until(rooms[i], machine.squared_slack_penalty * step.slacks[i] - step.multipliers[i]))
                .min(until(point.slacks[i], step.slacks[i]))
                .min(until(point.surpluses[i], step.surpluses[i]))
        })
        .fold(f64::INFINITY, f64::min)
}

fn moved(point: &Iterate, step: &Step, length: f64) -> Iterate {
    let along =
        |x: &[f64], change: &[f64]| x.iter().zip(change).map(|(x, change)| x + length * change).collect();
    Iterate {
        primal: along(&point.primal, &step.primal),
        multipliers: along(&point.multipliers, &step.multipliers),
        slacks: along(&point.slacks, &step.slacks),
        surpluses: along(&point.surpluses, &step.surpluses),
    }
}

impl SoftMargin<'_> {
    /// Solves the programme to a duality gap of at most `tolerance` times the objective.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless 0 < `tolerance` < 1, [`Error::NotConverged`] if `max_iterations` are not
    /// enough, [`Error::Loop`] if argmin's loop fails or is interrupted.
    pub fn solve(&self, tolerance: f64, max_iterations: u64) -> Result<Machine> {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(Error::Parameter { name: "tolerance", range: "between 0 and 1", value: tolerance });
        }
        // If all records have one sign, a bias without penalty meets all margins with zero weights. Any large
        // enough bias is an optimum, and the dual problem has no interior point.
        if self.bias_penalty == 0.0 && self.signs.iter().all(|sign| Some(sign) == self.signs.first()) {
            return Ok(self.constant(self.signs.first().copied().unwrap_or(0.0)));
        }
        let start = Iterate::start(self);
        let run = Executor::new(self.clone(), InteriorPoint::new(tolerance))
            .configure(|state| state.param(start).max_iters(max_iterations))
            .timer(false)
            .run()
            .map_err(|error| Error::Loop(error.to_string()))?;
        let iterations = run.state.get_iter();
        let Some(point) = run.state.get_best_param() else {
            return Err(Error::NotConverged { iterations, gap: f64::INFINITY, tolerance });
        };
        let machine = self.finished(&point.primal, &point.multipliers, iterations);
        if machine.duality_gap <= tolerance {
            return Ok(machine);
        }
        Err(Error::NotConverged { iterations, gap: machine.duality_gap, tolerance })
    }
}

type Iteration = IterState<Iterate, (), (), (), (), f64>;

impl<'a> Solver<SoftMargin<'a>, Iteration> for InteriorPoint {
    fn name(&self) -> &str {
        "interior point method"
    }

    fn init(
        &mut self,
        problem: &mut Problem<SoftMargin<'a>>,
        mut state: Iteration,
    ) -> std::result::Result<(Iteration, Option<KV>), LoopError> {
        let (Some(machine), Some(point)) = (&problem.problem, state.take_param()) else {
            return Err(LoopError::msg("the loop has no problem or no point to start from"));
        };
        Ok((self.arrive(machine, point, state), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<SoftMargin<'a>>,
        mut state: Iteration,
    ) -> std::result::Result<(Iteration, Option<KV>), LoopError> {
        scumble_interrupt::check()?;
        let (Some(machine), Some(point), Some(slopes)) =
            (&problem.problem, state.take_param(), self.slopes.take())
        else {
            return Err(LoopError::msg("the loop lost its problem or its point"));
        };
        let Some(step) = Self::step(machine, &point, &Residuals::at(machine, &point, &slopes)) else {
            self.is_stuck = true;
            return Ok((state.param(point), None));
        };
        let length = (TO_THE_BORDER * longest(machine, &point, &step)).min(1.0);
        Ok((self.arrive(machine, moved(&point, &step, length), state), None))
    }

    fn terminate(&mut self, state: &Iteration) -> TerminationStatus {
        if state.get_cost() <= self.tolerance {
            return TerminationStatus::Terminated(TerminationReason::SolverConverged);
        }
        if self.is_stuck {
            return TerminationStatus::Terminated(TerminationReason::SolverExit("no further step".into()));
        }
        TerminationStatus::NotTerminated
    }
}
