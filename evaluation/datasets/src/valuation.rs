//! Houses sold in New Taipei City (Yeh 2018): the price of a unit of area.

use crate::encoded::measured;
use crate::{DataSet, Result, stored};
use scumble_core::Table;
use scumble_records::{OutOfBounds, Reader, Schema, csv};
use std::path::Path;

/// The public schema of the columns.
pub(crate) const SCHEMA: &str = include_str!("../schemas/valuation.toml");

const TARGET: &str = "Y house price of unit area";

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let stored = stored::read(&folder.join("valuation/valuation.csv"))?;
    let schema = schema()?;
    let loaded = csv::read(&stored.bytes[..], &stored.file, &schema, Some(TARGET))?;
    // The published results of task-aware privacy also use the first 289 of the 414 houses for training, in
    // the file's order.
    let train_records = Some(loaded.table.len() * 7 / 10);
    Ok(DataSet { train_records, ..DataSet::loaded("valuation", TARGET, &schema, loaded)? })
}

/// Reads the houses from `folder` (414 houses × 6 columns), in the file's order and the units of the schema,
/// without clipping. The target is the price per ping, a unit of area, in 10,000 New Taiwan dollars.
///
/// # Errors
/// [`Error::Missing`](crate::Error::Missing) if the file does not exist, and any error of the file, with the
/// row, the column and the value.
pub fn measurements(folder: &Path) -> Result<Table> {
    let stored = stored::read(&folder.join("valuation/valuation.csv"))?;
    let schema = schema()?;
    let rows = csv::Rows::new(&stored.bytes[..], &stored.file)?;
    let reader = Reader::new(rows, &schema, Some(TARGET), OutOfBounds::Keep)?;
    measured(&schema, TARGET, &reader.read_all()?.table)
}

fn schema() -> Result<Schema> {
    Ok(Schema::from_toml(SCHEMA, "valuation.toml")?)
}
