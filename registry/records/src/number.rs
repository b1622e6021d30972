//! Numbers as people write them: with a unit, and with separators between groups of three digits.

use crate::Cell;
use crate::words::words;
use std::borrow::Cow;

words!(
    /// Decimal separator of a number.
    Decimal, "decimal separator":
    /// A point: `1.5`.
    Point = "point" | "." | "dot",
    /// A comma: `1,5`. Points between groups of three digits then separate thousands: `1.234,5`.
    Comma = "comma" | ","
);

/// Units that a draft takes from the cells: a percent sign, and signs and ISO 4217 codes of currencies.
pub(crate) const SIGNS: [&str; 27] = [
    "%", "$", "€", "£", "¥", "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "AUD", "CAD", "NZD", "SEK", "NOK",
    "DKK", "PLN", "CZK", "HUF", "INR", "BRL", "MXN", "KRW", "SGD", "HKD", "ZAR",
];

/// Separators of groups of three digits in every decimal format: four blanks (ordinary, non-breaking, narrow
/// and thin) and two apostrophes.
const SEPARATORS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '’'];

/// Number of blanks among the separators. They may also stand between a number and its unit.
const BLANKS: usize = 4;

/// A number in a text, and the unit before or after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity<'t> {
    pub(crate) number: f64,
    /// Empty for a number without a unit.
    pub(crate) unit: &'t str,
}

impl<'t> Quantity<'t> {
    /// Returns the number in a cell, finite or not, and its unit.
    #[inline]
    pub(crate) fn from_cell(cell: Cell<'t>) -> Option<Self> {
        match (cell.number(), cell) {
            (Some(number), _) => Some(Self { number, unit: "" }),
            (None, Cell::Text(text)) => Self::from_text(text),
            (None, _) => None,
        }
    }

    /// Parses a text with a decimal point, such as `1,234.50`, `-$5`, `1 234 EUR` or `12.5 %`.
    ///
    /// Groups have exactly three digits, except for the first, and a single separator. Therefore `1,23` is
    /// not a number.
    pub(crate) fn from_text(text: &'t str) -> Option<Self> {
        let Parts { sign, digits, unit, .. } = Parts::from_text(text)?;
        let number: f64 = plain(digits, Decimal::Point)?.parse().ok()?;
        Some(Self { number: if matches!(sign, Some('-' | '−')) { -number } else { number }, unit })
    }
}

/// Parts of the text of a number.
struct Parts<'t> {
    before: &'t str,
    digits: &'t str,
    after: &'t str,
    sign: Option<char>,
    /// The text before or after the digits, without the sign.
    unit: &'t str,
}

impl<'t> Parts<'t> {
    fn from_text(text: &'t str) -> Option<Self> {
        let is_digit = |character: char| character.is_ascii_digit();
        let is_point = |character: char| matches!(character, '.' | ',');
        let start = text.find(is_digit)?;
        let start = start - usize::from(text[..start].ends_with(is_point));
        let end = text.rfind(is_digit)? + 1;
        let end = end + usize::from(text[end..].starts_with(is_point));
        let (before, digits, after) = (&text[..start], &text[start..end], &text[end..]);
        let is_sign = |character: &char| matches!(character, '-' | '+' | '−');
        let first = before.chars().next().filter(is_sign);
        let last = before.chars().next_back().filter(is_sign).filter(|_| first.is_none());
        let prefix = match (first, last) {
            (Some(sign), _) => &before[sign.len_utf8()..],
            (_, Some(sign)) => &before[..before.len() - sign.len_utf8()],
            _ => before,
        };
        let trimmed = |text: &'t str| text.trim_matches(&SEPARATORS[..BLANKS]);
        let unit = match (trimmed(prefix), trimmed(after)) {
            ("", unit) | (unit, "") if !unit.contains(['-', '+', '−']) => unit,
            _ => return None,
        };
        let sign = first.or(last);
        Some(Self { before, digits, after, sign, unit })
    }
}

/// Rewrites a number without a sign in plain digits with a decimal point, and an exponent if it has one.
/// `None` if the text is not a number in this decimal format.
fn plain(text: &str, decimal: Decimal) -> Option<String> {
    let (point, grouping) = match decimal {
        Decimal::Point => ('.', ','),
        Decimal::Comma => (',', '.'),
    };
    let (number, exponent) = text.find(['e', 'E']).map_or((text, ""), |at| text.split_at(at));
    let (whole, decimals) = number.split_once(point).unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let separator = whole.chars().find(|&found| found == grouping || SEPARATORS.contains(&found));
    let whole = match separator {
        None => Cow::from(whole),
        Some(separator) => {
            let mut groups = whole.split(separator);
            let first = groups.next().unwrap_or_default();
            let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
            if !is_first || groups.any(|group| group.len() != 3) {
                return None;
            }
            whole.replace(separator, "").into()
        }
    };
    let fits = is_digits(&whole) && is_digits(decimals) && !(whole.is_empty() && decimals.is_empty());
    let point = if decimals.is_empty() { "" } else { "." };
    fits.then(|| format!("{whole}{point}{decimals}{exponent}"))
}

/// Rewrites a number with a decimal comma: replaces the comma by a decimal point, and removes points between
/// groups of digits. `unit` is the unit of its column. A number with another unit stays unchanged, unless the
/// unit is one of [`SIGNS`], and so does any other text.
pub(crate) fn with_point<'t>(cell: &'t str, unit: &str) -> Cow<'t, str> {
    let is_unit = |found: &str| found.is_empty() || found == unit || SIGNS.contains(&found);
    let parts = Parts::from_text(cell.trim()).filter(|parts| is_unit(parts.unit));
    let rewritten = parts.and_then(|Parts { before, digits, after, .. }| {
        let digits = digits.contains([',', '.']).then(|| plain(digits, Decimal::Comma))??;
        Some(format!("{before}{digits}{after}"))
    });
    rewritten.map_or(Cow::from(cell), Cow::from)
}

/// Possible meaning of the separator in a number.
#[derive(Debug, PartialEq)]
pub(crate) enum Separated {
    /// A decimal point.
    Point,
    /// A decimal comma.
    Comma,
    /// A comma that may be a decimal comma or separate thousands.
    Thousands,
}

impl Separated {
    pub(crate) fn from_cell(cell: &str) -> Option<Self> {
        let Parts { digits, unit, .. } = Parts::from_text(cell)?;
        if !(unit.is_empty() || SIGNS.contains(&unit)) {
            return None;
        }
        match (plain(digits, Decimal::Point).is_some(), plain(digits, Decimal::Comma).is_some()) {
            (true, true) => digits.contains(',').then_some(Self::Thousands),
            (true, false) => Some(Self::Point),
            (false, true) => digits.contains(',').then_some(Self::Comma),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_units_and_groups_of_three_digits() {
        for (text, number, unit) in [
            ("12", 12.0, ""),
            ("1,234.56", 1234.56, ""),
            ("1,234,567", 1_234_567.0, ""),
            ("-1 234.5", -1234.5, ""),
            ("1\u{a0}234\u{a0}567", 1_234_567.0, ""),
            ("1\u{202f}234", 1234.0, ""),
            ("1\u{2009}234", 1234.0, ""),
            ("1'234.50", 1234.5, ""),
            ("−5", -5.0, ""),
            ("$1,234.00", 1234.0, "$"),
            ("-$5", -5.0, "$"),
            ("$-5", -5.0, "$"),
            ("£ .5", 0.5, "£"),
            ("1 234 €", 1234.0, "€"),
            ("USD 1,000", 1000.0, "USD"),
            ("1000 EUR", 1000.0, "EUR"),
            ("12.5 %", 12.5, "%"),
            ("17%", 17.0, "%"),
            ("37.5\u{a0}°C", 37.5, "°C"),
            ("1.5e3 kg", 1500.0, "kg"),
            // No schema and no draft has a unit with a line break.
            ("$\n5", 5.0, "$\n"),
        ] {
            assert_eq!(Quantity::from_text(text), Some(Quantity { number, unit }), "{text}");
        }
    }

    #[test]
    fn ambiguous_texts_are_not_numbers() {
        for text in [
            "1,23",
            "1,2345",
            "1234,567",
            "0,123",
            "12,34,567",
            "1,234 567",
            "1,234'567",
            "1 23",
            "1.234.567",
            "1.234,5",
            ",5",
            "1,",
            "1,234,",
            "1..5",
            "1-2",
            "2020-01-31",
            "31.12.2020",
            "$5 USD",
            "--5",
            "5 of 6",
            "",
            "$",
            "NaN",
            "٣",
        ] {
            assert_eq!(Quantity::from_text(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_grouped_number_is_the_number(
            number in -1e12..1e12f64, separator in prop::sample::select(vec![",", " ", "\u{202f}", "'"]),
        ) {
            let digits = format!("{:.2}", number.abs());
            let (whole, decimals) = digits.split_once('.').unwrap();
            let groups: Vec<&str> = whole.as_bytes().rchunks(3).rev()
                .map(|group| std::str::from_utf8(group).unwrap()).collect();
            let sign = if number < 0.0 { "-" } else { "" };
            let text = format!("{sign}{}.{decimals}", groups.join(separator));
            let expected: f64 = format!("{sign}{digits}").parse().unwrap();
            prop_assert_eq!(Quantity::from_text(&text), Some(Quantity { number: expected, unit: "" }));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "[-+−$€%,. '0-9eE\u{a0}a-c]{0,12}") {
            let _ = (Quantity::from_text(&text), with_point(&text, ""), Separated::from_cell(&text));
        }
    }

    #[test]
    fn numbers_say_what_their_separator_is() {
        for (cell, expected) in [
            ("1,5", Some(Separated::Comma)),
            ("-0,998", Some(Separated::Comma)),
            ("1234,567", Some(Separated::Comma)),
            ("1.234,5", Some(Separated::Comma)),
            ("1 234,5", Some(Separated::Comma)),
            ("12,5 %", Some(Separated::Comma)),
            ("1,234", Some(Separated::Thousands)),
            ("1.5", Some(Separated::Point)),
            ("0.998", Some(Separated::Point)),
            ("1,234.5", Some(Separated::Point)),
            ("$1,234.50", Some(Separated::Point)),
            ("1,234,567", Some(Separated::Point)),
            ("1.234", None),
            ("1 234", None),
            ("123.456.789", None),
            ("1,2,3", None),
            ("Rome, Italy", None),
            ("Room 1,5", None),
            ("12", None),
            (",", None),
            ("31.12.2020", None),
        ] {
            assert_eq!(Separated::from_cell(cell), expected, "{cell}");
        }
    }

    #[test]
    fn a_decimal_comma_becomes_a_point_and_other_text_stays() {
        for (cell, expected) in [
            ("1,5", "1.5"),
            (" -0,25 ", "-0.25"),
            ("1.234,5", "1234.5"),
            ("1.234.567", "1234567"),
            ("1 234,5", "1234.5"),
            ("€ 1.234,56", "€ 1234.56"),
            ("12,5 %", "12.5 %"),
            ("37,5 °C", "37.5 °C"),
            ("2,5e-3", "2.5e-3"),
            (",5", ".5"),
            ("5,", "5"),
            ("1.23", "1.23"),
            ("12", "12"),
            ("1 234", "1 234"),
            ("Room 1,5", "Room 1,5"),
            ("a,b", "a,b"),
            ("1,2,3", "1,2,3"),
            ("", ""),
            (",", ","),
            ("31.12.2020", "31.12.2020"),
        ] {
            assert_eq!(with_point(cell, "°C"), expected, "{cell}");
        }
    }
}
