//! Forward and backward passes through a network.

use crate::error::check_length;
use crate::product::view;
use crate::{Architecture, Error, Network, Real, Result};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1};

/// Intermediate values of a minibatch of b examples, from a forward and a backward pass. It can be reused for
/// the next minibatch without a new allocation.
///
/// [`Network::forward`] stores the outputs of all layers in it, and [`Network::backward`] the gradients with
/// respect to the layers' sums W x + b. All other gradients are computed on request.
///
/// ```
/// use ndarray::array;
/// use scumble_neural::{Activation, Architecture, Initialisation, Network, Pass};
///
/// let encoder =
///     Network::<f64>::new(Architecture::new(3).layer(2, Activation::Tanh), Initialisation::Uniform, 1)?;
/// let frozen =
///     Network::<f64>::new(Architecture::new(2).layer(1, Activation::Identity), Initialisation::Uniform, 2)?;
///
/// let (mut first, mut second) = (Pass::default(), Pass::default());
/// let code = encoder.forward(array![[1.0, 2.0, 3.0]].view(), &mut first)?;
/// frozen.forward(code, &mut second)?;
///
/// frozen.backward(array![[1.0]].view(), &mut second)?;
/// encoder.backward(frozen.input_gradient(&mut second)?, &mut first)?;
/// let mut gradient = vec![0.0; encoder.parameters().len()];
/// encoder.gradient(&first, &mut gradient)?;
/// # Ok::<(), scumble_neural::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pass<T> {
    /// Number of examples, b.
    examples: usize,
    /// Input (b × inputs), then the output of each layer (b × outputs).
    pub(crate) activations: Vec<Vec<T>>,
    /// Gradient with respect to each layer's sums W x + b (b × outputs); empty before a backward pass.
    pub(crate) deltas: Vec<Vec<T>>,
    /// Gradient with respect to the input (b × inputs).
    input: Vec<T>,
    /// Memory for the windows of a layer's images.
    patches: Vec<T>,
}

impl<T> Default for Pass<T> {
    fn default() -> Self {
        Self { examples: 0, activations: vec![], deltas: vec![], input: vec![], patches: vec![] }
    }
}

impl<T: Real> Pass<T> {
    /// Returns the number of examples of the last forward pass.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// Multiplies each example's contribution to all parameter gradients by the example's weight, after a
    /// backward pass. `weights` has one value for each of the b examples. An example of weight zero
    /// contributes nothing, even if its values are not finite.
    ///
    /// The weighted values replace the stored ones. Norms computed afterwards therefore include all rounding
    /// of the terms that [`Network::gradient`] sums.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one weight per example.
    pub fn weigh(&mut self, weights: &[T]) -> Result<()> {
        check_length("the weights of the examples", self.examples, weights.len())?;
        for delta in &mut self.deltas {
            for_rows(delta, weights, |row, weight| {
                if weight == T::zero() {
                    row.fill(T::zero());
                } else if weight != T::one() {
                    row.iter_mut().for_each(|delta| *delta *= weight);
                }
            });
        }
        for activation in &mut self.activations {
            for_rows(activation, weights, |row, weight| {
                if weight == T::zero() {
                    row.fill(T::zero());
                }
            });
        }
        Ok(())
    }

    /// Checks that the last forward pass belongs to a network of this architecture.
    ///
    /// # Errors
    /// [`Error::Order`] before a forward pass, or after one of a network with another architecture.
    fn check_forward(&self, architecture: &Architecture) -> Result<()> {
        let first = self.activations.first().map(Vec::len) == Some(self.examples * architecture.inputs);
        let rest = self.activations.get(1..).is_some_and(|made| self.fit(made, architecture));
        if first && rest { Ok(()) } else { Err(Error::Order { what: "activations", step: "forward" }) }
    }

    /// Checks that the last pass was a backward pass of a network of this architecture.
    ///
    /// # Errors
    /// [`Error::Order`] before a backward pass, or after one of a network with another architecture.
    pub(crate) fn check_backward(&self, architecture: &Architecture) -> Result<()> {
        self.check_forward(architecture)?;
        if self.fit(&self.deltas, architecture) {
            Ok(())
        } else {
            Err(Error::Order { what: "gradients", step: "backward" })
        }
    }

    /// Returns whether `made` has a matrix of the right size for each layer.
    fn fit(&self, made: &[Vec<T>], architecture: &Architecture) -> bool {
        made.len() == architecture.layers.len()
            && made
                .iter()
                .zip(&architecture.layers)
                .all(|(made, layer)| made.len() == self.examples * layer.outputs)
    }
}

impl<T: Real> Network<T> {
    /// Computes the outputs (b × outputs) for `records` (b × inputs).
    ///
    /// # Errors
    /// [`Error::Length`] unless `records` has one column per input.
    pub fn forward<'p>(&self, records: ArrayView2<T>, pass: &'p mut Pass<T>) -> Result<ArrayView2<'p, T>> {
        check_length("the columns of the records", self.architecture().inputs, records.ncols())?;
        let input = self.begin(records.nrows(), pass);
        copy(records.outer_iter(), input);
        Ok(self.through(pass))
    }

    /// Computes the outputs (b × outputs) for the rows `rows` (b) of `records` (n × inputs).
    ///
    /// # Errors
    /// [`Error::Length`] unless `records` has one column per input, [`Error::Row`] for a row that does not
    /// exist.
    pub fn forward_rows<'p>(
        &self,
        records: ArrayView2<T>,
        rows: &[usize],
        pass: &'p mut Pass<T>,
    ) -> Result<ArrayView2<'p, T>> {
        check_length("the columns of the records", self.architecture().inputs, records.ncols())?;
        if let Some(&row) = rows.iter().find(|&&row| row >= records.nrows()) {
            return Err(Error::Row { row, rows: records.nrows() });
        }
        let input = self.begin(rows.len(), pass);
        copy(rows.iter().map(|&row| records.row(row)), input);
        Ok(self.through(pass))
    }

    /// Allocates memory for `examples` examples, and returns the memory of the input.
    fn begin<'p>(&self, examples: usize, pass: &'p mut Pass<T>) -> &'p mut [T] {
        let Architecture { inputs, layers } = self.architecture();
        pass.examples = examples;
        pass.deltas.iter_mut().for_each(Vec::clear);
        pass.activations.resize_with(layers.len() + 1, Vec::new);
        pass.deltas.resize_with(layers.len(), Vec::new);
        for (room, layer) in pass.activations[1..].iter_mut().zip(layers) {
            room.resize(examples * layer.outputs, T::zero());
        }
        let input = &mut pass.activations[0];
        input.resize(examples * inputs, T::zero());
        input
    }

    /// Computes the output from the input that is stored in `pass`.
    fn through<'p>(&self, pass: &'p mut Pass<T>) -> ArrayView2<'p, T> {
        for (index, place) in self.architecture().places().enumerate() {
            let (before, after) = pass.activations.split_at_mut(index + 1);
            let (inputs, outputs) = (&before[index], &mut after[0]);
            place.forward(self.parameters(), inputs, outputs, &mut pass.patches);
            place.activation.apply(outputs, place.bias(self.parameters()));
        }
        let output = &pass.activations[self.architecture().layers.len()];
        view(output, self.architecture().outputs())
    }

    /// Propagates `output_gradient` (b × outputs), the gradient of a loss with respect to the outputs, back
    /// to the sums W x + b of every layer.
    ///
    /// # Errors
    /// [`Error::Order`] before a forward pass, [`Error::Length`] unless `output_gradient` has the shape of
    /// the outputs.
    pub fn backward(&self, output_gradient: ArrayView2<T>, pass: &mut Pass<T>) -> Result<()> {
        pass.check_forward(self.architecture())?;
        check_length("the rows of the output's gradient", pass.examples, output_gradient.nrows())?;
        check_length(
            "the columns of the output's gradient",
            self.architecture().outputs(),
            output_gradient.ncols(),
        )?;
        for (index, place) in self.architecture().places().enumerate().rev() {
            let (before, after) = pass.deltas.split_at_mut(index + 1);
            let delta = &mut before[index];
            delta.resize(pass.examples * place.outputs, T::zero());
            match after.first() {
                None => copy(output_gradient.outer_iter(), delta),
                Some(next) => {
                    let above = self.architecture().place(index + 1);
                    above.backward(self.parameters(), next, delta, &mut pass.patches);
                }
            }
            place.activation.chain(&pass.activations[index + 1], delta);
        }
        Ok(())
    }

    /// Returns the gradient with respect to the input (b × inputs), after a backward pass.
    ///
    /// # Errors
    /// [`Error::Order`] before a backward pass.
    pub fn input_gradient<'p>(&self, pass: &'p mut Pass<T>) -> Result<ArrayView2<'p, T>> {
        pass.check_backward(self.architecture())?;
        let first = self.architecture().place(0);
        pass.input.resize(pass.examples * first.inputs, T::zero());
        first.backward(self.parameters(), &pass.deltas[0], &mut pass.input, &mut pass.patches);
        Ok(view(&pass.input, first.inputs))
    }

    /// Sets `gradient` to the gradient with respect to all parameters, in the order described at [`Network`],
    /// after a backward pass. It is the sum of the examples' gradients.
    ///
    /// # Errors
    /// [`Error::Order`] before a backward pass, [`Error::Length`] unless `gradient` has one number per
    /// parameter.
    pub fn gradient(&self, pass: &Pass<T>, gradient: &mut [T]) -> Result<()> {
        pass.check_backward(self.architecture())?;
        check_length("the numbers of the gradient", self.parameters().len(), gradient.len())?;
        let mut memory = [vec![], vec![]];
        for (index, place) in self.architecture().places().enumerate() {
            let (inputs, delta) = (&pass.activations[index], &pass.deltas[index]);
            place.gradient(inputs, delta, place.all_mut(gradient), &mut memory);
        }
        Ok(())
    }
}

/// Calls `each` with each row of a matrix and its weight.
fn for_rows<T: Real>(matrix: &mut [T], weights: &[T], mut each: impl FnMut(&mut [T], T)) {
    let width = matrix.len() / weights.len().max(1);
    for (row, &weight) in matrix.chunks_exact_mut(width.max(1)).zip(weights) {
        each(row, weight);
    }
}

/// Copies `rows` into `into`, one after the other. All rows must have the same length, and together the
/// length of `into`.
fn copy<'a, T: Real>(rows: impl ExactSizeIterator<Item = ArrayView1<'a, T>>, into: &mut [T]) {
    let width = into.len() / rows.len().max(1);
    for (into, row) in into.chunks_exact_mut(width.max(1)).zip(rows) {
        ArrayViewMut1::from(into).assign(&row);
    }
}
