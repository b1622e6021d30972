//! `scumble account`: privacy accounting.

use super::{Failure, print, print_json, progress_bar};
use crate::accounting::calibrate::{self, Target};
use crate::accounting::{Neighbours, Run, ceiling, gaussian, loss, renyi};
use crate::registry::number;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum AccountCommand {
    /// The Gaussian mechanism, in closed form (Balle and Wang 2018): its sigma for a budget, or any of epsilon, delta and
    /// sensitivity for a sigma.
    Gaussian(GaussianArguments),
    /// Poisson-sampled Gaussian noise on clipped gradients: the epsilon of a training, or for an epsilon what is left out of
    /// sampling rate, noise multiplier, steps and delta.
    DpSgd(DpSgdArguments),
    /// What accuracy a classifier of private records can have at most, among classes of which none is commoner than another: of
    /// Laplace noise in a latent space, and of whatever is ε-locally private.
    LaplaceAccuracy(LaplaceAccuracyArguments),
}

#[derive(Args)]
pub(super) struct GaussianArguments {
    /// ε, in nats.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// δ.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<f64>,
    /// The ℓ₂ sensitivity.
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    sensitivity: Option<f64>,
    /// The standard deviation of the noise.
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    sigma: Option<f64>,
}

#[derive(Args)]
pub(super) struct DpSgdArguments {
    /// The probability with which a record takes part in a step.
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    sampling_rate: Option<f64>,
    /// The standard deviation of the noise, over the clipping norm.
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    noise_multiplier: Option<f64>,
    /// How many steps.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    steps: Option<u64>,
    /// δ.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<f64>,
    /// The ε to be met, in nats, in place of one of the others.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// Which data sets are neighbours.
    #[arg(long, value_name = "RELATION", default_value = "add-remove")]
    neighbours: Relation,
}

#[derive(Args)]
pub(super) struct LaplaceAccuracyArguments {
    /// How many classes there are: an even number.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    classes: u64,
    /// The local ε of a record, in nats; "inf" for no noise.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: f64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Relation {
    /// One has a record more.
    AddRemove,
    /// They differ in one record.
    Replace,
}

impl From<Relation> for Neighbours {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddOrRemoveOne,
            Relation::Replace => Self::ReplaceOne,
        }
    }
}

pub(super) fn account(command: &AccountCommand, as_json: bool) -> Result<(), Failure> {
    match command {
        AccountCommand::Gaussian(arguments) => account_gaussian(arguments, as_json),
        AccountCommand::DpSgd(arguments) => account_dp_sgd(arguments, as_json),
        AccountCommand::LaplaceAccuracy(arguments) => account_laplace_accuracy(arguments, as_json),
    }
}

fn account_gaussian(arguments: &GaussianArguments, as_json: bool) -> Result<(), Failure> {
    let GaussianArguments { epsilon, delta, sensitivity, sigma } = *arguments;
    for (name, value) in [("--sensitivity", sensitivity), ("--sigma", sigma)] {
        if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(format!("{name} {value}: it must be above zero, and finite").into());
        }
    }
    let (epsilon, delta, sensitivity, sigma) = match (epsilon, delta, sensitivity, sigma) {
        (Some(epsilon), Some(delta), Some(sensitivity), None) => {
            (epsilon, delta, sensitivity, sensitivity / gaussian::mu(epsilon, delta)?)
        }
        (Some(epsilon), Some(delta), None, Some(sigma)) => {
            (epsilon, delta, sigma * gaussian::mu(epsilon, delta)?, sigma)
        }
        (Some(epsilon), None, Some(sensitivity), Some(sigma)) => {
            if !(epsilon.is_finite() && epsilon >= 0.0) {
                return Err(format!("--epsilon {epsilon}: it must be zero or more, and finite").into());
            }
            // What has left the floats is not nothing.
            let delta = gaussian::delta(sensitivity / sigma, epsilon).max(f64::MIN_POSITIVE);
            (epsilon, delta, sensitivity, sigma)
        }
        (None, Some(delta), Some(sensitivity), Some(sigma)) => {
            (gaussian::epsilon(sensitivity / sigma, delta)?, delta, sensitivity, sigma)
        }
        _ => {
            let needed = "three of --epsilon, --delta, --sensitivity and --sigma are needed, and the fourth is solved for";
            return Err(needed.into());
        }
    };
    if ![epsilon, sensitivity, sigma].iter().all(|number| number.is_finite()) {
        return Err("no float meets these three".into());
    }
    if as_json {
        return print_json(&json!({
            "epsilon": epsilon,
            "delta": delta,
            "sensitivity": sensitivity,
            "sigma": sigma,
        }));
    }
    let [epsilon, sensitivity, sigma] = [epsilon, sensitivity, sigma].map(number::short);
    print(&format!(
        "Gaussian noise of sigma = {sigma} on a sum of l2 sensitivity {sensitivity}\nis ({epsilon}, {delta:e})-differentially private"
    ))
}

fn account_dp_sgd(arguments: &DpSgdArguments, as_json: bool) -> Result<(), Failure> {
    let bar = progress_bar(0, "{spinner} accounting, {elapsed}");
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let solved = solve(arguments);
    let found = solved.and_then(|(run, delta)| {
        let neighbours = arguments.neighbours.into();
        let by_renyi = renyi::epsilon(&[run], delta, neighbours)?;
        let mut bounds = loss::epsilon(&[run], delta, neighbours)?;
        if let (None, Some(epsilon)) = (arguments.delta, arguments.epsilon) {
            bounds.upper = bounds.upper.min(epsilon); // δ was found for it
        }
        Ok((run, delta, by_renyi, bounds))
    });
    bar.finish_and_clear();
    let (run, delta, by_renyi, bounds) = found?;
    let neighbours = match arguments.neighbours {
        Relation::AddRemove => "add-remove",
        Relation::Replace => "replace",
    };
    if as_json {
        return print_json(&json!({
            "sampling_rate": run.sampling_rate(),
            "noise_multiplier": run.noise_multiplier(),
            "steps": run.steps(),
            "delta": delta,
            "neighbours": neighbours,
            "epsilon_rdp": number::to_json(by_renyi),
            "epsilon_pld": number::to_json(bounds.upper),
            "epsilon_pld_lower": number::to_json(bounds.lower),
        }));
    }
    print(&format!(
        "{} steps at sampling rate {} with noise multiplier {}\n\
         are (epsilon, {delta:e})-differentially private for neighbours by {} with\n\n\
         \u{20}epsilon = {:.4}  by privacy loss distributions; {}\n\
         \u{20}epsilon = {:.4}  by Renyi divergences",
        run.steps(),
        run.sampling_rate(),
        run.noise_multiplier(),
        Neighbours::from(arguments.neighbours),
        up(bounds.upper),
        if bounds.lower == 0.0 && bounds.upper > 0.0 {
            "no lower bound was found".to_owned()
        } else {
            format!("no proof can give less than {:.4}", down(bounds.lower))
        },
        up(by_renyi),
    ))
}

fn account_laplace_accuracy(arguments: &LaplaceAccuracyArguments, as_json: bool) -> Result<(), Failure> {
    let &LaplaceAccuracyArguments { classes, epsilon } = arguments;
    let (bound, ldp_bound) = (ceiling::of_laplace(classes, epsilon)?, ceiling::of_any(classes, epsilon)?);
    if as_json {
        return print_json(&json!({ "bound": bound, "ldp_bound": ldp_bound }));
    }
    print(&format!(
        "A classifier of {classes} classes, each as common, from records at local epsilon = {epsilon} is right at most\n\n\
         \u{20}{bound:.4}  of the time, where they take Laplace noise in a latent space (equation 28 of Learning to noise)\n\
         \u{20}{ldp_bound:.4}  of the time, whatever the mechanism"
    ))
}

/// Four places, rounded up.
fn up(epsilon: f64) -> f64 {
    (epsilon * 1e4).ceil() / 1e4
}

/// Four places, rounded down.
fn down(epsilon: f64) -> f64 {
    (epsilon * 1e4).floor() / 1e4
}

/// The run and its δ, with what was left out solved for.
fn solve(arguments: &DpSgdArguments) -> Result<(Run, f64), Failure> {
    let &DpSgdArguments { sampling_rate, noise_multiplier, steps, delta, epsilon, neighbours } = arguments;
    let neighbours = neighbours.into();
    let target = |epsilon, delta| Target { epsilon, delta, neighbours };
    Ok(match (sampling_rate, noise_multiplier, steps, delta, epsilon) {
        (Some(rate), Some(sigma), Some(steps), Some(delta), None) => (Run::new(rate, sigma, steps)?, delta),
        (None, Some(sigma), Some(steps), Some(delta), Some(epsilon)) => {
            let rate = calibrate::sampling_rate(sigma, steps, target(epsilon, delta))?;
            (Run::new(rate, sigma, steps)?, delta)
        }
        (Some(rate), None, Some(steps), Some(delta), Some(epsilon)) => {
            let sigma = calibrate::noise_multiplier(rate, steps, target(epsilon, delta))?;
            (Run::new(rate, sigma, steps)?, delta)
        }
        (Some(rate), Some(sigma), None, Some(delta), Some(epsilon)) => {
            let steps = calibrate::steps(rate, sigma, target(epsilon, delta))?;
            (Run::new(rate, sigma, steps)?, delta)
        }
        (Some(rate), Some(sigma), Some(steps), None, Some(epsilon)) => {
            let run = Run::new(rate, sigma, steps)?;
            (run, loss::delta(&[run], epsilon, neighbours)?.upper.max(f64::MIN_POSITIVE))
        }
        _ => {
            let needed = "--sampling-rate, --noise-multiplier, --steps and --delta are needed, or --epsilon in place of one of \
                          them, which is solved for";
            return Err(needed.into());
        }
    })
}
