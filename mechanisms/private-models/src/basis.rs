//! Features of a record for a model that is linear in them, as sparse vectors of integers.

use crate::encoding::{ONE, scaled};
use scumble_core::levels::Attribute;
use scumble_core::{Domain, Error, RecordDomain, Result, TargetDomain};
use std::ops::Range;

/// Features φ of a record for a model that is linear in them: a constant 1, and some features of each column.
///
/// A category has one feature for each level, which is 1 for the record's level and else 0. A number has one
/// feature that is the number scaled to [−1, 1] by its public bounds. It may also have knots, which are
/// public values in increasing order, with one feature for each knot. Feature i is 1 at knot i, 0 at all
/// other knots, and linear between neighbouring knots. A weighted sum of the features of a number with knots
/// is a piecewise linear function of the number.
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

/// Features of one column.
#[derive(Debug, Clone)]
struct Term {
    /// Coordinates of the column in a flat record.
    coordinates: Range<usize>,
    /// Index of the column's first feature.
    first: usize,
    shape: Shape,
}

#[derive(Debug, Clone)]
enum Shape {
    /// A number, by the middle and half the width of its bounds, and its knots.
    Number { middle: f64, half: f64, knots: Vec<f64> },
    /// One feature for each level.
    Levels,
}

/// Target of a record.
#[derive(Debug, Clone)]
enum Goal {
    /// The class whose coordinate is 1.
    Class(Range<usize>),
    /// The number at `at`, scaled to [−1, 1].
    Number { at: usize, middle: f64, half: f64 },
}

/// Number of bytes of a packed entry.
const ENTRY: usize = 8;

/// Number of bytes of a packed target.
const TARGET: usize = 4;

/// Record as it is packed: the target, and the entries.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'r> {
    target: [u8; TARGET],
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
    /// Creates the features of records of `domain`. `knots` lists the knots of each number among the
    /// features, in their order; without it, no number has knots.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features in a ball or a polytope, and for a target that is neither a
    /// number nor a class. [`Error::Shape`] unless each number has two or more knots, in increasing order.
    pub(crate) fn new(plugin: &str, domain: &RecordDomain, knots: Option<&[Vec<f64>]>) -> Result<Self> {
        let (features, target) = Attribute::all(plugin, domain, |_| 1)?;
        let (mut terms, mut width) = (vec![], 1);
        let mut all_knots = knots.map(|knots| knots.iter());
        for attribute in features {
            let coordinates = attribute.coordinates();
            let shape = match attribute.bounds() {
                None => Shape::Levels,
                Some((lower, upper)) => {
                    let half = (upper - lower) / 2.0;
                    let knots = match &mut all_knots {
                        None => vec![],
                        Some(all_knots) => {
                            let knots = all_knots.next().filter(|knots| knots.len() > 1 && knots.is_sorted());
                            let problem = "each number needs two or more knots in increasing order";
                            knots.ok_or_else(|| Error::shape(problem))?.clone()
                        }
                    };
                    Shape::Number { middle: lower + half, half, knots }
                }
            };
            let term = Term { coordinates, first: width, shape };
            width += term.features();
            terms.push(term);
        }
        let target = match (target, domain.target()) {
            (Some(target), TargetDomain::Class { .. }) => Goal::Class(target.coordinates()),
            (Some(target), TargetDomain::Real { lower, upper }) => {
                let half = (upper - lower) / 2.0;
                Goal::Number { at: target.coordinates().start, middle: lower + half, half }
            }
            _ => return Err(Error::not_applicable(plugin, "a number or a category is needed as target")),
        };
        Ok(Self { domain: domain.flat().clone(), terms, width, target })
    }

    /// True for a class as target, false for a number.
    pub(crate) fn has_classes(&self) -> bool {
        matches!(self.target, Goal::Class(_))
    }

    /// Upper bound on ‖φ‖² for the features φ of a record.
    pub(crate) fn squared_norm(&self) -> f64 {
        let own = |term: &Term| if term.entries() > 1 { 2.0 } else { 1.0 };
        1.0 + self.terms.iter().map(own).sum::<f64>()
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
        TARGET + ENTRY * self.terms.iter().map(Term::entries).sum::<usize>()
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
            Goal::Number { at, middle, half } => scaled(flat[*at], *middle, *half) as u32,
        };
        packed.extend(target.to_le_bytes());
        let mut push = |at: usize, value: i32| {
            packed.extend((at as u32).to_le_bytes());
            packed.extend(value.to_le_bytes());
        };
        self.terms.iter().for_each(|term| term.each(&flat[term.coordinates.clone()], &mut push));
        Ok(())
    }

    /// Splits a packed record into its target and its entries.
    #[inline]
    pub(crate) fn unpacked<'r>(&self, packed: &'r [u8]) -> Packed<'r> {
        let (target, entries) = packed.split_first_chunk().unwrap_or((&[0; TARGET], &[]));
        Packed { target: *target, entries: entries.as_chunks().0 }
    }

    /// Coefficients of the same model with one coefficient for the constant, for each level and for each
    /// knot. A coefficient of a knot is the value of the number's function at the knot. `weights` has one
    /// value for each feature.
    pub(crate) fn coefficients(&self, weights: &[f64]) -> Vec<f64> {
        let own = |term: &Term| {
            let weights = &weights[term.first..][..term.features()];
            match &term.shape {
                Shape::Number { middle, half, knots } if !knots.is_empty() => {
                    let value = |(knot, weight): (&f64, &f64)| {
                        weight + weights[0] * scaled(*knot, *middle, *half) as f64 / ONE as f64
                    };
                    knots.iter().zip(&weights[1..]).map(value).collect()
                }
                _ => weights.to_vec(),
            }
        };
        weights[..1].iter().copied().chain(self.terms.iter().flat_map(own)).collect()
    }

    /// Output of the model with these [`coefficients`](Self::coefficients) for a record, given as the list of
    /// its features' coordinates.
    pub(crate) fn output(&self, record: &[f64], coefficients: &[f64]) -> f64 {
        let (mut sum, mut rest) = (coefficients[0], &coefficients[1..]);
        for term in &self.terms {
            let (own, others) = rest.split_at(term.coefficients());
            sum += term.output(&record[term.coordinates.clone()], own);
            rest = others;
        }
        sum
    }

    /// For each coefficient but that of the constant: the coordinate of the column or the level among the
    /// features of a record, and the knot, if it belongs to one.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, Option<f64>)> {
        self.terms.iter().flat_map(|Term { coordinates, shape, .. }| -> Vec<_> {
            match shape {
                Shape::Number { knots, .. } if !knots.is_empty() => {
                    knots.iter().map(|knot| (coordinates.start, Some(*knot))).collect()
                }
                _ => coordinates.clone().map(|at| (at, None)).collect(),
            }
        })
    }
}

impl Term {
    /// Number of features.
    fn features(&self) -> usize {
        match &self.shape {
            Shape::Number { knots, .. } => 1 + knots.len(),
            Shape::Levels => self.coordinates.len(),
        }
    }

    /// Number of coefficients.
    fn coefficients(&self) -> usize {
        match &self.shape {
            Shape::Number { knots, .. } => knots.len().max(1),
            Shape::Levels => self.coordinates.len(),
        }
    }

    /// Number of entries of a record.
    fn entries(&self) -> usize {
        match &self.shape {
            Shape::Number { knots, .. } if !knots.is_empty() => 3,
            _ => 1,
        }
    }

    /// Calls `push` with each entry. `values` are the record's values at the column's coordinates.
    fn each(&self, values: &[f64], mut push: impl FnMut(usize, i32)) {
        match &self.shape {
            Shape::Levels => match values.iter().position(|x| *x == 1.0) {
                Some(level) => push(self.first + level, ONE as i32),
                None => push(self.first, 0),
            },
            Shape::Number { middle, half, knots } => {
                push(self.first, scaled(values[0], *middle, *half) as i32);
                if let Some((after, share)) = between(knots, values[0]) {
                    let share = (share * ONE as f64).round() as i32;
                    push(self.first + after, ONE as i32 - share);
                    push(self.first + after + 1, share);
                }
            }
        }
    }

    /// The column's part of the output of a model.
    fn output(&self, values: &[f64], coefficients: &[f64]) -> f64 {
        match &self.shape {
            Shape::Levels => values.iter().zip(coefficients).map(|(x, weight)| x * weight).sum(),
            Shape::Number { middle, half, knots } => match between(knots, values[0]) {
                Some((after, share)) => coefficients[after - 1] * (1.0 - share) + coefficients[after] * share,
                None => coefficients[0] * scaled(values[0], *middle, *half) as f64 / ONE as f64,
            },
        }
    }
}

/// Index of the knot after `x`, and the share of the way from the knot before it, from 0 to 1. `None` if
/// there are no knots.
fn between(knots: &[f64], x: f64) -> Option<(usize, f64)> {
    let last = knots.len().checked_sub(1)?;
    let after = knots.partition_point(|knot| *knot <= x).clamp(1, last.max(1));
    let (lower, upper) = (knots[after - 1], *knots.get(after)?);
    let share = (x - lower) / (upper - lower);
    // Two equal knots give 0/0.
    Some((after, if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records of a number from 0 to 4, a category of three levels, and a number as target.
    fn basis(knots: Option<&[Vec<f64>]>) -> Basis {
        let features = Domain::product([Domain::interval(0.0, 4.0).unwrap(), Domain::one_hot(3).unwrap()]);
        let columns = ["x", "c=1", "c=2", "c=3"].map(str::to_owned).to_vec();
        let target = TargetDomain::Real { lower: 0.0, upper: 2.0 };
        let domain = RecordDomain::new(columns, features.unwrap(), target).unwrap();
        Basis::new("a test", &domain, knots).unwrap()
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
        let basis = basis(Some(&[vec![0.0, 1.0, 4.0]]));
        // The constant, the number, three knots and three levels.
        assert_eq!((basis.width(), basis.squared_norm()), (8, 4.0));
        let (target, entries) = packed(&basis, [3.0, 0.0, 1.0, 0.0, 1.5]);
        assert_eq!(target, 0.5);
        let third = (ONE as f64 / 3.0).round() as i64;
        assert_eq!(entries, [(1, ONE / 2), (3, third), (4, ONE - third), (6, ONE)]);
        // Values beyond a bound are at the bound.
        assert_eq!(packed(&basis, [9.0, 0.0, 1.0, 0.0, 7.0]), packed(&basis, [4.0, 0.0, 1.0, 0.0, 2.0]));
    }

    #[test]
    fn knots_that_are_no_knots_are_refused() {
        for knots in [vec![], vec![vec![0.0]], vec![vec![1.0, 0.0]]] {
            let domain =
                scumble_testing::records(Domain::unit_box(1), TargetDomain::Real { lower: 0.0, upper: 1.0 });
            let refused = Basis::new("a test", &domain, Some(&knots)).unwrap_err();
            assert!(matches!(refused, Error::Shape { .. }), "{refused}");
        }
    }

    proptest! {
        /// The coefficients of a model and its weights give the same output.
        #[test]
        fn coefficients_are_the_values_at_knots_and_levels(
            x in 0.0f64..=4.0,
            level in 0usize..3,
            weights in proptest::collection::vec(-5.0f64..5.0, 9),
            inner in 0.0f64..=4.0,
        ) {
            for knots in [None, Some(&[vec![0.0, inner, 2.0_f64.max(inner), 4.0]][..])] {
                let basis = basis(knots);
                let weights = &weights[..basis.width()];
                let mut record = [x, 0.0, 0.0, 0.0, 1.0];
                record[1 + level] = 1.0;
                let linear = |sum, (at, value): (usize, i64)| sum + weights[at] * value as f64 / ONE as f64;
                let expected = packed(&basis, record).1.into_iter().fold(weights[0], linear);
                let coefficients = basis.coefficients(weights);
                prop_assert_eq!(coefficients.len(), 1 + basis.places().count());
                let found = basis.output(&record[..4], &coefficients);
                prop_assert!((found - expected).abs() < 1e-4, "{} and {}", found, expected);
            }
        }
    }
}
