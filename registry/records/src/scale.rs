//! Scale of a numeric column: the map from its numbers to the range [0, 1] of an encoded record.

use crate::Cell;
use serde::{Deserialize, Serialize};

/// Shape of the map from the bounds of a column to [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleShape {
    /// Logarithm of the distance from the lower bound, plus a unit. The unit is the lower bound if it is
    /// positive. Otherwise it is 1 for integers, and a thousandth of the distance between the bounds for real
    /// numbers.
    Log,
}

/// Mark of values that keep a part of the range for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Apart {
    /// The value has the first part of the range, or the next after another such value.
    Apart,
}

/// Text of `missing` for missing cells that stay missing.
pub(crate) const APART: &str = "apart";

/// Map from the numbers of a column to [0, 1].
///
/// Outside the bounds, each map continues linearly. It therefore has an inverse for all numbers, and noisy
/// numbers can be read back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    lower: f64,
    upper: f64,
    shape: Shape,
    /// True if missing cells have a part of the range, and true if zeros have one.
    missing: bool,
    zero: bool,
    /// Number of equal parts of the range, for a column with such values.
    parts: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Linear,
    /// log(1 + (x − lower)/unit), divided by its value at the upper bound.
    Log {
        unit: f64,
    },
    /// Piecewise linear: edge k of K + 1 becomes k/K.
    Edges(Vec<f64>),
}

/// Number in a released record: a number, or a missing cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Decoded {
    Missing,
    Number(f64),
}

impl Scale {
    /// Linear map of these bounds.
    pub(crate) fn linear(lower: f64, upper: f64) -> Self {
        Self { lower, upper, shape: Shape::Linear, missing: false, zero: false, parts: 1.0 }
    }

    /// Changes the shape to a logarithm with this `unit`.
    pub(crate) fn with_log(self, unit: f64) -> Self {
        Self { shape: Shape::Log { unit }, ..self }
    }

    /// Changes the shape to a piecewise linear map with these edges between the bounds.
    pub(crate) fn with_edges(self, between: &[f64]) -> Self {
        let edges = [&[self.lower], between, &[self.upper]].concat();
        Self { shape: Shape::Edges(edges), ..self }
    }

    /// Gives missing cells and zeros one of `parts` equal parts of the range each, if they are `missing` or
    /// `zero` is true.
    pub(crate) fn with_apart(self, missing: bool, zero: bool, parts: usize) -> Self {
        Self { missing, zero, parts: parts as f64, ..self }
    }

    /// Returns whether the map is (x − lower)/(upper − lower).
    pub(crate) fn is_linear(&self) -> bool {
        self.shape == Shape::Linear && self.apart() == 0.0
    }

    /// Returns whether missing cells stay missing.
    pub(crate) fn keeps_missing(&self) -> bool {
        self.missing
    }

    /// Returns whether zeros have a part of the range for themselves.
    pub(crate) fn keeps_zero(&self) -> bool {
        self.zero
    }

    /// Returns whether some values have a part of the range for themselves.
    pub(crate) fn has_apart(&self) -> bool {
        self.apart() > 0.0
    }

    /// Number of values that have a part of the range for themselves.
    fn apart(&self) -> f64 {
        f64::from(u8::from(self.missing)) + f64::from(u8::from(self.zero))
    }

    /// Bounds of the numbers.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// Coordinate of a missing cell: the middle of the first part.
    pub(crate) fn missing(&self) -> f64 {
        0.5 / self.parts
    }

    /// Coordinate of a number.
    pub(crate) fn encode(&self, number: f64) -> f64 {
        let linear = (number - self.lower) / (self.upper - self.lower);
        let share = match &self.shape {
            _ if !(0.0..=1.0).contains(&linear) => linear,
            Shape::Linear => linear,
            Shape::Log { unit } => {
                ((number - self.lower) / unit).ln_1p() / ((self.upper - self.lower) / unit).ln_1p()
            }
            Shape::Edges(edges) => {
                let at = edges.partition_point(|edge| *edge <= number).clamp(1, edges.len() - 1);
                let within = (number - edges[at - 1]) / (edges[at] - edges[at - 1]);
                ((at - 1) as f64 + within) / (edges.len() - 1) as f64
            }
        };
        match self.apart() {
            0.0 => share,
            apart if self.zero && number == 0.0 => (apart - 0.5) / self.parts,
            apart => (apart + (self.parts - apart) * share) / self.parts,
        }
    }

    /// Cell of a coordinate on a linear scale, as [`decode`](Self::decode) computes it.
    #[inline(always)]
    pub(crate) fn plain_cell(&self, coordinate: f64) -> Cell<'static> {
        // The sum with zero writes a negative zero as zero.
        Cell::Number(0.0 + (self.lower + coordinate * (self.upper - self.lower)))
    }

    /// Number of a coordinate.
    pub(crate) fn decode(&self, coordinate: f64) -> Decoded {
        let (apart, part) = (self.apart(), (coordinate * self.parts).max(0.0));
        let share = match apart {
            0.0 => coordinate,
            _ if part < apart && self.missing && part < 1.0 => return Decoded::Missing,
            _ if part < apart => return Decoded::Number(0.0),
            apart => (coordinate * self.parts - apart) / (self.parts - apart),
        };
        let linear = self.lower + share * (self.upper - self.lower);
        Decoded::Number(match &self.shape {
            _ if !(0.0..=1.0).contains(&share) => linear,
            Shape::Linear => linear,
            Shape::Log { unit } => {
                self.lower + unit * (share * ((self.upper - self.lower) / unit).ln_1p()).exp_m1()
            }
            Shape::Edges(edges) => {
                let place = share * (edges.len() - 1) as f64;
                let at = (place as usize).min(edges.len() - 2);
                edges[at] + (place - at as f64) * (edges[at + 1] - edges[at])
            }
        })
    }

    /// Numbers at the two ends of a range of coordinates; `None` if its middle is a missing cell.
    pub(crate) fn ends(&self, [from, to]: [f64; 2]) -> Option<[f64; 2]> {
        let middle = from + (to - from) / 2.0;
        let number = |coordinate| match self.decode(coordinate) {
            Decoded::Missing => None,
            Decoded::Number(number) => Some(number),
        };
        if middle * self.parts < self.apart() {
            return number(middle).map(|number| [number; 2]);
        }
        // Numbers begin after the values that have a part of the range for themselves.
        Some([number(from.max(self.apart() / self.parts))?, number(to)?])
    }

    /// Shortest decimal number with this coordinate. The result is the input number if the coordinate has no
    /// noise.
    pub(crate) fn decimal(&self, coordinate: f64) -> Cell<'static> {
        let number = match self.decode(coordinate) {
            Decoded::Missing => return Cell::Null,
            Decoded::Number(number) => number,
        };
        let exact = [self.lower, self.upper, 0.0].into_iter();
        let shorter = (0..17).map(|digits| format!("{number:.digits$e}").parse().unwrap_or(number));
        let found = exact.chain(shorter).find(|shorter| self.encode(*shorter) == coordinate);
        Cell::Number(found.unwrap_or(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn every_number_is_decoded_from_its_coordinate() {
        let linear = Scale::linear(0.0, 1e7);
        let edges = linear.clone().with_edges(&[10.0, 1e5]);
        for scale in [
            linear.clone(),
            Scale::linear(2.0, 5e6).with_log(2.0),
            linear.clone().with_log(1e4),
            edges.clone(),
            linear.clone().with_log(1e4).with_apart(true, true, 16),
            edges.clone().with_apart(false, true, 4),
        ] {
            let (lower, upper) = scale.bounds();
            let mut before = f64::NEG_INFINITY;
            for number in [lower, 2.5, 777.25, 1e5, 3e6, upper, upper + 1e7] {
                let coordinate = scale.encode(number);
                assert!(
                    coordinate > before && (number > upper || (0.0..=1.0).contains(&coordinate)),
                    "{scale:?}"
                );
                let Decoded::Number(decoded) = scale.decode(coordinate) else {
                    panic!("{scale:?}, {number}")
                };
                assert_relative_eq!(decoded, number, max_relative = 1e-9);
                assert_eq!(scale.decimal(coordinate), Cell::Number(number), "{scale:?}");
                before = coordinate;
            }
        }
        let thirds = [10.0, 1e5].map(|edge| edges.encode(edge) * 3.0);
        assert_eq!(thirds, [1.0, 2.0]);
        assert_relative_eq!(Scale::linear(1.0, 1e4).with_log(1.0).encode(100.0), 0.5, epsilon = 1e-12);
    }

    #[test]
    fn values_apart_have_the_first_parts_of_the_range() {
        let scale = Scale::linear(0.0, 8.0).with_apart(true, true, 4);
        let [missing, zero, next] = [scale.missing(), scale.encode(0.0), scale.encode(1e-9)];
        assert_eq!([missing, zero], [0.125, 0.375]);
        assert_relative_eq!(next, 0.5, epsilon = 1e-9);
        for (coordinate, expected) in [
            (-3.0, Decoded::Missing),
            (0.24, Decoded::Missing),
            (0.26, Decoded::Number(0.0)),
            (0.75, Decoded::Number(4.0)),
        ] {
            assert_eq!(scale.decode(coordinate), expected);
        }
    }
}
