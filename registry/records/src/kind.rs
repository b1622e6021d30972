//! Kinds of columns, such as numbers or levels, and the meaning of a cell in each kind.

use crate::Cell;
use crate::number::{Quantity, SIGNS};
use jiff::civil::Date;
use scumble_core::number::short;
use scumble_core::{first_duplicate, shown};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Largest absolute value of a bound. It leaves room for noise that moves a value by many times the distance
/// between the bounds.
pub(crate) const LARGEST_BOUND: f64 = 1e100;

/// Largest whole number up to which all whole numbers are exact in floating point.
const LARGEST_WHOLE: i64 = 1 << 53;

/// Kind of values in a column.
///
/// | kind | encoded record | released value |
/// |---|---|---|
/// | real | one coordinate in [0, 1], scaled by the bounds | as the mechanism released it |
/// | integer, date | one coordinate in [0, 1], scaled by the bounds | rounded, and clamped to the bounds |
/// | ordered | one coordinate: rank / last rank; one-hot as a target | the level of nearest rank |
/// | category, boolean | one-hot | a level |
///
/// Rounding and clamping are post-processing, so the privacy guarantee of the mechanism still holds.
/// [`Values`](crate::Values) selects the kinds that are rounded and clamped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kind {
    /// A real number.
    Real {
        /// Lower bound. [`OutOfBounds`](crate::OutOfBounds) decides the treatment of smaller values.
        lower: f64,
        /// Upper bound. [`OutOfBounds`](crate::OutOfBounds) decides the treatment of larger values.
        upper: f64,
        /// Unit of measurement. A cell may contain it, as in `$5` or `5 kg`.
        #[serde(default)]
        unit: String,
    },
    /// A whole number.
    Integer {
        /// Lower bound, treated like the lower bound of [`Real`](Kind::Real).
        #[serde(deserialize_with = "whole")]
        lower: i64,
        /// Upper bound, treated like the upper bound of [`Real`](Kind::Real).
        #[serde(deserialize_with = "whole")]
        upper: i64,
        /// Unit of measurement. A cell may contain it, as in `$5` or `5 kg`.
        #[serde(default)]
        unit: String,
    },
    /// A calendar day.
    Date {
        /// First day within the bounds, for example `lower = "2020-01-01"`.
        lower: Date,
        /// Last day within the bounds.
        upper: Date,
        /// Date format in the file, in `strftime` notation: `format = "%d.%m.%Y"`. The default is ISO 8601,
        /// as in `2020-01-31`.
        #[serde(default = "iso", skip_serializing_if = "is_iso")]
        format: String,
    },
    /// True (`true`, `yes`, `y`, `t`, `1`) or false (`false`, `no`, `n`, `f`, `0`), in any letter case.
    Boolean {},
    /// One of several levels in increasing order.
    Ordered {
        /// Levels in increasing order, spelled as in the file.
        levels: Vec<String>,
    },
    /// One of several levels without an order.
    Category {
        /// Levels, spelled as in the file.
        levels: Vec<String>,
    },
}

/// Form of a column in an encoded record.
pub(crate) enum Form<'k> {
    /// One coordinate: (x − `lower`) / (`upper` − `lower`) for the number x in the cell.
    Number { lower: f64, upper: f64 },
    /// One coordinate per level.
    Levels(&'k [String]),
}

pub(crate) const ISO: &str = "%Y-%m-%d";

fn iso() -> String {
    ISO.into()
}

fn is_iso(format: &str) -> bool {
    format == ISO
}

static BOOLEAN: LazyLock<[String; 2]> = LazyLock::new(|| ["false".into(), "true".into()]);

/// Deserializes a whole number, written as `8` or `8.0`.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a bound of integers must be a number")]
    enum Written {
        Whole(i64),
        Real(f64),
    }
    let (number, written) = match Written::deserialize(deserializer)? {
        Written::Whole(number) => (number as f64, number.to_string()),
        Written::Real(number) => (number, number.to_string()),
    };
    match number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE as f64 {
        true => Ok(number as i64),
        false => Err(serde::de::Error::custom(format!(
            "the bound {written} of integers must be a whole number between -{LARGEST_WHOLE} and \
             {LARGEST_WHOLE}"
        ))),
    }
}

/// Returns the index of the only level that is the same number as `text`, if all levels are numbers. Larger
/// numbers are not compared, because floating point does not tell them apart.
fn level_of_number(levels: &[String], text: &str) -> Option<usize> {
    let number: f64 = text.parse().ok().filter(|number: &f64| number.abs() < LARGEST_WHOLE as f64)?;
    let levels: Vec<f64> = levels.iter().map(|level| level.parse().ok()).collect::<Option<_>>()?;
    let mut equal = levels.iter().enumerate().filter(|(_, level)| **level == number);
    let (first, _) = equal.next()?;
    equal.next().is_none().then_some(first)
}

/// Converts a cell to a number in `unit`. A text may contain the unit. `Err` is a phrase such as "is not a
/// number".
#[inline]
fn number_in(unit: &str, cell: Cell) -> Result<f64, &'static str> {
    match Quantity::from_cell(cell) {
        Some(quantity) if quantity.unit.is_empty() || quantity.unit == unit => Ok(quantity.number),
        Some(Quantity { unit, .. }) if SIGNS.contains(&unit) => {
            Err("has a sign other than the column's; declare it as the `unit` of the column")
        }
        _ => Err("is not a number"),
    }
}

/// Days since 1970-01-01.
fn days(date: Date) -> f64 {
    f64::from(date.since(EPOCH).map_or(0, |span| span.get_days()))
}

pub(crate) const EPOCH: Date = jiff::civil::date(1970, 1, 1);

/// Returns the date `days` days after 1970-01-01.
fn date_of(days: f64) -> Option<Date> {
    EPOCH.checked_add(jiff::Span::new().try_days(days as i64).ok()?).ok()
}

/// Parses a date by `format`. With the ISO format, a time of day after the date is ignored.
pub(crate) fn parse_date(text: &str, format: &str) -> Option<Date> {
    let text = match format == ISO {
        true => text.split_once(['T', ' ']).map_or(text, |(date, _)| date),
        false => text,
    };
    Date::strptime(format, text).ok()
}

/// Parses a boolean.
pub(crate) fn flag(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match () {
        () if is(&["true", "yes", "y", "t", "1"]) => Some(true),
        () if is(&["false", "no", "n", "f", "0"]) => Some(false),
        () => None,
    }
}

impl Kind {
    /// Unit of the numbers of dates.
    pub const DAYS: &'static str = "days since 1970-01-01";

    /// Kind of a real number between `lower` and `upper`, without a unit.
    pub(crate) fn real(lower: f64, upper: f64) -> Self {
        Self::Real { lower, upper, unit: String::new() }
    }

    #[inline]
    pub(crate) fn form(&self, is_target: bool) -> Form<'_> {
        match (self, self.levels()) {
            (Self::Ordered { levels }, _) if !is_target => {
                Form::Number { lower: 0.0, upper: (levels.len() - 1) as f64 }
            }
            (_, Some(levels)) => Form::Levels(levels),
            (_, None) => {
                let (lower, upper) = self.bounds();
                Form::Number { lower, upper }
            }
        }
    }

    /// Levels of the kind; `None` for numbers and dates.
    pub fn levels(&self) -> Option<&[String]> {
        match self {
            Self::Category { levels } | Self::Ordered { levels } => Some(levels),
            Self::Boolean {} => Some(&BOOLEAN[..]),
            Self::Real { .. } | Self::Integer { .. } | Self::Date { .. } => None,
        }
    }

    /// Returns the nearest date to a number of [`DAYS`](Self::DAYS), in the form 2020-12-31.
    pub fn date(days: f64) -> Option<String> {
        date_of(days.round()).map(|date| date.to_string())
    }

    /// Unit of measurement; empty for kinds that have none.
    pub(crate) fn unit(&self) -> &str {
        match self {
            Self::Real { unit, .. } | Self::Integer { unit, .. } => unit,
            _ => "",
        }
    }

    /// Distance between the bounds in the kind's own unit (days for a date); 1 for kinds with levels.
    pub fn width(&self) -> f64 {
        let (lower, upper) = self.bounds();
        upper - lower
    }

    /// Bounds as numbers: days since 1970-01-01 for a date, 0 and 1 for kinds with levels.
    fn bounds(&self) -> (f64, f64) {
        match self {
            Self::Real { lower, upper, .. } => (*lower, *upper),
            Self::Integer { lower, upper, .. } => (*lower as f64, *upper as f64),
            Self::Date { lower, upper, .. } => (days(*lower), days(*upper)),
            Self::Boolean {} | Self::Ordered { .. } | Self::Category { .. } => (0.0, 1.0),
        }
    }

    /// Cells that a storage type must be able to hold: both bounds, or every level.
    pub(crate) fn extremes(&self) -> Vec<Cell<'_>> {
        match self {
            Self::Real { lower, upper, .. } => vec![Cell::Number(*lower), Cell::Number(*upper)],
            Self::Integer { lower, upper, .. } => vec![Cell::Whole(*lower), Cell::Whole(*upper)],
            Self::Date { lower, upper, format } => {
                [lower, upper].map(|date| Cell::Date { date: *date, format }).to_vec()
            }
            Self::Boolean {} => vec![Cell::Flag(false), Cell::Flag(true)],
            Self::Ordered { levels } | Self::Category { levels } => {
                levels.iter().map(|level| Cell::Text(level)).collect()
            }
        }
    }

    /// Lower bound as a number, and its unit. A date counts days since 1970-01-01.
    pub fn offset_and_unit(&self) -> (f64, String) {
        let unit = match self {
            Self::Real { unit, .. } | Self::Integer { unit, .. } => unit.clone(),
            Self::Date { .. } => Self::DAYS.into(),
            Self::Boolean {} | Self::Ordered { .. } | Self::Category { .. } => String::new(),
        };
        (self.bounds().0, unit)
    }

    /// Bounds for display; `None` for kinds with levels.
    pub(crate) fn shown_bounds(&self) -> Option<[String; 2]> {
        match self {
            Self::Real { lower, upper, .. } => Some([lower.to_string(), upper.to_string()]),
            Self::Integer { lower, upper, .. } => Some([lower.to_string(), upper.to_string()]),
            Self::Date { lower, upper, .. } => Some([lower.to_string(), upper.to_string()]),
            Self::Boolean {} | Self::Ordered { .. } | Self::Category { .. } => None,
        }
    }

    /// Number of values of an integer, a date or an ordered kind; `None` for other kinds.
    pub(crate) fn whole_values(&self) -> Option<usize> {
        match self {
            Self::Integer { .. } | Self::Date { .. } => Some(self.width() as usize + 1),
            Self::Ordered { levels } => Some(levels.len()),
            Self::Real { .. } | Self::Boolean {} | Self::Category { .. } => None,
        }
    }

    /// Returns the index of the level in `cell`. If all levels are numbers, `1.0` is the level `1`.
    pub(crate) fn level(&self, cell: Cell) -> Option<usize> {
        let text = cell.text();
        match self {
            Self::Boolean {} => flag(&text).map(usize::from),
            _ => {
                let levels = self.levels()?;
                levels.iter().position(|level| *level == text).or_else(|| level_of_number(levels, &text))
            }
        }
    }

    /// Converts a cell to a number: a rank for ordered levels, days for a date. `Err` is a phrase such as "is
    /// not a number".
    #[inline]
    pub(crate) fn number(&self, cell: Cell) -> Result<f64, &'static str> {
        match self {
            Self::Integer { unit, .. } => match number_in(unit, cell) {
                Ok(number) if number.is_finite() && number.fract() != 0.0 => Err("is not a whole number"),
                Err("is not a number") => Err("is not a whole number"),
                number => number,
            },
            Self::Real { unit, .. } => number_in(unit, cell),
            Self::Date { format, .. } => {
                let text = cell.text();
                let date = parse_date(&text, format).or_else(|| parse_date(&text, ISO));
                date.map(days).ok_or("is not a date in the format of the column")
            }
            Self::Ordered { .. } => {
                self.level(cell).map(|rank| rank as f64).ok_or("is not a level of the column")
            }
            _ => cell.number().ok_or("is not a number"),
        }
    }

    /// Returns whether the text of a number has a unit or separators of thousands, or that of a date has a
    /// time.
    pub(crate) fn is_annotated(&self, cell: Cell) -> bool {
        match self {
            Self::Real { .. } | Self::Integer { .. } => {
                matches!(cell, Cell::Text(text) if text.parse::<f64>().is_err())
            }
            Self::Date { format, .. } => {
                let text = cell.text();
                Date::strptime(format, &*text).or_else(|_| Date::strptime(ISO, &*text)).is_err()
            }
            _ => false,
        }
    }

    /// Returns the value of this kind nearest to `number`, which is in the kind's own unit.
    pub(crate) fn settled(&self, number: f64) -> Cell<'_> {
        let (lower, upper) = match self.form(false) {
            Form::Number { lower, upper } => (lower, upper),
            Form::Levels(levels) => (0.0, (levels.len() - 1) as f64),
        };
        let within = number.clamp(lower, upper);
        match self {
            Self::Real { .. } => Cell::Number(within),
            Self::Integer { .. } => Cell::Number(within.round()),
            Self::Date { format, .. } => match date_of(within.round()) {
                Some(date) => Cell::Date { date, format },
                None => Cell::Number(within.round()),
            },
            // A cast of NaN gives 0.
            Self::Boolean {} | Self::Ordered { .. } | Self::Category { .. } => {
                self.levels().map_or(Cell::Null, |levels| Cell::Text(&levels[within.round() as usize]))
            }
        }
    }

    /// Describes the expected content of a cell, for errors. The bounds are included if `is_bounded`.
    pub(crate) fn expected_content(&self, is_bounded: bool) -> String {
        let unit_suffix = |unit: &str| if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let what = match self {
            Self::Real { .. } => "a number",
            Self::Integer { .. } => "a whole number",
            Self::Date { .. } => "a date",
            Self::Boolean {} => return "true or false is needed".into(),
            Self::Ordered { levels } | Self::Category { levels } => {
                return format!("the schema has {}", scumble_core::text::abridged(&levels.join(", "), 60));
            }
        };
        let format = match self {
            Self::Date { format, .. } if !is_iso(format) => format!(", written as {format}"),
            _ => String::new(),
        };
        match (self, self.shown_bounds().filter(|_| is_bounded)) {
            (Self::Real { unit, .. } | Self::Integer { unit, .. }, Some([lower, upper])) => {
                format!("{what} between {lower} and {upper}{} is needed", unit_suffix(unit))
            }
            (_, Some([lower, upper])) => format!("{what} between {lower} and {upper}{format} is needed"),
            (_, None) => format!("{what}{format} is needed"),
        }
    }

    /// Texts of the kind that are displayed: its unit, date format or levels.
    pub(crate) fn texts(&self) -> &[String] {
        match self {
            Self::Real { unit, .. } | Self::Integer { unit, .. } => std::slice::from_ref(unit),
            Self::Date { format, .. } => std::slice::from_ref(format),
            Self::Boolean {} => &[],
            Self::Ordered { levels } | Self::Category { levels } => levels,
        }
    }

    /// Describes the problem with the bounds or levels, if there is one.
    pub(crate) fn misfit(&self) -> Option<String> {
        match self {
            Self::Real { lower, upper, .. } => {
                let fits = |bound: f64| bound.abs() <= LARGEST_BOUND;
                (!(lower < upper && fits(*lower) && fits(*upper))).then(|| {
                    format!(
                        "the bounds {} and {} must be finite (at most {LARGEST_BOUND:e}), and the lower \
                         bound must be smaller",
                        short(*lower),
                        short(*upper)
                    )
                })
            }
            Self::Integer { lower, upper, .. } => {
                let fits = |bound: i64| bound.unsigned_abs() <= LARGEST_WHOLE as u64;
                (!(lower < upper && fits(*lower) && fits(*upper))).then(|| {
                    format!(
                        "the bounds {lower} and {upper} must be at most 2^53, and the lower bound must be \
                         smaller"
                    )
                })
            }
            Self::Date { lower, upper, format } => {
                if lower >= upper {
                    return Some(format!("the first day {lower} must be before the last day {upper}"));
                }
                let written = jiff::fmt::strtime::format(format, *upper).ok();
                let is_read = written.is_some_and(|text| parse_date(&text, format) == Some(*upper));
                (!is_read).then(|| {
                    format!("the format {format:?} must write a day, month and year that it can read again")
                })
            }
            Self::Boolean {} => None,
            Self::Ordered { levels } | Self::Category { levels } => {
                if levels.len() < 2 {
                    let what = if matches!(self, Self::Ordered { .. }) { "an order" } else { "a category" };
                    return Some(format!("{what} needs two levels or more"));
                }
                if let Some(level) = levels.iter().find(|level| level.trim() != *level) {
                    return Some(format!(
                        "the level {level:?} begins or ends with a space, and cells are read without \
                         surrounding spaces"
                    ));
                }
                first_duplicate(levels).map(|level| format!("the level {level:?} occurs twice"))
            }
        }
    }
}

/// Displays the bounds with their unit, or the levels.
impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real { lower, upper, unit } => {
                write!(formatter, "from {} to {} {}", short(*lower), short(*upper), shown(unit))
            }
            Self::Integer { lower, upper, unit } => {
                let unit =
                    if unit.is_empty() { Cow::default() } else { Cow::from(format!(" {}", shown(unit))) };
                write!(formatter, "from {lower} to {upper}{unit}, whole")
            }
            Self::Date { lower, upper, .. } => write!(formatter, "from {lower} to {upper}"),
            Self::Boolean {} => formatter.write_str("true or false"),
            Self::Ordered { levels } => write!(formatter, "in order {}", shown(&levels.join(", "))),
            Self::Category { levels } => write!(formatter, "one of {}", shown(&levels.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(toml: &str) -> Kind {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn what_was_drawn_becomes_the_nearest_value_of_its_kind() {
        let age = kind("kind = \"integer\"\nlower = 0\nupper = 90.0");
        let day =
            kind("kind = \"date\"\nlower = \"2020-01-01\"\nupper = \"2020-12-31\"\nformat = \"%d.%m.%Y\"");
        let pain = kind("kind = \"ordered\"\nlevels = [\"none\", \"some\", \"much\"]");
        let first = days(jiff::civil::date(2020, 1, 1));
        for (kind, drawn, expected) in [
            (&age, -5.21, "0"),
            (&age, 41.5, "42"),
            (&age, 1e9, "90"),
            (&day, first - 40.0, "01.01.2020"),
            (&day, first + 58.6, "29.02.2020"),
            (&day, first + 1e6, "31.12.2020"),
            (&pain, -3.0, "none"),
            (&pain, 1.4, "some"),
            (&pain, f64::INFINITY, "much"),
        ] {
            assert_eq!(kind.settled(drawn).text(), expected, "{kind}, {drawn}");
        }
    }

    #[test]
    fn cells_are_read_by_their_kind() {
        let age = kind("kind = \"integer\"\nlower = 0\nupper = 90");
        assert_eq!(age.number(Cell::Text("41.0")), Ok(41.0));
        assert_eq!(age.number(Cell::Text("41.5")), Err("is not a whole number"));
        let price = kind("kind = \"real\"\nlower = 0\nupper = 90\nunit = \"$\"");
        assert_eq!(price.number(Cell::Text("$1,234.50")), Ok(1234.5));
        assert_eq!(price.number(Cell::Text("-1 234")), Ok(-1234.0));
        assert_eq!(price.number(Cell::Text("1,23")), Err("is not a number"));
        let other = "has a sign other than the column's; declare it as the `unit` of the column";
        assert_eq!(price.number(Cell::Text("5 %")), Err(other));
        assert_eq!(age.number(Cell::Text("$5")), Err(other));
        assert_eq!(age.number(Cell::Text("1,000")), Ok(1000.0));
        let day = kind("kind = \"date\"\nlower = \"1969-12-01\"\nupper = \"2020-12-31\"");
        assert_eq!(day.number(Cell::Text("1970-01-02T09:30:00")), Ok(1.0));
        assert_eq!(day.number(Cell::Text("1969-12-31")), Ok(-1.0));
        assert_eq!(day.number(Cell::Text("31.12.1969")), Err("is not a date in the format of the column"));
        let smokes = kind("kind = \"boolean\"");
        for (text, expected) in [("YES", Some(1)), ("0", Some(0)), ("f", Some(0)), ("perhaps", None)] {
            assert_eq!(smokes.level(Cell::Text(text)), expected, "{text}");
        }
        assert_eq!(smokes.level(Cell::Flag(true)), Some(1));
    }

    /// A level that is a number is found in any spelling, unless two levels or large ids could be meant.
    #[test]
    fn levels_that_are_numbers_are_compared_as_numbers() {
        let levels = |levels: &[&str]| Kind::Category {
            levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        };
        for (kind, text, expected) in [
            (levels(&["1", "2"]), "2.0", Some(1)),
            (levels(&["1", "2"]), "02", Some(1)),
            (levels(&["1.0", "2.0"]), "1", Some(0)),
            (levels(&["1", "2"]), "3", None),
            (levels(&["1", "1.0"]), "1.0", Some(1)),
            (levels(&["1", "1.0"]), "1.00", None),
            (levels(&["1", "none"]), "1.0", None),
            (levels(&["9007199254740992", "2"]), "9007199254740993", None),
        ] {
            assert_eq!(kind.level(Cell::Text(text)), expected, "{text} in {kind}");
        }
        assert_eq!(levels(&["1.0", "2.0"]).level(Cell::Whole(2)), Some(1));
    }

    #[test]
    fn what_is_no_kind_is_refused_in_one_line() {
        for (toml, expected) in [
            ("kind = \"integer\"\nlower = 5\nupper = 5", "and the lower bound must be smaller"),
            (
                "kind = \"date\"\nlower = \"2021-01-01\"\nupper = \"2020-01-01\"",
                "must be before the last day",
            ),
            (
                "kind = \"date\"\nlower = \"2020-01-01\"\nupper = \"2021-01-01\"\nformat = \"%d.%m.\"",
                "must write a day, month and year",
            ),
            ("kind = \"ordered\"\nlevels = [\"a\"]", "an order needs two levels or more"),
            ("kind = \"ordered\"\nlevels = [\"a\", \"a\"]", "occurs twice"),
        ] {
            let problem = kind(toml).misfit().unwrap();
            assert!(problem.contains(expected) && !problem.contains('\n'), "{problem}");
        }
        for bound in ["0.5", "-9223372036854775807"] {
            let kind = toml::from_str::<Kind>(&format!("kind = \"integer\"\nlower = {bound}\nupper = 5"));
            let problem = kind.unwrap_err().message().to_owned();
            let expected =
                format!("the bound {bound} of integers must be a whole number between -9007199254740992");
            assert!(problem.starts_with(&expected), "{problem}");
        }
    }
}
