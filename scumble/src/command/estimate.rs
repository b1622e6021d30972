//! `scumble estimate`: population estimates from a release, with intervals that account for its noise.

use super::estimated::shown;
use super::from_tables::FromTables;
use super::provenance::Provenance;
use super::reading::Reading;
use super::release::ValuesArgument;
use super::{Failure, complain, print, print_json};
use crate::classic::{Estimator, Variable};
use crate::core::{Estimate, Registry, number};
use crate::custody::ShippedDesign;
use crate::records::{Column, Kind, ReadRows, Values};
use crate::tables::Line;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  scumble estimate --design design.json --input released.csv
  scumble estimate --tables tables.json --column age --by sex --against female
  scumble estimate --design design.json --input released.csv --confidence 0.99 --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EstimateArguments {
    /// The design of the local mechanism that released the records.
    #[arg(long, value_name = "DESIGN.json", requires = "input", required_unless_present = "tables")]
    design: Option<PathBuf>,
    /// The released records: CSV or Parquet; - for CSV on standard input.
    #[arg(long, value_name = "RELEASED", requires = "design")]
    input: Option<PathBuf>,
    #[command(flatten)]
    from_tables: FromTables,
    /// Probability that an interval covers the true value. For the levels of a column, it is the probability
    /// that all their intervals cover their true values.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "P",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    confidence: f64,
    /// Treatment of numbers that the release was made with.
    #[arg(long, value_name = "VALUES", default_value = "settled")]
    values: ValuesArgument,
    #[command(flatten)]
    provenance: Provenance,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn estimate(
    registry: &Registry,
    arguments: &EstimateArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let (Some(design), Some(input)) = (&arguments.design, &arguments.input) else {
        return arguments.from_tables.estimate(arguments.confidence, as_json);
    };
    let (design_file, design) = (design, ShippedDesign::read(design, registry)?);
    let rows = arguments.reading.open(input)?;
    let warning = arguments.provenance.check(&design, design_file, input, rows.design())?;
    let made = estimates(&design, rows, arguments.values.into(), arguments.confidence)?;
    let (file, Estimates { records, lines, problems }) = (input.display(), made);
    if lines.is_empty() {
        return Err(format!("{file}: nothing can be estimated: {}", problems.join("; ")).into());
    }
    warning.iter().for_each(|warning| complain(warning));
    problems.iter().for_each(|problem| complain(&format!("{file}: {problem}")));
    if as_json {
        let lines: Vec<Value> = lines.iter().map(Line::to_json).collect();
        return print_json(&json!({
            "records": records,
            "confidence": arguments.confidence,
            "estimates": lines,
        }));
    }
    print(&format!(
        "{}\n\nThe estimates are of the population from which these {records} people were sampled at \
         random.\n\
         The intervals account for the sampling and for the noise.",
        shown(lines, arguments.confidence)
    ))
}

/// Population estimates from the records that a local mechanism released.
#[derive(Debug)]
pub struct Estimates {
    /// Number of released records.
    pub records: usize,
    /// Estimates of each column.
    pub lines: Vec<Line>,
    /// Sentences about columns that cannot be estimated. Columns with the same problem share a sentence.
    pub problems: Vec<String>,
}

/// Estimates every column of the released `rows` of a `design`, as `scumble estimate` does.
///
/// # Errors
/// A sentence about rows that are not of a release with these `values`, or about a design that needs a
/// curator.
pub fn estimates(
    design: &ShippedDesign,
    rows: impl ReadRows,
    values: Values,
    confidence: f64,
) -> Result<Estimates, Box<dyn std::error::Error>> {
    let (table, noise) = design.read_released(rows, values)?;
    let estimator = Estimator::new(design.local()?, &table, &noise, confidence)?;
    let records = design.records()?;
    let estimable = design.estimable_columns(values)?;
    let estimable_only = design.estimable_only()?;
    let remedy = |name: &str| {
        let form = estimable_only.iter().find(|(_, columns)| columns.contains(&name));
        let form = form.filter(|_| !estimable.contains(&name));
        form.map(|(form, _)| format!("; release with --values {form}, and give it here too"))
            .unwrap_or_default()
    };
    let (mut lines, mut problems) = (vec![], BTreeMap::<String, Vec<String>>::new());
    for column in records.schema.columns() {
        let is_target = Some(&column.name) == records.target.as_ref();
        match lines_of(&estimator, column, is_target) {
            Ok(column_lines) => lines.extend(column_lines),
            Err(problem) => {
                let problem = format!("{problem}{}", remedy(&column.name));
                problems.entry(problem).or_default().push(format!("{:?}", column.name));
            }
        }
    }
    let problems =
        problems.into_iter().map(|(problem, columns)| format!("{}: {problem}", columns.join(", ")));
    Ok(Estimates { records: table.len(), lines, problems: problems.collect() })
}

/// Estimates the mean of a number in its own unit, or the percentage of each level.
fn lines_of(estimator: &Estimator, column: &Column, is_target: bool) -> Result<Vec<Line>, Failure> {
    let variable = if is_target { Variable::Target } else { Variable::Column(&column.name) };
    let name = || column.name.clone();
    if !is_target && !column.is_scaled_by_bounds() {
        return Err("the mean of its scaled values is not the mean of its numbers".into());
    }
    match (&column.kind, column.kind.levels()) {
        (kind @ (Kind::Real { .. } | Kind::Integer { .. } | Kind::Date { .. }), _) => {
            let (lower, unit) = kind.offset_and_unit();
            let estimate = estimator.mean(variable)?;
            let estimate = estimate.in_unit(lower, kind.width());
            Ok(vec![Line { column: name(), group: None, what: "mean".into(), estimate, unit }])
        }
        (Kind::Ordered { levels }, _) if !is_target => {
            let estimate = estimator.mean(variable)?;
            let estimate = estimate.in_unit(0.0, (levels.len() - 1) as f64);
            let (what, unit) = ("mean rank, from 0".into(), String::new());
            Ok(vec![Line { column: name(), group: None, what, estimate, unit }])
        }
        (_, levels) => {
            let shares = estimator.histogram(variable)?;
            let levels = levels.unwrap_or_default().iter().zip(shares);
            let line = |(level, share): (&String, Estimate)| Line {
                column: name(),
                group: None,
                what: level.clone(),
                estimate: share.in_unit(0.0, 100.0),
                unit: "%".into(),
            };
            Ok(levels.map(line).collect())
        }
    }
}
