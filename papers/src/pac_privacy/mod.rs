//! Reproduced results of PAC-Private Algorithms (Sridhar, Xiao and Devadas, 2025), from the abstract and the
//! published code (mayuri95/pac_algs, 019d1dd and 28b4787).

mod clusters;
mod irises;
mod machine;
mod mean;
mod study;

use super::{Reproduction, Settings};

pub(super) const PAPER: &str = "Sridhar, Xiao and Devadas, PAC-Private Algorithms (2025)";

/// Summary of the paper: the claims that hold, the claims that fail, and our alternative.
pub(super) const ASSESSMENT: &str = "The bound holds. It is proven for the subsets themselves if the values \
    of all subsets are computed (`pac-statistics`). Stable statistics need less noise, by regularisation or \
    by one order of centres; this claim holds too. Noise that differs from value to value is better than \
    equal noise, as the paper claims. The small losses do not hold. The published code uses the variance as \
    a standard deviation (errata P1), and the noise of the theorem loses many times as much. The choice \
    of a half changes a statistic far more than one record does. So means and linear models of all records \
    under differential privacy (`noisy-moments`, `private-logistic`) are better at the same bound on guesses \
    of membership. For Gaussian differential privacy, this bound is Φ(μ/2). Means are better by a factor of \
    over a hundred. Models of irises are better by six points and more at every bound, compared with three \
    centres whose species are public too. We recommend this notion only if no sensitivity is known.";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 3] = [
    Reproduction {
        name: "pac-privacy/k-means",
        about: "irises: three centres of half of them, by mutual information with the chosen half in nats",
        paper: PAPER,
        settings: Settings {
            paper: "From the abstract and the published code: irises, three centres of half of the training \
                records, twelve noise values at ½ nat. Subsets are drawn until variances change by less \
                than 1e-6. Trials: not stated.",
            ours: "20 trials, each with a new split into 100 training and 50 test records, and 256 halves \
                in pairs. Nine bounds from 1/64 to 4 nats, 50 releases for each, 20,000 attacked releases \
                in the first trial.",
            data: "All 150 irises.",
        },
        run: clusters::clusters,
    },
    Reproduction {
        name: "pac-privacy/linear-machine",
        about: "irises: support vector machines of half of them, by mutual information with the chosen half \
            in nats",
        paper: PAPER,
        settings: Settings {
            paper: "From the abstract and the published code: irises, linear machines of half of the \
                training records, C = 0.05 and 1, fifteen noise values at ½ nat. Subsets are drawn until \
                variances settle. Trials: not stated.",
            ours: "20 trials, each with a new split into 100 training and 50 test records, and 256 halves \
                in pairs. Nine bounds from 1/64 to 4 nats, 50 releases for each, 20,000 attacked releases \
                in the first trial.",
            data: "All 150 irises.",
        },
        run: machine::machine,
    },
    Reproduction {
        name: "pac-privacy/mean",
        about: "handwritten digits (MNIST): mean image of half of them, and of all of them under \
            differential privacy, at the same bound on guesses of membership",
        paper: PAPER,
        settings: Settings {
            paper: "From the published code: mean of CIFAR-10 (3,072 numbers), compared with Laplace noise \
                of scale c/(nε) on records clipped to ‖x‖₂ ≤ c. Numbers of images and of trials: not \
                stated.",
            ours: "Digits instead of photographs (784 pixels), 128 halves in pairs, nine bounds from 1/64 \
                to 4 nats, 10 trials. The Gaussian mechanism on all images replaces the Laplace noise.",
            data: "None of the paper's CIFAR-10. All 60,000 training digits of MNIST instead.",
        },
        run: mean::mean,
    },
];
