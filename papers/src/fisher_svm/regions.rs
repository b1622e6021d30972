//! Figures 1 and 2 of Farokhi: the (ε, δ) that Theorem 2.5 guarantees, and the error of guesses that the
//! paper derives from (ε, δ). Both have closed forms.

use crate::report::{Evidence, four};
use crate::rules;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_accounting::gaussian;

/// λ^¼·‖Π^¼‖_{∞,2} in Figure 1. For records that are at most 1 apart in each coordinate, it is the largest
/// distance of two records, in standard deviations of Theorem 2.4's noise.
const DISTANCE: f64 = 0.1;

/// ε of the errors in the grid and in the finding on Figure 2.
const EPSILON: f64 = 1.0;

/// Least ε of Theorem 2.5 at `delta`.
fn printed_epsilon(delta: f64) -> f64 {
    DISTANCE * (1.0 + (2.0 * (1.0 / delta).ln()).sqrt())
}

/// Lower bound on E‖Π(x − x̂)‖² of Figure 2, where Tr(Π^½)·‖Π^¼‖²_{∞,2} = 1.
fn printed_error(epsilon: f64, delta: f64) -> f64 {
    ((1.0 + (2.0 * (1.0 / delta).ln()).sqrt()) / epsilon).powi(2)
}

/// E‖x − x̂‖² of the unbiased guess x̂ that is the released record itself, for the Gaussian noise with the
/// smallest variance that is (ε, δ)-private. Records have one column, and Π = 1.
fn reached_error(epsilon: f64, delta: f64) -> Result<f64> {
    Ok(gaussian::mu(epsilon, delta)?.powi(-2))
}

/// The exact profile of Gaussian noise at one δ.
struct AtDelta {
    delta: f64,
    /// Least ε of the noise of Figure 1.
    epsilon: f64,
    /// Squared error of the released record at [`EPSILON`].
    error: f64,
}

pub(super) fn run(_: &RunOptions, _: &'static str) -> Result<Evidence> {
    let all = (1..=20).map(|exponent| AtDelta::new(10f64.powi(-exponent)));
    let all: Vec<AtDelta> = all.collect::<Result<_>>()?;
    let header = ["δ", "ε, Theorem 2.5", "ε, exact", "error at ε = 1, printed", "error at ε = 1, reached"];
    Ok(Evidence {
        trials: 1,
        findings: vec![figure_1(&all), figure_2()?],
        grids: vec![Grid::new("Figures 1 and 2", header, all.iter().map(AtDelta::row))],
        notes: vec![
            "Nothing is drawn at random. Records are at most 1 apart in each coordinate, as Theorem \
                     2.5 assumes tacitly."
                .into(),
        ],
        picture: Picture {
            title: "Guarantees and errors (Figures 1 and 2)".into(),
            panels: vec![region(&all), errors()?],
        },
    })
}

impl AtDelta {
    fn new(delta: f64) -> Result<Self> {
        Ok(Self {
            delta,
            epsilon: gaussian::epsilon(DISTANCE, delta)?,
            error: reached_error(EPSILON, delta)?,
        })
    }

    fn row(&self) -> Vec<String> {
        let Self { delta, epsilon, error } = *self;
        let cells = [printed_epsilon(delta), epsilon, printed_error(EPSILON, delta), error];
        [format!("{delta:e}")].into_iter().chain(cells.map(four)).collect()
    }
}

fn figure_1(all: &[AtDelta]) -> Finding {
    let largest = all.iter().map(|at| at.epsilon / printed_epsilon(at.delta)).fold(0.0, f64::max);
    Finding {
        what: format!("Figure 1: (ε, δ) by Theorem 2.5, at λ^¼·‖Π^¼‖ = {DISTANCE}"),
        paper: "the noise is (ε, δ)-private in the whole region".into(),
        ours: format!(
            "the exact profile needs at most {:.0} % of the printed ε, for δ from 10⁻²⁰ to 0.1",
            100.0 * largest
        ),
        value: Some(largest),
        decision: rules::IN_REGION.on(largest),
        why: "a closed form; the theorem fails only for λ^¼·‖Π^¼‖ above 2 (errata F2)".into(),
    }
}

fn figure_2() -> Result<Finding> {
    let delta = 1e-5;
    let (printed, reached) = (printed_error(EPSILON, delta), reached_error(EPSILON, delta)?);
    Ok(Finding {
        what: "Figure 2: error of guesses from Gaussian noise that is (ε, δ)-private".into(),
        paper: "at least (1 + √(2·ln(1/δ)))²/ε²".into(),
        ours: format!(
            "the released record itself, as a guess, errs by {}, where {} is printed, at ε = {EPSILON} \
             and δ = {delta:e}",
            four(reached),
            four(printed)
        ),
        value: Some(reached / printed),
        decision: rules::ERROR_BOUND.on(reached / printed),
        why: "a closed form, for one column; the printed bound holds for the noise of Theorem 2.5, and \
              less noise is as private (errata F15)"
            .into(),
    })
}

fn curve(name: &str, look: usize, points: Vec<[f64; 2]>) -> Layer {
    let points = points.into_iter().map(|[x, y]| CurvePoint { x, y, error: 0.0 });
    Layer { name: name.into(), look, marks: Marks::Curve(points.collect()) }
}

fn region(all: &[AtDelta]) -> Panel {
    let printed = all.iter().map(|at| [at.delta, printed_epsilon(at.delta)]).collect();
    let exact = all.iter().map(|at| [at.delta, at.epsilon]).collect();
    Panel {
        title: format!("The least ε at λ^¼·‖Π^¼‖ = {DISTANCE} (Figure 1)"),
        across: Scale::logarithmic("δ"),
        up: Scale::linear("ε"),
        layers: vec![curve("Theorem 2.5", 0, printed), curve("exact profile", 1, exact)],
    }
}

fn errors() -> Result<Panel> {
    let mut layers = vec![];
    for (at, delta) in [1e-5, 1e-10].into_iter().enumerate() {
        let budgets: Vec<f64> = (-10..=10).map(|step| 10f64.powf(step as f64 / 10.0)).collect();
        let printed = budgets.iter().map(|epsilon| [*epsilon, printed_error(*epsilon, delta)]).collect();
        let reached = budgets.iter().map(|epsilon| Ok([*epsilon, reached_error(*epsilon, delta)?]));
        layers.push(curve(&format!("printed bound, δ = {delta:e}"), 2 * at, printed));
        layers.push(curve(
            &format!("the released record, δ = {delta:e}"),
            2 * at + 1,
            reached.collect::<Result<_>>()?,
        ));
    }
    Ok(Panel {
        title: "Squared error of a guess (Figure 2)".into(),
        across: Scale::logarithmic("ε"),
        up: Scale::logarithmic("squared error"),
        layers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers by hand: √(2·ln 10⁵) = 4.79853; σ = 3.73063 for (1, 10⁻⁵) (Balle and Wang 2018).
    #[test]
    fn the_printed_numbers_follow_from_their_formulas() {
        assert!((printed_epsilon(1e-5) - 0.579_853).abs() < 1e-6);
        assert!((printed_error(1.0, 1e-5) - 33.622_9).abs() < 1e-3);
        assert!((reached_error(1.0, 1e-5).unwrap() - 3.730_631_6f64.powi(2)).abs() < 1e-4);
    }
}
