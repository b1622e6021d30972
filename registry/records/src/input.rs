//! Columns of the input of a release.

use crate::{Encoder, Held};

/// Columns of records as a file or table has them.
#[derive(Debug, Clone)]
pub struct Input {
    pub(crate) encoder: Encoder,
    /// The storage types of the wanted cells; `None` in a text file.
    pub(crate) held: Vec<Option<Held>>,
}
