//! Keys: what makes models of a release useful for records in the clear.

use super::{Designed, LocalMechanism};
use crate::{Error, Result, Table, Target, local};
use ndarray::Array2;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::Arc;

/// What gives the [`view`](Key::view) of records in the clear in the released space. No guarantee covers what it returns.
///
/// How designs and secrets are saved is said in `scumble-custody`.
#[derive(Clone)]
pub enum Key {
    /// There is none, and none is needed: a model of the release is used on records in the clear.
    None,
    /// A local mechanism's key is its design, which is public.
    Design(Arc<dyn LocalMechanism>),
    /// A curator's key is secret: it is saved apart, never with the design or the table.
    Secret(Secret),
    /// What is released is a model, which predicts of records in the clear: nothing is learned from its table, which holds its coefficients.
    Model(Arc<dyn ReleasedModel>),
}

/// A model that is released in place of records. It is public: no guarantee is spent by what it predicts.
///
/// Its table has a row for a number; one for the second of two classes, or one for each class in their order.
/// Each column is a number of the model; [`CuratorMechanism::model_of`](super::CuratorMechanism::model_of)
/// reads it back.
pub trait ReleasedModel: Debug + Send + Sync {
    /// The targets (n) of records in the clear (n × d).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Empty`](crate::Error::Empty) or [`Error::NonFinite`](crate::Error::NonFinite) for records that are not of the domain's shape.
    fn predict(&self, clean: &Table) -> Result<Target>;

    /// What it says of records in the clear (n × d): the probability of each class (n × classes), or the target (n × 1).
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    fn scores(&self, clean: &Table) -> Result<Array2<f64>>;
}

/// A curator's key, and to what release it belongs.
#[derive(Clone)]
pub struct Secret {
    /// The digest of the released table.
    release: String,
    key: Arc<dyn SecretKey>,
}

/// The part of a curator's release that only the curator may hold.
pub trait SecretKey: Send + Sync {
    /// The noise-free view of records in the clear (n × d) in the released space.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for records of another shape, [`Error::Spent`](crate::Error::Spent) where it answers no more of them.
    fn view(&self, clean: &Table) -> Result<Table>;

    /// What a model of the release says of the view of records in the clear (n), in the terms of their own target: by default as it says it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for predictions of another kind or number.
    fn read(&self, _clean: &Table, predicted: Target) -> Result<Target> {
        Ok(predicted)
    }

    /// All that is saved of it: [`CuratorMechanism::key_of`](super::CuratorMechanism::key_of) makes the key of that.
    ///
    /// # Errors
    /// What stops its serialisation.
    fn state(&self) -> serde_json::Result<Value>;
}

/// A secret does not show.
impl Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => formatter.write_str("None"),
            Self::Design(design) => formatter.debug_tuple("Design").field(design).finish(),
            Self::Secret(_) => formatter.debug_tuple("Secret").finish_non_exhaustive(),
            Self::Model(model) => formatter.debug_tuple("Model").field(model).finish(),
        }
    }
}

impl Key {
    /// The secret that belongs to the release of this table.
    pub fn secret(key: impl SecretKey + 'static, released: &Table) -> Self {
        Self::Secret(Secret { release: released.digest(), key: Arc::new(key) })
    }

    /// Clean records (n × d) as they would have been released without noise; for a model, unchanged.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Empty`](crate::Error::Empty) or [`Error::NonFinite`](crate::Error::NonFinite) for records that are not of the domain's shape, [`Error::Spent`](crate::Error::Spent) where a
    /// secret answers no more of them.
    pub fn view(&self, clean: &Table) -> Result<Table> {
        match self {
            Self::None | Self::Model(_) => Ok(clean.clone()),
            Self::Design(design) => local::view(&**design, clean),
            Self::Secret(secret) => secret.key.view(clean),
        }
    }

    /// What a model of the release predicted for the view of records in the clear (n), in the terms of their own target.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for predictions of another kind or number than the release's targets.
    pub fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        match self {
            Self::None | Self::Design(_) | Self::Model(_) => Ok(predicted),
            Self::Secret(secret) => secret.key.read(clean, predicted),
        }
    }

    /// The model, where what is released is one.
    pub fn model(&self) -> Option<&dyn ReleasedModel> {
        match self {
            Self::Model(model) => Some(&**model),
            Self::None | Self::Design(_) | Self::Secret(_) => None,
        }
    }

    /// The digest of the released table that a secret belongs to; none of another key.
    pub fn released(&self) -> Option<&str> {
        match self {
            Self::None | Self::Design(_) | Self::Model(_) => None,
            Self::Secret(secret) => Some(&secret.release),
        }
    }
}

/// What is saved of a secret.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretState {
    release: String,
    key: Value,
}

impl Secret {
    /// The key alone.
    pub(crate) fn into_key(self) -> Arc<dyn SecretKey> {
        self.key
    }

    /// The secret of the same release with another key.
    #[must_use]
    pub fn with(&self, key: Arc<dyn SecretKey>) -> Self {
        Self { release: self.release.clone(), key }
    }

    /// All that is saved of it.
    ///
    /// # Errors
    /// What stops its serialisation.
    pub fn state(&self) -> serde_json::Result<Value> {
        Ok(json!({ "release": self.release, "key": self.key.state()? }))
    }

    /// The secret of a release by `mechanism`, of its [state](Self::state).
    ///
    /// # Errors
    /// [`Error::State`] for a state that makes no secret of this mechanism.
    pub fn of_state(state: &Value, mechanism: &Designed) -> Result<Self> {
        let SecretState { release, key } = Error::read_state(state)?;
        Ok(Self { release, key: mechanism.key_of(&key)? })
    }
}
