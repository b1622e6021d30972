//! Levels of counted tables, in the values of a schema.

use crate::scale::{Decoded, Scale};
use crate::{Column, Kind, Result, Schema};
use scumble_core::levels::CountedLevel;

/// Values of a column that a table counts as one level.
#[derive(Debug, Clone, PartialEq)]
pub enum CountedValues {
    /// Numbers in these ranges, each with its two ends, in the unit of the column; days since 1970-01-01 for
    /// a date. Of whole numbers, both ends belong to the range.
    Numbers(Vec<[f64; 2]>),
    /// These labels; none for missing cells.
    Labels(Vec<String>),
    /// A bound of the column, in its unit (see [`CountedLevel::End`]).
    End(f64),
}

impl Schema {
    /// Returns the values of a counted `level` of the column `name`, for encoded records with `target` as the
    /// column to learn.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) if the schema lacks the column;
    /// [`Error::Schema`](crate::Error::Schema) for a bound of a column that is not scaled by its bounds
    /// alone.
    pub fn counted_values(
        &self,
        name: &str,
        target: Option<&str>,
        level: &CountedLevel,
    ) -> Result<CountedValues> {
        let column = self.column(name)?;
        let labels = column.kind.levels().unwrap_or_default();
        if let CountedLevel::End(end) = level {
            let is_scaled = Some(name) == target || column.is_scaled_by_bounds();
            return match self.scale(column, target).0.filter(|_| is_scaled).map(|scale| scale.decode(*end)) {
                Some(Decoded::Number(number)) => Ok(CountedValues::End(number)),
                _ => Err(crate::Error::Schema {
                    file: self.source().into(),
                    problem: format!(
                        "the mean of {name:?} cannot be measured, because its numbers are not scaled by \
                         their bounds alone; omit its `scale`, `edges`, `zero`, `not_before` and `missing = \
                         \"apart\"`"
                    ),
                }),
            };
        }
        let ranges = match (level, self.scale(column, target).0) {
            (CountedLevel::Numbers(ranges), Some(scale)) => values(&scale, column, ranges),
            (CountedLevel::Levels(levels), _) => {
                let label = |at: &usize| labels.get(*at).cloned();
                return Ok(CountedValues::Labels(levels.iter().filter_map(label).collect()));
            }
            (CountedLevel::Numbers(_), None) | (CountedLevel::End(_), _) => vec![],
        };
        Ok(match &column.kind {
            // The numbers of ordered levels are their ranks.
            Kind::Ordered { levels } => {
                let of =
                    |[from, to]: &[f64; 2]| levels.iter().skip(*from as usize).take((to - from) as usize + 1);
                CountedValues::Labels(ranges.iter().flat_map(of).cloned().collect())
            }
            _ if ranges.is_empty() => CountedValues::Labels(vec![]),
            _ => CountedValues::Numbers(ranges),
        })
    }

    /// Unit of the numbers of a counted column.
    ///
    /// # Errors
    /// Same errors as [`counted_values`](Self::counted_values).
    pub fn counted_unit(&self, name: &str, target: Option<&str>) -> Result<String> {
        let column = self.column(name)?;
        let unit = column.kind.offset_and_unit().1;
        Ok(match self.scale(column, target).1 {
            Some(base) if matches!(column.kind, Kind::Date { .. }) => format!("days after {:?}", base.name),
            Some(base) => format!("{unit} above {:?}", base.name).trim_start().to_owned(),
            None => unit,
        })
    }
}

/// Numbers of `column` in each range of coordinates. Whole numbers are moved to the ends of a range that they
/// belong to; a range without a whole number becomes its middle.
fn values(scale: &Scale, column: &Column, ranges: &[[f64; 2]]) -> Vec<[f64; 2]> {
    // Coordinates of whole numbers are rounded.
    const ROUNDING: f64 = 1e-9;
    let is_whole = !matches!(column.kind, Kind::Real { .. });
    let (_, upper) = scale.bounds();
    let whole = |[from, to]: [f64; 2]| {
        let slack = ROUNDING * (to - from);
        let last = if to >= upper - slack { (to + slack).floor() } else { (to - slack).ceil() - 1.0 };
        // Zeros with a level for themselves do not belong to the range above it.
        let is_above_zero = scale.keeps_zero() && from.abs() <= slack && from < to;
        // The sum with zero writes a negative zero as zero.
        let first = if is_above_zero { 1.0 } else { 0.0 + (from - slack).ceil() };
        if first <= last { [first, last] } else { [from + (to - from) / 2.0; 2] }
    };
    let ends = ranges.iter().filter_map(|range| scale.ends(*range));
    ends.map(|ends| if is_whole { whole(ends) } else { ends }).collect()
}
