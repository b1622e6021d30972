//! Tests that use the crates from outside, in one executable.

mod comparison;
mod composition;
mod curator;
mod encode;
mod errata;
mod estimate;
mod keyed;
mod layout;
mod noise_aware;
mod prose;
mod stream;
mod words;

use std::path::{Path, PathBuf};

/// Returns the folder of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
