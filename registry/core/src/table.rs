//! Tables: records, a target, and column names.

#[cfg(feature = "linfa")]
mod dataset;

use crate::text::hexadecimal;
use crate::{Error, Result};
use ndarray::{Array1, Array2, Axis};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Quantity to be learned for each record.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// No target.
    None,
    /// A class for each of the n records, counted from 0.
    Class(Array1<usize>),
    /// A number for each of the n records.
    Real(Array1<f64>),
    /// A vector of m numbers for each of the n records (n × m).
    Vector(Array2<f64>),
}

impl Target {
    /// Kind of target, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Class(_) => "a class",
            Self::Real(_) => "a number",
            Self::Vector(_) => "a vector",
        }
    }

    fn len(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Class(classes) => Some(classes.len()),
            Self::Real(values) => Some(values.len()),
            Self::Vector(values) => Some(values.nrows()),
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::None => Self::None,
            Self::Class(classes) => Self::Class(classes.select(Axis(0), rows)),
            Self::Real(values) => Self::Real(values.select(Axis(0), rows)),
            Self::Vector(values) => Self::Vector(values.select(Axis(0), rows)),
        }
    }
}

/// Table of n records with d features (n × d), their target, and the d column names.
///
/// With the feature `linfa`, a table converts to and from `linfa::Dataset`, from which models are learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    records: Array2<f64>,
    target: Target,
    shares: Option<Vec<u16>>,
}

/// Number of parts into which the weight of a person is divided among the person's records.
pub const PARTS: u16 = 1024;

/// Shares of a person's `records` records, in units of 1/[`PARTS`]. They differ by one part at most, and have
/// the sum [`PARTS`]. A person has 1 to [`PARTS`] records.
pub fn shares(records: u16) -> impl Iterator<Item = u16> {
    let (each, rest) = (PARTS / records.max(1), PARTS % records.max(1));
    (0..records).map(move |at| each + u16::from(at < rest))
}

impl Table {
    /// Table of these n `records` of d features (n × d), with their n targets and the d names of their
    /// `columns`.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers of columns, records and targets do not agree, or if two columns have
    /// one name.
    pub fn new(columns: Vec<String>, records: Array2<f64>, target: Target) -> Result<Self> {
        check_columns(&columns, records.ncols(), || format!("the records have {}", records.ncols()))?;
        match target.len() {
            Some(targets) if targets != records.nrows() => {
                Err(Error::shape(format!("there are {targets} targets for {} records", records.nrows())))
            }
            _ => Ok(Self { columns, records, target, shares: None }),
        }
    }

    /// Column names (d).
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Records (n × d).
    pub fn records(&self) -> &Array2<f64> {
        &self.records
    }

    /// Target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Same records, of people with several records each. `shares` has one value for each of the n records:
    /// the share of its person's weight, in units of 1/[`PARTS`]. The shares of a person's records must have
    /// the sum [`PARTS`]; the caller ensures this, because a table does not know whose a record is.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are n shares from 1 to [`PARTS`].
    pub fn with_shares(self, shares: Vec<u16>) -> Result<Self> {
        if shares.len() != self.len() || !shares.iter().all(|share| (1..=PARTS).contains(share)) {
            let problem = format!("{} records need as many shares from 1 to {PARTS}", self.len());
            return Err(Error::shape(problem));
        }
        Ok(Self { shares: Some(shares), ..self })
    }

    /// Table in which each record becomes `count` equal records of one person, with shares.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `count` is between 1 and [`PARTS`].
    pub fn repeated(&self, count: u16) -> Result<Self> {
        if !(1..=PARTS).contains(&count) {
            return Err(Error::shape(format!("a person has 1 to {PARTS} records, and not {count}")));
        }
        let rows: Vec<usize> = (0..self.len()).flat_map(|row| vec![row; count.into()]).collect();
        let shares = (0..self.len()).flat_map(|_| shares(count)).collect();
        self.select(&rows)?.with_shares(shares)
    }

    /// Share of each record in its person's weight, in units of 1/[`PARTS`]. `None` if each record is a
    /// person's only one.
    pub fn shares(&self) -> Option<&[u16]> {
        self.shares.as_deref()
    }

    /// Number of records, n.
    pub fn len(&self) -> usize {
        self.records.nrows()
    }

    /// Returns whether the table has no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records at `rows`, in this order.
    ///
    /// # Errors
    /// [`Error::Shape`] if a row does not exist.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        if let Some(row) = rows.iter().find(|&&row| row >= self.len()) {
            return Err(Error::shape(format!(
                "record {row} does not exist: the table has {} records, counted from 0",
                self.len()
            )));
        }
        Ok(Self {
            columns: self.columns.clone(),
            records: self.records.select(Axis(0), rows),
            target: self.target.select(rows),
            shares: self.shares.as_ref().map(|shares| rows.iter().map(|&row| shares[row]).collect()),
        })
    }

    /// Same records with another target.
    ///
    /// # Errors
    /// [`Error::Shape`] for a target of another length.
    pub fn with_target(self, target: Target) -> Result<Self> {
        let shares = self.shares;
        Ok(Self { shares, ..Self::new(self.columns, self.records, target)? })
    }

    /// Same target without features (n × 0).
    pub fn without_features(&self) -> Self {
        let (target, shares) = (self.target.clone(), self.shares.clone());
        Self { columns: vec![], records: Array2::zeros((self.len(), 0)), target, shares }
    }

    /// SHA-256 of columns, records and target, in hexadecimal. A secret key stores it to identify its
    /// release.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        let mut counted = |count: usize| digest.update((count as u64).to_le_bytes());
        counted(self.columns.len());
        counted(self.len());
        for column in &self.columns {
            digest.update((column.len() as u64).to_le_bytes());
            digest.update(column);
        }
        let numbers = |digest: &mut Sha256, values: &mut dyn Iterator<Item = &f64>| {
            values.for_each(|value| digest.update(value.to_le_bytes()));
        };
        numbers(&mut digest, &mut self.records.iter());
        digest.update(self.target.kind());
        match &self.target {
            Target::None => {}
            Target::Class(classes) => {
                classes.iter().for_each(|class| digest.update((*class as u64).to_le_bytes()))
            }
            Target::Real(values) => numbers(&mut digest, &mut values.iter()),
            Target::Vector(values) => numbers(&mut digest, &mut values.iter()),
        }
        hexadecimal(&digest.finalize())
    }

    /// Returns whether the table has no NaN and no infinity.
    pub fn is_finite(&self) -> bool {
        self.check_finite().is_ok()
    }

    /// Checks that all numbers are finite.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with the first row and column that holds a NaN or an infinity.
    pub(crate) fn check_finite(&self) -> Result<()> {
        let refuse =
            |row: usize, column: String, value: f64| Err(Error::NonFinite { row: row + 1, column, value });
        let first = |values: &Array2<f64>| {
            let mut cells = values.indexed_iter();
            cells.find(|(_, x)| !x.is_finite()).map(|(at, &x)| (at, x))
        };
        if let Some(((row, column), value)) = first(&self.records) {
            return refuse(row, self.columns[column].clone(), value);
        }
        let bad_target = match &self.target {
            Target::None | Target::Class(_) => None,
            Target::Real(values) => {
                values.indexed_iter().find(|(_, x)| !x.is_finite()).map(|(row, &x)| (row, x))
            }
            Target::Vector(values) => first(values).map(|((row, _), x)| (row, x)),
        };
        match bad_target {
            Some((row, value)) => refuse(row, "the target".into(), value),
            None => Ok(()),
        }
    }
}

/// Checks the number of column names, and that they are distinct.
///
/// # Errors
/// [`Error::Shape`] unless there are `width` names, each once. `whose` returns the end of the message about a
/// wrong number of names, for example "the records have 3".
pub(crate) fn check_columns(columns: &[String], width: usize, whose: impl Fn() -> String) -> Result<()> {
    if columns.len() != width {
        return Err(Error::shape(format!("{} columns are named, and {}", columns.len(), whose())));
    }
    match first_duplicate(columns) {
        Some(column) => Err(Error::shape(format!("the column {column:?} is listed twice"))),
        None => Ok(()),
    }
}

/// Positions of columns, by name.
pub struct Places<'a>(HashMap<&'a str, usize>);

impl<'a> Places<'a> {
    /// Positions of these columns, in their order.
    pub fn new(columns: &'a [String]) -> Self {
        Self(columns.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect())
    }

    /// Position of the column of this name; `None` if no column has it.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// Positions of the columns `names`.
    ///
    /// # Errors
    /// [`Error::Shape`] if a column does not exist.
    pub fn find(&self, names: &[String]) -> Result<Vec<usize>> {
        let place = |name: &String| {
            self.get(name).ok_or_else(|| Error::shape(format!("there is no column {name:?} in the records")))
        };
        names.iter().map(place).collect()
    }
}

/// First name that appears a second time.
pub fn first_duplicate(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn named(columns: &[&str]) -> Vec<String> {
        columns.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let records = array![[1.0, 2.0], [3.0, 4.0]];
        for (columns, target) in [
            (named(&["a"]), Target::None),
            (named(&["a", "a"]), Target::None),
            (named(&["a", "b"]), Target::Class(array![1])),
        ] {
            let refused = Table::new(columns, records.clone(), target);
            assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
        }
    }

    #[test]
    fn the_first_cell_that_is_no_number_is_named() {
        let records = array![[1.0, 2.0], [3.0, f64::NAN]];
        let table = Table::new(named(&["a", "b"]), records, Target::None).unwrap();
        let message = table.check_finite().unwrap_err().to_string();
        assert_eq!(message, "row 2, column \"b\": NaN is not a finite number");
    }

    #[test]
    fn a_record_that_is_not_there_cannot_be_selected() {
        let table = Table::new(named(&["a"]), array![[1.0], [2.0]], Target::None).unwrap();
        assert_eq!(table.select(&[1]).unwrap().records(), array![[2.0]]);
        assert!(table.select(&[2]).is_err());
    }
}
