//! A network in a file.

use crate::{Architecture, Error, Network, Real};
use serde::{Deserialize, Serialize};

/// What of a network is saved.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub(crate) struct Saved<T> {
    #[serde(flatten)]
    architecture: Architecture,
    parameters: Vec<T>,
}

impl<T: Real> From<Network<T>> for Saved<T> {
    fn from(network: Network<T>) -> Self {
        Self { architecture: network.architecture().clone(), parameters: network.into_parameters() }
    }
}

impl<T: Real> TryFrom<Saved<T>> for Network<T> {
    type Error = Error;

    fn try_from(saved: Saved<T>) -> Result<Self, Error> {
        Self::from_parameters(saved.architecture, saved.parameters)
    }
}
