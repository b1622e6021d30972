//! Networks with explicit gradients, per-example gradient norms, Adam, and minibatches.
//!
//! A [`Network`] is a sequence of dense layers and convolutions whose parameters are one flat slice, in `f32`
//! for speed or in `f64` for checks. [`Network::forward`] and [`Network::backward`] store their results in a
//! [`Pass`]. The caller then requests what it needs: the gradient with respect to the parameters or to the
//! input, or the norm of each example's gradient. The input gradient of a network is the output gradient of
//! the network before it, so networks can be chained. A network that is not trained needs only its input
//! gradient. [`Training`] fits one network to examples. This crate has no privacy-specific code.
//!
//! ```
//! use ndarray::array;
//! use scumble_neural::{Activation, Architecture, Examples, Initialisation, Loss, Network, Training};
//!
//! let architecture = Architecture::new(2).layer(8, Activation::Tanh).layer(1, Activation::Identity);
//! let start = Network::<f64>::new(architecture, Initialisation::Uniform, 1)?;
//!
//! let records = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
//! let either = array![[0.0], [1.0], [1.0], [0.0]];
//! let examples = Examples { records: records.view(), loss: Loss::BinaryCrossEntropy(either.view()) };
//! let training = Training { epochs: 2000, ..Training::default() };
//! let learned = training.fit(&start, examples, None, |_| ())?;
//!
//! let logits = learned.predict(records.view())?;
//! assert!(logits.iter().zip(&either).all(|(&logit, &flag)| (logit > 0.0) == (flag > 0.5)));
//! # Ok::<(), scumble_neural::Error>(())
//! ```

mod activation;
mod architecture;
mod batches;
mod embedding;
mod error;
mod ghost;
mod initialisation;
mod layer;
mod loss;
mod network;
mod optimiser;
mod packed;
mod pass;
mod place;
mod prediction;
mod product;
mod real;
mod training;
mod windows;

pub use activation::Activation;
pub use architecture::Architecture;
pub use batches::Batches;
pub use embedding::Embedding;
pub use error::{Error, Result};
pub use initialisation::Initialisation;
pub use layer::{Connection, Layer};
pub use loss::Loss;
pub use network::Network;
pub use optimiser::{Adam, Optimiser, Sgd, Stepper};
pub use pass::Pass;
pub use real::Real;
pub use training::{Epoch, Examples, Training};
pub use windows::Windows;
