//! Architecture of a network: the number of inputs, and the layers.

use crate::product::{matrix, matrix_mut, multiply};
use crate::{Activation, Error, Real, Result, Windows};
use scumble_linalg::vectorised;
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

/// Position of a layer in the flat slice of all parameters. The slice holds the layer's weights (row by row;
/// see [`Connection`]), then its bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub inputs: usize,
    pub outputs: usize,
    pub activation: Activation,
    pub connection: Connection,
    /// Numbers of rows and columns of the weights.
    pub weights: [usize; 2],
    /// Number of biases.
    pub biases: usize,
    /// Index of the layer's first weight in the slice.
    start: usize,
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

impl Layer {
    /// Returns the numbers of rows and columns of the weights, and the number of biases.
    fn sizes(&self, inputs: usize) -> ([usize; 2], usize) {
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

impl Place {
    /// Returns the layer's weights among all `parameters`.
    pub fn weights<'a, T>(&self, parameters: &'a [T]) -> &'a [T] {
        &parameters[self.start..][..self.count()]
    }

    /// Returns the layer's bias among all `parameters`.
    pub fn bias<'a, T>(&self, parameters: &'a [T]) -> &'a [T] {
        &parameters[self.start + self.count()..][..self.biases]
    }

    /// Returns the layer's weights and bias among all `parameters`, for modification.
    pub fn both_mut<'a, T>(&self, parameters: &'a mut [T]) -> (&'a mut [T], &'a mut [T]) {
        self.all_mut(parameters).split_at_mut(self.count())
    }

    /// Returns the number of values of an example in the largest array of a pass through the layer.
    pub fn values(&self) -> usize {
        let windows = match self.connection {
            Connection::Dense => 0,
            Connection::Convolution(windows) | Connection::Transposed(windows) => {
                windows.count() * self.weights[1]
            }
        };
        windows.max(self.inputs).max(self.outputs)
    }

    /// Returns the number of the layer's weights and biases.
    pub fn parameters(&self) -> usize {
        self.count() + self.biases
    }

    /// Returns the layer's part of `parameters`, for modification.
    pub fn all_mut<'a, T>(&self, parameters: &'a mut [T]) -> &'a mut [T] {
        &mut parameters[self.start..][..self.parameters()]
    }

    /// Returns the number of the layer's weights.
    fn count(&self) -> usize {
        self.weights[0] * self.weights[1]
    }

    /// Sets `sums` (b × outputs) to the layer's function of `inputs` (b × inputs), without bias. `patches` is
    /// memory for windows.
    pub fn forward<T: Real>(&self, parameters: &[T], inputs: &[T], sums: &mut [T], patches: &mut Vec<T>) {
        let weights = self.weights(parameters);
        match self.connection {
            Connection::Dense => {
                let weights = matrix(weights, self.inputs).transpose();
                multiply(matrix(inputs, self.inputs), weights, matrix_mut(sums, self.outputs));
            }
            Connection::Convolution(windows) => windows.convolve(inputs, weights, sums, patches),
            Connection::Transposed(windows) => windows.spread(inputs, weights, sums, patches),
        }
    }

    /// Sets `before` (b × inputs), the gradient with respect to the input, from the gradient `delta` (b ×
    /// outputs) with respect to the sums. `patches` is memory for windows.
    pub fn backward<T: Real>(&self, parameters: &[T], delta: &[T], before: &mut [T], patches: &mut Vec<T>) {
        let weights = self.weights(parameters);
        match self.connection {
            Connection::Dense => {
                let weights = matrix(weights, self.inputs);
                multiply(matrix(delta, self.outputs), weights, matrix_mut(before, self.inputs));
            }
            Connection::Convolution(windows) => windows.spread(delta, weights, before, patches),
            Connection::Transposed(windows) => windows.convolve(delta, weights, before, patches),
        }
    }

    /// Sets `gradient`, the layer's part of a gradient, from the layer's `inputs` (b × inputs) and the
    /// gradient `delta` (b × outputs) with respect to the sums. `memory` is for windows.
    ///
    /// For a layer with windows, it is the sum of the rounded gradients of the examples, as
    /// [`gradient_of_one`](Self::gradient_of_one) computes them. Each value of the sum is then rounded once
    /// per example, as in a dense layer.
    pub fn gradient<T: Real>(&self, inputs: &[T], delta: &[T], gradient: &mut [T], memory: &mut [Vec<T>; 2]) {
        if self.connection == Connection::Dense {
            return self.products([delta, inputs], delta, gradient);
        }
        let [one, patches] = memory;
        one.resize(gradient.len(), T::zero());
        gradient.fill(T::zero());
        for (input, delta) in inputs.chunks_exact(self.inputs).zip(delta.chunks_exact(self.outputs)) {
            self.gradient_of_one(input, delta, one, patches);
            add(gradient, one);
        }
    }

    /// Sets `gradient` to the gradient of one example.
    pub fn gradient_of_one<T: Real>(
        &self,
        input: &[T],
        delta: &[T],
        gradient: &mut [T],
        patches: &mut Vec<T>,
    ) {
        let factors = match self.connection {
            Connection::Dense => [delta, input],
            Connection::Convolution(windows) => {
                windows.unfold(input, patches);
                [delta, patches]
            }
            Connection::Transposed(windows) => {
                windows.unfold(delta, patches);
                [input, patches]
            }
        };
        self.products(factors, delta, gradient);
    }

    /// Sets the weights' part of `gradient` to `left`ᵀ `right`, and the bias's part to the sum of `delta`.
    fn products<T: Real>(&self, [left, right]: [&[T]; 2], delta: &[T], gradient: &mut [T]) {
        let [rows, columns] = self.weights;
        let (weights, bias) = gradient.split_at_mut(rows * columns);
        multiply(matrix(left, rows).transpose(), matrix(right, columns), matrix_mut(weights, columns));
        bias.fill(T::zero());
        delta.chunks_exact(bias.len()).for_each(|row| add(bias, row));
    }
}

/// Adds `values` to `sums`, one by one.
fn add<T: Real>(sums: &mut [T], values: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        },
    );
}
