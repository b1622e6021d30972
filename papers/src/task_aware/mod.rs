//! Cheng, Tang and Chinchali, Task-aware privacy preservation for multi-dimensional data (2022): Sections 4
//! and 5, and the appendix.

mod digits;
mod example;
mod household;
mod interval;
mod latents;
mod other_noise;
mod theory;
mod trained;
mod tumours;
mod two_tasks;
mod valuation;

use super::{CurvePoint, Layer, Marks, Panel, Reproduction, Scale, Settings};

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
pub(super) const RESULTS: [Reproduction; 11] = [
    Reproduction {
        name: "task-aware/figure-1",
        about: "age and wage of two people: noise in the wage with and without a task",
        paper: PAPER,
        settings: Settings {
            paper: "Two people report age and wage at ε = 1, for the mean wage. The printed scales of the \
                noise are 20 without a task and 10 with it. The text has no ages, wages or ranges.",
            ours: "Both designs come from their plugins, for the corners of a square with sides of 10, \
                which the printed scales need. Probabilities are in closed form, and nothing is drawn.",
            data: "Closed form, no data.",
        },
        run: example::figure_1,
    },
    Reproduction {
        name: "task-aware/figure-3",
        about: "loss of the three approaches in theory, by r/ε",
        paper: PAPER,
        settings: Settings {
            paper: "Theory with L = I and records on a sphere of radius r. The settings have n = 4, λ₁ = 4, \
                other λ of 0, 1 or 2, and Z = 2 for privacy-agnostic. The text does not state the values of \
                r/ε.",
            ours: "The same equations (12), (58) and (59), at 15 values of r/ε from 0.01 to 1. Nothing is \
                drawn.",
            data: "Closed form, no data.",
        },
        run: theory::figure_3,
    },
    Reproduction {
        name: "task-aware/figure-4",
        about: "power of a household, hour by hour: loss of linear designs, by ε and by hour",
        paper: PAPER,
        settings: Settings {
            paper: "1,417 days of 24 hours, split 0.7/0.3, linear designs in closed form, kᵢ = 2 for hours \
                9 to 20 and 1 otherwise, Z = 3 for privacy-agnostic. The paper does not state on which days \
                it measures losses.",
            ours: "The same split, weights and Z, at 10 values of ε from 1 to 50, nothing drawn. The noise \
                is that of the claim, with variance 2(Δ₁/ε)², not that of the published code. Losses are on \
                training and test days.",
            data: "All 1,417 days: 991 for training, 426 for tests.",
        },
        run: household::figure_4,
    },
    Reproduction {
        name: "task-aware/figure-5-valuation",
        about: "real estate: loss of trained linear designs on a network's task, by ε",
        paper: PAPER,
        settings: Settings {
            paper: "414 houses, 6 attributes, split 0.7/0.3. Task: 9 hidden ReLU units, ReLU output. Linear \
                encoder and decoder, η = 0.2, Adam at 0.001, 2,000 epochs of 15 steps. The paper states no \
                epochs of the task and no trials.",
            ours: "The same encoder, decoder, η and training, with Z = 3. The task has a linear output and \
                3,000 epochs. Designs are trained once for each ε, and losses are means over 100 draws of \
                noise.",
            data: "All 414 houses: 289 for training, 125 for tests.",
        },
        run: valuation::figure_5,
    },
    Reproduction {
        name: "task-aware/figure-5-wdbc",
        about: "breast tumours (WDBC): loss of trained designs on a network's task",
        paper: PAPER,
        settings: Settings {
            paper: "569 tumours, split 0.7/0.3. Task: 45 hidden ReLU units, ReLU output. Encoder and \
                decoder: 30 logistic units, η = 0.001, Adam at 0.001, 2,000 epochs of 15 steps. The paper \
                states no epochs of the task and no trials.",
            ours: "The same encoder, decoder and training, with Z = 3, at η = 0.001 and 0.0001. The task \
                has one logit and 1,000 epochs. Designs are trained once for each ε, and losses are means \
                over 100 draws of noise.",
            data: "All 569 tumours: 398 for training, 171 for tests.",
        },
        run: tumours::figure_5,
    },
    Reproduction {
        name: "task-aware/figure-6",
        about: "real estate and breast tumours: task loss by the number of latents",
        paper: PAPER,
        settings: Settings {
            paper: "The settings of Figure 5 with several Z, best on average at Z = 3. The paper states \
                neither the budgets of the average nor on which records it measures losses.",
            ours: "Figure 5's settings. Houses: Z = 1 to 6 at ε = 2, 5 and 10. Tumours: Z = 1, 2, 3, 4 and \
                6 at ε = 10, 20 and 50. Designs are trained once, and losses are means over 100 draws of \
                noise.",
            data: "All 414 houses and all 569 tumours.",
        },
        run: latents::figure_6,
    },
    Reproduction {
        name: "task-aware/figure-7",
        about: "real estate: effect of a hidden layer in encoder and decoder",
        paper: PAPER,
        settings: Settings {
            paper: "Real estate as in Figure 5, with a hidden layer of 6 ReLU units in encoder and decoder, \
                and η = 0.001.",
            ours: "The same at ε = 1, 2, 5, 10 and 20, with Z = 3 and the noise that ε needs. Designs are \
                trained once for each ε, and losses are means over 100 draws of noise.",
            data: "All 414 houses: 289 for training, 125 for tests.",
        },
        run: valuation::figure_7,
    },
    Reproduction {
        name: "task-aware/figure-8",
        about: "handwritten digits (MNIST): loss of trained linear designs on a linear classifier's task, by \
            ε",
        paper: PAPER,
        settings: Settings {
            paper: "MNIST, linear classifier as the task, linear encoder and decoder, Z = 10, Adam at \
                0.001. The paper states neither the number of images, η, epochs nor trials.",
            ours: "The same networks and Z. Our choices: η = 0.1 and 600 epochs of 15 steps on minibatches \
                of 300. Designs are trained once for each ε, and losses are means over 10 draws of noise.",
            data: "All 60,000 training digits, and all 10,000 test digits.",
        },
        run: digits::figure_8,
    },
    Reproduction {
        name: "task-aware/gaussian-latents",
        about: "Gaussian latents (ours) and Laplace latents at the same ε and δ, on the problems of Figures \
            4 to 8",
        paper: PAPER,
        settings: Settings {
            paper: "Laplace latents. Approximate local differential privacy is announced as future work.",
            ours: "The designs of Figures 4 to 8 with each noise, at δ = 1e-6 and 3 to 6 values of ε. Losses \
                are on test records.",
            data: "The data of Figures 4 to 8.",
        },
        run: other_noise::gaussian,
    },
    Reproduction {
        name: "task-aware/priv-unit-latents",
        about: "latents by PrivUnit (ours) and Laplace latents at the same ε, on the problems of Figures 4 \
            to 8",
        paper: PAPER,
        settings: Settings {
            paper: "Laplace latents alone.",
            ours: "The designs of Figures 4 to 8 with latents that a random direction estimates, at 3 to 6 \
                values of ε. Losses are on test records.",
            data: "The data of Figures 4 to 8.",
        },
        run: other_noise::priv_unit,
    },
    Reproduction {
        name: "task-aware/two-tasks",
        about: "one release of a household's power for two tasks: the losses that their weights trade",
        paper: PAPER,
        settings: Settings {
            paper: "Several tasks are announced as future work, without an experiment.",
            ours: "Power by day and by night of Figure 4 as two tasks, with 9 weights at 4 values of ε, \
                against two releases at ε/2. Nothing is drawn.",
            data: "All 1,417 days: 991 for training, 426 for tests.",
        },
        run: two_tasks::run,
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
