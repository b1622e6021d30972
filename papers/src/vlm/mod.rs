//! Reproduced results of Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy
//! (under review): Sections 4 and 5, and Appendix G.

mod benchmark;
mod beyond;
mod collection;
mod convolution;
mod denoising;
mod drift;
mod figures;
mod joining;
mod learner;
mod novel;
mod other_noise;
mod pair;
mod people;
mod prepared;
mod printed;
mod reports;
mod sharing;

use super::trials::Mean;
use super::{CurvePoint, Layer, Marks, Panel, Scale};
use super::{Reproduction, RunOptions, Settings};

pub(super) const PAPER: &str =
    "Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy (under review)";

/// Summary of the paper: the claims that hold, the claims that fail, and our alternative.
pub(super) const ASSESSMENT: &str = "Releases of learned latents are far better than noise on every column, \
    and their accuracy rises with ε, as the paper says. The claim that they are useful at every budget does \
    not hold. At a local ε of 1 and 2, label included, a classifier is near chance, also with the printed \
    settings of each ε. A learner that knows the noise, as a later version proposes, gains six to eight \
    points from ε = 6 on, and convolutions gain five. Noise on every column is not at chance up to ε = 100: \
    mean directions of the classes then find 63 % of digits. We recommend reports instead. People report, \
    at all of ε, which of a few kinds of record they have (`learned-codes`). These reports teach a \
    classifier far more than the same people's noisy latents do. It classifies 49 % of digits correctly at \
    ε = 1 instead of 15, and 92 % at ε = 10 instead of 71, or of 76 with the printed settings. If a record \
    is not in the clear, an answer with its class is better than its latents: 91 % instead of 38 at ε = 10. \
    Columns that one party releases to another are more useful with a design for the target that they \
    predict (`task-aware-bounded`). For loans in the clear, codes are as good as latents and no better. No \
    volunteer has nines, and their label is known. For nines, reports of coordinates along the volunteers' \
    principal directions are better (`direction-report`). Their accuracy is 87.6 % at ε = 2 instead of \
    84.0, and level at ε = 1.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 13] = [
    Reproduction {
        name: "vlm/beyond-mnist",
        about: "handwritten digits (MNIST) that people share: learned codes against the paper's method, with \
            the same volunteers and people",
        paper: PAPER,
        settings: Settings {
            paper: "The paper has no such experiment. Its data collection on MNIST has 45,000 digits for \
                the VLM and 15,000 for the classifier.",
            ours: "15,000 volunteers without a central ε, 45,000 people, ε = 1, 2 and 4, 3 trials. The \
                paper's method has 8 latents, l = 5, ε_pretraining = 20, and a tenth of the people \
                validate.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits.",
        },
        run: beyond::beyond,
    },
    Reproduction {
        name: "vlm/convolution",
        about: "handwritten digits (MNIST) that people share: a convolutional model (ours) and a dense one",
        paper: PAPER,
        settings: Settings {
            paper: "Dense networks alone, with layers 400-150-50.",
            ours: "The volunteers, people and classifiers of our Figure 1, with two convolutions and a layer \
                of 128 units, in 10 trials. With a central ε, a layer of 64 units, in 3 trials.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits, as in the paper.",
        },
        run: convolution::run,
    },
    Reproduction {
        name: "vlm/denoising",
        about: "handwritten digits (MNIST): learning from released latents, with and without knowledge of \
            the noise",
        paper: PAPER,
        settings: Settings {
            paper: "A later version (arXiv 2010.12464v3) adds a denoising approach, without published code. \
                Its network, sizes and trials: not stated in the material at hand.",
            ours: "The mechanisms and releases of Figure 1 on MNIST at central ε = ∞, 3 trials. The learner \
                weights the latents of 4,000 volunteers, and trains 50 units for 20 epochs.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits.",
        },
        run: denoising::denoising,
    },
    Reproduction {
        name: "vlm/drift",
        about: "loans: volunteers whose loans are older than the shared ones",
        paper: PAPER,
        settings: Settings {
            paper: "D₁ and D₂ follow the same distribution. Another distribution of D₂, as of another \
                period, is mentioned and has no experiment.",
            ours: "Data collection on loans as in Figure 1 at central ε = ∞, with volunteers of the same \
                months or of the oldest, in 10 divisions of the loans.",
            data: "The data of Figure 1.",
        },
        run: drift::run,
    },
    Reproduction {
        name: "vlm/figure-1-lending-club",
        about: "loans (Lending Club) that people share: accuracy on records in the clear, by local and \
            central ε",
        paper: PAPER,
        settings: Settings {
            paper: "About 540,000 loans, 341,000 of them for the VLM, layers 500-500, rate 1e-4, 8 latents, \
                3 trials. λ, l and ε_pretraining are searched for each ε. DP-Adam has noise 0.56 and 1.1 at \
                central ε = 5 and 1. The paper states no epochs.",
            ours: "8,064 volunteers, 2,688 people, 3 trials. One mechanism for all ε: l = 5, ε_pretraining \
                = 15, rate 5e-4, λ = 0.5 or 0.7. Up to ε = 2, mean directions replace the network. With a \
                central ε, one layer of 50 units, joint training.",
            data: "42,535 of about 540,000 loans. After balancing, each trial has 10,752 training loans and \
                2,110 test loans.",
        },
        run: figures::figure_1_lending_club,
    },
    Reproduction {
        name: "vlm/figure-1-mnist",
        about: "handwritten digits (MNIST) that people share: accuracy on records in the clear, by local and \
            central ε",
        paper: PAPER,
        settings: Settings {
            paper: "45,000 digits for the VLM, 15,000 for the classifier, layers 400-150-50, 8 latents, 3 \
                trials. λ, l and ε_pretraining are searched for each ε. DP-Adam has noise 0.7 and 1.1 at \
                central ε = 5 and 1. The paper states no epochs.",
            ours: "The same sizes, 3 trials. One mechanism for all ε: l = 5, ε_pretraining = 20, λ = 0.5 or \
                0.7. Up to ε = 2, mean directions replace the network. With a central ε, one layer of 200 \
                units, Bernoulli likelihood, joint training.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits, as in the paper.",
        },
        run: figures::figure_1_mnist,
    },
    Reproduction {
        name: "vlm/figure-2",
        about: "handwritten nines (MNIST) that the mechanism has not seen: accuracy on records in the clear, \
            by local and central ε",
        paper: PAPER,
        settings: Settings {
            paper: "MNIST: a VLM of eight ninths of the digits 0 to 8, a classifier of all nines and the \
                other ninth, both balanced. Networks and search as in Figure 1, 3 trials. The text states \
                no sizes.",
            ours: "48,045 volunteers, 5,949 nines and as many others shared, 3 trials. Mechanisms as in \
                Figure 1, with one for all ε. Up to ε = 2, mean directions replace the network. Tests are \
                on 2,018 digits of the test set.",
            data: "59,943 of 60,000 training digits with all 5,949 nines, 2,018 of 10,000 test digits.",
        },
        run: novel::figure_2,
    },
    Reproduction {
        name: "vlm/figure-3",
        about: "loans (Lending Club) joined to released columns: accuracy by local ε",
        paper: PAPER,
        settings: Settings {
            paper: "About 540,000 loans, 23 features, 8 of them named for the VLM, layers 500-500, labels \
                in the clear, no central ε, 3 trials. d, l and ε_pretraining are searched for each ε. The \
                paper states no epochs.",
            ours: "Six of the eight named columns are in the clear, and all others are released, because \
                the printed accuracies fit this. One mechanism for all ε: 5 latents, l = 5, ε_pretraining = \
                15, 60 epochs, 3 trials.",
            data: "42,535 of about 540,000 loans, without two named columns. After balancing, each trial \
                has 10,752 training loans and 2,110 test loans.",
        },
        run: joining::figure_3,
    },
    Reproduction {
        name: "vlm/figure-4",
        about: "handwritten digits (MNIST): accuracy on released latents, and its ceilings",
        paper: PAPER,
        settings: Settings {
            paper: "Data collection on MNIST as in Figure 1, with released test records and latents. λ, l \
                and ε_pretraining are searched anew for each ε and for released records. The ceiling is \
                equation 10. 3 trials.",
            ours: "The mechanisms and releases of Figure 1, 3 trials, with one mechanism for all ε, for \
                clean and for released records. The ceiling is equation 28, at the ε of records alone.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits, as in the paper.",
        },
        run: figures::figure_4,
    },
    Reproduction {
        name: "vlm/figure-7",
        about: "handwritten digits (MNIST): accuracy on released features, and its ceilings",
        paper: PAPER,
        settings: Settings {
            paper: "Data collection on MNIST as in Figure 1, with released test records and features. λ, l \
                and ε_pretraining are searched anew for each ε and for released records. 3 trials.",
            ours: "The mechanisms and releases of Figure 1, 3 trials, with one mechanism for all ε, for \
                clean and for released records. The ceiling is equation 28, at the ε of records alone.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits, as in the paper.",
        },
        run: figures::figure_7,
    },
    Reproduction {
        name: "vlm/gaussian-latents",
        about: "Gaussian latents (ours) and Laplace latents at the same ε and δ, in every figure",
        paper: PAPER,
        settings: Settings {
            paper: "Laplace latents alone. \"Our approach could be used to learn a Gaussian mechanism with \
                minimal modification\", without an experiment.",
            ours: "The networks, people and classifiers of our Figures 1 to 3 at central ε = ∞ with each \
                noise, at δ = 1e-6. Figures 4 and 7 show the same releases of digits.",
            data: "The data of Figures 1 to 3.",
        },
        run: other_noise::gaussian,
    },
    Reproduction {
        name: "vlm/priv-unit-latents",
        about: "latents by PrivUnit (ours) and Laplace latents at the same ε, in every figure",
        paper: PAPER,
        settings: Settings {
            paper: "Laplace latents alone.",
            ours: "The networks, people and classifiers of our Figures 1 to 3 at central ε = ∞, with latents \
                that a random direction estimates. Figures 4 and 7 show the same releases of digits.",
            data: "The data of Figures 1 to 3.",
        },
        run: other_noise::priv_unit,
    },
    Reproduction {
        name: "vlm/table-4",
        about: "handwritten digits (MNIST) that people share: accuracy with the printed settings of each \
            local ε",
        paper: PAPER,
        settings: Settings {
            paper: "45,000 digits for the VLM, 15,000 for the classifier, 8 latents, and the λ, l and \
                ε_pretraining of Table 4 for each ε. DP-Adam has noise 0.7 and 1.1 at central ε = 5 and 1, \
                as in Table 2. The paper states no epochs.",
            ours: "The same sizes, settings and noise, 3 trials. Only the paper's network classifies. A \
                central ε has local ε = 10 alone. Our choices: 15 epochs, and encoder and decoder trained \
                privately together.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits, as in the paper.",
        },
        run: printed::table_4,
    },
];

/// Note that seeded experiments have no guarantee.
const SEEDED: &str = "All noise is exact. Its seed is known here, so that anybody can reproduce it; a \
    release made from a known seed has no guarantee.";

/// Random seed of the trainings in a trial.
fn seed_of(options: &RunOptions, trial: usize) -> u64 {
    options.seed.wrapping_mul(1_000_003).wrapping_add(trial as u64)
}

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
