//! Encoder from rows of cells to records. A *flat* record lists the coordinates of the features, then the
//! coordinates of the target (the column to learn).

use crate::kind::{Form, ISO};
use crate::scale::Scale;
use crate::{Cell, Column, Error, Held, Kind, Result, Schema, Zone};
use scumble_core::text::abridged;
use scumble_core::{RecordDomain, Table};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Treatment of a number outside its column's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutOfBounds {
    /// Moves the number to the nearer bound and counts it.
    Clip,
    /// Returns an error. The error discloses something about the record to anyone who notices the error.
    Reject,
    /// Keeps the number. This suits released data, because noise moves numbers out of the bounds.
    Keep,
}

impl OutOfBounds {
    /// [`Reject`](Self::Reject) if `strict`, and [`Clip`](Self::Clip) if not.
    pub fn strictly(strict: bool) -> Self {
        if strict { Self::Reject } else { Self::Clip }
    }
}

/// Upper bound on the characters of a cell, or of a list of levels, that an error shows.
const LONGEST: usize = 60;

/// Encoder from rows of cells to flat records.
#[derive(Debug, Clone)]
pub struct Encoder {
    source: String,
    /// Number of cells in a row of the file.
    cells: usize,
    domain: RecordDomain,
    /// Columns of the schema, the target last.
    fields: Vec<Field>,
    /// Column that is read but not encoded, such as an id column.
    extra: Option<ExtraColumn>,
    out_of_bounds: OutOfBounds,
}

#[derive(Debug, Clone)]
struct Field {
    column: Column,
    is_target: bool,
    /// Scale of a number. A column of levels does not use it.
    scale: Scale,
    /// `place` of the field from whose number the scaled number is the difference.
    base: Option<usize>,
    /// True if another field has this field as its base.
    is_base: bool,
    /// Index of the column in a row of the file.
    place: usize,
    /// Upper bound on the bytes of a valid cell.
    longest: usize,
    /// Bounds of a column of real numbers with a linear scale, no missing cells and no base.
    plain: Option<(f64, f64)>,
}

#[derive(Debug, Clone)]
struct ExtraColumn {
    column: String,
    place: usize,
}

/// Number of clipped cells per column: cells outside the bounds, which were moved to a bound. It is computed
/// without noise, and is for the owner of the records only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clips(Vec<usize>);

impl Clips {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }

    fn count(&mut self, field: usize) {
        self.0.resize(self.0.len().max(field + 1), 0);
        self.0[field] += 1;
    }
}

/// Number of cells of one column outside its public bounds. It is computed without noise, and is for the
/// owner of the records only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clipped {
    /// Name of the column.
    pub column: String,
    /// Number of clipped cells.
    pub cells: usize,
    /// Lower bound, formatted for display.
    pub lower: String,
    /// Upper bound, formatted for display.
    pub upper: String,
}

impl Schema {
    /// Builds the encoder for the rows of a file with this header. `target` is the column to learn. `source`
    /// names the file in errors.
    ///
    /// Columns are found by name. Columns that the schema does not name are ignored.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the header lacks a column of the schema, or the schema lacks the target;
    /// [`Error::DuplicateColumn`] if the header contains a column of the schema twice.
    pub fn encoder(
        &self,
        header: &[&str],
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
        source: &str,
    ) -> Result<Encoder> {
        Encoder::new(self, header, target, out_of_bounds, source)
    }
}

impl Encoder {
    pub(crate) fn new(
        schema: &Schema,
        header: &[&str],
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
        source: &str,
    ) -> Result<Self> {
        let domain = schema.domain(target)?;
        let header = Header::from_names(header);
        // The target's coordinates come last.
        let (last, first): (Vec<&Column>, Vec<&Column>) =
            schema.columns().iter().partition(|column| Some(column.name.as_str()) == target);
        let columns: Vec<&Column> = first.into_iter().chain(last).collect();
        let scaled = columns.iter().map(|column| schema.scale(column, target)).collect::<Vec<_>>();
        let fields = columns.iter().zip(&scaled).map(|(&column, (scale, base))| {
            let place = header.place_of(&column.name, source)?;
            let texts = column.kind.levels().unwrap_or_default().iter().chain(&column.missing_cells);
            let longest = texts.map(String::len).fold(LONGEST_NUMBER, usize::max);
            let is_target = Some(column.name.as_str()) == target;
            let scale = scale.clone().unwrap_or_else(|| Scale::linear(0.0, 1.0));
            let base = base.map(|base| header.place_of(&base.name, source)).transpose()?;
            let (lower, upper) = scale.bounds();
            let is_plain = matches!(column.kind, Kind::Real { .. })
                && scale.is_linear()
                && (upper - lower).is_finite()
                && column.missing.is_none()
                && base.is_none();
            let plain = is_plain.then_some((lower, upper));
            Ok(Field {
                column: column.clone(),
                is_target,
                scale,
                base,
                is_base: false,
                place,
                longest,
                plain,
            })
        });
        let mut fields = fields.collect::<Result<Vec<Field>>>()?;
        let bases: HashSet<usize> = fields.iter().filter_map(|field| field.base).collect();
        for field in &mut fields {
            field.is_base = bases.contains(&field.place);
        }
        Ok(Self {
            source: source.into(),
            cells: header.names.len(),
            domain,
            fields,
            extra: None,
            out_of_bounds,
        })
    }

    /// Builds an encoder that reads the cells at `places` of rows with this header, to inspect instead of
    /// encode them. The cells may hold anything.
    ///
    /// # Errors
    /// Same errors as [`Schema::from_numeric_columns`].
    pub(crate) fn for_any_cells(header: &[String], places: &[usize], source: &str) -> Result<Self> {
        let names: Vec<&str> = header.iter().map(String::as_str).collect();
        let read: Vec<String> = places.iter().map(|&place| header[place].clone()).collect();
        let mut encoder =
            Self::new(&Schema::from_numeric_columns(&read)?, &names, None, OutOfBounds::Keep, source)?;
        encoder.fields.iter_mut().for_each(|field| field.longest = usize::MAX);
        Ok(encoder)
    }

    /// Upper bound on the bytes of text kept per cell if the cells are only inspected, to
    /// [draft](crate::draft()) a schema. Longer text is cut, because a small file may repeat it in many rows.
    /// `None` if the cells are encoded, and therefore read whole.
    pub fn longest_look(&self) -> Option<usize> {
        self.fields.iter().all(|field| field.longest == usize::MAX).then_some(LONGEST_NUMBER + 1)
    }

    /// Returns the encoder with one more `column` of this header, which is read but not encoded. The schema
    /// need not contain the column.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the header lacks `column`; [`Error::DuplicateColumn`] if it contains
    /// `column` twice.
    pub(crate) fn with_extra_column(mut self, column: &str, header: &[&str]) -> Result<Self> {
        let place = Header::from_names(header).place_of(column, &self.source)?;
        self.extra = Some(ExtraColumn { column: column.into(), place });
        Ok(self)
    }

    /// Name of the column that is read but not encoded.
    pub(crate) fn extra_column(&self) -> Option<&str> {
        self.extra.as_ref().map(|extra| extra.column.as_str())
    }

    /// Name of the file in errors.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Domain of the encoded records.
    pub fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    /// Indices of the cells that the encoder reads from a row of the file. The order is: features, target,
    /// and then the column that is read but not encoded.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.fields.iter().map(|field| field.place).chain(self.extra.as_ref().map(|extra| extra.place))
    }

    /// Returns whether the target's cell is missing. `cells` are those that the encoder reads from a row.
    pub(crate) fn is_target_missing(&self, cells: &[Cell]) -> bool {
        let target = self.fields.iter().position(|field| field.is_target);
        target.is_some_and(|at| cells.get(at).is_some_and(|cell| self.fields[at].column.is_missing(*cell)))
    }

    /// Unit of the column at this index among the encoded columns; empty for a column without a unit.
    pub(crate) fn unit(&self, at: usize) -> &str {
        self.fields.get(at).map_or("", |field| field.column.kind.unit())
    }

    /// Encoded columns in the order of [`places`](Self::places): name, index of the first coordinate, number
    /// of coordinates.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&String, usize, usize)> + Clone {
        let mut first = 0;
        self.fields.iter().map(move |field| {
            let width = match field.column.kind.form(field.is_target) {
                Form::Number { .. } => 1,
                Form::Levels(levels) => levels.len(),
            };
            let start = first;
            first += width;
            (&field.column.name, start, width)
        })
    }

    /// Returns whether encoding `cell` is lossless. The cell must be present, lie within the bounds or levels
    /// of its column, and hold nothing but a value: no time of day, unit, or separator of thousands. `at` is
    /// the index of the column among the encoded columns.
    pub(crate) fn is_encoded_whole(&self, at: usize, cell: Cell) -> bool {
        let Some(Field { column, is_target, .. }) = self.fields.get(at) else { return false };
        let kind = &column.kind;
        column.is_present(cell)
            && match kind.form(*is_target) {
                Form::Number { .. } if kind.is_annotated(cell) => false,
                Form::Number { lower, upper } => {
                    kind.number(cell).is_ok_and(|value| (lower..=upper).contains(&value))
                }
                Form::Levels(_) => kind.level(cell).is_some(),
            }
    }

    /// Returns the cells of a row that do not fit their columns.
    ///
    /// Each comes with the name of its column, a description of the problem, and a value that is true if a
    /// release clips the cell. `picked` iterates over the cells that the encoder reads from the row.
    pub(crate) fn misfits<'a>(
        &self,
        picked: impl Iterator<Item = Cell<'a>>,
    ) -> Vec<(&str, Cell<'a>, String, bool)> {
        let (mut bases, mut misfits) = (Bases::default(), vec![]);
        for (at, cell) in picked.enumerate() {
            let Some(field) = self.fields.get(at) else { continue };
            let mut kept = |out_of_bounds| bases.encode(field, cell, out_of_bounds, &mut vec![]);
            let Err(problem) = kept(OutOfBounds::Reject) else { continue };
            let is_clipped = kept(OutOfBounds::Clip).is_ok();
            misfits.push((&*field.column.name, cell, problem, is_clipped));
        }
        misfits
    }

    /// Returns the encoder for a file whose columns have the storage types `held`, one for each column that
    /// the encoder reads. A file with storage types, such as Parquet, gives days in ISO 8601 format, whatever
    /// text format the schema has.
    ///
    /// # Errors
    /// [`Error::UndecidedDays`] for a date column stored as instants without a known time zone.
    pub(crate) fn for_stored(mut self, held: &[Option<Held>]) -> Result<Self> {
        for (field, held) in self.fields.iter_mut().zip(held) {
            let Kind::Date { format, .. } = &mut field.column.kind else { continue };
            match held {
                Some(Held::Time { zone: Zone::Unknown, .. }) => {
                    let column = field.column.name.clone();
                    return Err(Error::UndecidedDays { file: self.source, column });
                }
                Some(Held::Day | Held::Time { .. }) => *format = ISO.into(),
                _ => {}
            }
        }
        Ok(self)
    }

    /// Number of cells that the encoder reads from a row.
    pub(crate) fn width(&self) -> usize {
        self.fields.len() + usize::from(self.extra.is_some())
    }

    /// Checks the number of cells in a row of the file.
    ///
    /// # Errors
    /// [`Error::RowLength`] if `found` differs from the number of cells in the header.
    pub(crate) fn check_row_length(&self, row: usize, found: usize) -> Result<()> {
        if found != self.cells {
            return Err(Error::RowLength { file: self.source.clone(), row, found, expected: self.cells });
        }
        Ok(())
    }

    /// Checks the length of a cell's text. `at` is the index of the cell among the cells that the encoder
    /// reads from a row.
    ///
    /// # Errors
    /// [`Error::Cell`] if the text is longer than any valid cell.
    pub(crate) fn check_length(&self, row: usize, at: usize, text: &str) -> Result<()> {
        let too_long = |column: &str, expected: &str| {
            let problem = format!("is too long, with {} bytes{expected}", text.len());
            Err(self.bad_cell(row, column, text, problem))
        };
        match (self.fields.get(at), &self.extra) {
            (Some(field), _) if text.len() > field.longest => {
                too_long(&field.column.name, &format!("; {}", field.expected_content(self.out_of_bounds)))
            }
            (None, Some(extra)) if text.len() > LONGEST_NUMBER => too_long(&extra.column, ""),
            _ => Ok(()),
        }
    }

    /// Appends the flat record of a row. `picked` iterates over the cells that the encoder reads from the
    /// row.
    pub(crate) fn encode_picked<'a>(
        &self,
        row: usize,
        picked: impl Iterator<Item = Cell<'a>>,
        records: &mut Vec<f64>,
        clips: &mut Clips,
    ) -> Result<()> {
        let mut bases = Bases::default();
        for (at, cell) in picked.enumerate() {
            // The cell that is not encoded comes last.
            let Some(field) = self.fields.get(at) else { continue };
            let encoded = bases.encode(field, cell, self.out_of_bounds, records);
            let is_clipped =
                encoded.map_err(|problem| self.bad_cell(row, &field.column.name, &cell.text(), problem))?;
            if is_clipped {
                clips.count(at);
            }
        }
        Ok(())
    }

    fn bad_cell(&self, row: usize, column: &str, cell: &str, problem: String) -> Error {
        Error::Cell {
            file: self.source.clone(),
            row,
            column: column.into(),
            value: abridged(cell, LONGEST),
            problem,
        }
    }

    /// Builds the table of concatenated flat records.
    ///
    /// # Errors
    /// [`Error::Empty`](scumble_core::Error::Empty) if there are no records;
    /// [`Error::Shape`](scumble_core::Error::Shape) if the values do not make a whole number of records.
    pub fn table(&self, flat: Vec<f64>) -> Result<Table> {
        if flat.is_empty() {
            return Err(self.no_records());
        }
        Ok(self.domain.layout().table_of(flat)?)
    }

    /// Error about a file without rows.
    pub(crate) fn no_records(&self) -> Error {
        Error::empty(&self.source)
    }

    /// Number of clipped cells per column, with the column's bounds. Columns without clipped cells are
    /// omitted.
    pub fn clipped(&self, clips: &Clips) -> Vec<Clipped> {
        let counted = self.fields.iter().zip(&clips.0).filter(|(_, cells)| **cells > 0);
        counted
            .filter_map(|(field, &cells)| {
                let [lower, upper] = field.column.kind.shown_bounds()?;
                Some(Clipped { column: field.column.name.clone(), cells, lower, upper })
            })
            .collect()
    }
}

/// Upper bound on the bytes of a number's text.
pub(crate) const LONGEST_NUMBER: usize = 1100;

/// Names of a file's columns, and the index of each name. A name that occurs twice has no index.
struct Header<'h> {
    names: &'h [&'h str],
    places: HashMap<&'h str, Option<usize>>,
}

impl<'h> Header<'h> {
    fn from_names(names: &'h [&'h str]) -> Self {
        let mut places = HashMap::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            places.entry(*name).and_modify(|place| *place = None).or_insert(Some(at));
        }
        Self { names, places }
    }

    /// Returns the index of the column.
    fn place_of(&self, column: &str, source: &str) -> Result<usize> {
        match self.places.get(column) {
            Some(Some(place)) => Ok(*place),
            Some(None) => Err(Error::DuplicateColumn { file: source.into(), column: column.into() }),
            None => Err(Error::MissingColumn {
                file: source.into(),
                column: column.into(),
                columns: self.names.iter().map(|&name| name.to_owned()).collect(),
            }),
        }
    }
}

/// Numbers of a row from which other numbers of the row are differences, by the place of their column.
#[derive(Default)]
struct Bases(BTreeMap<usize, f64>);

impl Bases {
    /// Appends the cell's coordinates to `records`. Returns true if the cell was clipped.
    fn encode(
        &mut self,
        field: &Field,
        cell: Cell,
        out_of_bounds: OutOfBounds,
        records: &mut Vec<f64>,
    ) -> std::result::Result<bool, String> {
        let base = field.base.and_then(|base| self.0.get(&base).copied());
        let (kept, is_clipped) = field.encode(cell, out_of_bounds, base, records)?;
        if field.is_base {
            self.0.insert(field.place, kept);
        }
        Ok(is_clipped)
    }
}

impl Field {
    /// Appends the cell's coordinates to `records`. `base` is the number from which the scaled number is the
    /// difference.
    ///
    /// Returns the kept number (the lower bound for a missing number, zero for a level), and true if the cell
    /// was clipped.
    fn encode(
        &self,
        cell: Cell,
        out_of_bounds: OutOfBounds,
        base: Option<f64>,
        records: &mut Vec<f64>,
    ) -> std::result::Result<(f64, bool), String> {
        // A short way for most cells. The general way below gives the same result.
        if let (Some((lower, upper)), Cell::Text(text)) = (self.plain, cell)
            && let Ok(number) = text.parse::<f64>()
            && (lower..=upper).contains(&number)
        {
            records.push((number - lower) / (upper - lower));
            return Ok((number, false));
        }
        let expected = || self.expected_content(out_of_bounds);
        let cell = self.column.present(cell);
        let kind = &self.column.kind;
        match kind.form(self.is_target) {
            Form::Number { lower, .. } if cell == Cell::Null && self.scale.keeps_missing() => {
                records.push(self.scale.missing());
                Ok((lower, false))
            }
            Form::Number { lower, upper } => {
                let value = match (kind.number(cell), out_of_bounds) {
                    // A released value may be unrounded, and is then read as a plain number.
                    (Err(_), OutOfBounds::Keep) => cell.number().ok_or("is not a number"),
                    (value, _) => value,
                };
                let value = value.map_err(|problem| format!("{problem}; {}", expected()))?;
                if !value.is_finite() {
                    return Err(format!("is not a finite number; {}", expected()));
                }
                let within = value.clamp(lower, upper);
                let kept = match (out_of_bounds, base) {
                    (OutOfBounds::Reject, _) if within != value => {
                        return Err(format!("lies outside the bounds; {}", expected()));
                    }
                    (OutOfBounds::Reject, Some(base)) if within < base => {
                        let name = self.column.not_before.as_deref().unwrap_or_default();
                        return Err(format!("is before the value of {name:?} in its row"));
                    }
                    (OutOfBounds::Keep, _) => value,
                    (_, Some(base)) => within.max(base),
                    (_, None) => within,
                };
                let encoded = self.scale.encode(kept - base.unwrap_or(0.0));
                if !encoded.is_finite() {
                    return Err(format!("lies too far outside the bounds; {}", expected()));
                }
                records.push(encoded);
                Ok((kept, kept != value))
            }
            Form::Levels(levels) => {
                let level = kind
                    .level(cell)
                    .ok_or_else(|| format!("is not a level of the column; {}", expected()))?;
                records.extend((0..levels.len()).map(|at| if at == level { 1.0 } else { 0.0 }));
                Ok((0.0, false))
            }
        }
    }

    /// Describes the expected content of the cell.
    fn expected_content(&self, out_of_bounds: OutOfBounds) -> String {
        self.column.kind.expected_content(out_of_bounds != OutOfBounds::Keep)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawRows;
    use crate::schema::tests::schema;

    fn encode(row: &[&str]) -> Result<Vec<f64>> {
        let header = ["colour", "id", "good", "size"];
        let encoder = schema().encoder(&header, Some("good"), OutOfBounds::Clip, "data.csv")?;
        encoder.encode(7, row.iter().copied(), &mut Clips::default())
    }

    #[test]
    fn a_row_is_scaled_by_public_bounds_and_the_target_comes_last() {
        let record = encode(&["green", "x17", "yes", " 12.5"]).unwrap();
        assert_eq!(record, [0.25, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_short_way_encodes_as_the_general_way() {
        let header = ["size", "good", "colour"];
        let texts = ["10", "20", "15.25", "1e1", "10.000000000000002", " 12", "9.99", "20.5", "-0", "1,234"];
        let refused = ["", "nan", "inf", "-", "12 m", "0x10"];
        for out_of_bounds in [OutOfBounds::Clip, OutOfBounds::Reject, OutOfBounds::Keep] {
            let short = schema().encoder(&header, None, out_of_bounds, "data.csv").unwrap();
            assert!(short.fields[0].plain.is_some());
            let mut general = short.clone();
            general.fields[0].plain = None;
            for text in texts.iter().chain(&refused) {
                let encoded = |encoder: &Encoder| {
                    let mut clips = Clips::default();
                    let record = encoder.encode(1, [*text, "no", "red"], &mut clips);
                    (record.map_err(|error| error.to_string()), clips)
                };
                assert_eq!(encoded(&short), encoded(&general), "{text}");
            }
        }
    }

    #[test]
    fn a_value_outside_the_bounds_is_clipped_and_counted() {
        let header = ["size", "good", "colour"];
        let encoder = schema().encoder(&header, None, OutOfBounds::Clip, "data.csv").unwrap();
        let (mut one, mut other) = (Clips::default(), Clips::default());
        let kept = |size: &str, clips: &mut Clips| encoder.encode(1, [size, "no", "red"], clips).unwrap()[0];
        assert_eq!(
            [kept("9.99", &mut one), kept("15", &mut one), kept("20.01", &mut other)],
            [0.0, 0.5, 1.0]
        );
        one.add(&other);
        let expected = Clipped { column: "size".into(), cells: 2, lower: "10".into(), upper: "20".into() };
        assert_eq!(encoder.clipped(&one), [expected]);
    }

    #[test]
    fn a_missing_cell_is_read_as_what_the_schema_says_and_no_other_cell_is() {
        let text = r#"
            [[column]]
            name = "size"
            kind = "real"
            lower = 0.0
            upper = 10.0
            missing = 2.5

            [[column]]
            name = "weight"
            kind = "real"
            lower = 0.0
            upper = 10.0
            missing = 5
            missing_cells = ["NA", "-999"]

            [[column]]
            name = "good"
            kind = "category"
            levels = ["no", "yes", "unknown"]
            missing = "unknown"
            missing_cells = ["", "?"]
        "#;
        let schema = Schema::from_toml(text, "schema.toml").unwrap();
        let encoder =
            schema.encoder(&["size", "weight", "good"], None, OutOfBounds::Reject, "data.csv").unwrap();
        let encode = |row: [&str; 3]| encoder.encode(3, row, &mut Clips::default());
        let unknown = [0.25, 0.5, 0.0, 0.0, 1.0];
        for row in [["", "NA", "?"], [" ", "-999", ""], ["2.5", " NA ", "unknown"], ["2.5", "-999.0", ""]] {
            assert_eq!(encode(row).unwrap(), unknown, "{row:?}");
        }
        for (row, expected) in [
            (
                ["NA", "1", "no"],
                "data.csv, row 3, column \"size\": \"NA\" is not a number; a number between 0 and 10 is \
                 needed",
            ),
            (
                ["1", "", "no"],
                "data.csv, row 3, column \"weight\": \"\" is not a number; a number between 0 and 10 is \
                 needed",
            ),
            (["1", "1", "NA"], "column \"good\": \"NA\" is not a level of the column"),
        ] {
            let message = encode(row).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_cell_means_the_same_however_a_file_holds_it() {
        let text = concat!(
            r#"
            column = [
                { name = "size", kind = "real", lower = 0.0, upper = 10.0, missing = 5, "#,
            r#"missing_cells = ["-1"] },
                { name = "flag", kind = "category", levels = ["true", "1", "1.5", ""] },
            ]
        "#
        );
        let schema = Schema::from_toml(text, "schema.toml").unwrap();
        let encoder = schema.encoder(&["flag", "size"], None, OutOfBounds::Reject, "data").unwrap();
        let encode = |size: Cell, flag: Cell| {
            let mut rows = RawRows::starting_at(1);
            rows.push(&encoder, size)?;
            rows.push(&encoder, flag)?;
            let mut record = vec![];
            rows.encode(&encoder, &mut record, &mut Clips::default())?;
            Ok::<_, Error>((record[0], record[1..].iter().position(|x| *x == 1.0)))
        };
        for (size, flag, expected) in [
            (Cell::Text(" 2.5 "), Cell::Text("true "), (0.25, Some(0))),
            (Cell::Number(2.5), Cell::Flag(true), (0.25, Some(0))),
            (Cell::Whole(1), Cell::Whole(1), (0.1, Some(1))),
            (Cell::Flag(true), Cell::Number(1.0), (0.1, Some(1))),
            (Cell::Flag(false), Cell::Number(1.5), (0.0, Some(2))),
            (Cell::Null, Cell::Null, (0.5, Some(3))),
            (Cell::Text("-1"), Cell::Text(""), (0.5, Some(3))),
            (Cell::Whole(-1), Cell::Text("1.5"), (0.5, Some(2))),
            (Cell::Number(-1.0), Cell::Text("1"), (0.5, Some(1))),
        ] {
            assert_eq!(encode(size, flag).unwrap(), expected, "{size:?} {flag:?}");
        }
        for (size, flag, expected) in [
            (Cell::Text(""), Cell::Null, "\"\" is not a number"),
            (Cell::Number(f64::NAN), Cell::Null, "\"NaN\" is not a finite number"),
            (Cell::Whole(11), Cell::Null, "\"11\" lies outside the bounds"),
            (Cell::Whole(1), Cell::Flag(false), "\"false\" is not a level of the column"),
            (Cell::Whole(1), Cell::Number(0.1), "\"0.1\" is not a level of the column"),
        ] {
            let message = encode(size, flag).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_bad_cell_is_named_with_its_file_row_column_and_value() {
        for (row, expected) in [
            (
                ["red", "x", "yes", "tall"],
                "data.csv, row 7, column \"size\": \"tall\" is not a number; a number between 10 and 20 cm \
                 is needed",
            ),
            (
                ["red", "x", "yes", "inf"],
                "data.csv, row 7, column \"size\": \"inf\" is not a finite number; a number between 10 and \
                 20 cm is needed",
            ),
            (
                ["pink", "x", "yes", "12"],
                "data.csv, row 7, column \"colour\": \"pink\" is not a level of the column; the schema has \
                 red, green, blue",
            ),
        ] {
            assert_eq!(encode(&row).unwrap_err().to_string(), expected);
        }
        let short = encode(&["red", "x"]).unwrap_err().to_string();
        assert_eq!(short, "data.csv, row 7: the row has 2 cells, and the header has 4");
    }

    #[test]
    fn a_long_value_is_abridged() {
        let long = "é".repeat(10_000_000);
        let message = encode(&["red", "x", "yes", &long]).unwrap_err().to_string();
        assert!(message.len() < 300, "{} bytes", message.len());
    }
}
