//! Which part of a model must be private in which use (Appendix D, Table 1).

use crate::NAME;
use schemars::JsonSchema;
use scumble_core::{Error, Result, ShapedBy};
use scumble_task_aware::Level;
use serde::{Deserialize, Serialize};

/// What a design is used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// People release their own records, by a design that was learned from others of the same kind (Section 4.1).
    #[default]
    DataCollection,
    /// Whoever holds some columns of a table releases them, to be joined to others (Section 4.3).
    DataJoining,
    /// As data collection, of a kind that the design has not seen (Section 4.2).
    NovelClass,
}

/// A part of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What turns records into latents.
    Encoder,
    /// What turns latents into records.
    Decoder,
}

/// The part that Table 1 asks to be trained privately, where volunteers were guaranteed privacy: the one that is shared, or that what leaves was
/// made by.
///
/// None, for latents that are joined, is less than it sounds: the latents depend on the encoder, and it on all who shaped it. So
/// [`check_shareable`] lets no design of private volunteers pass that was not trained privately, as a whole.
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

/// That a design of volunteers who were guaranteed privacy was trained privately: else it must not be shared, whatever it is used for.
///
/// # Errors
/// [`Error::PrivateVolunteers`].
pub fn check_shareable(volunteers: ShapedBy, is_private: bool) -> Result<()> {
    match volunteers {
        ShapedBy::PrivateVolunteers if !is_private => Err(Error::PrivateVolunteers { plugin: NAME.into() }),
        _ => Ok(()),
    }
}
