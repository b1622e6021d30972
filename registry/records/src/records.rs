//! Description of raw records: the rows of a file before encoding.

use crate::{Result, Schema};
use scumble_core::{Error, RecordDomain};
use serde::{Deserialize, Serialize};

/// Description of raw records: the rows of a file before encoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// Schema of the columns.
    pub schema: Schema,
    /// Name of the target, the column to learn.
    pub target: Option<String>,
}

impl Records {
    /// Describes records by a schema and the name of the target column.
    ///
    /// # Errors
    /// [`Error::Schema`](crate::Error::Schema) if `schema` is a [draft](crate::draft()).
    pub fn new(schema: Schema, target: Option<&str>) -> Result<Self> {
        Ok(Self { schema: schema.settled()?, target: target.map(str::to_owned) })
    }

    /// Checks that records with this description encode into `domain`.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) if the schema lacks the target;
    /// [`Error::Shape`](scumble_core::Error::Shape) if the records encode into another domain.
    pub fn check(&self, domain: &RecordDomain) -> Result<()> {
        if self.schema.domain(self.target.as_deref())? == *domain {
            return Ok(());
        }
        Err(Error::shape("its schema does not describe the records that its mechanism takes").into())
    }
}
