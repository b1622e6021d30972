//! Released models: their file format, and prediction from records of a file.

use crate::{ENCODED, Error, Result, ShippedDesign};
use ndarray::{Array2, Axis, concatenate};
use scumble_core::{FunctionAxis, ModelFunction, Release, ReleasedModel, Table, Target, TargetDomain};
use scumble_records::{Column, Decoder, Kind, OutOfBounds, ReadRows, Reader, Schema, Values};
use serde_json::{Value, json};
use std::sync::Arc;

/// Name of the column with the class that a row of a model belongs to.
const CLASS: &str = "class";
/// Names of the columns that hold the name of the predicted number, its unit and its bounds.
const NUMBER: [&str; 4] = ["target", "unit", "lower", "upper"];
/// Name of the column with the digest of the design that released the model.
const DESIGN: &str = "design";

/// A released model together with its design's description of records. It predicts from records in the clear.
#[derive(Debug, Clone)]
pub struct ShippedModel {
    model: Arc<dyn ReleasedModel>,
    /// Table of the released numbers that define the model.
    table: Table,
    features: Schema,
    target: Column,
    /// Levels of a target that is a class; empty for a number.
    classes: Vec<String>,
}

/// A column of a function of a model, as a card describes it.
struct Described {
    column: String,
    unit: String,
    /// Numbers in the column's own unit, or levels.
    at: Vec<Value>,
    /// Indices of the places that are described.
    kept: Vec<usize>,
    /// Number of all places.
    places: usize,
}

/// Values at the described places of `axes`, as lists within lists. `all` has the values at all places; those
/// of the last axis vary fastest.
fn at_kept(axes: &[Described], all: &[f64]) -> Value {
    let Some((axis, others)) = axes.split_first() else { return json!(all.first()) };
    let size = all.len() / axis.places.max(1);
    axis.kept.iter().map(|at| at_kept(others, &all[at * size..][..size])).collect()
}

/// Class of each row in the table of a model. The table has `rows` rows, and the target has `classes` classes
/// (0 for a number). If the target has two classes and the table has one row, the row belongs to the second
/// class. If there is one row per class, the rows have the order of the classes. The model of a number has
/// one row, and the result is empty.
fn classes_of_rows(classes: usize, rows: usize) -> std::result::Result<Vec<usize>, String> {
    match (classes, rows) {
        (2, 1) => Ok(vec![1]),
        (0, 1) => Ok(vec![]),
        (classes, rows) if classes == rows => Ok((0..classes).collect()),
        _ => Err(format!("it has {rows} rows, and its target has {classes} classes")),
    }
}

fn constant(name: &str, text: &str) -> Column {
    Column::new(name, Kind::Category { levels: vec![text.into()] })
}

impl ShippedDesign {
    /// Column that a released model predicts, and its classes. The classes are empty for a number.
    fn predicted(&self) -> Result<(Column, Vec<String>)> {
        let records = self.records()?;
        let no_target =
            || scumble_core::Error::shape("the design has no target, so a model has nothing to predict");
        let target = records.target.as_deref().ok_or_else(no_target)?;
        let classes = match self.mechanism().domain().target() {
            TargetDomain::Class { levels } => levels.clone(),
            _ => vec![],
        };
        Ok((records.schema.without_missing().column(target)?.clone(), classes))
    }

    /// Converts the `table` of a released model to rows of a file, and returns their decoder. The first
    /// columns name the class of each row, or the predicted number with its unit and bounds. The last column
    /// is the digest of the design.
    ///
    /// # Errors
    /// [`Error::Model`] if the number of rows does not match the classes of the target;
    /// [`Error::Shape`](scumble_core::Error::Shape) if the design has no schema or no target; same errors as
    /// [`digest`](Self::digest).
    pub fn model_rows(&self, table: &Table) -> Result<(Table, Decoder)> {
        let (target, classes) = self.predicted()?;
        let rows = classes_of_rows(classes.len(), table.len()).map_err(|problem| self.no_model(problem))?;
        let (labels, before) = match classes.is_empty() {
            false => {
                let indicators = Array2::from_shape_fn((rows.len(), classes.len()), |(row, class)| {
                    f64::from(u8::from(rows[row] == class))
                });
                (vec![Column::new(CLASS, Kind::Category { levels: classes })], indicators)
            }
            true => {
                let [name, unit, lower, upper] = NUMBER;
                let (offset, target_unit) = target.kind.offset_and_unit();
                let labels = vec![
                    constant(name, &target.name),
                    constant(unit, &target_unit),
                    Column::coordinate(lower),
                    Column::coordinate(upper),
                ];
                (labels, ndarray::array![[1.0, 1.0, offset, offset + target.kind.width()]])
            }
        };
        let numbers = table.columns().iter().map(|name| Column::coordinate(name));
        let columns = labels.into_iter().chain(numbers).chain([constant(DESIGN, &self.digest()?)]);
        let schema = Schema::from_columns(columns.collect())?;
        let layout = schema.file_layout();
        let last = Array2::ones((table.len(), 1));
        let values = concatenate(Axis(1), &[before.view(), table.records().view(), last.view()])
            .map_err(|problem| self.no_model(problem.to_string()))?;
        let decoder = schema.decoder(&layout, None).with_values(Values::Drawn);
        Ok((layout.table(values.view())?, decoder))
    }

    /// Describes a released model for a card: its family, its target, the meaning of its rows and columns,
    /// and its functions of columns.
    ///
    /// # Errors
    /// Same errors as [`model_rows`](Self::model_rows).
    pub fn model_card(&self, release: &Release) -> Result<Value> {
        let table = &release.table;
        let (target, classes) = self.predicted()?;
        let rows = classes_of_rows(classes.len(), table.len()).map_err(|problem| self.no_model(problem))?;
        let mut card = json!({
            "family": self.mechanism().releases().family(),
            "target": target.name,
            "columns": table.columns(),
            "unit": format!("the encoded record: {ENCODED}"),
        });
        if classes.is_empty() {
            let (lower, unit) = target.kind.offset_and_unit();
            card["predicts"] = json!({ "lower": lower, "upper": lower + target.kind.width(), "unit": unit });
        } else {
            card["rows"] = rows.iter().map(|class| classes[*class].as_str()).collect();
            if rows.len() == 1 {
                card["positive_class"] = classes[rows[0]].as_str().into();
            }
            card["classes"] = classes.into();
        }
        if let Some(deviations) = release.key.model().and_then(ReleasedModel::deviations) {
            card["deviations"] = deviations.into();
        }
        let functions = release.key.model().map(ReleasedModel::functions).unwrap_or_default();
        let functions: Vec<Value> =
            functions.iter().map(|function| self.described(function)).collect::<Result<_>>()?;
        if !functions.is_empty() {
            card["functions"] = functions.into();
        }
        Ok(card)
    }

    /// Describes the function of a column, or of a pair of columns, by its places, with numbers in the
    /// column's own unit. Knots for which there is no such number are left out.
    fn described(&self, function: &ModelFunction) -> Result<Value> {
        let axes: Vec<Described> = function.axes.iter().map(|axis| self.axis(axis)).collect::<Result<_>>()?;
        let of_each = |part: fn(&Described) -> Value| axes.iter().map(part).collect::<Value>();
        let mut described = match &axes[..] {
            [axis] => json!({ "column": axis.column, "unit": axis.unit, "at": axis.at }),
            _ => json!({
                "columns": of_each(|axis| json!(axis.column)),
                "units": of_each(|axis| json!(axis.unit)),
                "at": of_each(|axis| json!(axis.at)),
            }),
        };
        let lines = function.values.outer_iter();
        described["values"] = lines.map(|line| at_kept(&axes, &line.to_vec())).collect();
        if let Some(deviations) = &function.deviations {
            described["deviations"] = at_kept(&axes, deviations);
        }
        Ok(described)
    }

    /// Describes a column of a function.
    fn axis(&self, axis: &FunctionAxis) -> Result<Described> {
        let schema = &self.records()?.schema;
        match axis {
            FunctionAxis::Number { column, knots } => {
                let mut described = Described {
                    column: column.clone(),
                    unit: schema.column(column)?.kind.offset_and_unit().1,
                    at: vec![],
                    kept: vec![],
                    places: knots.len(),
                };
                for (place, knot) in knots.iter().enumerate() {
                    if let Some(number) = schema.number_at(column, *knot)? {
                        described.at.push(json!(number));
                        described.kept.push(place);
                    }
                }
                Ok(described)
            }
            FunctionAxis::Category { columns } => {
                let name = schema.column_of(columns).map_or("", |column| &column.name);
                let level = |full: &String| {
                    json!(full.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).unwrap_or(full))
                };
                Ok(Described {
                    column: name.to_owned(),
                    unit: String::new(),
                    at: columns.iter().map(level).collect(),
                    kept: (0..columns.len()).collect(),
                    places: columns.len(),
                })
            }
        }
    }

    /// Builds the model from the `table` of a release by this design.
    ///
    /// # Errors
    /// Same errors as [`model_of`](scumble_core::CuratorMechanism::model_of) and [`records`](Self::records).
    pub fn model(&self, table: &Table) -> Result<ShippedModel> {
        let (target, classes) = self.predicted()?;
        let model = self.mechanism().model_of(table)?;
        let (features, _) = self.records()?.schema.omit_missing_target(Some(&target.name), |_| false)?;
        Ok(ShippedModel { model, table: table.clone(), features: features.into_owned(), target, classes })
    }

    /// Reads a file of a model that this design released. The table of the result equals, bit for bit, the
    /// table from which [`model_rows`](Self::model_rows) made the rows of the file. Rows and columns may have
    /// any order.
    ///
    /// # Errors
    /// [`Error::Model`] for a model of another design, or for rows that do not form a model; same errors as
    /// [`Reader::new`] and [`Reader::read_all_with_column`].
    pub fn read_model(&self, rows: impl ReadRows) -> Result<ShippedModel> {
        let file = rows.source().to_owned();
        let refuse = |problem: String| Error::Model { file: file.clone(), problem };
        if self.mechanism().releases().family().is_none() {
            return Err(refuse(format!(
                "the design was made by {}, which releases no model",
                self.origin().plugin
            )));
        }
        let (_, classes) = self.predicted()?;
        let is_number = |name: &&String| {
            !(*name == DESIGN
                || if classes.is_empty() { NUMBER.contains(&name.as_str()) } else { *name == CLASS })
        };
        let names: Vec<String> = rows.header().iter().filter(is_number).cloned().collect();
        let class =
            (!classes.is_empty()).then(|| Column::new(CLASS, Kind::Category { levels: classes.clone() }));
        let columns = class.into_iter().chain(names.iter().map(|name| Column::coordinate(name)));
        let schema = Schema::from_columns(columns.collect())?;
        let reader = Reader::new(rows, &schema, None, OutOfBounds::Keep)?;
        let (loaded, designs) = reader.read_all_with_column(DESIGN)?;
        let own = self.digest()?;
        if let Some(row) = designs.iter().position(|digest| *digest != own) {
            let other = &designs[row];
            return Err(refuse(format!(
                "row {} belongs to the design {other:?}, and the given design is {own:?}",
                row + 1
            )));
        }
        let (labels, numbers) = loaded.table.records().view().split_at(Axis(1), classes.len());
        let expected = classes_of_rows(classes.len(), numbers.nrows()).map_err(refuse)?;
        let found: Vec<usize> = labels.outer_iter().map(|row| scumble_core::largest(&row.to_vec())).collect();
        let place = |class: &usize| {
            let place = found.iter().position(|found| found == class);
            place.ok_or_else(|| refuse(format!("it has no row of the class {:?}", classes[*class])))
        };
        let mut places = expected.iter().map(place).collect::<Result<Vec<_>>>()?;
        if classes.is_empty() {
            places.push(0);
        }
        let table = Table::new(names, numbers.select(Axis(0), &places), Target::None)?;
        self.model(&table).map_err(|error| refuse(error.to_string()))
    }

    fn no_model(&self, problem: String) -> Error {
        Error::Model { file: self.origin().plugin.clone(), problem }
    }
}

impl ShippedModel {
    /// Model that predicts from encoded records.
    pub fn model(&self) -> &dyn ReleasedModel {
        &*self.model
    }

    /// Table of the released numbers that define the model, which predicts from encoded records.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Name of the predicted column.
    pub fn target(&self) -> &str {
        &self.target.name
    }

    /// Classes in the order of the predicted probabilities; empty for a number.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Reader of the features of records in the clear. Other columns of the file are ignored, including the
    /// target.
    ///
    /// # Errors
    /// Same errors as [`Reader::new`].
    pub fn reader<'r>(&self, rows: impl ReadRows + 'r, out_of_bounds: OutOfBounds) -> Result<Reader<'r>> {
        Ok(Reader::new(rows, &self.features, None, out_of_bounds)?)
    }

    /// Decoder from the output of [`predict`](Self::predict) to rows of a file. The first column is the
    /// target. A predicted number is unrounded, in the unit of the target; a predicted date is rounded to a
    /// day. With `has_probabilities`, the probability of each class follows.
    ///
    /// # Errors
    /// [`Error::Model`] if probabilities are requested for a number.
    pub fn decoder(&self, has_probabilities: bool) -> Result<Decoder> {
        let mut columns = vec![match self.classes.is_empty() {
            false => Column::new(&self.target.name, Kind::Category { levels: self.classes.clone() }),
            true => self.target.clone(),
        }];
        if has_probabilities {
            if self.classes.is_empty() {
                let problem =
                    format!("{:?} is a number, and only classes have probabilities", self.target.name);
                return Err(Error::Model { file: "the model".into(), problem });
            }
            columns.extend(
                self.classes.iter().map(|class| Column::coordinate(&format!("probability of {class}"))),
            );
        }
        let schema = Schema::from_columns(columns)?;
        let values = match self.target.kind {
            Kind::Date { .. } => Values::Settled,
            _ => Values::Drawn,
        };
        Ok(schema.decoder(&schema.file_layout(), None).with_values(values))
    }

    /// Predicts from encoded records without a target, given as one vector with the coordinates of one record
    /// after the other. [`decoder`](Self::decoder) decodes the result.
    ///
    /// # Errors
    /// Same errors as [`ReleasedModel::predict`].
    pub fn predict(&self, records: &[f64], has_probabilities: bool) -> scumble_core::Result<Vec<f64>> {
        let table = self.features.file_layout().table_of(records.to_vec())?;
        let predicted = match self.model.predict(&table)? {
            Target::Class(classes) => {
                Array2::from_shape_fn((table.len(), self.classes.len()), |(row, class)| {
                    f64::from(u8::from(classes[row] == class))
                })
            }
            Target::Real(values) => values.insert_axis(Axis(1)),
            other => return Err(scumble_core::Error::shape(format!("a model predicted {}", other.kind()))),
        };
        let written = match has_probabilities {
            true => concatenate(Axis(1), &[predicted.view(), self.model.scores(&table)?.view()])
                .map_err(|problem| scumble_core::Error::shape(problem.to_string()))?,
            false => predicted,
        };
        Ok(written.into_iter().collect())
    }
}
