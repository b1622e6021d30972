//! Trust models: local, shuffler, two servers and curator.

use scumble_core::{Designed, Side};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Trust model: the party that is trusted with more than the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Local model: no party is trusted, and each person's report is noisy.
    Nobody,
    /// A shuffler, which permutes all people's reports at random, and sees only the reports.
    Shuffler,
    /// Two servers, which each see shares that hide the records. One of them is trusted, whichever it is.
    TwoServers,
    /// A curator, which holds all records in the clear and releases records that models learn from.
    Curator,
    /// A curator, which holds all records in the clear and releases a model.
    Model,
}

impl Trust {
    /// Trust that a release by this mechanism needs, without a shuffler.
    pub fn in_release(mechanism: &Designed) -> Self {
        match mechanism.side() {
            Side::Local => Self::Nobody,
            Side::TwoServers => Self::TwoServers,
            Side::Curator => Self::Curator,
        }
    }

    /// All trust models, from the least trust to the most.
    pub const ALL: [Self; 5] = [Self::Nobody, Self::Shuffler, Self::TwoServers, Self::Curator, Self::Model];
}

/// Text for people: the trusted party, and the word `model` if it releases a model.
impl fmt::Display for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Nobody => "nobody",
            Self::Shuffler => "a shuffler",
            Self::TwoServers => "one of two servers",
            Self::Curator => "a curator",
            Self::Model => "a curator: model",
        })
    }
}
