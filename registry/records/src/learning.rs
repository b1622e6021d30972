//! Choice between classification and regression, for a target that allows both.

use crate::words::words;
use crate::{Error, Kind, Result, Schema};

words!(
    /// Learning task for a target.
    Learning, "task":
    /// Classification: predict the class of a record.
    Classify = "classify",
    /// Regression: predict the number.
    Regress = "regress"
);

/// Upper bound on the number of classes of an integer target. An integer target with more values between its
/// bounds cannot be classified.
const MOST_CLASSES: usize = 50;

impl Schema {
    /// Returns the schema with `target` as a class or as a number, as `learning` requests. For
    /// classification, an integer column becomes a category with one class per whole number between its
    /// bounds. For regression, a column whose levels are all numbers becomes numeric, with the smallest and
    /// the largest level as bounds. With `None`, the schema stays the same.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the schema lacks the target; [`Error::Schema`] if the target does not
    /// allow the task.
    pub fn for_learning(self, target: &str, learning: Option<Learning>) -> Result<Self> {
        let Some(learning) = learning else { return Ok(self) };
        let column = self.column(target)?;
        let kind = match (learning, &column.kind) {
            (Learning::Classify, kind) if kind.levels().is_some() => kind.clone(),
            (Learning::Classify, Kind::Integer { lower, upper, .. })
                if upper.abs_diff(*lower) < MOST_CLASSES as u64 =>
            {
                Kind::Category { levels: (*lower..=*upper).map(|code| code.to_string()).collect() }
            }
            (Learning::Classify, _) => {
                return Err(self.refused(format!(
                    "column {target:?} cannot be classified: list its classes as levels, or use at most \
                     {MOST_CLASSES} whole numbers"
                )));
            }
            (Learning::Regress, kind) => match kind.levels() {
                None => kind.clone(),
                Some(levels) => numeric_kind(levels).ok_or_else(|| {
                    self.refused(format!("column {target:?} cannot be regressed: its levels are not numbers"))
                })?,
            },
        };
        self.with_kind(target, kind)
    }

    fn refused(&self, problem: String) -> Error {
        Error::Schema { file: self.source().into(), problem }
    }
}

/// Numeric kind with the least and the greatest of `levels` as bounds. `None` if a level is not a number.
fn numeric_kind(levels: &[String]) -> Option<Kind> {
    let numbers: Vec<f64> = levels.iter().map(|level| level.parse().ok()).collect::<Option<_>>()?;
    let lower = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let upper = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(match numbers.iter().all(|number| number.fract() == 0.0 && number.abs() < 1e15) {
        true => Kind::Integer { lower: lower as i64, upper: upper as i64, unit: String::new() },
        false => Kind::real(lower, upper),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_of_codes_is_a_class_or_a_number() {
        let text = "column = [{ name = \"grade\", kind = \"integer\", lower = 3, upper = 5 }, { name = \
            \"code\", kind = \"category\", levels = [\"10\", \"2.5\"] }, { name = \"x\", kind = \"real\", \
            lower = 0, upper = 1 }]";
        let schema = Schema::from_toml(text, "schema.toml").unwrap();
        let learned = |target, learning| {
            schema
                .clone()
                .for_learning(target, Some(learning))
                .map(|schema| schema.column(target).unwrap().kind.to_string())
        };
        assert_eq!(learned("grade", Learning::Classify).unwrap(), "one of 3, 4, 5");
        assert_eq!(learned("grade", Learning::Regress).unwrap(), "from 3 to 5, whole");
        assert_eq!(learned("code", Learning::Classify).unwrap(), "one of 10, 2.5");
        assert_eq!(learned("code", Learning::Regress).unwrap().trim(), "from 2.5 to 10");
        let refused = learned("x", Learning::Classify).unwrap_err().to_string();
        assert!(refused.starts_with("schema.toml: column \"x\" cannot be classified"), "{refused}");
    }
}
