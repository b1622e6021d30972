//! `scumble estimate --tables`: estimates from noisy tables, with intervals that count their noise.

use super::estimated::{Line, shown};
use super::{Failure, complain, print, print_json};
use crate::core::number;
use crate::records::read_text;
use crate::tables::{Counted, Error, Level, NoisyTables, Settings, TableColumn};
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

/// Estimates of one column, and the problems of those that the tables do not give.
struct Lines<'t> {
    arguments: &'t FromTables,
    settings: Settings,
    counted: &'t Counted,
    lines: Vec<Line>,
    problems: Vec<Error>,
}

impl FromTables {
    pub(super) fn estimate(&self, confidence: f64, as_json: bool) -> Result<(), Failure> {
        let Some(file) = &self.tables else { return Err("there is no file of tables".into()) };
        let named = |problem: Error| format!("{}: {problem}", file.display());
        let tables = NoisyTables::from_json(&read_text(file, LONGEST)?).map_err(named)?;
        let settings = Settings { confidence, population: self.population, evenly: self.evenly };
        let by = self.by.as_deref();
        let all =
            || tables.columns().into_iter().filter(|name| Some(*name) != by).map(str::to_owned).collect();
        let columns: Vec<String> = if self.column.is_empty() { all() } else { self.column.clone() };
        let (mut lines, mut problems) = (vec![], vec![]);
        for column in &columns {
            let names: Vec<&str> = std::iter::once(column.as_str()).chain(by).collect();
            let counted = match tables.counted(&names) {
                Ok(counted) => counted,
                // Without a choice of columns, only those that were counted with the groups are of interest.
                Err(Error::Together { .. }) if self.column.is_empty() => continue,
                Err(problem) => return Err(named(problem).into()),
            };
            let counted = &counted;
            let of_column = Lines { arguments: self, settings, counted, lines: vec![], problems: vec![] };
            let (more, found) = of_column.estimated().map_err(named)?;
            lines.extend(more);
            problems.extend(found.into_iter().map(|problem| format!("{column:?}: {problem}")));
        }
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
        let means = match self.evenly {
            true => "A mean assumes that numbers are spread evenly within each level.",
            false => "The interval of a mean covers all positions of the numbers within their levels.",
        };
        print(&format!("{}\n\n{of}\n{means}", shown(lines, confidence)))
    }
}

impl<'t> Lines<'t> {
    /// Estimates of all groups, and of their differences.
    fn estimated(mut self) -> Result<(Vec<Line>, Vec<Error>), Error> {
        let groups: Vec<Option<usize>> = match self.counted.columns().get(1) {
            Some(by) => (0..by.levels.len()).map(Some).collect(),
            None => vec![None],
        };
        for group in &groups {
            self.of_group(*group)?;
        }
        if let Some(against) = &self.arguments.against {
            let reference = self.counted.level(1, against)?;
            for group in groups.into_iter().flatten().filter(|group| *group != reference) {
                self.compared(group, reference)?;
            }
        }
        Ok((self.lines, self.problems))
    }

    fn column(&self) -> &'t TableColumn {
        &self.counted.columns()[0]
    }

    fn has_numbers(&self) -> bool {
        self.column().levels.iter().any(|level| !matches!(level, Level::Labels(_)))
    }

    fn of_group(&mut self, level: Option<usize>) -> Result<(), Error> {
        let (settings, column) = (self.settings, self.column());
        let group = level.map(|level| (1, level));
        let name = level.map(|level| self.counted.columns()[1].levels[level].name());
        if self.has_numbers() && !self.arguments.counts {
            let mean = self.counted.mean(0, group, settings);
            self.keep(&name, "mean".into(), &column.unit, 1.0, mean)?;
            let median = [0.5];
            let orders =
                if self.arguments.quantile.is_empty() { &median[..] } else { &self.arguments.quantile };
            for order in orders {
                let what = if *order == 0.5 { "median".into() } else { format!("quantile {order}") };
                let quantile = self.counted.quantile(0, *order, group, settings);
                self.keep(&name, what, &column.unit, 1.0, quantile)?;
            }
            return Ok(());
        }
        for (at, level) in column.levels.iter().enumerate() {
            let (unit, scale) = if self.arguments.counts { ("people", 1.0) } else { ("%", 100.0) };
            let estimate = match self.arguments.counts {
                true => self.counted.count(&[Some((0, at)), group], settings),
                false => self.counted.share(0, at, group, settings),
            };
            self.keep(&name, level.name(), unit, scale, estimate)?;
        }
        Ok(())
    }

    fn compared(&mut self, level: usize, reference: usize) -> Result<(), Error> {
        let (settings, column) = (self.settings, self.column());
        let groups = [(1, level), (1, reference)];
        let [one, other] = groups.map(|(_, level)| self.counted.columns()[1].levels[level].name());
        let less = Some(format!("{one} less {other}"));
        if self.has_numbers() {
            let difference = self.counted.difference_of_means(0, groups, settings);
            return self.keep(&less, "difference of means".into(), &column.unit, 1.0, difference);
        }
        let odds = Some(format!("{one} against {other}"));
        for (at, level) in column.levels.iter().enumerate() {
            let difference = self.counted.difference_of_shares(0, at, groups, settings);
            self.keep(&less, level.name(), "points", 100.0, difference)?;
            let ratio = self.counted.odds_ratio(0, at, groups, settings);
            self.keep(&odds, format!("odds ratio of {}", level.name()), "", 1.0, ratio)?;
        }
        Ok(())
    }

    /// Keeps an estimate, in a unit `scale` times smaller, or the problem of one that the noise hides.
    ///
    /// # Errors
    /// Any other error of the estimate.
    fn keep(
        &mut self,
        group: &Option<String>,
        what: String,
        unit: &str,
        scale: f64,
        estimate: crate::tables::Result<crate::core::Estimate>,
    ) -> Result<(), Error> {
        match estimate {
            Ok(estimate) => self.lines.push(Line {
                column: self.column().name.clone(),
                group: group.clone(),
                what,
                estimate: estimate.in_unit(0.0, scale),
                unit: unit.into(),
            }),
            Err(problem @ (Error::Hidden { .. } | Error::NoNumbers { .. })) => self.problems.push(problem),
            Err(problem) => return Err(problem),
        }
        Ok(())
    }
}
