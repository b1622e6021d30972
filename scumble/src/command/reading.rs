//! How a file of records is written: what the options say, and what was recognised.

use super::complain;
use crate::parquet::open;
use crate::records::{Decimal, Delimiter, Encoding, Error, ReadRows, TextFormat};
use clap::Args;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[derive(Args, Clone, Default)]
#[command(next_help_heading = "How CSV is written (recognised where it is not given)")]
pub(super) struct Reading {
    /// What separates columns: comma, semicolon, tab or bar.
    #[arg(long, value_name = "NAME")]
    delimiter: Option<Delimiter>,
    /// What separates the decimals of a number: point or comma.
    #[arg(long, value_name = "NAME")]
    decimal: Option<Decimal>,
    /// Which bytes characters are: utf-8, utf-16 or latin-1.
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,
}

impl Reading {
    pub(super) fn format(&self) -> TextFormat {
        TextFormat { delimiter: self.delimiter, decimal: self.decimal, encoding: self.encoding }
    }

    /// Opens a file of records, `-` for standard input, and says what was recognised of how it is written.
    ///
    /// # Errors
    /// Where it cannot be opened or has no header.
    pub(super) fn open(&self, file: &Path) -> Result<Box<dyn ReadRows>, Error> {
        let rows = open(file, &self.format())?;
        tell_recognised(rows.source(), rows.recognised().as_deref());
        Ok(rows)
    }
}

/// Says how a file was found to be written: once, also where it is read twice.
pub(super) fn tell_recognised(file: &str, recognised: Option<&str>) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if let Some(recognised) = recognised
        && TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned())
    {
        complain(&format!(
            "{file}: recognised: {recognised} (otherwise: --delimiter, --decimal, --encoding)"
        ));
    }
}
