//! Secret keys in files: encrypted with a passphrase, and bound to the release that they belong to.

use crate::{Error, Result, encrypted, sealed};
use scumble_core::text::hexadecimal;
use scumble_core::{Designed, Key, Secret, Table};
use serde_json::Value;
use sha2::{Digest, Sha256};

const FORMAT: &str = "scumble-key-3";

/// Whether this is the key to that released table.
///
/// # Errors
/// [`Error::Key`] where it belongs to another; `source` names it.
pub fn check_release(key: &Key, released: &Table, source: &str) -> Result<()> {
    match key.released() {
        Some(release) if release != released.digest() => Err(Error::Key {
            file: source.into(),
            problem: "it belongs to another release, and would make nonsense of this one".into(),
        }),
        _ => Ok(()),
    }
}

/// The digest of a secret, which changes where it counts what it answered, and is then to be saved anew; none of a design.
///
/// # Errors
/// [`Error::Key`] where it cannot be written.
pub fn digest(key: &Key) -> Result<Option<String>> {
    let Key::Secret(secret) = key else {
        return Ok(None);
    };
    let written = secret.state().and_then(|state| serde_json::to_vec(&state));
    let failed =
        |problem: serde_json::Error| Error::Key { file: "the key".into(), problem: problem.to_string() };
    written.map(|bytes| Some(hexadecimal(&Sha256::digest(bytes)))).map_err(failed)
}

/// Whether a secret can be saved with it.
///
/// # Errors
/// [`Error::Shape`](scumble_core::Error::Shape) for a passphrase of fewer than eight characters.
pub fn check_passphrase(passphrase: &str) -> Result<()> {
    encrypted::check(passphrase).map_err(|problem| scumble_core::Error::shape(problem).into())
}

/// A secret as JSON, encrypted with a passphrase; none for a design, which is saved as such.
///
/// # Errors
/// [`Error::Key`] for a passphrase of fewer than eight characters, and where it cannot be written.
pub fn save(key: &Key, passphrase: &str) -> Result<Option<String>> {
    let Key::Secret(secret) = key else {
        return Ok(None);
    };
    let failed = |problem: String| Error::Key { file: "the key".into(), problem };
    let written = secret.state().and_then(|state| serde_json::to_vec(&state));
    let secret = written.map_err(|problem| failed(problem.to_string()))?;
    encrypted::encrypt(FORMAT, &secret, passphrase).map(Some).map_err(failed)
}

/// The secret that [`save`] wrote, of a release by `mechanism`; `source` names it in errors.
///
/// # Errors
/// [`Error::Key`] for what is no key of this mechanism, was changed since, or was saved with another passphrase.
pub fn load(text: &str, passphrase: &str, mechanism: &Designed, source: &str) -> Result<Key> {
    let wrong = |problem: String| Error::Key { file: source.into(), problem };
    let sealed = sealed::open(text, FORMAT).map_err(wrong)?;
    let secret = encrypted::decrypt(FORMAT, &sealed, passphrase).map_err(wrong)?;
    let state: Value = serde_json::from_slice(&secret).map_err(|problem| wrong(sealed::sentence(problem)))?;
    let secret = Secret::of_state(&state, mechanism);
    secret.map(Key::Secret).map_err(|problem| wrong(sealed::sentence(problem)))
}
