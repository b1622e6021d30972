//! What raw records look like.

use crate::{Result, Schema};
use scumble_core::{Error, RecordDomain};
use serde::{Deserialize, Serialize};

/// What raw records look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// Their columns.
    pub schema: Schema,
    /// The column that is the target.
    pub target: Option<String>,
}

impl Records {
    /// Records of a schema, with the column that is the target.
    ///
    /// # Errors
    /// [`Error::Schema`](crate::Error::Schema) for one that is a draft.
    pub fn new(schema: Schema, target: Option<&str>) -> Result<Self> {
        Ok(Self { schema: schema.settled()?, target: target.map(str::to_owned) })
    }

    /// Whether such records are encoded into those of `domain`.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) for a target that the schema lacks, [`Error::Shape`](scumble_core::Error::Shape) where they are others.
    pub fn check(&self, domain: &RecordDomain) -> Result<()> {
        if self.schema.domain(self.target.as_deref())? == *domain {
            return Ok(());
        }
        Err(Error::shape("its schema describes other records than its mechanism takes").into())
    }
}
