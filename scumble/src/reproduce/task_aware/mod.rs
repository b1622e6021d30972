//! Cheng, Tang and Chinchali, Task-aware privacy preservation for multi-dimensional data (2022): Sections 4 and 5, and the appendix.

mod household;
mod theory;

use super::{Layer, Marks, Panel, Point, Reproduction, Scale};

const PAPER: &str =
    "Cheng, Tang and Chinchali, Task-aware privacy preservation for multi-dimensional data (2022)";

/// Sorted by name.
pub(super) const RESULTS: [Reproduction; 2] = [
    Reproduction {
        name: "task-aware/figure-3",
        about: "what the three approaches lose in theory, by r/ε",
        paper: PAPER,
        run: theory::figure_3,
    },
    Reproduction {
        name: "task-aware/figure-4",
        about: "power of a household, hour by hour: what linear designs lose, by ε and by hour",
        paper: PAPER,
        run: household::figure_4,
    },
];

/// What `ours` loses less than `other`, as a share of what that loses.
fn improvement(ours: f64, other: f64) -> f64 {
    1.0 - ours / other
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A curve for each name, whose heights are `rows` (one for each of `across`, and in it one for each name).
fn curves(
    title: impl Into<String>,
    scale: Scale,
    up: Scale,
    names: &[&str],
    across: &[f64],
    rows: &[Vec<f64>],
) -> Panel {
    let layer = |(look, name): (usize, &&str)| {
        let points = across.iter().zip(rows).map(|(x, row)| Point { x: *x, y: row[look], error: 0.0 });
        Layer { name: (*name).to_owned(), look, marks: Marks::Curve(points.collect()) }
    };
    Panel { title: title.into(), across: scale, up, layers: names.iter().enumerate().map(layer).collect() }
}
