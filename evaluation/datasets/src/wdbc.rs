//! Breast tumours (Wolberg, Mangasarian and Street 1995): malignant or benign, by the nuclei of their cells.
//! Columns are named after the measured quantities.

use crate::csv_file::CsvFile;
use crate::encoded::{Encoded, measured};
use crate::{DataSet, Result, stored};
use scumble_core::Table;
use scumble_records::{Column, Kind, OutOfBounds, Schema};
use std::path::Path;

/// The public schema of the columns.
pub(crate) const SCHEMA: &str = include_str!("../schemas/wdbc.toml");

const TARGET: &str = "Cancer";

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    read(folder, &schema()?, OutOfBounds::Clip)
}

/// Reads the tumours from `folder` (569 tumours × 30 columns) in the units of the schema (pixels, pixels²,
/// shares), without clipping. The target is 0 for malignant and 1 for benign.
///
/// # Errors
/// [`Error::Missing`](crate::Error::Missing) if the file does not exist, and any error of the file, with the
/// row, the column and the value.
pub fn measurements(folder: &Path) -> Result<Table> {
    let schema = schema()?;
    let encoded = read(folder, &schema, OutOfBounds::Keep)?.table;
    measured(&schema, TARGET, &*encoded.whole()?)
}

/// The public bounds of each of the 30 columns, in the units of the schema.
///
/// # Errors
/// No error, unless the built-in schema cannot be read.
pub fn bounds() -> Result<Vec<(f64, f64)>> {
    let number_bounds = |column: &Column| match column.kind {
        Kind::Real { lower, upper, .. } => Some((lower, upper)),
        _ => None,
    };
    Ok(schema()?.columns().iter().filter_map(number_bounds).collect())
}

fn schema() -> Result<Schema> {
    Ok(Schema::from_toml(SCHEMA, "wdbc.toml")?)
}

fn read(folder: &Path, schema: &Schema, out_of_bounds: OutOfBounds) -> Result<DataSet> {
    let csv = CsvFile::read(&stored::read(&folder.join("wdbc/wdbc.csv"))?)?;
    let mut places = vec![csv.place(TARGET)?];
    for feature in 1..schema.columns().len() {
        places.push(csv.place(&format!("Feature {feature}"))?);
    }
    let mut encoded = Encoded::with(schema, TARGET, &csv.name, out_of_bounds)?;
    for (number, row) in csv.rows() {
        let cells = places.iter().map(|&place| &row[place]).enumerate();
        encoded.push(number, cells.map(|(at, cell)| if at == 0 { diagnosis(cell) } else { cell }))?;
    }
    encoded.data_set("wdbc")
}

/// Level of the diagnosis that the file codes as 0.0 or 1.0. scikit-learn has the same coding.
fn diagnosis(cell: &str) -> &str {
    match cell {
        "0.0" => "malignant",
        "1.0" => "benign",
        other => other,
    }
}
