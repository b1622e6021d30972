//! People of the 1994 census of the United States (Becker and Kohavi 1996): does a person earn more than
//! 50,000 dollars a year?
//!
//! `fnlwgt` is left out: it weighs a record in the survey, and is independent of the person. `education` is
//! left out too: it repeats `education-num` in words. Records with a missing category stay; a missing value
//! has a level of its own, `?`.

use crate::encoded::Encoded;
use crate::stored::{self, Stored};
use crate::{DataSet, Result};
use scumble_records::Error;
use scumble_records::Schema;
use std::path::Path;

/// The public schema of the columns.
pub(crate) const SCHEMA: &str = include_str!("../schemas/adult.toml");

const TARGET: &str = "income";

/// The columns of the files, which lack a header (`adult.names`).
const FILE_COLUMNS: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    TARGET,
];

/// First line of the test file, which is not a record.
const FIRST_LINE_OF_TEST: &str = "|1x3 Cross validator";

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let schema = Schema::from_toml(SCHEMA, "adult.toml")?;
    let train = stored::read(&folder.join("adult/adult.data"))?;
    let test = stored::read(&folder.join("adult/adult.test"))?;
    let mut encoded = Encoded::new(&schema, TARGET, &train.file)?;
    push_rows(&mut encoded, &schema, &train)?;
    let train_records = Some(encoded.len());
    encoded.next_file(&test.file)?;
    push_rows(&mut encoded, &schema, &test)?;
    Ok(DataSet { train_records, ..encoded.data_set("adult")? })
}

fn push_rows(encoded: &mut Encoded, schema: &Schema, stored: &Stored) -> Result<()> {
    let places: Vec<usize> = FILE_COLUMNS
        .iter()
        .enumerate()
        .filter(|(_, column)| schema.column(column).is_ok())
        .map(|(place, _)| place)
        .collect();
    let text = stored.text()?;
    let lines = text.strip_prefix(FIRST_LINE_OF_TEST).unwrap_or(text).lines();
    let mut rows = (1..).zip(lines.filter(|line| !line.trim().is_empty())).peekable();
    if rows.peek().is_none() {
        return Err(scumble_core::Error::Empty { place: stored.file.clone() }.into());
    }
    for (row, line) in rows {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != FILE_COLUMNS.len() {
            let (found, expected) = (cells.len(), FILE_COLUMNS.len());
            return Err(Error::RowLength { file: stored.file.clone(), row, found, expected }.into());
        }
        encoded.push(row, places.iter().map(|&place| cell(cells[place], place)))?;
    }
    Ok(())
}

/// Removes the full stop at the end of a label, which only test records have. `place` is the index of the
/// column in [`FILE_COLUMNS`].
fn cell(cell: &str, place: usize) -> &str {
    if FILE_COLUMNS[place] == TARGET { cell.strip_suffix('.').unwrap_or(cell) } else { cell }
}
