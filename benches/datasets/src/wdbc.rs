//! Breast tumours (Wolberg, Mangasarian and Street 1995): malignant or benign, by the nuclei of their cells.

use crate::csv_file::CsvFile;
use crate::encoded::Encoded;
use crate::{DataSet, Result, stored};
use scumble_registry::Schema;
use std::path::Path;

const TARGET: &str = "Cancer";

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let csv = CsvFile::read(&stored::read(&folder.join("wdbc/wdbc.csv"))?)?;
    let schema = Schema::from_toml(include_str!("../schemas/wdbc.toml"), "wdbc.toml")?;
    let mut places = vec![csv.place(TARGET)?];
    for feature in 1..schema.columns().len() {
        places.push(csv.place(&format!("Feature {feature}"))?);
    }
    let mut encoded = Encoded::new(&schema, TARGET, &csv.name)?;
    for (number, row) in csv.rows() {
        let cells = places.iter().map(|&place| &row[place]).enumerate();
        encoded.push(number, cells.map(|(at, cell)| if at == 0 { diagnosis(cell) } else { cell }))?;
    }
    encoded.data_set("wdbc")
}

/// The file's coding, which is that of scikit-learn.
fn diagnosis(cell: &str) -> &str {
    match cell {
        "0.0" => "malignant",
        "1.0" => "benign",
        other => other,
    }
}
