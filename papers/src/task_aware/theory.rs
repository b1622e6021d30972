//! Figure 3 of Cheng, Tang and Chinchali: theoretical loss of the task-aware, the task-agnostic and the
//! privacy-agnostic approach. All records are on a sphere of radius r (Assumption 1).

use super::{curves, improvement, percent};
use crate::report::{Evidence, four};
use crate::rules;
use crate::{Finding, Grid, Picture, Result, RunOptions, Scale};
use scumble_kkt::{Waterfilling, equal_power_loss};

/// Largest eigenvalue λ₁ of PᵀP (`LARGEST`) for the matrix P of the task in whitened coordinates, and number
/// n of eigenvalues (`WIDTH`).
const LARGEST: f64 = 4.0;
const WIDTH: usize = 4;

/// Value of the other eigenvalues, λ₂ to λ₄, in each of the paper's settings.
const OTHERS: [f64; 3] = [0.0, 1.0, 2.0];

/// Number of latents Z of the privacy-agnostic approach.
const LATENTS: usize = 2;

const NAMES: [&str; 3] = ["task-aware", "task-agnostic", "privacy-agnostic"];

/// Values of ε/r, with r the radius of the sphere, at which the figure shows losses.
const BUDGETS: [f64; 15] =
    [100.0, 70.0, 50.0, 32.0, 23.0, 16.0, 11.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.5, 1.0];

/// Values of ε/r in the table, with r the radius of the sphere.
const SHOWN: [f64; 6] = [100.0, 16.0, 8.0, 4.0, 2.0, 1.0];

pub(super) fn figure_3(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    (options.on_start)(OTHERS.len() as u64);
    let ratios = BUDGETS.map(f64::recip);
    let (mut findings, mut rows, mut panels) = (vec![], vec![], vec![]);
    for (number, other) in (1..).zip(OTHERS) {
        let all: Vec<Vec<f64>> = ratios.iter().map(|ratio| losses(other, *ratio)).collect::<Result<_>>()?;
        findings.push(finding(number, other, &all));
        let shown = BUDGETS.iter().zip(&all).filter(|(budget, _)| SHOWN.contains(budget));
        rows.extend(shown.map(|(budget, losses)| {
            let cells = [number.to_string(), four(budget.recip())].into_iter();
            cells.chain(losses.iter().map(|loss| format!("{loss:.6}"))).collect::<Vec<_>>()
        }));
        let title = format!("Setting {number}: λ₁ = {LARGEST}, λ₂ to λ₄ = {other}");
        panels.push(curves(
            title,
            Scale::logarithmic("r/ε"),
            Scale::linear("overall task loss"),
            &NAMES,
            &ratios,
            &all,
        ));
        (options.on_step)();
    }
    let header = [&["setting", "r/ε"][..], &NAMES].concat();
    Ok(Evidence {
        trials: 1,
        findings,
        grids: vec![Grid::new("Overall task loss", header, rows)],
        notes: vec![
            "Nothing is drawn: the curves are equations (12), (58) and (59), with the noise variance 8r²/ε² \
             (Proposition 4). The paper prints no numbers, so only its claims are checked."
                .into(),
            "No mechanism of ours is listed. On such a sphere, no linear encoder with Laplace noise and no \
             linear decoder loses less than the task-aware approach (Theorem 1), which is \
             task-aware-linear."
                .into(),
        ],
        picture: Picture { title: "Loss in theory (Figure 3)".into(), panels },
    })
}

/// Losses of the task-aware, the task-agnostic and the privacy-agnostic approach at r/ε = `ratio`, with r the
/// radius of the sphere of records. All eigenvalues except λ₁ are `other`.
fn losses(other: f64, ratio: f64) -> Result<Vec<f64>> {
    let mut eigenvalues = [other; WIDTH];
    eigenvalues[0] = LARGEST;
    let noise = 8.0 * ratio * ratio;
    Ok(vec![
        Waterfilling::new(&eigenvalues, noise)?.loss(),
        equal_power_loss(&eigenvalues, noise, WIDTH)?,
        equal_power_loss(&eigenvalues, noise, LATENTS)?,
    ])
}

/// Finding that the task-aware approach loses least, with its largest improvements on the other approaches.
fn finding(number: usize, other: f64, losses: &[Vec<f64>]) -> Finding {
    let beaten = losses.iter().filter(|row| row.iter().any(|loss| *loss < row[0])).count();
    let most = |at: usize| losses.iter().map(|row| improvement(row[0], row[at])).fold(0.0, f64::max);
    Finding {
        what: format!("setting {number}, λ₂ to λ₄ = {other}: the approach with the least loss at every r/ε"),
        paper: "the task-aware one".into(),
        ours: format!(
            "{}, by up to {} of the loss of the task-agnostic one and {} of that of the privacy-agnostic one",
            if beaten == 0 { "the task-aware one" } else { "not always the same" },
            percent(most(1)),
            percent(most(2)),
        ),
        value: Some(most(1)),
        decision: rules::ALWAYS_LEAST.on(beaten as f64),
        why: String::new(),
    }
}
