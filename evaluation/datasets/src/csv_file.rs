//! CSV files with a header, for data sets that change cells before encoding them.

use crate::Result;
use crate::stored::Stored;
use csv::{ReaderBuilder, StringRecord};
use scumble_records::Error;

/// A CSV file in memory. Its data rows are counted from 1.
pub(crate) struct CsvFile {
    pub name: String,
    header: StringRecord,
    rows: Vec<StringRecord>,
}

impl CsvFile {
    /// Reads the CSV file in `stored`.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that is not CSV, and [`Error::RowLength`] for a row that differs in
    /// length from the header.
    pub fn read(stored: &Stored) -> Result<Self> {
        let name = stored.file.clone();
        let unreadable =
            |error: csv::Error| Error::Unreadable { file: name.clone(), problem: error.to_string() };
        // No file of the data sets has quotation marks. An unclosed quotation mark would join the following
        // rows into one cell.
        let mut reader = ReaderBuilder::new().flexible(true).quoting(false).from_reader(&stored.bytes[..]);
        let header = reader.headers().map_err(unreadable)?.clone();
        let mut rows = vec![];
        for row in reader.records() {
            let row = row.map_err(unreadable)?;
            if row.len() != header.len() {
                let (found, expected) = (row.len(), header.len());
                return Err(Error::RowLength { file: name, row: rows.len() + 1, found, expected }.into());
            }
            rows.push(row);
        }
        Ok(Self { name, header, rows })
    }

    /// The data rows, each with its number.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &StringRecord)> {
        (1..).zip(&self.rows)
    }

    /// The index of `column` in a row.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if no column has this name.
    pub fn place(&self, column: &str) -> Result<usize> {
        let found = self.header.iter().position(|name| name.trim() == column);
        Ok(found.ok_or_else(|| Error::MissingColumn {
            file: self.name.clone(),
            column: column.into(),
            columns: self.header.iter().map(str::to_owned).collect(),
        })?)
    }
}
