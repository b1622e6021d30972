//! Texts of numbers for people, and their JSON form: finite numbers unchanged, infinities as the strings
//! "inf" and "-inf".

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;

/// Writes `value`. Refuses a NaN.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_str("inf"),
        f64::NEG_INFINITY => serializer.serialize_str("-inf"),
        value if value.is_nan() => Err(serde::ser::Error::custom("a NaN cannot be saved")),
        value => serializer.serialize_f64(value),
    }
}

/// JSON value that [`serialize`] writes; null for a NaN.
pub fn to_json(value: f64) -> serde_json::Value {
    serialize(&value, serde_json::value::Serializer).unwrap_or_default()
}

/// Parses a number as people write it, for example on a command line. Only the words inf and -inf are
/// infinite. A number beyond the largest float is refused.
///
/// ```
/// use scumble_core::number::parse;
///
/// assert_eq!(parse("inf"), Ok(f64::INFINITY));
/// assert!(parse("1e400").is_err());
/// ```
///
/// # Errors
/// A sentence, if the text is not a number or if the number exceeds the largest float.
pub fn parse(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_infinite() && !matches!(text, "inf" | "-inf") => {
            Err("it exceeds the largest number, 1.8e308; write inf for infinity".into())
        }
        parsed => parsed.map_err(|problem| problem.to_string()),
    }
}

/// Short text of a number for people. Very small and very large numbers print with an exponent.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-4..1e9 => value.to_string(),
        _ if !value.is_finite() => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Number that prints with four significant digits, rounded up. The printed number may be below the value,
/// but by a relative 10⁻⁹ at most.
pub struct Significant(pub f64);

/// Number that prints with four significant digits, rounded down. The printed number may be above the value,
/// but by a relative 10⁻⁹ at most.
pub struct AtLeast(pub f64);

impl fmt::Display for Significant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        four_digits(self.0, f64::ceil, formatter)
    }
}

impl fmt::Display for AtLeast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        four_digits(self.0, f64::floor, formatter)
    }
}

fn four_digits(value: f64, round: fn(f64) -> f64, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    if (1e12..f64::INFINITY).contains(&value) {
        let exponent = value.log10().floor();
        return write!(formatter, "{}e{exponent}", round(value / 10f64.powf(exponent - 3.0)) / 1000.0);
    }
    if !(1e-6..1e12).contains(&value) {
        return write!(formatter, "{}", short(value));
    }
    let digits = 3 - value.log10().floor() as i32;
    let unit = 10f64.powi(digits);
    // A value within a relative 10⁻⁹ of a four-digit number prints as that number.
    let scaled = value * unit;
    let rounded =
        if (scaled - scaled.round()).abs() < 1e-9 * scaled { scaled.round() } else { round(scaled) };
    // Only powers of ten with positive exponents are exact.
    let shown = if digits < 0 { rounded * 10f64.powi(-digits) } else { rounded / unit };
    write!(formatter, "{shown}")
}

/// Reads a number in the form that [`serialize`] writes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct Number;
    impl Visitor<'_> for Number {
        type Value = f64;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a number, \"inf\" or \"-inf\"")
        }
        fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
            Ok(value)
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
            Ok(value as f64)
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
            Ok(value as f64)
        }
        fn visit_str<E: Error>(self, value: &str) -> Result<f64, E> {
            match value {
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                other => Err(E::invalid_value(Unexpected::Str(other), &self)),
            }
        }
    }
    deserializer.deserialize_any(Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epsilon_is_rounded_up_unless_a_billionth_is_all_that_it_lacks() {
        for (epsilon, shown) in [
            (1.0, "1"),
            (1.00001, "1.001"),
            (0.1 + 0.2, "0.3"),
            (123_456.0, "123500"),
            (0.000_123_41, "0.0001235"),
            (1.0686474581524463e13, "1.069e13"),
            (9.9999e12, "10e12"),
            (1e-310, "1e-310"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(Significant(epsilon).to_string(), shown);
        }
        for exponent in -6..12 {
            let shown = Significant(1.257_9 * 10f64.powi(exponent)).to_string();
            let digits = shown.trim_matches(['0', '.']).replace('.', "");
            assert_eq!(digits, "1258", "{shown}");
        }
        assert_eq!(AtLeast(1.99999).to_string(), "1.999");
    }
}
