//! Files of ours as a forger would write them: the digest guards against accidents and hands alone, so behind it every number is
//! checked again, and that is what is to be fuzzed.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The JSON object `text` as a file of `format`, with the digest that belongs to it; none where it is no object.
pub(crate) fn resealed(text: &str, format: &str) -> Option<String> {
    let mut body: Map<String, Value> = serde_json::from_str(text).ok()?;
    body.insert("format".into(), format.into());
    body.remove("digest");
    // Maps of serde_json are sorted unless some crate asks for another order, and none of ours does.
    let digest = Sha256::digest(serde_json::to_vec(&body).ok()?);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    body.insert("digest".into(), digest.into());
    serde_json::to_string(&body).ok()
}
