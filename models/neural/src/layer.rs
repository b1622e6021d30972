//! A layer of a network.

use crate::{Activation, Windows};
use serde::{Deserialize, Serialize};

/// A layer: an activation function applied to an affine function of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layer {
    /// Number of outputs.
    pub outputs: usize,
    /// Activation applied to each output.
    pub activation: Activation,
    /// Form of the affine function.
    #[serde(default, skip_serializing_if = "Connection::is_dense")]
    pub connection: Connection,
}

/// Affine function of a layer, with weights W and bias b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// W x + b, with weights W (outputs × inputs) and one bias per output.
    #[default]
    Dense,
    /// A convolution. Each window p of the input, an image, has the outputs W p + b, with weights W (filters
    /// × values of a window) and one bias per filter.
    Convolution(Windows),
    /// A transposed convolution. The output is an image, the sum of a window Wᵀ x for each window's inputs x,
    /// with weights W (filters × values of a window) and one bias per channel.
    Transposed(Windows),
}

impl Connection {
    fn is_dense(&self) -> bool {
        *self == Self::Dense
    }
}

impl Layer {
    /// Returns the numbers of rows and columns of the weights, and the number of biases.
    pub(crate) fn sizes(&self, inputs: usize) -> ([usize; 2], usize) {
        match self.connection {
            Connection::Dense => ([self.outputs, inputs], self.outputs),
            Connection::Convolution(windows) => {
                let filters = self.outputs / windows.count();
                ([filters, windows.patch()], filters)
            }
            Connection::Transposed(windows) => {
                ([inputs / windows.count(), windows.patch()], windows.channels)
            }
        }
    }
}
