//! Reproduced results of PAC-Private Algorithms (Sridhar, Xiao and Devadas, 2025), from the abstract and the
//! published code (mayuri95/pac_algs, 019d1dd and 28b4787).

mod clusters;
mod irises;
mod machine;
mod mean;
mod study;

use super::Reproduction;

pub(super) const PAPER: &str = "Sridhar, Xiao and Devadas, PAC-Private Algorithms (2025)";

/// Summary of the paper: the claims that hold, the claims that fail, and our alternative.
pub(super) const SAID: &str = "The bound holds, and is proved for the subsets themselves where their values are all computed (`pac-statistics`). That stable statistics need less noise, by regularisation or by one order of centres, holds too, and so does that noise that differs from value to value \
is better than equal noise. What does not hold are the small losses: the published code draws noise whose standard deviation is what the variance should be (ERRATA.md, P1), and the noise of the theorem loses many times as much. A half of all records changes far more than one record does: means and linear models of all records under differential privacy \
(`noisy-moments`, `private-logistic`) are better at the same bound on guesses of membership, which Gaussian differential privacy has as Φ(μ/2): means by a factor of over a hundred, and models of irises by six points and more at every bound, against three centres whose species are public too. \
We would take this notion where nobody has a sensitivity.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 3] = [
    Reproduction {
        name: "pac-privacy/k-means",
        about: "irises: three centres of half of them, by nats of mutual information with which half",
        paper: PAPER,
        run: clusters::clusters,
    },
    Reproduction {
        name: "pac-privacy/linear-machine",
        about: "irises: support vector machines of half of them, by nats of mutual information with which half",
        paper: PAPER,
        run: machine::machine,
    },
    Reproduction {
        name: "pac-privacy/mean",
        about: "handwritten digits (MNIST): the mean image of half of them, beside that of all under differential privacy with the same bound on guesses of membership",
        paper: PAPER,
        run: mean::mean,
    },
];
