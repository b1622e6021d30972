//! Reproduced results of Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy
//! (under review): Sections 4 and 5, and Appendix G.

mod beyond;
mod collection;
mod denoising;
mod figures;
mod joining;
mod learner;
mod novel;
mod people;
mod prepared;
mod reports;
mod sharing;

use super::Reproduction;
use super::trials::Mean;
use super::{CurvePoint, Layer, Marks, Panel, Scale};

pub(super) const PAPER: &str =
    "Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy (under review)";

/// Summary of the paper: the claims that hold, the claims that fail, and our alternative.
pub(super) const SAID: &str = "Releases of what an encoder learned are far better than noise on every column, and rise with ε, as the paper says. What does not hold is that they are worth something at every budget: at a local ε of 1 and 2, label included, a classifier is near chance. A \
learner that knows the noise, as a later version proposes, finds six to eight points more from ε = 6 on. In its place: reports. People who say which of a few kinds of record they have, at all of ε, teach a classifier far more than the same people's noisy latents do (`learned-codes`: 49 % of digits at \
ε = 1 in the place of 15, 92 % at ε = 10 in the place of 71); a record that is not in the clear is better answered with its class than with its latents (91 % in the place of 38 at ε = 10); and columns that one party releases to another are worth more by a design for what they say (`task-aware-bounded`). Of loans in \
the clear, codes are as good as latents and no better. Of nines that no volunteer has, whose label is known, it is better reported where records lie along the volunteers' principal directions (`direction-report`: 87.6 % at \
ε = 2 in the place of 84.0, and level at ε = 1).";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 8] = [
    Reproduction {
        name: "vlm/beyond-mnist",
        about: "handwritten digits (MNIST) that people share: learned codes beside the paper's method, at the same volunteers and people",
        paper: PAPER,
        run: beyond::beyond,
    },
    Reproduction {
        name: "vlm/denoising",
        about: "handwritten digits (MNIST): released latents, learned from by who knows the noise and by who does not",
        paper: PAPER,
        run: denoising::denoising,
    },
    Reproduction {
        name: "vlm/figure-1-lending-club",
        about: "loans (Lending Club) that people share: accuracy on records in the clear, by local and central ε",
        paper: PAPER,
        run: figures::figure_1_lending_club,
    },
    Reproduction {
        name: "vlm/figure-1-mnist",
        about: "handwritten digits (MNIST) that people share: accuracy on records in the clear, by local and central ε",
        paper: PAPER,
        run: figures::figure_1_mnist,
    },
    Reproduction {
        name: "vlm/figure-2",
        about: "handwritten nines (MNIST), of which the mechanism has seen none: accuracy on records in the clear, by local and central ε",
        paper: PAPER,
        run: novel::figure_2,
    },
    Reproduction {
        name: "vlm/figure-3",
        about: "loans (Lending Club) joined to columns that were released: accuracy by local ε",
        paper: PAPER,
        run: joining::figure_3,
    },
    Reproduction {
        name: "vlm/figure-4",
        about: "handwritten digits (MNIST): accuracy on released latents, beside its ceilings",
        paper: PAPER,
        run: figures::figure_4,
    },
    Reproduction {
        name: "vlm/figure-7",
        about: "handwritten digits (MNIST): accuracy on released features, beside its ceilings",
        paper: PAPER,
        run: figures::figure_7,
    },
];

/// Note that seeded experiments have no guarantee.
const SEEDED: &str = "All noise is exact, and has a known seed here, so that anybody can reproduce it: a release made from a known seed has no guarantee.";

/// Formats an ε, or ∞.
fn shown(epsilon: f64) -> String {
    if epsilon.is_infinite() { "∞".into() } else { epsilon.to_string() }
}

/// Formats shares as percentages, with their standard deviation.
fn percent(accuracies: &[f64]) -> String {
    let Mean { value, error } = Mean::of(accuracies);
    format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * error * (accuracies.len() as f64).sqrt())
}

/// Curve of percentages with their standard deviations, at the finite values of `local` ε.
fn curve(name: String, look: usize, local: &[f64], accuracies: impl Fn(usize) -> Vec<f64>) -> Layer {
    let points = local.iter().enumerate().filter(|(_, epsilon)| epsilon.is_finite()).map(|(at, epsilon)| {
        let accuracies = accuracies(at);
        let Mean { value, error } = Mean::of(&accuracies);
        CurvePoint { x: *epsilon, y: 100.0 * value, error: 100.0 * error * (accuracies.len() as f64).sqrt() }
    });
    Layer { name, look, marks: Marks::Curve(points.filter(|point| point.y.is_finite()).collect()) }
}

fn panel(title: &str, up: &str, layers: Vec<Layer>) -> Panel {
    Panel { title: title.into(), across: Scale::linear("local ε"), up: Scale::linear(up), layers }
}
