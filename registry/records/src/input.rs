//! Input columns of a release.

use crate::{Encoder, Held};

/// Columns that a release reads from a file or table, and their storage types.
#[derive(Debug, Clone)]
pub struct Input {
    pub(crate) encoder: Encoder,
    /// Storage type of each column that `encoder` reads; `None` for a text file.
    pub(crate) held: Vec<Option<Held>>,
}
