//! Questions to noisy tables, and their answers: one line for each estimate.

use crate::{Counted, Error, Level, NoisyTables, Result, Settings, TableColumn};
use scumble_core::Estimate;
use serde_json::{Value, json};

/// Question about the people in noisy tables.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Columns to estimate; all counted columns if it is empty.
    pub columns: Vec<String>,
    /// Column whose levels are groups of people. The estimates are of each group.
    pub by: Option<String>,
    /// Level of the column `by` with which the other groups are compared: differences of means and of shares,
    /// and odds ratios.
    pub against: Option<String>,
    /// Orders of quantiles. If it is empty, the median is estimated.
    pub quantiles: Vec<f64>,
    /// True for numbers of people in place of shares and means.
    pub counts: bool,
    /// Settings of the intervals.
    pub settings: Settings,
}

/// An estimate, with what it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Column of the estimate.
    pub column: String,
    /// The people whom the estimate is of, if it is of a group.
    pub group: Option<String>,
    /// Estimated quantity: a level, `mean`, or a quantile.
    pub what: String,
    /// The estimate with its interval.
    pub estimate: Estimate,
    /// Unit of the estimate; empty if it has none.
    pub unit: String,
}

impl Line {
    /// The line as JSON.
    pub fn to_json(&self) -> Value {
        let Estimate { value, standard_error, lower, upper } = self.estimate;
        let mut line = json!({
            "column": self.column,
            "of": self.what,
            "value": value,
            "standard_error": standard_error,
            "lower": lower,
            "upper": upper,
            "unit": self.unit,
        });
        if let Some(group) = &self.group {
            line["group"] = json!(group);
        }
        line
    }
}

/// Answers to a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// Estimates.
    pub lines: Vec<Line>,
    /// Estimates that the tables do not give, in words.
    pub problems: Vec<String>,
}

impl NoisyTables {
    /// Answers a question.
    ///
    /// # Errors
    /// [`Error::Column`] and [`Error::Together`] for columns that were not counted, or not together;
    /// [`Error::Level`] for a level that the column does not have; [`Error::Probability`] for a confidence or
    /// an order out of range.
    pub fn answer(&self, question: &Question) -> Result<Answers> {
        let by = question.by.as_deref();
        let all = || self.columns().into_iter().filter(|name| Some(*name) != by).map(str::to_owned).collect();
        let columns: Vec<String> = if question.columns.is_empty() { all() } else { question.columns.clone() };
        let mut answers = Answers::default();
        for column in &columns {
            let names: Vec<&str> = std::iter::once(column.as_str()).chain(by).collect();
            let counted = match self.counted(&names) {
                Ok(counted) => counted,
                // Without a choice of columns, only those that were counted with the groups are of interest.
                Err(Error::Together { .. }) if question.columns.is_empty() => continue,
                Err(problem) => return Err(problem),
            };
            let at_ends = self.counted_at_ends(&names);
            let of_column = OfColumn {
                question,
                counted: &counted,
                at_ends: at_ends.as_ref(),
                lines: vec![],
                problems: vec![],
            };
            let (lines, problems) = of_column.estimated()?;
            answers.lines.extend(lines);
            answers.problems.extend(problems.into_iter().map(|problem| format!("{column:?}: {problem}")));
        }
        Ok(answers)
    }
}

/// Estimates of one column, and the problems of those that the tables do not give.
struct OfColumn<'t> {
    question: &'t Question,
    counted: &'t Counted,
    /// The same people, counted at the ends of the column, if a mean was measured.
    at_ends: Option<&'t Counted>,
    lines: Vec<Line>,
    problems: Vec<Error>,
}

impl<'t> OfColumn<'t> {
    /// Estimates of all groups, and of their differences.
    fn estimated(mut self) -> Result<(Vec<Line>, Vec<Error>)> {
        let groups: Vec<Option<usize>> = match self.counted.columns().get(1) {
            Some(by) => (0..by.levels.len()).map(Some).collect(),
            None => vec![None],
        };
        for group in &groups {
            self.of_group(*group)?;
        }
        if let Some(against) = &self.question.against {
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

    /// Returns whether only the mean of the column was measured.
    fn is_at_ends(&self) -> bool {
        self.column().levels.iter().any(Level::is_end)
    }

    fn has_numbers(&self) -> bool {
        self.column().levels.iter().any(|level| !matches!(level, Level::Labels(_)))
    }

    fn of_group(&mut self, level: Option<usize>) -> Result<()> {
        let (settings, column) = (self.question.settings, self.column());
        let group = level.map(|level| (1, level));
        let name = level.map(|level| self.counted.columns()[1].levels[level].name());
        if self.has_numbers() && !self.question.counts {
            let mean = self.at_ends.unwrap_or(self.counted).mean(0, group, settings);
            self.keep(&name, "mean".into(), &column.unit, 1.0, mean)?;
            let median = [0.5];
            let orders = match &self.question.quantiles[..] {
                [] if self.is_at_ends() => &[],
                [] => &median[..],
                orders => orders,
            };
            for order in orders {
                let what = if *order == 0.5 { "median".into() } else { format!("quantile {order}") };
                let quantile = self.counted.quantile(0, *order, group, settings);
                self.keep(&name, what, &column.unit, 1.0, quantile)?;
            }
            return Ok(());
        }
        if self.is_at_ends() {
            return Ok(()); // ends have no people of their own
        }
        for (at, level) in column.levels.iter().enumerate() {
            let (unit, scale) = if self.question.counts { ("people", 1.0) } else { ("%", 100.0) };
            let estimate = match self.question.counts {
                true => self.counted.count(&[Some((0, at)), group], settings),
                false => self.counted.share(0, at, group, settings),
            };
            self.keep(&name, level.name(), unit, scale, estimate)?;
        }
        Ok(())
    }

    fn compared(&mut self, level: usize, reference: usize) -> Result<()> {
        let (settings, column) = (self.question.settings, self.column());
        let groups = [(1, level), (1, reference)];
        let [one, other] = groups.map(|(_, level)| self.counted.columns()[1].levels[level].name());
        let less = Some(format!("{one} less {other}"));
        if self.has_numbers() {
            let counted = self.at_ends.unwrap_or(self.counted);
            let difference = counted.difference_of_means(0, groups, settings);
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
        estimate: Result<Estimate>,
    ) -> Result<()> {
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
