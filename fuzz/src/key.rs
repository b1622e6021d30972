//! Saved keys.

use crate::{accepted, forge};
use ndarray::Array2;
use scumble_classic as _;
use scumble_core::{Key, RecordDomain, Secret};
use scumble_custody::key::load;
use serde_json::{Value, json};

const FORMAT: &str = "scumble-key-2";
const PASSPHRASE: &str = "a wrong guess";

/// A wider record than this is none of a few bytes' business.
const WIDEST: usize = 1 << 12;

/// Reads a saved key: unchanged, with the digest that belongs to it, and what it would hold behind a passphrase that is known. What is
/// accepted is the same when it is written and read again, and gives a view of a record or a sentence.
pub fn key(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    for file in [Some(text.to_owned()), forge::resealed(text, FORMAT)].into_iter().flatten() {
        accepted(load(&file, PASSPHRASE, "a key"));
    }
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let bodies = [body.get("secret").cloned(), Some(body)];
    let secret = |key: Value| serde_json::from_value(json!({"release": "", "key": key})).ok();
    let secrets: Vec<Secret> = bodies.into_iter().flatten().filter_map(secret).collect();
    secrets.iter().for_each(check);
    !secrets.is_empty()
}

fn check(secret: &Secret) {
    let key = Key::Secret(secret.clone());
    assert!(!format!("{key:?}").contains("composed"), "a secret shows");
    let saved = serde_json::to_value(secret).expect("what was read can be written");
    let again: Secret = serde_json::from_value(saved.clone()).expect("what was written can be read");
    assert_eq!(serde_json::to_value(again).ok().as_ref(), Some(&saved), "it changed when it was read");
    // Whom it is for is in it, for whoever looks.
    let Ok(domain) = serde_json::from_value::<RecordDomain>(saved["key"]["composed"]["domain"].clone())
    else {
        return;
    };
    let width = domain.flat().dim();
    if width > WIDEST {
        return;
    }
    let record = Array2::from_elem((1, width), 0.5);
    let clean = domain.layout().table(record.view()).expect("a record of the right width");
    accepted(key.view(&clean));
}
