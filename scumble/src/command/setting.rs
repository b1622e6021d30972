//! `--set`: parameters of mechanisms.

use super::Failure;
use serde_json::{Map, Value};

/// `NAME.KEY=VALUE`, or `KEY=VALUE` where there is one mechanism only.
pub(super) struct Setting {
    pub(super) mechanism: Option<String>,
    key: String,
    value: Value,
}

impl Setting {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let Some((place, value)) = text.split_once('=') else {
            return Err(format!("--set {text:?}: KEY=VALUE or NAME.KEY=VALUE is needed").into());
        };
        let (mechanism, key) = match place.split_once('.') {
            Some((mechanism, key)) => (Some(mechanism.to_owned()), key),
            None => (None, place),
        };
        // 3, true and [1, 2] are what they are; anything else is text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok(Self { mechanism, key: key.to_owned(), value })
    }

    /// Puts it among the parameters of a mechanism: an object, or null for none so far.
    pub(super) fn apply(&self, parameters: &mut Value) {
        if let Value::Object(parameters) = parameters {
            parameters.insert(self.key.clone(), self.value.clone());
        } else {
            *parameters = Map::from_iter([(self.key.clone(), self.value.clone())]).into();
        }
    }
}
