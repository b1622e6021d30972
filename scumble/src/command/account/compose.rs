//! `scumble account compose`: the total privacy loss of unlike mechanisms.

use super::{
    Answer, BatchSampling, Relation, add_curve, check_sampling, down, no_less, shortly, shortly_up, up,
};
use crate::accounting::loss::{self, Bounds};
use crate::accounting::trade_off::of_points;
use crate::accounting::{Neighbours, Part, Run};
use crate::command::trade_off::Curve;
use crate::command::{Failure, spinning};
use crate::core::number;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Parts, with the number of releases as count=N (1 by default):
  gaussian:noise_multiplier=S          noise of standard deviation S times the l2 sensitivity
  gaussian:epsilon=E,delta=D           the least Gaussian noise for (E, D)
  laplace:epsilon=E                    Laplace noise on a number, of scale sensitivity/E
  randomised-response:epsilon=E        two levels; levels=K for K levels
  dp:epsilon=E,delta=D                 any (E, D)-differentially private mechanism; delta is 0 by default
  dp-sgd:noise_multiplier=S,sampling_rate=Q
                                       a DP-SGD step with Poisson sampling; sampling=fixed-size for
                                       fixed-size batches, sampled without replacement

Examples:
  scumble account compose --delta 1e-6 gaussian:noise_multiplier=20,count=10 laplace:epsilon=0.1,count=3
  scumble account compose --delta 0 randomised-response:epsilon=0.5,levels=8 dp:epsilon=0.2";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::command) struct ComposeArguments {
    /// Mechanisms and their numbers, MECHANISM:KEY=VALUE,…; see below. A mechanism may depend on the outputs
    /// of the parts before it.
    #[arg(value_name = "PART", required = true, value_parser = Given::parse)]
    parts: Vec<Given>,
    /// δ; 0 for parts that all have an ε at δ = 0.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "D",
        allow_hyphen_values = true,
        required_unless_present = "epsilon"
    )]
    delta: Option<f64>,
    /// ε, in nats, in place of --delta: solves for δ.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "E",
        allow_hyphen_values = true,
        conflicts_with = "delta"
    )]
    epsilon: Option<f64>,
    /// The neighbouring relation, for the numbers of all parts.
    #[arg(long, value_name = "RELATION", default_value = "add-remove")]
    neighbours: Relation,
    #[command(flatten)]
    curve: Curve,
}

/// A part and its text on the command line.
#[derive(Clone)]
struct Given {
    text: String,
    part: Part,
}

impl Given {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.to_owned(), part: parse(text)? })
    }
}

/// A mechanism's name, its keys without `count`, and its part for the values of these keys.
struct Form {
    name: &'static str,
    keys: &'static [&'static str],
    part: fn(&Values) -> Result<Part, String>,
}

const FORMS: [Form; 5] = [
    Form { name: "gaussian", keys: &["noise_multiplier", "epsilon", "delta"], part: gaussian },
    Form {
        name: "laplace",
        keys: &["epsilon"],
        part: |values| accounted(Part::laplace(values.number("epsilon")?, values.count()?)),
    },
    Form {
        name: "randomised-response",
        keys: &["epsilon", "levels"],
        part: |values| {
            let levels = values.whole("levels", 2)?;
            accounted(Part::randomised_response(values.number("epsilon")?, levels, values.count()?))
        },
    },
    Form {
        name: "dp",
        keys: &["epsilon", "delta"],
        part: |values| {
            let delta = if values.has("delta") { values.number("delta")? } else { 0.0 };
            accounted(Part::guaranteed(values.number("epsilon")?, delta, values.count()?))
        },
    },
    Form { name: "dp-sgd", keys: &["noise_multiplier", "sampling_rate", "sampling"], part: dp_sgd },
];

fn gaussian(values: &Values) -> Result<Part, String> {
    let count = values.count()?;
    match ["noise_multiplier", "epsilon", "delta"].map(|key| values.has(key)) {
        [true, false, false] => accounted(Part::gaussian(values.number("noise_multiplier")?, count)),
        [false, true, true] => {
            accounted(Part::gaussian_for(values.number("epsilon")?, values.number("delta")?, count))
        }
        _ => Err("give noise_multiplier, or epsilon and delta".into()),
    }
}

fn dp_sgd(values: &Values) -> Result<Part, String> {
    let run = Run::new(values.number("sampling_rate")?, values.number("noise_multiplier")?, values.count()?);
    let sampling = match values.text("sampling") {
        None => BatchSampling::Poisson,
        Some(text) => BatchSampling::from_str(text, false)
            .map_err(|_| format!("sampling is {text:?}, and must be poisson or fixed-size"))?,
    };
    accounted(run.map(|run| run.with_sampling(sampling.into()).into()))
}

fn accounted(part: crate::accounting::Result<Part>) -> Result<Part, String> {
    part.map_err(|problem| problem.to_string())
}

/// Parses `MECHANISM:KEY=VALUE,…`.
fn parse(text: &str) -> Result<Part, String> {
    let (name, values) = text.split_once(':').unwrap_or((text, ""));
    let form = FORMS
        .iter()
        .find(|form| form.name == name)
        .ok_or_else(|| unknown("mechanism", name, &FORMS.map(|form| form.name)))?;
    let pairs: Vec<(&str, &str)> = values
        .split(',')
        .filter(|value| !value.is_empty())
        .map(|value| value.split_once('=').ok_or_else(|| format!("{value:?}: KEY=VALUE is needed")))
        .collect::<Result<_, String>>()?;
    for (at, (key, _)) in pairs.iter().enumerate() {
        let keys = [form.keys, &["count"]].concat();
        if !keys.contains(key) {
            return Err(unknown("key", key, &keys));
        }
        if pairs[..at].iter().any(|(other, _)| other == key) {
            return Err(format!("{key} is given twice"));
        }
    }
    (form.part)(&Values(pairs))
}

fn unknown(what: &str, name: &str, names: &[&str]) -> String {
    format!("the {what} {name:?} is unknown; choose from {}", names.join(", "))
}

/// Keys and values of a part.
struct Values<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Values<'t> {
    fn text(&self, key: &str) -> Option<&'t str> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    fn has(&self, key: &str) -> bool {
        self.text(key).is_some()
    }

    fn number(&self, key: &str) -> Result<f64, String> {
        let text = self.text(key).ok_or_else(|| format!("{key} is missing"))?;
        number::parse(text).map_err(|problem| format!("{key} is {text:?}: {problem}"))
    }

    fn whole(&self, key: &str, default: u64) -> Result<u64, String> {
        let Some(text) = self.text(key) else { return Ok(default) };
        text.parse().map_err(|_| format!("{key} is {text:?}, and must be a whole number"))
    }

    fn count(&self) -> Result<u64, String> {
        self.whole("count", 1)
    }
}

pub(super) fn compose(arguments: &ComposeArguments) -> Result<Answer, Failure> {
    let ComposeArguments { parts: given, neighbours: relation, .. } = arguments;
    for Given { text, part } in given {
        if let Some(sampling) = part.sampling() {
            check_sampling(sampling, *relation).map_err(|problem| format!("{text}: {problem}"))?;
        }
    }
    let neighbours = Neighbours::from(*relation);
    let (private, line, mut json) = match (arguments.delta.unwrap_or(0.0), arguments.epsilon) {
        (_, Some(epsilon)) => {
            let parts: Vec<Part> = given.iter().map(|given| given.part).collect();
            let bounds = spinning("accounting", || loss::delta(&parts, epsilon, neighbours))?;
            let down = |delta| shortly(delta, f64::floor);
            (
                format!("({epsilon}, delta)"),
                format!("delta = {}  {}", shortly_up(bounds.upper), no_less(bounds, down)),
                json!({ "epsilon": epsilon, "delta": bounds.upper, "delta_lower": bounds.lower }),
            )
        }
        (delta, None) => {
            let bounds = spinning("accounting", || epsilon(given, delta, neighbours))?;
            (
                format!("(epsilon, {delta:e})"),
                format!("epsilon = {}  {}", up(bounds.upper), no_less(bounds, down)),
                json!({ "epsilon": bounds.upper, "epsilon_lower": bounds.lower, "delta": delta }),
            )
        }
    };
    let farthest = [&json["epsilon"], &json["epsilon_lower"]].into_iter().filter_map(Value::as_f64);
    let farthest = 2.0 * farthest.fold(0.5, f64::max);
    let trade_off = arguments.curve.draw(|| {
        let of = spinning("drawing", || trade_off_of(given, farthest, neighbours))?;
        Ok(vec![("these releases together".to_owned(), of)])
    })?;
    add_curve(&mut json, trade_off);
    json["neighbours"] = json!(relation.name());
    json["parts"] = given.iter().map(|given| given.text.as_str()).collect();
    let width = given.iter().map(|given| given.part.count().to_string().len()).max().unwrap_or(0);
    let list: String =
        given.iter().map(|Given { part, .. }| format!(" {:>width$}  {part}\n", part.count())).collect();
    let text = format!(
        "These releases together\n\n{list}\n\
         are {private}-differentially private (neighbouring relation: {neighbours}) with\n\n {line}"
    );
    Ok(Answer { json, text })
}

/// Trade-off function of all parts together, from their privacy profile at some ε up to `farthest`. Each
/// point is a bound of its own.
fn trade_off_of(
    given: &[Given],
    farthest: f64,
    neighbours: Neighbours,
) -> Result<Box<dyn Fn(f64) -> f64>, Failure> {
    const POINTS: u32 = 48;
    let parts: Vec<Part> = given.iter().map(|given| given.part).collect();
    let mut points = vec![(loss::pure_epsilon(&parts, neighbours), 0.0)];
    for at in 0..=POINTS {
        let epsilon = farthest * f64::from(at) / f64::from(POINTS);
        points.push((epsilon, loss::delta(&parts, epsilon, neighbours)?.upper));
    }
    Ok(Box::new(move |alpha| of_points(&points, alpha)))
}

/// Bounds on ε at `delta`, which may be zero.
fn epsilon(given: &[Given], delta: f64, neighbours: Neighbours) -> Result<Bounds, Failure> {
    let parts: Vec<Part> = given.iter().map(|given| given.part).collect();
    if delta == 0.0 {
        let infinite = given.iter().find(|given| loss::pure_epsilon(&[given.part], neighbours).is_infinite());
        if let Some(Given { text, .. }) = infinite {
            return Err(
                format!("{text}: this part has no epsilon at --delta 0; give a larger --delta").into()
            );
        }
        let epsilon = loss::pure_epsilon(&parts, neighbours);
        return Ok(Bounds { lower: epsilon, upper: epsilon });
    }
    let bounds = loss::epsilon(&parts, delta, neighbours)?;
    if bounds.upper.is_infinite() {
        return Err(
            format!("--delta {delta}: the parts alone use up this delta; give a larger --delta").into()
        );
    }
    Ok(bounds)
}
