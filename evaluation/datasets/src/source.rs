//! The data sets by name, and their folder.

use crate::{
    DataSet, Error, Result, SchemaAt, adult, built_in, cifar, generated, household, lending_club, mnist,
    stored, valuation, wdbc,
};
use scumble_core::nearest_name;
use scumble_records::{Schema, csv};
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
    read: Read,
}

/// Way to read a data set.
#[derive(Debug, Clone, Copy)]
enum Read {
    /// A function of the data set's own module.
    By(fn(&Path) -> Result<DataSet>),
    /// A CSV file of the folder `more`, by the schema and without changes.
    Table { file: &'static str, target: &'static str },
}

impl Source {
    /// Reads the data set from `folder`, which holds a folder for each data set.
    ///
    /// # Errors
    /// [`Error::Missing`] for a missing file, and any error of a file.
    pub fn load(&self, folder: &Path) -> Result<DataSet> {
        let data = match self.read {
            Read::By(read) => read(folder)?,
            Read::Table { file, target } => self.read_table(&folder.join("more").join(file), target)?,
        };
        Ok(DataSet { schema: self.schema.map(|_| SchemaAt::Source(self.name)), is_public: true, ..data })
    }

    fn read_table(&self, file: &Path, target: &str) -> Result<DataSet> {
        let stored = stored::read(file)?;
        let schema = Schema::from_toml(self.schema.unwrap_or_default(), &format!("{}.toml", self.name))?;
        let loaded = csv::read(&stored.bytes[..], &stored.file, &schema, Some(target))?;
        Ok(DataSet::loaded(self.name, target, &schema, loaded)?)
    }
}

const SOURCES: [Source; 23] = [
    Source {
        name: "adult",
        about: "48,842 census records: does a person earn more than 50,000 dollars a year?",
        schema: Some(adult::SCHEMA),
        read: Read::By(adult::load),
    },
    Source {
        name: "cifar10",
        about: "colour images, 32 × 32, of ten classes: those of the 50,000 + 10,000 that are available",
        schema: None,
        read: Read::By(cifar::load),
    },
    Source {
        name: "college",
        about: "4,739 pupils of the United States: their years of education",
        schema: Some(include_str!("../schemas/college.toml")),
        read: Read::Table { file: "college.csv", target: "education" },
    },
    Source {
        name: "credit-card",
        about: "1,319 applications for a credit card: accepted or not?",
        schema: Some(include_str!("../schemas/credit-card.toml")),
        read: Read::Table { file: "credit_card.csv", target: "card" },
    },
    Source {
        name: "diabetes",
        about: "441 patients, built in: the progression of their diabetes after a year",
        schema: Some(built_in::DIABETES),
        read: Read::By(|_| Ok(built_in::diabetes()?)),
    },
    Source {
        name: "doctor-visits",
        about: "5,190 Australians: their visits to a doctor in two weeks",
        schema: Some(include_str!("../schemas/doctor-visits.toml")),
        read: Read::Table { file: "doctor_visits.csv", target: "visits" },
    },
    Source {
        name: "hmda",
        about: "2,380 mortgages in Boston: denied or granted?",
        schema: Some(include_str!("../schemas/hmda.toml")),
        read: Read::Table { file: "hmda.csv", target: "deny" },
    },
    Source {
        name: "household",
        about: "a house's power, hour by hour, on 1,408 days: its mean on the next day",
        schema: Some(household::SCHEMA),
        read: Read::By(household::load),
    },
    Source {
        name: "iris",
        about: "150 irises, built in: which of three species?",
        schema: Some(built_in::IRIS),
        read: Read::By(|_| Ok(built_in::iris()?)),
    },
    Source {
        name: "lending-club",
        about: "42,535 loans of 2007 to 2011: the interest rate, from data that are known before it is set",
        schema: Some(lending_club::LOAN),
        read: Read::By(lending_club::load_rate),
    },
    Source {
        name: "lending-club-default",
        about: "42,535 loans of 2007 to 2011: paid back or charged off?",
        schema: Some(lending_club::ISSUED_LOAN),
        read: Read::By(lending_club::load_default),
    },
    Source {
        name: "letters",
        about: "20,000 images of capital letters by sixteen properties: which letter?",
        schema: Some(include_str!("../schemas/letters.toml")),
        read: Read::Table { file: "letters.csv", target: "lettr" },
    },
    Source {
        name: "mnist",
        about: "60,000 + 10,000 handwritten digits, 28 × 28: which digit?",
        schema: None,
        read: Read::By(mnist::load),
    },
    Source {
        name: "pima",
        about: "768 Pima women, with missing measurements: do they have diabetes?",
        schema: Some(include_str!("../schemas/pima.toml")),
        read: Read::Table { file: "pima.csv", target: "diabetes" },
    },
    Source {
        name: "satellite",
        about: "6,435 places in satellite images: which of six soils and crops?",
        schema: Some(include_str!("../schemas/satellite.toml")),
        read: Read::Table { file: "satellite.csv", target: "classes" },
    },
    Source {
        name: "spam",
        about: "4,601 messages by the frequencies of words: spam or not?",
        schema: Some(include_str!("../schemas/spam.toml")),
        read: Read::Table { file: "spam.csv", target: "type" },
    },
    Source {
        name: "tree",
        about: "4,000 made-up records of eight answers: the class by a tree of decisions",
        schema: Some(include_str!("../schemas/tree.toml")),
        read: Read::By(generated::tree),
    },
    Source {
        name: "valuation",
        about: "414 houses sold in New Taipei City in 2012 and 2013: the price per unit of area",
        schema: Some(valuation::SCHEMA),
        read: Read::By(valuation::load),
    },
    Source {
        name: "votes",
        about: "435 members of a parliament by sixteen votes, some missing: which party?",
        schema: Some(include_str!("../schemas/votes.toml")),
        read: Read::Table { file: "votes.csv", target: "Class" },
    },
    Source {
        name: "wages",
        about: "28,155 men in the United States: their weekly wages",
        schema: Some(include_str!("../schemas/wages.toml")),
        read: Read::Table { file: "wages.csv", target: "wage" },
    },
    Source {
        name: "wdbc",
        about: "569 breast tumours, measured on their cell nuclei: malignant or benign?",
        schema: Some(wdbc::SCHEMA),
        read: Read::By(wdbc::load),
    },
    Source {
        name: "wine",
        about: "1,599 red wines, built in: good (six points or more) or bad?",
        schema: Some(built_in::WINE),
        read: Read::By(|_| Ok(DataSet::wine()?)),
    },
    Source {
        name: "xor",
        about: "4,000 made-up records of eight answers: are the first two the same?",
        schema: Some(include_str!("../schemas/xor.toml")),
        read: Read::By(generated::xor),
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
