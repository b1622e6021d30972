//! Keys: what makes models of a release useful for records in the clear.

use super::LocalMechanism;
use crate::{Result, Table, Target, local};
use dyn_clone::DynClone;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What gives the [`view`](Key::view) of records in the clear in the released space. No guarantee covers what it returns.
///
/// How designs and secrets are saved is said in `scumble-custody`.
#[derive(Clone)]
pub enum Key {
    /// There is none, and none is needed: a model of the release is used on records in the clear.
    None,
    /// A local mechanism's key is its design, which is public.
    Design(Box<dyn LocalMechanism>),
    /// A curator's key is secret: it is saved apart, never with the design or the table.
    Secret(Secret),
    /// What is released is a model, which predicts of records in the clear: nothing is learned from its table, which holds its coefficients.
    Model(Box<dyn ReleasedModel>),
}

/// A model that is released in place of records. It is public: no guarantee is spent by what it predicts.
///
/// Its table has a row for a number; one for the second of two classes, or one for each class in their order.
/// Each column is a number of the model; [`CuratorMechanism::model_of`](super::CuratorMechanism::model_of)
/// reads it back.
pub trait ReleasedModel: DynClone + Debug + Send + Sync {
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

dyn_clone::clone_trait_object!(ReleasedModel);

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
}

dyn_clone::clone_trait_object!(SecretKey);

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
        Self::Secret(Secret { release: released.digest(), key: Box::new(key) })
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

impl Secret {
    /// The key alone.
    pub(crate) fn into_key(self) -> Box<dyn SecretKey> {
        self.key
    }
}
