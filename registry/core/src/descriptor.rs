//! Facts about a mechanism that are known without a design.

use crate::{Releases, Side};
use serde::Serialize;

/// Static facts of a plugin, which are known before any design. The conformance suite, a set of tests for
/// every plugin, compares these facts with a design for the plugin's example. Claims of privacy are not among
/// these facts, because they may depend on the parameters of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Descriptor {
    /// Party that runs the mechanism.
    pub run_by: Side,
    /// Kind of output with default parameters.
    pub releases: Output,
    /// True if a design requires volunteers' records.
    pub needs_volunteers: bool,
    /// True if a design depends on the number of people ([`Brief::people`](crate::Brief::people)).
    pub reads_people: bool,
    /// Time that a design takes.
    pub pace: Pace,
}

impl Descriptor {
    /// Facts of a mechanism that each person runs. Its design is quick and needs only a domain and a budget.
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

    /// Same facts, for a mechanism that `run_by` runs.
    #[must_use]
    pub const fn run_by(self, run_by: Side) -> Self {
        Self { run_by, ..self }
    }

    /// Same facts, for a mechanism that is designed from volunteers' records.
    #[must_use]
    pub const fn needing_volunteers(self) -> Self {
        Self { needs_volunteers: true, ..self }
    }

    /// Same facts, for a design that depends on the number of people.
    #[must_use]
    pub const fn reading_people(self) -> Self {
        Self { reads_people: true, ..self }
    }

    /// Same facts, for a design that takes more than fractions of a second.
    #[must_use]
    pub const fn slow(self) -> Self {
        Self { pace: Pace::Slow, ..self }
    }
}

/// Kind of output of a mechanism: [`Releases`] without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// One row per record, in the records' own columns.
    Records,
    /// Rows in another space than the records'. A model trained on the rows is used on records that are
    /// mapped to the same space.
    View,
    /// Rows in another space than the records'. Only a secret key maps records to it.
    SecretView,
    /// Reports: answers to one question about each record. Synthetic records are drawn from many reports.
    Reports,
    /// Rows that belong to no record.
    Synthetic,
    /// Noisy tables of counts.
    Tables,
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
            Self::Tables => "noisy tables",
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
            Releases::Tables => Self::Tables,
            Releases::Model { .. } => Self::Model,
        }
    }
}

/// Time that a design takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Fractions of a second. By default, a comparison of mechanisms includes every quick one.
    Quick,
    /// More than fractions of a second, for example because the design trains a network.
    Slow,
}
