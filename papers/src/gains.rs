//! Gains of one release over another at several budgets. A gain is the improvement of a measure, such as the
//! accuracy.

use crate::report::four;
use crate::rules::Rule;
use crate::trials::Mean;
use crate::{CurvePoint, Finding, Layer, Marks};

/// Unit of a budget.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    /// Symbol of the unit, next to the number.
    pub symbol: &'static str,
    /// Puts the symbol before the number.
    pub before: bool,
}

impl Axis {
    fn at(self, budget: f64) -> String {
        match self.before {
            true => format!("{}{budget}", self.symbol),
            false => format!("{budget} {}", self.symbol),
        }
    }
}

/// Finding on the gains of one release over another at several budgets, decided by `rule`. `unit` is the unit
/// of the measure. Each entry of `gains` holds a budget and the gains of its trials.
pub(crate) fn gain_finding(
    rule: &Rule,
    what: String,
    paper: &str,
    (unit, axis): (&str, Axis),
    gains: &[(f64, Vec<f64>)],
) -> Finding {
    let means: Vec<(f64, Mean)> =
        gains.iter().map(|(budget, gains)| (*budget, Mean::from_values(gains))).collect();
    let sign = |value: f64| if value > 0.0 { "+" } else { "" };
    let entries = means.iter().map(|(budget, gain)| {
        format!("{}{} ± {} at {}", sign(gain.value), four(gain.value), four(gain.error), axis.at(*budget))
    });
    Finding {
        what,
        paper: paper.into(),
        ours: format!("{unit}: {}", entries.collect::<Vec<_>>().join(", ")),
        value: means.last().map(|(_, gain)| gain.value),
        decision: rule.on_gains(means.iter().map(|(_, gain)| gain.in_errors())),
        why: "± a standard error".into(),
    }
}

/// A curve of means with their standard errors.
pub(crate) fn curve(name: &str, look: usize, points: impl Iterator<Item = (f64, Vec<f64>)>) -> Layer {
    let points = points.map(|(x, values)| {
        let Mean { value, error } = Mean::from_values(&values);
        CurvePoint { x, y: value, error }
    });
    Layer { name: name.into(), look, marks: Marks::Curve(points.collect()) }
}
