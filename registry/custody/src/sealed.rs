//! Sealed files: JSON with the name of its format and a digest of its content.
//!
//! The digest reveals accidental changes and manual edits, but not forgery. Someone who changes a file on
//! purpose can also write its digest.

use scumble_core::text::{self, abridged, hexadecimal};
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;

const FORMAT: &str = "format";
const DIGEST: &str = "digest";

/// Seals `body`: adds its format and its digest, and returns the JSON text.
pub fn seal(format: &str, mut body: Map<String, Value>) -> serde_json::Result<String> {
    body.insert(FORMAT.into(), format.into());
    let digest = digest(&body)?;
    body.insert(DIGEST.into(), digest.into());
    Ok(serde_json::to_string_pretty(&body)? + "\n")
}

/// Digest that [`seal`] writes.
pub(crate) fn digest_of(format: &str, mut body: Map<String, Value>) -> serde_json::Result<String> {
    body.insert(FORMAT.into(), format.into());
    digest(&body)
}

/// Opens sealed text and checks that its format is `format`. The digest is checked later by
/// [`Sealed::check_untouched`], so that a reader can first report a faulty number.
pub fn open(text: &str, format: &str) -> Result<Sealed, String> {
    let Unique(Value::Object(mut body)) = serde_json::from_str(text).map_err(sentence)? else {
        return Err("it is not a JSON object".into());
    };
    match body.get(FORMAT) {
        Some(Value::String(found)) if found == format => {}
        Some(found) => {
            let hint = found.as_str().map_or("", |found| how_to_remake(found, format));
            return Err(format!(
                "its format is {}, and {format:?} is expected{hint}",
                abridged(&found.to_string(), 60)
            ));
        }
        None => return Err(format!("it has no {FORMAT:?}")),
    }
    let written = body.remove(DIGEST);
    let is_untouched = match (&written, digest(&body)) {
        (Some(Value::String(written)), Ok(digest)) => *written == digest,
        _ => false,
    };
    body.remove(FORMAT);
    Ok(Sealed { body, is_untouched })
}

/// Advice on how to recreate a file whose format `found` is another version of `format`. Empty for another
/// kind of file.
fn how_to_remake(found: &str, format: &str) -> &'static str {
    let Some((kind, _)) = format.rsplit_once('-').filter(|(kind, _)| found.starts_with(kind)) else {
        return "";
    };
    match kind {
        "scumble-design" => "; `scumble design` with the same options makes it again",
        "scumble-key" => {
            "; only the version of scumble that released it can read it; a new release has a new key"
        }
        _ => "",
    }
}

/// Content of a sealed file.
pub struct Sealed {
    /// Fields of the file, without the format and the digest.
    pub body: Map<String, Value>,
    is_untouched: bool,
}

impl Sealed {
    /// Returns one field.
    ///
    /// # Errors
    /// A sentence about a missing or malformed field.
    pub fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        let field = self.body.get(name).ok_or_else(|| format!("it has no {name:?}"))?;
        T::deserialize(field).map_err(sentence)
    }

    /// Collects the fields `names` into a `T`.
    ///
    /// # Errors
    /// A sentence about a malformed field.
    pub fn part<T: DeserializeOwned>(&self, names: &[&str]) -> Result<T, String> {
        let fields = names.iter().filter_map(|&name| Some((name.to_owned(), self.body.get(name)?.clone())));
        serde_json::from_value(Value::Object(fields.collect())).map_err(sentence)
    }

    /// Checks the digest.
    ///
    /// # Errors
    /// A sentence if the digest does not match the content.
    pub fn check_untouched(&self) -> Result<(), String> {
        if self.is_untouched {
            return Ok(());
        }
        Err("it was changed after it was saved: its digest does not match".into())
    }
}

/// Checks that all text in the object is visible, including names of fields.
///
/// # Errors
/// A sentence about the first text that contains invisible characters or changes how other text displays.
pub(crate) fn check_text(object: &Map<String, Value>) -> Result<(), String> {
    fn check(value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => text::check(text),
            Value::Array(items) => items.iter().try_for_each(check),
            Value::Object(fields) => check_text(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }
    object.iter().try_for_each(|(name, value)| text::check(name).and_then(|()| check(value)))
}

/// JSON without duplicate names in an object. With duplicates, two readers might use different values.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyUnique).map(Self)
    }
}

struct AnyUnique;

impl<'de> Visitor<'de> for AnyUnique {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = vec![];
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unique(value))) = fields.next_entry::<String, Unique>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("the name {name:?} appears twice in one object")));
            }
            object.insert(name, value);
        }
        Ok(object.into())
    }
}

/// Formats a problem as one line of limited length, because the message may quote the file.
pub(crate) fn sentence(problem: impl fmt::Display) -> String {
    abridged(&problem.to_string(), 400)
}

/// SHA-256 of the compact JSON with sorted names, in hexadecimal.
fn digest(body: &Map<String, Value>) -> serde_json::Result<String> {
    Ok(hexadecimal(&Sha256::digest(serde_json::to_vec(&SortedObject(body))?)))
}

/// JSON value that is serialized with the names of every object sorted. A serde_json map keeps the order of
/// the file if any crate of the binary enables its feature `preserve_order`.
struct Sorted<'v>(&'v Value);

struct SortedObject<'v>(&'v Map<String, Value>);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => SortedObject(fields).serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            other => other.serialize(serializer),
        }
    }
}

impl Serialize for SortedObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields: BTreeMap<&String, Sorted> =
            self.0.iter().map(|(name, field)| (name, Sorted(field))).collect();
        serializer.collect_map(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sealed() -> String {
        let Value::Object(body) =
            json!({"plugin": "laplace", "epsilon": 0.1, "far": {"b": [1, 2], "a": "inf"}})
        else {
            unreachable!()
        };
        seal("a-format", body).unwrap()
    }

    #[test]
    fn what_is_sealed_opens() {
        let opened = open(&sealed(), "a-format").unwrap();
        opened.check_untouched().unwrap();
        assert_eq!(opened.body["far"]["b"], json!([1, 2]));
        assert_eq!(opened.body.len(), 3);
    }

    #[test]
    fn spaces_change_nothing_and_a_number_does() {
        let text = sealed();
        assert!(open(&text.replace("\n", " "), "a-format").unwrap().check_untouched().is_ok());
        for (from, to) in [("0.1", "0.2"), ("laplace", "Laplace"), ("\"inf\"", "1"), ("digest", "digets")] {
            let changed = text.replace(from, to);
            assert_ne!(text, changed);
            assert!(open(&changed, "a-format").unwrap().check_untouched().is_err(), "{from} became {to}");
        }
    }

    #[test]
    fn a_name_that_appears_twice_in_one_object_is_refused_at_any_depth() {
        let text = sealed();
        for (from, to) in [
            ("\"plugin\"", "\"format\": \"a-format\",\n  \"plugin\""),
            ("\"a\": \"inf\"", "\"a\": 1, \"a\": \"inf\""),
            ("    1,", "    {\"b\": 1, \"b\": 1},"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(text, changed);
            let refused = open(&changed, "a-format").err().unwrap();
            assert!(refused.contains("twice in one object"), "{refused}");
        }
        assert!(
            open("{\"x\": [{\"a\": 1}, {\"a\": 2}]}", "a-format").err().unwrap().contains("no \"format\"")
        );
    }

    #[test]
    fn text_that_does_not_show_is_found_at_any_depth() {
        for (from, to) in
            [("laplace", "lap\\nlace"), ("\"a\"", "\"a\\u202e\""), ("\"inf\"", "[\"\\u001b[8m\"]")]
        {
            let changed = sealed().replacen(from, to, 1);
            let refused = check_text(&open(&changed, "a-format").unwrap().body).unwrap_err();
            assert!(refused.contains("the character U+") && !refused.contains('\n'), "{refused}");
        }
        check_text(&open(&sealed(), "a-format").unwrap().body).unwrap();
    }

    #[test]
    fn another_format_or_no_json_is_refused() {
        assert!(open(&sealed(), "another").err().unwrap().contains("a-format"));
        assert!(open("{}", "a-format").err().unwrap().contains("no \"format\""));
        assert!(open("[1]", "a-format").is_err() && open("", "a-format").is_err());
    }
}
