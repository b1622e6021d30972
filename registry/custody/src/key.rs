//! Keys in files, encrypted with a passphrase and bound to their release.
//!
//! A key maps records in the clear to the columns of a release, so that a model trained on the release
//! applies to them. The key of a release by a curator, who is trusted with all records, may be a secret. This
//! module saves only secrets. The key of a local mechanism is its design, which
//! [`ShippedDesign::to_json`](crate::ShippedDesign::to_json) checks and saves. A secret is loaded together
//! with the design of its release, because the mechanism of that design interprets the secret.

use crate::{Error, Existing, NewFile, Readable, Result, check_private, encrypted, sealed};
use scumble_core::text::hexadecimal;
use scumble_core::{Designed, Key, Secret, Table};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

const FORMAT: &str = "scumble-key-3";

/// Checks that `key` belongs to the table `released`. `source` names the key in errors.
///
/// # Errors
/// [`Error::Key`] if the key belongs to another release.
pub fn check_release(key: &Key, released: &Table, source: &str) -> Result<()> {
    match key.released() {
        Some(release) if release != released.digest() => {
            Err(Error::Key { file: source.into(), problem: "it belongs to another release".into() })
        }
        _ => Ok(()),
    }
}

/// Digest of a secret; `None` for any other key. A secret may count the records that it has mapped, and then
/// changes with each use. If its digest changed, the secret must be saved again.
///
/// # Errors
/// [`Error::Key`] if the secret cannot be serialized.
pub fn digest(key: &Key) -> Result<Option<String>> {
    let Key::Secret(secret) = key else {
        return Ok(None);
    };
    let written = secret.state().and_then(|state| serde_json::to_vec(&state));
    let failed =
        |problem: serde_json::Error| Error::Key { file: "the key".into(), problem: problem.to_string() };
    written.map(|bytes| Some(hexadecimal(&Sha256::digest(bytes)))).map_err(failed)
}

/// Checks that a passphrase is suitable to save a secret.
///
/// # Errors
/// [`Error::Shape`](scumble_core::Error::Shape) for a passphrase of fewer than eight characters.
pub fn check_passphrase(passphrase: &str) -> Result<()> {
    encrypted::check(passphrase).map_err(|problem| scumble_core::Error::shape(problem).into())
}

/// Returns a secret as JSON, encrypted with a passphrase; `None` for any other key, which needs no
/// encryption.
///
/// # Errors
/// [`Error::Key`] for a passphrase of fewer than eight characters, or if the secret cannot be serialized.
pub fn save(key: &Key, passphrase: &str) -> Result<Option<String>> {
    let Key::Secret(secret) = key else {
        return Ok(None);
    };
    let failed = |problem: String| Error::Key { file: "the key".into(), problem };
    let written = secret.state().and_then(|state| serde_json::to_vec(&state));
    let secret = written.map_err(|problem| failed(problem.to_string()))?;
    encrypted::encrypt(FORMAT, &secret, passphrase).map(Some).map_err(failed)
}

/// Loads the secret that [`save`] wrote for a release by `mechanism`. `source` names the file in errors.
///
/// # Errors
/// [`Error::Key`] for text that is not a key of this mechanism, that was changed, or that was saved with
/// another passphrase.
pub fn load(text: &str, passphrase: &str, mechanism: &Designed, source: &str) -> Result<Key> {
    let wrong = |problem: String| Error::Key { file: source.into(), problem };
    let sealed = sealed::open(text, FORMAT).map_err(wrong)?;
    let secret = encrypted::decrypt(FORMAT, &sealed, passphrase).map_err(wrong)?;
    let state: Value = serde_json::from_slice(&secret).map_err(|problem| wrong(sealed::sentence(problem)))?;
    let secret = Secret::from_state(&state, mechanism);
    secret.map(Key::Secret).map_err(|problem| wrong(sealed::sentence(problem)))
}

/// Views `records` with the secret key in `file`. A key that counts the records it has mapped is saved before
/// the mapped records are returned.
///
/// # Errors
/// Same errors as [`load`] and [`Key::view`]. [`Error::Readable`] if others may read the file; [`Error::Io`]
/// if it cannot be read or written.
pub fn view(file: &Path, passphrase: &str, mechanism: &Designed, records: &Table) -> Result<Table> {
    check_private(file)?;
    let text = fs::read_to_string(file).map_err(|source| Error::Io { file: file.into(), source })?;
    let key = load(&text, passphrase, mechanism, &file.display().to_string())?;
    let before = digest(&key)?;
    let viewed = key.view(records)?;
    if digest(&key)? != before {
        let saved = save(&key, passphrase)?.unwrap_or_default();
        NewFile::create(file, Existing::Replace, Readable::ByOwner)?.finish(saved.as_bytes())?;
    }
    Ok(viewed)
}
