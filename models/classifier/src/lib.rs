//! A dense network as a classifier of standardised features, or as a regressor onto vectors that encode
//! classes.
//!
//! The classifier follows linfa's traits, as the models of `scumble-linear` do. A plain struct of
//! hyper-parameters has a `check` ([`linfa::ParamGuard`]) that returns its checked counterpart, which
//! implements [`Fit`](linfa::traits::Fit). The fitted models implement [`Predict`](linfa::traits::Predict).
//! Like the logistic regression of `scumble-linear`, the classifier accepts a matrix of label-flip
//! probabilities. This crate has no privacy-specific code.
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use scumble_classifier::ClassifierParams;
//!
//! let x = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
//! let either = Dataset::new(x.clone(), array![0, 1, 1, 0]);
//! let params =
//!     ClassifierParams::default().hidden(vec![16]).epochs(1000).learning_rate(0.01).validation_share(0.0);
//! assert_eq!(params.fit(&either)?.predict(&x), array![0, 1, 1, 0]);
//! # Ok::<(), scumble_classifier::Error>(())
//! ```

mod error;
mod fit;
mod params;
mod vectors;

pub use error::{Error, Result};
pub use fit::Classifier;
pub use params::{ClassifierParams, ValidClassifierParams};
pub use vectors::VectorModel;
