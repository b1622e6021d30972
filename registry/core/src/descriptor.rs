//! What is known of a mechanism without a design.

use crate::{Releases, Side};
use serde::Serialize;

/// Static facts of a plugin. Nothing is designed, and no record is encoded, to find them out; the conformance suite holds
/// them to the design of the plugin's example. What a design claims, and for whom, is its guarantee's to say: it may depend on parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Descriptor {
    /// Who runs it.
    pub run_by: Side,
    /// What leaves, by its default parameters.
    pub releases: Output,
    /// Whether it is designed from volunteers' records, and not without them.
    pub needs_volunteers: bool,
    /// Whether a design depends on how many people there are ([`Brief::people`](crate::Brief::people)).
    pub reads_people: bool,
    /// How long a design takes.
    pub pace: Pace,
}

impl Descriptor {
    /// A mechanism that each person runs, which is designed at once and needs nothing more than a domain and a budget.
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

    /// The same, run by this side.
    #[must_use]
    pub const fn run_by(self, run_by: Side) -> Self {
        Self { run_by, ..self }
    }

    /// The same, designed from volunteers' records.
    #[must_use]
    pub const fn needing_volunteers(self) -> Self {
        Self { needs_volunteers: true, ..self }
    }

    /// The same, with a design that depends on the number of people.
    #[must_use]
    pub const fn reading_people(self) -> Self {
        Self { reads_people: true, ..self }
    }

    /// The same, with a design that takes more than fractions of a second.
    #[must_use]
    pub const fn slow(self) -> Self {
        Self { pace: Pace::Slow, ..self }
    }
}

/// What leaves a mechanism: the kinds of [`Releases`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Records in their own columns.
    Records,
    /// Rows of a space of their own: models are used on records in the same view.
    View,
    /// The same, viewed by a secret key.
    SecretView,
    /// Answers to one question each, from which records are collected.
    Reports,
    /// Rows that belong to no record.
    Synthetic,
    /// A model.
    Model,
}

impl Output {
    /// What leaves, as people read it.
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

/// How long a design takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Fractions of a second: the comparison runs it unasked.
    Quick,
    /// It trains something.
    Slow,
}
