//! Records: the domains of their features and targets, and the flat form that local mechanisms use.

use crate::domain::{check_width, largest};
use crate::table::{PARTS, Places, check_columns};
use crate::{Domain, Error, Factor, Result, Table, Target};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Domain of a [`Target`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "target", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TargetDomain {
    /// No target.
    None,
    /// One of several classes.
    Class {
        /// Names of the classes.
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
        /// Domain of the vector.
        domain: Domain,
    },
}

impl TargetDomain {
    /// Domain of the target's coordinates: no coordinates, a one-hot group, an interval, or the vector's
    /// domain.
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

/// Public knowledge about the records of a table: column names, the domain of the features, and the domain of
/// the target.
///
/// A record in *flat* form is its d features followed by the coordinates of its target. Local mechanisms work
/// on this form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedRecordDomain")]
pub struct RecordDomain {
    columns: Vec<String>,
    features: Domain,
    target: TargetDomain,
    /// Largest number of records of a person that count; `None` if each record is a person's only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    records_per_person: Option<u16>,
    /// Domain of flat records: features, then target. Cached, because every record is projected into it.
    #[serde(skip)]
    flat: Domain,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UncheckedRecordDomain {
    columns: Vec<String>,
    features: Domain,
    target: TargetDomain,
    #[serde(default)]
    records_per_person: Option<u16>,
}

impl TryFrom<UncheckedRecordDomain> for RecordDomain {
    type Error = Error;

    fn try_from(unchecked: UncheckedRecordDomain) -> Result<Self> {
        let UncheckedRecordDomain { columns, features, target, records_per_person } = unchecked;
        Self::new(columns, features, target)?.with_records_per_person(records_per_person)
    }
}

impl RecordDomain {
    /// Domain of records with these d columns, one per coordinate of `features`, and this target.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong number of columns or a duplicate name. [`Error::Domain`] for a target
    /// with fewer than two classes or with bounds out of order.
    pub fn new(columns: Vec<String>, features: Domain, target: TargetDomain) -> Result<Self> {
        check_columns(&columns, features.dim(), || format!("the domain has {} coordinates", features.dim()))?;
        let flat = Domain::product([features.clone(), target.as_domain()?])?;
        Ok(Self { columns, features, target, records_per_person: None, flat })
    }

    /// Same records, of people of whom at most `most` records each count. With `None`, each record is a
    /// person's only one.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `most` is between 1 and [`PARTS`].
    pub fn with_records_per_person(self, most: Option<u16>) -> Result<Self> {
        match most {
            Some(most) if !(1..=PARTS).contains(&most) => {
                Err(Error::Domain { needs: "1 to 1024 records of a person", given: most.to_string() })
            }
            records_per_person => Ok(Self { records_per_person, ..self }),
        }
    }

    /// Largest number of records of a person that count. `None` if each record is a person's only one.
    pub fn records_per_person(&self) -> Option<u16> {
        self.records_per_person
    }

    /// Returns whether several records of a person may count.
    pub fn has_several_records(&self) -> bool {
        self.records_per_person.is_some_and(|most| most > 1)
    }

    /// Column names (d).
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Domain of the features.
    pub fn features(&self) -> &Domain {
        &self.features
    }

    /// Domain of the target.
    pub fn target(&self) -> &TargetDomain {
        &self.target
    }

    /// Position of the feature `name` among the [factors](Domain::factors) of the features' domain. The name
    /// of a category is the part of its encoded columns' names before "=".
    pub fn feature(&self, name: &str) -> Option<usize> {
        self.features.factors().position(|(at, factor)| {
            let column = &self.columns[at.start];
            match factor {
                Factor::OneHot { .. } => {
                    column.strip_prefix(name).is_some_and(|level| level.starts_with('='))
                }
                _ => column == name,
            }
        })
    }

    /// Same features without a target.
    pub fn without_target(&self) -> Self {
        Self {
            columns: self.columns.clone(),
            features: self.features.clone(),
            target: TargetDomain::None,
            records_per_person: self.records_per_person,
            flat: self.features.clone(),
        }
    }

    /// Same target without features.
    pub fn without_features(&self) -> Self {
        Self {
            columns: vec![],
            features: Domain::empty(),
            target: self.target.clone(),
            records_per_person: self.records_per_person,
            flat: self.flat.without_first(&self.features),
        }
    }

    /// Domain of only the columns at the positions `selected`, without a target.
    ///
    /// # Errors
    /// [`Error::Shape`] if a position does not exist or occurs twice, or if `selected` splits or reorders the
    /// coordinates of a group, ball or polytope.
    pub fn restrict(&self, selected: &[usize]) -> Result<Self> {
        let features = self.features.restrict(selected)?;
        let columns = selected.iter().map(|&at| self.columns[at].clone()).collect();
        Self::new(columns, features, TargetDomain::None)?.with_records_per_person(self.records_per_person)
    }

    /// Iterates over the factors of the features. Each factor comes with the record domain of only its own
    /// columns, without a target.
    ///
    /// # Errors
    /// No item is an error.
    pub fn each_factor(&self) -> impl Iterator<Item = Result<(Self, &Factor)>> {
        self.features.factors().map(|(coordinates, factor)| {
            let domain = Domain::try_from(vec![factor.clone()])?;
            Ok((Self::new(self.columns[coordinates].to_vec(), domain, TargetDomain::None)?, factor))
        })
    }

    /// Domain of records in flat form: features, then target.
    pub fn flat(&self) -> &Domain {
        &self.flat
    }

    /// Flat record, projected into the domain. This is the first step of `encode`.
    ///
    /// # Errors
    /// Same errors as [`Domain::project`].
    pub fn projected(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = record.to_vec();
        self.flat.project(&mut point)?;
        Ok(point)
    }

    /// Features (n records × d features) of a table of records of this domain, each projected into the
    /// domain. This is the first step of a curator's mechanism.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`] and [`Domain::project`].
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

    /// Shape of a table of records of this domain.
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

/// Shape of a table: its columns and its kind of target. It converts tables to flat records (features, then
/// target) and back.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// Column names (d).
    pub columns: Vec<String>,
    /// Kind of target.
    pub target: TargetLayout,
}

/// Kind of a table's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetLayout {
    /// No target.
    None,
    /// One of `levels` classes; one-hot in flat form.
    Class {
        /// Number of classes.
        levels: usize,
    },
    /// A number.
    Real,
    /// A vector of `width` numbers.
    Vector {
        /// Number of values.
        width: usize,
    },
}

impl TargetLayout {
    /// Number of coordinates of the target in a flat record.
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
    /// Position of each coordinate of a flat record of shape `other` in a flat record of this shape. Features
    /// match by name, and targets by kind. `None` for a coordinate without a match.
    pub fn places(&self, other: &Self) -> Vec<Option<usize>> {
        let places = Places::new(&self.columns);
        let features = other.columns.iter().map(|column| places.get(column));
        let target = (0..other.target.width())
            .map(|at| (other.target == self.target).then(|| self.columns.len() + at));
        features.chain(target).collect()
    }

    /// Number of values in a flat record: features, then target.
    pub fn width(&self) -> usize {
        self.columns.len() + self.target.width()
    }

    /// Checks that `table` has this shape, contains a record, and contains finite numbers only. Each record
    /// must be a person's only one.
    ///
    /// # Errors
    /// [`Error::Shape`] if the table's columns or target differ from this shape, or if its records have
    /// [shares](Table::shares). [`Error::Empty`] if there is no record, [`Error::NonFinite`], with row and
    /// column, for a NaN or an infinity.
    pub fn check(&self, table: &Table) -> Result<()> {
        match table.shares() {
            Some(_) => Err(Error::shape("people have several records in the table, and one is expected")),
            None => self.check_values(table),
        }
    }

    /// Checks `table` like [`check`](Self::check), but a person may have several records.
    ///
    /// # Errors
    /// Same errors as [`check`](Self::check).
    pub(crate) fn check_values(&self, table: &Table) -> Result<()> {
        if table.columns() != self.columns {
            let at = (0..table.columns().len().max(self.columns.len()))
                .find(|&at| table.columns().get(at) != self.columns.get(at))
                .unwrap_or(0);
            let name = |columns: &[String]| match columns.get(at) {
                Some(column) => format!("{column:?}"),
                None => "missing".to_owned(),
            };
            return Err(Error::shape(format!(
                "the table has {} columns, and the design expects {}; column {} is {}, and the design \
                 expects {}",
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
                "the table's target is {found}, and the design expects {}",
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

    /// Flat form of record `row` of `table`, which must have this shape.
    pub fn flatten(&self, table: &Table, row: usize) -> Vec<f64> {
        self.flat(table, row..row + 1)
    }

    /// Flat form of records `rows` of `table`, one after the other. The table must have this shape.
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

    /// Table of these flat records, given one after the other.
    ///
    /// # Errors
    /// [`Error::Shape`] if the values are not a whole number of records.
    pub fn table_of(&self, flat: Vec<f64>) -> Result<Table> {
        let (width, features) = (self.width(), self.columns.len());
        let rows = flat.len().checked_div(width).unwrap_or(0);
        let mut flat = Array2::from_shape_vec((rows, width), flat)
            .map_err(|problem| Error::shape(problem.to_string()))?;
        let target = self.target_of(flat.slice(s![.., features..]));
        if features < width {
            // In place: a second table would take the same amount of memory again.
            let (mut values, _) = flat.into_raw_vec_and_offset();
            (0..rows).for_each(|row| values.copy_within(row * width..row * width + features, row * features));
            values.truncate(rows * features);
            values.shrink_to_fit();
            flat = Array2::from_shape_vec((rows, features), values)
                .map_err(|problem| Error::shape(problem.to_string()))?;
        }
        Table::new(self.columns.clone(), flat, target)
    }

    /// Table whose flat records are the rows of `flat` (n × width).
    ///
    /// # Errors
    /// [`Error::Shape`] if the rows of `flat` have another width.
    pub fn table(&self, flat: ArrayView2<f64>) -> Result<Table> {
        check_width(self.width(), flat.ncols())?;
        let (records, target) = flat.split_at(Axis(1), self.columns.len());
        Table::new(self.columns.clone(), records.to_owned(), self.target_of(target))
    }

    /// Target whose flat form is `flat` (n rows, as wide as the target).
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
    /// Table with only the columns of `domain`, and with the target if `domain` has one.
    ///
    /// # Errors
    /// [`Error::Shape`] for a missing column.
    pub fn part(&self, domain: &RecordDomain) -> Result<Self> {
        let records = self.records().select(Axis(1), &Places::new(self.columns()).find(domain.columns())?);
        let target = match domain.target() {
            TargetDomain::None => Target::None,
            _ => self.target().clone(),
        };
        let part = Self::new(domain.columns().to_vec(), records, target)?;
        match self.shares() {
            Some(shares) => part.with_shares(shares.to_vec()),
            None => Ok(part),
        }
    }
}
