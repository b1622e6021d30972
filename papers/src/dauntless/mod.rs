//! Dauntless: Data Augmentation and Uniform Transformation for Learning with Scalability and Security (Xiao
//! and Devadas), Appendix A.

mod adult;
mod convolution;
mod data;
mod extraction;
mod iterations;
mod mixing;
mod mixtures;
mod multiplicative;
mod recovery;
mod secrecy;
mod transfer;
mod within;

use super::report::Finding;
use super::rules::Rule;
use super::trials::Mean;
use super::{CurvePoint, Layer, Marks, Panel, Picture, Reproduction, RunOptions, Scale, Settings};
use ndarray::Array1;
use scumble_core::Target;

pub(super) const PAPER: &str = "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation \
    for Learning with Scalability and Security";

/// Assessment of the paper: the claims that hold, the claims that fail, and the alternative we recommend.
pub(super) const ASSESSMENT: &str = "Perfect secrecy holds. A ridge regression learns as much from the \
    identity matrix as from the records that the matrix replaces, and a network learns nearly as much. On \
    ten digits, ridge regression has a higher accuracy than that network (86 % against 84). Mixing holds as \
    data augmentation, but the claim that it hides records does not hold. The paper's adversary trains a \
    network; least squares recover nearly all private images in each of its figures. Recovery of digits \
    begins at one to two samples per column, and a theorem allows one sample per seven columns. Every \
    release in the tables mixes each private record into several samples, and has far more samples than a \
    theorem allows. Mixing also adds little. On digits, a network that learns from the public half alone \
    needs no private record, and has an accuracy of 97.8 % on test records. Mixtures of all records give \
    98.1 or 98.3 %. On photographs, both give 47.2 %. The noise that Theorem 5 needs at ε = 1 is thousands \
    of diameters of the records, and leaves nothing to learn. Algorithm 3 costs its users 8 to 14 points of \
    accuracy, and hardly hinders extraction: a surrogate that learns from its answers agrees with the model \
    on 89 to 93 % of the records. We recommend reports instead. The public half of the records, as in the \
    paper, teaches codes (`learned-codes`), and each private record reports its own code at a local ε. \
    These reports teach far more than the mixtures that a theorem allows, and the guarantee holds for every \
    record.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 9] = [
    Reproduction {
        name: "dauntless/adult",
        about: "incomes (Adult): ridge regression on records, and on the identity matrix that is released in \
            their place",
        paper: PAPER,
        settings: Settings {
            paper: "Adult with 14 attributes, 20,000 or 30,000 training records, 2,000 test records of each \
                class, v = 1. The paper states neither the encoding of categories, the ridge penalty, the \
                threshold nor the number of trials.",
            ours: "The same sizes and v, in 10 trials. Our choices: 12 attributes in 91 columns, one-hot \
                categories, numbers scaled by public bounds, ridge penalty 0.001 relative to the mean loss, \
                mean label as threshold.",
            data: "12 of 14 attributes. Each trial samples 20,000 or 30,000 training records and 4,000 test \
                records from all 48,842.",
        },
        run: adult::adult,
    },
    Reproduction {
        name: "dauntless/appendix-a-3",
        about: "small photographs (CIFAR-10) after a secret layer, dense or a convolution: accuracy of a \
            convolutional network",
        paper: PAPER,
        settings: Settings {
            paper: "Appendix A.3 says that a convolutional network after a dense layer is no better than a \
                dense one on images, and that a random convolution costs a few percent. It states no layers, \
                epochs, accuracies or trials.",
            ours: "No mixing. A normal matrix of 3,072 × 3,072, or 4 normal filters of 3 × 3 pixels. \
                Networks of two convolutions and a layer of 128 units, 10 epochs, 3 trials.",
            data: "40,000 of 50,000 training photographs. The other 10,000 are the test photographs.",
        },
        run: convolution::appendix_a_3,
    },
    Reproduction {
        name: "dauntless/figures-2-to-7",
        about: "private images (MNIST, CIFAR-10): recovery by an adversary that knows the public part of \
            each mixture",
        paper: PAPER,
        settings: Settings {
            paper: "MNIST or CIFAR-10, 60,000 to 200,000 samples of 2 or 4 records, approach 1. The \
                adversary knows the public part and its weight, and trains a network that the paper does \
                not describe. Figures 2 and 3 show ten images.",
            ours: "The same known shares, samples and parts, in 3 trials. The adversary fits least squares \
                instead of a network, and 500 private images count. Known shares are sampled from all \
                classes together, not class by class.",
            data: "All 60,000 training digits and all 50,000 training photographs.",
        },
        run: recovery::figures_2_to_7,
    },
    Reproduction {
        name: "dauntless/section-4",
        about: "handwritten digits (MNIST): answers of Algorithm 3, and surrogates of the model learned \
            from them",
        paper: PAPER,
        settings: Settings {
            paper: "Section 4 has no experiment. A client with Algorithm 3 asks a model that learned from \
                transformed mixtures. Theorem 3 bounds how well T is approximated, and f_T may be public.",
            ours: "Models of 60,000 and of 3,000 mixtures by approach 2, one layer of 256 units, 3 trials. \
                Adversaries ask about up to 5,000 test digits, and train networks or fit T by ridge \
                regression.",
            data: "The paper names none. All 60,000 training digits and all 10,000 test digits.",
        },
        run: extraction::section_4,
    },
    Reproduction {
        name: "dauntless/table-1",
        about: "handwritten digits (MNIST), two to ten of them: a network on images and on the identity \
            matrix",
        paper: PAPER,
        settings: Settings {
            paper: "MNIST, 2,000 training images of each digit from 1 to c, c from 2 to 10. Layers of 300, \
                200 and 100 ReLU units, softmax, v = 1. The paper states no optimiser, epochs, test records \
                or trials.",
            ours: "The same numbers and layers, but digits 0 to c − 1, in 3 trials. Our choices: Adam, at \
                most 20 epochs on images, 4 epochs on the identity matrix with other learning rates and \
                small first weights.",
            data: "2,000 training images of each digit (20,000 of 60,000 for ten digits), and all test \
                images of these digits (10,000 for ten).",
        },
        run: secrecy::table_1,
    },
    Reproduction {
        name: "dauntless/table-2",
        about: "handwritten digits (MNIST), mixed and transformed: accuracy of a network trained on the \
            release",
        paper: PAPER,
        settings: Settings {
            paper: "MNIST, 60,000 training digits, layers of 256, 128, 64 and 32 units, a regression layer, \
                SGD in batches of 128, β = 50, 20 trials. The paper states no public share, learning rate, \
                label width or stopping rule.",
            ours: "The same digits, layers and batches, in 3 trials. Our choices: a random half is public, \
                labels of 64 coordinates, 20 epochs of Adam with a rate that falls to zero (constant for \
                iterations), condition numbers below 11,500 in approach 1.",
            data: "All 60,000 training digits and all 10,000 test digits.",
        },
        run: mixing::table_2,
    },
    Reproduction {
        name: "dauntless/table-3",
        about: "small photographs (CIFAR-10), mixed and transformed: accuracy of a network trained on the \
            release",
        paper: PAPER,
        settings: Settings {
            paper: "CIFAR-10, 50,000 training photographs, 2 to 8 samples for each, the layers of Table 2, \
                30 epochs, batches of 128, condition numbers below 11,500, 3 trials. The paper states no \
                learning rate and no public share.",
            ours: "The same layers, batches, condition numbers and samples for each photograph, in 3 \
                trials, but 20 epochs. Our choices: a random half is public, labels of 10 coordinates, Adam \
                with a rate that falls to zero.",
            data: "40,000 of 50,000 training photographs. The other 10,000 are the test photographs.",
        },
        run: mixing::table_3,
    },
    Reproduction {
        name: "dauntless/theorem-5",
        about: "digits and photographs (MNIST, CIFAR-10), times a Gaussian matrix: accuracy by ε of \
            Theorem 5",
        paper: PAPER,
        settings: Settings {
            paper: "Section 3.3 claims no obvious drop at ε = 1 and d′ = d on MNIST and CIFAR-10, with B in \
                a scale of 1/d. It states no model, δ, v, accuracy or number of trials.",
            ours: "Releases by multiplicative-dp at δ = 1e-5, ridge regression of one class against all \
                others, 3 trials. Neighbours differ by the diameter, and in another row by 1/d of it.",
            data: "All 60,000 training digits, all 50,000 training photographs, 10,000 test digits, 1,017 \
                of 10,000 test photographs.",
        },
        run: multiplicative::theorem_5,
    },
    Reproduction {
        name: "dauntless/transfer",
        about: "handwritten digits (MNIST) mapped to public digits in place of the identity matrix",
        paper: PAPER,
        settings: Settings {
            paper: "Section 6 suggests mapping private data to public data, with a model of the public \
                data, and leaves this to future work.",
            ours: "The map of perfect-secrecy to public digits of the same class, a network of the layers of \
                Table 1 learned from public digits, 3 trials, also with the private pixels in another order.",
            data: "10,000 private and 10,000 public digits of the 60,000 training digits, and all 10,000 \
                test digits.",
        },
        run: transfer::transfer,
    },
];

/// Share of the classes in `found` that are equal to the classes in `truth`; `NaN` if a target is not a
/// class.
fn accuracy(found: &Target, truth: &Target) -> f64 {
    match (found, truth) {
        (Target::Class(found), Target::Class(truth)) => share_alike(found, truth),
        _ => f64::NAN,
    }
}

fn share_alike(found: &Array1<usize>, truth: &Array1<usize>) -> f64 {
    let alike = found.iter().zip(truth).filter(|(found, truth)| found == truth).count();
    alike as f64 / truth.len().max(1) as f64
}

/// Formats shares as a mean percentage with their standard deviation.
fn percent(shares: &[f64]) -> String {
    let Mean { value, error } = Mean::from_values(shares);
    format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * error * (shares.len() as f64).sqrt())
}

/// Finding that compares a mean accuracy with the accuracy that the paper prints, in percent. `rule` decides
/// by the difference in points, divided by `unit`.
fn against_printed(
    what: String,
    printed: f64,
    (rule, unit): (&Rule, f64),
    shares: &[f64],
    why: String,
) -> Finding {
    let value = 100.0 * Mean::from_values(shares).value;
    Finding {
        what,
        paper: format!("{printed:.1} %"),
        ours: format!("{} %", percent(shares)),
        value: Some(value),
        decision: rule.on((value - printed) / unit),
        why,
    }
}

/// Random seed of the trainings in a trial.
fn seed_of(options: &RunOptions, trial: usize) -> u64 {
    options.seed.wrapping_mul(1000).wrapping_add(trial as u64)
}

/// Finding on the mean difference of accuracies `shares` from `others`, in points. `rule` decides by the
/// difference from `printed`, in points.
fn against_others(
    what: String,
    (paper, printed): (String, f64),
    rule: &Rule,
    [shares, others]: [&[f64]; 2],
    why: String,
) -> Finding {
    let gap = Mean::from_differences(shares, others);
    let value = 100.0 * gap.value;
    Finding {
        what,
        paper,
        ours: format!(
            "{value:+.1} ± {:.1} points ({} against {} %)",
            100.0 * gap.error,
            percent(shares),
            percent(others)
        ),
        value: Some(value),
        decision: rule.on(value - printed),
        why,
    }
}

/// Point of a curve: a mean in percent, with its standard error.
fn point(x: f64, shares: &[f64]) -> CurvePoint {
    let Mean { value, error } = Mean::from_values(shares);
    CurvePoint { x, y: 100.0 * value, error: 100.0 * error }
}

/// Chart of accuracies in percent, with one curve for each name in `curves`.
fn chart(
    title: &str,
    panel: &str,
    across: &str,
    curves: impl IntoIterator<Item = (String, Vec<CurvePoint>)>,
) -> Picture {
    let layers = curves.into_iter().enumerate();
    let layers = layers.map(|(look, (name, points))| Layer { name, look, marks: Marks::Curve(points) });
    Picture {
        title: title.into(),
        panels: vec![Panel {
            title: panel.into(),
            across: Scale::linear(across),
            up: Scale::linear("accuracy, %"),
            layers: layers.collect(),
        }],
    }
}
