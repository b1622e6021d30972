//! Who is trusted with what.

use serde::Serialize;

/// Who is trusted with more than what leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Nobody: what leaves a person is noisy.
    Nobody,
    /// A shuffler, who mixes what leaves all people, and sees no more than that.
    Shuffler,
    /// A curator, who holds all records in the clear and releases some that models learn from.
    Curator,
    /// A curator, who holds all records in the clear and releases a model.
    Model,
}

impl Trust {
    /// The least first.
    pub const ALL: [Self; 4] = [Self::Nobody, Self::Shuffler, Self::Curator, Self::Model];
}
