//! Trust models: local, shuffler and curator.

use serde::Serialize;

/// Who is trusted with more than what is released: the trust model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Nobody, the local model: what leaves a person is noisy.
    Nobody,
    /// A shuffler, which permutes all people's reports at random, and sees no more than these.
    Shuffler,
    /// A curator, which holds all records in the clear and releases some that models learn from.
    Curator,
    /// A curator, which holds all records in the clear and releases a model.
    Model,
}

impl Trust {
    /// The least first.
    pub const ALL: [Self; 4] = [Self::Nobody, Self::Shuffler, Self::Curator, Self::Model];
}
