//! Saved keys.

use crate::{accepted, forge};
use ndarray::Array2;
use scumble_classic::IDENTITY;
use scumble_core::{Brief, Budget, Design, Designed, Domain, Key, RecordDomain, Secret, TargetDomain};
use scumble_custody::key::load;
use scumble_dauntless::COLUMN_SPACE;
use serde_json::{Value, json};
use std::sync::LazyLock;

const FORMAT: &str = "scumble-key-3";
const PASSPHRASE: &str = "a wrong guess";

/// Curators with saved keys: one alone, and one composed with a local part.
static CURATORS: LazyLock<[Designed; 2]> = LazyLock::new(|| {
    let design = |part: RecordDomain| {
        let plugin = if part.columns().len() == 2 { COLUMN_SPACE } else { IDENTITY };
        let brief = Brief::new(part, Budget::pure(1.0).expect("a budget"));
        plugin.design(&Value::Null, &brief).expect("it applies to numbers")
    };
    let columns = ["a", "b", "c"].map(str::to_owned).to_vec();
    let whole = RecordDomain::new(columns, Domain::unit_box(3), TargetDomain::None).expect("three columns");
    let part = |places: &[usize]| design(whole.restrict(places).expect("columns of the domain"));
    let composed = Design::composed(whole.clone(), vec![part(&[0, 1]), part(&[2])]).expect("they compose");
    [part(&[0, 1]).into_mechanism(), composed.into_mechanism()]
});

/// Reads a saved key in three ways: unchanged, with its correct digest, and as the content behind a known
/// passphrase. An accepted key must be the same after it is written and read again. It must give a view of a
/// record, or an error of one line.
pub fn key(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    for file in [Some(text.to_owned()), forge::resealed(text, FORMAT)].into_iter().flatten() {
        accepted(load(&file, PASSPHRASE, &CURATORS[0], "a key"));
    }
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let states: Vec<Value> = [body.get("secret").cloned(), Some(body)].into_iter().flatten().collect();
    let mut is_accepted = false;
    for state in states.iter().map(|key| json!({"release": "", "key": key})) {
        for curator in &*CURATORS {
            if let Some(secret) = accepted(Secret::from_state(&state, curator)) {
                check(secret, curator);
                is_accepted = true;
            }
        }
    }
    is_accepted
}

fn check(secret: Secret, curator: &Designed) {
    let saved = secret.state().expect("what was read can be written");
    let again = Secret::from_state(&saved, curator).expect("what was written can be read");
    assert_eq!(again.state().ok().as_ref(), Some(&saved), "it changed when it was read");
    let key = Key::Secret(secret);
    assert!(!format!("{key:?}").contains("matrix"), "a secret shows");
    let record = Array2::from_elem((1, curator.domain().flat().dim()), 0.5);
    let clean = curator.domain().layout().table(record.view()).expect("a record of the right width");
    accepted(key.view(&clean));
}
