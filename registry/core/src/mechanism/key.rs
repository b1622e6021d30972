//! Keys of releases. A key maps records in the clear to the space of the released rows. A model that is
//! learned from the rows can then be used on the records.

use super::{Designed, LocalMechanism};
use crate::{Error, Result, Table, Target, local};
use ndarray::Array2;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::Arc;

/// Key of a release. It maps records in the clear to the space of the released rows: see [`view`](Key::view).
/// No guarantee covers the mapped records.
///
/// The documentation of the crate `scumble-custody` explains how designs and secrets are saved.
#[derive(Clone)]
pub enum Key {
    /// No key, because none is needed: a model trained on the release is used on records in the clear.
    None,
    /// Public design of a local mechanism.
    Design(Arc<dyn LocalMechanism>),
    /// Secret key of a curator. It is saved separately, never with the design or the table.
    Secret(Secret),
    /// Released model, which predicts for records in the clear. The released table holds its coefficients, so
    /// no further model is learned from the table.
    Model(Arc<dyn ReleasedModel>),
}

/// Model that is released in place of records. It is public: its predictions spend no privacy budget.
///
/// The released table holds the model's coefficients, one per column. A model of a numeric target has one
/// row. A model of two classes has one row, for the second class. A model of more classes has one row per
/// class, in their order. [`CuratorMechanism::model_of`](super::CuratorMechanism::model_of) reads the table
/// back.
pub trait ReleasedModel: Debug + Send + Sync {
    /// Predicts the n targets of records in the clear (n records × d features).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the columns do not fit the domain,
    /// [`Error::Empty`](crate::Error::Empty) if there are no records,
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity.
    fn predict(&self, clean: &Table) -> Result<Target>;

    /// Scores of records in the clear (n records × d features): the probability of each class (n × classes),
    /// or the predicted numeric target (n × 1).
    ///
    /// # Errors
    /// Same errors as [`predict`](Self::predict).
    fn scores(&self, clean: &Table) -> Result<Array2<f64>>;

    /// Standard deviation of the noise of each coefficient of a linear model, in the order of the columns of
    /// its table; of several outputs, the largest. It is an upper bound or a first-order estimate, as the
    /// mechanism states. `None`, the default, if it is not known.
    fn deviations(&self) -> Option<Vec<f64>> {
        None
    }

    /// Functions of single columns of numbers and of pairs of columns, if each output of the model is a sum
    /// of such functions. By default there are none.
    fn functions(&self) -> Vec<ModelFunction> {
        vec![]
    }
}

/// Function of one or two columns. It adds to the outputs of a model: to the predicted number, to the logit
/// of the second of two classes, or to the logit of each class.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFunction {
    /// The columns: one or two.
    pub axes: Vec<FunctionAxis>,
    /// Value at each place, for each output (outputs × places). A place is a knot or a level; for two
    /// columns, it is a pair of them, and those of the second column vary fastest.
    pub values: Array2<f64>,
    /// Upper bound on the standard deviation of the noise at each place, if it is known.
    pub deviations: Option<Vec<f64>>,
}

/// Column of a [`ModelFunction`].
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionAxis {
    /// A number. The function is linear between its knots.
    Number {
        /// Name of the column's coordinate in the encoded record.
        column: String,
        /// Knots, in the unit of the encoded record, in increasing order.
        knots: Vec<f64>,
    },
    /// A category.
    Category {
        /// Names of its levels' coordinates in the encoded record.
        columns: Vec<String>,
    },
}

/// Secret key of a curator, with the digest of the release it belongs to.
#[derive(Clone)]
pub struct Secret {
    /// Digest of the released table.
    release: String,
    key: Arc<dyn SecretKey>,
}

/// Secret key of a curator's release, which only the curator may hold.
pub trait SecretKey: Send + Sync {
    /// Maps records in the clear (n records × d features) to the space of the released rows, without noise.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the records do not have the domain's shape.
    /// [`Error::Spent`](crate::Error::Spent) if the key would map more records than it may.
    fn view(&self, clean: &Table) -> Result<Table>;

    /// Converts `predicted` (n predictions) into predictions of the records' own target. A model trained on
    /// the release made the predictions `predicted` for the [`view`](Self::view) of the n records `clean`. By
    /// default `predicted` is returned unchanged.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) unless there are n predictions of the same kind as the release's
    /// targets.
    fn read(&self, _clean: &Table, predicted: Target) -> Result<Target> {
        Ok(predicted)
    }

    /// Everything that is saved of the key. [`CuratorMechanism::key_of`](super::CuratorMechanism::key_of)
    /// makes the key from it.
    ///
    /// # Errors
    /// Errors of the serialisation.
    fn state(&self) -> serde_json::Result<Value>;
}

/// Prints the kind of key without the secret.
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
    /// Secret that belongs to the release of the table `released`.
    pub fn secret(key: impl SecretKey + 'static, released: &Table) -> Self {
        Self::Secret(Secret { release: released.digest(), key: Arc::new(key) })
    }

    /// Records in the clear (n records × d features) as they would have been released without noise;
    /// unchanged for [`Key::None`] and [`Key::Model`].
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the columns do not fit the domain,
    /// [`Error::Empty`](crate::Error::Empty) if there are no records,
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity.
    /// [`Error::Spent`](crate::Error::Spent) if a secret key would map more records than it may.
    pub fn view(&self, clean: &Table) -> Result<Table> {
        match self {
            Self::None | Self::Model(_) => Ok(clean.clone()),
            Self::Design(design) => local::view(&**design, clean),
            Self::Secret(secret) => secret.key.view(clean),
        }
    }

    /// Converts `predicted` (n predictions) into predictions of the records' own target. A model trained on
    /// the release made the predictions `predicted` for the [`view`](Self::view) of the n records `clean`.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) unless there are n predictions of the same kind as the release's
    /// targets.
    pub fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        match self {
            Self::None | Self::Design(_) | Self::Model(_) => Ok(predicted),
            Self::Secret(secret) => secret.key.read(clean, predicted),
        }
    }

    /// Released model; `None` if the release is not a model.
    pub fn model(&self) -> Option<&dyn ReleasedModel> {
        match self {
            Self::Model(model) => Some(&**model),
            Self::None | Self::Design(_) | Self::Secret(_) => None,
        }
    }

    /// Digest of the released table that a secret key belongs to; `None` for any other key.
    pub fn released(&self) -> Option<&str> {
        match self {
            Self::None | Self::Design(_) | Self::Model(_) => None,
            Self::Secret(secret) => Some(&secret.release),
        }
    }
}

/// Saved form of a secret.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretState {
    release: String,
    key: Value,
}

impl Secret {
    /// Key without the digest of its release.
    pub(crate) fn into_key(self) -> Arc<dyn SecretKey> {
        self.key
    }

    /// Secret of the same release with another key.
    #[must_use]
    pub fn with(&self, key: Arc<dyn SecretKey>) -> Self {
        Self { release: self.release.clone(), key }
    }

    /// Everything that is saved of the secret.
    ///
    /// # Errors
    /// Errors of the serialisation.
    pub fn state(&self) -> serde_json::Result<Value> {
        Ok(json!({ "release": self.release, "key": self.key.state()? }))
    }

    /// Secret of a release by `mechanism`, from its saved [state](Self::state).
    ///
    /// # Errors
    /// [`Error::State`] if `state` is not a saved secret of a release by `mechanism`.
    pub fn from_state(state: &Value, mechanism: &Designed) -> Result<Self> {
        let SecretState { release, key } = Error::read_state(state)?;
        Ok(Self { release, key: mechanism.key_of(&key)? })
    }
}
