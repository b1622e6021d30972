//! Text format of a file of records: given by options, or recognised from the text of the file.

use super::complain;
use crate::parquet::open;
use crate::records::{Decimal, Delimiter, Encoding, Error, ReadRows, TextFormat};
use clap::Args;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[derive(Args, Clone, Default)]
#[command(next_help_heading = "CSV format (recognised if not given)")]
pub(super) struct Reading {
    /// Separator of columns: comma, semicolon, tab or bar.
    #[arg(long, value_name = "NAME")]
    delimiter: Option<Delimiter>,
    /// Decimal separator of numbers: point or comma.
    #[arg(long, value_name = "NAME")]
    decimal: Option<Decimal>,
    /// Encoding of characters: utf-8, utf-16 or latin-1.
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,
}

impl Reading {
    pub(super) fn format(&self) -> TextFormat {
        TextFormat { delimiter: self.delimiter, decimal: self.decimal, encoding: self.encoding }
    }

    /// Opens a file of records, `-` for standard input, and prints the recognised format.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or has no header.
    pub(super) fn open(&self, file: &Path) -> Result<Box<dyn ReadRows>, Error> {
        let rows = open(file, &self.format())?;
        tell_recognised(rows.source(), rows.recognised().as_deref());
        Ok(rows)
    }
}

/// Prints the recognised format of a file: once, even if the file is read twice.
pub(super) fn tell_recognised(file: &str, recognised: Option<&str>) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if let Some(recognised) = recognised
        && TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned())
    {
        complain(&format!(
            "{file}: recognised format: {recognised}; override it by --delimiter, --decimal or --encoding"
        ));
    }
}
