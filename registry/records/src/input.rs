//! Columns of a release's input.

use crate::{Encoder, Held};

/// Input columns of records, as stored in a file or table.
#[derive(Debug, Clone)]
pub struct Input {
    pub(crate) encoder: Encoder,
    /// Storage types of the wanted cells; `None` for a text file.
    pub(crate) held: Vec<Option<Held>>,
}
