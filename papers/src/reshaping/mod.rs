//! Jacobian-Guided Anisotropic Noise Reshaping (Ha, Schlegel, Sun and Bharath, 2026), after its published
//! code (ymha/jacobian-anr-ldp, 5c2f3f7).

mod digits;
mod household;
mod noise;
mod reshape;

use super::Reproduction;
use crate::gains::Axis;

/// Axis of budgets in ε.
const BY_EPSILON: Axis = Axis { symbol: "ε = ", before: true };

pub(super) const PAPER: &str = "Ha, Schlegel, Sun and Bharath, Jacobian-Guided Anisotropic Noise Reshaping for Enhancing Representation Utility under Local Differential Privacy (2026)";

/// Assessment of the paper: the claims that hold, the claims that fail, and the alternative we recommend.
pub(super) const SAID: &str = "Where a record is moved into a ball after it was turned and stretched, the claim holds: what comes before the ball and after the noise is public, and the noise is that of the ball. It is weaker where the task looks only in the \
measure that it is stronger elsewhere, and it helps, of digits at every number of dimensions, once the classifier has been trained for so long that weight decay takes out of it what its task does not need: without weight decay, noise along directions that it does not see, √1000 times as wide as elsewhere, may wake units, \
and of 64 numbers PrivUnit lost 45 points by reshaping in two of three trainings, at ε = 10; where these directions are left out after the release, which costs nothing, it gains there too. What does not hold is the claim of the coordinate-wise variants, which move nothing into any set (ERRATA.md, J1). In its place, where the task's model is public, as it has to be here: the person's own device applies the model, and answers with the class \
(`randomized-response`) or the number (`task-aware-clipped`), which no noise on a representation reaches.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 2] = [
    Reproduction {
        name: "reshaping/digits",
        about: "handwritten digits (MNIST): representations released by noise that is reshaped for a public classifier, by ε",
        paper: PAPER,
        run: digits::digits,
    },
    Reproduction {
        name: "reshaping/household",
        about: "power of a household: sixteen days released by noise that is reshaped for a public regression on the next, by ε",
        paper: PAPER,
        run: household::household,
    },
];
