//! Architecture of a network: the number of inputs, and the layers.

use crate::{Activation, Error, Result};
use serde::{Deserialize, Serialize};

/// A dense layer: an activation function applied to W x + b, with weights W and bias b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layer {
    /// Number of outputs.
    pub outputs: usize,
    /// Activation applied to each output.
    pub activation: Activation,
}

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

/// Position of a layer in the flat slice of all parameters. The slice holds the layer's weights (outputs ×
/// inputs, row by row), then its bias (one value per output).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub inputs: usize,
    pub outputs: usize,
    pub activation: Activation,
    /// Index of the layer's first weight in the slice.
    start: usize,
}

impl Architecture {
    /// Creates an architecture with `inputs` inputs and no layers yet.
    pub fn new(inputs: usize) -> Self {
        Self { inputs, layers: vec![] }
    }

    /// Adds a layer.
    #[must_use]
    pub fn layer(mut self, outputs: usize, activation: Activation) -> Self {
        self.layers.push(Layer { outputs, activation });
        self
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |layer| layer.outputs)
    }

    /// Returns the number of weights and biases.
    ///
    /// # Errors
    /// [`Error::NoLayers`] without layers, [`Error::NoWidth`] if the input or a layer has width zero,
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
            let more = inputs.checked_add(1).and_then(|width| width.checked_mul(layer.outputs));
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
        let (start, inputs) = self.layers[..index].iter().fold((0, self.inputs), |(start, inputs), layer| {
            (start + (inputs + 1) * layer.outputs, layer.outputs)
        });
        let Layer { outputs, activation } = self.layers[index];
        Place { inputs, outputs, activation, start }
    }
}

impl Place {
    /// Returns the layer's weights (outputs × inputs) among all `parameters`.
    pub fn weights<'a, T>(&self, parameters: &'a [T]) -> &'a [T] {
        &parameters[self.start..self.start + self.inputs * self.outputs]
    }

    /// Returns the layer's bias (one value per output) among all `parameters`.
    pub fn bias<'a, T>(&self, parameters: &'a [T]) -> &'a [T] {
        &parameters[self.start + self.inputs * self.outputs..][..self.outputs]
    }

    /// Returns the layer's weights and bias among all `parameters`, for modification.
    pub fn both_mut<'a, T>(&self, parameters: &'a mut [T]) -> (&'a mut [T], &'a mut [T]) {
        parameters[self.start..self.start + (self.inputs + 1) * self.outputs]
            .split_at_mut(self.inputs * self.outputs)
    }
}
