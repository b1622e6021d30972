//! One release for two tasks, with weights: the losses that it trades, on the household of Figure 4 of Cheng,
//! Tang and Chinchali.

use super::household::{DAY_TIME, HOURS, House};
use crate::gains::{self, Axis};
use crate::report::{Evidence, four};
use crate::rules;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_core::{Budget, Task};

use ndarray::{Array1, Array2};
use rayon::prelude::*;

const MECHANISM: &str = "task-aware-clipped";

const BUDGETS: [f64; 4] = [3.0, 5.0, 10.0, 20.0];

/// Weights of the first task; the second has the rest.
const WEIGHTS: [f64; 9] = [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0];

const EVEN: usize = 4;

/// ε of the chart.
const SHOWN: usize = 2;

const BY_EPSILON: Axis = Axis { symbol: "ε = ", before: true };

/// Losses of both tasks on every test day (days × 2): power by day, and power by night.
type Losses = Array2<f64>;

/// Losses at one budget.
struct Found {
    epsilon: f64,
    /// Losses of one release at each of [`WEIGHTS`].
    joint: Vec<Losses>,
    /// Losses of two releases at ε/2, one for each task.
    apart: Losses,
}

pub(super) fn run(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let house = House::load(options)?;
    (options.on_start)(BUDGETS.len() as u64);
    let found = BUDGETS.par_iter().with_max_len(1).map(|&epsilon| {
        let found = Found::measure(options, &house, epsilon);
        (options.on_step)();
        found
    });
    let found = found.collect::<Result<Vec<_>>>()?;
    Ok(Evidence {
        trials: 1,
        findings: vec![gain(&found)],
        grids: vec![grid(&found)],
        notes: vec![
            format!(
                "The first task is the power in the hours 9 to 20, and the second in all other hours. The \
                 design {MECHANISM} minimises w times the squared error of the first plus 1 − w times that \
                 of the second, on 991 training days. Losses are expectations over the noise in closed form, \
                 on 426 test days."
            ),
            "Two releases at ε/2 each spend the same ε. Each task then has the estimates of its own release."
                .into(),
        ],
        picture: picture(&found),
    })
}

impl Found {
    fn measure(options: &RunOptions, house: &House, epsilon: f64) -> Result<Self> {
        let losses = |weight: f64, epsilon: f64| -> Result<Losses> {
            let task = Task::weighted(&[(weight, part(true)), (1.0 - weight, part(false))])?;
            let squares = house.squared_errors(options, MECHANISM, task, Budget::pure(epsilon)?)?;
            let both = [true, false].map(|by_day| squares.dot(&hours(by_day)));
            Ok(ndarray::stack![ndarray::Axis(1), both[0], both[1]])
        };
        let joint = WEIGHTS.iter().map(|weight| losses(*weight, epsilon)).collect::<Result<Vec<_>>>()?;
        let mut apart = losses(1.0, epsilon / 2.0)?;
        apart.column_mut(1).assign(&losses(0.0, epsilon / 2.0)?.column(1));
        Ok(Self { epsilon, joint, apart })
    }
}

/// Indicators of the hours by day, or of the others.
fn hours(by_day: bool) -> Array1<f64> {
    Array1::from_shape_fn(HOURS, |hour| f64::from(DAY_TIME.contains(&hour) == by_day))
}

/// Matrix of the task of one part of the hours.
fn part(by_day: bool) -> Array2<f64> {
    Array2::from_diag(&hours(by_day))
}

fn mean(losses: &Losses, task: usize) -> f64 {
    losses.column(task).mean().unwrap_or(f64::NAN)
}

/// Loss that each task adds by sharing a release with equal weights, against a release for it alone at the
/// same ε, in words.
fn cost(found: &[Found]) -> String {
    let entries = found.iter().map(|found| {
        let own = [mean(&found.joint[WEIGHTS.len() - 1], 0), mean(&found.joint[0], 1)];
        let [day, night] = [0, 1].map(|task| 100.0 * (mean(&found.joint[EVEN], task) / own[task] - 1.0));
        format!("{day:+.1} and {night:+.1} % at ε = {}", found.epsilon)
    });
    let entries = entries.collect::<Vec<_>>().join(", ");
    format!("against a release for it alone at the same ε, power by day and by night lose {entries}")
}

/// Finding on the gain by one release for both tasks over two releases at half of ε.
fn gain(found: &[Found]) -> Finding {
    let gains: Vec<(f64, Vec<f64>)> = found
        .iter()
        .map(|found| {
            let [apart, even] = [&found.apart, &found.joint[EVEN]];
            let base = mean(apart, 0) + mean(apart, 1);
            let sums = (apart - even).sum_axis(ndarray::Axis(1)) * (100.0 / base);
            (found.epsilon, sums.to_vec())
        })
        .collect();
    let finding = gains::gain_finding(
        &rules::GAINS,
        "loss of both tasks by one release with equal weights: gain over two releases at ε/2".into(),
        "announced as future work",
        ("per cent of the loss", BY_EPSILON),
        &gains,
    );
    Finding { why: format!("{}; {}", finding.why, cost(found)), ..finding }
}

fn grid(found: &[Found]) -> Grid {
    let row = |found: &Found, name: String, losses: &Losses| {
        vec![found.epsilon.to_string(), name, four(mean(losses, 0)), four(mean(losses, 1))]
    };
    let rows = found.iter().flat_map(|found| {
        let joint = WEIGHTS.iter().zip(&found.joint);
        let joint = joint.map(|(weight, losses)| row(found, format!("one release, w = {weight}"), losses));
        joint.chain([row(found, "two releases at ε/2".into(), &found.apart)]).collect::<Vec<_>>()
    });
    Grid::new("Loss on test days", ["ε", "design", "power by day", "power by night"], rows)
}

fn picture(found: &[Found]) -> Picture {
    let at = &found[SHOWN];
    let point = |losses: &Losses| CurvePoint { x: mean(losses, 0), y: mean(losses, 1), error: 0.0 };
    Picture {
        title: "Two tasks of one household".into(),
        panels: vec![Panel {
            title: format!("Losses of one release by weight, at ε = {}", at.epsilon),
            across: Scale::linear("loss of power by day"),
            up: Scale::linear("loss of power by night"),
            layers: vec![
                Layer {
                    name: "one release for both".into(),
                    look: 0,
                    marks: Marks::Curve(at.joint.iter().map(point).collect()),
                },
                Layer {
                    name: "two releases at ε/2".into(),
                    look: 1,
                    marks: Marks::Dots(vec![[mean(&at.apart, 0), mean(&at.apart, 1)]]),
                },
            ],
        }],
    }
}
