//! A dense network as a classifier of standardised features, or down to vectors that stand for classes.
//!
//! It follows linfa's traits, as the models of `scumble-linear` do: a plain struct of hyper-parameters whose `check`
//! ([`linfa::ParamGuard`]) gives its checked counterpart, [`Fit`](linfa::traits::Fit), [`Predict`](linfa::traits::Predict). And as
//! logistic regression there, it can be told of a matrix by which labels were flipped. Nothing here knows of privacy.
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use scumble_classifier::ClassifierParams;
//!
//! let x = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
//! let either = Dataset::new(x.clone(), array![0, 1, 1, 0]);
//! let params = ClassifierParams::default().hidden(vec![16]).epochs(1000).learning_rate(0.01).validation_share(0.0);
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
