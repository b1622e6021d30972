//! A sequence of layers.

use crate::error::check_length;
use crate::packed::Packed;
use crate::product::view;
use crate::{Architecture, Error, Initialisation, Real, Result};
use ndarray::{ArrayView1, ArrayView2};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

/// A sequence of layers with all parameters in one flat slice. For each layer in turn, the slice holds the
/// weights (row by row; outputs × inputs for a dense layer) and then the bias (one value per output).
///
/// A saved network contains the architecture and all parameters. Reading it checks the number of parameters
/// and that each is finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved", bound = "T: Real")]
pub struct Network<T> {
    architecture: Architecture,
    parameters: Vec<T>,
}

/// Saved form of a network.
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
    /// Creates a network with random initial parameters, drawn as `initialisation` says with the random seed
    /// `seed`.
    ///
    /// # Errors
    /// Same errors as [`Architecture::parameters`].
    pub fn new(architecture: Architecture, initialisation: Initialisation, seed: u64) -> Result<Self> {
        let count = architecture.parameters()?;
        let parameters = initialisation.draw(&architecture, count, &mut ChaCha20Rng::seed_from_u64(seed));
        Ok(Self { architecture, parameters })
    }

    /// Creates a network from its parameters, in the order described at [`Network`].
    ///
    /// # Errors
    /// Same errors as [`Architecture::parameters`]; [`Error::Length`] if the number of `parameters` differs
    /// from that of the architecture, [`Error::Parameter`] for a parameter that is not finite.
    pub fn from_parameters(architecture: Architecture, parameters: Vec<T>) -> Result<Self> {
        check_length("the parameters of the network", architecture.parameters()?, parameters.len())?;
        let network = Self { architecture, parameters };
        network.check_finite()?;
        Ok(network)
    }

    /// Returns the architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Returns all weights and biases, in the order described at [`Network`].
    pub fn parameters(&self) -> &[T] {
        &self.parameters
    }

    /// Returns all weights and biases for modification. The caller must keep them finite.
    pub fn parameters_mut(&mut self) -> &mut [T] {
        &mut self.parameters
    }

    /// Returns all weights and biases, and consumes the network.
    pub fn into_parameters(self) -> Vec<T> {
        self.parameters
    }

    /// Returns the weights (outputs × inputs for a dense layer; see [`Connection`](crate::Connection)) of
    /// layer number `layer`, counted from 0, or `None` if the layer does not exist.
    pub fn weights(&self, layer: usize) -> Option<ArrayView2<'_, T>> {
        let place = (layer < self.architecture.layers.len()).then(|| self.architecture.place(layer))?;
        Some(view(place.weights(&self.parameters), place.weights[1]))
    }

    /// Returns the bias of layer number `layer`, counted from 0, or `None` if the
    /// layer does not exist.
    pub fn bias(&self, layer: usize) -> Option<ArrayView1<'_, T>> {
        let place = (layer < self.architecture.layers.len()).then(|| self.architecture.place(layer))?;
        Some(place.bias(&self.parameters).into())
    }

    /// Checks that all parameters are finite.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the first parameter that is not finite.
    pub fn check_finite(&self) -> Result<()> {
        match self.parameters.iter().position(|parameter| !parameter.is_finite()) {
            Some(index) => Err(Error::Parameter { index, value: self.parameters[index].into() }),
            None => Ok(()),
        }
    }
}
