//! Trust models: local, shuffler and curator.

use serde::Serialize;
use std::fmt;

/// Trust model: the party that is trusted with more than the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Local model: no party is trusted, and each person's report is noisy.
    Nobody,
    /// A shuffler, which permutes all people's reports at random, and sees only the reports.
    Shuffler,
    /// A curator, which holds all records in the clear and releases records that models learn from.
    Curator,
    /// A curator, which holds all records in the clear and releases a model.
    Model,
}

impl Trust {
    /// All trust models, from the least trust to the most.
    pub const ALL: [Self; 4] = [Self::Nobody, Self::Shuffler, Self::Curator, Self::Model];
}

/// Text for people: the trusted party, and the word `model` if it releases a model.
impl fmt::Display for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Nobody => "nobody",
            Self::Shuffler => "a shuffler",
            Self::Curator => "a curator",
            Self::Model => "a curator: model",
        })
    }
}
