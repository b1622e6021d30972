//! Reproduced results of Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy
//! (under review): Sections 4 and 5, and Appendix G.

mod benchmark;
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
pub(super) const ASSESSMENT: &str = "Releases of learned latents are far better than noise on every column, \
    and their accuracy rises with ε, as the paper says. The claim that they are useful at every budget does \
    not hold. At a local ε of 1 and 2, label included, a classifier is near chance. A learner that knows the \
    noise, as a later version proposes, gains six to eight points from ε = 6 on. Noise on every column is \
    not at chance up to ε = 100: mean directions of the classes then find 63 % of digits. We recommend \
    reports instead. People report, at all of ε, which of a few kinds of record they have (`learned-codes`). \
    These reports teach a classifier far more than the same people's noisy latents do. It classifies 49 % of \
    digits correctly at ε = 1 instead of 15, and 92 % at ε = 10 instead of 71. If a record is not in the \
    clear, an answer with its class is better than its latents: 91 % instead of 38 at ε = 10. Columns that \
    one party releases to another are more useful with a design for the target that they predict \
    (`task-aware-bounded`). For loans in the clear, codes are as good as latents and no better. No volunteer \
    has nines, and their label is known. For nines, reports of coordinates along the volunteers' principal \
    directions are better (`direction-report`). Their accuracy is 87.6 % at ε = 2 instead of 84.0, and level \
    at ε = 1.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 8] = [
    Reproduction {
        name: "vlm/beyond-mnist",
        about: "handwritten digits (MNIST) that people share: learned codes against the paper's method, with \
            the same volunteers and people",
        paper: PAPER,
        run: beyond::beyond,
    },
    Reproduction {
        name: "vlm/denoising",
        about: "handwritten digits (MNIST): learning from released latents, with and without knowledge of \
            the noise",
        paper: PAPER,
        run: denoising::denoising,
    },
    Reproduction {
        name: "vlm/figure-1-lending-club",
        about: "loans (Lending Club) that people share: accuracy on records in the clear, by local and \
            central ε",
        paper: PAPER,
        run: figures::figure_1_lending_club,
    },
    Reproduction {
        name: "vlm/figure-1-mnist",
        about: "handwritten digits (MNIST) that people share: accuracy on records in the clear, by local and \
            central ε",
        paper: PAPER,
        run: figures::figure_1_mnist,
    },
    Reproduction {
        name: "vlm/figure-2",
        about: "handwritten nines (MNIST) that the mechanism has not seen: accuracy on records in the clear, \
            by local and central ε",
        paper: PAPER,
        run: novel::figure_2,
    },
    Reproduction {
        name: "vlm/figure-3",
        about: "loans (Lending Club) joined to released columns: accuracy by local ε",
        paper: PAPER,
        run: joining::figure_3,
    },
    Reproduction {
        name: "vlm/figure-4",
        about: "handwritten digits (MNIST): accuracy on released latents, and its ceilings",
        paper: PAPER,
        run: figures::figure_4,
    },
    Reproduction {
        name: "vlm/figure-7",
        about: "handwritten digits (MNIST): accuracy on released features, and its ceilings",
        paper: PAPER,
        run: figures::figure_7,
    },
];

/// Note that seeded experiments have no guarantee.
const SEEDED: &str = "All noise is exact. Its seed is known here, so that anybody can reproduce it; a \
    release made from a known seed has no guarantee.";

/// Formats an ε, or ∞.
fn shown(epsilon: f64) -> String {
    if epsilon.is_infinite() { "∞".into() } else { epsilon.to_string() }
}

/// Formats shares as percentages, with their standard deviation.
fn percent(accuracies: &[f64]) -> String {
    let Mean { value, error } = Mean::from_values(accuracies);
    format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * error * (accuracies.len() as f64).sqrt())
}

/// Curve of percentages with their standard deviations, at the finite values of `local` ε.
fn curve(name: String, look: usize, local: &[f64], accuracies: impl Fn(usize) -> Vec<f64>) -> Layer {
    let points = local.iter().enumerate().filter(|(_, epsilon)| epsilon.is_finite()).map(|(at, epsilon)| {
        let accuracies = accuracies(at);
        let Mean { value, error } = Mean::from_values(&accuracies);
        CurvePoint { x: *epsilon, y: 100.0 * value, error: 100.0 * error * (accuracies.len() as f64).sqrt() }
    });
    Layer { name, look, marks: Marks::Curve(points.filter(|point| point.y.is_finite()).collect()) }
}

fn panel(title: &str, up: &str, layers: Vec<Layer>) -> Panel {
    Panel { title: title.into(), across: Scale::linear("local ε"), up: Scale::linear(up), layers }
}
