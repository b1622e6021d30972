//! Training of a network on examples.

use crate::error::check_length;
use crate::{Batches, Error, Loss, Network, Optimiser, Pass, Real, Result, Stepper};
use ndarray::{Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Parameters of training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Training {
    /// Number of epochs: the number of times that training uses each example.
    pub epochs: usize,
    /// Number of examples per step.
    pub batch_size: usize,
    /// Optimiser of the steps.
    pub optimiser: Optimiser,
    /// Random seed of the order of the examples.
    pub seed: u64,
    /// Number of consecutive epochs without a new least validation loss after which training ends; `None`
    /// disables this. It has no effect without validation examples.
    pub patience: Option<usize>,
    /// Lowers the learning rate after each epoch, along half a period of a cosine, to near zero (Loshchilov
    /// and Hutter 2017). If false, the rate is constant, and the parameters oscillate as widely in the last
    /// steps as in the first.
    pub annealed: bool,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            epochs: 100,
            batch_size: 64,
            optimiser: Optimiser::default(),
            seed: 1,
            patience: None,
            annealed: false,
        }
    }
}

/// Records (n × inputs), and the targets of their outputs.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a, T> {
    /// Records, n × inputs.
    pub records: ArrayView2<'a, T>,
    /// Loss, with the targets of the n records.
    pub loss: Loss<'a, T>,
}

/// Losses at the end of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// Number of the epoch, counted from 1.
    pub number: usize,
    /// Mean training loss. The loss of each example is computed just before the step on its minibatch.
    pub training_loss: f64,
    /// Mean loss of the validation examples at the end of the epoch, if there are any.
    pub validation_loss: Option<f64>,
}

impl<T: Real> Examples<'_, T> {
    /// Checks the examples against the network.
    ///
    /// # Errors
    /// [`Error::NoRecords`] if there are no records; [`Error::Length`] if shapes do not fit the network or
    /// each other; [`Error::Value`] for a record, target or flip probability outside its range;
    /// [`Error::Class`] for a class that is not below the number of outputs.
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

    /// Computes the mean loss of `network` over the examples.
    ///
    /// # Errors
    /// Same errors as [`check`](Self::check).
    pub fn mean_loss(&self, network: &Network<T>) -> Result<f64> {
        self.check(network)?;
        self.mean_loss_in(network, &mut Pass::default())
    }

    fn mean_loss_in(&self, network: &Network<T>, pass: &mut Pass<T>) -> Result<f64> {
        let at_a_time = network.at_a_time();
        let rows: Vec<usize> = (0..self.records.nrows()).collect();
        let mut gradient = Array2::zeros((rows.len().min(at_a_time), network.architecture().outputs()));
        let mut sum = 0.0;
        for rows in rows.chunks(at_a_time) {
            let output = network.forward_rows(self.records, rows, pass)?;
            let mean = self.loss.mean_of(rows, output, gradient.slice_mut(s![..rows.len(), ..]))?;
            sum += rows.len() as f64 * mean.into();
        }
        Ok(sum / rows.len() as f64)
    }
}

impl Training {
    /// Fits a network to `examples` by minibatch descent on the mean loss, starting from `start`. Calls
    /// `progress` after every epoch.
    ///
    /// With `validation` examples it returns the network of the epoch with the least validation loss. Without
    /// them it returns the network of the last epoch.
    ///
    /// The same seed gives the same network to the last bit, for any number of threads of one machine.
    ///
    /// # Errors
    /// Same errors as [`Examples::check`] and [`Optimiser::check`]; [`Error::HyperParameter`] for a batch
    /// size of zero, [`Error::Parameter`] if a parameter of `start` is not finite, and [`Error::Diverged`],
    /// with the epoch, if training overflows.
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
        // Runs inside rayon's thread pool, because entering the pool once per matrix product takes longer
        // than many products.
        rayon::scope(|_| self.descend(start.clone(), examples, validation, progress))
    }

    /// Returns the learning rate of epoch number `epoch`, counted from 1. The first epoch has the rate of
    /// `optimiser`.
    pub(crate) fn learning_rate(&self, optimiser: Optimiser, epoch: usize) -> f64 {
        let way = if self.annealed { (epoch - 1) as f64 / self.epochs as f64 } else { 0.0 };
        optimiser.learning_rate() * 0.5 * (1.0 + (PI * way).cos())
    }

    fn descend<T: Real>(
        &self,
        start: Network<T>,
        examples: Examples<'_, T>,
        validation: Option<Examples<'_, T>>,
        mut progress: impl FnMut(Epoch),
    ) -> Result<Network<T>> {
        let mut batches = Batches::new(examples.records.nrows(), self.batch_size, self.seed)?;
        let mut descent = Descent::new(start, self.optimiser)?;
        let mut best = Best::default();
        for number in 1..=self.epochs {
            descent.stepper.set_learning_rate(self.learning_rate(self.optimiser, number))?;
            let training_loss = descent.epoch(number, examples, &mut batches)?;
            let validation_loss = match validation {
                Some(validation) => Some(descent.validation_loss(number, validation)?),
                None => None,
            };
            progress(Epoch { number, training_loss, validation_loss });
            let Some(loss) = validation_loss else { continue };
            if best.keep_if_better(loss, &descent.network) {
                continue;
            }
            if self.patience.is_some_and(|patience| best.since >= patience) {
                break;
            }
        }
        Ok(best.network.unwrap_or(descent.network))
    }
}

/// A network in training, and the reusable memory of a step.
struct Descent<T> {
    network: Network<T>,
    stepper: Stepper<T>,
    pass: Pass<T>,
    /// Gradient of the mean loss of a step's b examples with respect to the outputs, b × outputs.
    output_gradient: Array2<T>,
    /// Gradient of the mean loss with respect to the parameters.
    gradient: Vec<T>,
}

impl<T: Real> Descent<T> {
    fn new(network: Network<T>, optimiser: Optimiser) -> Result<Self> {
        let parameters = network.parameters().len();
        Ok(Self {
            stepper: optimiser.start(parameters)?,
            pass: Pass::default(),
            output_gradient: Array2::zeros((0, network.architecture().outputs())),
            gradient: vec![T::zero(); parameters],
            network,
        })
    }

    /// Trains for the epoch `number`, which uses every example once. Returns the mean training loss.
    fn epoch(&mut self, number: usize, examples: Examples<'_, T>, batches: &mut Batches) -> Result<f64> {
        let mut sum = 0.0;
        for rows in batches.shuffled() {
            let loss = self.step(examples, rows)?.into();
            sum += rows.len() as f64 * finite(number, "the training loss", loss)?;
        }
        if let Err(Error::Parameter { value, .. }) = self.network.check_finite() {
            finite(number, "a parameter", value)?;
        }
        Ok(sum / examples.records.nrows() as f64)
    }

    /// Makes one step on the mean loss of the examples in `rows`. Returns this loss.
    fn step(&mut self, examples: Examples<'_, T>, rows: &[usize]) -> Result<T> {
        if self.output_gradient.nrows() < rows.len() {
            self.output_gradient = Array2::zeros((rows.len(), self.output_gradient.ncols()));
        }
        let mut output_gradient = self.output_gradient.slice_mut(s![..rows.len(), ..]);
        let output = self.network.forward_rows(examples.records, rows, &mut self.pass)?;
        let loss = examples.loss.mean_of(rows, output, output_gradient.view_mut())?;
        self.network.backward(output_gradient.view(), &mut self.pass)?;
        self.network.gradient(&self.pass, &mut self.gradient)?;
        self.stepper.step(self.network.parameters_mut(), &self.gradient)?;
        Ok(loss)
    }

    fn validation_loss(&mut self, number: usize, validation: Examples<'_, T>) -> Result<f64> {
        finite(number, "the validation loss", validation.mean_loss_in(&self.network, &mut self.pass)?)
    }
}

/// Returns `value` if it is finite.
///
/// # Errors
/// [`Error::Diverged`] if `value` is infinite or not a number.
fn finite(epoch: usize, what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::Diverged { epoch, what, value }) }
}

/// Network of the epoch with the least validation loss.
struct Best<T> {
    network: Option<Network<T>>,
    loss: f64,
    /// Number of epochs since the epoch of this network.
    since: usize,
}

impl<T> Default for Best<T> {
    fn default() -> Self {
        Self { network: None, loss: f64::INFINITY, since: 0 }
    }
}

impl<T: Real> Best<T> {
    /// Keeps `network` if its validation loss `loss` is the least so far. Returns whether it is.
    fn keep_if_better(&mut self, loss: f64, network: &Network<T>) -> bool {
        let better = loss < self.loss;
        if better {
            *self = Self { network: Some(network.clone()), loss, since: 0 };
        } else {
            self.since += 1;
        }
        better
    }
}
