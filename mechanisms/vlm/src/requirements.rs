//! The part of a model that must be trained with differential privacy. It depends on the use of the design
//! (*Learning to Noise*, Appendix D, Table 1).

use crate::NAME;
use schemars::JsonSchema;
use scumble_core::{Error, Result, ShapedBy};
use scumble_task_aware::Level;
use serde::{Deserialize, Serialize};

/// Use of a design, a model learned from the records of volunteers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// People release their own records, by a design learned from other records of the same kind (*Learning
    /// to Noise*, Section 4.1).
    #[default]
    DataCollection,
    /// An organisation that has some columns of a table releases these columns, to be joined with columns of
    /// others (*Learning to Noise*, Section 4.3).
    DataJoining,
    /// Data collection of a class of records that the design was not trained on (*Learning to Noise*, Section
    /// 4.2).
    NovelClass,
}

/// Part of a model, one of its two networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Encoder: maps records to latents.
    Encoder,
    /// Decoder: maps latents to records.
    Decoder,
}

/// Returns the part of a model that must be trained with differential privacy for the volunteers, by Table 1
/// of *Learning to Noise*. For data collection, also of a novel class, it is the encoder, which is shared
/// with people. For data joining with released features it is the decoder, which produces the released data.
///
/// The result is `None` for data joining with released latents, but released latents are not harmless. They
/// depend on the encoder, and the encoder depends on the records of all volunteers. [`check_shareable`]
/// therefore rejects every design learned from private volunteers, unless the whole design was trained with
/// differential privacy.
///
/// ```
/// use scumble_task_aware::Level;
/// use scumble_vlm::{Part, Use, must_be_private};
///
/// assert_eq!(must_be_private(Use::DataCollection, Level::Features), Some(Part::Encoder));
/// assert_eq!(must_be_private(Use::DataJoining, Level::Features), Some(Part::Decoder));
/// assert_eq!(must_be_private(Use::DataJoining, Level::Latent), None);
/// ```
pub fn must_be_private(usage: Use, level: Level) -> Option<Part> {
    match (usage, level) {
        (Use::DataCollection | Use::NovelClass, _) => Some(Part::Encoder),
        (Use::DataJoining, Level::Features) => Some(Part::Decoder),
        (Use::DataJoining, Level::Latent) => None,
    }
}

/// Checks that a design may be shared. If the volunteers' records are private, the design must have been
/// trained with differential privacy, whatever its use.
///
/// # Errors
/// [`Error::PrivateVolunteers`] if the design was learned from private volunteers and `is_private` (training
/// with differential privacy) is false.
pub fn check_shareable(volunteers: ShapedBy, is_private: bool) -> Result<()> {
    match volunteers {
        ShapedBy::PrivateVolunteers if !is_private => Err(Error::PrivateVolunteers { plugin: NAME.into() }),
        _ => Ok(()),
    }
}
