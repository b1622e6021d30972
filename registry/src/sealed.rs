//! Files of ours: JSON that names its format and carries a digest of the rest, so that no change by hand goes unseen.
//!
//! The digest guards against accidents and hands, not against forgers: who changes a file on purpose can write its
//! digest too.

use crate::error::abridged;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;

const FORMAT: &str = "format";
const DIGEST: &str = "digest";

/// `body` with its format before it and its digest behind it.
pub(crate) fn seal(format: &str, body: Map<String, Value>) -> serde_json::Result<String> {
    let mut whole = with_format(format, body);
    let digest = digest(&whole)?;
    whole.insert(DIGEST.into(), digest.into());
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

/// The digest that [`seal`] writes.
pub(crate) fn digest_of(format: &str, body: Map<String, Value>) -> serde_json::Result<String> {
    digest(&with_format(format, body))
}

fn with_format(format: &str, mut body: Map<String, Value>) -> Map<String, Value> {
    body.insert(FORMAT.into(), format.into());
    body
}

/// What was sealed, once its format is seen to be `format`. Whether it is untouched is a second question, so that a
/// reader may first say which number is wrong.
pub(crate) fn open(text: &str, format: &str) -> Result<Sealed, String> {
    let mut body: Map<String, Value> = serde_json::from_str(text).map_err(sentence)?;
    match body.get(FORMAT) {
        Some(Value::String(found)) if found == format => {}
        Some(found) => {
            return Err(format!(
                "its format is {} where {format:?} is read",
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

/// The content of a file of ours.
pub(crate) struct Sealed {
    pub(crate) body: Map<String, Value>,
    is_untouched: bool,
}

impl Sealed {
    /// One of its fields.
    ///
    /// # Errors
    /// The sentence about what is wrong with it, or that it is not there.
    pub(crate) fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        let field = self.body.get(name).ok_or_else(|| format!("it has no {name:?}"))?;
        T::deserialize(field).map_err(sentence)
    }

    /// Those of its fields that make a `T`.
    ///
    /// # Errors
    /// The sentence about what is wrong with them.
    pub(crate) fn part<T: DeserializeOwned>(&self, names: &[&str]) -> Result<T, String> {
        let fields = names.iter().filter_map(|&name| Some((name.to_owned(), self.body.get(name)?.clone())));
        serde_json::from_value(Value::Object(fields.collect())).map_err(sentence)
    }

    /// # Errors
    /// The sentence that says so where the digest is not that of the content.
    pub(crate) fn check_untouched(&self) -> Result<(), String> {
        if self.is_untouched {
            return Ok(());
        }
        Err("something in it was changed after it was saved: its digest is another".into())
    }
}

/// What is wrong, in one line that is no longer than a person reads: it may quote the file.
pub(crate) fn sentence(problem: impl fmt::Display) -> String {
    abridged(&problem.to_string(), 400)
}

/// SHA-256 of the compact JSON with sorted names, in hexadecimal.
fn digest(body: &Map<String, Value>) -> serde_json::Result<String> {
    Ok(hexadecimal(&Sha256::digest(serde_json::to_vec(&sorted(&body.clone().into()))?)))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value with the names of every object sorted: a map keeps them in the order of the file where some crate of a
/// binary asks serde_json for it.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> =
                fields.iter().map(|(name, field)| (name, sorted(field))).collect();
            fields.into_iter().map(|(name, field)| (name.clone(), field)).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
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
    fn another_format_or_no_json_is_refused() {
        assert!(open(&sealed(), "another").err().unwrap().contains("a-format"));
        assert!(open("{}", "a-format").err().unwrap().contains("no \"format\""));
        assert!(open("[1]", "a-format").is_err() && open("", "a-format").is_err());
    }
}
