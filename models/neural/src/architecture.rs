//! How many numbers go in, and through which layers.

use crate::{Activation, Error, Result};
use serde::{Deserialize, Serialize};

/// A dense layer: W x + b, and an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layer {
    /// How many numbers come out.
    pub outputs: usize,
    /// What is done to each.
    pub activation: Activation,
}

/// How many numbers go in, and through which layers.
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
    /// How many numbers go in.
    pub inputs: usize,
    /// The layers, from the input on.
    pub layers: Vec<Layer>,
}

/// The place of a layer in the flat slice of all parameters: its weights (outputs × inputs, row after row), then its bias (outputs).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub inputs: usize,
    pub outputs: usize,
    pub activation: Activation,
    /// Where its weights begin.
    start: usize,
}

impl Architecture {
    /// One that `inputs` numbers go into, as yet without layers.
    pub fn new(inputs: usize) -> Self {
        Self { inputs, layers: vec![] }
    }

    /// With one more layer.
    #[must_use]
    pub fn layer(mut self, outputs: usize, activation: Activation) -> Self {
        self.layers.push(Layer { outputs, activation });
        self
    }

    /// How many numbers come out.
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(self.inputs, |layer| layer.outputs)
    }

    /// How many weights and biases there are.
    ///
    /// # Errors
    /// [`Error::NoLayers`], [`Error::NoWidth`], [`Error::TooManyParameters`].
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
        // No vector holds more bytes than `isize` counts.
        if parameters > isize::MAX as usize / size_of::<f64>() {
            Err(Error::TooManyParameters)
        } else {
            Ok(parameters)
        }
    }

    /// The places of the layers, once [`parameters`](Self::parameters) was seen to be right.
    pub(crate) fn places(&self) -> impl DoubleEndedIterator<Item = Place> + ExactSizeIterator {
        (0..self.layers.len()).map(|index| self.place(index))
    }

    /// The place of the layer of this index, that of those before it added up: they are few.
    pub(crate) fn place(&self, index: usize) -> Place {
        let (start, inputs) = self.layers[..index].iter().fold((0, self.inputs), |(start, inputs), layer| {
            (start + (inputs + 1) * layer.outputs, layer.outputs)
        });
        let Layer { outputs, activation } = self.layers[index];
        Place { inputs, outputs, activation, start }
    }
}

impl Place {
    /// Its weights (outputs × inputs) among all `parameters`.
    pub fn weights<'a, T>(&self, parameters: &'a [T]) -> &'a [T] {
        &parameters[self.start..self.start + self.inputs * self.outputs]
    }

    /// Its bias (outputs) among all `parameters`.
    pub fn bias<'a, T>(&self, parameters: &'a [T]) -> &'a [T] {
        &parameters[self.start + self.inputs * self.outputs..][..self.outputs]
    }

    /// Its weights and its bias among all `parameters`, to be written.
    pub fn both_mut<'a, T>(&self, parameters: &'a mut [T]) -> (&'a mut [T], &'a mut [T]) {
        parameters[self.start..self.start + (self.inputs + 1) * self.outputs]
            .split_at_mut(self.inputs * self.outputs)
    }
}
