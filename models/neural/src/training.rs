//! A network fitted to examples.

use crate::error::check_length;
use crate::prediction::AT_A_TIME;
use crate::{Batches, Error, Loss, Network, Optimiser, Pass, Real, Result, Stepper};
use ndarray::{Array2, ArrayView2, s};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

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
    /// Whether the learning rate falls along half a cosine, epoch by epoch, and ends near zero (Loshchilov and Hutter 2017). Else it stays
    /// the same, and the last steps go to and fro as far as the first.
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

    /// The learning rate of an epoch, counted from 1, where it begins as that of an optimiser.
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

/// A network on its way, and the memory of a step, used again for the next.
struct Descent<T> {
    network: Network<T>,
    stepper: Stepper<T>,
    pass: Pass<T>,
    /// Of the outputs, b × outputs.
    output_gradient: Array2<T>,
    /// Of the parameters.
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

    /// Sees every example once; the mean of what each minibatch lost.
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

    /// A step down the mean loss of those rows of the examples, which it gives.
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

/// # Errors
/// [`Error::Diverged`] unless `value` is.
fn finite(epoch: usize, what: &'static str, value: f64) -> Result<f64> {
    if value.is_finite() { Ok(value) } else { Err(Error::Diverged { epoch, what, value }) }
}

/// The network of the epoch whose validation loss was least.
struct Best<T> {
    network: Option<Network<T>>,
    loss: f64,
    /// How many epochs ago that was.
    since: usize,
}

impl<T> Default for Best<T> {
    fn default() -> Self {
        Self { network: None, loss: f64::INFINITY, since: 0 }
    }
}

impl<T: Real> Best<T> {
    /// Keeps the network of this epoch if it is better, and says whether it is.
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
