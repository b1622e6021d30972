//! Records: where their features and targets lie, and the flat form that local mechanisms work on.

use crate::domain::{check_width, largest};
use crate::table::{Places, check_columns};
use crate::{Domain, Error, Factor, Result, Table, Target, Unit};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The domain of a [`Target`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "target", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TargetDomain {
    /// There is none.
    None,
    /// A class out of these.
    Class {
        /// The classes' names.
        levels: Vec<String>,
    },
    /// A number between two bounds.
    Real {
        /// The smallest value.
        lower: f64,
        /// The largest value.
        upper: f64,
    },
    /// A vector in a domain.
    Vector {
        /// Where it lies.
        domain: Domain,
    },
}

impl TargetDomain {
    /// The target as coordinates: nothing, a one-hot group, an interval, or the vector's domain.
    ///
    /// # Errors
    /// [`Error::Domain`] for fewer than two classes or bounds out of order.
    pub fn as_domain(&self) -> Result<Domain> {
        match self {
            Self::None => Ok(Domain::empty()),
            Self::Class { levels } => Domain::one_hot(levels.len()),
            Self::Real { lower, upper } => Domain::interval(*lower, *upper),
            Self::Vector { domain } => Ok(domain.clone()),
        }
    }
}

/// What is publicly known of a table: its columns' names, where its records lie, and where its target lies.
///
/// A record in *flat* form is its d features followed by the coordinates of its target: that is what local mechanisms
/// work on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedRecordDomain")]
pub struct RecordDomain {
    columns: Vec<String>,
    features: Domain,
    target: TargetDomain,
    /// Features, then target: every record passes through it.
    #[serde(skip)]
    flat: Domain,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedRecordDomain {
    columns: Vec<String>,
    features: Domain,
    target: TargetDomain,
}

impl TryFrom<UncheckedRecordDomain> for RecordDomain {
    type Error = Error;

    fn try_from(unchecked: UncheckedRecordDomain) -> Result<Self> {
        Self::new(unchecked.columns, unchecked.features, unchecked.target)
    }
}

impl RecordDomain {
    /// The records with these d columns, one a coordinate of `features`, and this target.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong number of columns or a name that is listed twice; [`Error::Domain`] for a target
    /// without a domain.
    pub fn new(columns: Vec<String>, features: Domain, target: TargetDomain) -> Result<Self> {
        check_columns(&columns, features.dim(), || format!("the domain has {} coordinates", features.dim()))?;
        let flat = Domain::product([features.clone(), target.as_domain()?])?;
        Ok(Self { columns, features, target, flat })
    }

    /// The columns' names, d of them.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Where the features lie.
    pub fn features(&self) -> &Domain {
        &self.features
    }

    /// Where the target lies.
    pub fn target(&self) -> &TargetDomain {
        &self.target
    }

    /// The same features without a target.
    pub fn without_target(&self) -> Self {
        Self {
            columns: self.columns.clone(),
            features: self.features.clone(),
            target: TargetDomain::None,
            flat: self.features.clone(),
        }
    }

    /// The same target without a feature.
    pub fn without_features(&self) -> Self {
        Self {
            columns: vec![],
            features: Domain::empty(),
            target: self.target.clone(),
            flat: self.flat.without_first(&self.features),
        }
    }

    /// The records' columns `wanted` alone, without a target.
    ///
    /// # Errors
    /// [`Error::Shape`] where `wanted` takes a group or ball apart, or names a column twice.
    pub fn restrict(&self, wanted: &[usize]) -> Result<Self> {
        let features = self.features.restrict(wanted)?;
        let columns = wanted.iter().map(|&at| self.columns[at].clone()).collect();
        Self::new(columns, features, TargetDomain::None)
    }

    /// The records of each factor's columns alone, without a target, beside the factor.
    ///
    /// # Errors
    /// None.
    pub fn each_factor(&self) -> impl Iterator<Item = Result<(Self, &Factor)>> {
        self.features.factors().map(|(coordinates, factor)| {
            let domain = Domain::try_from(vec![factor.clone()])?;
            Ok((Self::new(self.columns[coordinates].to_vec(), domain, TargetDomain::None)?, factor))
        })
    }

    /// Where records in flat form lie: features, then target.
    pub fn flat(&self) -> &Domain {
        &self.flat
    }

    /// A flat record, moved into the domain: what `encode` does before anything else.
    ///
    /// # Errors
    /// As [`Domain::project`].
    pub fn projected(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = record.to_vec();
        self.flat.project(&mut point)?;
        Ok(point)
    }

    /// The features (n × d) of a table of such records, each moved into the domain: what a curator's mechanism does before anything else.
    ///
    /// # Errors
    /// As [`Layout::check`] and [`Domain::project`].
    pub fn projected_features(&self, table: &Table) -> Result<Array2<f64>> {
        self.layout().check(table)?;
        let mut records = Vec::with_capacity(table.records().len());
        for row in table.records().outer_iter() {
            let start = records.len();
            records.extend(row);
            self.features.project(&mut records[start..])?;
        }
        Array2::from_shape_vec(table.records().dim(), records)
            .map_err(|problem| Error::shape(problem.to_string()))
    }

    /// The pair of these points of a mechanism's range, with the first one's target at the end of both. Empty if
    /// records that differ in `unit` alone have the same features.
    pub fn pair_of_features(&self, unit: Unit, [one, mut other]: [Vec<f64>; 2]) -> Vec<[Vec<f64>; 2]> {
        if !Unit::of_features(self).covers(unit) {
            return vec![];
        }
        let start = one.len() - (self.flat.dim() - self.features.dim());
        other[start..].copy_from_slice(&one[start..]);
        vec![[one, other]]
    }

    /// The shape of a table of such records.
    pub fn layout(&self) -> Layout {
        Layout {
            columns: self.columns.clone(),
            target: match &self.target {
                TargetDomain::None => TargetLayout::None,
                TargetDomain::Class { levels } => TargetLayout::Class { levels: levels.len() },
                TargetDomain::Real { .. } => TargetLayout::Real,
                TargetDomain::Vector { domain } => TargetLayout::Vector { width: domain.dim() },
            },
        }
    }
}

/// The shape of a table: its columns, and what kind of target it has. It turns tables into flat records and back.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The columns' names, d of them.
    pub columns: Vec<String>,
    /// The kind of target.
    pub target: TargetLayout,
}

/// The kind of a table's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetLayout {
    /// There is none.
    None,
    /// One of so many classes; one-hot in flat form.
    Class {
        /// The number of classes.
        levels: usize,
    },
    /// A number.
    Real,
    /// So many numbers.
    Vector {
        /// How many.
        width: usize,
    },
}

impl TargetLayout {
    /// The number of coordinates in flat form.
    pub fn width(self) -> usize {
        match self {
            Self::None => 0,
            Self::Class { levels } => levels,
            Self::Real => 1,
            Self::Vector { width } => width,
        }
    }
}

impl Layout {
    /// The place of each coordinate of a flat record of shape `other` in one of this shape: of features by their names, of a target of the
    /// same kind behind them.
    pub fn places(&self, other: &Self) -> Vec<Option<usize>> {
        let places = Places::of(&self.columns);
        let features = other.columns.iter().map(|column| places.get(column));
        let target = (0..other.target.width())
            .map(|at| (other.target == self.target).then(|| self.columns.len() + at));
        features.chain(target).collect()
    }

    /// The number of values in a flat record: features, then target.
    pub fn width(&self) -> usize {
        self.columns.len() + self.target.width()
    }

    /// Whether `table` has this shape, holds a record, and holds finite numbers only.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`], naming the row and column.
    pub fn check(&self, table: &Table) -> Result<()> {
        if table.columns() != self.columns {
            let at = (0..table.columns().len().max(self.columns.len()))
                .find(|&at| table.columns().get(at) != self.columns.get(at))
                .unwrap_or(0);
            let name = |columns: &[String]| match columns.get(at) {
                Some(column) => format!("{column:?}"),
                None => "missing".to_owned(),
            };
            return Err(Error::shape(format!(
                "the table has {} columns where {} are designed for; column {} is {} where {} belongs",
                table.columns().len(),
                self.columns.len(),
                at + 1,
                name(table.columns()),
                name(&self.columns),
            )));
        }
        if table.is_empty() {
            return Err(Error::Empty { place: "the table".into() });
        }
        let found = match (self.target, table.target()) {
            (TargetLayout::None, Target::None) | (TargetLayout::Real, Target::Real(_)) => None,
            (TargetLayout::Class { levels }, Target::Class(classes)) => classes
                .iter()
                .find(|&&class| class >= levels)
                .map(|class| format!("the class number {class}, counted from 0")),
            (TargetLayout::Vector { width }, Target::Vector(values)) => {
                (values.ncols() != width).then(|| format!("a vector of {} values", values.ncols()))
            }
            (_, target) => Some(target.kind().to_owned()),
        };
        if let Some(found) = found {
            return Err(Error::shape(format!(
                "the table's target is {found} where {} is designed for",
                match self.target {
                    TargetLayout::None => "none".to_owned(),
                    TargetLayout::Class { levels } => format!("one of {levels} classes"),
                    TargetLayout::Real => "a number".to_owned(),
                    TargetLayout::Vector { width } => format!("a vector of {width} values"),
                }
            )));
        }
        table.check_finite()
    }

    /// Record `row` of `table` (which must have this shape) in flat form.
    pub fn flatten(&self, table: &Table, row: usize) -> Vec<f64> {
        self.flat(table, row..row + 1)
    }

    /// Records `rows` of `table` (which must have this shape) in flat form, one after the other.
    pub fn flat(&self, table: &Table, rows: Range<usize>) -> Vec<f64> {
        let mut flat = Vec::with_capacity(rows.len() * self.width());
        for row in rows {
            let start = flat.len();
            match table.records().row(row).as_slice() {
                Some(record) => flat.extend_from_slice(record),
                None => flat.extend(table.records().row(row)),
            }
            match table.target() {
                Target::None => {}
                Target::Class(classes) => {
                    flat.resize(start + self.width(), 0.0);
                    flat[start + self.columns.len() + classes[row]] = 1.0;
                }
                Target::Real(values) => flat.push(values[row]),
                Target::Vector(values) => flat.extend(values.row(row)),
            }
        }
        flat
    }

    /// The table of these flat records, one after the other.
    ///
    /// # Errors
    /// [`Error::Shape`] for values that are no whole number of records.
    pub fn table_of(&self, flat: Vec<f64>) -> Result<Table> {
        let (width, features) = (self.width(), self.columns.len());
        let rows = flat.len().checked_div(width).unwrap_or(0);
        let mut flat = Array2::from_shape_vec((rows, width), flat)
            .map_err(|problem| Error::shape(problem.to_string()))?;
        let target = self.target_of(flat.slice(s![.., features..]));
        if features < width {
            // In place: a second table would take as much memory again.
            let (mut values, _) = flat.into_raw_vec_and_offset();
            (0..rows).for_each(|row| values.copy_within(row * width..row * width + features, row * features));
            values.truncate(rows * features);
            values.shrink_to_fit();
            flat = Array2::from_shape_vec((rows, features), values)
                .map_err(|problem| Error::shape(problem.to_string()))?;
        }
        Table::new(self.columns.clone(), flat, target)
    }

    /// The table whose flat records are the rows of `flat` (n × width).
    ///
    /// # Errors
    /// [`Error::Shape`] for another width.
    pub fn table(&self, flat: ArrayView2<f64>) -> Result<Table> {
        check_width(self.width(), flat.ncols())?;
        let (records, target) = flat.split_at(Axis(1), self.columns.len());
        Table::new(self.columns.clone(), records.to_owned(), self.target_of(target))
    }

    /// The target whose flat form these are (n values of its width).
    fn target_of(&self, flat: ArrayView2<f64>) -> Target {
        match self.target {
            TargetLayout::None => Target::None,
            TargetLayout::Class { .. } => {
                let class = |row: ArrayView1<f64>| match row.as_slice() {
                    Some(levels) => largest(levels),
                    None => largest(&row.to_vec()),
                };
                Target::Class(flat.outer_iter().map(class).collect())
            }
            TargetLayout::Real => Target::Real(flat.column(0).to_owned()),
            TargetLayout::Vector { .. } => Target::Vector(flat.to_owned()),
        }
    }
}
impl Table {
    /// The columns, and the target, that records of `domain` have.
    ///
    /// # Errors
    /// [`Error::Shape`] for a column that is not there.
    pub fn part(&self, domain: &RecordDomain) -> Result<Self> {
        let records = self.records().select(Axis(1), &Places::of(self.columns()).find(domain.columns())?);
        let target = match domain.target() {
            TargetDomain::None => Target::None,
            _ => self.target().clone(),
        };
        Self::new(domain.columns().to_vec(), records, target)
    }
}
