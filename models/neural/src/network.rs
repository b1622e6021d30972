//! A sequence of dense layers.

use crate::error::check_length;
use crate::packed::Packed;
use crate::product::view;
use crate::{Architecture, Error, Initialisation, Real, Result};
use ndarray::{ArrayView1, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

/// A sequence of dense layers. Its parameters are one flat slice: layer after layer, the weights (outputs × inputs, row after row) and
/// then the bias (outputs).
///
/// It is saved whole, and checked when it is read: shapes, and that every parameter is finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved", bound = "T: Real")]
pub struct Network<T> {
    architecture: Architecture,
    parameters: Vec<T>,
}

/// What of a network is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    #[serde(flatten)]
    architecture: Architecture,
    parameters: Packed,
}

impl<T: Real> From<Network<T>> for Saved {
    fn from(network: Network<T>) -> Self {
        Self { parameters: Packed::new(&network.parameters), architecture: network.architecture }
    }
}

impl<T: Real> TryFrom<Saved> for Network<T> {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        Self::from_parameters(saved.architecture, saved.parameters.unpack()?)
    }
}

impl<T: Real> Network<T> {
    /// One whose parameters are drawn from `seed`.
    ///
    /// # Errors
    /// As [`Architecture::parameters`].
    pub fn new(architecture: Architecture, initialisation: Initialisation, seed: u64) -> Result<Self> {
        let count = architecture.parameters()?;
        let parameters = initialisation.draw(&architecture, count, &mut ChaCha20Rng::seed_from_u64(seed));
        Ok(Self { architecture, parameters })
    }

    /// One with these parameters, in the order in which they lie.
    ///
    /// # Errors
    /// As [`Architecture::parameters`]; [`Error::Length`] unless there are as many, [`Error::Parameter`] for one that is not finite.
    pub fn from_parameters(architecture: Architecture, parameters: Vec<T>) -> Result<Self> {
        check_length("the parameters of the network", architecture.parameters()?, parameters.len())?;
        let network = Self { architecture, parameters };
        network.check_finite()?;
        Ok(network)
    }

    /// Its layers.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// All weights and biases, in the order in which they lie.
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    /// All weights and biases, to be stepped. Whether they stay finite is the caller's to see to.
    pub fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// All weights and biases, and the network no more.
    pub fn into_parameters(self) -> Vec<T> {
        self.parameters
    }

    /// The weights (outputs × inputs) of a layer, counted from 0, if there is one.
    pub fn weights(&self, layer: usize) -> Option<ArrayView2<'_, T>> {
        let place = (layer < self.architecture.layers.len()).then(|| self.architecture.place(layer))?;
        Some(view(place.weights(&self.parameters), place.inputs))
    }

    /// The bias (outputs) of a layer, counted from 0, if there is one.
    pub fn bias(&self, layer: usize) -> Option<ArrayView1<'_, T>> {
        let place = (layer < self.architecture.layers.len()).then(|| self.architecture.place(layer))?;
        Some(place.bias(&self.parameters).into())
    }

    /// # Errors
    /// [`Error::Parameter`] for the first that is not finite.
    pub fn check_finite(&self) -> Result<()> {
        match self.parameters.iter().position(|parameter| !parameter.is_finite()) {
            Some(index) => Err(Error::Parameter { index, value: self.parameters[index].into() }),
            None => Ok(()),
        }
    }
}
