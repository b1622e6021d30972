//! Reports of results that were run before.

use super::{Claims, Error, Result, all};
use std::path::Path;

/// What each result said when it was run, from the files NAME.json in a folder, in the order of [`all`].
///
/// # Errors
/// [`Error::Kept`] for a result of which there is no report that can be read.
pub fn kept(folder: &Path) -> Result<Vec<Claims>> {
    let read = |name: &'static str| {
        let file = folder.join(name).with_added_extension("json");
        let failed =
            |problem: String| Error::Kept { file: file.clone(), folder: folder.into(), name, problem };
        let text = std::fs::read(&file).map_err(|error| failed(error.to_string()))?;
        let claims: Claims = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        if claims.name == name { Ok(claims) } else { Err(failed(format!("it is of {}", claims.name))) }
    };
    all().iter().map(|result| read(result.name)).collect()
}
