//! What can be set.

use crate::{Error, Result};
use linfa::ParamGuard;
use ndarray::Array2;
use scumble_linear::{Error as LinearError, check_label_flip, check_positive};
use scumble_neural::{Activation, Adam, Architecture, Optimiser, Training};

/// Hyper-parameters of a classifier that were checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidClassifierParams {
    hidden: Vec<usize>,
    epochs: usize,
    batch_size: usize,
    learning_rate: f64,
    annealed: bool,
    pub(crate) standardize: bool,
    pub(crate) validation_share: f64,
    patience: usize,
    pub(crate) seed: u64,
    pub(crate) label_flip: Option<Array2<f64>>,
}

/// Hyper-parameters of a classifier: dense layers with rectifiers and a softmax, in single precision, down the mean cross-entropy by
/// Adam.
///
/// With a [`label_flip`](Self::label_flip) it is −ln Σ_y T\[y, ỹ\]·P(y | x) in place of −ln P(ỹ | x).
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifierParams(ValidClassifierParams);

impl Default for ClassifierParams {
    fn default() -> Self {
        Self(ValidClassifierParams {
            hidden: vec![50],
            epochs: 100,
            batch_size: 64,
            learning_rate: 1e-3,
            annealed: false,
            standardize: true,
            validation_share: 0.1,
            patience: 10,
            seed: 1,
            label_flip: None,
        })
    }
}

impl ClassifierParams {
    /// The widths of the hidden layers, one of 50 by default.
    pub fn hidden(mut self, hidden: Vec<usize>) -> Self {
        self.0.hidden = hidden;
        self
    }

    /// How often each record is seen at most, 100 by default.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.0.epochs = epochs;
        self
    }

    /// How many records make a step, 64 by default.
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.0.batch_size = batch_size;
        self
    }

    /// Adam's, 10⁻³ by default.
    pub fn learning_rate(mut self, learning_rate: f64) -> Self {
        self.0.learning_rate = learning_rate;
        self
    }

    /// Whether the learning rate falls along half a cosine and ends near zero with the last epoch; not by default, for with validation
    /// records training ends when it may.
    pub fn annealed(mut self, annealed: bool) -> Self {
        self.0.annealed = annealed;
        self
    }

    /// Whether features are standardised by what the classifier is fitted on, which is the default.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.0.standardize = standardize;
        self
    }

    /// The share of the records, sampled uniformly at random, that only say when training has gone on for long enough; a tenth by default. The
    /// network is that of the epoch in which their loss was least. With none it is that of the last.
    pub fn validation_share(mut self, validation_share: f64) -> Self {
        self.0.validation_share = validation_share;
        self
    }

    /// After how many epochs without a smaller validation loss training ends, 10 by default.
    pub fn patience(mut self, patience: usize) -> Self {
        self.0.patience = patience;
        self
    }

    /// From what the first weights, the order of the records and those for validation are drawn, 1 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// T (K × K), where the labels that are learned from were flipped: \[y, ỹ\] is the probability with which class y is seen
    /// as ỹ. Classes are 0 to K − 1 then, and P(y | x) is that of the true one (equation 8 of *Learning to noise*). Validation is by
    /// the same loss, for its labels were flipped too.
    pub fn label_flip(mut self, label_flip: Array2<f64>) -> Self {
        self.0.label_flip = Some(label_flip);
        self
    }
}

impl ParamGuard for ClassifierParams {
    type Checked = ValidClassifierParams;
    type Error = Error;

    fn check_ref(&self) -> Result<&Self::Checked> {
        let params = &self.0;
        check_positive("learning_rate", params.learning_rate)?;
        for (name, value) in
            [("epochs", params.epochs), ("batch_size", params.batch_size), ("patience", params.patience)]
        {
            check_positive(name, value as f64)?;
        }
        if !(0.0..1.0).contains(&params.validation_share) {
            let (name, range, value) =
                ("validation_share", "zero or more, and below one", params.validation_share);
            return Err(LinearError::Parameter { name, range, value }.into());
        }
        params.architecture(1, 2).parameters()?;
        params.label_flip.iter().try_for_each(check_label_flip)?;
        Ok(params)
    }

    fn check(self) -> Result<Self::Checked> {
        self.check_ref()?;
        Ok(self.0)
    }
}

impl ValidClassifierParams {
    pub(crate) fn architecture(&self, features: usize, classes: usize) -> Architecture {
        let layers = self
            .hidden
            .iter()
            .fold(Architecture::new(features), |layers, &width| layers.layer(width, Activation::Relu));
        layers.layer(classes, Activation::Identity)
    }

    pub(crate) fn training(&self) -> Training {
        Training {
            epochs: self.epochs,
            batch_size: self.batch_size,
            optimiser: Optimiser::Adam(Adam { learning_rate: self.learning_rate, ..Adam::default() }),
            seed: self.seed,
            patience: Some(self.patience),
            annealed: self.annealed,
        }
    }
}
