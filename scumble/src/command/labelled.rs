//! Reader of a file of numbers with a column of labels and no schema, as the solvers need it.

use super::reading::Reading;
use crate::records::{Error, OutOfBounds, ReadRows, Reader, Schema};
use ndarray::Array2;
use std::collections::HashSet;
use std::path::Path;

/// Records and their labels.
pub(super) struct Labelled {
    /// Names of the columns that are neither the target nor dropped.
    pub(super) columns: Vec<String>,
    /// Values of the columns in `columns`: one row for each record, one column for each name.
    pub(super) records: Array2<f64>,
    /// Label of each record, as in the file. Labels that are equal numbers are the same text, such as `1`,
    /// `1.0` and `1e0`.
    pub(super) labels: Vec<String>,
}

/// Error for labels that do not have exactly two values, or do not include the positive value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LabelError {
    /// The number of values is one, or three or more.
    #[error(
        "{file}, column {column:?}: the values are {}, but exactly two values are needed",
        listed(values)
    )]
    NotTwo { file: String, column: String, values: Vec<String> },
    /// No record has the positive value.
    #[error(
        "{file}, column {column:?}: no record has the positive value {positive:?}; the values are {}",
        listed(values)
    )]
    NoPositive { file: String, column: String, positive: String, values: Vec<String> },
}

/// Lists the first five values.
fn listed(values: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| format!("{value:?}")).collect();
    match values.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        _ if values.len() == 1 => format!("{} alone", shown.join(", ")),
        _ => shown.join(", "),
    }
}

impl Labelled {
    /// Reads `file`, whose header names `target` and the columns to `drop`; every other column holds numbers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has no records, or if a column is missing or named
    /// twice. Returns an error if no column remains, if a row and the header differ in length, or if a cell
    /// is not a finite number.
    pub(super) fn read(file: &Path, reading: &Reading, target: &str, drop: &[String]) -> Result<Self, Error> {
        let rows = reading.open(file)?;
        let name = rows.source().to_owned();
        let header = rows.header().to_vec();
        let mut seen = HashSet::new();
        if let Some(column) = header.iter().find(|column| !seen.insert(*column)) {
            return Err(Error::DuplicateColumn { file: name, column: column.clone() });
        }
        for column in drop.iter().map(String::as_str).chain([target]) {
            if !header.iter().any(|name| name == column) {
                return Err(Error::MissingColumn { file: name, column: column.into(), columns: header });
            }
        }
        let is_kept = |column: &String| column != target && !drop.contains(column);
        let columns: Vec<String> = header.into_iter().filter(is_kept).collect();
        if columns.is_empty() {
            let problem = format!("no column remains besides the target {target:?}");
            return Err(Error::Unreadable { file: name, problem });
        }
        let numbers = Schema::from_numeric_columns(&columns)?;
        let reader = Reader::new(rows, &numbers, None, OutOfBounds::Keep)?;
        let (loaded, labels) = reader.read_all_with_column(target)?;
        let records = loaded.table.records().clone();
        Ok(Self { columns, records, labels: labels.iter().map(|label| canonical(label)).collect() })
    }

    /// Returns 1 for records with the label `positive`, and −1 for records with the only other label.
    ///
    /// # Errors
    /// [`LabelError::NotTwo`] if the labels do not have exactly two values, [`LabelError::NoPositive`] if
    /// neither value is `positive`.
    pub(super) fn signs(&self, file: &Path, column: &str, positive: &str) -> Result<Vec<f64>, LabelError> {
        let (file, column) = (file.display().to_string(), column.to_owned());
        let mut values: Vec<String> = self.labels.clone();
        values.sort();
        values.dedup();
        let positive = canonical(positive);
        if values.len() != 2 {
            return Err(LabelError::NotTwo { file, column, values });
        }
        if !values.contains(&positive) {
            return Err(LabelError::NoPositive { file, column, positive, values });
        }
        Ok(self.labels.iter().map(|label| if *label == positive { 1.0 } else { -1.0 }).collect())
    }
}

fn number(cell: &str) -> Option<f64> {
    cell.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

/// Brings a label into one notation: 1, 1.0 and 1e0 are one label.
fn canonical(label: &str) -> String {
    // Adding zero turns minus zero into zero.
    number(label).map_or_else(|| label.trim().to_owned(), |value| (value + 0.0).to_string())
}
