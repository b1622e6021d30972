//! JSON form of numbers: finite numbers unchanged, infinities as the strings "inf" and "-inf".

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

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

/// Reads a number in the form that [`serialize`] writes.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct Number;
    impl Visitor<'_> for Number {
        type Value = f64;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
