//! Contents of a cell, and decimal digits of a number.

use jiff::civil::Date;
use std::borrow::Cow;

/// Contents of one cell, independent of the file format.
///
/// | cell | in a numeric column | in a category |
/// |---|---|---|
/// | text | the number that it spells | the level that it spells |
/// | number | itself | its shortest decimal digits, as text |
/// | whole number | the nearest 64-bit floating-point number | its digits, as text |
/// | flag | 0 or 1 | `false` or `true`, as text |
/// | day | not a number | its formatted text |
/// | null | not a number | empty text |
///
/// In a column that declares a replacement for missing cells ([`Missing`](crate::Missing)), a null is a
/// missing cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A null. CSV has none: an empty CSV cell is empty text.
    Null,
    /// Text. Surrounding blanks are insignificant.
    Text(&'a str),
    /// A number, finite or not.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// A boolean.
    Flag(bool),
    /// A day, with a format in `strftime` notation.
    Date {
        /// The day.
        date: Date,
        /// Format of the day's text.
        format: &'a str,
    },
}

impl<'a> Cell<'a> {
    /// Returns the cell as text, for comparison with levels and for errors.
    ///
    /// ```
    /// use scumble_records::Cell;
    ///
    /// let cells = [Cell::Text("red"), Cell::Number(2.0), Cell::Whole(-7), Cell::Flag(true), Cell::Null];
    /// assert_eq!(cells.map(|cell| cell.text().into_owned()), ["red", "2", "-7", "true", ""]);
    /// ```
    pub fn text(self) -> Cow<'a, str> {
        match self {
            Self::Null => "".into(),
            Self::Text(text) => text.into(),
            Self::Number(number) => digits(number, &mut zmij::Buffer::new()).into_owned().into(),
            Self::Whole(number) => number.to_string().into(),
            Self::Flag(flag) => if flag { "true" } else { "false" }.into(),
            Self::Date { date, format } => {
                jiff::fmt::strtime::format(format, date).unwrap_or_else(|_| date.to_string()).into()
            }
        }
    }

    /// Returns the cell as a number, finite or not. `None` if the cell holds no number.
    #[inline]
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Null | Self::Date { .. } => None,
            Self::Text(text) => text.parse().ok(),
            Self::Number(number) => Some(number),
            Self::Whole(number) => Some(number as f64),
            Self::Flag(flag) => Some(f64::from(flag)),
        }
    }
}

/// Shortest decimal digits that parse back to `number`, without an exponent. The standard library prints the
/// same number of digits. It prints other digits only if two decimals of this length are equally near to
/// `number`.
#[inline]
pub(crate) fn digits(number: f64, buffer: &mut zmij::Buffer) -> Cow<'_, str> {
    // Outside this range, the digits in `buffer` would have an exponent.
    if !(1e-5..1e15).contains(&number.abs()) && number != 0.0 {
        return number.to_string().into();
    }
    let digits = buffer.format_finite(number);
    digits.strip_suffix(".0").unwrap_or(digits).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_read_back_and_as_few_as_the_standard_librarys(
            bits: u64,
            small in -1e3..1e3f64,
            steps in -1_000_000_000_000i64..1_000_000_000_000,
            exponent in 0..60,
        ) {
            // Samples numbers of any bit pattern, numbers of everyday size, and lattice points as in
            // releases. On a lattice two decimals may be equally near.
            let lattice = steps as f64 / f64::from(exponent).exp2();
            for number in [f64::from_bits(bits), small, lattice, steps as f64] {
                let mut buffer = zmij::Buffer::new();
                let found = digits(number, &mut buffer);
                prop_assert_eq!(found.len(), number.to_string().len(), "{} and {}", found, number);
                let read: f64 = found.parse().unwrap();
                prop_assert!(read.to_bits() == number.to_bits() || number.is_nan(), "{} and \
                    {}", found, number);
            }
        }
    }

    #[test]
    fn digits_at_the_ends_are_those_of_the_standard_library() {
        let near = |number: f64| [number.next_down(), number, number.next_up()];
        let numbers = [0.0, -0.0, 1.0, 1e-5, 1e15, 1e16, 1e-300, f64::MIN_POSITIVE, f64::MAX, 123_456.0];
        for number in numbers.into_iter().flat_map(near).flat_map(|number| [number, -number]) {
            assert_eq!(digits(number, &mut zmij::Buffer::new()), number.to_string());
        }
    }
}
