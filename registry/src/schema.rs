//! Schemas: what is publicly known of a table's columns.

use crate::domain::largest;
use crate::error::nearest_name;
use crate::table::first_duplicate;
use crate::{Domain, Error, Layout, RecordDomain, Result, Table, TargetDomain};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is publicly known of a table's columns. Bounds are never learned from private data.
///
/// A real column becomes one coordinate in [0, 1] by its bounds, a category one coordinate a level (one-hot).
///
/// ```
/// use scumble_registry::Schema;
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
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schema {
    #[serde(skip)]
    source: String,
    #[serde(rename = "column")]
    columns: Vec<Column>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    column: Vec<toml::Table>,
}

/// One column of a schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name, as in the file's header.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kind {
    /// A number.
    Real {
        /// The smallest value that is kept; a smaller one is clipped to it.
        lower: f64,
        /// The largest value that is kept.
        upper: f64,
        /// For people.
        #[serde(default)]
        unit: String,
    },
    /// One of these.
    Category {
        /// The levels, as they stand in the file.
        levels: Vec<String>,
    },
}

impl Kind {
    fn width(&self) -> usize {
        match self {
            Self::Real { .. } => 1,
            Self::Category { levels } => levels.len(),
        }
    }
}

impl Schema {
    /// The schema in this TOML text; `source` names it in errors.
    ///
    /// # Errors
    /// [`Error::Schema`] with the line and the column.
    pub fn from_toml(text: &str, source: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Schema { file: source.into(), problem };
        let unchecked: Unchecked = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(String::new(), |span| {
                format!("line {}: ", text[..span.start].matches('\n').count() + 1)
            });
            refuse(format!("{place}{}", error.message().replace('\n', " ")))
        })?;
        let columns = unchecked.column.into_iter().enumerate().map(|(at, column)| {
            let name = match column.get("name").and_then(toml::Value::as_str) {
                Some(name) => format!("column {name:?}"),
                None => format!("[[column]] number {}", at + 1),
            };
            let column = column.try_into();
            column.map_err(|error: toml::de::Error| {
                refuse(format!("{name}: {}", error.message().replace('\n', " ")))
            })
        });
        let schema = Self { source: source.into(), columns: columns.collect::<Result<_>>()? };
        schema.check()?;
        Ok(schema)
    }

    /// The schema in this file.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read, else as [`from_toml`](Self::from_toml).
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).map_err(|source| Error::Io { file: file.into(), source })?;
        Self::from_toml(&text, &file.display().to_string())
    }

    fn check(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Schema { file: self.source.clone(), problem });
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        if names.is_empty() {
            return refuse("it has no [[column]]".into());
        }
        if let Some(name) = first_duplicate(&names) {
            return refuse(format!("the column {name:?} stands there twice"));
        }
        let padded = |text: &String| text.trim() != text;
        for Column { name, kind } in &self.columns {
            if padded(name) {
                return refuse(format!("column {name:?}: a name neither begins nor ends with a space"));
            }
            match kind {
                Kind::Real { lower, upper, .. } => {
                    if !(lower < upper && (upper - lower).is_finite()) {
                        return refuse(format!(
                            "column {name:?}: the bounds {lower} and {upper} must be finite, and the lower one smaller"
                        ));
                    }
                }
                Kind::Category { levels } => {
                    if levels.len() < 2 {
                        return refuse(format!("column {name:?}: a category needs two levels or more"));
                    }
                    if let Some(level) = levels.iter().find(|level| padded(level)) {
                        return refuse(format!(
                            "column {name:?}: the level {level:?} begins or ends with a space, and cells are read without"
                        ));
                    }
                    if let Some(level) = first_duplicate(levels) {
                        return refuse(format!("column {name:?}: the level {level:?} stands there twice"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Where encoded records lie when `target` is what is to be learned.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] for a target that the schema lacks.
    pub fn domain(&self, target: Option<&str>) -> Result<RecordDomain> {
        let target = target.map(|name| self.column(name)).transpose()?;
        let features = self.columns.iter().filter(|column| Some(*column) != target);
        let mut names = vec![];
        let mut factors = vec![];
        for Column { name, kind } in features {
            match kind {
                Kind::Real { .. } => {
                    names.push(name.clone());
                    factors.push(Domain::unit_box(1));
                }
                Kind::Category { levels } => {
                    names.extend(levels.iter().map(|level| format!("{name}={level}")));
                    factors.push(Domain::one_hot(levels.len())?);
                }
            }
        }
        let target = match target.map(|column| &column.kind) {
            None => TargetDomain::None,
            Some(Kind::Real { .. }) => TargetDomain::Real { lower: 0.0, upper: 1.0 },
            Some(Kind::Category { levels }) => TargetDomain::Class { levels: levels.clone() },
        };
        RecordDomain::new(names, Domain::product(factors)?, target)
    }

    /// The column of this name.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] with the nearest name.
    pub fn column(&self, name: &str) -> Result<&Column> {
        let found = self.columns.iter().find(|column| column.name == name);
        found.ok_or_else(|| Error::MissingColumn {
            file: self.source.clone(),
            column: name.into(),
            nearest: nearest_name(name, self.columns.iter().map(|column| column.name.as_str())),
        })
    }

    /// What encodes rows of a file with this header; `source` names the file in errors.
    ///
    /// Columns are found by name. Those that the schema does not name are left out.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] or [`Error::DuplicateColumn`].
    pub fn encoder(&self, header: &[&str], target: Option<&str>, source: &str) -> Result<Encoder> {
        let domain = self.domain(target)?;
        // A target's coordinates come last.
        let (last, first): (Vec<&Column>, Vec<&Column>) =
            self.columns.iter().partition(|column| Some(column.name.as_str()) == target);
        let mut fields = vec![];
        for column in first.into_iter().chain(last) {
            let places: Vec<usize> = (0..header.len()).filter(|&at| header[at] == column.name).collect();
            let place = match places[..] {
                [place] => place,
                [] => {
                    return Err(Error::MissingColumn {
                        file: source.into(),
                        column: column.name.clone(),
                        nearest: nearest_name(&column.name, header.iter().copied()),
                    });
                }
                _ => {
                    return Err(Error::DuplicateColumn { file: source.into(), column: column.name.clone() });
                }
            };
            fields.push(Field { column: column.clone(), place, clipped: 0 });
        }
        Ok(Encoder { source: source.into(), cells: header.len(), domain, fields })
    }

    /// A table of encoded records as text in the schema's own columns, order and units: the header, and a row a record.
    ///
    /// A real value outside its bounds (noise takes it there) stays where it is; a group becomes its largest level.
    ///
    /// # Errors
    /// [`Error::Shape`] for a table of another shape, [`Error::MissingColumn`] for a target that the schema lacks.
    pub fn decode(&self, table: &Table, target: Option<&str>) -> Result<(Vec<String>, Vec<Vec<String>>)> {
        let layout = self.domain(target)?.layout();
        layout.check(table)?;
        let header = self.columns.iter().map(|column| column.name.clone()).collect();
        let rows = (0..table.len()).map(|row| self.decode_row(&layout, table, row, target));
        Ok((header, rows.collect()))
    }

    fn decode_row(&self, layout: &Layout, table: &Table, row: usize, target: Option<&str>) -> Vec<String> {
        let flat = layout.flatten(table, row);
        let (mut features, target_values) = flat.split_at(layout.columns.len());
        let mut cells = vec![];
        for Column { name, kind } in &self.columns {
            let values = if Some(name.as_str()) == target {
                target_values
            } else {
                let (own, rest) = features.split_at(kind.width());
                features = rest;
                own
            };
            cells.push(match kind {
                Kind::Real { lower, upper, .. } => (lower + values[0] * (upper - lower)).to_string(),
                Kind::Category { levels } => levels[largest(values)].clone(),
            });
        }
        cells
    }
}

/// Turns rows of text into encoded records, and counts what it clips.
#[derive(Debug, Clone)]
pub struct Encoder {
    source: String,
    cells: usize,
    domain: RecordDomain,
    fields: Vec<Field>,
}

#[derive(Debug, Clone)]
struct Field {
    column: Column,
    /// Where it stands in a row.
    place: usize,
    /// Cells clipped to the bounds so far.
    clipped: usize,
}

impl Encoder {
    /// Where the encoded records lie.
    pub fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    /// The flat record for data row `row` (counted from 1, for errors). Values outside the public bounds are clipped and
    /// counted.
    ///
    /// # Errors
    /// [`Error::RowLength`] or [`Error::Cell`], with the file, the row, the column and the value.
    pub fn encode<'a>(&mut self, row: usize, cells: impl Iterator<Item = &'a str>) -> Result<Vec<f64>> {
        let cells: Vec<&str> = cells.map(str::trim).collect();
        if cells.len() != self.cells {
            return Err(Error::RowLength {
                file: self.source.clone(),
                row,
                found: cells.len(),
                expected: self.cells,
            });
        }
        let mut record = Vec::with_capacity(self.domain.flat().dim());
        for field in &mut self.fields {
            let text = cells[field.place];
            field.encode(text, &mut record).map_err(|problem| Error::Cell {
                file: self.source.clone(),
                row,
                column: field.column.name.clone(),
                value: abridged(text),
                problem,
            })?;
        }
        Ok(record)
    }

    /// The table of flat records, one after the other.
    ///
    /// # Errors
    /// [`Error::Empty`] where there are none; [`Error::Shape`] for values that are no whole number of records.
    pub fn table(&self, flat: Vec<f64>) -> Result<Table> {
        if flat.is_empty() {
            return Err(Error::Empty { place: self.source.clone() });
        }
        let width = self.domain.flat().dim();
        let flat = ndarray::Array2::from_shape_vec((flat.len() / width, width), flat);
        self.domain.layout().table(flat.map_err(|e| Error::shape(e.to_string()))?.view())
    }

    /// How many cells of which column were clipped to which bounds; columns without any are left out.
    pub fn clipped(&self) -> Vec<Clipped> {
        let fields = self.fields.iter().filter(|field| field.clipped > 0);
        fields
            .filter_map(|field| match &field.column.kind {
                Kind::Real { lower, upper, .. } => Some(Clipped {
                    column: field.column.name.clone(),
                    cells: field.clipped,
                    lower: *lower,
                    upper: *upper,
                }),
                Kind::Category { .. } => None,
            })
            .collect()
    }
}

impl Field {
    fn encode(&mut self, text: &str, record: &mut Vec<f64>) -> std::result::Result<(), String> {
        match &self.column.kind {
            Kind::Real { lower, upper, unit } => {
                let wanted = || {
                    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
                    format!("a number between {lower} and {upper}{unit} is needed")
                };
                let value: f64 = text.parse().map_err(|_| format!("is no number; {}", wanted()))?;
                if !value.is_finite() {
                    return Err(format!("is no finite number; {}", wanted()));
                }
                let kept = value.clamp(*lower, *upper);
                self.clipped += usize::from(kept != value);
                record.push((kept - lower) / (upper - lower));
            }
            Kind::Category { levels } => {
                let level = levels.iter().position(|level| level == text).ok_or_else(|| {
                    format!("is no level of it; the schema has {}", abridged(&levels.join(", ")))
                })?;
                record.extend((0..levels.len()).map(|at| if at == level { 1.0 } else { 0.0 }));
            }
        }
        Ok(())
    }
}

/// Cells of one column that lay outside its public bounds. It is about the data: for their owner alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Clipped {
    /// The column.
    pub column: String,
    /// How many of its cells.
    pub cells: usize,
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

/// At most a short line of `text`.
fn abridged(text: &str) -> String {
    const LONGEST: usize = 60;
    let line: String = text.chars().take(LONGEST + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

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

    fn schema() -> Schema {
        Schema::from_toml(TOML, "schema.toml").unwrap()
    }

    fn encode(row: &[&str]) -> Result<Vec<f64>> {
        let mut encoder = schema().encoder(&["colour", "id", "good", "size"], Some("good"), "data.csv")?;
        encoder.encode(7, row.iter().copied())
    }

    #[test]
    fn a_row_is_scaled_by_public_bounds_and_the_target_comes_last() {
        let record = encode(&["green", "x17", "yes", " 12.5"]).unwrap();
        assert_eq!(record, [0.25, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn what_was_encoded_decodes_to_what_it_was() {
        let mut encoder = schema().encoder(&["size", "good", "colour"], Some("good"), "data.csv").unwrap();
        let rows = [["12.5", "yes", "blue"], ["20", "no", "red"]];
        let flat: Vec<f64> = rows
            .iter()
            .enumerate()
            .flat_map(|(at, row)| encoder.encode(at + 1, row.iter().copied()).unwrap())
            .collect();
        let table = encoder.table(flat).unwrap();
        assert_eq!(table.columns(), ["size", "colour=red", "colour=green", "colour=blue"]);
        assert_eq!(*table.target(), Target::Class(ndarray::array![1, 0]));
        let (header, decoded) = schema().decode(&table, Some("good")).unwrap();
        assert_eq!(header, ["size", "good", "colour"]);
        assert_eq!(decoded, rows);
    }

    #[test]
    fn a_value_outside_the_bounds_is_clipped_and_counted() {
        let mut encoder = schema().encoder(&["size", "good", "colour"], None, "data.csv").unwrap();
        for size in ["9.99", "20.01", "15"] {
            encoder.encode(1, [size, "no", "red"].into_iter()).unwrap();
        }
        let clipped = encoder.clipped();
        assert_eq!(clipped.len(), 1);
        assert_eq!((clipped[0].column.as_str(), clipped[0].cells), ("size", 2));
    }

    #[test]
    fn a_bad_cell_is_named_with_its_file_row_column_and_value() {
        for (row, expected) in [
            (
                ["red", "x", "yes", "tall"],
                "data.csv, row 7, column \"size\": \"tall\" is no number; a number between 10 and 20 cm is needed",
            ),
            (
                ["red", "x", "yes", "inf"],
                "data.csv, row 7, column \"size\": \"inf\" is no finite number; a number between 10 and 20 cm is needed",
            ),
            (
                ["pink", "x", "yes", "12"],
                "data.csv, row 7, column \"colour\": \"pink\" is no level of it; the schema has red, green, blue",
            ),
        ] {
            assert_eq!(encode(&row).unwrap_err().to_string(), expected);
        }
        let short = encode(&["red", "x"]).unwrap_err().to_string();
        assert_eq!(short, "data.csv, row 7: it has 2 cells where the header has 4");
    }

    #[test]
    fn a_long_value_is_abridged() {
        let long = "é".repeat(10_000_000);
        let message = encode(&["red", "x", "yes", &long]).unwrap_err().to_string();
        assert!(message.len() < 300, "{} bytes", message.len());
    }

    #[test]
    fn a_mistyped_column_gets_the_nearest_name() {
        let error = schema().encoder(&["sise", "good", "colour"], None, "data.csv").unwrap_err();
        assert_eq!(error.to_string(), "data.csv: there is no column \"size\"; did you mean \"sise\"?");
        let error = schema().domain(Some("god")).unwrap_err();
        assert_eq!(error.to_string(), "schema.toml: there is no column \"god\"; did you mean \"good\"?");
    }

    #[test]
    fn what_is_no_schema_is_refused_in_one_line() {
        for (text, expected) in [
            (TOML.replace("20.0", "5.0"), "must be finite, and the lower one smaller"),
            (TOML.replace("20.0", "inf"), "must be finite"),
            (TOML.replace("[\"no\", \"yes\"]", "[\"no\"]"), "two levels or more"),
            (TOML.replace("\"yes\"", "\"no\""), "stands there twice"),
            (TOML.replace("\"good\"", "\"size\""), "stands there twice"),
            (TOML.replace("upper", "uper"), "column \"size\": "),
            (TOML.replace("\"no\", ", "\" no\", "), "begins or ends with a space"),
            (TOML.replace("name = \"size\"", ""), "[[column]] number 1: missing field `name`"),
            (TOML.replace("= 10.0", "= = 10.0"), "schema.toml: line 5: "),
            (TOML.replace("\"real\"", "\"rael\""), "rael"),
            (String::new(), "column"),
            ("[[column]\n".into(), "line 1"),
        ] {
            let message = Schema::from_toml(&text, "schema.toml").unwrap_err().to_string();
            assert!(message.contains(expected) && !message.contains('\n'), "{message}");
        }
    }
}
