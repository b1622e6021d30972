//! Facts about a mechanism that are known without a design.

use crate::{Releases, Side};
use serde::Serialize;

/// Static facts of a plugin. They need no design and no encoded record. The conformance suite compares them
/// with the design of the plugin's example. The claims of a design, and whom they protect, are in its
/// guarantee, because they may depend on parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Descriptor {
    /// Party that runs the mechanism.
    pub run_by: Side,
    /// Output with default parameters.
    pub releases: Output,
    /// True if it is designed from volunteers' records, and not without them.
    pub needs_volunteers: bool,
    /// True if a design depends on the number of people ([`Brief::people`](crate::Brief::people)).
    pub reads_people: bool,
    /// Time that a design takes.
    pub pace: Pace,
}

impl Descriptor {
    /// Mechanism that each person runs, with a quick design that needs only a domain and a budget.
    #[must_use]
    pub const fn new(releases: Output) -> Self {
        Self {
            run_by: Side::Local,
            releases,
            needs_volunteers: false,
            reads_people: false,
            pace: Pace::Quick,
        }
    }

    /// Same mechanism, run by `run_by`.
    #[must_use]
    pub const fn run_by(self, run_by: Side) -> Self {
        Self { run_by, ..self }
    }

    /// Same mechanism, designed from volunteers' records.
    #[must_use]
    pub const fn needing_volunteers(self) -> Self {
        Self { needs_volunteers: true, ..self }
    }

    /// Same mechanism, with a design that depends on the number of people.
    #[must_use]
    pub const fn reading_people(self) -> Self {
        Self { reads_people: true, ..self }
    }

    /// Same mechanism, with a design that takes more than fractions of a second.
    #[must_use]
    pub const fn slow(self) -> Self {
        Self { pace: Pace::Slow, ..self }
    }
}

/// Output of a mechanism: the kinds of [`Releases`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Records in their own columns.
    Records,
    /// Rows in a space of their own. Models are used on records in the same view.
    View,
    /// Rows in a space of their own, viewed with a secret key.
    SecretView,
    /// Answers to one question each, from which records are collected.
    Reports,
    /// Rows that belong to no record.
    Synthetic,
    /// A model.
    Model,
}

impl Output {
    /// Readable name of the output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::View => "viewed rows",
            Self::SecretView => "rows with a secret key",
            Self::Reports => "reports",
            Self::Synthetic => "synthetic rows",
            Self::Model => "a model",
        }
    }
}

impl From<Releases> for Output {
    fn from(releases: Releases) -> Self {
        match releases {
            Releases::Records => Self::Records,
            Releases::View { secret: false, .. } => Self::View,
            Releases::View { secret: true, .. } => Self::SecretView,
            Releases::Reports { .. } => Self::Reports,
            Releases::Synthetic { .. } => Self::Synthetic,
            Releases::Model { .. } => Self::Model,
        }
    }
}

/// Time that a design takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Fractions of a second. The comparison includes the mechanism unasked.
    Quick,
    /// Longer, because the design trains something.
    Slow,
}
