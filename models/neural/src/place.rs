//! A layer's place among the parameters of a network, and its part of forward and backward passes.

use crate::layer::Connection;
use crate::product::{matrix, matrix_mut, multiply};
use crate::{Activation, Real};
use scumble_linalg::vectorised;

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
    pub start: usize,
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
