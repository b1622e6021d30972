//! Cheng, Tang and Chinchali, Task-aware privacy preservation for multi-dimensional data (2022): Sections 4
//! and 5, and the appendix.

mod digits;
mod household;
mod latents;
mod theory;
mod trained;
mod tumours;
mod valuation;

use super::{CurvePoint, Layer, Marks, Panel, Reproduction, Scale};

pub(super) const PAPER: &str =
    "Cheng, Tang and Chinchali, Task-aware privacy preservation for multi-dimensional data (2022)";

/// Assessment of the paper: the claims that hold, the claims that fail, and the alternative we recommend.
pub(super) const ASSESSMENT: &str = "The theory and the linear designs hold, to a tenth of a per cent. The \
    improvements of trained designs hold too, with the published code's noise. This noise does not hold: it \
    is the noise of an ε √2 times as large (errata T1), and sensitivities are the sample's (T2). On \
    breast tumours, the improvement needs an η that is a tenth of the printed one. We recommend \
    `task-aware-clipped` for a linear task, and `task-aware-bounded` for any other. The latents of \
    `task-aware-bounded` are bounded by construction, and learned with their decoder through fresh noise. At \
    the noise that ε needs, both lose less than the paper's designs in every figure.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 7] = [
    Reproduction {
        name: "task-aware/figure-3",
        about: "loss of the three approaches in theory, by r/ε",
        paper: PAPER,
        run: theory::figure_3,
    },
    Reproduction {
        name: "task-aware/figure-4",
        about: "power of a household, hour by hour: loss of linear designs, by ε and by hour",
        paper: PAPER,
        run: household::figure_4,
    },
    Reproduction {
        name: "task-aware/figure-5-valuation",
        about: "real estate: loss of trained linear designs on a network's task, by ε",
        paper: PAPER,
        run: valuation::figure_5,
    },
    Reproduction {
        name: "task-aware/figure-5-wdbc",
        about: "breast tumours (WDBC): loss of trained designs on a network's task",
        paper: PAPER,
        run: tumours::figure_5,
    },
    Reproduction {
        name: "task-aware/figure-6",
        about: "real estate and breast tumours: task loss by the number of latents",
        paper: PAPER,
        run: latents::figure_6,
    },
    Reproduction {
        name: "task-aware/figure-7",
        about: "real estate: effect of a hidden layer in encoder and decoder",
        paper: PAPER,
        run: valuation::figure_7,
    },
    Reproduction {
        name: "task-aware/figure-8",
        about: "handwritten digits (MNIST): loss of trained linear designs on a linear classifier's task, by \
            ε",
        paper: PAPER,
        run: digits::figure_8,
    },
];

/// Loss reduction of `ours` against `other`, as a share of `other`.
fn improvement(ours: f64, other: f64) -> f64 {
    1.0 - ours / other
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Panel with one curve for each name. `rows` has one row for each value in `across`, and each row has one
/// height for each name.
fn curves(
    title: impl Into<String>,
    scale: Scale,
    up: Scale,
    names: &[&str],
    across: &[f64],
    rows: &[Vec<f64>],
) -> Panel {
    let layer = |(look, name): (usize, &&str)| {
        let points = across.iter().zip(rows).map(|(x, row)| CurvePoint { x: *x, y: row[look], error: 0.0 });
        Layer { name: (*name).to_owned(), look, marks: Marks::Curve(points.collect()) }
    };
    Panel { title: title.into(), across: scale, up, layers: names.iter().enumerate().map(layer).collect() }
}
