//! Domains: the sets on which claims hold.

use crate::{Error, Result, Table, Target};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A saved domain may claim any width; a wider one than this is no domain of records.
const MOST_COORDINATES: usize = 1 << 32;

/// One indivisible factor of a [`Domain`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "set", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Factor {
    /// One coordinate between two bounds.
    Interval {
        /// The smallest value.
        lower: f64,
        /// The largest value.
        upper: f64,
    },
    /// One coordinate a level; one of them is 1 and the rest are 0. Its ℓ₁ diameter is 2, whatever its width.
    OneHot {
        /// The number of levels.
        levels: usize,
    },
    /// All points with ‖x‖₁ ≤ radius.
    L1Ball {
        /// The number of coordinates.
        dim: usize,
        /// The radius.
        radius: f64,
    },
    /// All points with ‖x‖₂ ≤ radius.
    L2Ball {
        /// The number of coordinates.
        dim: usize,
        /// The radius.
        radius: f64,
    },
}

impl Factor {
    /// The number of coordinates.
    pub fn dim(&self) -> usize {
        match *self {
            Self::Interval { .. } => 1,
            Self::OneHot { levels } => levels,
            Self::L1Ball { dim, .. } | Self::L2Ball { dim, .. } => dim,
        }
    }

    /// max ‖x − x′‖₁ over the set.
    pub fn l1_diameter(&self) -> f64 {
        match *self {
            Self::Interval { lower, upper } => upper - lower,
            Self::OneHot { .. } => 2.0,
            Self::L1Ball { radius, .. } => 2.0 * radius,
            Self::L2Ball { dim, radius } => 2.0 * radius * (dim as f64).sqrt(),
        }
    }

    /// max ‖x − x′‖₂ over the set.
    pub fn l2_diameter(&self) -> f64 {
        match *self {
            Self::Interval { lower, upper } => upper - lower,
            Self::OneHot { .. } => std::f64::consts::SQRT_2,
            Self::L1Ball { radius, .. } | Self::L2Ball { radius, .. } => 2.0 * radius,
        }
    }

    /// The largest absolute value of a coordinate.
    pub(crate) fn largest_magnitude(&self) -> f64 {
        match *self {
            Self::Interval { lower, upper } => lower.abs().max(upper.abs()),
            Self::OneHot { .. } => 1.0,
            Self::L1Ball { radius, .. } | Self::L2Ball { radius, .. } => radius,
        }
    }

    fn check(&self) -> Result<()> {
        let (needs, fine) = match *self {
            Self::Interval { lower, upper } => (
                "finite bounds in ascending order, a finite distance apart",
                lower <= upper && (upper - lower).is_finite(),
            ),
            Self::OneHot { levels } => ("two levels or more", levels >= 2),
            Self::L1Ball { dim, radius } | Self::L2Ball { dim, radius } => (
                "a coordinate or more and a finite radius above zero",
                dim > 0 && radius.is_finite() && radius > 0.0,
            ),
        };
        if fine {
            return Ok(());
        }
        Err(Error::Domain {
            needs,
            given: format!("{self:?}"),
        })
    }

    fn contains(&self, point: &[f64]) -> bool {
        match *self {
            Self::Interval { lower, upper } => (lower..=upper).contains(&point[0]),
            Self::OneHot { .. } => {
                point.iter().filter(|&&x| x == 1.0).count() == 1
                    && point.iter().filter(|&&x| x == 0.0).count() == point.len() - 1
            }
            Self::L1Ball { radius, .. } => l1_norm(point) <= radius,
            Self::L2Ball { radius, .. } => l2_norm(point) <= radius,
        }
    }

    /// Moves a finite point to the set: a clamp, the nearest vertex, or a rescaling.
    fn project(&self, point: &mut [f64]) {
        match *self {
            Self::Interval { lower, upper } => point[0] = point[0].clamp(lower, upper),
            Self::OneHot { .. } => {
                let level = largest(point);
                point.fill(0.0);
                point[level] = 1.0;
            }
            Self::L1Ball { radius, .. } => rescale(point, radius, l1_norm),
            Self::L2Ball { radius, .. } => rescale(point, radius, l2_norm),
        }
    }
}

/// The set on which a claim holds: a product of intervals, one-hot groups and balls, in the order of the coordinates.
///
/// A box is a product of intervals. Every mechanism projects records into its domain before it does anything else.
///
/// ```
/// use scumble_registry::Domain;
///
/// let domain = Domain::product([Domain::interval(0.0, 1.0)?, Domain::one_hot(5)?])?;
/// assert_eq!((domain.dim(), domain.l1_diameter()), (6, 3.0));
///
/// let mut point = [1.7, 0.0, 0.0, 0.9, 0.0, 0.2];
/// domain.project(&mut point)?;
/// assert_eq!(point, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Factor>", into = "Vec<Factor>")]
pub struct Domain {
    factors: Vec<Factor>,
}

impl TryFrom<Vec<Factor>> for Domain {
    type Error = Error;

    fn try_from(factors: Vec<Factor>) -> Result<Self> {
        factors.iter().try_for_each(Factor::check)?;
        let dim = factors
            .iter()
            .try_fold(0usize, |dim, factor| dim.checked_add(factor.dim()));
        if dim.is_none_or(|dim| dim > MOST_COORDINATES) {
            return Err(Error::Domain {
                needs: "no more than 2^32 coordinates",
                given: "more".into(),
            });
        }
        Ok(Self { factors })
    }
}

impl From<Domain> for Vec<Factor> {
    fn from(domain: Domain) -> Self {
        domain.factors
    }
}

impl Domain {
    /// The domain of no coordinates, which holds one point.
    pub fn empty() -> Self {
        Self { factors: vec![] }
    }

    /// One coordinate in [`lower`, `upper`].
    ///
    /// # Errors
    /// [`Error::Domain`] unless the bounds are finite and in order.
    pub fn interval(lower: f64, upper: f64) -> Result<Self> {
        vec![Factor::Interval { lower, upper }].try_into()
    }

    /// `dim` coordinates in [0, 1]: what real columns of a schema become.
    pub fn unit_box(dim: usize) -> Self {
        let unit = Factor::Interval {
            lower: 0.0,
            upper: 1.0,
        };
        Self {
            factors: vec![unit; dim],
        }
    }

    /// One group of `levels` coordinates of which one is 1.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are two levels or more.
    pub fn one_hot(levels: usize) -> Result<Self> {
        vec![Factor::OneHot { levels }].try_into()
    }

    /// The ℓ₁ ball of this radius in `dim` dimensions.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `dim` and the radius are above zero and finite.
    pub fn l1_ball(dim: usize, radius: f64) -> Result<Self> {
        vec![Factor::L1Ball { dim, radius }].try_into()
    }

    /// The ℓ₂ ball of this radius in `dim` dimensions.
    ///
    /// # Errors
    /// [`Error::Domain`] unless `dim` and the radius are above zero and finite.
    pub fn l2_ball(dim: usize, radius: f64) -> Result<Self> {
        vec![Factor::L2Ball { dim, radius }].try_into()
    }

    /// The product of `domains`, coordinates one after the other.
    ///
    /// # Errors
    /// [`Error::Domain`] for more than 2³² coordinates.
    pub fn product(domains: impl IntoIterator<Item = Domain>) -> Result<Self> {
        let factors: Vec<Factor> = domains.into_iter().flat_map(|d| d.factors).collect();
        factors.try_into()
    }

    /// The number of coordinates, d.
    pub fn dim(&self) -> usize {
        self.factors.iter().map(Factor::dim).sum()
    }

    /// The factors, each with the coordinates that it covers.
    pub fn factors(&self) -> impl Iterator<Item = (Range<usize>, &Factor)> {
        self.factors.iter().scan(0, |start, factor| {
            let coordinates = *start..*start + factor.dim();
            *start = coordinates.end;
            Some((coordinates, factor))
        })
    }

    /// max ‖x − x′‖₁ over the domain.
    pub fn l1_diameter(&self) -> f64 {
        self.factors.iter().map(Factor::l1_diameter).sum()
    }

    /// max ‖x − x′‖₂ over the domain.
    pub fn l2_diameter(&self) -> f64 {
        let squares = self.factors.iter().map(|f| f.l2_diameter().powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Whether `point` (d values) lies in the domain.
    pub fn contains(&self, point: &[f64]) -> bool {
        point.len() == self.dim()
            && self
                .factors()
                .all(|(coordinates, factor)| factor.contains(&point[coordinates]))
    }

    /// Moves `point` (d values) into the domain: intervals clamp, one-hot groups take their largest coordinate
    /// (the first of several), balls rescale.
    ///
    /// # Errors
    /// [`Error::Shape`] for a wrong width, [`Error::NonFinite`] (with the coordinate's number) for a NaN or an infinity.
    pub fn project(&self, point: &mut [f64]) -> Result<()> {
        check_width(self.dim(), point.len())?;
        if let Some(at) = point.iter().position(|x| !x.is_finite()) {
            return Err(Error::NonFinite {
                row: 1,
                column: (at + 1).to_string(),
                value: point[at],
            });
        }
        for (coordinates, factor) in self.factors() {
            factor.project(&mut point[coordinates]);
        }
        Ok(())
    }

    /// The product of the factors that cover exactly the coordinates `wanted`, in that order.
    ///
    /// # Errors
    /// [`Error::Shape`] where `wanted` takes a group or ball apart.
    pub fn restrict(&self, wanted: &[usize]) -> Result<Self> {
        let factors: Vec<(Range<usize>, &Factor)> = self.factors().collect();
        let mut taken = vec![];
        let mut rest = wanted;
        while let Some(&first) = rest.first() {
            let whole = factors.iter().find(|(coordinates, _)| {
                coordinates.start == first
                    && rest.len() >= coordinates.len()
                    && coordinates.clone().eq(rest[..coordinates.len()].iter().copied())
            });
            let Some((coordinates, factor)) = whole else {
                return Err(Error::shape(format!(
                    "coordinate {first} of the domain cannot be taken without the rest of its group or ball, in order"
                )));
            };
            taken.push((*factor).clone());
            rest = &rest[coordinates.len()..];
        }
        Ok(Self { factors: taken })
    }
}

/// The coordinate that is largest, the first of several.
pub(crate) fn largest(point: &[f64]) -> usize {
    (1..point.len()).fold(0, |best, at| if point[at] > point[best] { at } else { best })
}

fn l1_norm(point: &[f64]) -> f64 {
    point.iter().map(|x| x.abs()).sum()
}

/// Scaled by the largest coordinate, so that no square overflows.
fn l2_norm(point: &[f64]) -> f64 {
    let unit = point.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if unit == 0.0 {
        return 0.0;
    }
    unit * point.iter().map(|x| (x / unit).powi(2)).sum::<f64>().sqrt()
}

fn rescale(point: &mut [f64], radius: f64, norm: fn(&[f64]) -> f64) {
    let unit = point.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if norm(point) <= radius {
        return;
    }
    // First to the unit cube, so that a norm near the largest float does not become infinite.
    point.iter_mut().for_each(|x| *x /= unit);
    let mut factor = radius / norm(point);
    let direction = point.to_vec();
    // Rounding may leave it just outside: a little shorter then, and twice that until it is in.
    let mut shrinkage = f64::EPSILON;
    loop {
        for (x, along) in point.iter_mut().zip(&direction) {
            *x = along * factor;
        }
        if norm(point) <= radius {
            return;
        }
        factor *= 1.0 - shrinkage;
        shrinkage *= 2.0;
    }
}

pub(crate) fn check_width(expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::shape(format!(
        "a record has {found} values where the domain has {expected}"
    )))
}

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
    /// [`Error::Shape`] for a wrong number of columns or a name that stands twice; [`Error::Domain`] for a target
    /// without a domain.
    pub fn new(columns: Vec<String>, features: Domain, target: TargetDomain) -> Result<Self> {
        if columns.len() != features.dim() {
            return Err(Error::shape(format!(
                "{} columns are named where the domain has {} coordinates",
                columns.len(),
                features.dim()
            )));
        }
        if let Some(column) = crate::table::first_duplicate(&columns) {
            return Err(Error::shape(format!("the column {column:?} stands there twice")));
        }
        let flat = Domain::product([features.clone(), target.as_domain()?])?;
        Ok(Self {
            columns,
            features,
            target,
            flat,
        })
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
            flat: Domain {
                factors: self.flat.factors[self.features.factors.len()..].to_vec(),
            },
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

    /// Where records in flat form lie: features, then target.
    pub fn flat(&self) -> &Domain {
        &self.flat
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
            return Err(Error::Empty {
                place: "the table".into(),
            });
        }
        let (wrong, found) = match (self.target, table.target()) {
            (TargetLayout::None, Target::None) | (TargetLayout::Real, Target::Real(_)) => {
                (false, String::new())
            }
            (TargetLayout::Class { levels }, Target::Class(classes)) => {
                match classes.iter().find(|&&class| class >= levels) {
                    Some(class) => (true, format!("the class number {class}, counted from 0")),
                    None => (false, String::new()),
                }
            }
            (TargetLayout::Vector { width }, Target::Vector(values)) => (
                values.ncols() != width,
                format!("a vector of {} values", values.ncols()),
            ),
            (_, target) => (true, target.kind().to_owned()),
        };
        if wrong {
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
    pub(crate) fn flatten(&self, table: &Table, row: usize) -> Vec<f64> {
        let mut flat = table.records().row(row).to_vec();
        match table.target() {
            Target::None => {}
            Target::Class(classes) => {
                flat.resize(self.width(), 0.0);
                flat[self.columns.len() + classes[row]] = 1.0;
            }
            Target::Real(values) => flat.push(values[row]),
            Target::Vector(values) => flat.extend(values.row(row)),
        }
        flat
    }

    /// The table whose flat records are the rows of `flat` (n × width).
    ///
    /// # Errors
    /// [`Error::Shape`] for another width.
    pub fn table(&self, flat: ndarray::ArrayView2<f64>) -> Result<Table> {
        check_width(self.width(), flat.ncols())?;
        let (records, target) = flat.split_at(ndarray::Axis(1), self.columns.len());
        let target = match self.target {
            TargetLayout::None => Target::None,
            TargetLayout::Class { .. } => {
                Target::Class(target.outer_iter().map(|row| largest(&row.to_vec())).collect())
            }
            TargetLayout::Real => Target::Real(target.column(0).to_owned()),
            TargetLayout::Vector { .. } => Target::Vector(target.to_owned()),
        };
        Table::new(self.columns.clone(), records.to_owned(), target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn everything() -> Domain {
        Domain::product([
            Domain::interval(-2.0, 3.0).unwrap(),
            Domain::one_hot(3).unwrap(),
            Domain::l1_ball(4, 1.5).unwrap(),
            Domain::l2_ball(2, 0.5).unwrap(),
        ])
        .unwrap()
    }

    #[test]
    fn diameters_are_those_of_the_sets() {
        let domain = everything();
        assert_eq!(domain.dim(), 10);
        assert_eq!(domain.l1_diameter(), 5.0 + 2.0 + 3.0 + 2.0_f64.sqrt());
        assert_eq!(domain.l2_diameter(), (25.0 + 2.0 + 9.0 + 1.0_f64).sqrt());
        assert_eq!(Domain::one_hot(1000).unwrap().l1_diameter(), 2.0);
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        for refused in [
            Domain::interval(1.0, 0.0),
            Domain::interval(0.0, f64::INFINITY),
            Domain::interval(-1e308, 1e308),
            Domain::l1_ball(usize::MAX, 1.0),
            Domain::one_hot(1),
            Domain::l1_ball(0, 1.0),
            Domain::l2_ball(3, f64::NAN),
        ] {
            assert!(matches!(refused, Err(Error::Domain { .. })), "{refused:?}");
        }
    }

    #[test]
    fn a_wide_point_is_rescaled_in_few_steps() {
        let mut point = vec![1e-3; 1_000_000];
        let ball = Domain::l1_ball(point.len(), 1.0).unwrap();
        ball.project(&mut point).unwrap();
        assert!(ball.contains(&point));
        assert!(l1_norm(&point) > 1.0 - 1e-9, "it shrank to {}", l1_norm(&point));
    }

    #[test]
    fn a_nan_is_an_error_never_a_point() {
        let mut point = [0.5, f64::NAN];
        let error = Domain::unit_box(2).project(&mut point).unwrap_err();
        assert!(matches!(error, Error::NonFinite { .. }), "{error}");
    }

    #[test]
    fn a_group_is_not_taken_apart() {
        let domain = everything();
        assert_eq!(domain.restrict(&[1, 2, 3]).unwrap(), Domain::one_hot(3).unwrap());
        assert!(domain.restrict(&[1, 2]).is_err());
        assert!(domain.restrict(&[99]).is_err());
    }

    #[test]
    fn a_saved_domain_is_checked_when_it_is_read() {
        let text = serde_json::to_string(&everything()).unwrap();
        assert_eq!(serde_json::from_str::<Domain>(&text).unwrap(), everything());
        let changed = text.replace("1.5", "-1.5");
        assert!(serde_json::from_str::<Domain>(&changed).is_err(), "{changed}");
    }

    proptest! {
        #[test]
        fn a_projection_lies_in_the_domain_and_stays_where_it_is(
            point in prop::collection::vec(prop_oneof![-3.0..3.0_f64, -1e300..1e300_f64], 10)
        ) {
            let domain = everything();
            let mut projected = point.clone();
            domain.project(&mut projected).unwrap();
            prop_assert!(domain.contains(&projected), "{projected:?}");
            let again = { let mut again = projected.clone(); domain.project(&mut again).unwrap(); again };
            prop_assert_eq!(&again, &projected);
            if domain.contains(&point) {
                prop_assert_eq!(projected, point);
            }
        }
    }
}
