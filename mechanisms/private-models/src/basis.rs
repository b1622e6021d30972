//! Features of a record for a model that is linear in them, as sparse vectors of integers.

use crate::encoding::{BITS, ONE, scaled};
use scumble_core::levels::Attribute;
use scumble_core::{Domain, Error, RecordDomain, Result, TargetDomain};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Features φ of a record for a model that is linear in them: a constant 1, and some features of each column.
///
/// A number has one feature that is the number scaled to [−1, 1] by its public bounds. A column may also have
/// an axis. The axis of a category has one cell for each level, whose feature is 1 for the record's level and
/// else 0. The axis of a number has public knots in increasing order, and one cell for each knot. Feature i
/// is 1 at knot i, 0 at all other knots, and linear between neighbouring knots. A weighted sum of the
/// features of a number with knots is a piecewise linear function of the number.
///
/// A pair of columns has one cell for each pair of their cells. Its feature is the product of the two.
///
/// Features are whole multiples of 2⁻²⁰. Most of them are zero, so a record is a list of entries, which are
/// pairs of an index and a value.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    /// Domain of flat records (features, then target).
    domain: Domain,
    terms: Vec<Term>,
    width: usize,
    target: Goal,
}

/// Knots of numbers, and the pairs of columns that have features of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grids {
    /// Knots of each number among the features, in their order, in units of the encoded record.
    pub(crate) knots: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pairs: Vec<[Side; 2]>,
}

/// Column of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Side {
    /// Position of the column among the features' columns.
    pub(crate) feature: usize,
    /// Knots of a number, in units of the encoded record; empty for a category.
    pub(crate) knots: Vec<f64>,
}

/// Features of one column or of a pair of columns.
#[derive(Debug, Clone)]
struct Term {
    /// Index of the first feature. The linear feature of a number comes first.
    first: usize,
    linear: Option<Scale>,
    /// The cells are those of the first axis times those of the second.
    axes: Option<[Axis; 2]>,
}

/// Number scaled to [−1, 1].
#[derive(Debug, Clone)]
struct Scale {
    /// Coordinate in a flat record.
    at: usize,
    middle: f64,
    half: f64,
}

#[derive(Debug, Clone)]
enum Axis {
    /// A number, by its coordinate in a flat record and its knots.
    Knots(usize, Vec<f64>),
    /// A category, by its coordinates in a flat record.
    Levels(Range<usize>),
    /// One cell for all records.
    Whole,
}

/// Place of a record on an axis.
#[derive(Clone, Copy)]
enum Place {
    /// In a cell, or in none.
    Cell(Option<usize>),
    /// Between the knots `before` and `before + 1`, by the share of the way from the first to the second.
    Between { before: usize, share: f64 },
}

/// Target of a record.
#[derive(Debug, Clone)]
enum Goal {
    /// The class whose coordinate is 1.
    Class(Range<usize>),
    Number(Scale),
}

/// Number of bytes of a packed entry.
const ENTRY: usize = 8;

/// Number of bytes of a packed target.
const TARGET: usize = 4;
/// Number of bytes of a packed squared norm.
const SQUARES: usize = 8;

/// Record as it is packed: the target, the squared norm, and the entries.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'r> {
    target: [u8; TARGET],
    squares: [u8; SQUARES],
    entries: &'r [[u8; ENTRY]],
}

impl Packed<'_> {
    /// Index of the class.
    pub(crate) fn class(&self) -> usize {
        u32::from_le_bytes(self.target) as usize
    }

    /// Number in [−1, 1].
    pub(crate) fn number(&self) -> f64 {
        f64::from(i32::from_le_bytes(self.target)) / ONE as f64
    }

    /// ‖φ‖² of all features φ, with the constant, in units of 2⁻⁴⁰.
    pub(crate) fn squared_norm(&self) -> u64 {
        u64::from_le_bytes(self.squares)
    }

    /// Index and value, in units of 2⁻²⁰, of each feature that is not zero, without the constant. An index
    /// may occur with the value 0.
    #[inline]
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, i64)> {
        self.entries.iter().map(|bytes| {
            let both = u64::from_le_bytes(*bytes);
            (both as u32 as usize, i64::from((both >> 32) as i32))
        })
    }
}

impl Basis {
    /// Creates the features of records of `domain`. Without `grids`, no number has knots.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features in a ball or a polytope, and for a target that is neither a
    /// number nor a class. [`Error::Shape`] unless each number has two or more knots, in increasing order,
    /// and each pair is one of two columns.
    pub(crate) fn new(plugin: &str, domain: &RecordDomain, grids: Option<&Grids>) -> Result<Self> {
        let (features, target) = Attribute::all(plugin, domain, |_| 1)?;
        let target = match (target, domain.target()) {
            (Some(target), TargetDomain::Class { .. }) => Goal::Class(target.coordinates()),
            (Some(target), TargetDomain::Real { lower, upper }) => {
                Goal::Number(Scale::new(target.coordinates().start, *lower, *upper))
            }
            _ => return Err(Error::not_applicable(plugin, "a number or a category is needed as target")),
        };
        let mut basis = Self { domain: domain.flat().clone(), terms: vec![], width: 1, target };
        let mut knots = grids.map(|grids| grids.knots.iter());
        for attribute in &features {
            let at = attribute.coordinates().start;
            let linear = attribute.bounds().map(|(lower, upper)| Scale::new(at, lower, upper));
            let own = match (&linear, &mut knots) {
                (None, _) => Some(Axis::new(attribute, &[])?),
                (Some(_), None) => None,
                (Some(_), Some(knots)) => {
                    Some(Axis::new(attribute, knots.next().map_or(&[], Vec::as_slice))?)
                }
            };
            basis.push(linear, own.map(|axis| [axis, Axis::Whole]));
        }
        for [one, other] in grids.map_or(&[][..], |grids| &grids.pairs) {
            let axis = |side: &Side| match features.get(side.feature) {
                Some(attribute) => Axis::new(attribute, &side.knots),
                None => Err(Error::shape("a pair has a column that does not exist")),
            };
            if one.feature == other.feature {
                return Err(Error::shape("a pair has one column twice"));
            }
            basis.push(None, Some([axis(one)?, axis(other)?]));
        }
        Ok(basis)
    }

    fn push(&mut self, linear: Option<Scale>, axes: Option<[Axis; 2]>) {
        let term = Term { first: self.width, linear, axes };
        self.width += term.features();
        self.terms.push(term);
    }

    /// True for a class as target, false for a number.
    pub(crate) fn has_classes(&self) -> bool {
        matches!(self.target, Goal::Class(_))
    }

    /// Upper bound on ‖φ‖² for the features φ of a record.
    pub(crate) fn squared_norm(&self) -> f64 {
        let own = |term: &Term| usize::from(term.linear.is_some()) + usize::from(term.axes.is_some());
        1.0 + self.terms.iter().map(own).sum::<usize>() as f64
    }

    /// Number of features, with the constant.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Number of values of a flat record (features, then target).
    pub(crate) fn flat_width(&self) -> usize {
        self.domain.dim()
    }

    /// Number of bytes of a packed record.
    pub(crate) fn packed_width(&self) -> usize {
        TARGET + SQUARES + ENTRY * self.terms.iter().map(Term::entries).sum::<usize>()
    }

    /// Packs a flat record, after projecting it into the domain, and appends it to `packed`.
    ///
    /// # Errors
    /// [`Error::NonFinite`] for a NaN or an infinity, [`Error::Shape`] for a wrong width.
    pub(crate) fn pack(&self, flat: &mut [f64], packed: &mut Vec<u8>) -> Result<()> {
        self.domain.project(flat)?;
        let target = match &self.target {
            Goal::Class(coordinates) => {
                let class = flat[coordinates.clone()].iter().position(|x| *x == 1.0);
                class.unwrap_or(coordinates.len()) as u32
            }
            Goal::Number(scale) => scale.whole(flat[scale.at]) as u32,
        };
        packed.extend(target.to_le_bytes());
        let start = packed.len();
        let mut squares = (ONE * ONE) as u64;
        packed.extend([0; SQUARES]);
        for term in &self.terms {
            term.entries_of(flat, |at, value| {
                squares = squares.saturating_add((value * value) as u64);
                packed.extend((at as u32).to_le_bytes());
                packed.extend((value as i32).to_le_bytes());
            });
        }
        packed[start..start + SQUARES].copy_from_slice(&squares.to_le_bytes());
        Ok(())
    }

    /// Splits a packed record into its target and its entries.
    #[inline]
    pub(crate) fn unpacked<'r>(&self, packed: &'r [u8]) -> Packed<'r> {
        let (target, rest) = packed.split_first_chunk().unwrap_or((&[0; TARGET], &[]));
        let (squares, entries) = rest.split_first_chunk().unwrap_or((&[0; SQUARES], &[]));
        Packed { target: *target, squares: *squares, entries: entries.as_chunks().0 }
    }

    /// Coefficients of the same model with one coefficient for the constant, for each number without knots,
    /// and for each cell. A coefficient of a knot is the value of the number's function at the knot.
    /// `weights` has one value for each feature.
    pub(crate) fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let own = |term: &Term| {
            let weights = &weights[term.first..][..term.features()];
            match (&term.linear, &term.axes) {
                (Some(scale), Some([Axis::Knots(_, knots), _])) => {
                    let value = |(knot, weight): (&f64, &f64)| weight + weights[0] * scale.scaled(*knot);
                    knots.iter().zip(&weights[1..]).map(value).collect()
                }
                _ => weights.to_vec(),
            }
        };
        weights[..1].iter().copied().chain(self.terms.iter().flat_map(own)).collect()
    }

    /// Standard deviations of the [`coefficients`](Self::coefficients) if the weights are independent, each
    /// with a standard deviation of 1.
    pub(crate) fn deviations(&self) -> Vec<f64> {
        let own = |term: &Term| match (&term.linear, &term.axes) {
            (Some(scale), Some([Axis::Knots(_, knots), _])) => {
                knots.iter().map(|knot| scale.scaled(*knot).hypot(1.0)).collect()
            }
            _ => vec![1.0; term.features()],
        };
        [1.0].into_iter().chain(self.terms.iter().flat_map(own)).collect()
    }

    /// Output of the model with these [`coefficients`](Self::coefficients) for a record, given as the list of
    /// its features' coordinates.
    pub(crate) fn output(&self, record: &[f64], coefficients: &[f64]) -> f64 {
        let (mut sum, mut rest) = (coefficients[0], &coefficients[1..]);
        for term in &self.terms {
            let (own, others) = rest.split_at(term.coefficients());
            sum += term.output(record, own);
            rest = others;
        }
        sum
    }

    /// For each term, the axes of its [`coefficients`](Self::coefficients): one, or two for a pair. On each
    /// axis, the coordinate of the number or the level among the features of a record, and the knot, if it
    /// belongs to one.
    pub(crate) fn places(&self) -> impl Iterator<Item = Vec<Vec<(usize, Option<f64>)>>> {
        self.terms.iter().map(|term| match (&term.linear, &term.axes) {
            (Some(scale), None) => vec![vec![(scale.at, None)]],
            (_, Some([one, Axis::Whole])) => vec![one.places()],
            (_, Some([one, other])) => vec![one.places(), other.places()],
            (None, None) => vec![],
        })
    }
}

impl Term {
    /// Number of cells.
    fn cells(&self) -> usize {
        self.axes.as_ref().map_or(0, |[one, other]| one.cells() * other.cells())
    }

    /// Number of features.
    fn features(&self) -> usize {
        usize::from(self.linear.is_some()) + self.cells()
    }

    /// Number of coefficients.
    fn coefficients(&self) -> usize {
        self.cells().max(usize::from(self.linear.is_some()))
    }

    /// Number of entries of a record.
    fn entries(&self) -> usize {
        let cells = self.axes.as_ref().map_or(0, |[one, other]| one.entries() * other.entries());
        usize::from(self.linear.is_some()) + cells
    }

    /// Calls `push` with each entry of a flat record.
    fn entries_of(&self, flat: &[f64], mut push: impl FnMut(usize, i64)) {
        if let Some(scale) = &self.linear {
            push(self.first, scale.whole(flat[scale.at]));
        }
        let Some([one, other]) = &self.axes else { return };
        let first = self.first + usize::from(self.linear.is_some());
        for (row, share) in one.place(flat).wholes() {
            for (column, part) in other.place(flat).wholes() {
                push(first + row * other.cells() + column, (share * part + ONE / 2) >> BITS);
            }
        }
    }

    /// Part of the output of a model that these coefficients of the term give a record.
    fn output(&self, record: &[f64], coefficients: &[f64]) -> f64 {
        match (&self.linear, &self.axes) {
            (_, Some([one, other])) => {
                let mut sum = 0.0;
                for (row, share) in one.place(record).shares() {
                    for (column, part) in other.place(record).shares() {
                        sum += coefficients[row * other.cells() + column] * (share * part);
                    }
                }
                sum
            }
            (Some(scale), None) => coefficients[0] * scale.scaled(record[scale.at]),
            (None, None) => 0.0,
        }
    }
}

impl Scale {
    fn new(at: usize, lower: f64, upper: f64) -> Self {
        let half = (upper - lower) / 2.0;
        Self { at, middle: lower + half, half }
    }

    /// The number in units of 2⁻²⁰.
    fn whole(&self, number: f64) -> i64 {
        scaled(number, self.middle, self.half)
    }

    fn scaled(&self, number: f64) -> f64 {
        self.whole(number) as f64 / ONE as f64
    }
}

impl Axis {
    /// # Errors
    /// [`Error::Shape`] unless a number has two or more knots in increasing order, and a category none.
    fn new(attribute: &Attribute, knots: &[f64]) -> Result<Self> {
        match (attribute.is_number(), knots) {
            (true, [_, _, ..]) if knots.is_sorted() => {
                Ok(Self::Knots(attribute.coordinates().start, knots.to_vec()))
            }
            (false, []) => Ok(Self::Levels(attribute.coordinates())),
            _ => {
                Err(Error::shape("each number needs two or more knots in increasing order, a category none"))
            }
        }
    }

    fn cells(&self) -> usize {
        match self {
            Self::Knots(_, knots) => knots.len(),
            Self::Levels(coordinates) => coordinates.len(),
            Self::Whole => 1,
        }
    }

    /// Number of entries of a record.
    fn entries(&self) -> usize {
        if let Self::Knots(..) = self { 2 } else { 1 }
    }

    fn place(&self, record: &[f64]) -> Place {
        match self {
            Self::Knots(at, knots) => between(knots, record[*at]),
            Self::Levels(coordinates) => {
                Place::Cell(record[coordinates.clone()].iter().position(|x| *x == 1.0))
            }
            Self::Whole => Place::Cell(Some(0)),
        }
    }

    /// For each cell, the coordinate of the number or the level, and the knot.
    fn places(&self) -> Vec<(usize, Option<f64>)> {
        match self {
            Self::Knots(at, knots) => knots.iter().map(|knot| (*at, Some(*knot))).collect(),
            Self::Levels(coordinates) => coordinates.clone().map(|at| (at, None)).collect(),
            Self::Whole => vec![],
        }
    }
}

impl Place {
    /// The cells that the record belongs to, each with its share of the record.
    fn shares(self) -> impl Iterator<Item = (usize, f64)> {
        self.each(1.0, |share| share)
    }

    /// Same cells, with shares in units of 2⁻²⁰.
    fn wholes(self) -> impl Iterator<Item = (usize, i64)> {
        self.each(ONE, |share| (share * ONE as f64).round() as i64)
    }

    fn each<T>(self, one: T, share_of: impl Fn(f64) -> T) -> impl Iterator<Item = (usize, T)>
    where
        T: Copy + Default + std::ops::Sub<Output = T>,
    {
        let (shares, count) = match self {
            Self::Cell(Some(cell)) => ([(cell, one); 2], 1),
            Self::Cell(None) => ([(0, T::default()); 2], 1),
            Self::Between { before, share } => {
                let share = share_of(share);
                ([(before, one - share), (before + 1, share)], 2)
            }
        };
        shares.into_iter().take(count)
    }
}

/// Place of `x` among two or more knots. Values beyond the knots are at the first or the last.
fn between(knots: &[f64], x: f64) -> Place {
    let after = knots.partition_point(|knot| *knot <= x).clamp(1, knots.len() - 1);
    let (lower, upper) = (knots[after - 1], knots[after]);
    let share = (x - lower) / (upper - lower);
    // Two equal knots give 0/0.
    Place::Between { before: after - 1, share: if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records of a number from 0 to 4, a category of three levels, and a number as target.
    fn domain() -> RecordDomain {
        let features = Domain::product([Domain::interval(0.0, 4.0).unwrap(), Domain::one_hot(3).unwrap()]);
        let columns = ["x", "c=1", "c=2", "c=3"].map(str::to_owned).to_vec();
        let target = TargetDomain::Real { lower: 0.0, upper: 2.0 };
        RecordDomain::new(columns, features.unwrap(), target).unwrap()
    }

    fn basis(grids: Option<&Grids>) -> Basis {
        Basis::new("a test", &domain(), grids).unwrap()
    }

    fn grids(knots: Vec<f64>, pairs: &[[Side; 2]]) -> Grids {
        Grids { knots: vec![knots], pairs: pairs.to_vec() }
    }

    /// Pair of the number, with these knots, and the category.
    fn pair(knots: &[f64]) -> [Side; 2] {
        [Side { feature: 0, knots: knots.to_vec() }, Side { feature: 1, knots: vec![] }]
    }

    fn packed(basis: &Basis, record: [f64; 5]) -> (f64, Vec<(usize, i64)>) {
        let mut packed = vec![];
        basis.pack(&mut record.to_vec(), &mut packed).unwrap();
        assert_eq!(packed.len(), basis.packed_width());
        let record = basis.unpacked(&packed);
        (record.number(), record.entries().collect())
    }

    #[test]
    fn a_number_is_shared_by_the_knots_beside_it() {
        let basis = basis(Some(&grids(vec![0.0, 1.0, 4.0], &[])));
        // The constant, the number, three knots and three levels.
        assert_eq!((basis.width(), basis.squared_norm()), (8, 4.0));
        let (target, entries) = packed(&basis, [3.0, 0.0, 1.0, 0.0, 1.5]);
        assert_eq!(target, 0.5);
        let third = (ONE as f64 / 3.0).round() as i64;
        assert_eq!(entries, [(1, ONE / 2), (3, third), (4, ONE - third), (6, ONE)]);
        // Values beyond a bound are at the bound.
        assert_eq!(packed(&basis, [9.0, 0.0, 1.0, 0.0, 7.0]), packed(&basis, [4.0, 0.0, 1.0, 0.0, 2.0]));
    }

    /// A pair of a number with three knots and a category of three levels has nine cells. A record is in two
    /// of them.
    #[test]
    fn a_pair_has_a_feature_for_each_pair_of_cells() {
        let basis = basis(Some(&grids(vec![0.0, 4.0], &[pair(&[0.0, 2.0, 4.0])])));
        assert_eq!((basis.width(), basis.squared_norm()), (7 + 9, 5.0));
        let (_, entries) = packed(&basis, [3.0, 0.0, 1.0, 0.0, 1.5]);
        assert_eq!(entries[4..], [(7 + 3 + 1, ONE / 2), (7 + 6 + 1, ONE / 2)]);
    }

    #[test]
    fn knots_that_are_no_knots_are_refused() {
        let good = vec![0.0, 4.0];
        let twice = [Side { feature: 1, knots: vec![] }, Side { feature: 1, knots: vec![] }];
        let unknown = [Side { feature: 2, knots: vec![] }, Side { feature: 1, knots: vec![] }];
        for refused in [
            Grids { knots: vec![], pairs: vec![] },
            grids(vec![0.0], &[]),
            grids(vec![1.0, 0.0], &[]),
            grids(vec![0.0, f64::NAN], &[]),
            grids(good.clone(), &[pair(&[])]),
            grids(good.clone(), &[twice]),
            grids(good, &[unknown]),
        ] {
            let refused = Basis::new("a test", &domain(), Some(&refused)).unwrap_err();
            assert!(matches!(refused, Error::Shape { .. }), "{refused}");
        }
    }

    proptest! {
        /// The coefficients of a model and its weights give the same output.
        #[test]
        fn coefficients_are_the_values_at_knots_and_levels(
            x in 0.0f64..=4.0,
            level in 0usize..3,
            weights in proptest::collection::vec(-5.0f64..5.0, 9 + 9),
            inner in 0.0f64..=4.0,
        ) {
            let knots = vec![0.0, inner, 2.0_f64.max(inner), 4.0];
            let paired = grids(knots.clone(), &[pair(&[0.0, inner, 4.0])]);
            for grids in [None, Some(&grids(knots, &[])), Some(&paired)] {
                let basis = basis(grids);
                let weights = &weights[..basis.width()];
                let mut record = [x, 0.0, 0.0, 0.0, 1.0];
                record[1 + level] = 1.0;
                let linear = |sum, (at, value): (usize, i64)| sum + weights[at] * value as f64 / ONE as f64;
                let expected = packed(&basis, record).1.into_iter().fold(weights[0], linear);
                let coefficients = basis.coefficients(weights);
                let cells = |axes: Vec<Vec<_>>| axes.iter().map(Vec::len).product::<usize>();
                prop_assert_eq!(coefficients.len(), 1 + basis.places().map(cells).sum::<usize>());
                let found = basis.output(&record[..4], &coefficients);
                prop_assert!((found - expected).abs() < 1e-4, "{} and {}", found, expected);
            }
        }
    }
}
