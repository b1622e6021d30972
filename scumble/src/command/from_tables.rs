//! `scumble estimate --tables`: estimates from noisy tables, with intervals that count their noise.

use super::estimated::shown;
use super::{Failure, complain, print, print_json};
use crate::core::number;
use crate::records::read_text;
use crate::tables::{Answers, Error, Line, NoisyTables, Question, Settings};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Upper bound on the size of a file of tables, in bytes.
const LONGEST: u64 = 1 << 30;

#[derive(Args)]
pub(super) struct FromTables {
    /// The noisy tables of a curator's release, as `scumble release --tables` writes them.
    #[arg(long, value_name = "TABLES.json", conflicts_with = "design")]
    tables: Option<PathBuf>,
    /// A counted column to estimate; may be repeated. By default all counted columns.
    #[arg(long, value_name = "NAME", requires = "tables")]
    column: Vec<String>,
    /// A counted column whose levels are groups of people. The estimates are of each group.
    #[arg(long, value_name = "NAME", requires = "tables")]
    by: Option<String>,
    /// Level of the --by column with which the other groups are compared: differences of means and of shares,
    /// and odds ratios.
    #[arg(long, value_name = "LEVEL", requires = "by")]
    against: Option<String>,
    /// Order of a quantile of the numbers; may be repeated. By default 0.5, the median.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "P",
        requires = "tables",
        allow_negative_numbers = true
    )]
    quantile: Vec<f64>,
    /// Estimate numbers of people in place of shares and means.
    #[arg(long, requires = "tables", conflicts_with_all = ["against", "quantile"])]
    counts: bool,
    /// Assume that numbers are spread evenly within each level. Without it, the interval of a mean covers all
    /// positions of the numbers within their levels.
    #[arg(long, requires = "tables")]
    evenly: bool,
    /// Estimate the population from which the people were sampled at random. The intervals then count the
    /// sampling too.
    #[arg(long, requires = "tables")]
    population: bool,
}

impl FromTables {
    pub(super) fn estimate(&self, confidence: f64, as_json: bool) -> Result<(), Failure> {
        let Some(file) = &self.tables else { return Err("there is no file of tables".into()) };
        let named = |problem: Error| format!("{}: {problem}", file.display());
        let tables = NoisyTables::from_json(&read_text(file, LONGEST)?).map_err(named)?;
        let settings = Settings { confidence, population: self.population, evenly: self.evenly };
        let question = Question {
            columns: self.column.clone(),
            by: self.by.clone(),
            against: self.against.clone(),
            quantiles: self.quantile.clone(),
            counts: self.counts,
            settings,
        };
        let Answers { lines, problems } = tables.answer(&question).map_err(named)?;
        problems.iter().for_each(|problem| complain(&format!("{}: {problem}", file.display())));
        if lines.is_empty() {
            return Err(format!("{}: nothing can be estimated", file.display()).into());
        }
        if as_json {
            return print_json(&json!({
                "people": tables.people(),
                "confidence": confidence,
                "population": self.population,
                "evenly": self.evenly,
                "estimates": lines.iter().map(Line::to_json).collect::<Vec<Value>>(),
            }));
        }
        let of = match self.population {
            true => {
                "The estimates are of the population from which the people were sampled at random.\nThe \
                 intervals count the sampling and the noise."
            }
            false => {
                "The estimates are of the people in the tables.\nThe intervals count the noise; with \
                 --population, they count the sampling too."
            }
        };
        // A mean that was measured does not depend on positions in levels.
        let is_of_levels = |line: &Line| {
            line.what.contains("mean") && tables.counted_at_ends(&[line.column.as_str()]).is_none()
        };
        let means = match (lines.iter().any(is_of_levels), self.evenly) {
            (false, _) => "",
            (true, true) => "\nA mean assumes that numbers are spread evenly within each level.",
            (true, false) => {
                "\nThe interval of a mean covers all positions of the numbers within their levels."
            }
        };
        print(&format!("{}\n\n{of}{means}", shown(lines, confidence)))
    }
}
