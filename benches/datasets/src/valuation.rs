//! Houses sold in New Taipei City (Yeh 2018): the price of a unit of area.

use crate::{DataSet, Result, stored};
use scumble_registry::{Schema, csv};
use std::path::Path;

const TARGET: &str = "Y house price of unit area";

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let stored = stored::read(&folder.join("valuation/valuation.csv"))?;
    let schema = Schema::from_toml(include_str!("../schemas/valuation.toml"), "valuation.toml")?;
    let loaded = csv::read(&stored.bytes[..], &stored.file, &schema, Some(TARGET))?;
    // As in task-aware privacy: the first 289 of the 414, in the file's order.
    let train_records = Some(loaded.table.len() * 7 / 10);
    Ok(DataSet { train_records, ..DataSet::new("valuation", TARGET, &schema, loaded)? })
}
