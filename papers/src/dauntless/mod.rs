//! Dauntless: Data Augmentation and Uniform Transformation for Learning with Scalability and Security (Xiao
//! and Devadas), Appendix A.

mod adult;
mod data;
mod mixing;
mod recovery;
mod secrecy;
mod within;

use super::report::{Agreement, Finding};
use super::trials::Mean;
use super::{CurvePoint, Layer, Marks, Panel, Picture, Reproduction, Scale};
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
    98.1 or 98.3 %. We recommend reports instead. The public half of the records, as in the paper, teaches \
    codes (`learned-codes`), and each private record reports its own code at a local ε. These reports teach \
    far more than the mixtures that a theorem allows, and the guarantee holds for every record.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 5] = [
    Reproduction {
        name: "dauntless/adult",
        about: "incomes (Adult): ridge regression on records, and on the identity matrix that is released in \
            their place",
        paper: PAPER,
        run: adult::adult,
    },
    Reproduction {
        name: "dauntless/figures-2-to-7",
        about: "private images (MNIST, CIFAR-10): recovery by an adversary that knows the public part of \
            each mixture",
        paper: PAPER,
        run: recovery::figures_2_to_7,
    },
    Reproduction {
        name: "dauntless/table-1",
        about: "handwritten digits (MNIST), two to ten of them: a network on images and on the identity \
            matrix",
        paper: PAPER,
        run: secrecy::table_1,
    },
    Reproduction {
        name: "dauntless/table-2",
        about: "handwritten digits (MNIST), mixed and transformed: accuracy of a network trained on the \
            release",
        paper: PAPER,
        run: mixing::table_2,
    },
    Reproduction {
        name: "dauntless/table-3",
        about: "small photographs (CIFAR-10), mixed and transformed: accuracy of a network trained on the \
            release",
        paper: PAPER,
        run: mixing::table_3,
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

/// Finding that compares a mean accuracy with the accuracy that the paper prints, in percent. The verdict is
/// `Reproduced` for a difference of at most `within` percentage points, and `Better` or `Differs` for a
/// larger gain or loss.
fn against_printed(what: String, printed: f64, within: f64, shares: &[f64], why: String) -> Finding {
    let value = 100.0 * Mean::from_values(shares).value;
    Finding {
        what,
        paper: format!("{printed:.1} %"),
        ours: format!("{} %", percent(shares)),
        value: Some(value),
        verdict: match value - printed {
            more if more > within => Agreement::Better,
            less if less < -within => Agreement::Differs,
            _ => Agreement::Reproduced,
        },
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
