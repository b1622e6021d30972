//! Keys: what makes models of a release useful for clean records.

use crate::{Error, Mechanism, Result, Table, local, sealed};
use dyn_clone::DynClone;
use serde_json::Map;
use std::fmt::Debug;

const FORMAT: &str = "scumble-key-1";

/// What gives the [`view`](Key::view) of clean records in the released space. No guarantee covers what it returns.
///
/// Designs are saved by [`Design::to_json`](crate::Design::to_json), secrets by [`save`](Self::save).
#[derive(Clone)]
pub enum Key {
    /// A local mechanism's key is its design, which is public.
    Design(Box<dyn Mechanism>),
    /// A curator's key is secret: it is saved apart, never with the design or the table.
    Secret(Box<dyn SecretKey>),
}

/// The part of a curator's release that only the curator may hold.
#[typetag::serde(tag = "key")]
pub trait SecretKey: DynClone + Send + Sync {
    /// The noise-free view of clean records (n × d) in the released space.
    ///
    /// # Errors
    /// [`Error::Shape`] for records of another shape.
    fn view(&self, clean: &Table) -> Result<Table>;
}

dyn_clone::clone_trait_object!(SecretKey);

/// A secret does not show.
impl Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Design(design) => formatter.debug_tuple("Design").field(design).finish(),
            Self::Secret(_) => formatter.debug_tuple("Secret").finish_non_exhaustive(),
        }
    }
}

impl Key {
    /// Clean records (n × d) as they would have been released without noise.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`] for records that are not of the domain's shape.
    pub fn view(&self, clean: &Table) -> Result<Table> {
        match self {
            Self::Design(design) => match design.as_local() {
                Some(local) => local::view(local, clean),
                None => Err(Error::shape("a curator's design alone is no key")),
            },
            Self::Secret(key) => key.view(clean),
        }
    }

    /// A secret as JSON; none for a design, which is saved as such.
    ///
    /// # Errors
    /// [`Error::Key`] where it cannot be written.
    pub fn save(&self) -> Result<Option<String>> {
        let Self::Secret(key) = self else {
            return Ok(None);
        };
        let failed =
            |error: serde_json::Error| Error::Key { file: "the key".into(), problem: error.to_string() };
        let key = serde_json::to_value(key).map_err(failed)?;
        sealed::seal(FORMAT, Map::from_iter([("secret".into(), key)])).map(Some).map_err(failed)
    }

    /// The secret that [`save`](Self::save) wrote; `source` names it in errors.
    ///
    /// # Errors
    /// [`Error::Key`] for what is no key, or was changed by hand.
    pub fn load(text: &str, source: &str) -> Result<Self> {
        let wrong = |problem: String| Error::Key { file: source.into(), problem };
        let sealed = sealed::open(text, FORMAT).map_err(wrong)?;
        let key = sealed.field("secret").map_err(wrong)?;
        sealed.check_untouched().map_err(wrong)?;
        Ok(Self::Secret(key))
    }
}
