//! `scumble account`: privacy accounting.

mod compose;

use super::trade_off::{Curve, Named};
use super::{Failure, print, print_json, spinning};
use crate::accounting::calibrate::{self, Target};
use crate::accounting::loss::Bounds;
use crate::accounting::multiplicative::{ColumnDistribution, Deltas, Private, Release};
use crate::accounting::pac::{self, Setting};
use crate::accounting::shuffle::Shuffle;
use crate::accounting::{
    self, Neighbours, Run, Sampling, ceiling, gaussian, loss, mutual_information, renyi, trade_off,
};
use crate::core::{Designed, Registry, Unit, number};
use crate::custody::ShippedDesign;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) const EXAMPLES: &str = "\
Examples:
  scumble account gaussian --epsilon 1 --delta 1e-5 --sensitivity 1
  scumble account compose --delta 1e-5 gaussian:noise_multiplier=20,count=10 laplace:epsilon=0.1
  scumble account shuffle --epsilon-local 1 --people 10000 --delta 1e-6";

const GAUSSIAN_EXAMPLES: &str = "\
Examples:
  scumble account gaussian --epsilon 1 --delta 1e-5 --sensitivity 1
  scumble account gaussian --sigma 4 --delta 1e-5 --sensitivity 1 --curve curve.svg";

const DP_SGD_EXAMPLES: &str = "\
Examples:
  scumble account dp-sgd --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --delta 1e-5
  scumble account dp-sgd --sampling-rate 0.01 --steps 1000 --epsilon 2 --delta 1e-5
  scumble account dp-sgd --sampling-rate 0.01 --noise-multiplier 2 --steps 1000 --delta 1e-5 \\
    --sampling fixed-size --neighbours replace";

const SHUFFLE_EXAMPLES: &str = "\
Examples:
  scumble account shuffle --epsilon-local 1 --people 10000 --delta 1e-6
  scumble account shuffle --epsilon-local 1 --people 10000 --delta 1e-6 --levels 4
  scumble account shuffle --design design.json --people 10000 --delta 1e-6";

const LAPLACE_ACCURACY_EXAMPLES: &str = "\
Examples:
  scumble account laplace-accuracy --classes 10 --epsilon 2";

const PAC_EXAMPLES: &str = "\
Examples:
  scumble account pac --theorem corollary-1 --error 1e-4 --delta 0.2 --dim 784 --beta 1 --public-variance 1 \\
    --private-variance 1 --output-bits 6272
  scumble account pac --theorem theorem-3 --error 0.1 --delta 0.2 --dim 784 --beta 1 --public-variance 1 \\
    --private-variance 1";

const MUTUAL_INFORMATION_EXAMPLES: &str = "\
Examples:
  scumble account mutual-information --nats 0.0078125
  scumble account mutual-information --success 0.6 --prior-success 0.5 --variance 4,1,0.25";

const MULTIPLICATIVE_EXAMPLES: &str = "\
Examples:
  scumble account multiplicative-dp --sensitivity 1 --records 10000 --out-dim 10 --epsilon 4 --delta 1e-5
  scumble account multiplicative-dp --sensitivity 1 --records 10000 --out-dim 10 --v 100 --delta 1e-5";

#[derive(Subcommand)]
pub(super) enum AccountCommand {
    /// Accounting for the Gaussian mechanism, in closed form (Balle and Wang 2018): sigma for a budget, or
    /// epsilon, delta or sensitivity for a sigma.
    Gaussian(GaussianArguments),
    /// Gaussian noise on the clipped gradients of sampled records: the epsilon of a training run. With
    /// --epsilon, solves for the omitted sampling rate, noise multiplier, steps or delta.
    DpSgd(DpSgdArguments),
    /// Unlike mechanisms in sequence: the epsilon of all their releases together. The mechanisms are Gaussian
    /// and Laplace noise, randomised response, DP-SGD steps, and mechanisms with a known (ε, δ).
    Compose(compose::ComposeArguments),
    /// Laplace noise: see compose.
    #[command(hide = true)]
    Laplace {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Local reports mixed by a trusted shuffler: the central epsilon of all reports together.
    Shuffle(ShuffleArguments),
    /// Upper bounds on the accuracy of a classifier of private records with equally frequent classes. One
    /// bound is for Laplace noise in a latent space, and one for any ε-local differential privacy.
    LaplaceAccuracy(LaplaceAccuracyArguments),
    /// Number of samples that may be released while the theorem excludes recovery within an error (Dauntless,
    /// Corollary 1 and Theorem 3, corrected). A sample is a mixed record (a private plus a public record),
    /// transformed by random weights. This guarantee is not differential privacy.
    Pac(PacArguments),
    /// PAC privacy: upper bound on inference success for a leakage in nats (or the nats for a success), and
    /// the Gaussian noise that keeps the leakage within these nats. The success is an average over the prior,
    /// and the bound is not differential privacy.
    MutualInformation(MutualInformationArguments),
    /// A matrix of records, each singular value s raised to √(s² + v²), times a random Gaussian matrix
    /// (Dauntless, Theorem 5, corrected): the epsilon of this release, or the least v for an epsilon.
    MultiplicativeDp(MultiplicativeArguments),
}

#[derive(Args)]
#[command(after_help = GAUSSIAN_EXAMPLES)]
pub(super) struct GaussianArguments {
    /// ε, in nats.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// δ.
    #[arg(long, value_parser = number::parse, value_name = "D", allow_hyphen_values = true)]
    delta: Option<f64>,
    /// The ℓ₂ sensitivity.
    #[arg(long, value_parser = number::parse, value_name = "S", allow_hyphen_values = true)]
    sensitivity: Option<f64>,
    /// The standard deviation of the noise.
    #[arg(long, value_parser = number::parse, value_name = "SIGMA", allow_hyphen_values = true)]
    sigma: Option<f64>,
    #[command(flatten)]
    curve: Curve,
}

#[derive(Args)]
#[command(after_help = DP_SGD_EXAMPLES)]
pub(super) struct DpSgdArguments {
    /// Probability that a record takes part in a step: for fixed-size batches, the batch size over the number
    /// of records.
    #[arg(long, value_parser = number::parse, value_name = "Q", allow_hyphen_values = true)]
    sampling_rate: Option<f64>,
    /// Standard deviation of the noise, divided by the clipping norm.
    #[arg(long, value_parser = number::parse, value_name = "S", allow_hyphen_values = true)]
    noise_multiplier: Option<f64>,
    /// Number of steps.
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    steps: Option<u64>,
    /// δ.
    #[arg(long, value_parser = number::parse, value_name = "D", allow_hyphen_values = true)]
    delta: Option<f64>,
    /// The ε to meet, in nats, in place of the quantity to solve for.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// The neighbouring relation.
    #[arg(long, value_name = "RELATION", default_value = "add-remove")]
    neighbours: Relation,
    /// The sampling of each batch. Neither kind covers shuffled epochs, whose ε can be larger than the ε of
    /// Poisson sampling (Chua and others 2024).
    #[arg(long, value_name = "SAMPLING", default_value = "poisson")]
    sampling: BatchSampling,
}

#[derive(Args)]
#[command(after_help = SHUFFLE_EXAMPLES)]
pub(super) struct ShuffleArguments {
    /// Local ε of a report, in nats, at δ = 0.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    #[arg(required_unless_present = "design")]
    epsilon_local: Option<f64>,
    /// Design of the reports, in place of their local ε. The bound is that of its mechanism, where one is
    /// proven.
    #[arg(long, value_name = "DESIGN.json", conflicts_with_all = ["epsilon_local", "levels"])]
    design: Option<PathBuf>,
    /// Minimum number of people who report: all by the same mechanism, once each.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    people: u64,
    /// δ.
    #[arg(long, value_parser = number::parse, value_name = "D", allow_hyphen_values = true)]
    delta: f64,
    /// Number of levels, if the mechanism is randomised response. Without this number, the result holds for
    /// any mechanism.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    levels: Option<u64>,
    #[command(flatten)]
    curve: Curve,
}

#[derive(Args)]
#[command(after_help = LAPLACE_ACCURACY_EXAMPLES)]
pub(super) struct LaplaceAccuracyArguments {
    /// Number of classes: an even number.
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    classes: u64,
    /// Local ε of a record, in nats; "inf" for no noise.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    epsilon: f64,
}

#[derive(Args)]
#[command(after_help = PAC_EXAMPLES)]
pub(super) struct PacArguments {
    /// Secret to protect: the mixed records (corollary-1), or the transformation of the mixed records
    /// (theorem-3).
    #[arg(long, value_name = "THEOREM")]
    theorem: Theorem,
    /// ε: largest ℓ₂ distance over all coordinates at which a recovery counts as a success.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    error: f64,
    /// δ: the theorem excludes recovery that succeeds with probability 1 − δ or more.
    #[arg(long, value_parser = number::parse, value_name = "D", allow_hyphen_values = true)]
    delta: f64,
    /// d: width of a record.
    #[arg(long, value_name = "d")]
    dim: u64,
    /// d′: width of a released record, d by default; for theorem-3 only.
    #[arg(long, value_name = "d'")]
    out_dim: Option<u64>,
    /// β: the weights of the transformation (theorem-3), or of its inverse (corollary-1), are uniform on [−β,
    /// β].
    #[arg(long, value_parser = number::parse, value_name = "B", allow_hyphen_values = true)]
    beta: f64,
    /// Variance of each coordinate of the public part of a mixed record.
    #[arg(long, value_parser = number::parse, value_name = "A", allow_hyphen_values = true)]
    public_variance: f64,
    /// Variance of each coordinate of the private part of a mixed record.
    #[arg(long, value_parser = number::parse, value_name = "P", allow_hyphen_values = true)]
    private_variance: f64,
    /// Bits of a whole released record, log₂|𝒦|: 6272 for 784 bytes; for corollary-1 only.
    #[arg(long, value_parser = number::parse, value_name = "K", allow_hyphen_values = true)]
    output_bits: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Theorem {
    /// The mixed records.
    #[value(name = "corollary-1")]
    Corollary1,
    /// The transformation.
    #[value(name = "theorem-3")]
    Theorem3,
}

#[derive(Args)]
#[command(after_help = MUTUAL_INFORMATION_EXAMPLES)]
pub(super) struct MutualInformationArguments {
    /// Mutual information between the releases and their secret, in nats. For several releases, give the sum
    /// of their nats.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "B",
        allow_hyphen_values = true,
        required_unless_present = "success"
    )]
    nats: Option<f64>,
    /// Largest success that any inference may reach, in place of --nats: solves for the nats.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "S",
        allow_hyphen_values = true,
        conflicts_with = "nats"
    )]
    success: Option<f64>,
    /// Success of the best guess without a release: 0.5 for membership, where each record takes part with
    /// probability one half.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "P",
        default_value = "0.5",
        allow_hyphen_values = true
    )]
    prior_success: f64,
    /// Variances of the released values before noise is added, in uncorrelated coordinates, under the prior
    /// distribution of the data. Prints the noise variance for each coordinate. The sum of the noise
    /// variances is the least possible.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "V,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    variance: Vec<f64>,
}

#[derive(Args)]
#[command(after_help = MULTIPLICATIVE_EXAMPLES)]
pub(super) struct MultiplicativeArguments {
    /// B: largest ℓ₂ distance that a record may move, the diameter of its domain.
    #[arg(long, value_parser = number::parse, value_name = "B", allow_hyphen_values = true)]
    sensitivity: f64,
    /// n: minimum number of records.
    #[arg(long, value_name = "n")]
    records: u64,
    /// d′: number of released columns.
    #[arg(long, value_name = "d'")]
    out_dim: u64,
    /// v: a singular value s becomes √(s² + v²). Without --v, solves for the least v that meets --epsilon and
    /// --delta.
    #[arg(long, value_parser = number::parse, value_name = "v", allow_hyphen_values = true)]
    v: Option<f64>,
    /// The ε to meet, in nats, in place of --v.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// Total δ, in place of the three parts --delta-0, --delta-r and --delta-t. The command splits it for the
    /// least ε.
    #[arg(long, value_parser = number::parse, value_name = "D", allow_hyphen_values = true)]
    delta: Option<f64>,
    /// δ₀: part of δ for an unlikely direction of a column of the random matrix.
    #[arg(long, value_parser = number::parse, value_name = "D0", allow_hyphen_values = true)]
    delta_0: Option<f64>,
    /// δᵣ: part of δ for a column of the random matrix that is too long.
    #[arg(long, value_parser = number::parse, value_name = "DR", allow_hyphen_values = true)]
    delta_r: Option<f64>,
    /// δ̃: part of δ for the composition of the released columns.
    #[arg(long, value_parser = number::parse, value_name = "DT", allow_hyphen_values = true)]
    delta_t: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Relation {
    /// Add/remove one record.
    AddRemove,
    /// Replace one record.
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

impl Relation {
    /// The name on the command line and in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::AddRemove => "add-remove",
            Self::Replace => "replace",
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum BatchSampling {
    /// Poisson sampling: each record takes part independently.
    Poisson,
    /// Fixed-size batches, sampled without replacement; with --neighbours replace only.
    FixedSize,
}

impl BatchSampling {
    /// The name on the command line and in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::FixedSize => "fixed-size",
        }
    }
}

impl From<BatchSampling> for Sampling {
    fn from(sampling: BatchSampling) -> Self {
        match sampling {
            BatchSampling::Poisson => Self::Poisson,
            BatchSampling::FixedSize => Self::FixedSize,
        }
    }
}

/// Refuses fixed-size batches for add/remove one record.
fn check_sampling(sampling: Sampling, relation: Relation) -> Result<(), String> {
    match (sampling, relation) {
        (Sampling::FixedSize, Relation::AddRemove) => {
            Err("fixed-size batches need --neighbours replace: add/remove one record changes the number of \
             records, and with it the sampling rate"
                .into())
        }
        _ => Ok(()),
    }
}

/// Output of a subcommand: text for people, JSON for machines.
struct Answer {
    json: Value,
    text: String,
}

pub(super) fn account(command: &AccountCommand, as_json: bool) -> Result<(), Failure> {
    let Answer { json, text } = answer(command)?;
    if as_json { print_json(&json) } else { print(&text) }
}

/// Command-line words after `scumble account`.
#[derive(Parser)]
#[command(name = "scumble account", no_binary_name = true, disable_help_subcommand = true)]
struct Words {
    #[command(subcommand)]
    command: AccountCommand,
}

/// Returns the JSON that `scumble account --json` prints for `words`, without printing it. `words` follow
/// `account` on the command line.
///
/// ```
/// let answer =
///     scumble::command::account(&["gaussian", "--epsilon", "1", "--delta", "1e-5", "--sensitivity", "1"])?;
/// assert!((answer["sigma"].as_f64().unwrap() - 3.7306).abs() < 1e-4);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The message that the command prints, if `words` are not valid arguments or the accounting fails.
pub fn account_of(words: &[impl AsRef<str>]) -> Result<Value, String> {
    let words = words.iter().map(AsRef::as_ref);
    let words = Words::try_parse_from(words).map_err(|error| error.to_string())?;
    Ok(answer(&words.command).map_err(|error| error.to_string())?.json)
}

fn answer(command: &AccountCommand) -> Result<Answer, Failure> {
    match command {
        AccountCommand::Gaussian(arguments) => account_gaussian(arguments),
        AccountCommand::DpSgd(arguments) => account_dp_sgd(arguments),
        AccountCommand::Compose(arguments) => compose::compose(arguments),
        AccountCommand::Laplace { .. } => Err("account laplace: write scumble account compose --delta 0 \
                                               laplace:epsilon=E, for the sensitivity over the scale as E; \
                                               the bound on a classifier is laplace-accuracy"
            .into()),
        AccountCommand::Shuffle(arguments) => account_shuffle(arguments),
        AccountCommand::LaplaceAccuracy(arguments) => account_laplace_accuracy(arguments),
        AccountCommand::Pac(arguments) => account_pac(arguments),
        AccountCommand::MutualInformation(arguments) => account_mutual_information(arguments),
        AccountCommand::MultiplicativeDp(arguments) => account_multiplicative(arguments),
    }
}

fn account_gaussian(arguments: &GaussianArguments) -> Result<Answer, Failure> {
    let GaussianArguments { epsilon, delta, sensitivity, sigma, ref curve } = *arguments;
    for (name, value) in [("--sensitivity", sensitivity), ("--sigma", sigma)] {
        if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(format!("{name} {value}: the value must be positive and finite").into());
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
                return Err(format!("--epsilon {epsilon}: the value must be at least 0 and finite").into());
            }
            // A δ that underflows to zero is reported as the smallest positive float.
            let delta = gaussian::delta(sensitivity / sigma, epsilon).max(f64::MIN_POSITIVE);
            (epsilon, delta, sensitivity, sigma)
        }
        (None, Some(delta), Some(sensitivity), Some(sigma)) => {
            (gaussian::epsilon(sensitivity / sigma, delta)?, delta, sensitivity, sigma)
        }
        _ => {
            let needed = "give exactly three of --epsilon, --delta, --sensitivity and --sigma; the command \
                          solves for the fourth";
            return Err(needed.into());
        }
    };
    if ![epsilon, sensitivity, sigma].iter().all(|number| number.is_finite()) {
        return Err("no finite floating-point number meets these three".into());
    }
    let mu = sensitivity / sigma;
    let trade_off = curve.draw(|| {
        let of = move |alpha| trade_off::of_profile(|epsilon| gaussian::delta(mu, epsilon), alpha);
        Ok(vec![(format!("Gaussian mechanism, μ = {}", digits(mu, f64::round)), Box::new(of))])
    })?;
    let mut json = json!({
        "epsilon": epsilon,
        "delta": delta,
        "sensitivity": sensitivity,
        "sigma": sigma,
    });
    add_curve(&mut json, trade_off);
    let [epsilon, sensitivity, sigma] = [epsilon, sensitivity, sigma].map(number::short);
    let text = format!(
        "Gaussian noise of sigma = {sigma} on a sum of l2 sensitivity {sensitivity}\n\
         is ({epsilon}, {delta:e})-differentially private"
    );
    Ok(Answer { json, text })
}

fn account_dp_sgd(arguments: &DpSgdArguments) -> Result<Answer, Failure> {
    check_sampling(arguments.sampling.into(), arguments.neighbours)
        .map_err(|problem| format!("--sampling fixed-size: {problem}"))?;
    let (run, delta, by_renyi, bounds) = spinning("accounting", || -> Result<_, Failure> {
        let (run, delta) = solve(arguments)?;
        let neighbours = arguments.neighbours.into();
        let by_renyi = renyi::epsilon(&[run], delta, neighbours)?;
        let mut bounds = loss::epsilon(&[run], delta, neighbours)?;
        if let (None, Some(epsilon)) = (arguments.delta, arguments.epsilon) {
            bounds.upper = bounds.upper.min(epsilon); // δ was solved for this ε
        }
        Ok((run, delta, by_renyi, bounds))
    })?;
    let json = json!({
        "sampling": arguments.sampling.name(),
        "sampling_rate": run.sampling_rate(),
        "noise_multiplier": run.noise_multiplier(),
        "steps": run.steps(),
        "delta": delta,
        "neighbours": arguments.neighbours.name(),
        "epsilon_rdp": number::to_json(by_renyi),
        "epsilon_pld": number::to_json(bounds.upper),
        "epsilon_pld_lower": number::to_json(bounds.lower),
    });
    let text = format!(
        "{} steps at sampling rate {} with noise multiplier {} ({})\n\
         are (epsilon, {delta:e})-differentially private (neighbouring relation: {}) with\n\n\
         \u{20}epsilon = {}  {}\n\
         \u{20}epsilon = {}  by Renyi divergences",
        run.steps(),
        run.sampling_rate(),
        run.noise_multiplier(),
        run.sampling(),
        Neighbours::from(arguments.neighbours),
        up(bounds.upper),
        no_less(bounds, down),
        up(by_renyi),
    );
    Ok(Answer { json, text })
}

/// The method of an upper bound, and the lower bound, which `down` formats.
fn no_less(bounds: Bounds, down: fn(f64) -> String) -> String {
    let lower = match bounds.lower == 0.0 && bounds.upper > 0.0 {
        true => "no lower bound was found".to_owned(),
        false => format!("no proof can give less than {}", down(bounds.lower)),
    };
    format!("by privacy loss distributions; {lower}")
}

fn account_shuffle(arguments: &ShuffleArguments) -> Result<Answer, Failure> {
    let &ShuffleArguments { epsilon_local, people, delta, levels, ref design, ref curve } = arguments;
    let designed = design.as_deref().map(reports_of).transpose()?;
    let (epsilon_local, supported) = match (&designed, epsilon_local) {
        (&Some((epsilon_local, supported, _)), _) => (epsilon_local, supported),
        (None, Some(epsilon_local)) => (epsilon_local, None),
        (None, None) => return Err("give the local ε of a report (--epsilon-local)".into()),
    };
    let any = Shuffle::new(epsilon_local, people)?;
    let shuffle = match (levels, supported) {
        (Some(levels), _) => any.with_levels(levels)?,
        (None, Some(supported)) => any.with_support(supported)?,
        (None, None) => any,
    };
    let bounds = spinning("accounting", || shuffle.epsilon(delta))?;
    let trade_off = curve.draw(|| {
        // Each point of the profile is a bound of its own.
        const POINTS: u32 = 64;
        let epsilon = |at: u32| epsilon_local * f64::from(at) / f64::from(POINTS);
        let point = |at: u32| Ok((epsilon(at), shuffle.delta(epsilon(at))?.upper));
        let points: Vec<(f64, f64)> = (0..=POINTS).map(point).collect::<Result<_, accounting::Error>>()?;
        let of = move |alpha| trade_off::of_points(&points, alpha);
        let one = number::short(epsilon_local);
        let shuffled: Named = (format!("{people} shuffled reports of local ε = {one}"), Box::new(of));
        let alone = move |alpha| trade_off::of_point(epsilon_local, 0.0, alpha);
        Ok(vec![shuffled, (format!("a report of local ε = {one}"), Box::new(alone))])
    })?;
    let mut json = json!({
        "epsilon_local": epsilon_local,
        "people": people,
        "delta": delta,
        "levels": levels.map(Value::from).or(supported.map(Value::from)),
        "neighbours": "replace",
        "epsilon": bounds.upper,
        "epsilon_lower": bounds.lower,
    });
    add_curve(&mut json, trade_off);
    let mechanism = match (levels, &designed) {
        (Some(levels), _) => format!("randomised response with {levels} levels"),
        (None, Some((_, Some(_), name))) => name.clone(),
        (None, Some((_, None, name))) => format!("{name} (by the bound for any mechanism)"),
        (None, None) => "any single mechanism".to_owned(),
    };
    let text = format!(
        "{people} or more reports, one per person, by {mechanism} of local epsilon = {epsilon_local},\n\
         mixed by a trusted shuffler that outputs nothing else,\n\
         are (epsilon, {delta:e})-differentially private (neighbouring relation: {}) with\n\n\
         \u{20}epsilon = {}  by the privacy blanket{}",
        Neighbours::ReplaceOne,
        digits(bounds.upper, f64::ceil),
        match bounds.lower == 0.0 {
            true => String::new(),
            false => format!("; no proof can give less than {}", digits(bounds.lower, f64::floor)),
        },
    );
    Ok(Answer { json, text })
}

/// Adds the points of a trade-off function, if they are requested.
fn add_curve(json: &mut Value, points: Option<Value>) {
    if let Some(points) = points {
        json["trade_off"] = points;
    }
}

/// Local ε of the reports of a saved design, the levels of the bound of its mechanism, and its name.
fn reports_of(file: &Path) -> Result<(f64, Option<f64>, String), Failure> {
    let design = ShippedDesign::read(file, &Registry::installed()?)?;
    let refuse = |what: &str| Failure::from(format!("{}: {what}", file.display()));
    let Designed::Local(local) = design.mechanism() else {
        return Err(refuse("a curator releases no reports"));
    };
    let pure = local.guarantee().local_dp(Unit::Record).filter(|dp| dp.delta == 0.0).map(|dp| dp.epsilon);
    let epsilon = pure.ok_or_else(|| refuse("it claims no local ε at δ = 0 for the whole record"))?;
    Ok((epsilon, local.shuffled_levels(), design.origin().plugin.clone()))
}

/// Formats ε to four significant digits, because ε may be small. `round` rounds the digits.
fn digits(epsilon: f64, round: fn(f64) -> f64) -> String {
    if epsilon == 0.0 {
        return "0".into();
    }
    let places = 3 - epsilon.log10().floor() as i32;
    let unit = 10f64.powi(-places);
    let rounded = round(epsilon / unit) * unit;
    match usize::try_from(places) {
        Ok(places @ 0..=7) => format!("{rounded:.places$}"),
        _ => format!("{rounded:.3e}"),
    }
}

fn account_laplace_accuracy(arguments: &LaplaceAccuracyArguments) -> Result<Answer, Failure> {
    let &LaplaceAccuracyArguments { classes, epsilon } = arguments;
    let (bound, ldp_bound) =
        (ceiling::laplace_accuracy(classes, epsilon)?, ceiling::best_accuracy(classes, epsilon)?);
    let json = json!({ "bound": bound, "ldp_bound": ldp_bound });
    let text = format!(
        "Upper bounds on the accuracy of a classifier of {classes} equally frequent classes, from records \
         at\n\
         local epsilon = {epsilon}:\n\n\
         \u{20}{bound:.4}  with Laplace noise in a latent space (equation 28 of Learning to Noise; \
         errata V7)\n\
         \u{20}{ldp_bound:.4}  with any mechanism"
    );
    Ok(Answer { json, text })
}

fn account_pac(arguments: &PacArguments) -> Result<Answer, Failure> {
    let &PacArguments { error, delta, dim, beta, public_variance, private_variance, .. } = arguments;
    let setting = Setting { error, delta, dim, beta, public_variance, private_variance };
    let (found, what) = match (arguments.theorem, arguments.output_bits, arguments.out_dim) {
        (Theorem::Corollary1, Some(bits), None) => (pac::corollary_1(&setting, bits)?, "a mixed record"),
        (Theorem::Corollary1, ..) => {
            let needed = "corollary-1 needs --output-bits, the bits of a whole released record, and takes no \
                          --out-dim";
            return Err(needed.into());
        }
        (Theorem::Theorem3, None, out_dim) => {
            let solve = || pac::theorem_3(&setting, out_dim.unwrap_or(dim));
            (spinning("drawing weights", solve)?, "the transformation of a record")
        }
        (Theorem::Theorem3, Some(_), _) => {
            return Err(
                "theorem-3 takes no --output-bits: it assumes infinitely many bits per released record"
                    .into(),
            );
        }
    };
    let json = json!({
        "budget": found.budget,
        "budget_as_printed": found.budget_as_printed,
        "packing_width": number::to_json(found.packing_width),
        "norm_bound": found.norm_bound,
        "markov_factor": found.markov_factor,
        "vacuous": found.is_vacuous(),
    });
    let as_printed = found.budget_as_printed.floor();
    if found.is_vacuous() {
        let text = format!(
            "The theorem is vacuous for these numbers: it does not allow a single sample ({as_printed} by \
             the formula as printed).\n\
             It supports no claim."
        );
        return Ok(Answer { json, text });
    }
    let text = format!(
        "If at most {} samples are released, no adversary recovers {what} within {error} (l2, all \
         coordinates) with\n\
         probability {} or more. Success with a smaller probability is not excluded. This is not \
         differential privacy.\n\
         The formula as printed gives {as_printed} samples. It assumes that the adversary fails equally \
         often for every transformation (errata D11).",
        found.budget.floor(),
        1.0 - delta,
    );
    Ok(Answer { json, text })
}

fn account_mutual_information(arguments: &MutualInformationArguments) -> Result<Answer, Failure> {
    let MutualInformationArguments { nats, success, prior_success: prior, ref variance } = *arguments;
    let nats = match (nats, success) {
        (Some(nats), _) => nats,
        (None, Some(success)) if success <= prior => {
            return Err(format!(
                "--success {success}: the value must be above --prior-success {prior}, the success without a \
                 release"
            )
            .into());
        }
        (None, success) => mutual_information::divergence(success.unwrap_or(prior), prior)?,
    };
    let success = mutual_information::posterior_success(nats, prior)?;
    let noise = match variance.is_empty() {
        true => vec![],
        false => mutual_information::noise(variance, nats)?,
    };
    let mut text = format!(
        "If releases disclose {nats} nats of mutual information about a secret in total, every inference \
         about it\n\
         succeeds with probability {} at most. Without the releases, the best guess has probability \
         {prior}.\n\
         The bound is an average over the prior. It bounds nothing for a single secret or a worst-case \
         record.\n\
         This is not differential privacy.",
        up(success.min(1.0))
    );
    if !noise.is_empty() {
        text += "\n\nGaussian noise that meets this bound, with the least sum of variances:\n";
        for (variance, noise) in variance.iter().zip(&noise) {
            text += &format!("\n  variance {variance:<12} standard deviation {:.6e}", noise.sqrt());
        }
    }
    let json = json!({
        "nats": nats,
        "prior_success": prior,
        "posterior_success": success,
        "noise_variance": noise,
    });
    Ok(Answer { json, text })
}

fn account_multiplicative(arguments: &MultiplicativeArguments) -> Result<Answer, Failure> {
    let &MultiplicativeArguments { sensitivity, records, out_dim, .. } = arguments;
    let release = Release::new(sensitivity, records, out_dim)?;
    let (v, private) = solve_multiplicative(arguments, &release)?;
    let Private { epsilon, deltas } = private;
    let delta = deltas.total(out_dim);
    let json = json!({
        "epsilon": number::to_json(epsilon),
        "delta": delta,
        "v": v,
        "delta_0": deltas.direction,
        "delta_r": deltas.radius,
        "delta_t": deltas.composition,
    });
    let text = format!(
        "{records} records or more, times a Gaussian matrix of {out_dim} columns, with v = {}\n\
         are ({}, {})-differentially private (neighbouring relation: {}, at l2 distance {sensitivity} or \
         less)",
        number::short(v),
        up(epsilon),
        shortly_up(delta),
        Neighbours::ReplaceOne,
    );
    Ok(Answer { json, text })
}

/// Returns v, and the ε of the release with this v and the three parts of its δ. Solves for the quantities
/// that `arguments` omit.
fn solve_multiplicative(
    arguments: &MultiplicativeArguments,
    release: &Release,
) -> Result<(f64, Private), Failure> {
    let &MultiplicativeArguments { v, epsilon, delta, delta_0, delta_r, delta_t, .. } = arguments;
    Ok(match (v, epsilon, delta, delta_0, delta_r, delta_t) {
        (Some(v), None, None, Some(direction), Some(radius), Some(composition)) => {
            let deltas = Deltas { direction, radius, composition };
            (v, Private { epsilon: release.epsilon(v, ColumnDistribution::Gaussian, deltas)?, deltas })
        }
        (Some(v), None, Some(delta), None, None, None) => (v, release.gaussian(v, delta)?),
        (None, Some(epsilon), Some(delta), None, None, None) => release.least_v(epsilon, delta)?,
        _ => {
            let needed = "give --epsilon and --delta, to solve for v; or --v with --delta; or --v with \
                          --delta-0, --delta-r and --delta-t";
            return Err(needed.into());
        }
    })
}

/// Formats δ to four significant digits, rounded up. A factor of 1 − 1e-12 before the rounding absorbs
/// floating-point error.
fn shortly_up(delta: f64) -> String {
    shortly(delta, |digits| (digits * (1.0 - 1e-12)).ceil())
}

/// Formats a number of zero or more with four significant digits, which `round` rounds to a whole number.
fn shortly(number: f64, round: fn(f64) -> f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let unit = 10f64.powf(number.log10().floor() - 3.0);
    format!("{:.3e}", round(number / unit) * unit)
}

/// Smallest ε with four decimal places. A smaller ε has four significant digits.
const SMALLEST_PLAIN: f64 = 0.01;

/// Formats ε with four decimal places or significant digits, rounded up. A factor of 1 − 1e-12 before the
/// rounding absorbs floating-point error.
fn up(epsilon: f64) -> String {
    match epsilon == 0.0 || epsilon >= SMALLEST_PLAIN {
        true => format!("{:.4}", (epsilon * 1e4 * (1.0 - 1e-12)).ceil() / 1e4),
        false => shortly_up(epsilon),
    }
}

/// Formats ε with four decimal places or significant digits, rounded down.
fn down(epsilon: f64) -> String {
    match epsilon == 0.0 || epsilon >= SMALLEST_PLAIN {
        true => format!("{:.4}", (epsilon * 1e4).floor() / 1e4),
        false => shortly(epsilon, f64::floor),
    }
}

/// Returns the training run and its δ. Solves for the quantity that `arguments` omit.
fn solve(arguments: &DpSgdArguments) -> Result<(Run, f64), Failure> {
    let &DpSgdArguments { sampling_rate, noise_multiplier, steps, delta, epsilon, .. } = arguments;
    let (neighbours, sampling) = (arguments.neighbours.into(), arguments.sampling.into());
    let run = |rate, sigma, steps| -> Result<Run, Failure> {
        Ok(Run::new(rate, sigma, steps)?.with_sampling(sampling))
    };
    let target = |epsilon, delta| Target { epsilon, delta, neighbours };
    Ok(match (sampling_rate, noise_multiplier, steps, delta, epsilon) {
        (Some(rate), Some(sigma), Some(steps), Some(delta), None) => (run(rate, sigma, steps)?, delta),
        (None, Some(sigma), Some(steps), Some(delta), Some(epsilon)) => {
            let rate = calibrate::sampling_rate(sampling, sigma, steps, target(epsilon, delta))?;
            (run(rate, sigma, steps)?, delta)
        }
        (Some(rate), None, Some(steps), Some(delta), Some(epsilon)) => {
            let sigma = calibrate::noise_multiplier(sampling, rate, steps, target(epsilon, delta))?;
            (run(rate, sigma, steps)?, delta)
        }
        (Some(rate), Some(sigma), None, Some(delta), Some(epsilon)) => {
            let steps = calibrate::steps(sampling, rate, sigma, target(epsilon, delta))?;
            (run(rate, sigma, steps)?, delta)
        }
        (Some(rate), Some(sigma), Some(steps), None, Some(epsilon)) => {
            let run = run(rate, sigma, steps)?;
            (run, loss::delta(&[run], epsilon, neighbours)?.upper.max(f64::MIN_POSITIVE))
        }
        _ => {
            let needed = "give --sampling-rate, --noise-multiplier, --steps and --delta; or give --epsilon \
                          in place of one of them, to solve for it";
            return Err(needed.into());
        }
    })
}
