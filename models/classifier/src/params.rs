//! Hyper-parameters of a classifier.

use crate::Error;
use ndarray::Array2;
use scumble_linear::{Error as LinearError, check_label_flip, check_positive};
use scumble_neural::{Activation, Adam, Architecture, Optimiser, Training};

scumble_linear::params! {
    /// Hyper-parameters of a classifier that were checked.
    pub struct ValidClassifierParams;

    /// Hyper-parameters of a classifier: dense layers with rectifiers and a softmax, in single precision,
    /// down the mean cross-entropy by Adam.
    ///
    /// With a [`label_flip`](Self::label_flip) it is −ln Σ_y T\[y, ỹ\]·P(y | x) in place of −ln P(ỹ | x).
    pub struct ClassifierParams {
        /// The widths of the hidden layers, one of 50 by default.
        hidden: Vec<usize> = vec![50],
        /// How often each record is seen at most, 100 by default.
        epochs: usize = 100,
        /// How many records make a step, 64 by default.
        batch_size: usize = 64,
        /// Adam's, 10⁻³ by default.
        learning_rate: f64 = 1e-3,
        /// Whether the learning rate falls along half a cosine and ends near zero with the last epoch; not by
        /// default, for with validation records training ends when it may.
        annealed: bool = false,
        /// Whether features are standardised by what the classifier is fitted on, which is the default.
        standardize: bool = true,
        /// The share of the records, sampled uniformly at random, that only say when training has gone on for
        /// long enough; a tenth by default. The network is that of the epoch in which their loss was least.
        /// With none it is that of the last.
        validation_share: f64 = 0.1,
        /// After how many epochs without a smaller validation loss training ends, 10 by default.
        patience: usize = 10,
        /// From what the first weights, the order of the records and those for validation are drawn, 1 by
        /// default.
        seed: u64 = 1,
        /// T (K × K), where the labels that are learned from were flipped: \[y, ỹ\] is the probability with
        /// which class y is seen as ỹ. Classes are 0 to K − 1 then, and P(y | x) is that of the true one
        /// (equation 8 of *Learning to noise*). Validation is by the same loss, for its labels were flipped
        /// too.
        label_flip?: Array2<f64>,
    }

    fn check(params) -> Error {
        check_positive("learning_rate", params.learning_rate)?;
        let counts =
            [("epochs", params.epochs), ("batch_size", params.batch_size), ("patience", params.patience)];
        for (name, value) in counts {
            check_positive(name, value as f64)?;
        }
        if !(0.0..1.0).contains(&params.validation_share) {
            let (name, range) = ("validation_share", "zero or more, and below one");
            return Err(LinearError::Parameter { name, range, value: params.validation_share }.into());
        }
        params.architecture(1, 2).parameters()?;
        params.label_flip.iter().try_for_each(check_label_flip)?;
        Ok(())
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
