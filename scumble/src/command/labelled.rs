//! A file of numbers, with a column of labels, and no schema: as solvers take them.

use super::reading::Reading;
use crate::core::nearest_name;
use crate::records::{Error, OutOfBounds, ReadRows, Reader, Schema};
use ndarray::Array2;
use std::collections::HashSet;
use std::path::Path;

/// Records and what they are labelled with.
pub(super) struct Labelled {
    /// The names of the columns that are left.
    pub(super) columns: Vec<String>,
    /// Their values (n × p).
    pub(super) records: Array2<f64>,
    /// As in the file, or in one notation where they are numbers (n).
    pub(super) labels: Vec<String>,
}

/// Labels that do not have two values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LabelError {
    /// One, or three and more.
    #[error("{file}, column {column:?}: its values are {}, where two are needed", listed(values))]
    NotTwo { file: String, column: String, values: Vec<String> },
    /// A positive one that no record has.
    #[error(
        "{file}, column {column:?}: no record has the positive value {positive:?}; its values are {}",
        listed(values)
    )]
    NoPositive { file: String, column: String, positive: String, values: Vec<String> },
}

/// The first five.
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
    /// Reads `file`: its header names `target` and those to `drop`, and every other column is numbers.
    ///
    /// # Errors
    /// Where the file cannot be read or lacks records, a column is missing or named twice, a row has another length, or a cell is
    /// no finite number.
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
                let nearest = nearest_name(column, header.iter().map(String::as_str));
                return Err(Error::MissingColumn { file: name, column: column.into(), nearest });
            }
        }
        let is_kept = |column: &String| column != target && !drop.contains(column);
        let columns: Vec<String> = header.into_iter().filter(is_kept).collect();
        if columns.is_empty() {
            let problem = format!("no column is left beside the target {target:?}");
            return Err(Error::Unreadable { file: name, problem });
        }
        let numbers = Schema::of_numbers(&columns)?;
        let reader = Reader::new(rows, &numbers, None, OutOfBounds::Keep)?;
        let (loaded, labels) = reader.read_all_beside(target)?;
        let records = loaded.table.records().clone();
        Ok(Self { columns, records, labels: labels.iter().map(|label| canonical(label)).collect() })
    }

    /// 1 for records with the label `positive`, −1 for those with the only other one.
    ///
    /// # Errors
    /// [`LabelError`] where there is no such label, or no or more than one other.
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

/// 1, 1.0 and 1e0 are one label.
fn canonical(label: &str) -> String {
    // Minus zero is zero.
    number(label).map_or_else(|| label.trim().to_owned(), |value| (value + 0.0).to_string())
}
