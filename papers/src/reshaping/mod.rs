//! Jacobian-Guided Anisotropic Noise Reshaping (Ha, Schlegel, Sun and Bharath, 2026), by its published code (ymha/jacobian-anr-ldp, 5c2f3f7).

mod digits;
mod household;
mod noise;
mod reshape;

use super::Reproduction;
use super::trials::Mean;
use super::{CurvePoint, Layer, Marks};
use crate::report::four;
use crate::{Agreement, Finding};

pub(super) const PAPER: &str = "Ha, Schlegel, Sun and Bharath, Jacobian-Guided Anisotropic Noise Reshaping for Enhancing Representation Utility under Local Differential Privacy (2026)";

/// What holds of it, what does not, and what we would do in its place.
pub(super) const SAID: &str = "Where a record is moved into a ball after it was turned and stretched, the claim holds: what comes before the ball and after the noise is public, and the noise is that of the ball. It is weaker where the task looks only in the \
measure that it is stronger elsewhere, and it helps; most where what the task does not see is left out after the release, which costs nothing. What does not hold is the claim of the coordinate-wise variants, which move nothing into any set (ERRATA.md, J1). In its place, where the task's model is public, as it has to be here: the person's own device applies the model, and answers with the class \
(`randomized-response`) or the number (`task-aware-clipped`), which no noise on a representation reaches.";

/// Sorted by name.
pub(super) const RESULTS: [Reproduction; 2] = [
    Reproduction {
        name: "reshaping/digits",
        about: "handwritten digits (MNIST): representations released by noise that is reshaped for a public classifier, by ε",
        paper: PAPER,
        run: digits::digits,
    },
    Reproduction {
        name: "reshaping/household",
        about: "power of a household: sixteen days released by noise that is reshaped for a public regression on the next, by ε",
        paper: PAPER,
        run: household::household,
    },
];

/// One release beside another at several budgets, by what it gains of a measure, as trials found it: of each budget, ε and the gains.
fn beside(what: String, paper: &str, unit: &str, gains: &[(f64, Vec<f64>)]) -> Finding {
    let means: Vec<(f64, Mean)> = gains.iter().map(|(epsilon, gains)| (*epsilon, Mean::of(gains))).collect();
    let sign = |value: f64| if value > 0.0 { "+" } else { "" };
    let said = means.iter().map(|(epsilon, gain)| {
        format!("{}{} ± {} at ε = {epsilon}", sign(gain.value), four(gain.value), four(gain.error))
    });
    Finding {
        what,
        paper: paper.into(),
        ours: format!("{} {unit}", said.collect::<Vec<_>>().join(", ")),
        value: means.last().map(|(_, gain)| gain.value),
        verdict: Agreement::of_gains(means.iter().map(|(_, gain)| gain.in_errors())),
        why: "± a standard error; one counts by over two".into(),
    }
}

/// The same of something that the paper says: reproduced where it gains.
fn as_said(what: String, paper: &str, unit: &str, gains: &[(f64, Vec<f64>)]) -> Finding {
    let found = beside(what, paper, unit, gains);
    Finding { verdict: Agreement::of(found.verdict == Agreement::Better), ..found }
}

/// A curve of means with their standard errors.
fn curve(name: &str, look: usize, points: impl Iterator<Item = (f64, Vec<f64>)>) -> Layer {
    let points = points.map(|(x, values)| {
        let Mean { value, error } = Mean::of(&values);
        CurvePoint { x, y: value, error }
    });
    Layer { name: name.into(), look, marks: Marks::Curve(points.collect()) }
}
