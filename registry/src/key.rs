//! Keys: what makes models of a release useful for clean records.

use crate::{Error, Mechanism, Result, Table, Target, encrypted, local, sealed};
use dyn_clone::DynClone;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Debug;

const FORMAT: &str = "scumble-key-2";

/// What gives the [`view`](Key::view) of clean records in the released space. No guarantee covers what it returns.
///
/// Designs are saved by [`Design::to_json`](crate::Design::to_json), secrets by [`save`](Self::save).
#[derive(Clone)]
pub enum Key {
    /// A local mechanism's key is its design, which is public.
    Design(Box<dyn Mechanism>),
    /// A curator's key is secret: it is saved apart, never with the design or the table.
    Secret(Secret),
}

/// A curator's key, and to what release it belongs.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// The digest of the released table.
    release: String,
    key: Box<dyn SecretKey>,
}

/// The part of a curator's release that only the curator may hold.
#[typetag::serde(tag = "key")]
pub trait SecretKey: DynClone + Send + Sync {
    /// The noise-free view of clean records (n × d) in the released space.
    ///
    /// # Errors
    /// [`Error::Shape`] for records of another shape, [`Error::Spent`] where it answers no more of them.
    fn view(&self, clean: &Table) -> Result<Table>;

    /// What a model of the release says of the view of clean records (n), in the terms of their own target: by default as it says it.
    ///
    /// # Errors
    /// [`Error::Shape`] for predictions of another kind or number.
    fn read(&self, _clean: &Table, predicted: Target) -> Result<Target> {
        Ok(predicted)
    }
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
    /// The secret that belongs to the release of this table.
    pub fn secret(key: impl SecretKey + 'static, released: &Table) -> Self {
        Self::Secret(Secret { release: released.digest(), key: Box::new(key) })
    }

    /// Clean records (n × d) as they would have been released without noise.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`] for records that are not of the domain's shape, [`Error::Spent`] where a
    /// secret answers no more of them.
    pub fn view(&self, clean: &Table) -> Result<Table> {
        match self {
            Self::Design(design) => match design.as_local() {
                Some(local) => local::view(local, clean),
                None => Err(Error::shape("a curator's design alone is no key")),
            },
            Self::Secret(secret) => secret.key.view(clean),
        }
    }

    /// What a model of the release predicted for the view of clean records (n), in the terms of their own target.
    ///
    /// # Errors
    /// [`Error::Shape`] for predictions of another kind or number than the release's targets.
    pub fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        match self {
            Self::Design(_) => Ok(predicted),
            Self::Secret(secret) => secret.key.read(clean, predicted),
        }
    }

    /// Whether this is the key to that released table.
    ///
    /// # Errors
    /// [`Error::Key`] where it belongs to another; `source` names it.
    pub fn check_release(&self, released: &Table, source: &str) -> Result<()> {
        match self {
            Self::Secret(secret) if secret.release != released.digest() => Err(Error::Key {
                file: source.into(),
                problem: "it belongs to another release, and would make nonsense of this one".into(),
            }),
            _ => Ok(()),
        }
    }

    /// The digest of a secret, which changes where it counts what it answered, and is then to be saved anew; none of a design.
    ///
    /// # Errors
    /// [`Error::Key`] where it cannot be written.
    pub fn digest(&self) -> Result<Option<String>> {
        let Self::Secret(secret) = self else {
            return Ok(None);
        };
        let written = serde_json::to_vec(secret);
        let failed =
            |problem: serde_json::Error| Error::Key { file: "the key".into(), problem: problem.to_string() };
        written.map(|bytes| Some(sealed::hexadecimal(&Sha256::digest(bytes)))).map_err(failed)
    }

    /// Whether a secret can be saved with it.
    ///
    /// # Errors
    /// [`Error::Shape`] for a passphrase of fewer than eight characters.
    pub fn check_passphrase(passphrase: &str) -> Result<()> {
        encrypted::check(passphrase).map_err(Error::shape)
    }

    /// A secret as JSON, encrypted with a passphrase; none for a design, which is saved as such.
    ///
    /// # Errors
    /// [`Error::Key`] for a passphrase of fewer than eight characters, and where it cannot be written.
    pub fn save(&self, passphrase: &str) -> Result<Option<String>> {
        let Self::Secret(secret) = self else {
            return Ok(None);
        };
        let failed = |problem: String| Error::Key { file: "the key".into(), problem };
        let secret = serde_json::to_vec(secret).map_err(|problem| failed(problem.to_string()))?;
        encrypted::encrypt(FORMAT, &secret, passphrase).map(Some).map_err(failed)
    }

    /// The secret that [`save`](Self::save) wrote; `source` names it in errors.
    ///
    /// # Errors
    /// [`Error::Key`] for what is no key, was changed since, or was saved with another passphrase.
    pub fn load(text: &str, passphrase: &str, source: &str) -> Result<Self> {
        let wrong = |problem: String| Error::Key { file: source.into(), problem };
        let sealed = sealed::open(text, FORMAT).map_err(wrong)?;
        let secret = encrypted::decrypt(FORMAT, &sealed, passphrase).map_err(wrong)?;
        let secret = serde_json::from_slice(&secret).map_err(|problem| wrong(sealed::sentence(problem)))?;
        Ok(Self::Secret(secret))
    }
}

impl Secret {
    /// The key alone.
    pub(crate) fn into_key(self) -> Box<dyn SecretKey> {
        self.key
    }
}
