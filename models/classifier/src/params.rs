//! Hyper-parameters of a classifier.

use crate::Error;
use ndarray::Array2;
use scumble_linear::{Error as LinearError, check_label_flip, check_positive};
use scumble_neural::{Activation, Adam, Architecture, Optimiser, Training};

scumble_linear::params! {
    /// Checked hyper-parameters of a classifier.
    pub struct ValidClassifierParams;

    /// Hyper-parameters of a classifier: dense layers with rectifiers and a softmax, in single precision,
    /// trained by Adam on the mean cross-entropy.
    ///
    /// With a [`label_flip`](Self::label_flip) T, the loss of a record x with observed label ỹ is −ln Σ_y
    /// T\[y, ỹ\]·P(y | x) instead of −ln P(ỹ | x). Here P(y | x) is the model's probability of class y, and
    /// T\[y, ỹ\] the probability that class y is observed as ỹ.
    pub struct ClassifierParams {
        /// Widths of the hidden layers; one layer of width 50 by default.
        hidden: Vec<usize> = vec![50],
        /// Maximum number of epochs, 100 by default.
        epochs: usize = 100,
        /// Number of records per step, 64 by default.
        batch_size: usize = 64,
        /// Learning rate of Adam, 10⁻³ by default.
        learning_rate: f64 = 1e-3,
        /// Lets the learning rate fall along half a cosine to near zero in the last epoch. Off by default,
        /// because early stopping by validation records may end the training before the rate has fallen.
        annealed: bool = false,
        /// Standardises the features by the mean and standard deviation of the fitted records; on by default.
        standardize: bool = true,
        /// Share of the records held out for early stopping, a tenth by default. The held-out records are
        /// sampled uniformly at random and do not train the network. The result is the network of the epoch
        /// with the least validation loss, or of the last epoch if the share is zero.
        validation_share: f64 = 0.1,
        /// Number of consecutive epochs without a new least validation loss after which training ends, 10 by
        /// default.
        patience: usize = 10,
        /// Random seed of the initial weights, the order of the records and the choice of validation records;
        /// 1 by default.
        seed: u64 = 1,
        /// Matrix T (K × K) of label-flip probabilities, for training labels that were flipped. T\[y, ỹ\] is
        /// the probability that class y is observed as ỹ. Classes are then 0 to K − 1, and the model's P(y |
        /// x) for a record x is the distribution of the true class (equation 8 of *Learning to noise*).
        /// Validation uses the same loss, because its labels are flipped too.
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
