//! Output of a mechanism.

use crate::{RecordDomain, TargetLayout, ValuesIn};

/// Output of a mechanism. Files, views, collection, composition and comparisons follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// One row per record, in the records' own columns. A model of the rows is used on records in the clear.
    Records,
    /// Rows in a space of their own. A model of the rows is used on viewed records.
    View {
        /// A view needs the secret key of the release.
        secret: bool,
        /// Row i belongs to record i. Otherwise a row mixes several records.
        aligned: bool,
        /// Kind of target in a row. If it differs from the records' own kind, [`Key::read`](crate::Key::read)
        /// converts predictions back.
        target: TargetLayout,
    },
    /// One report per record, from which records are collected.
    Reports {
        /// Encoding of whole values in the collected records.
        values: ValuesIn,
    },
    /// Rows drawn from noisy statistics, which belong to no record. A model of the rows is used on records in
    /// the clear.
    Synthetic {
        /// Encoding of whole values in the rows.
        values: ValuesIn,
    },
    /// A fitted [model](crate::ReleasedModel).
    Model {
        /// Name of its family in comparisons: `logistic`, `ridge`.
        family: &'static str,
    },
}

impl Releases {
    /// View in which row i belongs to record i, with the target of a record of `domain`. It needs the secret
    /// key of the release.
    #[must_use]
    pub fn with_key(domain: &RecordDomain) -> Self {
        Self::View { secret: true, aligned: true, target: domain.layout().target }
    }

    /// Returns whether a model of a release is used on viewed records.
    #[must_use]
    pub fn is_viewed(self) -> bool {
        matches!(self, Self::View { .. })
    }

    /// Returns whether a view needs the secret key of the release.
    #[must_use]
    pub fn is_secret(self) -> bool {
        matches!(self, Self::View { secret: true, .. })
    }

    /// Returns whether row i of a release belongs to record i.
    #[must_use]
    pub fn is_aligned(self) -> bool {
        match self {
            Self::Records | Self::Reports { .. } => true,
            Self::View { aligned, .. } => aligned,
            Self::Synthetic { .. } | Self::Model { .. } => false,
        }
    }

    /// Family of the released model; `None` if rows are released.
    #[must_use]
    pub fn family(self) -> Option<&'static str> {
        match self {
            Self::Model { family } => Some(family),
            _ => None,
        }
    }

    /// Encoding of whole values in the training records.
    #[must_use]
    pub fn values_in(self) -> ValuesIn {
        match self {
            Self::Reports { values } | Self::Synthetic { values } => values,
            Self::Records | Self::View { .. } | Self::Model { .. } => ValuesIn::Units,
        }
    }

    /// Kind of target in the training records, if the mechanism's own records have the kind `own`.
    #[must_use]
    pub fn target(self, own: TargetLayout) -> TargetLayout {
        match self {
            Self::View { target, .. } => target,
            Self::Model { .. } => TargetLayout::None,
            Self::Records | Self::Reports { .. } | Self::Synthetic { .. } => own,
        }
    }
}
