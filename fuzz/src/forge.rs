//! Saved files as a forger would write them.
//!
//! The digest detects accidents and manual edits only. Behind it, the library checks every number again, and
//! these checks are fuzzed.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The JSON object `text` as a file of `format`, with its correct digest. Returns `None` if `text` is not an
/// object.
pub(crate) fn resealed(text: &str, format: &str) -> Option<String> {
    let mut body: Map<String, Value> = serde_json::from_str(text).ok()?;
    body.insert("format".into(), format.into());
    body.remove("digest");
    // serde_json sorts maps unless a crate enables its feature `preserve_order`. No crate here enables it.
    let digest = Sha256::digest(serde_json::to_vec(&body).ok()?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    body.insert("digest".into(), digest.into());
    serde_json::to_string(&body).ok()
}
