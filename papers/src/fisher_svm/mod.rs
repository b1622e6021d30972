//! Reproduced results of Farokhi, Privacy-Preserving Public Release of Datasets for Support Vector Machine
//! Classification (2020): Section 3, and the movement of learned models under noise.

mod curated;
mod data;
mod distance;
mod example;
mod fitness;
mod guesses;
mod regions;
mod success;
mod sweep;
mod wdbc;

use super::{Error, Reproduction, Result, RunOptions};
use ndarray::Array2;
use scumble_core::{Brief, Budget, CramerRao, Designed, Guarantee, Notion, RecordDomain};
use scumble_kkt as kkt;
use scumble_kkt::{Machine, Records, SoftMargin};
use serde_json::Value;

pub(super) const PAPER: &str =
    "Farokhi, Privacy-Preserving Public Release of Datasets for Support Vector Machine Classification (2020)";

/// Summary of the paper: the claims that hold, the claims that fail, and our alternative.
pub(super) const ASSESSMENT: &str = "All figures but Figure 2 hold. Gaussian noise moves a model less than \
    Laplace noise of the same Fisher information, and correlated noise does not move it. The bound does not \
    hold for every adversary: it holds for unbiased guesses (errata F13) by an adversary that knows no other \
    record. The cards state the error of the domain's centre, and a lower bound on the error of every guess \
    about some record. If the error of a reconstruction matters, we recommend `fisher-gaussian`, which also \
    has a differential privacy guarantee. To learn from a trusted curator's release, we recommend \
    `noisy-marginals`. It leaves an error as large to every estimate by an adversary that knows all other \
    records. A machine then learns far more (93 % of tumours instead of 76).";

/// Results of this paper, sorted by name.
pub(super) const RESULTS: [Reproduction; 9] = [
    Reproduction {
        name: "fisher-svm/distance",
        about: "Propositions 2.3 and 2.11: movement of a learned model, by noise and by number of records",
        paper: PAPER,
        run: distance::run,
    },
    Reproduction {
        name: "fisher-svm/figure-3",
        about: "a hundred points of the plane under Gaussian noise, and the lines learned from them",
        paper: PAPER,
        run: example::figure_3,
    },
    Reproduction {
        name: "fisher-svm/figure-4",
        about: "the same points under noise that leaves the line unchanged",
        paper: PAPER,
        run: example::figure_4,
    },
    Reproduction {
        name: "fisher-svm/figure-5",
        about: "breast tumours (WDBC): success of a machine by λ, Gaussian noise against Laplace noise",
        paper: PAPER,
        run: success::figure_5,
    },
    Reproduction {
        name: "fisher-svm/figure-6",
        about: "income (Adult): success of a machine by λ, Gaussian noise against Laplace noise",
        paper: PAPER,
        run: success::figure_6,
    },
    Reproduction {
        name: "fisher-svm/figure-7",
        about: "interest rates (Lending Club): fitness of a ridge regression by λ, Gaussian noise against \
            Laplace noise",
        paper: PAPER,
        run: fitness::figure_7,
    },
    Reproduction {
        name: "fisher-svm/figures-1-and-2",
        about: "the (ε, δ) that Theorem 2.5 guarantees, and the error of guesses by (ε, δ), in closed form",
        paper: PAPER,
        run: regions::run,
    },
    Reproduction {
        name: "fisher-svm/guesses",
        about: "breast tumours (WDBC): biased and unbiased guesses, identification of records, and their \
            bounds",
        paper: PAPER,
        run: guesses::run,
    },
    Reproduction {
        name: "fisher-svm/wdbc",
        about: "breast tumours (WDBC): noise that leaves the machine unchanged, and its guarantee",
        paper: PAPER,
        run: wdbc::run,
    },
];

/// Weights in equations (2) and (6) of Farokhi: θ of the hinge loss, and ρ of the squares of the bias and of
/// the slacks. They are the same throughout Section 3.
const THETA: f64 = 1.0;
const RHO: f64 = 1e-2;

/// Maximum number of Newton steps; about fifty are usual.
const MOST_STEPS: u64 = 1_000;

/// Support vector machine of equation (6) of Farokhi on `records`, one row for each record, and their
/// `signs`. On the original records it is the machine of equation (2). `solve` sets the precision.
fn machine_by(
    solve: impl Fn(&SoftMargin) -> kkt::Result<Machine>,
    records: &Array2<f64>,
    signs: &[f64],
) -> Result<Machine> {
    let records = Records::new(records.view());
    let penalties = vec![THETA; signs.len()];
    let programme = SoftMargin::new(&records, signs, &penalties)?;
    Ok(solve(&programme.bias_penalty(RHO)?.squared_slack_penalty(RHO)?)?)
}

/// Machine solved to a gap to the optimum of at most `tolerance` times its objective.
fn machine(records: &Array2<f64>, signs: &[f64], tolerance: f64) -> Result<Machine> {
    machine_by(|programme| programme.solve(tolerance, MOST_STEPS), records, signs)
}

/// Machine solved to floating-point precision: to a KKT residual of 10⁻⁹, and mostly far below.
fn sharp_machine(records: &Array2<f64>, signs: &[f64]) -> Result<Machine> {
    machine_by(|programme| programme.proven(1e-9, MOST_STEPS), records, signs)
}

/// Designs the mechanism `name`. The budget sets no limit on ε, because `parameters` set the noise directly.
fn design(options: &RunOptions, name: &str, parameters: &Value, domain: &RecordDomain) -> Result<Designed> {
    let brief = Brief::new(domain.clone(), Budget::new(f64::INFINITY, 1e-6)?);
    Ok(options.registry.get(name)?.design(parameters, &brief)?.into_mechanism())
}

/// Lower bound on the expected squared error E‖x − x̂‖² of an adversary's guess x̂ of a record x, which
/// follows from `guarantee`.
fn least_error(mechanism: &str, guarantee: &Guarantee) -> Result<f64> {
    Ok(cramer_rao(mechanism, guarantee)?.error())
}

/// Cramér–Rao bound that `guarantee` claims.
fn cramer_rao<'g>(mechanism: &str, guarantee: &'g Guarantee) -> Result<&'g CramerRao> {
    let bound = guarantee.claims.iter().find_map(|claim| match &claim.notion {
        Notion::CramerRao(bound) => Some(bound),
        _ => None,
    });
    bound.ok_or_else(|| Error::Mechanism {
        mechanism: mechanism.into(),
        problem: "claims no Cramér-Rao bound, which the results of this paper need".into(),
    })
}

/// Least expected squared error E‖xᵢ − x̂ᵢ‖² of a guess x̂ᵢ over all records xᵢ, by Theorem 2.10 of Farokhi:
/// m(p − 1)(1 − maxᵢ bᵢ²/bᵀb), with b the `multipliers` (errata F8). m is the `variance` of the noise, and p
/// is `width`, the number of columns.
fn least_error_of_correlated(variance: f64, width: usize, multipliers: &[f64]) -> f64 {
    let squares = || multipliers.iter().map(|omega| omega * omega);
    let largest = squares().fold(0.0, f64::max) / squares().sum::<f64>();
    variance * (width as f64 - 1.0) * (1.0 - largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_multiplier_sets_the_bound_of_correlated_noise() {
        // The shares are 9/14, 4/14, 1/14 and 0.
        let bound = least_error_of_correlated(100.0, 3, &[1.0, 0.0, 3.0, 2.0]);
        assert!((bound - 200.0 * 5.0 / 14.0).abs() < 1e-12);
    }
}
