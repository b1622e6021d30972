//! Jacobian-Guided Anisotropic Noise Reshaping (Ha, Schlegel, Sun and Bharath, 2026), after its published
//! code (ymha/jacobian-anr-ldp, 5c2f3f7).

mod digits;
mod household;
mod noise;
mod reshape;

use super::{Reproduction, Settings};
use crate::gains::Axis;

/// Axis of budgets in ε.
const BY_EPSILON: Axis = Axis { symbol: "ε = ", before: true };

pub(super) const PAPER: &str = "Ha, Schlegel, Sun and Bharath, Jacobian-Guided Anisotropic Noise Reshaping \
    for Enhancing Representation Utility under Local Differential Privacy (2026)";

/// Assessment of the paper: the claims that hold, the claims that fail, and the alternative we recommend.
pub(super) const ASSESSMENT: &str = "The claim holds if each record is rotated, stretched, and then moved \
    into a ball. The maps before the ball and after the noise are public, and the noise is that of the ball. \
    Reshaped noise is weaker along the directions of the task only as far as it is stronger along the \
    others. On digits, reshaping helps at every number of dimensions after long training. Weight decay then \
    removes from the classifier all that the task does not need. Without weight decay, noise along \
    directions that the classifier does not see is √1000 times as wide as elsewhere, and may activate units. \
    With 64 numbers, PrivUnit then lost 45 points by reshaping in two of three trainings, at ε = 10. If \
    these directions are left out after the release, which costs nothing, PrivUnit gains there too. The \
    claim of the coordinate-wise variants does not hold, because they move nothing into any set (errata \
    J1). The task's model has to be public here. We recommend that the person's own device applies the \
    model, and answers with the class (`randomized-response`) or the number (`task-aware-clipped`). No noise \
    on a representation reaches this accuracy.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 2] = [
    Reproduction {
        name: "reshaping/digits",
        about: "handwritten digits (MNIST): representations released with noise that is reshaped for a \
            public classifier, by ε",
        paper: PAPER,
        settings: Settings {
            paper: "From the published code and its README: digits, encoder layers of 512, classifier \
                layers of 10 and 32, start from a variational autoencoder, up to 100 epochs. Numbers of \
                records and of trials: not stated.",
            ours: "The same layers, representations of 16, 32 and 64 numbers, 7 values of ε from 0.5 to 10, \
                3 trials. A plain autoencoder of 20 epochs, then 40 epochs of Adam with a weight decay of \
                0.0001.",
            data: "All 60,000 training digits, 2,500 of 10,000 test digits. The paper's share: not stated.",
        },
        run: digits::digits,
    },
    Reproduction {
        name: "reshaping/household",
        about: "power of a household: sixteen days released with noise that is reshaped for a public \
            regression of the next day, by ε",
        paper: PAPER,
        settings: Settings {
            paper: "Some 5,500 households of London, 3,000 of them public. Model, training, ε and number of \
                trials: not stated in the material at hand.",
            ours: "One household in France, 980 public and 405 released windows of 16 days. Least-squares \
                regression of the next day's mean power, 6 values of ε from 0.5 to 10, 10 trials.",
            data: "None of the paper's households. All 1,417 days of another household instead.",
        },
        run: household::household,
    },
];
