//! Kinds of output of a mechanism.

use crate::{RecordDomain, TargetLayout, ValuesIn};

/// Kind of output of a mechanism. It decides how releases are saved, viewed, collected, composed and
/// compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// One row per record, in the records' own columns. A model trained on the rows is used on records in the
    /// clear.
    Records,
    /// Rows in another space than the records'. A model trained on the rows is used on *viewed* records:
    /// records that the key maps to this space.
    View {
        /// True if viewing records needs the secret key of the release.
        secret: bool,
        /// True if row i belongs to record i. Otherwise a row mixes several records.
        aligned: bool,
        /// Kind of target in a row. If it differs from the records' own kind, [`Key::read`](crate::Key::read)
        /// converts predictions to the records' own kind.
        target: TargetLayout,
    },
    /// One report per record. Synthetic records are collected from many reports.
    Reports {
        /// Encoding of whole values (integers, days, ranks) in the columns of the collected records.
        values: ValuesIn,
    },
    /// Rows drawn from noisy statistics, which belong to no record. A model trained on the rows is used on
    /// records in the clear.
    Synthetic {
        /// Encoding of whole values (integers, days, ranks) in the columns of the rows.
        values: ValuesIn,
    },
    /// Noisy [tables](crate::Release::noisy_tables) of counts, and no rows.
    Tables,
    /// A fitted [model](crate::ReleasedModel).
    Model {
        /// Name of the model's family, for example `logistic` or `additive`.
        family: &'static str,
        /// Name of the learner in comparisons beside which this model is scored. The learner trains models on
        /// released rows, for example `logistic` for classes.
        learner: &'static str,
    },
}

impl Releases {
    /// View whose row i belongs to record i and has a target of the kind in `domain`. Viewing a record needs
    /// the secret key of the release.
    #[must_use]
    pub fn with_key(domain: &RecordDomain) -> Self {
        Self::View { secret: true, aligned: true, target: domain.layout().target }
    }

    /// Returns whether a model trained on a release is used on viewed records (see [`Releases::View`]).
    #[must_use]
    pub fn is_viewed(self) -> bool {
        matches!(self, Self::View { .. })
    }

    /// Returns whether viewing records needs the secret key of the release.
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
            Self::Synthetic { .. } | Self::Tables | Self::Model { .. } => false,
        }
    }

    /// Family of the released model; `None` if rows are released.
    #[must_use]
    pub fn family(self) -> Option<&'static str> {
        match self {
            Self::Model { family, .. } => Some(family),
            _ => None,
        }
    }

    /// Learner of comparisons beside which the released model is scored; `None` if rows are released.
    #[must_use]
    pub fn learner(self) -> Option<&'static str> {
        match self {
            Self::Model { learner, .. } => Some(learner),
            _ => None,
        }
    }

    /// Encoding of whole values (integers, days, ranks) in the rows on which a model is trained.
    #[must_use]
    pub fn values_in(self) -> ValuesIn {
        match self {
            Self::Reports { values } | Self::Synthetic { values } => values,
            Self::Records | Self::View { .. } | Self::Tables | Self::Model { .. } => ValuesIn::Units,
        }
    }

    /// Kind of target in the rows on which a model is trained. `own` is the kind of target of the input
    /// records.
    #[must_use]
    pub fn target(self, own: TargetLayout) -> TargetLayout {
        match self {
            Self::View { target, .. } => target,
            Self::Tables | Self::Model { .. } => TargetLayout::None,
            Self::Records | Self::Reports { .. } | Self::Synthetic { .. } => own,
        }
    }
}
