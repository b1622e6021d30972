//! Networks on the rows of an identity matrix: the first layer is a lookup table.

use crate::error::check_length;
use crate::{
    Activation, Architecture, Batches, Epoch, Error, Initialisation, Loss, Network, Optimiser, Pass, Real,
    Result, Training,
};
use ndarray::{Array2, ArrayView2, Axis, s};

/// A network whose records are the rows of the n × n identity matrix. For record i, the sums of the first
/// layer (its values before the activation) are row i of its weights. They are therefore read from a table
/// without a matrix product, and a training step changes only the table rows of its minibatch.
///
/// ```
/// use ndarray::array;
/// use scumble_neural::{Activation, Architecture, Embedding, Loss, Training};
///
/// // Six records of two classes, of which nothing but their number is known.
/// let classes = array![0, 1, 0, 1, 1, 0];
/// let rest = Architecture::new(4).layer(2, Activation::Identity);
/// let start = Embedding::<f64>::new(6, Activation::Relu, rest, 1)?;
/// let training = Training { epochs: 500, batch_size: 3, ..Training::default() };
/// let fitted =
///     training.fit_identity(start, training.optimiser, Loss::CrossEntropy(classes.view()), |_| ())?;
/// assert_eq!(fitted.classify_sums(fitted.table().view())?, classes);
/// # Ok::<(), scumble_neural::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Embedding<T> {
    /// Weights of the first layer, n × h: one row per record, and one column per input of `rest`.
    table: Array2<T>,
    activation: Activation,
    rest: Network<T>,
}

impl<T: Real> Embedding<T> {
    /// Creates an embedding of `records` records: a table of parameters with a row for each record and a
    /// column for each input of `rest`. The output of a record is `rest` at `activation` of its row. The
    /// parameters are drawn with [`Initialisation::He`] for a layer with this number of inputs.
    ///
    /// # Errors
    /// Same errors as [`Network::new`].
    pub fn new(records: usize, activation: Activation, rest: Architecture, seed: u64) -> Result<Self> {
        let width = rest.inputs;
        // Weights of a layer with the inputs of `rest` and one output per record. Their scale therefore suits
        // `rest`.
        let drawn = Network::<T>::new(
            Architecture::new(width).layer(records, Activation::Identity),
            Initialisation::He,
            seed,
        )?;
        let table =
            drawn.weights(0).map_or_else(|| Array2::zeros((records, width)), |weights| weights.to_owned());
        Ok(Self { table, activation, rest: Network::new(rest, Initialisation::He, seed.wrapping_add(1))? })
    }

    /// Multiplies the entries of the table by `factor`. A factor below 1 makes the random initial values
    /// small relative to the changes by training, also in weighted sums of rows (see
    /// [`classify_sums`](Self::classify_sums)).
    #[must_use]
    pub fn scaled(mut self, factor: T) -> Self {
        self.table.mapv_inplace(|value| value * factor);
        self
    }

    /// Returns the weights of the first layer, n × h: one row per record.
    pub fn table(&self) -> &Array2<T> {
        &self.table
    }

    /// Returns the most probable class of each of b records from `sums` (b × h), the sums of the first layer.
    ///
    /// # Errors
    /// [`Error::Length`] unless `sums` has h columns, as many as the table.
    pub fn classify_sums(&self, sums: ArrayView2<T>) -> Result<ndarray::Array1<usize>> {
        self.rest.classify(self.activated(sums).view())
    }

    fn activated(&self, sums: ArrayView2<T>) -> Array2<T> {
        let mut sums = sums.as_standard_layout().into_owned();
        let bias = vec![T::zero(); sums.ncols()];
        if let Some(values) = sums.as_slice_mut() {
            self.activation.apply(values, &bias);
        }
        sums
    }
}

impl Training {
    /// Fits the embedding `start` to the targets of its n records. Each row of the table has its own
    /// optimiser with the hyper-parameters `rows`. A row changes only once per epoch, and therefore needs
    /// longer steps than the layers after the table.
    ///
    /// # Errors
    /// Same errors as [`fit`](Self::fit).
    pub fn fit_identity<T: Real>(
        &self,
        start: Embedding<T>,
        rows: Optimiser,
        loss: Loss<'_, T>,
        mut progress: impl FnMut(Epoch) + Send,
    ) -> Result<Embedding<T>> {
        start.rest.check_finite()?;
        let mut embedding = start;
        let (n, width) = embedding.table.dim();
        check_length("the targets", n, loss.examples())?;
        loss.check(embedding.rest.architecture().outputs())?;
        let mut batches = Batches::new(n, self.batch_size, self.seed)?;
        let mut stepper = self.optimiser.start(embedding.rest.parameters().len())?;
        let mut rows_steppers = (0..n).map(|_| rows.start(width)).collect::<Result<Vec<_>>>()?;
        let mut gradient = vec![T::zero(); embedding.rest.parameters().len()];
        let mut output_gradient =
            Array2::zeros((self.batch_size.min(n), embedding.rest.architecture().outputs()));
        let mut pass = Pass::default();
        for number in 1..=self.epochs {
            stepper.set_learning_rate(self.learning_rate(self.optimiser, number))?;
            for stepper in &mut rows_steppers {
                stepper.set_learning_rate(self.learning_rate(rows, number))?;
            }
            let mut sum = 0.0;
            for batch in batches.shuffled() {
                let activated = embedding.activated(embedding.table.select(Axis(0), batch).view());
                let output = embedding.rest.forward(activated.view(), &mut pass)?;
                let mut batch_gradient = output_gradient.slice_mut(s![..batch.len(), ..]);
                let lost: f64 = loss.mean_of(batch, output, batch_gradient.view_mut())?.into();
                if !lost.is_finite() {
                    return Err(Error::Diverged { epoch: number, what: "the training loss", value: lost });
                }
                sum += batch.len() as f64 * lost;
                embedding.rest.backward(batch_gradient.view(), &mut pass)?;
                let mut sum_gradients = embedding.rest.input_gradient(&mut pass)?.to_owned();
                if let (Some(activated), Some(sum_gradients)) =
                    (activated.as_slice(), sum_gradients.as_slice_mut())
                {
                    embedding.activation.chain(activated, sum_gradients);
                }
                embedding.rest.gradient(&pass, &mut gradient)?;
                stepper.step(embedding.rest.parameters_mut(), &gradient)?;
                for (&row, row_gradient) in batch.iter().zip(sum_gradients.outer_iter()) {
                    let mut own = embedding.table.row_mut(row);
                    if let (Some(own), Some(row_gradient)) = (own.as_slice_mut(), row_gradient.as_slice()) {
                        rows_steppers[row].step(own, row_gradient)?;
                    }
                }
            }
            progress(Epoch { number, training_loss: sum / n as f64, validation_loss: None });
        }
        embedding.rest.check_finite()?;
        Ok(embedding)
    }
}
