//! Saved keys.

use crate::{accepted, forge};
use ndarray::Array2;
use scumble_classic as _;
use scumble_registry::{Key, RecordDomain, SecretKey};
use serde_json::Value;

const FORMAT: &str = "scumble-key-1";

/// A wider record than this is none of a few bytes' business.
const WIDEST: usize = 1 << 12;

/// Reads a saved key: as it is, with the digest that belongs to it, and as the secret alone. What is accepted is the same when it is
/// saved and read again, and gives a view of a record or a sentence.
pub fn key(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let load = |text: &str| accepted(Key::load(text, "a key"));
    let keys = [
        load(text),
        forge::resealed(text, FORMAT).and_then(|text| load(&text)),
        serde_json::from_str::<Box<dyn SecretKey>>(text).ok().map(Key::Secret),
    ];
    keys.iter().flatten().for_each(check);
    keys.iter().any(Option::is_some)
}

fn check(key: &Key) {
    assert!(!format!("{key:?}").contains("composed"), "a secret shows");
    let saved = key.save().expect("what was read can be saved").expect("it is a secret");
    let again = Key::load(&saved, "the same key").expect("what was saved can be read");
    assert_eq!(again.save().ok().flatten().as_ref(), Some(&saved), "it changed when it was read");
    // Whom it is for is in it, for whoever looks.
    let body: Value = serde_json::from_str(&saved).expect("it is JSON");
    let Ok(domain) = serde_json::from_value::<RecordDomain>(body["secret"]["composed"]["domain"].clone())
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
