//! Architecture of a network: the number of inputs, and the layers.

use crate::layer::{Connection, Layer};
use crate::place::Place;
use crate::{Activation, Error, Result, Windows};
use serde::{Deserialize, Serialize};

/// Architecture of a network: the number of inputs, and the layers.
///
/// ```
/// use scumble_neural::{Activation, Architecture};
///
/// let encoder = Architecture::new(784).layer(400, Activation::Relu).layer(8, Activation::Identity);
/// assert_eq!(encoder.outputs(), 8);
/// assert_eq!(encoder.parameters()?, 784 * 400 + 400 + 400 * 8 + 8);
/// # Ok::<(), scumble_neural::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Architecture {
    /// Number of inputs.
    pub inputs: usize,
    /// Layers, in order from the input to the output.
    pub layers: Vec<Layer>,
}

impl Architecture {
    /// Creates an architecture with `inputs` inputs and no layers yet.
    pub fn new(inputs: usize) -> Self {
        Self { inputs, layers: vec![] }
    }

    /// Adds a dense layer.
    #[must_use]
    pub fn layer(self, outputs: usize, activation: Activation) -> Self {
        self.with(Layer { outputs, activation, connection: Connection::Dense })
    }

    /// Adds a convolution with `filters` outputs for each of the `windows` of the input.
    #[must_use]
    pub fn convolution(self, windows: Windows, filters: usize, activation: Activation) -> Self {
        let outputs = windows.count().saturating_mul(filters);
        self.with(Layer { outputs, activation, connection: Connection::Convolution(windows) })
    }

    /// Adds a transposed convolution, whose output is the image of `windows`.
    #[must_use]
    pub fn transposed(self, windows: Windows, activation: Activation) -> Self {
        let outputs = windows.image().unwrap_or(usize::MAX);
        self.with(Layer { outputs, activation, connection: Connection::Transposed(windows) })
    }

    fn with(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |layer| layer.outputs)
    }

    /// Returns the number of weights and biases.
    ///
    /// # Errors
    /// [`Error::NoLayers`] without layers, [`Error::NoWidth`] if the input or a layer has width zero, and
    /// [`Error::Windows`] if a layer's windows do not fit its input and output. Also
    /// [`Error::TooManyParameters`] if the parameters exceed the addressable memory.
    pub fn parameters(&self) -> Result<usize> {
        if self.layers.is_empty() {
            return Err(Error::NoLayers);
        }
        if self.inputs == 0 {
            return Err(Error::NoWidth { what: "the input".into() });
        }
        let (mut inputs, mut parameters) = (self.inputs, 0_usize);
        for (index, layer) in self.layers.iter().enumerate() {
            if layer.outputs == 0 {
                return Err(Error::NoWidth { what: format!("layer {index}, counted from 0,") });
            }
            match layer.connection {
                Connection::Dense => {}
                Connection::Convolution(windows) => _ = windows.filters(inputs, layer.outputs, index)?,
                Connection::Transposed(windows) => _ = windows.filters(layer.outputs, inputs, index)?,
            }
            let ([rows, columns], biases) = layer.sizes(inputs);
            let more = rows.checked_mul(columns).and_then(|weights| weights.checked_add(biases));
            parameters =
                more.and_then(|more| parameters.checked_add(more)).ok_or(Error::TooManyParameters)?;
            inputs = layer.outputs;
        }
        // A vector has at most `isize::MAX` bytes.
        if parameters > isize::MAX as usize / size_of::<f64>() {
            Err(Error::TooManyParameters)
        } else {
            Ok(parameters)
        }
    }

    /// Returns the position of each layer in the flat slice. Call it only after
    /// [`parameters`](Self::parameters) succeeded.
    pub(crate) fn places(&self) -> impl DoubleEndedIterator<Item = Place> + ExactSizeIterator {
        (0..self.layers.len()).map(|index| self.place(index))
    }

    /// Returns the position of layer `index` in the flat slice. Each call sums the sizes of all earlier
    /// layers, because a network has few layers.
    pub(crate) fn place(&self, index: usize) -> Place {
        let (mut start, mut inputs) = (0, self.inputs);
        for layer in &self.layers[..index] {
            let ([rows, columns], biases) = layer.sizes(inputs);
            start += rows * columns + biases;
            inputs = layer.outputs;
        }
        let layer = self.layers[index];
        let (weights, biases) = layer.sizes(inputs);
        let Layer { outputs, activation, connection } = layer;
        Place { inputs, outputs, activation, connection, weights, biases, start }
    }
}
