//! What mechanisms are compared on: the embedded wines, or a user's file.

use super::{Error, Result, Split, accuracy, rmse};
use crate::registry::{self, Clipped, Kind, RecordDomain, Schema, Table, Target, TargetDomain, csv};
use ndarray::Array1;
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
    /// Where they lie, by their schema.
    pub domain: RecordDomain,
    /// The width of the target's bounds in its own unit; 1 for a class.
    pub target_width: f64,
    /// What was clipped to the public bounds. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
}

impl DataSet {
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
            domain: loaded.domain,
            target_width,
            clipped: loaded.clipped,
        })
    }

    /// The model that learns such a target, and the metric that scores it.
    pub(super) fn model_and_metric(&self) -> (&'static str, &'static str) {
        match self.domain.target() {
            TargetDomain::Class { .. } => ("logistic", "accuracy"),
            _ => ("ridge", "rmse"),
        }
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

    /// The test score of guessing the training records' commonest class or mean.
    pub(super) fn blind_guess(&self, split: &Split) -> f64 {
        match (split.train.target(), split.test.target()) {
            (Target::Class(train), Target::Class(test)) => {
                let mut counts = vec![0; train.iter().max().map_or(0, |class| class + 1)];
                train.iter().for_each(|&class| counts[class] += 1);
                let commonest = train.iter().copied().max_by_key(|&class| counts[class]).unwrap_or(0);
                accuracy(&Array1::from_elem(test.len(), commonest), test)
            }
            (Target::Real(train), Target::Real(test)) => {
                let mean = train.mean().unwrap_or(0.0);
                rmse(&Array1::from_elem(test.len(), mean), test) * self.target_width
            }
            _ => f64::NAN,
        }
    }
}
