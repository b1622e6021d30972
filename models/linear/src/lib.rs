//! Logistic and ridge regression on standardised features.
//!
//! Both models standardise each feature by its mean and standard deviation in the training records. One
//! penalty then suits columns of any scale: a column released with noise may vary a hundred times as much as
//! the clean column. Predictions apply the same standardisation.
//!
//! Both models can account for known noise in their training records. Logistic regression takes the matrix of
//! label flip probabilities. Ridge regression takes the covariance of the noise in features and target.
//!
//! The models follow linfa's traits: a plain struct of hyper-parameters whose `check` ([`linfa::ParamGuard`])
//! returns its checked counterpart, [`Fit`](linfa::traits::Fit) and [`Predict`](linfa::traits::Predict). This
//! crate has no privacy-specific code.
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use scumble_linear::{LogisticParams, RidgeParams};
//!
//! let x = array![[0.0], [1.0], [2.0], [3.0]];
//! let classes = Dataset::new(x.clone(), array![0, 0, 1, 1]);
//! let model = LogisticParams::default().fit(&classes)?;
//! assert_eq!(model.predict(&x), array![0, 0, 1, 1]);
//!
//! let line = Dataset::new(x.clone(), array![1.0, 3.0, 5.0, 7.0]);
//! let model = RidgeParams::default().l2_penalty(0.0).fit(&line)?;
//! assert!((model.predict(&x)[3] - 7.0).abs() < 1e-6);
//! # Ok::<(), scumble_linear::Error>(())
//! ```

mod error;
mod flip;
mod layer;
mod likelihood;
mod logistic;
mod noisy;
mod params;
mod ridge;
mod standardize;

pub use error::{Error, Result, check_not_negative, check_positive, check_records};
pub use flip::{check_flipped_labels, check_label_flip};
pub use logistic::{LogisticModel, LogisticParams, ValidLogisticParams};
pub use ridge::{RidgeModel, RidgeParams, ValidRidgeParams};
pub use standardize::Standardizer;
