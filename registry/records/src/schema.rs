//! Schemas: public knowledge about the columns of a table.

use crate::kind::Form;
use crate::person::PersonColumn;
use crate::scale::{APART, Apart, Decoded, Scale, ScaleShape};
use crate::{Cell, Error, Kind, Result, read_text};
use scumble_core::first_duplicate;
use scumble_core::text::abridged;
use scumble_core::{Brief, Domain, Layout, PARTS, RecordDomain, TargetDomain, TargetLayout, text};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Public knowledge about the columns of a table. Bounds are never learned from private data.
///
/// A real column becomes one coordinate in [0, 1], scaled by its bounds. A category becomes one coordinate
/// per level (one-hot).
///
/// A column with missing cells declares their replacement, which is a number (`missing = 50000.0`) or a
/// level. An empty cell then counts as missing. `missing_cells = ["NA", "?"]` lists the texts of missing
/// cells instead. In a column without a replacement, an empty cell is an error.
///
/// Four fields describe the distribution of a numeric column, for all mechanisms that scale or count numbers:
///
/// - `scale = "log"`: numbers are scaled by their logarithm, which suits incomes and counts.
/// - `edges = [1000, 50000]`: bins end at these numbers and at the bounds, and all bins are scaled to the
///   same width.
/// - `zero = "apart"`: zero has a bin of its own, which suits amounts that most people do not have. The lower
///   bound must be zero.
/// - `missing = "apart"`: missing cells have a bin of their own, and released cells can be missing too.
///
/// With `not_before = "start"`, a number or date is never smaller than the one in the column `start`, which
/// comes earlier in the schema. A record then holds the difference, so released rows keep the order. `scale`,
/// `edges` and `zero` then apply to the difference.
///
/// A target column is always scaled by its bounds alone.
///
/// If people may have several records, one column has `kind = "id"`: equal ids belong to one person. Of each
/// person, at most `records_per_person` records count (1 by default), with the weight of one together. The
/// column is never released.
///
/// With `draft = true` before its columns, a schema is a [draft](crate::draft()). Names, units, levels and
/// missing cells are one line of text without invisible characters ([`is_unseen`](scumble_core::is_unseen)).
///
/// ```
/// use scumble_records::Schema;
///
/// let schema: Schema = Schema::from_toml(
///     r#"
///     [[column]]
///     name = "alcohol"
///     kind = "real"
///     lower = 8.0
///     upper = 15.0
///     unit = "% vol"
///
///     [[column]]
///     name = "quality"
///     kind = "category"
///     levels = ["bad", "good"]
///     "#,
///     "wine.toml",
/// )?;
/// let domain = schema.domain(Some("quality"))?;
/// assert_eq!(domain.columns(), ["alcohol"]);
/// # Ok::<(), scumble_records::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Schema {
    #[serde(skip)]
    source: String,
    /// True for a schema drafted from records. Such a schema is never saved.
    #[serde(skip)]
    is_draft: bool,
    /// Column of the people's ids, if people may have several records.
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<PersonColumn>,
    #[serde(rename = "column")]
    columns: Vec<Column>,
}

/// Schema as saved within a design (a mechanism with its parameters).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    #[serde(default)]
    person: Option<PersonColumn>,
    column: Vec<Column>,
}

impl TryFrom<Saved> for Schema {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let Saved { person, column: columns } = saved;
        let schema = Self { source: "the schema".into(), is_draft: false, person, columns };
        schema.check()?;
        schema.check_text()?;
        Ok(schema)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    #[serde(default)]
    draft: bool,
    column: Vec<toml::Table>,
}

/// One column of a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Column name, as in the file's header.
    pub name: String,
    /// Replacement for missing cells. `None` if no cell may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Texts that mark a missing cell in the file. If the list is empty, an empty cell is missing. A null is
    /// always missing. A number is missing if it equals one of these texts, read as a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_cells: Vec<String>,
    /// Number of equal-width bins between the bounds of a numeric column, for mechanisms that count values.
    /// With `None`, an integer, date or ordered column of at most 16 possible values has one bin per value.
    /// For any other column without `bins`, the mechanism chooses the number of bins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<usize>,
    /// Scale of a numeric column; `None` for a linear scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScaleShape>,
    /// Ends of the bins of a numeric column between its bounds, in ascending order. All bins are scaled to
    /// the same width.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<f64>,
    /// `Some` if zero has a bin of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero: Option<Apart>,
    /// Name of an earlier column whose values are never larger than the values of this column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// Kind of values.
    #[serde(flatten)]
    pub kind: Kind,
}

/// Replacement for a missing cell. The replacement is public, and never the mean of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, from = "AnyMissing")]
pub enum Missing {
    /// A number within the bounds of a numeric column.
    Number(f64),
    /// A level of a category, a date as text, or "apart" for missing numbers and dates that stay missing.
    Level(String),
}

/// Replacement for a missing cell, as written in a schema: also a truth value without quotation marks.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`missing` must be a number within the bounds, or a level")]
enum AnyMissing {
    Flag(bool),
    Number(f64),
    Level(String),
}

impl From<AnyMissing> for Missing {
    fn from(written: AnyMissing) -> Self {
        match written {
            AnyMissing::Flag(flag) => Self::Level(flag.to_string()),
            AnyMissing::Number(number) => Self::Number(number),
            AnyMissing::Level(level) => Self::Level(level),
        }
    }
}

impl Missing {
    /// Returns the replacement as a cell.
    fn as_cell(&self) -> Cell<'_> {
        match self {
            Self::Number(number) => Cell::Number(*number),
            Self::Level(level) => Cell::Text(level),
        }
    }
}

impl Column {
    /// Creates a column without missing cells, with a linear scale, and with bins that the mechanism chooses.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            missing: None,
            missing_cells: vec![],
            bins: None,
            scale: None,
            edges: vec![],
            zero: None,
            not_before: None,
            kind,
        }
    }

    /// Creates the column of a coordinate, whose numbers a file holds without scaling.
    pub fn coordinate(name: &str) -> Self {
        Self::new(name, Kind::real(0.0, 1.0))
    }

    /// Returns whether missing cells stay missing.
    pub(crate) fn keeps_missing(&self) -> bool {
        let is_number = self.kind.levels().is_none();
        is_number && matches!(&self.missing, Some(Missing::Level(level)) if level == APART)
    }

    /// Scale of a number, or of its difference from a number of the column `base`; `None` for a column of
    /// levels.
    fn scale(&self, base: Option<&Self>) -> Option<Scale> {
        let bounds = |column: &Self| match column.kind.form(false) {
            Form::Number { lower, upper } => Some((lower, upper)),
            Form::Levels(_) => None,
        };
        let (mut lower, mut upper) = bounds(self)?;
        if let Some((least, _)) = base.and_then(bounds) {
            (lower, upper) = (0.0, upper - least);
        }
        let linear = Scale::linear(lower, upper);
        let unit = match self.kind {
            _ if lower > 0.0 => lower,
            Kind::Real { .. } => (upper - lower) / 1000.0,
            _ => 1.0,
        };
        let scale = match (self.scale, self.edges.as_slice()) {
            (Some(ScaleShape::Log), _) => linear.with_log(unit),
            (None, []) => linear,
            (None, edges) => linear.with_edges(edges),
        };
        Some(scale.with_apart(self.keeps_missing(), self.zero.is_some(), self.bins().unwrap_or(1)))
    }

    /// Returns whether the encoded number of a feature is (x − lower)/(upper − lower).
    pub fn is_scaled_by_bounds(&self) -> bool {
        self.not_before.is_none() && self.scale(None).is_none_or(|scale| scale.is_linear())
    }

    /// Describes the problem with the scale of the column, if there is one. `base` is the column that this
    /// column is not before.
    fn misfit_of_scale(&self, base: Option<&Self>) -> Option<String> {
        let has_scale = self.scale.is_some() || !self.edges.is_empty() || self.zero.is_some();
        let is_number = matches!(self.kind, Kind::Real { .. } | Kind::Integer { .. }) || base.is_some();
        let (lower, upper) = match (has_scale, is_number) {
            (false, _) => return None,
            (true, true) => self.scale(base)?.bounds(),
            (true, false) => {
                return Some("scale, edges and zero apply only to real numbers and integers".into());
            }
        };
        let is_between = |edge: &f64| lower < *edge && *edge < upper;
        if self.scale.is_some() && !self.edges.is_empty() {
            Some("give either a scale or edges: edges set the scale".into())
        } else if self.bins.is_some() && !self.edges.is_empty() {
            Some("give either bins or edges: edges set the bins".into())
        } else if !self.edges.is_sorted_by(|one, other| one < other) || !self.edges.iter().all(is_between) {
            Some(format!("edges must ascend, and lie between the bounds {lower} and {upper}"))
        } else if self.zero.is_some() && lower != 0.0 {
            Some(format!("zero = \"apart\" needs the lower bound 0, and it is {lower}"))
        } else {
            None
        }
    }

    /// Describes the problem with `not_before`, if there is one. `base` is the column that it names, if the
    /// schema has it before this column.
    fn misfit_of_order(&self, base: Option<&Self>) -> Option<String> {
        let is_date = |column: &Self| matches!(column.kind, Kind::Date { .. });
        let is_number = |column: &Self| is_date(column) || column.kind.levels().is_none();
        let name = self.not_before.as_ref()?;
        match base {
            Some(base) if is_number(base) && is_number(self) && is_date(base) == is_date(self) => None,
            Some(_) => {
                Some(format!("not_before = {name:?} must name a number for a number, and a date for a date"))
            }
            None => Some(format!("not_before = {name:?} must name an earlier column of the schema")),
        }
    }

    /// Returns the cell, or its replacement if the cell is missing.
    #[inline]
    pub(crate) fn present<'a>(&'a self, cell: Cell<'a>) -> Cell<'a> {
        match &self.missing {
            Some(_) if self.is_present(cell) => cell,
            Some(_) if self.keeps_missing() => Cell::Null,
            Some(missing) => missing.as_cell(),
            None => cell,
        }
    }

    /// Returns whether the cell keeps its own value and is not replaced.
    pub(crate) fn is_present(&self, cell: Cell) -> bool {
        self.missing.is_none() || !self.is_missing(cell)
    }

    /// Returns whether the cell is missing, for a column that allows missing cells.
    pub(crate) fn is_missing(&self, cell: Cell) -> bool {
        match cell {
            Cell::Null => true,
            // Typed files of released records mark a missing number by NaN.
            Cell::Number(number) if number.is_nan() && self.keeps_missing() => true,
            Cell::Text(text) if self.missing_cells.is_empty() => text.is_empty(),
            Cell::Text(text) => {
                let is_number = matches!(self.kind, Kind::Real { .. } | Kind::Integer { .. });
                self.missing_cells.iter().any(|missing| missing == text)
                    || (is_number && self.is_missing_number(cell))
            }
            Cell::Flag(_) | Cell::Date { .. } => {
                self.missing_cells.iter().any(|missing| *missing == cell.text())
            }
            Cell::Number(_) | Cell::Whole(_) => self.is_missing_number(cell),
        }
    }

    /// Returns whether the cell is the same number as a text that marks missing cells.
    fn is_missing_number(&self, cell: Cell) -> bool {
        let same = |one: f64, other: f64| one == other || (one.is_nan() && other.is_nan());
        let number = |text| Cell::Text(text).number().zip(cell.number());
        self.missing_cells.iter().any(|text| number(text).is_some_and(|(one, other)| same(one, other)))
    }

    /// Checks that the column's name, missing cells, and unit, date format or levels are visible text.
    ///
    /// # Errors
    /// A sentence about the first text that contains invisible characters or changes how other text displays.
    pub(crate) fn check_text(&self) -> std::result::Result<(), String> {
        let mut texts = std::iter::once(&self.name).chain(&self.missing_cells).chain(self.kind.texts());
        texts.try_for_each(|text| text::check(text))
    }

    /// Describes the problem with the column's bins, if there is one.
    fn misfit_of_bins(&self) -> Option<String> {
        match (self.bins, self.kind.form(false)) {
            (Some(_), Form::Levels(_)) => {
                Some("bins apply only to numbers, and a category has levels".into())
            }
            (Some(bins), Form::Number { .. }) if bins < 2 => {
                Some(format!("bins = {bins} is too few: at least two are needed"))
            }
            _ => None,
        }
    }

    /// Describes the problem with the declaration of missing cells, if there is one.
    fn misfit_of_missing(&self) -> Option<String> {
        let padded = |text: &&String| text.trim() != *text;
        if let Some(cell) = self.missing_cells.iter().find(padded) {
            return Some(format!(
                "the missing cell {cell:?} begins or ends with a space, and cells are read without \
                 surrounding spaces"
            ));
        }
        let Some(missing) = &self.missing else {
            return (!self.missing_cells.is_empty())
                .then(|| "missing_cells are listed, and `missing` gives no replacement for them".into());
        };
        match (missing, &self.kind, self.kind.levels()) {
            _ if self.keeps_missing() => None,
            (Missing::Level(level), _, Some(levels)) => match levels.contains(level) {
                true => self
                    .missing_cells
                    .iter()
                    .find(|cell| levels.contains(cell))
                    .map(|cell| format!("the missing cell {cell:?} is also a level")),
                false => Some(format!("missing = {level:?} must be one of its levels")),
            },
            (Missing::Number(number), _, Some(_)) => {
                Some(format!("missing = {number} must be one of its levels, in quotation marks"))
            }
            (Missing::Number(number), Kind::Date { .. }, None) => {
                Some(format!("missing = {number} must be a date in quotation marks"))
            }
            (Missing::Level(level), Kind::Real { .. } | Kind::Integer { .. }, None) => {
                Some(format!("missing = {level:?} must be a number within the bounds, or \"apart\""))
            }
            (missing, kind, None) => {
                let text = missing.as_cell().text().into_owned();
                let [lower, upper] = kind.shown_bounds().unwrap_or_default();
                match (kind.number(missing.as_cell()), kind.form(false)) {
                    (Err(problem), _) => Some(format!("missing = {text} {problem}")),
                    (Ok(number), Form::Number { lower: least, upper: most })
                        if !(least..=most).contains(&number) =>
                    {
                        Some(format!("missing = {text} must lie within the bounds {lower} and {upper}"))
                    }
                    _ => None,
                }
            }
        }
    }

    /// Number of bins: the declared number, or one bin per value for an integer, date or ordered column of at
    /// most 16 possible values. Missing cells and zeros that are kept apart add a bin each, to 16 bins if
    /// none are declared. `None` for other columns.
    fn bins(&self) -> Option<usize> {
        const FEW: usize = 16;
        let apart = usize::from(self.keeps_missing()) + usize::from(self.zero.is_some());
        let declared = self.bins.or((!self.edges.is_empty()).then_some(self.edges.len() + 1));
        let is_linear = self.scale.is_none() && self.not_before.is_none();
        let one_each = || self.kind.whole_values().filter(|values| *values <= FEW && is_linear);
        let bins = declared.or_else(one_each).or((apart > 0).then_some(FEW));
        bins.map(|bins| bins + apart)
    }

    /// Names of the column's coordinates in an encoded record: its own name, or one name per level.
    pub(crate) fn coordinates(&self) -> Vec<String> {
        let Self { name, kind, .. } = self;
        match kind.form(false) {
            Form::Number { .. } => vec![name.clone()],
            Form::Levels(levels) => levels.iter().map(|level| format!("{name}={level}")).collect(),
        }
    }
}

impl Schema {
    /// Upper bound on the size of a schema file, in bytes.
    const LONGEST: u64 = 64 << 20;

    /// Parses a schema from TOML text. `source` names the text in errors.
    ///
    /// # Errors
    /// [`Error::Schema`] if the text is not a valid schema. The message names the line of the text or the
    /// column of the schema, if it is known.
    pub fn from_toml(text: &str, source: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Schema { file: source.into(), problem };
        let unchecked: Unchecked = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(String::new(), |span| {
                format!("line {}: ", text[..span.start].matches('\n').count() + 1)
            });
            refuse(format!("{place}{}", error.message().replace('\n', " ")))
        })?;
        let is_id = |column: &toml::Table| column.get("kind").and_then(toml::Value::as_str) == Some("id");
        let (ids, columns): (Vec<_>, Vec<_>) =
            unchecked.column.into_iter().enumerate().partition(|(_, column)| is_id(column));
        let person = match <[_; 1]>::try_from(ids) {
            Ok([(_, mut id)]) => {
                id.remove("kind");
                let person = id.try_into::<PersonColumn>();
                Some(person.map_err(|error| refuse(format!("column of kind \"id\": {}", error.message())))?)
            }
            Err(ids) if ids.is_empty() => None,
            Err(_) => return Err(refuse("two columns have the kind \"id\", and a person has one id".into())),
        };
        let columns = columns.into_iter().map(|(at, column)| {
            let name = match column.get("name").and_then(toml::Value::as_str) {
                Some(name) => format!("column {name:?}"),
                None => format!("[[column]] number {}", at + 1),
            };
            let column = column.try_into();
            column.map_err(|error: toml::de::Error| {
                let mut message = error.message().replace('\n', " ");
                if message.starts_with("unknown field") {
                    // The error lists the fields of the kind.
                    message += "; every column may have `name`, `kind`, `missing`, `missing_cells`, \
                                `bins`, `scale`, `edges`, `zero` and `not_before`";
                }
                refuse(format!("{name}: {message}"))
            })
        });
        let columns = columns.collect::<Result<_>>()?;
        let schema = Self { source: source.into(), is_draft: unchecked.draft, person, columns };
        schema.check()?;
        schema.check_text()?;
        Ok(schema)
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the schema with column `name` changed to `kind`, which must contain every value of the
    /// column's present kind.
    pub(crate) fn with_kind(mut self, name: &str, kind: Kind) -> Result<Self> {
        for column in self.columns.iter_mut().filter(|column| column.name == name && column.kind != kind) {
            // The replacement for a missing cell is a number for numeric kinds and text for kinds with
            // levels.
            column.missing = match (&column.missing, kind.levels()) {
                (Some(missing), Some(_)) => Some(Missing::Level(missing.as_cell().text().into_owned())),
                (Some(missing), None) if column.keeps_missing() => Some(missing.clone()),
                (Some(missing), None) => missing.as_cell().number().map(Missing::Number),
                (None, _) => None,
            };
            column.bins = column.bins.filter(|_| kind.levels().is_none());
            column.kind = kind.clone();
        }
        self.check()?;
        Ok(self)
    }

    /// Returns whether the schema is marked as a [draft](crate::draft()) from records, not yet reviewed.
    pub fn is_draft(&self) -> bool {
        self.is_draft
    }

    /// Returns the schema if it is not a draft. [`Records::new`](crate::Records::new) makes this check, so no
    /// design is saved with a draft.
    ///
    /// # Errors
    /// [`Error::Schema`] if it is a draft.
    pub fn settled(self) -> Result<Self> {
        match self.is_draft {
            true => Err(Error::Schema {
                file: self.source,
                problem: "it is a draft, and bounds taken from the records give no guarantee; enter what is \
                          publicly known of the columns, and delete `draft = true`"
                    .into(),
            }),
            false => Ok(self),
        }
    }

    /// Reads a schema from a TOML file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Unreadable`] if it is longer than 64 MiB; same
    /// errors as [`from_toml`](Self::from_toml).
    pub fn read(file: &Path) -> Result<Self> {
        Self::from_toml(&read_text(file, Self::LONGEST)?, &file.display().to_string())
    }

    /// Returns the schema without the declarations of missing cells, for released data. A released number may
    /// equal the mark of a missing cell by chance. Missing cells that stay missing are empty in released
    /// data.
    pub fn without_missing(&self) -> Self {
        let whole = |column: &Column| Column {
            missing: column.missing.clone().filter(|_| column.keeps_missing()),
            missing_cells: vec![],
            ..column.clone()
        };
        Self { columns: self.columns.iter().map(whole).collect(), ..self.clone() }
    }

    /// Builds a schema of numeric columns with bounds 0 and 1, so that scaling leaves numbers unchanged. It
    /// is for readers that [keep](crate::OutOfBounds::Keep) numbers outside the bounds.
    ///
    /// # Errors
    /// [`Error::Schema`] if `columns` is empty or contains a name twice.
    pub fn from_numeric_columns(columns: &[String]) -> Result<Self> {
        let columns = columns.iter().map(|name| Column::coordinate(name)).collect();
        let schema = Self { source: "the columns".into(), is_draft: false, person: None, columns };
        schema.check()?;
        Ok(schema)
    }

    /// Builds the schema of a file that holds something other than records, such as a released model. In this
    /// schema, a category may have a single level.
    ///
    /// # Errors
    /// [`Error::Schema`] if two columns have the same name.
    pub fn from_columns(columns: Vec<Column>) -> Result<Self> {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        if let Some(name) = first_duplicate(&names) {
            let problem = format!("the column {name:?} occurs twice");
            return Err(Error::Schema { file: "the columns".into(), problem });
        }
        Ok(Self { source: "the columns".into(), is_draft: false, person: None, columns })
    }

    /// Scale of a column; `None` for a column of levels. `target` is the column to learn, which is scaled by
    /// its bounds alone. The second value is the column from which the scaled value is the difference.
    pub(crate) fn scale(&self, column: &Column, target: Option<&str>) -> (Option<Scale>, Option<&Column>) {
        let is_target = |column: &Column| Some(column.name.as_str()) == target;
        if is_target(column) {
            return match column.kind.form(true) {
                Form::Number { lower, upper } => (Some(Scale::linear(lower, upper)), None),
                Form::Levels(_) => (None, None),
            };
        }
        let base = column.not_before.as_ref().and_then(|name| self.column(name).ok());
        let base = base.filter(|base| !is_target(base));
        (column.scale(base), base)
    }

    /// Number that the coordinate `coordinate` of the column `name` encodes, in the column's own unit. `None`
    /// for a missing cell, for a column of levels, and for a number that is encoded relative to another
    /// column.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the schema lacks the column.
    pub fn number_at(&self, name: &str, coordinate: f64) -> Result<Option<f64>> {
        Ok(match self.scale(self.column(name)?, None) {
            (Some(scale), None) => match scale.decode(coordinate) {
                Decoded::Number(number) => Some(number),
                Decoded::Missing => None,
            },
            _ => None,
        })
    }

    /// Column with these coordinates in an encoded record.
    pub fn column_of(&self, coordinates: &[String]) -> Option<&Column> {
        self.columns.iter().find(|column| column.coordinates() == coordinates)
    }

    /// Layout of flat records (lists of coordinates) of all columns, without a target.
    pub fn file_layout(&self) -> Layout {
        Layout {
            columns: self.columns.iter().flat_map(Column::coordinates).collect(),
            target: TargetLayout::None,
        }
    }

    fn check(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Schema { file: self.source.clone(), problem });
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        if names.is_empty() {
            return refuse("it has no [[column]]".into());
        }
        if let Some(name) = first_duplicate(&names) {
            return refuse(format!("the column {name:?} occurs twice"));
        }
        let padded = |text: &String| text.trim() != text;
        if let Some(PersonColumn { name, records_per_person }) = &self.person {
            if padded(name) || names.contains(name) {
                return refuse(format!("column {name:?}: an id has a name of its own, without outer spaces"));
            }
            if !(1..=PARTS).contains(records_per_person) {
                return refuse(format!(
                    "column {name:?}: records_per_person must lie between 1 and {PARTS}, and not be \
                     {records_per_person}"
                ));
            }
        }
        for (place, column @ Column { name, kind, .. }) in self.columns.iter().enumerate() {
            if padded(name) {
                return refuse(format!("column {name:?}: the name begins or ends with a space"));
            }
            let misfit = kind.misfit().or_else(|| column.misfit_of_missing());
            let misfit = misfit.or_else(|| column.misfit_of_bins());
            let earlier = |name: &String| self.columns[..place].iter().find(|base| base.name == *name);
            let base = column.not_before.as_ref().and_then(earlier);
            let misfit = misfit.or_else(|| column.misfit_of_order(base));
            if let Some(problem) = misfit.or_else(|| column.misfit_of_scale(base)) {
                return refuse(format!("column {name:?}: {problem}"));
            }
        }
        Ok(())
    }

    /// Checks that the text of every column is visible.
    ///
    /// # Errors
    /// [`Error::Schema`] for text that contains invisible characters or changes how other text displays.
    fn check_text(&self) -> Result<()> {
        let id = self.person.iter().map(|person| (&person.name, text::check(&person.name)));
        let mut columns = id.chain(self.columns.iter().map(|column| (&column.name, column.check_text())));
        columns.try_for_each(|(name, checked)| {
            checked.map_err(|problem| {
                let problem = format!("column {:?}: {problem}", abridged(name, 60));
                Error::Schema { file: self.source.clone(), problem }
            })
        })
    }

    /// Column of the people's ids; `None` if each record is a person's only one.
    pub fn person(&self) -> Option<&PersonColumn> {
        self.person.as_ref()
    }

    /// The columns, in order, without the column of ids.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Domain of encoded records with `target` as the column to learn.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the schema lacks the target.
    pub fn domain(&self, target: Option<&str>) -> Result<RecordDomain> {
        let target = target.map(|name| self.column(name)).transpose()?;
        let features = self.columns.iter().filter(|column| Some(*column) != target);
        let mut names = vec![];
        let mut factors = vec![];
        for column in features {
            names.extend(column.coordinates());
            factors.push(match column.kind.form(false) {
                Form::Number { .. } => Domain::unit_box(1),
                Form::Levels(levels) => Domain::one_hot(levels.len())?,
            });
        }
        let target = match target.map(|column| column.kind.form(true)) {
            None => TargetDomain::None,
            Some(Form::Number { .. }) => TargetDomain::Real { lower: 0.0, upper: 1.0 },
            Some(Form::Levels(levels)) => TargetDomain::Class { levels: levels.to_vec() },
        };
        let most = self.person.as_ref().map(|person| person.records_per_person);
        Ok(RecordDomain::new(names, Domain::product(factors)?, target)?.with_records_per_person(most)?)
    }

    /// Number of bins of each column that declares it, and of each integer, date or ordered column with at
    /// most 16 possible values. The key is the coordinate's name, or [`Brief::TARGET`] for the target. A
    /// target with classes has no entry.
    pub fn bins(&self, target: Option<&str>) -> BTreeMap<String, usize> {
        let name = |column: &Column| match Some(column.name.as_str()) == target {
            true => Brief::TARGET.to_owned(),
            false => column.name.clone(),
        };
        let is_class = |column: &Column| {
            Some(column.name.as_str()) == target && matches!(column.kind.form(true), Form::Levels(_))
        };
        let columns = self.columns.iter().filter(|column| !is_class(column));
        columns.filter_map(|column| Some((name(column), column.bins()?))).collect()
    }

    /// Domain of encoded records that have only the columns `names`. The domain has a target only if `names`
    /// contains `target`. The domain of all columns is [`domain`](Self::domain).
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the schema lacks a column; [`Error::Schema`] if `names` is empty or
    /// contains a name twice.
    pub fn part(&self, names: &[&str], target: Option<&str>) -> Result<RecordDomain> {
        self.columns_named(names)?.domain(target.filter(|target| names.contains(target)))
    }

    /// Returns the schema and the target of a file that may lack the target column. `has` returns whether the
    /// file has a column. If the file lacks the target, the returned schema omits that column and the
    /// returned target is `None`. Files of people who do not disclose their labels lack the target.
    pub fn omit_missing_target<'a>(
        &self,
        target: Option<&'a str>,
        has: impl Fn(&str) -> bool,
    ) -> Result<(Cow<'_, Self>, Option<&'a str>)> {
        match target {
            Some(missing) if !has(missing) => {
                let names = self.columns.iter().map(|column| column.name.as_str());
                let others = names.filter(|name| *name != missing).collect::<Vec<_>>();
                Ok((Cow::Owned(self.columns_named(&others)?), None))
            }
            target => Ok((Cow::Borrowed(self), target)),
        }
    }

    /// Returns the schema of the columns `names` only.
    pub fn columns_named(&self, names: &[&str]) -> Result<Self> {
        let known: HashMap<&str, &Column> =
            self.columns.iter().map(|column| (column.name.as_str(), column)).collect();
        let column = |name: &&str| known.get(name).map_or_else(|| self.column(name), |column| Ok(*column));
        let mut columns: Vec<Column> =
            names.iter().map(|name| column(name).cloned()).collect::<Result<_>>()?;
        for column in &mut columns {
            if column.not_before.as_deref().is_some_and(|base| !names.contains(&base)) {
                // The scale is that of the difference from the other column.
                let Column { name, missing, missing_cells, kind, .. } = column.clone();
                *column = Column { missing, missing_cells, ..Column::new(name, kind) };
            }
        }
        let part = Self { columns, ..self.clone() };
        part.check()?;
        Ok(part)
    }

    /// Returns the column `name`.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the schema has no column `name`. The message contains the most similar
    /// existing name, if there is one.
    pub fn column(&self, name: &str) -> Result<&Column> {
        let found = self.columns.iter().find(|column| column.name == name);
        found.ok_or_else(|| Error::MissingColumn {
            file: self.source.clone(),
            column: name.into(),
            columns: self.columns.iter().map(|column| column.name.clone()).collect(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::OutOfBounds;

    const TOML: &str = r#"
        [[column]]
        name = "size"
        kind = "real"
        lower = 10.0
        upper = 20.0
        unit = "cm"

        [[column]]
        name = "good"
        kind = "category"
        levels = ["no", "yes"]

        [[column]]
        name = "colour"
        kind = "category"
        levels = ["red", "green", "blue"]
    "#;

    /// A number and two categories.
    pub(crate) fn schema() -> Schema {
        Schema::from_toml(TOML, "schema.toml").unwrap()
    }

    #[test]
    fn a_mistyped_column_gets_the_nearest_name() {
        let error =
            schema().encoder(&["sise", "good", "colour"], None, OutOfBounds::Clip, "data.csv").unwrap_err();
        assert_eq!(error.to_string(), "data.csv: there is no column \"size\"; did you mean \"sise\"?");
        let error = schema().domain(Some("god")).unwrap_err();
        assert_eq!(error.to_string(), "schema.toml: there is no column \"god\"; did you mean \"good\"?");
    }

    /// Regression test: each step took more than ten seconds when it was quadratic in the number of columns,
    /// and now takes a tenth of a second.
    #[test]
    fn work_grows_with_the_columns_and_not_with_their_square() {
        let names: Vec<String> = (0..100_000).map(|at| format!("column {at}")).collect();
        let named: Vec<&str> = names.iter().map(String::as_str).collect();
        let start = std::time::Instant::now();
        let schema = Schema::from_numeric_columns(&names).unwrap();
        assert_eq!(schema.columns_named(&named).unwrap().columns(), schema.columns());
        let encoder = schema.encoder(&named, None, OutOfBounds::Clip, "data.csv").unwrap();
        let all: Vec<usize> = (0..names.len()).collect();
        let domain = encoder.domain();
        assert_eq!(domain.features().restrict(&all).unwrap(), *domain.features());
        assert_eq!(domain.each_factor().filter(|part| part.is_ok()).count(), names.len());
        let taken = start.elapsed();
        assert!(taken < std::time::Duration::from_secs(8), "{taken:?}");
    }

    /// Returns the schema with `missing = value` for `column`.
    fn missing(column: &str, value: &str) -> String {
        TOML.replace(&format!("{column:?}"), &format!("{column:?}\nmissing = {value}"))
    }

    #[test]
    fn the_value_of_missing_cells_is_saved_with_the_schema_and_else_nothing_is() {
        let plain = serde_json::to_string(&schema()).unwrap();
        assert!(!plain.contains("missing"), "{plain}");
        let text = missing("size", "12.5\nmissing_cells = [\"\", \"-1\"]");
        let declared = Schema::from_toml(&text, "schema.toml").unwrap();
        let saved: Schema = serde_json::from_str(&serde_json::to_string(&declared).unwrap()).unwrap();
        assert_eq!(saved.columns(), declared.columns());
        assert_eq!(saved.without_missing().columns(), schema().columns());
        let bad = serde_json::to_string(&declared).unwrap().replace("12.5", "99.5");
        assert!(serde_json::from_str::<Schema>(&bad).is_err());
    }

    #[test]
    fn bins_are_of_numbers_by_their_columns_and_saved_with_the_schema() {
        let declared = Schema::from_toml(&TOML.replace("\"cm\"", "\"cm\"\nbins = 7"), "schema.toml").unwrap();
        assert_eq!(declared.bins(None), [("size".to_owned(), 7)].into());
        assert_eq!(declared.bins(Some("good")), declared.bins(None));
        assert_eq!(declared.bins(Some("size")), [(Brief::TARGET.to_owned(), 7)].into());
        let saved: Schema = serde_json::from_str(&serde_json::to_string(&declared).unwrap()).unwrap();
        assert_eq!(saved.columns(), declared.columns());
        assert!(schema().bins(None).is_empty());
    }

    const STAYS: &str = r#"
        [[column]]
        name = "first"
        kind = "date"
        lower = "2020-01-01"
        upper = "2020-12-31"

        [[column]]
        name = "last"
        kind = "date"
        lower = "2020-01-01"
        upper = "2020-12-31"
        not_before = "first"
        scale = "log"

        [[column]]
        name = "costs"
        kind = "real"
        lower = 0.0
        upper = 100000.0
        edges = [100.0, 5000.0]
        zero = "apart"
        missing = "apart"
        missing_cells = ["", "NA"]
    "#;

    /// Decodes coordinates as a curator's rows of bins.
    fn row(schema: &Schema, record: &[f64]) -> Vec<String> {
        let decoder =
            schema.decoder(&schema.file_layout(), None).with_values_in(scumble_core::ValuesIn::Bins);
        decoder.decode(record).unwrap().iter().map(|cell| cell.text().into_owned()).collect()
    }

    #[test]
    fn order_edges_and_values_apart_survive_encoding() {
        let schema = Schema::from_toml(STAYS, "stays.toml").unwrap();
        let header = ["first", "last", "costs"];
        let encoder = schema.encoder(&header, None, OutOfBounds::Clip, "stays.csv").unwrap();
        let rows = [
            ["2020-01-30", "2020-02-02", "70.5"],
            ["2020-12-31", "2020-12-31", "0"],
            ["2020-05-01", "2020-11-30", ""],
            ["2020-01-01", "2020-12-31", "100000"],
        ];
        for cells in rows {
            let record = encoder.encode(1, cells, &mut crate::Clips::default()).unwrap();
            assert!(record.iter().all(|x| (0.0..=1.0).contains(x)), "{record:?}");
            assert_eq!(row(&schema, &record), cells);
        }
        // Five bins of costs: missing, zero, to 100, to 5000, and to 100000.
        assert_eq!(schema.bins(None), [("costs".to_owned(), 5)].into());
        let costs = |cell| {
            encoder.encode(1, ["2020-01-01", "2020-01-01", cell], &mut crate::Clips::default()).unwrap()[2]
        };
        assert_eq!(["NA", "0", "100", "5000"].map(|cell| costs(cell) * 5.0), [0.5, 1.5, 3.0, 4.0]);
        // A date before the first one becomes the first one.
        let mut clips = crate::Clips::default();
        let record = encoder.encode(1, ["2020-03-01", "2020-02-01", "1"], &mut clips).unwrap();
        assert_eq!(row(&schema, &record)[..2], ["2020-03-01", "2020-03-01"]);
        assert_eq!(encoder.clipped(&clips)[0].column, "last");
        let strict = schema.encoder(&header, None, OutOfBounds::Reject, "stays.csv").unwrap();
        let refused =
            strict.encode(1, ["2020-03-01", "2020-02-01", "1"], &mut crate::Clips::default()).unwrap_err();
        let expected = "stays.csv, row 1, column \"last\": \"2020-02-01\" is before the value of \"first\" \
                        in its row";
        assert_eq!(refused.to_string(), expected);
    }

    /// 7/41·41 is larger than 7 in floating point. The base must not be decoded from its coordinate.
    #[test]
    fn equal_numbers_keep_the_order() {
        let count = |name: &str, more: &str| {
            format!("[[column]]\nname = \"{name}\"\nkind = \"integer\"\nlower = 0\nupper = 41\n{more}\n")
        };
        let text = count("seen", "") + &count("asked", "not_before = \"seen\"");
        let schema = Schema::from_toml(&text, "counts.toml").unwrap();
        let encoder = schema.encoder(&["seen", "asked"], None, OutOfBounds::Reject, "counts.csv").unwrap();
        for number in 0..=41 {
            let cell = number.to_string();
            let record = encoder.encode(1, [cell.as_str(), &cell], &mut crate::Clips::default()).unwrap();
            assert_eq!(record[1], 0.0, "{number}");
        }
    }

    #[test]
    fn any_released_coordinates_keep_the_order_of_two_columns() {
        let schema = Schema::from_toml(STAYS, "stays.toml").unwrap();
        for first in [-0.2, 0.0, 0.3, 0.999, 1.4] {
            for last in [-0.5, 0.0, 0.2, 0.7, 1.0, 2.0] {
                let cells = row(&schema, &[first, last, 0.5]);
                assert!(
                    "2020-01-01" <= &*cells[0] && cells[0] <= cells[1] && &*cells[1] <= "2020-12-31",
                    "{cells:?}"
                );
            }
        }
        // Without the first date, or with the last date as the target, a release has the date alone.
        let alone = schema.columns_named(&["last"]).unwrap();
        assert_eq!(row(&alone, &[1.0]), ["2020-12-31"]);
        let target = schema
            .encoder(&["first", "last", "costs"], Some("last"), OutOfBounds::Clip, "stays.csv")
            .unwrap();
        let record =
            target.encode(1, ["2020-12-31", "2020-01-01", "0"], &mut crate::Clips::default()).unwrap();
        assert_eq!(record[2], 0.0);
    }

    #[test]
    fn what_is_no_schema_is_refused_in_one_line() {
        for (text, expected) in [
            (TOML.replace("\"cm\"", "\"cm\"\nbins = 1"), "column \"size\": bins = 1 is too few"),
            (TOML.replace("name = \"good\"", "name = \"good\"\nbins = 3"), "a category has levels"),
            (TOML.replace("20.0", "5.0"), "and the lower bound must be smaller"),
            (TOML.replace("20.0", "inf"), "must be finite"),
            (TOML.replace("[\"no\", \"yes\"]", "[\"no\"]"), "two levels or more"),
            (TOML.replace("\"yes\"", "\"no\""), "occurs twice"),
            (TOML.replace("\"good\"", "\"size\""), "occurs twice"),
            (TOML.replace("upper", "uper"), "column \"size\": "),
            (TOML.replace("\"no\", ", "\" no\", "), "begins or ends with a space"),
            (TOML.replace("name = \"size\"", ""), "[[column]] number 1: missing field `name`"),
            (TOML.replace("= 10.0", "= = 10.0"), "schema.toml: line 5: "),
            (TOML.replace("\"real\"", "\"rael\""), "rael"),
            (String::new(), "column"),
            ("[[column]\n".into(), "line 1"),
            (
                TOML.replace("\"cm\"", "\"cm\"\nedges = [12, 11]"),
                "edges must ascend, and lie between the bounds 10",
            ),
            (TOML.replace("\"cm\"", "\"cm\"\nedges = [12]\nbins = 3"), "give either bins or edges"),
            (TOML.replace("\"cm\"", "\"cm\"\nedges = [12]\nscale = \"log\""), "give either a scale or edges"),
            (TOML.replace("\"cm\"", "\"cm\"\nscale = \"sqrt\""), "column \"size\": "),
            (TOML.replace("\"cm\"", "\"cm\"\nzero = \"apart\""), "needs the lower bound 0, and it is 10"),
            (
                TOML.replace("name = \"good\"", "name = \"good\"\nscale = \"log\""),
                "apply only to real numbers",
            ),
            (
                TOML.replace("\"cm\"", "\"cm\"\nnot_before = \"good\""),
                "must name an earlier column of the schema",
            ),
            (missing("size", "21"), "column \"size\": missing = 21 must lie within the bounds 10 and 20"),
            (missing("size", "nan"), "missing = NaN must lie within the bounds"),
            (
                missing("size", "\"much\""),
                "missing = \"much\" must be a number within the bounds, or \"apart\"",
            ),
            (missing("size", "true"), "missing = \"true\" must be a number within the bounds"),
            (missing("size", "[1]"), "must be a number within the bounds, or a level"),
            (missing("good", "\"maybe\""), "column \"good\": missing = \"maybe\" must be one of its levels"),
            (missing("good", "1"), "missing = 1 must be one of its levels, in quotation marks"),
            (
                missing("good", "\"no\"\nmissing_cells = [\"yes\"]"),
                "the missing cell \"yes\" is also a level",
            ),
            (
                missing("good", "\"no\"\nmissing_cells = [\" ?\"]"),
                "the missing cell \" ?\" begins or ends with",
            ),
            (TOML.replace("\"good\"", "\"good\"\nmissing_cells = [\"?\"]"), "gives no replacement for them"),
        ] {
            let message = Schema::from_toml(&text, "schema.toml").unwrap_err().to_string();
            assert!(message.contains(expected) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn a_truth_value_replaces_a_missing_boolean_with_or_without_quotation_marks() {
        let read = |missing: &str| {
            let text = format!("[[column]]\nname = \"ok\"\nkind = \"boolean\"\nmissing = {missing}\n");
            Schema::from_toml(&text, "schema.toml")
        };
        assert_eq!(read("false").unwrap(), read("\"false\"").unwrap());
        let text = "[[column]]\nname = \"x\"\nkind = \"real\"\nlower = 0.0\nupper = 1.0\nlog = true\n";
        let refused = Schema::from_toml(text, "schema.toml").unwrap_err().to_string();
        for field in ["log", "lower", "upper", "unit", "name", "kind", "missing", "missing_cells", "bins"] {
            assert!(refused.contains(&format!("`{field}`")), "{field}: {refused}");
        }
    }
}
