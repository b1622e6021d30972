//! A network fitted to examples.

use crate::error::check_length;
use crate::network::AT_A_TIME;
use crate::{Batches, Error, Loss, Network, Optimiser, Pass, Real, Result};
use ndarray::{Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};

/// How a network is fitted to examples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Training {
    /// How often each example is seen.
    pub epochs: usize,
    /// How many examples make a step.
    pub batch_size: usize,
    /// How a step is made.
    pub optimiser: Optimiser,
    /// From what the order of examples is drawn.
    pub seed: u64,
    /// After how many epochs in which the validation loss did not become less than ever before training ends; never, if none. Without
    /// validation examples it has no meaning.
    pub patience: Option<usize>,
}

impl Default for Training {
    fn default() -> Self {
        Self { epochs: 100, batch_size: 64, optimiser: Optimiser::default(), seed: 1, patience: None }
    }
}

/// Records (n × inputs), and what should come out of each.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a, T> {
    /// What goes in, n × inputs.
    pub records: ArrayView2<'a, T>,
    /// What should come out, of n records.
    pub loss: Loss<'a, T>,
}

/// What an epoch came to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// Which, counted from 1.
    pub number: usize,
    /// The mean loss of the examples, each as its minibatch found it.
    pub training_loss: f64,
    /// The mean loss of the validation examples at its end, where there are any.
    pub validation_loss: Option<f64>,
}

impl<T: Real> Examples<'_, T> {
    /// # Errors
    /// [`Error::NoRecords`]; [`Error::Length`] where shapes do not fit the network or each other; [`Error::Value`] and
    /// [`Error::Class`] for a record or target that is out of its range.
    pub fn check(&self, network: &Network<T>) -> Result<()> {
        if self.records.nrows() == 0 {
            return Err(Error::NoRecords);
        }
        check_length("the columns of the records", network.architecture().inputs, self.records.ncols())?;
        check_length("the targets", self.records.nrows(), self.loss.examples())?;
        match self.records.indexed_iter().find(|(_, value)| !value.is_finite()) {
            Some(((row, column), &value)) => Err(Error::Value {
                what: "the record",
                row,
                column,
                range: "a finite number",
                value: value.into(),
            }),
            None => self.loss.check(network.architecture().outputs()),
        }
    }

    /// The mean loss of what comes out of `network`.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn mean_loss(&self, network: &Network<T>) -> Result<f64> {
        self.check(network)?;
        self.mean_loss_in(network, &mut Pass::default())
    }

    fn mean_loss_in(&self, network: &Network<T>, pass: &mut Pass<T>) -> Result<f64> {
        let rows: Vec<usize> = (0..self.records.nrows()).collect();
        let mut gradient = Array2::zeros((rows.len().min(AT_A_TIME), network.architecture().outputs()));
        let mut sum = 0.0;
        for rows in rows.chunks(AT_A_TIME) {
            let output = network.forward_rows(self.records, rows, pass)?;
            let mean = self.loss.mean_of(rows, output, gradient.slice_mut(s![..rows.len(), ..]))?;
            sum += rows.len() as f64 * mean.into();
        }
        Ok(sum / rows.len() as f64)
    }
}

impl Training {
    /// Fits a network to `examples` from `start` on, minibatch by minibatch down the mean loss, and tells `progress` of every epoch. With
    /// `validation` examples the network is that of the epoch whose validation loss was least; else that of the last.
    ///
    /// The same seed gives the same bits whatever the number of threads of one machine.
    ///
    /// # Errors
    /// As [`Examples::check`] and [`Optimiser::check`]; [`Error::HyperParameter`] for a batch size of zero, [`Error::Parameter`] for a
    /// start that is not finite, and [`Error::Diverged`], with the epoch, where training leaves the finite numbers.
    pub fn fit<T: Real>(
        &self,
        start: &Network<T>,
        examples: Examples<'_, T>,
        validation: Option<Examples<'_, T>>,
        progress: impl FnMut(Epoch) + Send,
    ) -> Result<Network<T>> {
        start.check_finite()?;
        examples.check(start)?;
        validation.map_or(Ok(()), |validation| validation.check(start))?;
        // From a thread of the pool on, for to enter it once a product costs more than many products do.
        rayon::scope(|_| self.descend(start.clone(), examples, validation, progress))
    }

    fn descend<T: Real>(
        &self,
        mut network: Network<T>,
        examples: Examples<'_, T>,
        validation: Option<Examples<'_, T>>,
        mut progress: impl FnMut(Epoch),
    ) -> Result<Network<T>> {
        let mut stepper = self.optimiser.start(network.parameters().len())?;
        let mut batches = Batches::new(examples.records.nrows(), self.batch_size, self.seed)?;
        let mut work = Work::new(&network);
        let (mut best, mut least, mut since) = (None, f64::INFINITY, 0);
        for number in 1..=self.epochs {
            let diverged = |what, value| Error::Diverged { epoch: number, what, value };
            let mut sum = 0.0;
            for rows in batches.shuffled() {
                let loss = work.mean_gradient(&network, examples, rows)?;
                if !loss.is_finite() {
                    return Err(diverged("the training loss", loss));
                }
                sum += rows.len() as f64 * loss;
                stepper.step(network.parameters_mut(), &work.gradient)?;
            }
            if let Err(Error::Parameter { value, .. }) = network.check_finite() {
                return Err(diverged("a parameter", value));
            }
            let validation_loss = match validation {
                Some(validation) => Some(validation.mean_loss_in(&network, &mut work.pass)?),
                None => None,
            };
            let training_loss = sum / examples.records.nrows() as f64;
            progress(Epoch { number, training_loss, validation_loss });
            let Some(loss) = validation_loss else { continue };
            if !loss.is_finite() {
                return Err(diverged("the validation loss", loss));
            }
            if loss < least {
                (best, least, since) = (Some(network.clone()), loss, 0);
            } else {
                since += 1;
            }
            if self.patience.is_some_and(|patience| since >= patience.max(1)) {
                break;
            }
        }
        Ok(best.unwrap_or(network))
    }
}

/// The memory of a step, used again for the next.
struct Work<T> {
    pass: Pass<T>,
    /// Of the outputs, b × outputs.
    output: Array2<T>,
    /// Of the parameters.
    gradient: Vec<T>,
}

impl<T: Real> Work<T> {
    fn new(network: &Network<T>) -> Self {
        let outputs = network.architecture().outputs();
        Self {
            pass: Pass::default(),
            output: Array2::zeros((0, outputs)),
            gradient: vec![T::zero(); network.parameters().len()],
        }
    }

    /// The mean loss of those rows of the examples; its gradient is left behind.
    fn mean_gradient(
        &mut self,
        network: &Network<T>,
        examples: Examples<'_, T>,
        rows: &[usize],
    ) -> Result<f64> {
        if self.output.nrows() < rows.len() {
            self.output = Array2::zeros((rows.len(), self.output.ncols()));
        }
        let mut output_gradient = self.output.slice_mut(s![..rows.len(), ..]);
        let output = network.forward_rows(examples.records, rows, &mut self.pass)?;
        let loss = examples.loss.mean_of(rows, output, output_gradient.view_mut())?;
        network.backward(output_gradient.view(), &mut self.pass)?;
        network.gradient(&self.pass, &mut self.gradient)?;
        Ok(loss.into())
    }
}
