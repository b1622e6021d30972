//! The data sets by name, and their folder.

use crate::{
    DataSet, Error, Result, SchemaAt, adult, built_in, cifar, household, lending_club, mnist, valuation, wdbc,
};
use scumble_core::nearest_name;
use std::path::{Path, PathBuf};

/// A public data set.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The data set's name.
    pub name: &'static str,
    /// One line about its records and its target.
    pub about: &'static str,
    /// The public schema of its columns, as TOML; `None` for images.
    pub schema: Option<&'static str>,
    load: fn(&Path) -> Result<DataSet>,
}

impl Source {
    /// Reads the data set from `folder`, which holds a folder for each data set.
    ///
    /// # Errors
    /// [`Error::Missing`] for a missing file, and any error of a file.
    pub fn load(&self, folder: &Path) -> Result<DataSet> {
        let data = (self.load)(folder)?;
        Ok(DataSet { schema: self.schema.map(|_| SchemaAt::Source(self.name)), is_public: true, ..data })
    }
}

const SOURCES: [Source; 11] = [
    Source {
        name: "adult",
        about: "48,842 census records: does a person earn more than 50,000 dollars a year?",
        schema: Some(adult::SCHEMA),
        load: adult::load,
    },
    Source {
        name: "cifar10",
        about: "colour images, 32 × 32, of ten classes: those of the 50,000 + 10,000 that are available",
        schema: None,
        load: cifar::load,
    },
    Source {
        name: "diabetes",
        about: "441 patients, built in: the progression of their diabetes after a year",
        schema: Some(built_in::DIABETES),
        load: |_| Ok(built_in::diabetes()?),
    },
    Source {
        name: "household",
        about: "a house's power, hour by hour, on 1,408 days: its mean on the next day",
        schema: Some(household::SCHEMA),
        load: household::load,
    },
    Source {
        name: "iris",
        about: "150 irises, built in: which of three species?",
        schema: Some(built_in::IRIS),
        load: |_| Ok(built_in::iris()?),
    },
    Source {
        name: "lending-club",
        about: "42,535 loans of 2007 to 2011: the interest rate, from data that are known before it is set",
        schema: Some(lending_club::LOAN),
        load: lending_club::load_rate,
    },
    Source {
        name: "lending-club-default",
        about: "42,535 loans of 2007 to 2011: paid back or charged off?",
        schema: Some(lending_club::ISSUED_LOAN),
        load: lending_club::load_default,
    },
    Source {
        name: "mnist",
        about: "60,000 + 10,000 handwritten digits, 28 × 28: which digit?",
        schema: None,
        load: mnist::load,
    },
    Source {
        name: "valuation",
        about: "414 houses sold in New Taipei City in 2012 and 2013: the price per unit of area",
        schema: Some(valuation::SCHEMA),
        load: valuation::load,
    },
    Source {
        name: "wdbc",
        about: "569 breast tumours, measured on their cell nuclei: malignant or benign?",
        schema: Some(wdbc::SCHEMA),
        load: wdbc::load,
    },
    Source {
        name: "wine",
        about: "1,599 red wines, built in: good (six points or more) or bad?",
        schema: Some(built_in::WINE),
        load: |_| Ok(DataSet::wine()?),
    },
];

/// All data sets, sorted by name.
pub fn sources() -> &'static [Source] {
    &SOURCES
}

/// The data set with this name.
///
/// # Errors
/// [`Error::Unknown`] if no data set has this name, with the nearest name and all names.
pub fn source(name: &str) -> Result<&'static Source> {
    let names = || sources().iter().map(|source| source.name);
    sources().iter().find(|source| source.name == name).ok_or_else(|| Error::Unknown {
        name: name.into(),
        nearest: nearest_name(name, names()),
        known: names().collect::<Vec<_>>().join(", "),
    })
}

/// The folder of the data: the environment variable `SCUMBLE_DATA`, or `../shared/data` if it is not set.
pub fn folder() -> PathBuf {
    std::env::var_os("SCUMBLE_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from)
}
