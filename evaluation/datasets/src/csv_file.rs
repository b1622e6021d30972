//! CSV files with a header, whose cells are changed before they are encoded.

use crate::Result;
use crate::stored::Stored;
use csv::{ReaderBuilder, StringRecord};
use scumble_core::nearest_name;
use scumble_records::Error;

/// A CSV file in memory. Its data rows are counted from 1.
pub(crate) struct CsvFile {
    pub name: String,
    header: StringRecord,
    rows: Vec<StringRecord>,
}

impl CsvFile {
    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that is not CSV, [`Error::RowLength`] for a row of another length.
    pub fn read(stored: &Stored) -> Result<Self> {
        let name = stored.file.clone();
        let unreadable =
            |error: csv::Error| Error::Unreadable { file: name.clone(), problem: error.to_string() };
        // None of these files has quotation marks, and an unclosed one would swallow rows.
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
    /// [`Error::MissingColumn`] with the nearest name.
    pub fn place(&self, column: &str) -> Result<usize> {
        let found = self.header.iter().position(|name| name.trim() == column);
        Ok(found.ok_or_else(|| Error::MissingColumn {
            file: self.name.clone(),
            column: column.into(),
            nearest: nearest_name(column, self.header.iter()),
        })?)
    }
}
