//! `scumble solve`: the numerical solvers.

use super::labelled::Labelled;
use super::reading::Reading;
use super::{Failure, print, print_json};
use crate::core::number;
use crate::kkt::{self, SoftMargin, Waterfilling};
use crate::schrodinger::GroundState;
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use ndarray::{Array2, ArrayViewMut1, Axis};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

pub(super) const EXAMPLES: &str = "\
Examples:
  scumble solve schrodinger --lambda 1 --weight 1 --lower -1 --upper 1
  scumble solve waterfilling --eigenvalues 4,1 --radius 1 --epsilon 2";

const SVM_EXAMPLES: &str = "\
Examples:
  scumble solve svm --input people.csv --target member --positive yes --theta 1 --rho 0.001
  scumble solve svm --input people.csv --target member --positive yes --drop name --scale standard --theta 1 \
--rho 0.001";

const SCHRODINGER_EXAMPLES: &str = "\
Examples:
  scumble solve schrodinger --lambda 1 --weight 1 --lower -1 --upper 1
  scumble solve schrodinger --lambda 0 --weight 1 --lower -1 --upper 1 --at 0,0.5";

const WATERFILLING_EXAMPLES: &str = "\
Examples:
  scumble solve waterfilling --eigenvalues 4,1 --radius 1 --epsilon 2
  scumble solve waterfilling --eigenvalues 4,1,0.1 --radius 1 --epsilon 2 --latent-dim 2";

#[derive(Subcommand)]
pub(super) enum SolveCommand {
    /// The linear soft-margin machine min ½‖α‖² + ½ρβ² + Σ (θξᵢ + ½ρξᵢ²) with weights α, bias β and slacks ξᵢ
    /// (Farokhi, equation 2). θ and ρ are --theta and --rho. The machine is unique for ρ > 0, and solved to a
    /// KKT residual of at most 10⁻⁹.
    Svm(SvmArguments),
    /// The density of least Fisher information in an interval, w²: the ground state of −w″/ϑ + (λ/4)·n²·w =
    /// μ·w (Farokhi, Corollary 2.7, with the noise n as the coordinate). λ and ϑ are --lambda and --weight,
    /// and μ is the least eigenvalue.
    Schrodinger(SchrodingerArguments),
    /// The linear encoder of least squared task loss (task-aware privacy, Proposition 4), as the σᵢ² of min Σ
    /// λᵢ·c/(σᵢ² + c) with Σ σᵢ² = 1 and c = 8r²/ε². λᵢ, r and ε are --eigenvalues, --radius and --epsilon.
    /// Also prints the losses of two encoders with equal σᵢ²: of all λᵢ (task-agnostic, equation 58), and of
    /// the Z largest (privacy-agnostic, equation 59).
    Waterfilling(WaterfillingArguments),
}

#[derive(Args)]
#[command(after_help = SVM_EXAMPLES)]
pub(super) struct SvmArguments {
    /// The records: CSV with a header or Parquet, with numbers in every column that is neither the target nor
    /// dropped.
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// The column of labels, which has two values.
    #[arg(long, value_name = "COLUMN")]
    target: String,
    /// The label whose records lie on the positive side.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: String,
    /// Columns to leave out.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    drop: Vec<String>,
    /// Scaling of each column before the machine is trained. A constant column becomes zero.
    #[arg(long, value_name = "HOW", default_value = "none")]
    scale: Scale,
    /// θ, the weight of the slacks.
    #[arg(long, value_parser = number::parse, value_name = "T", allow_hyphen_values = true)]
    theta: f64,
    /// ρ, the weight of the squared bias and of the squared slacks.
    #[arg(long, value_parser = number::parse, value_name = "R", allow_hyphen_values = true)]
    rho: f64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scale {
    /// No scaling.
    None,
    /// Mean 0 and standard deviation 1.
    Standard,
    /// From 0 to 1.
    Minmax,
}

#[derive(Args)]
#[command(after_help = SCHRODINGER_EXAMPLES)]
pub(super) struct SchrodingerArguments {
    /// λ, the weight of the second moment.
    #[arg(long, value_parser = number::parse, value_name = "L", allow_hyphen_values = true)]
    lambda: f64,
    /// ϑ, the divisor of the Fisher information.
    #[arg(long, value_parser = number::parse, value_name = "THETA", allow_hyphen_values = true)]
    weight: f64,
    /// Lower end of the interval.
    #[arg(long, value_parser = number::parse, value_name = "A", allow_hyphen_values = true)]
    lower: f64,
    /// Upper end of the interval.
    #[arg(long, value_parser = number::parse, value_name = "B", allow_hyphen_values = true)]
    upper: f64,
    /// Points at which to print the density.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "N1,N2",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    at: Vec<f64>,
}

#[derive(Args)]
#[command(after_help = WATERFILLING_EXAMPLES)]
pub(super) struct WaterfillingArguments {
    /// λ: the eigenvalues of PᵀP, in any order, where P is the task matrix in whitened coordinates. Each is
    /// the weight of one direction of the whitened records in the task loss.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "L1,L2",
        value_delimiter = ',',
        required = true,
        allow_hyphen_values = true
    )]
    eigenvalues: Vec<f64>,
    /// r, radius of the sphere that holds the whitened records.
    #[arg(long, value_parser = number::parse, value_name = "R", allow_hyphen_values = true)]
    radius: f64,
    /// ε, the budget of each record; "inf" for no noise.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    epsilon: f64,
    /// Z, number of the largest eigenvalues that share the privacy-agnostic encoder's power equally; all by
    /// default. The encoder of Proposition 4 does not use Z.
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    latent_dim: Option<usize>,
}

pub(super) fn solve(command: &SolveCommand, as_json: bool) -> Result<(), Failure> {
    match command {
        SolveCommand::Svm(arguments) => svm(arguments, as_json),
        SolveCommand::Schrodinger(arguments) => schrodinger(arguments, as_json),
        SolveCommand::Waterfilling(arguments) => waterfilling(arguments, as_json),
    }
}

/// Largest KKT residual of a machine that the command prints.
const LARGEST_RESIDUAL: f64 = 1e-9;
const MOST_STEPS: u64 = 200;

fn svm(arguments: &SvmArguments, as_json: bool) -> Result<(), Failure> {
    let SvmArguments { input, reading, target, positive, drop, scale, theta, rho } = arguments;
    for (name, value) in [("--theta", theta), ("--rho", rho)] {
        if !(value.is_finite() && *value > 0.0) {
            return Err(format!("{name} {value}: the value must be positive and finite").into());
        }
    }
    let mut data = Labelled::read(input, reading, target, drop)?;
    let signs = data.signs(input, target, positive)?;
    scale.apply(&mut data.records);
    let start = Instant::now();
    let records = kkt::Records::new(data.records.view());
    let penalties = vec![*theta; signs.len()];
    let programme =
        SoftMargin::new(&records, &signs, &penalties)?.bias_penalty(*rho)?.squared_slack_penalty(*rho)?;
    let machine = programme.proven(LARGEST_RESIDUAL, MOST_STEPS)?;
    let residual = programme.kkt_residual(&machine)?;
    let seconds = start.elapsed().as_secs_f64();

    let squares: Vec<f64> = machine.multipliers.iter().map(|omega| (omega / theta).powi(2)).collect();
    let max_share = squares.iter().copied().fold(0.0, f64::max) / squares.iter().sum::<f64>();
    let bound_over_m = (data.columns.len() as f64 - 1.0) * (1.0 - max_share);
    let support_vectors =
        machine.multipliers.iter().filter(|omega| **omega > LARGEST_RESIDUAL * theta).count();
    let scores = data.records.outer_iter().map(|record| {
        record.iter().zip(&machine.weights).map(|(x, weight)| x * weight).sum::<f64>() + machine.bias
    });
    let right = scores.zip(&signs).filter(|(score, sign)| (*score > 0.0) == (**sign > 0.0)).count();
    let accuracy = right as f64 / signs.len() as f64;
    if as_json {
        return print_json(&json!({
            "objective": machine.objective,
            "alpha": machine.weights,
            "beta": machine.bias,
            "max_share": max_share,
            "bound_over_m": bound_over_m,
            "support_vectors": support_vectors,
            "training_accuracy": accuracy,
            "kkt_residual": residual,
            "seconds": seconds,
        }));
    }
    let mut table = facts();
    for (column, weight) in data.columns.iter().zip(&machine.weights) {
        table.add_row([column.clone(), figure(*weight)]);
    }
    table.add_row(["(bias)".to_owned(), figure(machine.bias)]);
    print(&format!(
        "{}: {} records of {} numbers, {right} of them on the correct side ({:.2} %)\n\n{}\n\n\
         The objective is {:.10}, with a KKT residual of {residual:.1e}, after {seconds:.2} s.\n\
         {support_vectors} records have a positive multiplier. The largest multiplier has {:.4} % of the sum \
         of squares.\n\
         Noise of variance m that leaves this machine unchanged has an error of at least {bound_over_m:.4}·m \
         for every record.",
        input.display(),
        signs.len(),
        data.columns.len(),
        100.0 * accuracy,
        table.trim_fmt(),
        machine.objective,
        100.0 * max_share,
    ))
}

impl Scale {
    fn apply(self, records: &mut Array2<f64>) {
        for column in records.axis_iter_mut(Axis(1)) {
            match self {
                Self::None => {}
                Self::Standard => standardise(column),
                Self::Minmax => stretch(column),
            }
        }
    }
}

fn standardise(mut column: ArrayViewMut1<f64>) {
    let n = column.len() as f64;
    // Subtracting the first value before summing makes a constant column exactly zero.
    let first = column[0];
    column.mapv_inplace(|x| x - first);
    let mean = column.sum() / n;
    column.mapv_inplace(|x| x - mean);
    let deviation = (column.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
    column.mapv_inplace(|x| if deviation > 0.0 { x / deviation } else { 0.0 });
}

fn stretch(mut column: ArrayViewMut1<f64>) {
    let least = column.iter().copied().fold(f64::INFINITY, f64::min);
    let most = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    column.mapv_inplace(|x| if most > least { (x - least) / (most - least) } else { 0.0 });
}

fn schrodinger(arguments: &SchrodingerArguments, as_json: bool) -> Result<(), Failure> {
    let SchrodingerArguments { lambda, weight, lower, upper, at } = arguments;
    if let Some(place) = at.iter().find(|place| !place.is_finite()) {
        return Err(format!("--at {place}: the value must be finite").into());
    }
    let state = GroundState::new(*lambda, *weight, *lower, *upper)?;
    let density: Vec<(f64, f64)> = at.iter().map(|n| (*n, state.density(*n))).collect();
    if as_json {
        let density: Vec<[Value; 2]> =
            density.iter().map(|(n, value)| [json!(n), number::to_json(*value)]).collect();
        return print_json(&json!({
            "mu": state.mu(),
            "fisher_information": state.fisher_information(),
            "second_moment": state.second_moment(),
            "mean": state.mean(),
            "objective": state.objective(),
            "density": density,
        }));
    }
    let mut table = facts();
    for (name, value) in [
        ("Fisher information", state.fisher_information()),
        ("second moment", state.second_moment()),
        ("mean", state.mean()),
        ("standard deviation", state.variance().sqrt()),
    ] {
        table.add_row([name.to_owned(), figure(value)]);
    }
    for (n, value) in density {
        table.add_row([format!("density at {n}"), figure(value)]);
    }
    print(&format!(
        "The noise between {lower} and {upper} that minimises information/{weight} + {lambda}·second moment \
         has\n\n{}\n\n\
         The minimum is {}, four times mu = {}.",
        table.trim_fmt(),
        figure(state.objective()),
        figure(state.mu()),
    ))
}

fn waterfilling(arguments: &WaterfillingArguments, as_json: bool) -> Result<(), Failure> {
    let WaterfillingArguments { eigenvalues, radius, epsilon, latent_dim } = arguments;
    if !(radius.is_finite() && *radius >= 0.0) {
        return Err(format!("--radius {radius}: the value must be at least 0 and finite").into());
    }
    if epsilon.is_nan() || *epsilon <= 0.0 {
        return Err(format!("--epsilon {epsilon}: the value must be positive").into());
    }
    let noise = 8.0 * (radius / epsilon).powi(2);
    if noise.is_infinite() {
        return Err(format!(
            "--radius {radius} --epsilon {epsilon}: 8r²/ε² overflows a floating-point number"
        )
        .into());
    }
    let n = eigenvalues.len();
    let latent_dim = latent_dim.unwrap_or(n);
    let filled = Waterfilling::new(eigenvalues, noise)?;
    let task_agnostic = kkt::equal_power_loss(eigenvalues, noise, n)?;
    let privacy_agnostic = kkt::equal_power_loss(eigenvalues, noise, latent_dim)?;
    if as_json {
        return print_json(&json!({
            "rank": filled.rank(),
            "sigma_squared": filled.sigma_squared(),
            "loss": number::to_json(filled.loss()),
            "task_agnostic_loss": number::to_json(task_agnostic),
            "privacy_agnostic_loss": number::to_json(privacy_agnostic),
        }));
    }
    let mut table = facts();
    table.set_header(["eigenvalue", "share"]);
    for (eigenvalue, share) in eigenvalues.iter().zip(filled.sigma_squared()) {
        table.add_row([eigenvalue.to_string(), figure(*share)]);
    }
    print(&format!(
        "{} of {n} directions are released, with noise of variance {noise} per unit of power:\n\n{}\n\n\
         The task loss is {} (task-aware). With equal shares for all directions it is {} (task-agnostic),\n\
         and with equal shares for the largest {latent_dim} it is {} (privacy-agnostic).",
        filled.rank(),
        table.trim_fmt(),
        figure(filled.loss()),
        figure(task_agnostic),
        figure(privacy_agnostic),
    ))
}

/// Formats a number with ten decimal places, or in scientific notation if decimal places would show too few
/// digits.
fn figure(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-4..1e9 => format!("{value:.10}"),
        _ => format!("{value:.10e}"),
    }
}

/// Returns an empty table with two columns: names, and right-aligned numbers.
fn facts() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["", ""]);
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
