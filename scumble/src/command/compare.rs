//! `scumble compare`.

use super::setting::Setting;
use super::{Failure, complain, print, print_json, progress_bar, tell_clipped};
use crate::compare::{Comparison, DataSet, Entrant, Outcome, Row};
use crate::registry::Registry;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::OnceLock;

#[derive(Args, Clone)]
pub(super) struct CompareArguments {
    /// A CSV file with a header, in place of the embedded wines.
    #[arg(long, value_name = "FILE.csv", requires = "schema", requires = "target")]
    input: Option<PathBuf>,
    /// What is publicly known of its columns.
    #[arg(long, value_name = "SCHEMA.toml", requires = "input")]
    schema: Option<PathBuf>,
    /// The column to learn: a category by logistic regression, a number by ridge regression.
    #[arg(long, value_name = "COLUMN", requires = "input")]
    target: Option<String>,
    /// A mechanism, in place of all quick ones; may be given several times.
    #[arg(long, value_name = "NAME")]
    mechanism: Vec<String>,
    /// A parameter of a mechanism; may be given several times.
    #[arg(long, value_name = "NAME.KEY=VALUE")]
    set: Vec<String>,
    /// Budgets, in nats; inf for none.
    #[arg(long, value_name = "E,…", value_delimiter = ',', default_values_t = EPSILONS, allow_negative_numbers = true)]
    epsilon: Vec<f64>,
    /// The δ of every budget, for mechanisms that have a use for it.
    #[arg(long, value_name = "D", default_value_t = DELTA, allow_negative_numbers = true)]
    delta: f64,
    /// How often each cell is repeated.
    #[arg(long, value_name = "N", default_value_t = TRIALS)]
    trials: usize,
    /// The share of the records that is kept for tests.
    #[arg(long, value_name = "SHARE", default_value_t = TEST_SHARE, allow_negative_numbers = true)]
    test_share: f64,
    /// The label's share of ε, where a mechanism protects features only and randomised response takes the label.
    #[arg(long, value_name = "SHARE", default_value_t = LABEL_SHARE, allow_negative_numbers = true)]
    label_share: f64,
    /// The seed of splits and noise.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
}

const EPSILONS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY];
const DELTA: f64 = 1e-6;
const TRIALS: usize = 50;
const TEST_SHARE: f64 = 0.2;
const LABEL_SHARE: f64 = 0.5;
const SEED: u64 = 1;

impl Default for CompareArguments {
    fn default() -> Self {
        Self {
            input: None,
            schema: None,
            target: None,
            mechanism: vec![],
            set: vec![],
            epsilon: EPSILONS.to_vec(),
            delta: DELTA,
            trials: TRIALS,
            test_share: TEST_SHARE,
            label_share: LABEL_SHARE,
            seed: SEED,
        }
    }
}

pub(super) fn compare(
    registry: &Registry,
    arguments: &CompareArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let entrants = entrants(registry, arguments)?;
    let data = match (&arguments.input, &arguments.schema, &arguments.target) {
        (Some(input), Some(schema), Some(target)) => DataSet::read(input, schema, target)?,
        _ => DataSet::wine()?,
    };
    let comparison = Comparison {
        data,
        entrants,
        epsilons: arguments.epsilon.clone(),
        delta: arguments.delta,
        trials: arguments.trials,
        test_share: arguments.test_share,
        label_share: arguments.label_share,
        seed: arguments.seed,
    };
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    let outcome = comparison.run(
        |trials| {
            bar.get_or_init(|| progress_bar(trials, "comparing {bar:40} {pos}/{len} trials, {eta} left"));
        },
        || {
            if let Some(bar) = bar.get() {
                bar.inc(1);
            }
        },
    );
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    let outcome = outcome?;
    for skipped in &outcome.skipped {
        let line = format!("{} is left out: {}", skipped.mechanism, skipped.reason);
        if !arguments.mechanism.is_empty() {
            return Err(line.into()); // it was asked for
        }
        complain(&line);
    }
    tell_clipped(&comparison.data.name, &comparison.data.clipped);
    if as_json {
        let mut value = json!(outcome);
        value["data"] = json!({"name": comparison.data.name, "target": comparison.data.target});
        value["seed"] = comparison.seed.into();
        return print_json(&value);
    }
    print(&report(&comparison, &outcome))
}

/// The mechanisms asked for, or all quick ones, with their parameters.
fn entrants(registry: &Registry, arguments: &CompareArguments) -> Result<Vec<Entrant>, Failure> {
    let mut entrants = match &arguments.mechanism[..] {
        [] => Entrant::quick(registry),
        names => names
            .iter()
            .map(|name| Ok(Entrant { plugin: *registry.get(name)?, parameters: Value::Null }))
            .collect::<Result<_, Failure>>()?,
    };
    for text in &arguments.set {
        let setting = Setting::parse(text)?;
        let Some(name) = &setting.mechanism else {
            return Err(format!("--set {text:?}: NAME.KEY=VALUE is needed").into());
        };
        registry.get(name)?;
        match entrants.iter_mut().find(|entrant| entrant.plugin.name == name) {
            Some(entrant) => setting.apply(&mut entrant.parameters),
            None => return Err(format!("--set {text:?}: the mechanism {name:?} does not take part").into()),
        }
    }
    Ok(entrants)
}

/// The table, what each mechanism promises, and what guessing gets.
fn report(comparison: &Comparison, outcome: &Outcome) -> String {
    let mechanisms: Vec<Vec<&Row>> =
        outcome.rows.chunk_by(|a, b| a.mechanism == b.mechanism).map(|rows| rows.iter().collect()).collect();
    let Some(first) = outcome.rows.first() else {
        return "no mechanism applies to such data".into();
    };
    let mut text = format!(
        "{}: {} of {:?} by {} regression, learned from {} released records, on {} clean test records;\n\
         mean ± standard deviation of {} trials, seed {}{}\n\n",
        comparison.data.name,
        match first.metric {
            "accuracy" => "accuracy (%)",
            _ => "root mean squared error",
        },
        comparison.data.target,
        first.model,
        outcome.train_records,
        outcome.test_records,
        comparison.trials,
        comparison.seed,
        if first.metric == "accuracy" { "" } else { " (less is better)" },
    );
    text += &scores(comparison, &mechanisms);
    text += &format!(
        "\n\nGuessing blindly gets {}. What each promises{}:\n",
        in_unit(first.metric, outcome.blind_guess),
        promised_at(comparison).map_or(String::new(), |epsilon| format!(", here at ε = {epsilon}")),
    );
    text += &promises(comparison, &mechanisms);
    text += "\n\nThe card of each: scumble describe NAME. Your own data: scumble compare --input FILE.csv --schema \
             SCHEMA.toml --target COLUMN";
    text
}

fn scores(comparison: &Comparison, mechanisms: &[Vec<&Row>]) -> String {
    let mut table = Table::new();
    let budgets = comparison.epsilons.iter().map(|epsilon| match *epsilon {
        f64::INFINITY => "ε = ∞".to_owned(),
        epsilon => format!("ε = {epsilon}"),
    });
    let header = std::iter::once("mechanism".to_owned()).chain(budgets);
    table.load_style(presets::NOTHING).set_header(header);
    for rows in mechanisms {
        let cells = comparison.epsilons.iter().map(|epsilon| {
            let row = rows.iter().find(|row| row.epsilon.is_none_or(|of_row| of_row == *epsilon));
            row.map_or(String::new(), |row| {
                let shown = |value| in_unit(row.metric, value);
                format!("{} ± {}", shown(row.mean), shown(row.sd))
            })
        });
        table.add_row(std::iter::once(rows[0].mechanism.clone()).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

fn in_unit(metric: &str, value: f64) -> String {
    match metric {
        "accuracy" => format!("{:.1}", 100.0 * value),
        _ if (1e-3..1e9).contains(&value.abs()) => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// The budget at which promises are spelled out: 1 if it is there, else the first finite one.
fn promised_at(comparison: &Comparison) -> Option<f64> {
    let finite = || comparison.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
    finite().find(|epsilon| *epsilon == 1.0).or_else(|| finite().next())
}

fn promises(comparison: &Comparison, mechanisms: &[Vec<&Row>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let wanted = promised_at(comparison);
    for rows in mechanisms {
        let row = rows.iter().find(|row| row.epsilon == wanted).unwrap_or(&rows[0]);
        let guarantee = &row.guarantee;
        let mut promise = guarantee.summary();
        if !guarantee.discloses.is_empty() {
            promise += &format!("; gives away {}", guarantee.discloses.join("; "));
        }
        table.add_row([format!("  {}", row.mechanism), promise]);
    }
    table.trim_fmt()
}
