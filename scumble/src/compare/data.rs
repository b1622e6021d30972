//! What mechanisms are compared on: the embedded wines, or a user's file.

use super::{Error, Metric, Result};
use crate::registry::{
    self, Clipped, Kind, RecordDomain, Schema, Table, Target, TargetDomain, csv, nearest_name,
};
use ndarray::Array1;
use sha2::{Digest, Sha256};
use std::path::Path;

/// The fewest records on which a comparison says anything.
const FEWEST_RECORDS: usize = 10;

/// Encoded records with a target, and how to speak of them.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The file's name.
    pub name: String,
    /// What is learned: a column's name.
    pub target: String,
    /// The encoded records.
    pub table: Table,
    /// The first so many records are for training, where the set has a split of its own.
    pub train_records: Option<usize>,
    /// Where they lie, by their schema.
    pub domain: RecordDomain,
    /// The width of the target's bounds in its own unit; 1 for a class.
    pub target_width: f64,
    /// What was clipped to the public bounds. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
}

impl DataSet {
    /// The data set of this name.
    ///
    /// # Errors
    /// [`Error::Data`] with the nearest name.
    pub fn by_name(name: &str) -> Result<Self> {
        const NAMES: [&str; 1] = ["wine"];
        match name {
            "wine" => Ok(Self::wine()?),
            _ => Err(Error::Data(match nearest_name(name, NAMES) {
                Some(nearest) => format!("there is no data set {name:?}; did you mean {nearest:?}?"),
                None => format!("there is no data set {name:?}; there are {}", NAMES.join(", ")),
            })),
        }
    }

    /// The 1,599 red wines that come with linfa, good (six points of ten or more) or not. 240 of them repeat another row,
    /// so a split may put copies on both sides.
    ///
    /// # Errors
    /// None that a user could cause.
    pub fn wine() -> Result<Self, registry::Error> {
        let wine = linfa_datasets::winequality();
        let mut text = wine.feature_names().join(",") + ",quality\n";
        for (record, &points) in wine.records.outer_iter().zip(&wine.targets) {
            for value in record {
                text += &format!("{value},");
            }
            text += if points >= 6 { "good\n" } else { "bad\n" };
        }
        let schema = Schema::from_toml(include_str!("../../data/wine.toml"), "wine.toml")?;
        let loaded = csv::read(text.as_bytes(), "wine quality", &schema, Some("quality"))?;
        Self::new("wine quality", "quality", &schema, loaded)
    }

    /// A CSV file by its schema, to learn the column `target`.
    ///
    /// # Errors
    /// Whatever is wrong with the file, in a sentence that names file, row, column and value.
    pub fn read(input: &Path, schema: &Path, target: &str) -> Result<Self, registry::Error> {
        let schema = Schema::read(schema)?;
        let loaded = csv::read_file(input, &schema, Some(target))?;
        Self::new(&input.display().to_string(), target, &schema, loaded)
    }

    fn new(name: &str, target: &str, schema: &Schema, loaded: csv::Loaded) -> Result<Self, registry::Error> {
        let target_width = match schema.column(target)?.kind {
            Kind::Real { lower, upper, .. } => upper - lower,
            Kind::Category { .. } => 1.0,
        };
        Ok(Self {
            name: name.into(),
            target: target.into(),
            table: loaded.table,
            train_records: None,
            domain: loaded.domain,
            target_width,
            clipped: loaded.clipped,
        })
    }

    /// # Errors
    /// [`Error::Data`] for too few records, no feature, or one class only.
    pub(super) fn check_learnable(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::Data(format!("{}: {problem}", self.name)));
        if self.table.len() < FEWEST_RECORDS {
            return refuse(format!(
                "it holds {} records, and a comparison needs {FEWEST_RECORDS} or more",
                self.table.len()
            ));
        }
        if self.table.columns().is_empty() {
            return refuse(format!("there is no column to learn {:?} from", self.target));
        }
        if let (Target::Class(classes), TargetDomain::Class { levels }) =
            (self.table.target(), self.domain.target())
            && classes.iter().all(|class| *class == classes[0])
        {
            return refuse(format!(
                "every row's column {:?} is {:?}, and a classifier needs two classes",
                self.target, levels[classes[0]]
            ));
        }
        Ok(())
    }

    /// The error that says that `what` is for targets of the other kind.
    pub(super) fn misfit(&self, what: &str) -> Error {
        let (needed, found) = match self.domain.target() {
            TargetDomain::Class { .. } => ("numbers", "a class"),
            _ => ("classes", "a number"),
        };
        Error::Data(format!("{}: {what} is for {needed}, and {:?} is {found}", self.name, self.target))
    }

    /// The score on clean test records, by every metric that fits.
    pub(super) fn score(&self, predicted: &Target, truth: &Target) -> impl Iterator<Item = (Metric, f64)> {
        let scores = Metric::ALL.map(|metric| (metric, metric.score(predicted, truth, self.target_width)));
        scores.into_iter().filter_map(|(metric, score)| Some((metric, score?)))
    }

    /// SHA-256, in hexadecimal, of all that scores depend on: the records, their target, and where they lie.
    ///
    /// # Errors
    /// None that a user could cause.
    pub(super) fn digest(&self) -> Result<String> {
        let mut digest = Sha256::new();
        let domain = serde_json::to_vec(&(&self.domain, self.target_width));
        digest.update(domain.map_err(|error| Error::Data(format!("{}: {error}", self.name)))?);
        self.table.records().iter().for_each(|value| digest.update(value.to_le_bytes()));
        match self.table.target() {
            Target::None => {}
            Target::Class(classes) => classes.iter().for_each(|&at| digest.update((at as u64).to_le_bytes())),
            Target::Real(values) => values.iter().for_each(|value| digest.update(value.to_le_bytes())),
            Target::Vector(values) => values.iter().for_each(|value| digest.update(value.to_le_bytes())),
        }
        Ok(super::hexadecimal(&digest.finalize()))
    }
}

/// As many guesses of the commonest class, or of the mean, of what is trained on.
pub(super) fn blind_guesses(train: &Target, count: usize) -> Target {
    match train {
        Target::Class(train) => {
            let mut counts = vec![0; train.iter().max().map_or(0, |class| class + 1)];
            train.iter().for_each(|&class| counts[class] += 1);
            let commonest = train.iter().copied().max_by_key(|&class| counts[class]).unwrap_or(0);
            Target::Class(Array1::from_elem(count, commonest))
        }
        Target::Real(train) => Target::Real(Array1::from_elem(count, train.mean().unwrap_or(0.0))),
        _ => Target::None,
    }
}
